"""Types of command-line arguments that several commands share. One option has one name and one meaning everywhere."""

import argparse
import contextlib
import os
import re
import sys

from board import STARTING_FEN, Board

# The fields of a FEN behind the first one, which is known by its slashes.
_FEN_FIELDS = tuple(map(re.compile, (r"[wb]", r"-|[KQkqA-Ha-h]+", r"-|[a-h][36]", r"\d+", r"\d+")))


def positive(text):
    """An argparse type: a whole number from 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def gigabytes(text):
    """An argparse type: a size from 0."""
    number = float(text)
    if not 0 <= number <= 1e6:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1,000,000")
    return number


def join_fen(words):
    """A command line in which a FEN without quotes has become one word again.

    Shells take it apart into six. Words behind it that are no fields of a FEN are left to whoever parses them.
    """
    for place, word in enumerate(words):
        if word == "--fen" or word.startswith("--fen="):
            first = place + 1 if word == "--fen" else place
            if first == len(words) or words[first].count("/") < 7:
                return list(words)
            last = first + 1
            for field in _FEN_FIELDS[len(words[first].split()) - 1 :]:
                if last == len(words) or not field.fullmatch(words[last]):
                    break
                last += 1
            return [*words[:first], " ".join(words[first:last]), *words[last:]]
    return list(words)


def add_fen(command):
    command.add_argument(
        "--fen", metavar="FEN", help="the position, with or without quotes (default: the start of the game)"
    )


def board_of(options):
    """The position that `add_fen` and `add_chess960` ask for."""
    fen = STARTING_FEN if options.fen is None else options.fen
    return Board(fen, chess960=getattr(options, "chess960", False))


def add_chess960(command):
    command.add_argument("--chess960", action="store_true", help="write castling as king takes rook")


def add_show_broken(command):
    command.add_argument(
        "--show-broken",
        type=int,
        default=20,
        metavar="N",
        help="broken games to name before only counting (default: 20)",
    )


def add_threads(command, purpose="threads to work with", default=None):
    """On all cores, unless the result depends on their number."""
    said = "all cores" if default is None else default
    command.add_argument(
        "--threads", type=positive, default=default or os.cpu_count(), metavar="N", help=f"{purpose} (default: {said})"
    )


def add_output(command, what, metavar="FILE", **more):
    command.add_argument("-o", "--output", metavar=metavar, help=what, **{"required": "default" not in more, **more})


def add_search_limits(command, what):
    """How long each search takes: whichever limit comes first."""
    command.add_argument("--nodes", type=positive, metavar="N", help=f"nodes for each {what}")
    command.add_argument("--movetime", type=positive, metavar="MS", help=f"milliseconds for each {what}")
    command.add_argument("--depth", type=positive, metavar="N", help=f"plies for each {what}")


def search_limits_of(options, default):
    """The limits that `add_search_limits` asks for, by name; `default` where there are none."""
    given = {name: getattr(options, name) for name in ("nodes", "movetime", "depth")}
    return {name: value for name, value in given.items() if value is not None} or default


def add_move_timeout(command, what):
    """For engines that ignore other limits than time."""
    command.add_argument("--move-timeout", type=float, metavar="S", help=f"for a {what} without a clock (default: 300)")


def add_hash(command, default):
    command.add_argument(
        "--hash",
        type=positive,
        default=default,
        metavar="MB",
        help=f"size of the transposition table (default: {default})",
    )


def add_json(command):
    command.add_argument("--json", action="store_true", help="write JSON, for programs")


def add_eval_file(command):
    """With which evaluation a command works, for `eval.load_evaluation`. Without the option it gets None."""
    command.add_argument(
        "--eval-file",
        metavar="FILE",
        help='a network or weights; "": the classical evaluation (default: the bundled network)',
    )


def add_syzygy_path(command):
    command.add_argument(
        "--syzygy-path", metavar="DIRS", help="directories of endgame tables (default: those of the package)"
    )


def add_cluster(command, *, upload=False, tables=False):
    """Work on other machines; with `upload` and `tables` whether programs and endgame tables are sent there."""
    group = command.add_argument_group("cluster")
    group.add_argument("--cluster", metavar="ADDRESS", help="work on a Dask cluster, such as tcp://10.0.0.1:8786")
    for name, what in (("ca", "the authority's certificate"), ("cert", "our certificate"), ("key", "its key")):
        group.add_argument(f"--tls-{name}", metavar="FILE", help=f"{what}, for tls:// addresses")
    if tables:
        group.add_argument(
            "--send-tables",
            type=gigabytes,
            metavar="GB",
            help="endgame tables up to this size are sent to workers that lack them (default: 2)",
        )
    if upload:
        group.add_argument("--upload", action="store_true", help="send the engines' programs to the cluster")


@contextlib.contextmanager
def cluster_of(options):
    """The connection to the cluster that `add_cluster` asks for, or None. ValueError if there is no such cluster."""
    if options.cluster is None:
        for name in ("upload", "tls_ca", "tls_cert", "tls_key", "send_tables"):
            given = getattr(options, name, None)
            if given is not None and given is not False:  # 0 is a size
                raise ValueError(f"--{name.replace('_', '-')} needs --cluster")
        yield None
        return
    from pool.cluster import MOST_SENT, Certificates, Cluster
    from uci_engine.identity import identity

    certificates = Certificates(options.tls_ca, options.tls_cert, options.tls_key)

    def say(text):
        print(text, file=sys.stderr)

    largest = getattr(options, "send_tables", 0)
    most_sent = MOST_SENT if largest is None else int(largest * (1 << 30))
    with contextlib.closing(Cluster(options.cluster, identity, certificates, say, most_sent)) as cluster:
        yield cluster
