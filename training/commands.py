"""The command lines of self-play, tuning and training. What they start is imported only when they do."""

import os

from uci_engine.arguments import add_eval_file, positive


def run_selfplay(options):
    from training.selfplay_command import run_selfplay

    run_selfplay(options)


def run_tune(options):
    from training.tuner import run_tune

    run_tune(options)


def run_data(options):
    from training.data_command import run_data

    run_data(options)


def run_train(options):
    from training.train_command import run_train

    run_train(options)


def add_filters(command):
    """What `data` and `train` ask about games and positions."""
    command.add_argument("games", nargs="+", help="files of games, as self-play writes them")
    command.add_argument(
        "--most-score", type=positive, default=2000, metavar="CP", help="leave out larger scores (default: 2000)"
    )
    command.add_argument(
        "--from-ply", type=int, default=16, metavar="N", help="leave out the plies before (default: 16)"
    )
    command.add_argument(
        "--held-out", type=int, default=2, metavar="PERCENT", help="share of the games held out (default: 2)"
    )
    command.add_argument("--seed", type=int, default=1, metavar="N", help="of everything random (default: 1)")
    command.add_argument("--threads", type=positive, default=os.cpu_count(), metavar="N", help="(default: all cores)")


def add_training_commands(commands):
    """Adds `selfplay`, `tune`, `data` and `train` to the parser of `quetzal`."""
    selfplay = commands.add_parser("selfplay", help="play games against itself to learn from")
    selfplay.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="where the games go; continued if it exists"
    )
    selfplay.add_argument("--games", type=positive, required=True, metavar="N", help="how many the file shall hold")
    selfplay.add_argument("--threads", type=positive, default=os.cpu_count(), metavar="N", help="(default: all cores)")
    selfplay.add_argument("--seed", type=int, help="another seed, other games (default: 1)")
    add_eval_file(selfplay)
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

    data = commands.add_parser("data", help="count the positions in games that a network could learn from")
    add_filters(data)
    data.add_argument("--plot", metavar="FILE.svg", help="draw the histograms, too")
    data.set_defaults(run=run_data)

    train = commands.add_parser("train", help="teach a network from games")
    add_filters(train)
    train.add_argument("-o", "--output", required=True, metavar="NET.qnn", help="the network file to write")
    train.add_argument("--neurons", type=positive, metavar="N", help="of each side, a multiple of 32 (default: 128)")
    train.add_argument("--epochs", type=positive, default=20, metavar="N", help="passes over the data (default: 20)")
    train.add_argument("--batch", type=positive, default=8192, metavar="N", help="positions per step (default: 8192)")
    train.add_argument("--rate", type=float, default=1e-3, metavar="X", help="highest learning rate (default: 0.001)")
    train.add_argument("--last-rate", type=float, metavar="X", help="the rate at the end (default: 0.00001)")
    train.add_argument(
        "--result-share",
        type=float,
        default=0.1,
        metavar="X",
        help="part of the target taken from the game's result, the rest from the searches' scores (default: 0.1)",
    )
    train.add_argument(
        "--later-share",
        type=float,
        default=0.7,
        metavar="X",
        help="part of a score that comes from the searches of the following plies (default: 0.7)",
    )
    train.add_argument("--checkpoint", metavar="FILE", help="where to keep the state of the run (default: beside NET)")
    train.add_argument("--resume", action="store_true", help="go on after an interruption")
    train.add_argument(
        "--start", metavar="NET.qnn", help="go on from this network's weights; it may grow (default: random ones)"
    )
    train.set_defaults(run=run_train)
