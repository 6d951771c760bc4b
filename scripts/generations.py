"""Makes one generation of the network: games, training, two matches, a verdict, and an entry in the history.

    python scripts/generations.py work/g2 --in-use work/g1/g1.qnn --openings openings.epd --games 50000
    python scripts/generations.py work/g2              goes on after an interruption, with the settings that it was begun with
    python scripts/generations.py work/g2 --dry-run    prints the commands that are left

1. generate    the network in use plays games against itself        quetzal selfplay
2. train       a new network learns from them                       quetzal train
3. nodes       it plays the one in use at fixed nodes               quetzal match
4. time        and, unless it has lost, with a clock                quetzal match
5. record      docs/networks.json gets an entry, docs/networks.md a row

Accepted is who is better with a clock: by a sequential test (--sprt), or by a fixed number of games whose 95 % interval lies
above zero. What is finished stands in the directory's state.json and is not done again; what was interrupted goes on.
"""

import argparse
import datetime
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from arena.control import parse_control
from arena.display import elo_text
from arena.errors import InputError
from arena.journal import replace_file
from arena.openings import fingerprint, read_openings
from arena.options import parse_sprt
from arena.statistics import estimate
from command.arguments import positive
from command.table import build_parser as build_quetzal_parser

ROOT = Path(__file__).resolve().parent.parent
FORMAT = 1
STEPS = ("generate", "train", "nodes", "time", "record")
FILES = ("in_use", "teacher", "openings", "data")  # settings that name files

# What decides the outcome, with what holds if nothing is said. None in the second block: quetzal's own defaults.
DEFAULTS = {
    "name": None,
    "in_use": None,
    "teacher": None,
    "openings": None,
    "data": [],
    "games": 20_000,
    "nodes": 500,
    "neurons": None,
    "epochs": None,
    "result_share": None,
    "seed": 1,
    "match_nodes": 5000,
    "tc": "8+0.08",
    "match_games": 400,
    "sprt": None,
    "hash": 16,
    "selfplay_arguments": "",
    "train_arguments": "",
    "match_arguments": "--resign 800,4,both --draw 10,8,40",
}
# What only decides how long it takes may differ when a generation goes on.
FREE = {"threads": os.cpu_count() or 1, "concurrency": 1}

BEGIN, END = "<!-- written by scripts/generations.py: begin -->", "<!-- end -->"
HEADER = (
    "| network | games | training | loss | at fixed nodes | with a clock | verdict |",
    "|---|---|---|---|---|---|---|",
)


class CommandError(RuntimeError):
    """A command of the generation failed. It has said why itself."""


class InterruptedStepError(RuntimeError):
    """A command was interrupted; what it finished is kept."""


# The commands


def own_quetzal():
    return [sys.executable, "-m", "uci_engine"]


def option(flag, value):
    """A flag with its value, or nothing where there is no value."""
    return [] if value is None else [flag, str(value)]


class Commands:
    """The command lines of the steps, for one set of settings in one directory."""

    def __init__(self, work, settings, free, quetzal):
        self.work = work
        self.settings = settings
        self.free = free
        self.quetzal = quetzal
        self.games = work / "games.qzg"
        self.network = work / f"{settings['name']}.qnn"
        self.checkpoint = work / "checkpoint"
        self.matches = {"nodes": work / "match-nodes", "time": work / "match-time"}

    def of(self, step):
        return {"generate": self.generate, "train": self.train}.get(step, lambda: self.match(step))()

    def generate(self):
        settings = self.settings
        return [
            *self.quetzal, "selfplay", "-o", str(self.games),
            *option("--games", settings["games"]),
            *option("--nodes", settings["nodes"]),
            *option("--seed", settings["seed"]),
            *option("--threads", self.free["threads"]),
            *option("--eval-file", settings["teacher"]),
            *shlex.split(settings["selfplay_arguments"]),
        ]  # fmt: skip

    def training_files(self):
        own = [str(self.games)] if self.settings["games"] else []
        return [*own, *self.settings["data"]]

    def train(self):
        settings = self.settings
        return [
            *self.quetzal, "train", *self.training_files(), "-o", str(self.network),
            *option("--neurons", settings["neurons"]),
            *option("--epochs", settings["epochs"]),
            *option("--result-share", settings["result_share"]),
            *option("--seed", settings["seed"]),
            *option("--threads", self.free["threads"]),
            *option("--checkpoint", self.checkpoint),
            *(["--resume"] if self.checkpoint.exists() else []),
            *shlex.split(settings["train_arguments"]),
        ]  # fmt: skip

    def match(self, step):
        """A new match, or the rest of one that was begun."""
        settings, directory = self.settings, self.matches[step]
        if (directory / "run.json").exists():
            return [*self.quetzal, "match", "--resume", str(directory), "-c", str(self.free["concurrency"])]
        engine = shlex.join(self.quetzal) if os.name != "nt" else subprocess.list2cmdline(self.quetzal)
        control = f"nodes={settings['match_nodes']}" if step == "nodes" else settings["tc"]
        # The second match takes other openings than the first.
        first = 1 if step == "nodes" else settings["match_games"] // 2 + 1
        return [
            *self.quetzal, "match", engine, engine, "--dir", str(directory),
            *option("--names", f"{settings['name']},{evaluation_name(settings['in_use'])}"),
            *option("--option", f"Hash={settings['hash']}"),
            *option("--option-a", f"EvalFile={self.network}"),
            *option("--option-b", settings["in_use"] and f"EvalFile={settings['in_use']}"),
            *option("--tc", control),
            *option("--games", settings["match_games"]),
            *option("--sprt", settings["sprt"]),
            *option("--openings", settings["openings"]), "--shuffle",
            *option("--seed", settings["seed"]),
            *option("--first-opening", first),
            *option("-c", self.free["concurrency"]),
            *shlex.split(settings["match_arguments"]),
        ]  # fmt: skip


