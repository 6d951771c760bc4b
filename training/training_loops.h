/* The loops in which the trainer spends its time, in single precision, for every level of processor.
 *
 * All weights of a network lie in one block: a row of `neurons` weights for each feature, the neurons' biases, the output
 * weights of the side to move's neurons and of the other side's, and the output's bias. Gradients and Adam's moments are
 * blocks of the same shape. The number of neurons is a multiple of 32, so that whole vectors fit.
 */
#ifndef QUETZAL_TRAINING_LOOPS_H
#define QUETZAL_TRAINING_LOOPS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "cpu_levels.h"
#include "network_shape.h"

/* Where the parts of a block begin. */
QZ_INLINE size_t qz_bias_start(int neurons) { return (size_t)QZ_INPUTS * neurons; }
QZ_INLINE size_t qz_output_start(int neurons) { return (size_t)(QZ_INPUTS + 1) * neurons; }
QZ_INLINE size_t qz_output_bias_at(int neurons) { return (size_t)(QZ_INPUTS + 3) * neurons; }

/* Adds `men` rows to the biases, four at a time, so that the sums are fetched and stored less often. */
QZ_BODY void qz_sum_rows(float *QZ_RESTRICT sums, const float *weights, const uint16_t *features, int men, int neurons)
{
    int man = 0, i;
    memcpy(sums, weights + qz_bias_start(neurons), (size_t)neurons * sizeof(float));
    for (; man + 4 <= men; man += 4) {
        const float *a = weights + (size_t)features[man] * neurons;
        const float *b = weights + (size_t)features[man + 1] * neurons;
        const float *c = weights + (size_t)features[man + 2] * neurons;
        const float *d = weights + (size_t)features[man + 3] * neurons;
        for (i = 0; i < neurons; i++)
            sums[i] += (a[i] + b[i]) + (c[i] + d[i]);
    }
    for (; man < men; man++) {
        const float *a = weights + (size_t)features[man] * neurons;
        for (i = 0; i < neurons; i++)
            sums[i] += a[i];
    }
}

/* The squared activation: 0 below 0, 1 above 1. */
QZ_BODY float qz_clamped(float sum)
{
    float value = sum > 0.0f ? sum : 0.0f;
    return value < 1.0f ? value : 1.0f;
}

/* The part of the output that one side's neurons give. Sixteen sums, because an order of additions is a promise that a
 * compiler keeps: one sum could not be vectorised. */
QZ_BODY float qz_weigh(const float *sums, const float *outputs, int neurons)
{
    float parts[16] = {0};
    float total = 0;
    int i, lane;
    for (i = 0; i < neurons; i += 16)
        for (lane = 0; lane < 16; lane++) {
            float value = qz_clamped(sums[i + lane]);
            parts[lane] += value * value * outputs[i + lane];
        }
    for (lane = 0; lane < 16; lane++)
        total += parts[lane];
    return total;
}

/* From the slope at the output to the slopes at one side's sums, and the gradients of all that lies between. */
QZ_BODY void qz_spread(const float *sums, const float *outputs, float *QZ_RESTRICT output_gradient,
                       float *QZ_RESTRICT bias_gradient, float *QZ_RESTRICT slopes, float slope, int neurons)
{
    int i;
    for (i = 0; i < neurons; i++) {
        float value = qz_clamped(sums[i]);
        float inner = 2.0f * slope * value * outputs[i];
        output_gradient[i] += slope * value * value;
        slopes[i] = sums[i] < 1.0f ? inner : 0.0f;
        bias_gradient[i] += slopes[i];
    }
}

QZ_BODY void qz_add_to_rows(float *gradient, const float *QZ_RESTRICT slopes, const uint16_t *features, int men, int neurons)
{
    int man, i;
    for (man = 0; man < men; man++) {
        float *QZ_RESTRICT row = gradient + (size_t)features[man] * neurons;
        for (i = 0; i < neurons; i++)
            row[i] += slopes[i];
    }
}

/* The output for one position; QZ_CENTIPAWNS times it is centipawns. */
QZ_BODY float qz_output_body(const float *weights, int neurons, const uint16_t *mine, const uint16_t *theirs, int men)
{
    float sums[QZ_MOST_NEURONS];
    const float *outputs = weights + qz_output_start(neurons);
    float output = weights[qz_output_bias_at(neurons)];
    qz_sum_rows(sums, weights, mine, men, neurons);
    output += qz_weigh(sums, outputs, neurons);
    qz_sum_rows(sums, weights, theirs, men, neurons);
    return output + qz_weigh(sums, outputs + neurons, neurons);
}

/* The loss of one position, (sigmoid(output) - target)^2; its gradient is added to `gradient`. */
QZ_BODY double qz_learn_body(const float *weights, float *gradient, int neurons, const uint16_t *mine,
                             const uint16_t *theirs, int men, double target)
{
    float my_sums[QZ_MOST_NEURONS], their_sums[QZ_MOST_NEURONS], slopes[QZ_MOST_NEURONS];
    size_t biases = qz_bias_start(neurons), outputs = qz_output_start(neurons), bias = qz_output_bias_at(neurons);
    double output, expected, error;
    float slope;
    qz_sum_rows(my_sums, weights, mine, men, neurons);
    qz_sum_rows(their_sums, weights, theirs, men, neurons);
    output = weights[bias] + qz_weigh(my_sums, weights + outputs, neurons)
             + qz_weigh(their_sums, weights + outputs + neurons, neurons);
    expected = 1.0 / (1.0 + exp(-output));
    error = expected - target;
    slope = (float)(2.0 * error * expected * (1.0 - expected));
    gradient[bias] += slope;
    qz_spread(my_sums, weights + outputs, gradient + outputs, gradient + biases, slopes, slope, neurons);
    qz_add_to_rows(gradient, slopes, mine, men, neurons);
    qz_spread(their_sums, weights + outputs + neurons, gradient + outputs + neurons, gradient + biases, slopes, slope,
              neurons);
    qz_add_to_rows(gradient, slopes, theirs, men, neurons);
    return error * error;
}

