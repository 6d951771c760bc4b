"""Games as bytes: see docs/data-format.md."""
from board.position cimport Position
from board.types cimport Move, i16, u8

cdef enum:
    MOST_STORED_SCORE = 32000  # of a score, either way
    MOST_PLIES = 65535

# A game being read: one ply after the other, the position always the one before `move`.
cdef struct GameCursor:
    Position position
    const u8* at
    const u8* end
    int plies  # of the whole game
    int opening  # of these, moves at the beginning that nobody chose by searching: they have no score
    int ply  # number of the ply that was read last, from 1
    int result  # White's: 1 won, 0 drawn, -1 lost
    int score  # centipawns, White's view, of the ply that was read last
    Move move

cdef void open_game(bytes payload, GameCursor* cursor) except *
cdef int next_ply(GameCursor* cursor) noexcept nogil
cdef bytes encode_line(
    const Position* start, const Move* moves, const i16* scores, int plies, int opening, int result
)
