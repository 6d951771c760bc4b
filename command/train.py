"""`quetzal train`: trains a network from games and writes its file."""

from pathlib import Path

from arena.duration import duration
from arena.interrupts import INTERRUPTED, Interrupt
from board.files import check_replaceable, read_bytes, replace_file
from command.arguments import add_output, positive
from command.learning import add_filters, filters_from, gather_with_progress
from command.progress import Progress
from eval.king_buckets import bucket_table, origins
from eval.network_file import pack_network, unpack_network
from training.network_run import MOST_DIFFERENCE, Settings, TrainError, TrainingRun, weights_of
from training.network_trainer import LEVEL_NAMES
from training.plots import Line, line_chart, svg_page
from training.schedule import Ramp
from uci_engine import __version__

DEFAULT_NEURONS, DEFAULT_OUTPUTS, DEFAULT_KING_BUCKETS, LAST_RATE = (
    Settings._field_defaults[name] for name in ("neurons", "outputs", "king_buckets", "last_rate")
)


def add_arguments(parser):
    add_filters(parser)
    add_output(parser, "the network file to write", "NET.qnn")
    parser.add_argument("--neurons", type=positive, metavar="N", help="of each side, a multiple of 32 (default: 128)")
    parser.add_argument(
        "--outputs", type=positive, metavar="N", help="of which the number of men chooses one, 1 to 8 (default: 1)"
    )
    parser.add_argument(
        "--king-buckets",
        type=positive,
        metavar="K",
        help="sets of input weights, of which each side's king square chooses one, 1 to 8 (default: 1)",
    )
    parser.add_argument("--epochs", type=positive, default=20, metavar="N", help="passes over the data (default: 20)")
    parser.add_argument("--batch", type=positive, default=8192, metavar="N", help="positions per step (default: 8192)")
    parser.add_argument("--rate", type=float, default=1e-3, metavar="X", help="highest learning rate (default: 0.001)")
    parser.add_argument("--last-rate", type=float, metavar="X", help="the rate at the end (default: 0.00001)")
    parser.add_argument(
        "--rate-curve",
        default="cosine",
        metavar="CURVE",
        help="how the rate falls: cosine, linear or step:N, N rates for equal times (default: cosine)",
    )
    parser.add_argument(
        "--result-share",
        type=Ramp.parse,
        default=Ramp(0.1, 0.1),
        metavar="X[:Y[@P]]",
        help="part of the target taken from the game's result, the rest from the searches' scores; X:Y changes from X to Y "
        "over the run, X:Y@P once the part P of it is done (default: 0.1)",
    )
    parser.add_argument(
        "--later-share",
        type=float,
        default=0.7,
        metavar="X",
        help="part of a score that comes from the searches of the following plies (default: 0.7)",
    )
    parser.add_argument(
        "--shards", type=positive, metavar="N", help="keep the positions on disk, in N shards (default: in memory)"
    )
    parser.add_argument(
        "--shards-at-once", type=positive, default=8, metavar="N", help="read together into memory (default: 8)"
    )
    parser.add_argument(
        "--shard-directory", metavar="DIR", help="where the shards are kept, to be used again (default: beside NET)"
    )
    parser.add_argument("--checkpoint", metavar="FILE", help="where to keep the state of the run (default: beside NET)")
    parser.add_argument("--resume", action="store_true", help="go on after an interruption")
    parser.add_argument(
        "--start", metavar="NET.qnn", help="go on from this network's weights; it may grow (default: random ones)"
    )


def settings_from(options, start):
    """`start` is the network to begin with, or None."""
    neurons = options.neurons or (start.neurons if start else DEFAULT_NEURONS)
    outputs = options.outputs or (start.outputs if start else DEFAULT_OUTPUTS)
    king_buckets = options.king_buckets or (start.king_buckets if start else DEFAULT_KING_BUCKETS)
    settings = Settings(
        neurons=neurons,
        outputs=outputs,
        king_buckets=king_buckets,
        epochs=options.epochs,
        batch=options.batch,
        rate=options.rate,
        last_rate=min(LAST_RATE, options.rate) if options.last_rate is None else options.last_rate,
        rate_curve=options.rate_curve,
        result_share=options.result_share,
        seed=options.seed,
        filters=filters_from(options, options.later_share),
        shards_at_once=options.shards_at_once,
    )
    settings.check()
    if start and start.neurons > neurons:
        raise TrainError(f"{options.start} has {start.neurons} neurons, more than {neurons}")
    if start and start.outputs > outputs:
        raise TrainError(f"{options.start} has {start.outputs} outputs, more than {outputs}")
    if start and origins(bucket_table(king_buckets), start.bucket_table) is None:
        raise TrainError(f"{options.start} has {start.king_buckets} king buckets, which cannot become {king_buckets}")
    return settings


def grown(start, settings):
    """The weights of the network to begin with, in the size that is wanted."""
    return weights_of(start, settings.neurons, settings.seed, settings.outputs, settings.king_buckets)


