"""The network: (768 -> N) x 2 -> 1, the inputs' weights by the king's square, the output by the men. docs/network.md explains it."""
from board.position cimport Position
from board.types cimport i16, i64, u8, u16, u64
from eval.network_shape cimport MOST_KING_BUCKETS, MOST_OUTPUTS, KingBuckets

cdef extern from "network_loops.h" nogil:
    ctypedef const i16* Row "qz_row"
    ctypedef void (*AddRows "qz_add_rows_loop")(
        i16* target, const i16* source, const Row* came, int comers, const Row* went, int goers, int neurons
    ) noexcept nogil
    ctypedef i64 (*OutputSum "qz_output_sum_loop")(const i16* values, const i16* weights, int neurons) noexcept nogil
    int processor_level "qz_cpu_level"()
    AddRows add_rows_for "qz_add_rows_for"(int level)
    OutputSum output_sum_for "qz_output_sum_for"(int level)
    enum:
        LEVEL_BASE "QZ_LEVEL_BASE"
        LEVEL_AVX2 "QZ_LEVEL_AVX2"
        LEVEL_AVX512 "QZ_LEVEL_AVX512"

cdef enum:
    ACCUMULATED_PLIES = 264  # more than a search is deep

# The network that is loaded; one for the whole program. Not changed while any thread evaluates.
cdef struct Network:
    int neurons  # 0: none
    int scale  # centipawns to one unit of the output
    int count_of_outputs
    int output_biases[MOST_OUTPUTS]
    KingBuckets buckets
    int version  # counts what was loaded, so that accumulators know when they are outdated
    i16* features  # for each king bucket a row for each feature
    i16* biases
    i16* outputs  # for each output the weights of the side to move's neurons, then of the other's
    size_t size  # of the block that holds all three, in bytes

# The pieces that sums were made of.
cdef struct Men:
    u64 kinds[6]
    u64 colours[2]
    u8 squares[64]

# The rows to add and to take away from one position to another.
cdef struct Difference:
    Row came[64]
    Row went[64]
    int comers
    int goers

# What the accumulators of a ply have summed.
cdef struct Summed:
    Men men
    u16 pictures[2]  # by perspective: which rows the men have there
    bint valid

cdef struct Accumulators:
    int version  # of the network that they are sums of
    i16* values  # by ply, perspective and neuron
    Summed summed[ACCUMULATED_PLIES]
    # The last sums that were made with the king's half of the board and bucket, for a king that comes there again.
    i16* kept_values  # by perspective, mirror side, bucket and neuron
    Men kept[2][2][MOST_KING_BUCKETS]
    void* block  # what holds all values

cdef Network network

cdef Accumulators* new_accumulators() noexcept nogil
cdef void free_accumulators(Accumulators* accumulators) noexcept nogil
cdef int network_score(const Position* position, Accumulators* accumulators, int ply) noexcept nogil