/* What one step of AdamW needs beside the blocks. */
typedef struct {
    float scale;  /* of the summed gradients: one over the number of positions */
    float rate;
    float first_fix, second_fix;  /* 1 - 0.9^step, 1 - 0.999^step */
    float decay;
    float most;  /* weights are kept within this, either way */
} qz_adam_plan;

/* One step for the weights `from` to `to`. The threads' gradients are added up, and set to 0 for the next batch. Moments
 * that have all but vanished are dropped: numbers so small are slow to calculate with. */
QZ_BODY void qz_adam_body(float *QZ_RESTRICT weights, float *QZ_RESTRICT first, float *QZ_RESTRICT second,
                          float **gradients, int threads, size_t from, size_t to, const qz_adam_plan *plan)
{
    const float scale = plan->scale, rate = plan->rate, kept = 1.0f - plan->rate * plan->decay, most = plan->most;
    const float first_fix = 1.0f / plan->first_fix, second_fix = 1.0f / plan->second_fix;
    float *QZ_RESTRICT total = gradients[0];
    size_t i;
    int thread;
    for (thread = 1; thread < threads; thread++) {
        float *QZ_RESTRICT part = gradients[thread];
        for (i = from; i < to; i++) {
            total[i] += part[i];
            part[i] = 0.0f;
        }
    }
    for (i = from; i < to; i++) {
        float slope = total[i] * scale;
        float mean = 0.9f * first[i] + 0.1f * slope;
        float spread = 0.999f * second[i] + 0.001f * (slope * slope);
        float weight;
        mean = mean < 1e-30f && mean > -1e-30f ? 0.0f : mean;
        spread = spread < 1e-36f ? 0.0f : spread;
        weight = kept * weights[i] - rate * (mean * first_fix) / (sqrtf(spread * second_fix) + 1e-8f);
        weight = weight < most ? weight : most;
        weights[i] = weight > -most ? weight : -most;
        first[i] = mean;
        second[i] = spread;
        total[i] = 0.0f;
    }
}

/* The nearest multiples of 1 / `steps`. Adding and taking away 3 * 2^22 leaves no bits for a fraction. */
QZ_BODY void qz_round_body(float *QZ_RESTRICT rounded, const float *weights, size_t from, size_t to, float steps)
{
    const float coarse = 12582912.0f, step = 1.0f / steps;
    size_t i;
    for (i = from; i < to; i++)
        rounded[i] = ((weights[i] * steps + coarse) - coarse) * step;
}

/* The same for each level. */
#define QZ_LOOPS(LEVEL, TARGET)                                                                                         \
    TARGET static float qz_output_##LEVEL(const float *weights, int neurons, const uint16_t *mine,                      \
                                          const uint16_t *theirs, int men)                                              \
    {                                                                                                                   \
        return qz_output_body(weights, neurons, mine, theirs, men);                                                     \
    }                                                                                                                   \
    TARGET static double qz_learn_##LEVEL(const float *weights, float *gradient, int neurons, const uint16_t *mine,     \
                                          const uint16_t *theirs, int men, double target)                               \
    {                                                                                                                   \
        return qz_learn_body(weights, gradient, neurons, mine, theirs, men, target);                                    \
    }                                                                                                                   \
    TARGET static void qz_adam_##LEVEL(float *weights, float *first, float *second, float **gradients, int threads,     \
                                       size_t from, size_t to, const qz_adam_plan *plan)                                \
    {                                                                                                                   \
        qz_adam_body(weights, first, second, gradients, threads, from, to, plan);                                       \
    }                                                                                                                   \
    TARGET static void qz_round_##LEVEL(float *rounded, const float *weights, size_t from, size_t to, float steps)      \
    {                                                                                                                   \
        qz_round_body(rounded, weights, from, to, steps);                                                               \
    }

QZ_LOOPS(base, )
#if QZ_HAS_LEVELS
QZ_LOOPS(avx2, QZ_TARGET_AVX2)
QZ_LOOPS(avx512, QZ_TARGET_AVX512)
#  define QZ_CHOOSE(NAME, level, arguments)                                                                             \
    ((level) == QZ_LEVEL_AVX512 ? qz_##NAME##_avx512 arguments                                                          \
     : (level) == QZ_LEVEL_AVX2 ? qz_##NAME##_avx2 arguments                                                            \
                                : qz_##NAME##_base arguments)
#else
#  define QZ_CHOOSE(NAME, level, arguments) ((void)(level), qz_##NAME##_base arguments)
#endif

QZ_INLINE float qz_output(int level, const float *weights, int neurons, const uint16_t *mine, const uint16_t *theirs, int men)
{
    return QZ_CHOOSE(output, level, (weights, neurons, mine, theirs, men));
}

QZ_INLINE double qz_learn(int level, const float *weights, float *gradient, int neurons, const uint16_t *mine,
                          const uint16_t *theirs, int men, double target)
{
    return QZ_CHOOSE(learn, level, (weights, gradient, neurons, mine, theirs, men, target));
}

QZ_INLINE void qz_adam(int level, float *weights, float *first, float *second, float **gradients, int threads, size_t from,
                       size_t to, const qz_adam_plan *plan)
{
    QZ_CHOOSE(adam, level, (weights, first, second, gradients, threads, from, to, plan));
}

QZ_INLINE void qz_round(int level, float *rounded, const float *weights, size_t from, size_t to, float steps)
{
    QZ_CHOOSE(round, level, (rounded, weights, from, to, steps));
}

#endif
