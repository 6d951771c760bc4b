"""The command lines of self-play and tuning. What they start is imported only when they do."""

import os

from uci_engine.arguments import positive


def run_selfplay(options):
    from training.selfplay_command import run_selfplay

    run_selfplay(options)


def run_tune(options):
    from training.tuner import run_tune

    run_tune(options)


def add_training_commands(commands):
    """Adds `selfplay` and `tune` to the parser of `quetzal`."""
    selfplay = commands.add_parser("selfplay", help="play games against itself to learn from")
    selfplay.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="where the games go; continued if it exists"
    )
    selfplay.add_argument("--games", type=positive, required=True, metavar="N", help="how many the file shall hold")
    selfplay.add_argument("--threads", type=positive, default=os.cpu_count(), metavar="N", help="(default: all cores)")
    selfplay.add_argument("--seed", type=int, help="another seed, other games (default: 1)")
    selfplay.add_argument(
        "--nodes", dest="soft_nodes", type=positive, metavar="N", help="per move, about (default: 500)"
    )
    selfplay.add_argument("--hard-nodes", type=positive, metavar="N", help="per move, at most (default: 8 times that)")
    selfplay.add_argument("--random-plies", type=int, metavar="N", help="random moves at the start (default: 8)")
    selfplay.add_argument("--opening-limit", type=positive, metavar="CP", help="most lopsided opening (default: 350)")
    selfplay.add_argument("--win-score", type=positive, metavar="CP", help="adjudicate wins from here (default: 1200)")
    selfplay.add_argument("--win-plies", type=positive, metavar="N", help="… after so many plies (default: 5)")
    selfplay.add_argument("--draw-score", type=int, metavar="CP", help="adjudicate draws up to here (default: 6)")
    selfplay.add_argument("--draw-plies", type=positive, metavar="N", help="… after so many plies (default: 12)")
    selfplay.add_argument("--draw-from", type=int, metavar="PLY", help="… but not before this ply (default: 80)")
    selfplay.add_argument("--chess960-percent", type=int, metavar="P", help="games from Chess960 starts (default: 12)")
    selfplay.set_defaults(run=run_selfplay)

    tune = commands.add_parser("tune", help="fit the classical evaluation's weights to the results of games")
    tune.add_argument("games", nargs="+", help="files of games, as self-play writes them")
    tune.add_argument("--output", required=True, metavar="FILE", help="the weights file to write")
    tune.add_argument("--start", metavar="FILE", help="weights to start from (default: those in use)")
    tune.add_argument("--resume", action="store_true", help="go on after an interruption")
    tune.add_argument("--epochs", type=positive, default=30, metavar="N", help="passes over the data (default: 30)")
    tune.add_argument("--batch", type=positive, default=16384, metavar="N", help="positions per step (default: 16384)")
    tune.add_argument("--rate", type=float, default=1.0, metavar="CP", help="first step in centipawns (default: 1)")
    tune.add_argument(
        "--prior", type=float, default=60.0, metavar="CP", help="how far weights are expected to move (default: 60)"
    )
    tune.add_argument(
        "--held-out", type=int, default=5, metavar="PERCENT", help="share of the games held out (default: 5)"
    )
    tune.add_argument(
        "--score-share", type=float, default=0.0, metavar="X", help="part of the target taken from scores (default: 0)"
    )
    tune.add_argument(
        "--most-score", type=positive, default=1000, metavar="CP", help="leave out larger scores (default: 1000)"
    )
    tune.add_argument("--no-settle", action="store_true", help="take positions as they are, captures pending")
    tune.add_argument("--seed", type=int, default=1, metavar="N", help="of order and held-out games (default: 1)")
    tune.add_argument("--threads", type=positive, default=2, metavar="N", help="(default: 2)")
    tune.set_defaults(run=run_tune)
