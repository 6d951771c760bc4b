"""The command lines of matches and tournaments. What they start is imported only when they do."""

import argparse

from uci_engine.arguments import positive


def run_match(options):
    if options.worker:
        from arena.worker import main

        return main()
    from arena.match_command import run_match

    return run_match(options)


def run_tournament(options):
    from arena.tournament_command import run_tournament

    return run_tournament(options)


def add_game_arguments(parser):
    """What holds for all games, of whatever kind the contest is."""
    games = parser.add_argument_group("games")
    games.add_argument(
        "--tc", metavar="CONTROL", help="10+0.1, 40/60+0.5, movetime=0.2, nodes=5000, depth=8 (default: 10+0.1)"
    )
    games.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="for every engine")
    games.add_argument("--ponder", action="store_true", help="engines think on their opponent's time, too")
    games.add_argument("--restart", action="store_true", help="start engines anew for every game")
    games.add_argument(
        "--chess960", action="store_true", help="play Chess960; without openings from its start positions"
    )
    games.add_argument(
        "--margin", type=float, metavar="MS", help="forgiven beyond the clock (default: 0; movetime 100)"
    )
    games.add_argument("--startup-timeout", type=float, metavar="S", help="until uciok (default: 10)")
    games.add_argument("--ping-timeout", type=float, metavar="S", help="until readyok (default: 10)")
    games.add_argument("--move-timeout", type=float, metavar="S", help="for a move without a clock (default: 300)")

    openings = parser.add_argument_group("openings")
    openings.add_argument("--openings", metavar="FILE", help=".epd, .pgn, or .bin for a Polyglot book")
    openings.add_argument("--plies", type=positive, metavar="N", help="cut lines of PGN and book here (book: 12)")
    openings.add_argument("--shuffle", action="store_true", help="in random order")
    openings.add_argument("--first-opening", type=positive, metavar="N", help="begin with the N-th (default: 1)")
    openings.add_argument("--seed", type=int, metavar="N", help="of everything random (default: 1)")

    ends = parser.add_argument_group("adjudication")
    ends.add_argument("--resign", metavar="CP,MOVES[,both]", help="who is so far behind for so long has lost: 600,4")
    ends.add_argument("--draw", metavar="CP,MOVES,FROM", help="so close for so long, from a move on, is drawn: 10,8,40")
    ends.add_argument("--max-moves", type=positive, metavar="N", help="drawn after so many moves")
    ends.add_argument("--syzygy", metavar="DIR", help="endgame tables decide")

    running = parser.add_argument_group("running")
    running.add_argument("-c", "--concurrency", type=positive, metavar="N", help="games at once (default: 1)")
    running.add_argument("--no-pin", action="store_true", help="let the system choose the processors")
    running.add_argument("--dir", metavar="DIR", help="where the run is kept (default: a new one in ./runs)")
    running.add_argument("--cluster", metavar="ADDRESS", help="play on a Dask cluster, such as tcp://10.0.0.1:8786")
    running.add_argument("--upload", action="store_true", help="send the engines' programs to the cluster")
    running.add_argument("--live", type=int, metavar="PORT", help="serve the report page while games run (0: any port)")
    running.add_argument(
        "--host", metavar="ADDRESS", help="where --live listens (default: 127.0.0.1, this machine only)"
    )
    running.add_argument("--resume", metavar="DIR", help="go on with a run that was interrupted")


def add_arena_commands(commands):
    """Adds `match` and `tournament` to the parser of `quetzal`."""
    match = commands.add_parser("match", help="play two engines against each other: Elo with its error, SPRT")
    match.add_argument("engines", nargs="*", metavar="ENGINE", help="two commands, quoted if they have arguments")
    match.add_argument("--games", type=positive, metavar="N", help="how many (default: 100; with --sprt, no limit)")
    match.add_argument("--sprt", metavar="ELO0,ELO1", help="stop when one of the two is refuted")
    match.add_argument("--alpha", type=float, metavar="P", help="chance to accept ELO1 wrongly (default: 0.05)")
    match.add_argument("--beta", type=float, metavar="P", help="chance to accept ELO0 wrongly (default: 0.05)")
    match.add_argument("--normalized", action="store_true", help="ELO0 and ELO1 are normalised Elo")
    match.add_argument("--names", metavar="A,B", help="what to call them (default: by their programs)")
    for side, which in (("a", "first"), ("b", "second")):
        match.add_argument(f"--tc-{side}", metavar="CONTROL", help=f"time control of the {which} engine only")
        match.add_argument(
            f"--option-{side}", action="append", default=[], metavar="NAME=VALUE", help=f"for the {which} engine only"
        )
    match.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    add_game_arguments(match)
    match.set_defaults(run=run_match)

    tournament = commands.add_parser(
        "tournament", help="play several engines: round robin, gauntlet, Swiss, knockout; ratings with errors"
    )
    tournament.add_argument("file", nargs="?", metavar="FILE", help="a TOML file that describes it; flags go before it")
    tournament.add_argument(
        "--engine",
        action="append",
        default=[],
        metavar="ENGINE",
        help="a command, or 'name=X;command=Y;tc=5+0.1;option.Hash=16;rating=2500'",
    )
    tournament.add_argument("--name", metavar="TEXT", help="what it is called")
    tournament.add_argument("--format", metavar="KIND", help="round-robin (default), gauntlet, swiss, knockout")
    tournament.add_argument("--rounds", type=positive, metavar="N", help="cycles of a round robin; rounds of a Swiss")
    tournament.add_argument("--games", type=positive, metavar="N", help="of each meeting, an even number (default: 2)")
    tournament.add_argument("--challengers", type=positive, metavar="N", help="of a gauntlet: the first N (default: 1)")
    tournament.add_argument("--extra-pairs", type=int, metavar="N", help="after a tie in a knockout (default: 5)")
    add_game_arguments(tournament)
    tournament.set_defaults(run=run_tournament)
