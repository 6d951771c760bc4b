"""Writes tests/data/perft_standard.epd and tests/data/perft_chess960.epd.

    python scripts/make_perft_data.py

The positions are well-known ones, hand-made special cases and random playouts with a fixed seed. The totals come from
Stockfish's `go perft`; the first two plies are counted by python-chess as well. Quetzal itself takes no part, so its
tests compare it with strangers.
"""

import argparse
import random
import shutil
import subprocess
import sys
from pathlib import Path

import chess

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
STOCKFISH = shutil.which("stockfish") or "/usr/games/stockfish"

# Positions that perft pages of the chess programming community publish.
FAMOUS = """
rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1
r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1
8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1
r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1
r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1
rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8
r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10
R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1
n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1
"""

# One rule at a time, often at its edge.
SPECIAL = """
# en passant: both pawns leave the king's rank
8/8/8/8/k1pP3R/8/8/4K3 b - d3 0 1
8/8/8/K1pP3r/8/8/8/4k3 w - c6 0 1
4k3/8/8/r1pPpK2/8/8/8/8 w - c6 0 1
8/8/8/8/1k1pPp1R/8/8/4K3 b - e3 0 1
8/8/8/8/R1pPpk2/8/8/4K3 b - d3 0 1
# en passant: the capturer is pinned, along the capture or across it
4k3/4r3/8/3pP3/8/8/8/4K3 w - d6 0 2
7k/b7/8/2pP4/8/4K3/8/8 w - c6 0 2
k7/8/8/2KPp2r/8/8/8/8 w - e6 0 2
6bk/8/8/3Pp3/2K5/8/8/8 w - e6 0 2
8/7b/8/4pP2/8/3K4/8/7k w - e6 0 2
2b4k/8/8/4pP2/6K1/8/8/8 w - e6 0 2
# en passant: the passed pawn shields the king, or gives check, or its capture gives check
8/8/8/2k5/3Pp3/8/8/4K1B1 b - d3 0 1
8/8/8/8/2k5/4p3/3P4/4K3 w - - 0 1
8/5k2/8/2Pp4/2B5/1K6/8/8 w - d6 0 1
4k3/8/8/2PpP3/4K3/8/8/8 w - d6 0 1
8/8/8/1k1PpP2/8/8/8/4K2B w - e6 0 3
8/8/3k4/8/2pPp3/8/8/4K3 b - d3 0 1
3k4/8/8/8/3pP3/8/8/3RK3 b - e3 0 1
rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3
rnbqkbnr/ppp2ppp/8/2PpP3/8/8/PP1P1PPP/RNBQKBNR w KQkq d6 0 4
# castling: through, out of and into check; attacked rook; blocked
4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1
r3k2r/8/8/8/8/8/8/4K3 b kq - 0 1
r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1
r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1
3rk3/8/8/8/8/8/8/R3K2R w KQ - 0 1
4kr2/8/8/8/8/8/8/R3K2R w KQ - 0 1
4k1r1/8/8/8/8/8/8/R3K2R w KQ - 0 1
2r1k3/8/8/8/8/8/8/R3K2R w KQ - 0 1
1r2k2r/8/8/8/8/8/8/R3K2R w KQk - 0 1
4k3/4r3/8/8/8/8/8/R3K2R w KQ - 0 1
r3k2r/8/8/8/8/4N3/8/R3K2R b KQkq - 0 1
r3k2r/p6p/8/B5B1/1b4b1/8/P6P/R3K2R w KQkq - 0 1
rn2k1nr/8/8/8/8/8/8/RN2K1NR w KQkq - 0 1
r3k2r/ppp2ppp/8/8/8/8/PPP2PPP/R3K2R b Qk - 0 1
r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R w KQkq - 0 1
r3k2r/6N1/8/8/8/8/1n6/R3K2R b KQkq - 0 1
r3k2r/8/8/3B4/3b4/8/8/R3K2R w KQkq - 0 1
5k2/8/8/8/8/8/8/4K2R w K - 0 1
3k4/8/8/8/8/8/8/R3K3 w Q - 0 1
r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1
r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1
# promotions: straight, capturing, pinned, with check, under check
8/PPPPPPPP/8/k7/7K/8/pppppppp/8 w - - 0 1
1n1n4/P1P1P3/8/8/7k/8/1p1p1p2/K1N1N3 w - - 0 1
3rk3/2P5/8/8/8/8/5p2/4KR2 w - - 0 1
1r2k3/P7/8/8/8/8/7p/4K1R1 b - - 0 1
4k3/8/8/8/8/8/1p5K/R7 b - - 0 1
r6k/1P6/8/8/8/8/8/K6r w - - 0 1
8/8/8/8/8/2k5/1p6/K7 w - - 0 1
2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1
8/8/1P2K3/8/2n5/1q6/8/5k2 b - - 0 1
4k3/1P6/8/8/8/8/K7/8 w - - 0 1
8/P1k5/K7/8/8/8/8/8 w - - 0 1
K1k5/8/P7/8/8/8/8/8 w - - 0 1
8/k1P5/8/1K6/8/8/8/8 w - - 0 1
q6k/1P6/8/8/4K3/8/8/8 w - - 0 1
# checks: double, by discovery, smothered, blocks and captures of the checker
4k3/8/5N2/8/8/8/4R3/4K3 b - - 0 1
4k3/4r3/3N4/8/8/8/4Q3/4K3 b - - 0 1
6rk/5Npp/8/8/8/8/8/K7 b - - 0 1
3qkb2/3pp3/3N1n2/8/8/8/8/4K3 b - - 0 1
8/8/2k5/5q2/5n2/8/5K2/8 b - - 0 1
r1bqkb1r/pppp1Qpp/2n2n2/4p3/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 0 4
4k3/8/8/8/7b/6P1/5P2/3QK2R w K - 0 1
k7/8/8/3r4/8/1b1N4/8/3K4 w - - 0 1
4k3/8/8/b7/8/8/3N4/4K2r w - - 0 1
3k4/3r4/8/b2R3b/4P3/1nB5/3K4/8 w - - 0 1
# pins in all directions
3r3b/8/8/b2PP3/1r1K2Rr/2N1P3/1q3B2/k2q4 w - - 0 1
4r2k/8/8/b7/8/2P1R3/3B4/r2BK2r w - - 0 1
k3r3/8/7b/4B3/5Q2/2q1P3/3P4/4K3 w - - 0 1
# stalemate, mate and nearly so
7k/5Q2/6K1/8/8/8/8/8 b - - 0 1
7k/8/6KQ/8/8/8/8/8 b - - 0 1
8/8/8/8/8/4k3/4p3/4K3 w - - 0 1
k7/P7/K7/8/8/8/8/8 b - - 0 1
5bnr/4p1pq/4Qpkr/7p/7P/4P3/PPPP1PP1/RNB1KBNR b KQ - 2 10
8/8/8/8/8/p7/k1K5/8 w - - 0 1
# many and few pieces
qqqqkqqq/8/8/8/8/8/8/QQQQKQQQ w - - 0 1
nnnnknnn/pppppppp/8/8/8/8/PPPPPPPP/NNNNKNNN w - - 0 1
bbbbkbbb/8/8/8/8/8/8/BBBBKBBB b - - 0 1
rrrrkrrr/8/8/8/8/8/8/RRRRKRRR w KQkq - 0 1
4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 b - - 0 1
8/8/8/8/8/8/8/K1k5 w - - 0 1
k7/8/8/7p/p7/8/8/K7 w - - 99 100
K7/b7/1b6/1b6/8/8/8/k6B b - - 0 1
"""

