"""King and pawn against king, exactly."""
from board.types cimport u64

cdef u64 KPK_WON[24][64]  # [pawn][strong king]: weak-king squares, strong side to move
cdef u64 KPK_LOST[24][64]  # … weak side to move

cdef bint kpk_is_won(int strong_king, int weak_king, int pawn, bint strong_to_move) noexcept nogil