def evaluation_name(path):
    """What an evaluation is called: by its file. `quetzal match` takes both names in one argument, so no commas."""
    return "built-in" if path is None else Path(path).stem.replace(",", " ")


def run_command(command):
    """Runs a command to its end and returns its status. An interrupt reaches it too, and it gets time to keep its work."""
    process = subprocess.Popen(command)
    try:
        return process.wait()
    except KeyboardInterrupt:
        try:
            process.wait(60)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            process.terminate()
            process.wait()
        raise


# What the steps leave behind


def games_in(path):
    """The number of games in a file, and what it says about how they were played."""
    from training.files import GameReader

    with GameReader(path) as reader:
        return sum(1 for _ in reader), reader.metadata


def describe_games(path, by=None):
    count, metadata = games_in(path)
    return {"file": Path(path).name, "by": by, "games": count, "sha256": fingerprint(path), "settings": metadata}


def describe_network(path):
    from eval.network_file import unpack_network

    network = unpack_network(path.read_bytes(), str(path))
    return {
        "bytes": path.stat().st_size,
        "sha256": fingerprint(path),
        "neurons": network.neurons,
        "training": network.training,
    }


def describe_match(directory):
    results = json.loads((directory / "results.json").read_text(encoding="utf-8"))
    summary = results["summary"]
    wanted = ("games", "wins", "draws", "losses", "pentanomial", "elo", "elo_low", "elo_high", "llr", "verdict")
    return {
        "control": results["engines"][0]["control"],
        "sprt": results["sprt"],
        **{name: summary[name] for name in wanted if name in summary},
    }


def outcome(match):
    """'better', 'worse' or 'open', from the side of the new network: by the test, or by the interval if games ran out."""
    if match.get("verdict") is not None:
        return {"H1": "better", "H0": "worse"}[match["verdict"]]
    known = estimate(match["pentanomial"])
    if known.elo_low is None:
        return "open"
    return "better" if known.elo_low > 0 else "worse" if known.elo_high < 0 else "open"


def decide(matches):
    """Whether the new network takes the place of the one in use, and why."""
    if outcome(matches["nodes"]) == "worse":
        return False, "weaker at fixed nodes"
    with_clock = outcome(matches["time"])
    if with_clock == "better":
        return True, "stronger with a clock"
    return False, "weaker with a clock" if with_clock == "worse" else "not shown to be stronger with a clock"


# The history


def read_history(path):
    if not path.exists():
        return []
    try:
        history = json.loads(path.read_text(encoding="utf-8"))
        if not all(isinstance(entry["name"], str) and entry["network"]["sha256"] for entry in history):
            raise ValueError("an entry without name or network")
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"is no history of networks: {error!r}", path) from None
    return history


def losses_text(training):
    """The losses after the last epoch."""
    if not training.get("losses"):
        return ""
    return "training {:.6f}, held out {:.6f}".format(*training["losses"][-1])


