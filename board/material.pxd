"""How much is left on the board."""
from board.bits cimport popcount
from board.position cimport Position
from board.types cimport BISHOP, KNIGHT, QUEEN, ROOK

cdef enum:
    FULL_PHASE = 24  # with all pieces on the board


cdef inline int game_phase(const Position* position) noexcept nogil:
    """Pieces left: 1 for a minor piece, 2 for a rook, 4 for a queen, FULL_PHASE at the start and at most."""
    cdef int phase = (
        popcount(position.kinds[KNIGHT] | position.kinds[BISHOP])
        + 2 * popcount(position.kinds[ROOK])
        + 4 * popcount(position.kinds[QUEEN])
    )
    return phase if phase < FULL_PHASE else FULL_PHASE
