"""The endgame tables as a node asks them. How they rank the root moves is the business of book/."""

import cython
from cython.cimports.board.bits import popcount
from cython.cimports.board.position import Position, occupied
from cython.cimports.search.platform import store_word
from cython.cimports.search.score import DRAW, TB_WIN
from cython.cimports.search.state import PROBE_FAILED, Shared
from cython.cimports.search.tt import EXACT, LOWER_BOUND, NO_BOUND, UPPER_BOUND


def tb_probe(worker, frame, depth, score):
    """Asks the endgame tables. Sets `score` and returns its bound: NO_BOUND when they are silent.

    They know win, draw and loss, but not the distance to mate: a won position is worth at least a table win.
    """
    shared: cython.pointer(Shared) = worker.shared
    position: cython.pointer(Position) = cython.address(frame.position)
    men: cython.int = popcount(occupied(position))
    if (
        position.halfmove_clock != 0
        or position.castling_rooks != 0
        or men > shared.tb_men
        or (men == shared.tb_men and depth < shared.tb_depth)
    ):
        return NO_BOUND

    result: cython.int = shared.tb_probe_wdl(shared.tb_context, position)
    if result == PROBE_FAILED:
        return NO_BOUND
    store_word(cython.address(worker.tb_hits), worker.tb_hits + 1)

    # With the fifty-move rule, cursed wins and blessed losses (1 and -1) are draws.
    drawish: cython.int = 1 if shared.tb_rule50 else 0
    if result > drawish:
        score[0] = TB_WIN - frame.ply
        return LOWER_BOUND
    if result < -drawish:
        score[0] = frame.ply - TB_WIN
        return UPPER_BOUND
    score[0] = DRAW + result
    return EXACT