def games_text(data, names):
    """Whose games they are. `names` knows networks by their checksum: most play under the name of Quetzal's own."""
    parts = []
    for each in data:
        text = f"{each['games']:,}"
        if "soft_nodes" in each["settings"]:
            text += f" at {each['settings']['soft_nodes']:,} nodes"
        known = names.get(each["settings"].get("eval_sha256"))
        by = each["by"] or known or Path(each["settings"].get("eval_file", "")).stem
        parts.append(text + (f" by {by}" if by else " made before"))
    return " + ".join(parts)


def training_text(training):
    """What the trainer says of its data and settings in the network's file."""
    parts = []
    if "data" in training:
        parts.append(f"{training['data']['positions']:,} positions")
    for name in ("neurons", "epochs", "batch", "rate", "result_share", "seed"):
        if name in training.get("settings", {}):
            parts.append(f"{name.replace('_', ' ')} {training['settings'][name]:g}")
    later = training.get("settings", {}).get("filters", {}).get("later_share")
    if later:
        parts.append(f"later share {later:g}")
    if training.get("start"):
        parts.append(f"from {training['start']}")
    return ", ".join(parts)


def match_text(match):
    if match is None:
        return "not played"
    text = f"{elo_text(estimate(match['pentanomial']))} in {match['games']} games, {match['control']}"
    if match["sprt"] is not None:
        text += f"; SPRT [{match['sprt']['elo0']:g}, {match['sprt']['elo1']:g}]: {match['verdict'] or 'open'}"
    return text


def row(entry, names):
    name = (
        f"**{entry['name']}** ({entry['date']}, `{entry['network']['sha256'][:8]}`) against {entry['opponent']['name']}"
    )
    verdict = ("accepted: " if entry["accepted"] else "rejected: ") + entry["reason"]
    cells = (
        name,
        games_text(entry["data"], names),
        training_text(entry["network"]["training"]),
        losses_text(entry["network"]["training"]),
        match_text(entry["matches"].get("nodes")),
        match_text(entry["matches"].get("time")),
        verdict,
    )
    return "| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in cells) + " |"


def table(history):
    names = {entry["network"]["sha256"]: entry["name"] for entry in history}
    return "\n".join((*HEADER, *(row(entry, names) for entry in history)))