# Castling where king, rook and their targets overlap, or where the rook shields its king.
SPECIAL_960 = """
# each piece alone on its way, adjacent, or standing still
4k3/8/8/8/8/8/8/1RK3R1 w BG - 0 1
1rk3r1/8/8/8/8/8/8/1RK3R1 b BGbg - 0 1
4k3/8/8/8/8/8/8/R1K4R w AH - 0 1
5rkr/8/8/8/8/8/8/5RKR w FHfh - 0 1
rkr5/8/8/8/8/8/8/RKR5 w ACac - 0 1
1r3kr1/8/8/8/8/8/8/1R3KR1 b BGbg - 0 1
4k3/8/8/8/8/8/8/RK5R w AH - 0 1
4k3/8/8/8/8/8/8/2RK1R2 w CF - 0 1
4k3/8/8/8/8/8/8/R5KR w AH - 0 1
4k3/8/8/8/8/8/8/3RK1R1 w DG - 0 1
# the castling rook shields its king from a rook or queen behind it
4k3/8/8/8/8/8/8/rR1K4 w B - 0 1
k7/8/8/8/8/8/8/1K4Rq w G - 0 1
4k3/8/8/8/8/8/8/qRK5 w B - 0 1
4k3/8/8/8/8/8/8/nRK3RN w BG - 0 1
# inner rook with the right, outer one without (only the letter tells)
4k3/8/8/8/8/8/8/RR1K1RR1 w BF - 0 1
rr1k1rr1/8/8/8/8/8/8/RR1K1RR1 b BFbf - 0 1
rr2k1rr/8/8/8/8/8/8/RR2K1RR w AGag - 0 1
# attacked squares on the way, attacked rook, promotion captures of castling rooks
1r1k1r2/8/8/8/8/8/8/1R1K1R2 w BFbf - 0 1
1rk3r1/2P4P/8/8/8/8/2p4p/1RK3R1 w BGbg - 0 1
1r2k1r1/P1P4P/8/8/8/8/p1p4p/1R2K1R1 w BGbg - 0 1
2r1kr2/8/8/8/8/5b2/8/2R1KR2 w CFcf - 0 1
1k1r4/8/8/8/3q4/8/8/R3K1R1 w AG - 0 1
bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w EGeg - 0 1
"""


