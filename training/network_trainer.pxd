"""The network while it learns: weights in single precision, gradients for every thread, Adam's moments."""
from board.types cimport u16, u64
from eval.network_shape cimport CENTIPAWNS
from training.positions cimport PackedPosition, expected_score

cdef extern from "training_loops.h" nogil:
    ctypedef struct AdamPlan "qz_adam_plan":
        float scale
        float rate
        float first_fix
        float second_fix
        float decay
        float most
    int cpu_level "qz_cpu_level"()
    size_t bias_start "qz_bias_start"(int neurons)
    size_t output_start "qz_output_start"(int neurons)
    size_t output_bias_at "qz_output_bias_at"(int neurons)
    float output_of "qz_output"(
        int level, const float* weights, int neurons, const u16* mine, const u16* theirs, int men
    )
    double learn "qz_learn"(
        int level,
        const float* weights,
        float* gradient,
        int neurons,
        const u16* mine,
        const u16* theirs,
        int men,
        double target,
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

cdef enum:
    MOST_THREADS = 256


cdef inline double target_of(const PackedPosition* position, double result_share) noexcept nogil:
    """What the network shall expect: partly how the game ended, partly what the search saw."""
    cdef double seen = expected_score(position.score / <double>CENTIPAWNS)
    return seen + result_share * (0.5 + 0.5 * position.result - seen)


cdef class NetworkTrainer:
    cdef readonly int neurons
    cdef readonly int threads
    cdef readonly int level
    cdef size_t size  # of a block
    cdef float* weights
    cdef float* rounded  # to what the file can hold
    cdef float* used  # one of the two: what positions are evaluated with
    cdef float* first_moments
    cdef float* second_moments
    cdef float* gradients[MOST_THREADS]

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
        float* gradient,
    ) noexcept nogil
    cdef void _round(self, size_t begin, size_t end) noexcept nogil
    cdef void _step(self, size_t begin, size_t end, AdamPlan* plan, float decay) noexcept nogil
