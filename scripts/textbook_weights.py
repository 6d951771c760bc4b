"""Writes the weights that the tuner starts from: textbook piece values, and simple formulas for everything else.

Nothing here is taken from games or from another engine; each number is a plain guess that follows from what any primer
says. The features' names, groups and meanings are defined here too, and the tuner keeps them.
"""

import argparse
import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = ("pawn", "knight", "bishop", "rook", "queen", "king")
ORIGIN = "textbook values and formulas: scripts/textbook_weights.py"


def centre_distance(square):
    """Of files and ranks added, from the four central squares: 0 to 6."""
    return int(abs((square & 7) - 3.5) + abs((square >> 3) - 3.5) - 1)


def own_square(kind, square):
    """Square values as the own side sees them, own king on the a- to d-file."""
    file, rank, far = square & 7, square >> 3, centre_distance(square)
    if kind == "pawn":
        if rank in (0, 7):
            return 0, 0
        central = 6 * (rank - 1) if file in (3, 4) and rank < 5 else 0
        return central + 2 * (rank - 1), 5 * (rank - 1)
    if kind == "knight":
        return 15 - 9 * far, 10 - 7 * far
    if kind == "bishop":
        return 8 - 4 * far, 6 - 3 * far
    if kind == "rook":
        return (6 if file in (3, 4) else 0) + (8 if rank == 6 else 0), 2 * rank
    if kind == "queen":
        return 2 - far, 10 - 5 * far
    return -15 * rank + (12 if file < 3 else -8), 20 - 9 * far


def enemy_square(kind, square):
    """Square values as the own side sees them, enemy king on the a- to d-file: pieces like to be near it."""
    file, rank = square & 7, square >> 3
    near = max(0, 7 - max(abs(file - 1), 7 - rank))
    if kind == "pawn":
        return 0, 0
    return {"knight": 2, "bishop": 1, "rook": 1, "queen": 3}[kind] * (near - 2), near - 2


def by_rank(middlegame, endgame):
    """A table by rank, the first and last empty."""
    return [(0, 0), *zip(middlegame, endgame, strict=True), (0, 0)]


def mobility(size, middlegame, endgame):
    """A straight line through zero at a usual number of squares."""
    usual = size // 2
    return [(middlegame * (n - usual), endgame * (n - usual)) for n in range(size)]


def shelter(edge, rank):
    """Best right before the king; none at all is worst."""
    value = {0: -30, 1: 30, 2: 15, 3: -5}.get(rank, -15) if rank < 7 else 0
    return value + (4 if edge in (1, 2) and rank == 1 else 0), 0


def storm(blocked, rank):
    if rank in (0, 7):
        return 0, 0
    return {1: -10, 2: -30, 3: -20, 4: -8}.get(rank, 0) // (2 if blocked else 1), 0


