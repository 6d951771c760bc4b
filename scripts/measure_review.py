"""Measures reviews of games against another UCI engine: are blunders confirmed, and how many games a minute are reviewed?

    python scripts/measure_review.py confirm reviewed.pgn --engine stockfish --depth 18 --count 200
    python scripts/measure_review.py speed games.pgn --engine stockfish --nodes 20000 --games 40

`confirm` takes moves that `quetzal analyse` has marked with $4, evenly from all games, lets the engine search the positions
before and after each, and prints how many expected points the move loses by the engine's own model (UCI_ShowWDL).
`speed` lets python-chess drive one process of the engine over every position of the games and writes the evaluations
into the PGN, and lets `quetzal analyse` do the same games with the same nodes, in turns of a few games.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chess
import chess.engine
import chess.pgn

BLUNDER = 4
BORDERS = (0.30, 0.20, 0.10)


def games_of(path):
    with open(path, encoding="utf-8") as file:
        while (game := chess.pgn.read_game(file)) is not None:
            yield game


def blunders_of(path):
    """Pairs of the position before a marked move and the move."""
    for game in games_of(path):
        board = game.board()
        for node in game.mainline():
            if BLUNDER in node.nags:
                yield board.copy(), node.move
            board.push(node.move)


def expected(engine, board, depth):
    """The points that the side to move may expect, and the best move."""
    if board.is_checkmate():
        return 0.0, None
    if board.is_game_over():
        return 0.5, None
    info = engine.analyse(board, chess.engine.Limit(depth=depth), game=object())
    return info["wdl"].pov(board.turn).expectation(), info["pv"][0]


def confirm(options):
    found = list(blunders_of(options.games))
    step = max(1, len(found) // options.count)
    chosen = found[::step][: options.count]
    print(f"{len(found)} blunders marked, {len(chosen)} looked at, {options.engine} at depth {options.depth}")
    losses = []
    with chess.engine.SimpleEngine.popen_uci(options.engine) as engine:
        engine.configure({"Hash": 64, "UCI_ShowWDL": True})
        for board, move in chosen:
            before, best = expected(engine, board, options.depth)
            san = board.san(move)
            after = board.copy()
            after.push(move)
            loss = 0.0 if move == best else before - (1 - expected(engine, after, options.depth)[0])
            losses.append(loss)
            if loss < BORDERS[0]:
                print(f"  {loss:5.2f}  {san}  {board.fen()}", flush=True)
    for border in BORDERS:
        count = sum(loss >= border for loss in losses)
        print(f"lose {border:.2f} or more: {count} of {len(losses)}, {100 * count / len(losses):.1f} %")


def drive(command, games, nodes, target):
    """What people do without `quetzal analyse`."""
    with chess.engine.SimpleEngine.popen_uci(command) as engine, open(target, "w", encoding="utf-8") as file:
        engine.configure({"Hash": 16, "Threads": 1})
        for game in games_of(games):
            board, marker = game.board(), object()
            for node in game.mainline():
                board.push(node.move)
                if not board.is_game_over():
                    info = engine.analyse(board, chess.engine.Limit(nodes=nodes), game=marker)
                    node.set_eval(info["score"])
            print(game, file=file, end="\n\n")


def analyse(games, nodes, threads, target):
    command = [sys.executable, "-m", "uci_engine", "analyse", str(games), "-o", str(target), "--nodes", str(nodes)]
    subprocess.run([*command, "--threads", str(threads)], check=True, capture_output=True)


class Stopwatch:
    """Adds up how long pieces of work took."""

    def __init__(self):
        self.seconds = 0.0

    def run(self, work, *arguments):
        began = time.perf_counter()
        work(*arguments)
        self.seconds += time.perf_counter() - began


def speed(options):
    games = [str(game) for _, game in zip(range(options.games), games_of(options.games_file), strict=False)]
    driven, ours = Stopwatch(), {threads: Stopwatch() for threads in options.threads}
    with tempfile.TemporaryDirectory() as folder:
        part, target = Path(folder) / "part.pgn", Path(folder) / "out.pgn"
        for first in range(0, len(games), options.block):
            part.write_text("\n\n".join(games[first : first + options.block]) + "\n", encoding="utf-8")
            driven.run(drive, options.engine, part, options.nodes, target)
            for threads, watch in ours.items():
                watch.run(analyse, part, options.nodes, threads, target)
    print(f"{len(games)} games, {options.nodes} nodes a position, in turns of {options.block}")
    for name, watch in {"python-chess": driven, **{f"analyse, {n} threads": ours[n] for n in ours}}.items():
        print(
            f"{name:20} {watch.seconds:7.1f} s, {60 * len(games) / watch.seconds:6.1f} games/min, "
            f"{driven.seconds / watch.seconds:.2f} x"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(required=True)
    one = kinds.add_parser("confirm")
    one.add_argument("games")
    one.add_argument("--engine", default="stockfish")
    one.add_argument("--depth", type=int, default=18)
    one.add_argument("--count", type=int, default=200)
    one.set_defaults(run=confirm)
    other = kinds.add_parser("speed")
    other.add_argument("games_file", metavar="games")
    other.add_argument("--engine", default="stockfish")
    other.add_argument("--nodes", type=int, default=20_000)
    other.add_argument("--games", type=int, default=40)
    other.add_argument("--block", type=int, default=10)
    other.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    other.set_defaults(run=speed)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
