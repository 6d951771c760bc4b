"""What moves and evaluations were worth before: the memory that orders moves and corrects the evaluation.

All tables hold 16-bit values that stay within a bound: a bonus pulls an entry towards it, the harder the further it is
away (`gravity`), so that old experience fades. One set per thread, but for the corrections of the evaluation.
"""
from board.bits cimport has
from board.position cimport Position
from board.types cimport Move, i16, is_tactical, move_from, move_to, u64

cdef enum:
    HISTORY_LIMIT = 16384
    CORRECTION_ENTRIES = 16384
    CORRECTION_UNIT = 256  # a centipawn
    CORRECTION_LIMIT = 16384  # 64 centipawns
    PAWN_ENTRIES = 512
    TRIED_LIMIT = 32
    NO_ROW = 768  # the continuation row of a null move, or of no move at all
    ROWS = 769

cdef struct Histories:
    i16 quiet[2][4][4096]  # [side][origin and target attacked][from, to]
    i16 capture[768][8]  # [piece, to][captured kind]
    i16 pawn[PAWN_ENTRIES][768]  # [pawn structure][piece, to]
    i16 continuation[ROWS][768]  # [earlier piece, to][piece, to]

# How far the static evaluation was off. All threads share one: their errors are the same, and are found sooner together.
# Entries are read and written whole; that two threads may write one at once costs an update and no more.
cdef struct Corrections:
    i16 pawn[2][CORRECTION_ENTRIES]  # [side to move][pawn structure]
    i16 minor[2][CORRECTION_ENTRIES]
    i16 pieces[2][2][CORRECTION_ENTRIES]  # [side to move][whose pieces][them]
    i16 line[ROWS * ROWS]  # the last two moves, each as piece and target

# The context of quiet-move history, beside the position itself.
cdef struct MoveContext:
    i16* rows[3]  # continuation rows of the moves 1, 2 and 4 plies ago
    u64 threats  # squares that the other side attacks

# The moves of a node that were searched in vain before one cut off.
cdef struct Tried:
    Move quiets[TRIED_LIMIT]
    Move captures[TRIED_LIMIT]
    int quiet_count
    int capture_count


cdef inline int piece_to(const Position* position, Move move) noexcept nogil:
    """The index of a moving piece and its target."""
    return position.squares[move_from(move)] * 64 + move_to(move)


cdef inline i16* quiet_entry(
    Histories* histories, const Position* position, const MoveContext* context, Move move
) noexcept nogil:
    """Experience with a move by its squares. To flee from an attack, or to walk into one, is another move."""
    cdef int danger = 2 * has(context.threats, move_from(move)) + has(context.threats, move_to(move))
    return &histories.quiet[position.turn][danger][move & 4095]


cdef inline void gravity(i16* entry, int bonus) noexcept nogil:
    """Pulls an entry towards ±HISTORY_LIMIT; |bonus| must not exceed that."""
    entry[0] += <i16>(bonus - entry[0] * (bonus if bonus >= 0 else -bonus) // HISTORY_LIMIT)


cdef inline void note_tried(Tried* tried, Move move) noexcept nogil:
    """Keeps a move that did not cut off; those beyond TRIED_LIMIT go unpunished."""
    if is_tactical(move):
        if tried.capture_count < TRIED_LIMIT:
            tried.captures[tried.capture_count] = move
            tried.capture_count += 1
    elif tried.quiet_count < TRIED_LIMIT:
        tried.quiets[tried.quiet_count] = move
        tried.quiet_count += 1


cdef int quiet_score(
    Histories* histories, const Position* position, const MoveContext* context, Move move
) noexcept nogil
cdef int capture_score(Histories* histories, const Position* position, Move move) noexcept nogil
cdef void reward_quiet(
    Histories* histories, const Position* position, const MoveContext* context, Move move, int bonus
) noexcept nogil
cdef void reward_capture(Histories* histories, const Position* position, Move move, int bonus) noexcept nogil
cdef void update_on_cutoff(
    Histories* histories,
    const Position* position,
    const MoveContext* context,
    Move* killers,
    Move best,
    int depth,
    const Tried* tried,
) noexcept nogil
cdef int corrected_eval(const Corrections* corrections, const Position* position, int line, int raw) noexcept nogil
cdef void learn_correction(
    Corrections* corrections, const Position* position, int line, int error, int depth
) noexcept nogil
cdef void forget(Histories* histories) noexcept nogil