def features():
    """Yields name, group, meaning and (middlegame, endgame) pairs, in the evaluation's order."""
    yield (
        "material", "material", "pawn, knight, bishop, rook, queen",
        [(100, 100), (320, 320), (330, 330), (500, 500), (900, 900)],
    )  # fmt: skip
    for kind in KINDS:
        squares = [rank * 8 + file for rank in range(8) for file in range(4 if kind == "king" else 8)]
        yield (
            f"squares_{kind}", "squares",
            f"{kind} on a1, b1, ...: own king mirrored to the a- to d-file" + (" (king: these files only)" if kind == "king" else ""),
            [own_square(kind, square) for square in squares],
        )  # fmt: skip
    for kind in KINDS[:5]:
        yield (
            f"enemy_squares_{kind}", "squares", f"{kind} on a1, b1, ...: enemy king mirrored to the a- to d-file",
            [enemy_square(kind, square) for square in range(64)],
        )  # fmt: skip
    for kind, size, middlegame, endgame in (
        ("knight", 9, 5, 5),
        ("bishop", 14, 5, 5),
        ("rook", 15, 3, 5),
        ("queen", 28, 1, 3),
    ):
        yield (
            f"{kind}_mobility", "mobility",
            f"{kind} by squares in reach that no enemy pawn guards and no stuck own pawn or king holds",
            mobility(size, middlegame, endgame),
        )  # fmt: skip
    yield (
        "isolated",
        "pawns",
        "no own pawn on the files beside: with, without enemy pawn ahead",
        [(-8, -10), (-14, -14)],
    )
    yield "doubled", "pawns", "an own pawn stands ahead on the file", [(-10, -20)]
    yield (
        "backward", "pawns", "neighbours have gone ahead and the next step is barred: with, without enemy pawn ahead",
        [(-8, -8), (-14, -10)],
    )  # fmt: skip
    yield "phalanx", "pawns", "an own pawn beside, by rank", by_rank((2, 6, 10, 18, 35, 60), (0, 4, 8, 18, 40, 70))
    yield (
        "supported",
        "pawns",
        "per own pawn that guards it, by rank",
        by_rank((0, 8, 10, 16, 30, 50), (0, 4, 6, 12, 30, 50)),
    )
    yield (
        "candidate", "pawns", "no enemy pawn ahead and enough helpers to become passed, by rank",
        by_rank((0, 2, 6, 14, 25, 0), (2, 6, 12, 24, 40, 0)),
    )  # fmt: skip
    yield "passed", "passed", "passed pawn, by rank", by_rank((2, 4, 8, 25, 50, 90), (8, 12, 22, 45, 85, 140))
    yield (
        "passed_own_king", "passed", "own king's distance to the square ahead, counted rank - 2 times from the fourth rank on",
        [(0, 12 - 4 * distance if distance < 6 else -10) for distance in range(8)],
    )  # fmt: skip
    yield (
        "passed_enemy_king", "passed", "enemy king's distance to the square ahead, counted likewise",
        [(0, 5 * distance - 14 if distance < 6 else 14) for distance in range(8)],
    )  # fmt: skip
    yield (
        "passed_blocked", "passed", "an enemy piece stands ahead, by rank",
        by_rank((0, 0, -4, -10, -20, -30), (-2, -4, -8, -20, -40, -60)),
    )  # fmt: skip
    yield (
        "passed_safe_step",
        "passed",
        "the square ahead is empty and not attacked, by rank",
        by_rank((0, 0, 2, 5, 10, 20), (0, 2, 5, 12, 25, 40)),
    )
    yield (
        "passed_free_path", "passed", "the whole way is empty and not attacked, by rank",
        by_rank((0, 0, 4, 10, 20, 40), (2, 6, 14, 30, 60, 100)),
    )  # fmt: skip
    yield (
        "passed_unstoppable",
        "passed",
        "the enemy has no pieces and its king is outside the pawn's square",
        [(0, 250)],
    )
    yield (
        "shelter", "king", "nearest own pawn before the king on three files: [file a/h, b/g, c/f, d/e][rank, 0 = none]",
        [shelter(edge, rank) for edge in range(4) for rank in range(8)],
    )  # fmt: skip
    yield (
        "storm", "king", "nearest enemy pawn before the king on three files: [free, blocked][rank, 0 = none]",
        [storm(blocked, rank) for blocked in (False, True) for rank in range(8)],
    )  # fmt: skip
    yield (
        "king_attacker",
        "king",
        "knight, bishop, rook, queen that attacks the enemy king's ring",
        [(4, 0), (4, 0), (5, 0), (6, 0)],
    )
    yield "king_ring", "king", "per attack of knight, bishop, rook, queen on the enemy king's ring", [(2, 0)] * 4
    yield (
        "safe_check",
        "king",
        "knight, bishop, rook, queen can give a safe check",
        [(20, 5), (8, 3), (25, 8), (20, 10)],
    )
    yield (
        "king_danger", "king", "by units of danger to the enemy king: attackers, attacks, weak squares, safe checks",
        [(unit * unit // 4, unit // 2) for unit in range(48)],
    )  # fmt: skip
    yield (
        "pawn_threat",
        "threats",
        "a pawn attacks a knight, bishop, rook, queen",
        [(40, 30), (40, 35), (55, 30), (50, 30)],
    )
    yield (
        "minor_threat", "threats", "a knight or bishop attacks a pawn, knight, bishop that no pawn guards, a rook, a queen",
        [(3, 8), (15, 15), (15, 15), (35, 25), (30, 35)],
    )  # fmt: skip
    yield (
        "rook_threat", "threats", "a rook attacks a pawn, knight, bishop, rook that no pawn guards, a queen",
        [(0, 8), (12, 18), (14, 18), (4, 4), (35, 25)],
    )  # fmt: skip
    yield "king_threat", "threats", "the king attacks something that nothing guards", [(10, 30)]
    yield (
        "hanging",
        "threats",
        "attacked and guarded by nothing: pawn, knight, bishop, rook, queen",
        [(5, 15), (30, 25), (30, 25), (25, 20), (15, 15)],
    )
    yield "push_threat", "threats", "a pawn can step safely to attack a piece", [(12, 10)]
    yield "bishop_pair", "pieces", "bishops on both square colours", [(25, 45)]
    yield "bad_bishop", "pieces", "per own pawn on the bishop's square colour", [(-2, -5)]
    yield (
        "knight_outpost",
        "pieces",
        "guarded by a pawn on the fourth to sixth rank where no enemy pawn can come",
        [(25, 15)],
    )
    yield "bishop_outpost", "pieces", "the same for a bishop", [(20, 8)]
    yield "outpost_in_reach", "pieces", "a knight can jump to such a square", [(10, 5)]
    yield "minor_behind_pawn", "pieces", "a knight or bishop right behind a pawn of either colour", [(6, 2)]
    yield "rook_open_file", "pieces", "no pawns on the rook's file", [(25, 12)]
    yield "rook_half_open_file", "pieces", "only enemy pawns on the rook's file", [(12, 8)]
    yield "rook_on_seventh", "pieces", "rook on the seventh rank, with enemy pawns there or the king behind", [(8, 20)]
    yield (
        "rook_behind_passer",
        "pieces",
        "a rook behind a passed pawn: the pawn's own side, the other side",
        [(5, 15), (-5, -15)],
    )
    yield (
        "space",
        "space",
        "central squares of the own half free of own pawns and enemy pawn attacks; of these behind own pawns",
        [(2, 0), (2, 0)],
    )
    yield "tempo", "tempo", "the right to move", [(15, 10)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", nargs="?", type=Path, help="the file to write (default: standard output)")
    options = parser.parse_args()
    # By its path, as the package itself cannot be imported before there is a weights file.
    spec = importlib.util.spec_from_file_location("weights_file", ROOT / "eval" / "weights_file.py")
    weights_file = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(weights_file)

    described, middlegame, endgame = [], [], []
    for name, group, meaning, pairs in features():
        described.append(weights_file.Feature(name, len(middlegame), len(pairs), group, meaning))
        middlegame += [pair[0] for pair in pairs]
        endgame += [pair[1] for pair in pairs]
    text = weights_file.format_weights(described, middlegame, endgame, ORIGIN)
    if options.output is None:
        sys.stdout.write(text)
    else:
        options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
