"""Where a position stands in a Syzygy table: the numbering, for whoever reads tables and whoever writes them."""
from board.position cimport Position
from board.types cimport u8, u64

cdef enum:
    MOST_MEN = 7
    LEADS_OF_THREE = 31332  # arrangements of three different pieces, up to symmetry
    LEADS_OF_KINGS = 462  # arrangements of two kings, up to symmetry
    NO_ORDER = 15  # in a header: there is no second group of pawns

# What an ending's name tells. Colour 0 is the first-named side.
cdef struct Material:
    int men
    int counts[2][6]
    bint is_symmetric  # both sides have the same pieces
    bint has_unique  # some piece besides the kings is the only one of its kind and colour
    int lead_colour  # whose pawns lead: the side that has fewer, but some
    int lead_pawns  # 0 without pawns
    int other_pawns
    u64 key  # the material, first-named side White
    u64 mirrored_key  # … Black

# The mixed-radix number that a header's order of pieces describes.
cdef struct Layout:
    int men
    int lead_pawns
    int other_pawns
    int file  # of the leading pawn, 0 to 3 for a to d; 0 without pawns
    int groups
    u8 pieces[8]  # 1 to 6 for pawn to king, + 8 for the second-named side
    u8 lengths[8]  # pieces in each group
    u64 factors[8]  # what a group's own number is multiplied with
    u64 sizes[8]  # how many numbers a group has
    u64 size  # of the whole table

cdef u64 BINOMIAL[8][65]  # [k][n]: how many sets of k there are among n squares

# Squares below the diagonal a1-h8 count from 0 to 27, those on it from 28; mirrored ones alike.
cdef int LOWER[64]
cdef int TRIANGLE[64]  # a1-d1-d4: six squares below the diagonal 0 to 5, four on it 6 to 9; -1 elsewhere
cdef int KINGS[10][64]  # [triangle of one king][the other]: 0 to 461, or -1
cdef int PAWN_ORDER[64]  # 47 for a2 and 46 for h2 down to 0: a leading pawn has the highest
cdef int LEAD_PAWN_INDEX[6][64]  # [pawns][leading pawn]: where its numbers begin
cdef int LEAD_PAWN_SIZE[6][4]  # [pawns][file]

# The way back, from the numbers of leading groups to their squares.
cdef u8 PAWN_SQUARES[48]
cdef u8 THREE_SQUARES[LEADS_OF_THREE][3]
cdef u8 KINGS_SQUARES[LEADS_OF_KINGS][2]


cdef inline int table_piece(int piece) noexcept nogil:
    """Our piece in the files' code: 1 to 6 for pawn to king, + 8 for Black."""
    return (piece >> 1) + 1 | (piece & 1) << 3


cdef u64 material_key(const Position* position) noexcept nogil
cdef void set_material(Material* material, str name) except *
cdef bint set_layout(Layout* layout, const Material* material, const u8* pieces, int order, int second_order, int file) noexcept nogil
cdef int leading_file(const u8* squares, int pawns) noexcept nogil
cdef u64 index_of(const Layout* layout, u8* squares) noexcept nogil
cdef void squares_of(const Layout* layout, u64 index, u8* squares) noexcept nogil


cdef class Numbering:
    cdef Material material
    cdef Layout layout