def with_table(text, history, path):
    """The document with its table written anew."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise InputError(f"has no place for the table, between '{BEGIN}' and '{END}'", path)
    return f"{before}{BEGIN}\n{table(history)}\n{END}{after}"


# A generation


class Generation:
    """One directory with its settings, what is done, and how to do the rest."""

    def __init__(self, work, settings, free, quetzal, places):
        self.work = work
        self.settings = settings
        self.commands = Commands(work, settings, free, quetzal)
        self.history, self.document = places
        self.inputs = {}
        self.done = {}

    @property
    def path(self):
        return self.work / "state.json"

    def save(self):
        data = {"format": FORMAT, "settings": self.settings, "inputs": self.inputs, "done": self.done}
        replace_file(self.path, json.dumps(data, indent=1) + "\n")

    def left(self):
        """The steps that are still to do. The match with a clock is not played for a network that has lost already."""
        for step in STEPS:
            if step in self.done:
                continue
            if step == "generate" and not self.settings["games"]:
                continue
            if step == "time" and "nodes" in self.done and outcome(self.done["nodes"]) == "worse":
                continue
            yield step

    def fingerprints(self):
        files = [self.settings[name] for name in FILES if name != "data" and self.settings[name] is not None]
        return {path: fingerprint(path) for path in (*files, *self.settings["data"])}

    def check(self):
        """Whatever can be wrong is said before the first game, not after the last."""
        settings = self.settings
        if settings["openings"] is None:
            raise InputError("--openings is needed: without them all games of a match at fixed nodes would be the same")
        for path in (settings["in_use"], settings["teacher"], settings["openings"], *settings["data"]):
            if path is not None and not Path(path).is_file():
                raise InputError("there is no such file", path)
        for path in (settings["in_use"], settings["teacher"]):
            # The engine would complain and play on with its own evaluation.
            if path is not None and path.endswith(".qnn"):
                describe_network(Path(path))
        if settings["games"] < 0 or not self.commands.training_files():
            raise InputError("there is nothing to learn from: neither --games nor --data")
        if not re.fullmatch(r"[\w.+-]+", settings["name"]):
            raise InputError(f"a name has letters, digits and .+-_ only, not '{settings['name']}'")
        if settings["match_games"] % 2:
            raise InputError("--match-games is an even number: every opening is played with both colours")
        if settings["neurons"] is not None and settings["neurons"] % 32:
            raise InputError(f"{settings['neurons']} neurons, but there must be a multiple of 32")
        if settings["result_share"] is not None and not 0 <= settings["result_share"] <= 1:
            raise InputError("--result-share lies between 0 and 1")
        parse_control(settings["tc"])
        parse_sprt(settings["sprt"])
        if self.commands.quetzal == own_quetzal():
            for step in self.left():
                if step != "record":
                    build_quetzal_parser().parse_args(self.commands.of(step)[len(own_quetzal()) :])
        read_openings(settings["openings"])
        for path in settings["data"]:
            games_in(path)
        own = self.done.get("train", {}).get("sha256")
        for entry in read_history(self.history):
            # An entry of our own is there if we were killed right after writing it.
            if entry["name"] == settings["name"] and entry["network"]["sha256"] != own:
                raise InputError(f"has another network '{entry['name']}'; choose another --name", self.history)
        with_table(self.document.read_text(encoding="utf-8"), [], self.document)
        inputs = self.fingerprints()
        changed = [path for path, digest in self.inputs.items() if inputs.get(path) != digest]
        if changed:
            raise InputError("has changed since the generation began", changed[0])
        self.inputs = inputs

    def run(self, say):
        """Does what is left, one step after the other."""
        for step in self.left():
            say(f"{self.settings['name']}: {step}")
            self.done[step] = getattr(self, step)()
            self.save()
        entry = self.done["record"]
        say(f"{entry['name']} is {'accepted' if entry['accepted'] else 'rejected'}: {entry['reason']}")
        for kind, match in entry["matches"].items():
            say(f"  {kind}: {match_text(match)}")
        return 0

    def command(self, step):
        command = self.commands.of(step)
        status = run_command(command)
        if status in (130, -signal.SIGINT):
            raise InterruptedStepError(f"{step} was interrupted")
        if status != 0:
            raise CommandError(f"{step}: '{shlex.join(command)}' ended with status {status}")

    def generate(self):
        self.command("generate")
        found = describe_games(self.commands.games, evaluation_name(self.settings["teacher"]))
        if found["games"] < self.settings["games"]:
            # Ctrl-C is an orderly end for self-play.
            raise InterruptedStepError(f"{found['games']} of {self.settings['games']} games are played")
        return found

    def train(self):
        self.command("train")
        return describe_network(self.commands.network)

    def nodes(self):
        self.command("nodes")
        return describe_match(self.commands.matches["nodes"])

    def time(self):
        self.command("time")
        return describe_match(self.commands.matches["time"])

    def evaluation(self, path):
        return {"name": evaluation_name(path), "sha256": None if path is None else self.inputs[path]}

    def record(self):
        """The entry of this generation, in the history and in the document."""
        settings = self.settings
        matches = {kind: self.done[kind] for kind in ("nodes", "time") if kind in self.done}
        accepted, reason = decide(matches)
        data = [self.done["generate"]] if "generate" in self.done else []
        entry = {
            "name": settings["name"],
            "date": datetime.date.today().isoformat(),
            "teacher": self.evaluation(settings["teacher"]),
            "opponent": self.evaluation(settings["in_use"]),
            "data": [*data, *(describe_games(path) for path in settings["data"])],
            "network": self.done["train"],
            "matches": matches,
            "accepted": accepted,
            "reason": reason,
        }
        others = [each for each in read_history(self.history) if each["name"] != entry["name"]]
        history = [*others, entry]
        replace_file(self.history, json.dumps(history, indent=1) + "\n")
        text = self.document.read_text(encoding="utf-8")
        replace_file(self.document, with_table(text, history, self.document))
        return entry


def settings_from(options, known):
    """The settings of a new generation, or those that a directory was begun with; others than these are refused."""
    given = {name: getattr(options, name) for name in DEFAULTS if getattr(options, name) is not None}
    for name in FILES:
        if name in given:
            paths = given[name]
            given[name] = (
                [str(Path(path).absolute()) for path in paths] if name == "data" else str(Path(paths).absolute())
            )
    if known is not None:
        different = [name for name, value in given.items() if known[name] != value]
        if different:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in different)
            raise InputError(f"was begun with other settings: {flags}", options.directory)
        return known
    settings = {**DEFAULTS, **given}
    settings["name"] = settings["name"] or Path(options.directory).absolute().name
    settings["teacher"] = settings["teacher"] or settings["in_use"]
    return settings


def open_generation(options):
    work = Path(options.directory).absolute()
    state = None
    if (work / "state.json").exists():
        try:
            state = json.loads((work / "state.json").read_text(encoding="utf-8"))
            if state["format"] != FORMAT or set(state["settings"]) != set(DEFAULTS):
                raise ValueError("written by another version")
            state["inputs"], state["done"] = dict(state["inputs"]), dict(state["done"])
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"is no state of a generation: {error!r}", work / "state.json") from None
    settings = settings_from(options, None if state is None else state["settings"])
    free = {name: getattr(options, name) or value for name, value in FREE.items()}
    quetzal = own_quetzal() if options.quetzal is None else shlex.split(options.quetzal, posix=os.name != "nt")
    generation = Generation(work, settings, free, quetzal, (Path(options.history), Path(options.document)))
    if state is not None:
        generation.inputs, generation.done = state["inputs"], state["done"]
    if "record" not in generation.done:
        generation.check()
    return generation


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", metavar="DIR", help="where everything of this generation is kept")
    parser.add_argument("--dry-run", action="store_true", help="print the commands that are left, and do nothing")
    parser.add_argument("--name", help="what the history calls it (default: the directory's name)")
    parser.add_argument("--in-use", metavar="FILE", help="the network to beat (default: the one built in)")
    parser.add_argument("--history", default=ROOT / "docs" / "networks.json", metavar="FILE")
    parser.add_argument("--document", default=ROOT / "docs" / "networks.md", metavar="FILE")
    parser.add_argument("--quetzal", metavar="COMMAND", help="another Quetzal (default: this one)")

    games = parser.add_argument_group("games to learn from")
    games.add_argument("--games", type=int, metavar="N", help="to play (default: 20000); 0: only those of --data")
    games.add_argument("--nodes", type=positive, metavar="N", help="per move, about (default: 500)")
    games.add_argument("--teacher", metavar="FILE", help="the evaluation that plays them (default: as --in-use)")
    games.add_argument("--data", nargs="+", metavar="FILE", help="further games, of earlier generations")
    games.add_argument("--selfplay-arguments", metavar="TEXT", help="more for quetzal selfplay")

    training = parser.add_argument_group("training")
    training.add_argument("--neurons", type=positive, metavar="N", help="(default: that of quetzal train, as below)")
    training.add_argument("--epochs", type=positive, metavar="N", help="passes over the data")
    training.add_argument("--result-share", type=float, metavar="X", help="part of the target that is the result")
    training.add_argument("--seed", type=int, metavar="N", help="of games, training and openings (default: 1)")
    training.add_argument("--train-arguments", metavar="TEXT", help="more for quetzal train")
    training.add_argument("--threads", type=positive, metavar="N", help="for games and training (default: all cores)")

    matches = parser.add_argument_group("matches")
    matches.add_argument("--openings", metavar="FILE", help=".epd, .pgn, or .bin for a Polyglot book; needed")
    matches.add_argument("--match-nodes", type=positive, metavar="N", help="per move in the first (default: 5000)")
    matches.add_argument("--tc", metavar="CONTROL", help="of the second (default: 8+0.08)")
    matches.add_argument(
        "--match-games", type=positive, metavar="N", help="of each, with --sprt at most (default: 400)"
    )
    matches.add_argument("--sprt", metavar="ELO0,ELO1", help="stop when one of the two is refuted")
    matches.add_argument("--hash", type=positive, metavar="MB", help="(default: 16)")
    matches.add_argument("--match-arguments", metavar="TEXT", help="more for quetzal match (default: adjudication)")
    matches.add_argument("-c", "--concurrency", type=positive, metavar="N", help="games at once (default: 1)")
    return parser


def main(arguments=None):
    options = build_parser().parse_args(arguments)
    try:
        generation = open_generation(options)
        if options.dry_run:
            for step in generation.left():
                if step == "record":
                    print(f"# record: {generation.history} and {generation.document}")
                else:
                    print(shlex.join(generation.commands.of(step)))
            return 0
        generation.work.mkdir(parents=True, exist_ok=True)
        generation.save()
        return generation.run(lambda text: print(text, flush=True))
    except (KeyboardInterrupt, InterruptedStepError) as error:
        print(f"{str(error) or 'interrupted'}; the same command goes on", file=sys.stderr)
        return 130
    except CommandError as error:
        print(f"generations: {error}", file=sys.stderr)
        return 1
    except (ValueError, OSError) as error:
        print(f"generations: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
