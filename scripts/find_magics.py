"""Finds the multipliers that board/magics.py holds. Run once; the result is data, so that importing costs no search.

    python scripts/find_magics.py > board/magics.py

For every square a multiplier is wanted that sends each arrangement of blockers to a table slot of its own (or shares a
slot only with arrangements that block in the same way). Sparse random numbers are tried until one fits; the seed is
fixed, so the file is reproducible.
"""

import argparse
import random

ROOK_STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))
BISHOP_STEPS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
WORD = (1 << 64) - 1


def rays(square, steps, occupied, leave_out_edge):
    """The squares a slider reaches; without the last square of each ray when only blockers matter."""
    reached = 0
    for file_step, rank_step in steps:
        file, rank = square % 8 + file_step, square // 8 + rank_step
        while 0 <= file < 8 and 0 <= rank < 8:
            beyond = (file + file_step, rank + rank_step)
            if leave_out_edge and not (0 <= beyond[0] < 8 and 0 <= beyond[1] < 8):
                break
            reached |= 1 << (rank * 8 + file)
            if occupied >> (rank * 8 + file) & 1:
                break
            file, rank = beyond
    return reached


def find(square, steps, dice):
    mask = rays(square, steps, 0, leave_out_edge=True)
    bits = mask.bit_count()
    arrangements, subset = [], 0
    while True:
        arrangements.append((subset, rays(square, steps, subset, leave_out_edge=False)))
        subset = (subset - mask) & mask
        if not subset:
            break
    shift = 64 - bits
    while True:
        magic = dice.getrandbits(64) & dice.getrandbits(64) & dice.getrandbits(64)
        if ((mask * magic) & WORD) >> 56 < 0x20:
            continue
        table = {}
        for blockers, attacks in arrangements:
            if table.setdefault(((blockers * magic) & WORD) >> shift, attacks) != attacks:
                break
        else:
            return magic


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    dice = random.Random(2026)
    print('"""Multipliers for the slider tables, a1 to h8. Made by scripts/find_magics.py; do not edit."""')
    for name, steps in (("ROOK", ROOK_STEPS), ("BISHOP", BISHOP_STEPS)):
        print(f"\n{name} = (")
        for first in range(0, 64, 4):
            print("    " + " ".join(f"0x{find(square, steps, dice):016X}," for square in range(first, first + 4)))
        print(")")


if __name__ == "__main__":
    main()
