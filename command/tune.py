"""`quetzal tune`."""

from pathlib import Path

from arena.interrupts import INTERRUPTED, Interrupt
from board.files import check_replaceable, replace_file
from command.arguments import add_output, add_threads, positive
from command.progress import Progress
from eval import load_weights
from eval.weights import FEATURES
from eval.weights_file import format_weights
from training.tuner import Settings, TuneError, Tuner, piece_values, read_games


def add_arguments(parser):
    parser.add_argument("games", nargs="+", help="files of games, as self-play writes them")
    add_output(parser, "the weights file to write")
    parser.add_argument("--start", metavar="FILE", help="weights to start from (default: those in use)")
    parser.add_argument("--resume", action="store_true", help="go on after an interruption")
    parser.add_argument("--epochs", type=positive, default=30, metavar="N", help="passes over the data (default: 30)")
    parser.add_argument(
        "--batch", type=positive, default=16384, metavar="N", help="positions per step (default: 16384)"
    )
    parser.add_argument("--rate", type=float, default=1.0, metavar="CP", help="first step in centipawns (default: 1)")
    parser.add_argument(
        "--prior", type=float, default=60.0, metavar="CP", help="how far weights are expected to move (default: 60)"
    )
    parser.add_argument(
        "--held-out", type=int, default=5, metavar="PERCENT", help="share of the games held out (default: 5)"
    )
    parser.add_argument(
        "--score-share", type=float, default=0.0, metavar="X", help="part of the target taken from scores (default: 0)"
    )
    parser.add_argument(
        "--most-score", type=positive, default=1000, metavar="CP", help="leave out larger scores (default: 1000)"
    )
    parser.add_argument("--no-settle", action="store_true", help="take positions as they are, captures pending")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of order and held-out games (default: 1)")
    add_threads(parser)


def fit(tuner, checkpoint, progress):
    """Until the last epoch is over, with a checkpoint after each."""
    progress.resume_at(tuner.epoch * len(tuner.data.training))
    progress.finish(f"K = {tuner.k:.6f}, held-out loss before: {tuner.first_loss:.6f}")
    while tuner.epoch < tuner.settings.epochs:
        loss, held_out = tuner.run_epoch(progress)
        tuner.save(checkpoint)
        progress.finish(
            f"epoch {tuner.epoch}/{tuner.settings.epochs}: loss {loss:.6f}, held out {held_out:.6f}, "
            f"{progress.rate():,.0f} positions/s, {progress.left()} left"
        )


def run(options):
    """The command: reads, fits, reports, writes. Returns the exit status."""
    settings = Settings(
        epochs=options.epochs,
        batch=options.batch,
        rate=options.rate,
        prior=options.prior,
        held_out=options.held_out,
        score_share=options.score_share,
        most_score=options.most_score,
        settle=not options.no_settle,
        seed=options.seed,
        threads=options.threads,
    )
    output = Path(options.output)
    checkpoint = output.with_name(output.name + ".checkpoint")
    for path in (output, checkpoint):
        check_replaceable(path)
    if checkpoint.exists() and not options.resume:
        raise TuneError(f"{checkpoint} is there: go on with --resume, or remove it")
    if options.start is not None:
        load_weights(Path(options.start))

    reading = Progress("reading", "positions")
    data = read_games(options.games, settings, reading)
    for path, damage in data.damaged:
        reading.finish(f"{path}: {damage}")
    reading.finish(
        f"{data.games:,} games: {len(data.training):,} quiet positions to learn from, {len(data.held_out):,} held out"
    )
    tuner = Tuner(data, settings)
    try:
        if options.resume and checkpoint.exists():
            tuner.load(checkpoint)
            reading.finish(f"going on after epoch {tuner.epoch}")
        with Interrupt() as interrupt:
            progress = Progress("tuning", "positions", settings.epochs * len(data.training), interrupt=interrupt)
            try:
                fit(tuner, checkpoint, progress)
            except KeyboardInterrupt:
                progress.finish(f"interrupted; epoch {tuner.epoch} is kept, go on with --resume")
                return INTERRUPTED
        middlegame, endgame = tuner.rounded()
        final = tuner.held_out_loss()
        origin = (
            f"quetzal tune: {len(data.training)} positions of {data.games} games, seed {settings.seed}, "
            f"{settings.epochs} epochs, held-out loss {tuner.first_loss:.6f} to {final:.6f}"
        )
        replace_file(output, format_weights(FEATURES, middlegame, endgame, origin))
        checkpoint.unlink(missing_ok=True)
        progress.finish(f"held-out loss {tuner.first_loss:.6f} -> {final:.6f}, written to {output}")
        for line in piece_values(middlegame, endgame):
            print(line)
        return 0
    finally:
        tuner.close()
