"""`quetzal selfplay`: fills a file with games."""

import hashlib
import sys
from pathlib import Path

from arena.interrupts import INTERRUPTED, Interrupt
from command.arguments import add_cluster, add_eval_file, add_output, add_threads, cluster_of, positive
from command.progress import Progress
from eval import DEFAULT, load_evaluation, read_evaluation
from training.files import GameWriter
from training.selfplay import Settings
from training.selfplay_run import Generator

FLUSH_EVERY = 20


def add_arguments(parser):
    add_output(parser, "where the games go; continued if it exists")
    parser.add_argument("--games", type=positive, required=True, metavar="N", help="how many the file shall hold")
    add_threads(parser)
    parser.add_argument("--seed", type=int, help="another seed, other games (default: 1)")
    add_eval_file(parser)
    parser.add_argument("--nodes", dest="soft_nodes", type=positive, metavar="N", help="per move, about (default: 500)")
    parser.add_argument("--hard-nodes", type=positive, metavar="N", help="per move, at most (default: 8 times that)")
    parser.add_argument("--random-plies", type=int, metavar="N", help="random moves at the start (default: 8)")
    parser.add_argument("--opening-limit", type=positive, metavar="CP", help="most lopsided opening (default: 350)")
    parser.add_argument("--win-score", type=positive, metavar="CP", help="adjudicate wins from here (default: 1200)")
    parser.add_argument("--win-plies", type=positive, metavar="N", help="… after so many plies (default: 5)")
    parser.add_argument("--draw-score", type=int, metavar="CP", help="adjudicate draws up to here (default: 6)")
    parser.add_argument("--draw-plies", type=positive, metavar="N", help="… after so many plies (default: 12)")
    parser.add_argument("--draw-from", type=int, metavar="PLY", help="… but not before this ply (default: 80)")
    parser.add_argument("--chess960-percent", type=int, metavar="P", help="games from Chess960 starts (default: 12)")
    add_cluster(parser)


def settings_from(options):
    chosen = {name: getattr(options, name) for name in Settings._fields if getattr(options, name) is not None}
    settings = Settings(**chosen)
    if settings.hard_nodes < settings.soft_nodes:
        settings = settings._replace(hard_nodes=8 * settings.soft_nodes)
    return settings


def load_teacher(name):
    """Loads the evaluation that plays. Returns what the file of games shall remember of it."""
    if name is None:
        name = DEFAULT
    digest = hashlib.sha256(read_evaluation(name)).hexdigest()
    load_evaluation(name)
    return {"eval_file": Path(name).name, "eval_sha256": digest}


def differences(one, other):
    """The settings in which two runs differ. An evaluation is the same under any name."""
    return [name for name in {**one, **other} if name != "eval_file" and one.get(name) != other.get(name)]


def run(options):
    """Plays until the file holds `options.games` games, or until Ctrl-C; returns the exit status."""
    settings = settings_from(options)
    described = settings._asdict() | load_teacher(options.eval_file)
    with cluster_of(options) as cluster, GameWriter(options.output, described) as writer:
        if writer.damage is not None:
            print(f"{options.output}: {writer.damage}", file=sys.stderr)
        different = differences(described, writer.metadata)
        if different:
            raise ValueError(f"{options.output} was begun with other settings: {', '.join(different)}")
        if writer.games >= options.games:
            print(f"{options.output} holds {writer.games} games already")
            return 0
        return play(options, settings, writer, cluster)


def play(options, settings, writer, cluster):
    """Fills the file."""
    progress = Progress("self-play", "games", options.games)
    progress.resume_at(writer.games)
    plies = quiet = nodes = 0
    results = {1: 0, 0: 0, -1: 0}
    generator = Generator(
        settings,
        writer.games,
        options.threads,
        cluster=cluster,
        evaluation=DEFAULT if options.eval_file is None else options.eval_file,
        on_warning=progress.finish,
    )
    said = []

    def is_ending():
        """Asked also while no game arrives: a cluster may have stalled."""
        if interrupt.is_requested and not said:
            said.append("no more games are begun; Ctrl-C again gives up those that are being played")
            progress.finish(said[0])
        return interrupt.is_requested

    with Interrupt() as interrupt:
        for game in generator.games(options.games - writer.games, is_ending):
            writer.write_payload(game.payload)
            if writer.games % FLUSH_EVERY == 0:
                writer.flush()
            plies += game.plies
            quiet += game.quiet
            nodes += game.nodes
            results[game.result] += 1
            rate = quiet * progress.rate() / max(1, progress.done - progress.skipped + 1)
            progress.advance(1, f"{rate:,.0f} kept positions/s")
    played = max(1, progress.done - progress.skipped)
    rate = progress.rate()
    progress.finish(
        f"{played} games, {plies} plies, {quiet} quiet positions: {quiet / played * rate:,.0f} per second on "
        f"{generator.pool.slots()} threads, {nodes / played * rate:,.0f} nodes/s; "
        f"White won {results[1]}, drew {results[0]}, lost {results[-1]}; {options.output} holds {writer.games} games"
    )
    if writer.games < options.games:
        progress.finish("interrupted; the same command goes on")
        return INTERRUPTED
    return 0
