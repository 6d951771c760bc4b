"""The moves of a PGN game, read from bytes."""
from board.position cimport Position
from board.types cimport Move, u8, u16, u64

# What stopped the reading of a game; FAULTLESS if nothing did.
cdef enum:
    FAULTLESS = 0
    NO_MOVE_TEXT = 1
    ILLEGAL = 2
    AMBIGUOUS = 3
    OPEN_COMMENT = 4
    OPEN_VARIATION = 5

cdef enum:
    LETTER_A = 97
    DIGIT_1 = 49
    MOST_PLIES = 4096  # of a game that is read

cdef struct Ply:
    u64 key  # Polyglot's, of the position before the move
    u16 code  # the move in Polyglot's bits
    u8 turn

cdef struct Fault:
    int kind
    Py_ssize_t start  # of the text at fault
    Py_ssize_t end

cdef int read_plies(
    const Position* start, const u8* text, Py_ssize_t size, int most, Ply* line, Fault* fault
) noexcept nogil
