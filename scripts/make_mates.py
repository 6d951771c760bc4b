"""Makes a set of forced mates for `quetzal suite` from games that ended in mate.

    python scripts/make_mates.py games.pgn -o mates.epd --count 80 --engine quetzal --engine stockfish --movetime 4000

Of each game one position is looked at, so and so many moves before the end, the number going from --least to --most and
round again. All engines search it; it is kept with the shortest mate that any of them announces for the side to move
(`dm`). So a mate that only one of them finds is in the set, and whoever misses it afterwards in less time is seen.
"""

import argparse
import itertools
import sys

import chess
import chess.engine
import chess.pgn

from board.files import replace_file


def mated_games(path):
    """The positions of each game that ends in mate, from first to last."""
    with open(path, encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            board = game.board()
            boards = [board.copy(stack=False)]
            for move in game.mainline_moves():
                board.push(move)
                boards.append(board.copy(stack=False))
            if board.is_checkmate():
                yield boards


def announced(engine, board, seconds):
    """In how many moves the side to move mates, or None."""
    info = engine.analyse(board, chess.engine.Limit(time=seconds), game=object())
    moves = info["score"].relative.mate() if "score" in info else None
    return moves if moves is not None and moves > 0 else None


def candidates(path, distances):
    """A position of each game that is long enough, with the mating side to move."""
    for boards in mated_games(path):
        plies = 2 * next(distances)  # the mate itself is the last of an odd number of plies
        if plies <= len(boards):
            yield boards[-plies]


def mates(options, engines):
    """Pairs of a position and the moves to mate, no position twice."""
    seen = set()
    distances = itertools.cycle(range(options.least, options.most + 1))
    for board in candidates(options.games, distances):
        if board.epd() in seen:
            continue
        seen.add(board.epd())
        found = [announced(engine, board, options.movetime / 1000) for engine in engines]
        if any(found):
            yield board, min(moves for moves in found if moves)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", help="a PGN file")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    parser.add_argument("--count", type=int, default=80, help="positions wanted (default: 80)")
    parser.add_argument(
        "--engine", action="append", required=True, metavar="COMMAND", help="a UCI engine that searches"
    )
    parser.add_argument("--movetime", type=int, default=4000, metavar="MS", help="for each (default: 4000)")
    parser.add_argument("--least", type=int, default=3, help="moves before the end (default: 3)")
    parser.add_argument("--most", type=int, default=20, help="(default: 20)")
    options = parser.parse_args()
    engines = [chess.engine.SimpleEngine.popen_uci(command) for command in options.engine]
    try:
        lines = []
        for board, moves in itertools.islice(mates(options, engines), options.count):
            lines.append(f'{board.epd()} dm {moves}; id "mate {len(lines) + 1}";\n')
            print(f"{len(lines)} of {options.count}: mate in {moves}", file=sys.stderr, flush=True)
    finally:
        for engine in engines:
            engine.quit()
    replace_file(options.output, "".join(lines))
    return 0 if len(lines) == options.count else 1


if __name__ == "__main__":
    sys.exit(main())
