"""`quetzal tournament FILE`."""

from arena.display import tournament_line, tournament_lines
from arena.draft import Draft, describe_tournament
from arena.errors import InputError
from arena.tournament import TournamentSchedule
from command.arguments import positive
from command.contest import add_game_arguments, launch

# Flags and the places in the file that they stand for: (flag's name, table or None, key).
FLAGS = (
    ("name", None, "name"),
    ("format", None, "format"),
    ("rounds", None, "rounds"),
    ("games", None, "games"),
    ("challengers", None, "challengers"),
    ("extra_pairs", None, "extra_pairs"),
    ("concurrency", None, "concurrency"),
    ("seed", None, "seed"),
    ("chess960", None, "chess960"),
    ("tc", None, "tc"),
    ("ponder", None, "ponder"),
    ("restart", None, "restart"),
    ("openings", "openings", "file"),
    ("plies", "openings", "plies"),
    ("shuffle", "openings", "shuffle"),
    ("first_opening", "openings", "first"),
    ("resign", "adjudication", "resign"),
    ("draw", "adjudication", "draw"),
    ("max_moves", "adjudication", "max_moves"),
    ("syzygy_path", "adjudication", "syzygy"),
    ("startup_timeout", "timeouts", "startup"),
    ("ping_timeout", "timeouts", "ping"),
    ("move_timeout", "timeouts", "move"),
    ("margin", "timeouts", "margin_ms"),
)


def add_arguments(parser):
    parser.add_argument(
        "file", nargs="?", metavar="FILE", help="a TOML file that describes it; what a flag says counts before it"
    )
    parser.add_argument(
        "--engine",
        action="append",
        default=[],
        metavar="ENGINE",
        help="a command, or 'name=X;command=Y;tc=5+0.1;option.Hash=16;rating=2500'",
    )
    parser.add_argument("--name", metavar="TEXT", help="what it is called")
    parser.add_argument("--format", metavar="KIND", help="round-robin (default), gauntlet, swiss, knockout")
    parser.add_argument(
        "--rounds",
        type=positive,
        metavar="N",
        help="how often everyone meets (default: 1); of a Swiss its rounds (default: log2 of the engines)",
    )
    parser.add_argument("--games", type=positive, metavar="N", help="of each meeting, an even number (default: 2)")
    parser.add_argument("--challengers", type=positive, metavar="N", help="of a gauntlet: the first N (default: 1)")
    parser.add_argument("--extra-pairs", type=int, metavar="N", help="after a tie in a knockout (default: 5)")
    add_game_arguments(parser)


def describe(options):
    flags = {
        (table, key): value for flag, table, key in FLAGS if (value := getattr(options, flag)) not in (None, False)
    }
    if options.no_pin:
        flags[None, "pin"] = False
    return describe_tournament(Draft(options.file, flags, options.engine, options.option))


def run(options):
    if options.resume is not None and (options.file is not None or options.engine):
        raise InputError("--resume takes the engines and everything else from the run itself")
    return launch(options, describe, "tournament", TournamentSchedule, tournament_lines, tournament_line)
