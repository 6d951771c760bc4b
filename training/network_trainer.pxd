"""The network while it learns: weights in single precision, gradients for every thread, Adam's moments."""
from board.types cimport i16, u16, u64
from eval.network_shape cimport CENTIPAWNS
from training.positions cimport PackedPosition, expected_score

cdef extern from "training_loops.h" nogil:
    enum:
        GROUP_SIZE "QZ_GROUP"
        STRIPE_SIZE "QZ_STRIPE"
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
    void* new_lines "qz_new_lines"(size_t size)
    void free_lines "qz_free_lines"(void* lines)
    Group* new_group "qz_new_group"(int neurons)
    void free_group "qz_free_group"(Group* group)
    int cpu_level "qz_cpu_level"()
    size_t bias_start "qz_bias_start"(int neurons)
    size_t output_start "qz_output_start"(int neurons)
    size_t output_bias_at "qz_output_bias_at"(int neurons, int outputs)
    float evaluate "qz_output"(
        int level,
        const float* weights,
        int neurons,
        int outputs,
        int output,
        const u16* mine,
        const u16* theirs,
        int men,
    )
    double learn "qz_learn"(
        int level, const float* weights, const i16* shorts, float* gradient, int neurons, int outputs, Group* group
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
    void shorten "qz_shorten"(int level, i16* shorts, const float* weights, int neurons, int begin, int end)

cdef enum:
    MOST_THREADS = 256


cdef inline double target_of(const PackedPosition* position, double result_share) noexcept nogil:
    """What the network shall expect: partly how the game ended, partly what the search saw."""
    cdef double seen = expected_score(position.score / <double>CENTIPAWNS)
    return seen + result_share * (0.5 + 0.5 * position.result - seen)


cdef class NetworkTrainer:
    cdef readonly int neurons
    cdef readonly int count_of_outputs
    cdef readonly int threads
    cdef readonly int level
    cdef size_t size  # of a block
    cdef float* weights
    cdef float* rounded  # to what the file can hold
    cdef float* used  # one of the two: what positions are evaluated with
    cdef i16* shorts  # a copy of its first layer in 16 bits, in stripes: what is summed while learning
    cdef float* first_moments
    cdef float* second_moments
    cdef float* gradients[MOST_THREADS]
    cdef Group* groups[MOST_THREADS]

    cdef float* _new_block(self)
    cdef bytes _bytes_of(self, float* block)
    cdef void _fill(self, float* block, bytes data) except *
    cdef float _output(self, const PackedPosition* position) noexcept nogil
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
    cdef void _refresh(self, size_t begin, size_t end) noexcept nogil
    cdef void _step(self, size_t begin, size_t end, AdamPlan* plan, float decay) noexcept nogil
