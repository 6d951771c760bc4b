"""`quetzal selfplay`: fills a file with games."""

import hashlib
import sys
from pathlib import Path

from training.files import GameWriter
from training.selfplay import Generator, Settings
from uci_engine.progress import Progress

FLUSH_EVERY = 20


def settings_from(options):
    chosen = {name: getattr(options, name) for name in Settings._fields if getattr(options, name) is not None}
    settings = Settings(**chosen)
    if settings.hard_nodes < settings.soft_nodes:
        settings = settings._replace(hard_nodes=8 * settings.soft_nodes)
    return settings


def load_teacher(name):
    """Loads the evaluation that plays. Returns what the file of games shall remember of it."""
    from eval import DEFAULT, load_evaluation, read_evaluation

    if name is None:
        name = DEFAULT
    digest = hashlib.sha256(read_evaluation(name)).hexdigest()
    load_evaluation(name)
    return {"eval_file": Path(name).name, "eval_sha256": digest}


def differences(one, other):
    """The settings in which two runs differ. An evaluation is the same under any name."""
    return [name for name in {**one, **other} if name != "eval_file" and one.get(name) != other.get(name)]


def run_selfplay(options):
    """Plays until the file holds `options.games` games. Ctrl-C ends it with everything finished so far kept."""
    settings = settings_from(options)
    described = settings._asdict() | load_teacher(options.eval_file)
    with GameWriter(options.output, described) as writer:
        if writer.damage is not None:
            print(f"{options.output}: {writer.damage}", file=sys.stderr)
        different = differences(described, writer.metadata)
        if different:
            raise ValueError(f"{options.output} was begun with other settings: {', '.join(different)}")
        if writer.games >= options.games:
            print(f"{options.output} holds {writer.games} games already")
            return
        progress = Progress("self-play", "games", options.games)
        progress.resume_at(writer.games)
        plies = quiet = nodes = 0
        results = {1: 0, 0: 0, -1: 0}
        games = Generator(settings, writer.games, options.threads).games(options.games - writer.games)
        try:
            for game in games:
                writer.write_payload(game.payload)
                if writer.games % FLUSH_EVERY == 0:
                    writer.flush()
                plies += game.plies
                quiet += game.quiet
                nodes += game.nodes
                results[game.result] += 1
                rate = quiet * progress.rate() / max(1, progress.done - progress.skipped + 1)
                progress.advance(1, f"{rate:,.0f} kept positions/s")
        except KeyboardInterrupt:
            games.close()
        played = max(1, progress.done - progress.skipped)
        rate = progress.rate()
        progress.finish(
            f"{played} games, {plies} plies, {quiet} quiet positions: {quiet / played * rate:,.0f} per second on "
            f"{options.threads} threads, {nodes / played * rate:,.0f} nodes/s; "
            f"White won {results[1]}, drew {results[0]}, lost {results[-1]}; {options.output} holds {writer.games} games"
        )
