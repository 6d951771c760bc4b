"""Plays the games of an encounter with engines that are kept from game to game."""

from arena.adjudication import open_tables
from arena.engine import EngineFailure, EngineProcess
from arena.game import play_game, record_of_failed_start
from arena.openings import Opening
from arena.settings import engine_from, rules_from
from arena.transcript import Transcript
from pool.containment import end_descendants, end_group


def log_of(record, engines, transcript, failure):
    """The dialogue of a game as text: what happened, the position, and all that was said."""
    lines = [
        f"# {record['white']} - {record['black']}: {record['result']}, {record['reason']}",
        f"# position fen {record['fen']} moves {' '.join(record['moves'])}",
        f"# failure: {failure.kind}: {failure}",
        "# seconds, engine, < to it, > from it",
    ]
    for engine in engines:
        lines += ["", f"# the start of {engine.name}: {' '.join(engine.settings.command)}", *engine.greeting.lines()]
        if complaints := engine.complaints():
            lines += ["", f"# the end of {engine.name}'s stderr", *complaints]
    return "\n".join([*lines, "", "# the game", *transcript.lines()]) + "\n"


class Players:
    """The engines of one worker. Not more than two are alive at any time."""

    def __init__(self, on_start=None):
        self.engines = {}
        self.tables = {}
        self.warned = set()
        self.on_start = on_start

    def close(self):
        for engine in self.engines.values():
            engine.leave()
        self.engines.clear()

    def end_all(self):
        """At once, without farewell."""
        end_descendants()
        for engine in list(self.engines.values()):
            end_group(engine.process.pid)

    def drop(self, key):
        engine = self.engines.pop(key, None)
        if engine is not None:
            engine.end()

    def ready(self, key, settings, rules, transcript):
        """An engine that waits for its first move."""
        engine = self.engines.get(key)
        if engine is not None and (settings.restart or not engine.is_alive()):
            self.engines.pop(key).leave()
            engine = None
        if engine is None:
            engine = EngineProcess(settings, rules)
            self.engines[key] = engine
            if self.on_start is not None:
                self.on_start([each.process.pid for each in self.engines.values() if each.is_alive()])
            engine.greet()
        engine.new_game(transcript)
        return engine

    def play(self, encounter, *, scale=1.0, on_game=None, on_move=None, on_warning=None):
        """Plays the games of an encounter in order. `on_game(record, log)` hears of each; the log is None if all went well."""
        rules = rules_from(encounter["rules"])
        opening = Opening(*encounter["opening"])
        tables = self.tables_for(rules.syzygy)
        settings = {index: engine_from(values) for index, values in encounter["engines"].items()}
        for key in [
            key for key in self.engines if key[0] not in settings or self.engines[key].settings != settings[key[0]]
        ]:
            self.engines.pop(key).leave()
        for plan in encounter["games"]:
            # An engine that plays itself needs a second process.
            keys = [(plan["players"][0], 0), (plan["players"][1], int(plan["players"][0] == plan["players"][1]))]
            sides = [settings[key[0]] for key in keys]
            transcript = Transcript()
            engines = []
            failure = None
            try:
                for side, key in enumerate(keys):
                    engines.append(self.ready(key, sides[side], rules, transcript))
            except EngineFailure as error:
                failure, side = error, len(engines)
                record = record_of_failed_start(
                    plan,
                    [each.name for each in sides],
                    [each.control for each in sides],
                    opening,
                    side,
                    failure,
                )
            if failure is None:
                for engine in engines:
                    self.warn(engine, on_warning)
                hear = None if on_move is None else lambda move, thought, plan=plan: on_move(plan, move, thought)
                if on_move is not None:
                    on_move(plan, None, {"fen": opening.fen, "moves": list(opening.moves)})
                record, failure = play_game(plan, engines, opening, rules, tables=tables, scale=scale, on_move=hear)
                for engine in engines:
                    self.warn(engine, on_warning)
            log = None
            if failure is not None:
                known = [self.engines[key] for key in keys if key in self.engines]
                log = log_of(record, known, transcript, failure)
                self.drop(keys[0 if record["points"] == 0.0 else 1])
            self.settle(keys)
            if on_game is not None:
                on_game(record, log)

    def settle(self, keys):
        """Stops pondering after a game; engines that do not stop are restarted."""
        for key in keys:
            engine = self.engines.get(key)
            if engine is not None:
                try:
                    engine.stop_pondering()
                except EngineFailure:
                    self.drop(key)

    def tables_for(self, path):
        if path is None:
            return None
        if path not in self.tables:
            self.tables[path] = open_tables(path)
        return self.tables[path]

    def warn(self, engine, on_warning):
        while engine.warnings:  # its reading thread may add one meanwhile
            warning = engine.warnings.pop(0)
            if warning not in self.warned and on_warning is not None:
                self.warned.add(warning)
                on_warning(warning)
