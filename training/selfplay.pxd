"""Games that the engine plays against itself, without the interpreter."""
from board.position cimport Position
from board.types cimport Move, i16, u64
from search.state cimport Worker

cdef enum:
    MOST_GAME_PLIES = 400

cdef struct Rules:
    u64 soft_nodes  # no new iteration after so many nodes
    u64 hard_nodes  # and never more than so many
    int random_plies
    int opening_limit  # a game starts only where a search sees no more than this
    int win_score  # a game is won when both …
    int win_plies  # … have seen this for so long
    int draw_score
    int draw_plies
    int draw_from  # but not before this ply

cdef struct Line:
    Position start
    Move moves[MOST_GAME_PLIES]
    i16 scores[MOST_GAME_PLIES]  # White's view
    u64 keys[MOST_GAME_PLIES + 1]
    int plies
    int opening
    int result  # White's: 1, 0, -1
    int quiet  # positions that training would keep
    u64 nodes

cdef class GiveUp:
    cdef int flag

cdef bint play_line(
    Worker* worker, const Rules* rules, const Position* start, u64 seed, int* given_up, Line* line
) noexcept nogil