class Stockfish:
    """Perft totals from another engine."""

    def __init__(self):
        self.process = subprocess.Popen([STOCKFISH], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def perft(self, fen, depth, chess960):
        mode = "true" if chess960 else "false"
        self.process.stdin.write(
            f"setoption name UCI_Chess960 value {mode}\nposition fen {fen}\ngo perft {depth}\n",
        )
        self.process.stdin.flush()
        for line in self.process.stdout:
            if line.startswith("Nodes searched:"):
                return int(line.split(":")[1])
        raise RuntimeError(f"{STOCKFISH} stopped at {fen}")

    def close(self):
        self.process.stdin.write("quit\n")
        self.process.stdin.flush()
        self.process.wait()


def small_perft(board, depth):
    if depth == 0:
        return 1
    nodes = 0
    for move in board.legal_moves:
        board.push(move)
        nodes += small_perft(board, depth - 1)
        board.pop()
    return nodes


def listed(text):
    return [line for line in text.strip().splitlines() if not line.startswith("#")]


def playouts(dice, chess960, count):
    """Positions after 4 to 90 random plies; two thirds of the Chess960 ones still have a right to castle."""
    while count:
        board = chess.Board.from_chess960_pos(dice.randrange(960)) if chess960 else chess.Board()
        plies = dice.randrange(4, 40 if chess960 else 90)
        while plies and not board.is_game_over():
            moves = list(board.legal_moves)
            if chess960 and board.has_castling_rights(board.turn):
                kept = [move for move in moves if board.king(board.turn) != move.from_square]
                moves = kept or moves
            board.push(dice.choice(moves))
            plies -= 1
        wants_right = chess960 and count % 3
        if not plies and not (wants_right and not board.castling_rights):
            yield board.shredder_fen() if chess960 else board.fen()
            count -= 1


def write(path, fens, chess960, most):
    stockfish = Stockfish()
    lines = []
    for fen in fens:
        board = chess.Board(fen, chess960=chess960)
        if not board.is_valid():
            sys.exit(f"not a valid position: {fen}: {board.status()!r}")
        line, depth, nodes = fen, 0, 1
        # A tree of no leaves stays so; otherwise go on while the next depth keeps within the limit.
        while depth < 6 and (depth < 3 or 0 < nodes * max(1, board.legal_moves.count()) <= most):
            depth += 1
            nodes = stockfish.perft(fen, depth, chess960)
            if depth <= 2 and nodes != small_perft(board, depth):
                sys.exit(f"Stockfish and python-chess disagree on {fen} at depth {depth}")
            line += f" ;D{depth} {nodes}"
        lines.append(line)
    stockfish.close()
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(lines)} positions")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=960, help="of the random playouts (default: 960)")
    parser.add_argument("--most", type=int, default=4_000_000, help="about the largest total of a position")
    options = parser.parse_args()
    dice = random.Random(options.seed)
    DATA.mkdir(exist_ok=True)
    standard = listed(FAMOUS) + listed(SPECIAL) + list(playouts(dice, False, 50))
    write(DATA / "perft_standard.epd", standard, False, options.most)
    shuffled = listed(SPECIAL_960) + list(playouts(dice, True, 85))
    write(DATA / "perft_chess960.epd", shuffled, True, options.most)


if __name__ == "__main__":
    main()
