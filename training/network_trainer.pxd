"""The network while it learns: weights in single precision, gradients for every thread, Adam's moments."""
from board.types cimport i16, u8, u16, u64
from eval.network_shape cimport CENTIPAWNS, KingBuckets
from training.positions cimport PackedPosition, expected_score

cdef extern from "training_loops.h" nogil:
    enum:
        GROUP_SIZE "QZ_GROUP"
        STRIPE_SIZE "QZ_STRIPE"
    ctypedef struct Shape "qz_shape":
        int neurons
        int rows
        int outputs
    ctypedef struct AdamPlan "qz_adam_plan":
        float scale
        float rate
        float first_fix
        float second_fix
        float decay
        float most
    ctypedef struct Group "qz_group":
        u16 features[2 * GROUP_SIZE][32]
        double targets[GROUP_SIZE]
        int men[GROUP_SIZE]
        int outputs[GROUP_SIZE]
        int count
        float* values
    void* new_lines "qz_new_lines"(size_t size)
    void free_lines "qz_free_lines"(void* lines)
    Group* new_group "qz_new_group"(int neurons)
    void free_group "qz_free_group"(Group* group)
    int cpu_level "qz_cpu_level"()
    size_t bias_start "qz_bias_start"(const Shape* shape)
    size_t output_start "qz_output_start"(const Shape* shape)
    size_t output_bias_at "qz_output_bias_at"(const Shape* shape)
    float evaluate "qz_output"(
        int level, const float* weights, const Shape* shape, int output, const u16* mine, const u16* theirs, int men
    )
    double learn "qz_learn"(
        int level, const float* weights, const i16* shorts, float* gradient, const Shape* shape, Group* group
    )
    void adam "qz_adam"(
        int level,
        float* weights,
        float* first,
        float* second,
        float** gradients,
        int threads,
        size_t begin,
        size_t end,
        const AdamPlan* plan,
    )
    void round_to "qz_round"(int level, float* rounded, const float* weights, size_t begin, size_t end, float steps)
    void shorten "qz_shorten"(int level, i16* shorts, const float* weights, const Shape* shape, int begin, int end)
    void gather "qz_gather"(int level, float* sums, float** gradients, int threads, const Shape* shape, int feature)
    void confine "qz_confine"(int level, float* own, const float* shared, int neurons, float most)
    void merge "qz_merge"(int level, float* merged, const float* own, const float* shared, int neurons, float most)

cdef enum:
    MOST_THREADS = 256
    SORTED_AT_ONCE = 16384  # positions
    BUCKET_PAIRS = 64  # of both kings
    PAIR_STARTS = 65  # and where the last one ends

# A thread's positions on their way into groups. Those with the same king buckets are learned together, because all rows of
# the first layer do not fit the processor's inner caches.
cdef struct Sorter:
    PackedPosition positions[SORTED_AT_ONCE]  # in the order of the walk
    u8 pairs[SORTED_AT_ONCE]  # their buckets
    int starts[PAIR_STARTS]
    u16 places[SORTED_AT_ONCE]  # of the positions in the order of their buckets


cdef inline double target_of(const PackedPosition* position, double result_share) noexcept nogil:
    """What the network shall expect: partly how the game ended, partly what the search saw."""
    cdef double seen = expected_score(position.score / <double>CENTIPAWNS)
    return seen + result_share * (0.5 + 0.5 * position.result - seen)


# A block of weights or moments begins with the rows that all king buckets share, if there are several buckets; then come
# those of the network's shape. A bucket's row in the network is the sum of its own and the shared one.
cdef class NetworkTrainer:
    cdef Shape shape
    cdef KingBuckets buckets
    cdef readonly int threads
    cdef readonly int level
    cdef size_t size  # of a block, without shared rows
    cdef size_t shared_size  # 0 if there is one bucket only
    cdef float* shared
    cdef float* weights  # what follows
    cdef float* merged  # the network: the weights themselves if nothing is shared
    cdef float* rounded  # to what the file can hold
    cdef float* used  # one of the two: what positions are evaluated with
    cdef i16* shorts  # a copy of its first layer in 16 bits, in stripes: what is summed while learning
    cdef float* first_moments  # with the shared rows'
    cdef float* second_moments
    cdef float* gradients[MOST_THREADS]  # at the network's weights
    cdef Group* groups[MOST_THREADS]
    cdef Sorter* sorters[MOST_THREADS]  # none if there is one bucket only

    cdef float* _new_block(self, size_t before) except NULL
    cdef bytes _bytes_of(self, float* block, size_t size)
    cdef void _fill(self, float* block, bytes data) except *
    cdef float _output(self, const PackedPosition* position) noexcept nogil
    cdef void _sort(self, Sorter* sorter, int count) noexcept nogil
    cdef double _learn_group(self, int thread) noexcept nogil
    cdef double _learn_position(self, const PackedPosition* position, double result_share, int thread) noexcept nogil
    cdef double _learn(
        self,
        const PackedPosition* positions,
        u64 count,
        u64 place,
        u64 stride,
        u64 size,
        double result_share,
        int thread,
    ) noexcept nogil
    cdef void _round(self, size_t begin, size_t end) noexcept nogil
    cdef void _refresh_feature(self, int feature) noexcept nogil
    cdef void _refresh_rest(self) noexcept nogil
    cdef void _refresh(self) noexcept nogil
    cdef void _step_feature(self, int feature, AdamPlan* plan, int thread) noexcept nogil
    cdef void _step_rest(self, AdamPlan* plan) noexcept nogil