def places(options):
    """The files of a run: network, plot of the losses, checkpoint. What would fail at the end is refused here."""
    output = Path(options.output)
    if output.suffix != ".qnn":
        raise TrainError(f"{output}: a network's name ends in .qnn")
    checkpoint = Path(options.checkpoint or f"{output}.checkpoint")
    plot = output.with_suffix(".svg")
    for path in (output, plot, checkpoint):
        check_replaceable(path)
    if checkpoint.exists() and not options.resume:
        raise TrainError(f"{checkpoint} is there: go on with --resume, or remove it")
    return output, plot, checkpoint


def draw_losses(path, history):
    lines = [
        Line(name, [(epoch + 1, losses[place]) for epoch, losses in enumerate(history)])
        for place, name in enumerate(("training", "held out"))
    ]
    replace_file(path, svg_page([line_chart("mean squared error of the expected score", "epoch", lines)]))


def summary(run, options, comparison, rate):
    """What the network's file tells about its making: names, not places."""
    from uci_engine._build import COMMIT

    data, settings = run.data, run.settings._asdict()
    settings["filters"] = run.settings.filters._asdict()
    settings["result_share"] = str(run.settings.result_share)
    best = min(range(len(run.history)), key=lambda epoch: run.history[epoch][1])
    return {
        "data": {
            "files": data.files,
            "games": data.games,
            "positions": len(data.training),
            "held_out": len(data.held_out),
            "duplicates": data.duplicates,
        },
        "settings": settings,
        "start": Path(options.start).name if options.start else None,
        "threads": run.threads,
        "losses": run.history,
        "best_epoch": best + 1,
        "rounding": comparison._asdict(),
        "positions_per_second": round(rate),
        "version": __version__,
        "commit": COMMIT,
    }


def learn(run, checkpoint, plot, progress):
    """Until the last epoch is over; True then.

    An interrupt leaves a checkpoint from which the run can go on as if nothing had happened.
    """
    settings = run.settings
    with Interrupt() as interrupt:
        while not run.is_finished:
            progress.advance(run.learn_batch(), f"epoch {run.epoch + 1}")
            if run.epoch_is_over:
                training, held_out = run.end_epoch()
                run.save(checkpoint)
                draw_losses(plot, run.history)
                progress.finish(
                    f"epoch {run.epoch}/{settings.epochs}: loss {training:.6f}, held out {held_out:.6f}, "
                    f"{progress.rate():,.0f} positions/s, {progress.left()} left"
                )
            if interrupt.is_requested and not run.is_finished:
                run.save(checkpoint)
                progress.finish(f"interrupted; {checkpoint} is kept, go on with --resume")
                return False
    return True


def run(options):
    """The command: reads, learns, rounds, compares, writes. Returns the exit status."""
    start = None
    if options.start is not None:
        start = unpack_network(read_bytes(options.start), options.start)
    settings = settings_from(options, start)
    output, plot, checkpoint = places(options)
    shards = options.shards and (Path(options.shard_directory or f"{output}.shards"), options.shards)
    data = gather_with_progress(options.games, settings.filters, options.threads, shards)
    for line in data.report():
        print(line)
    run = TrainingRun(data, settings, options.threads, start and grown(start, settings))
    try:
        progress = Progress("training", "positions", settings.epochs * len(data.training))
        if options.resume and checkpoint.exists():
            run.load(checkpoint)
            progress.resume_at(run.positions_done)
            progress.finish(f"going on after {run.epoch} epochs and {run.batch} batches")
        progress.finish(
            f"{settings.neurons} neurons, outputs: {settings.outputs}, king buckets: {settings.king_buckets}, "
            f"{settings.epochs} epochs of {run.batches} batches on {options.threads} threads "
            f"({LEVEL_NAMES[run.trainer.level]}); held-out loss before: {run.held_out_loss():.6f}"
        )
        if not learn(run, checkpoint, plot, progress):
            return INTERRUPTED
        rate = progress.rate()
        rounded, comparison = run.round_off()
        print(
            f"in integers: {comparison.mean_difference:.2f} centipawns from the trainer's evaluation on average, "
            f"{comparison.largest_difference:.0f} at most; the weights' rounding is worth {comparison.mean_rounding:.2f}, "
            f"held-out loss without it {comparison.exact_loss:.6f}"
        )
        print(
            f"mean |score| on held-out positions: network {comparison.mean_evaluation:.0f}, "
            f"search {comparison.mean_search_score:.0f} centipawns"
        )
        if comparison.mean_difference > MOST_DIFFERENCE:
            raise TrainError(
                f"that is more than {MOST_DIFFERENCE:g} centipawns: no network was written; {checkpoint} is kept"
            )
        described = summary(run, options, comparison, rate)
        replace_file(output, pack_network(run.export(rounded, described)))
        checkpoint.unlink(missing_ok=True)
        best = described["best_epoch"]
        print(
            f"held-out loss {run.history[-1][1]:.6f} (lowest after epoch {best}: {run.history[best - 1][1]:.6f}), "
            f"{rate:,.0f} positions/s, {rate / options.threads:,.0f} per thread, "
            f"{duration((progress.done - progress.skipped) / max(rate, 1e-9))}"
        )
        print(f"written to {output}, losses drawn in {plot}")
        if shards:
            print(f"{shards[0]} keeps the positions for other runs on the same games; remove it when there are none")
        return 0
    finally:
        run.close()
