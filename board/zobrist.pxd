"""Random keys of pieces on squares, rights, en-passant files and the side to move."""
from board.types cimport u64

cdef u64 PIECE_KEYS[12][64]
cdef u64 CASTLING_KEYS[2][2]  # [colour][1 = king's side]
cdef u64 EN_PASSANT_KEYS[8]
cdef u64 TURN_KEY  # counted when White is to move, as Polyglot has it
