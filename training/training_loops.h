/* The loops in which the trainer spends its time, for every level of processor.
 *
 * All weights of a network lie in one block: for each king bucket a row of `neurons` weights for each feature, the neurons'
 * biases, for each output the weights of the side to move's neurons and of the other side's, and the outputs' biases.
 * Gradients and Adam's moments are blocks of the same shape, all in single precision. Their number of neurons is a multiple
 * of QZ_STRIPE. A feature's number below includes its bucket: bucket * QZ_INPUTS + input.
 *
 * What takes the time is fetching rows: for every man two rows of weights, and their gradients. So
 *
 * - positions are learned in groups, and a group goes through the network stripe by stripe of neurons: what a stripe has of
 *   all rows fits the processor's inner caches, and its sums stay in registers while rows are added;
 * - the rows that are summed are copies of the weights in 16 bits, refreshed after every step;
 * - a feature's gradient is fetched and stored once for all positions of a group that have the feature.
 */
#ifndef QUETZAL_TRAINING_LOOPS_H
#define QUETZAL_TRAINING_LOOPS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cpu_levels.h"
#include "network_shape.h"

#if QZ_HAS_LEVELS
#  include <immintrin.h>
#endif

enum {
    QZ_MOST_ROWS = QZ_MOST_KING_BUCKETS * QZ_INPUTS,
    QZ_STRIPE = 32, /* neurons */
    QZ_GROUP = 128, /* positions */
    QZ_PARTS = 16, /* sums of an output: one sum for each lane of the widest vector */
    QZ_GROUP_MEN = 32,
    /* A short weight counts multiples of 1/2040. Eight of them are a step of the engine's weights, so that rounded weights
     * have exact copies. Sums of up to 16 rows fit 16 bits unless they leave -16 to 16, where they stay: what a neuron has
     * there is cut to 0 to 1 anyway. Two such sums make up a side. */
    QZ_SHORT_ONE = 8 * QZ_ACTIVATION_ONE,
    QZ_SHORT_ROWS = 16,
    QZ_MOST_SHORT = 2 * QZ_SHORT_ONE,
    QZ_CACHE_LINE = 64
};

#if defined(__GNUC__) || defined(__clang__)
#  define QZ_HAS_VECTORS 1
#  define QZ_FOR_VECTORS __attribute__((aligned(QZ_CACHE_LINE)))
#else
#  define QZ_HAS_VECTORS 0
#  define QZ_FOR_VECTORS
#endif

typedef struct {
    int neurons;
    int rows; /* of the first layer: one for each feature of each king bucket */
    int outputs;
} qz_shape;

/* Where the parts of a block begin. */
QZ_INLINE size_t qz_bias_start(const qz_shape *shape) { return (size_t)shape->rows * shape->neurons; }
QZ_INLINE size_t qz_output_start(const qz_shape *shape) { return (size_t)(shape->rows + 1) * shape->neurons; }
QZ_INLINE size_t qz_output_bias_at(const qz_shape *shape)
{
    return (size_t)(shape->rows + 1 + 2 * shape->outputs) * shape->neurons;
}

/* Memory full of zeros that begins with a cache line; NULL when there is none. */
QZ_INLINE void *qz_new_lines(size_t bytes)
{
    char *whole = (char *)calloc(1, bytes + QZ_CACHE_LINE + sizeof(void *));
    char *lines;
    if (whole == NULL)
        return NULL;
    lines = whole + sizeof(void *);
    lines += (QZ_CACHE_LINE - (uintptr_t)lines % QZ_CACHE_LINE) % QZ_CACHE_LINE;
    ((void **)lines)[-1] = whole;
    return lines;
}

QZ_INLINE void qz_free_lines(void *lines)
{
    if (lines != NULL)
        free(((void **)lines)[-1]);
}

typedef struct {
    float values[QZ_PARTS];
} QZ_FOR_VECTORS qz_part_floats;

typedef struct {
    float values[QZ_STRIPE];
} QZ_FOR_VECTORS qz_stripe_floats;

typedef struct {
    int16_t values[QZ_STRIPE];
} QZ_FOR_VECTORS qz_stripe_shorts;

/* Positions that are learned together. Each has two rows, the side to move's first. */
typedef struct {
    qz_part_floats parts[2 * QZ_GROUP];
    uint16_t features[2 * QZ_GROUP][QZ_GROUP_MEN];
    double targets[QZ_GROUP];
    float slopes[QZ_GROUP]; /* at the outputs */
    int men[QZ_GROUP];
    int outputs[QZ_GROUP]; /* which one a position has */
    int by_output[QZ_GROUP]; /* the positions in the order of their outputs */
    int output_starts[QZ_MOST_OUTPUTS + 1]; /* of each output's positions there */
    int count;
    uint16_t listed[QZ_MOST_ROWS]; /* the features that there are, each with its king bucket */
    int count_of_listed;
    int starts[QZ_MOST_ROWS + 1]; /* of each listed feature's rows in `rows` */
    uint16_t rows[2 * QZ_GROUP * QZ_GROUP_MEN];
    float *values; /* stripe by stripe all rows' sums, and later the slopes there */
} qz_group;

QZ_INLINE void qz_free_group(qz_group *group)
{
    if (group != NULL)
        qz_free_lines(group->values);
    qz_free_lines(group);
}

QZ_INLINE qz_group *qz_new_group(int neurons)
{
    qz_group *group = (qz_group *)qz_new_lines(sizeof(qz_group));
    if (group != NULL)
        group->values = (float *)qz_new_lines((size_t)2 * QZ_GROUP * neurons * sizeof(float));
    if (group != NULL && group->values == NULL) {
        qz_free_group(group);
        return NULL;
    }
    return group;
}

/* For each output the positions that have it, in their order. */
QZ_BODY void qz_list_outputs(qz_group *group, int outputs)
{
    int output, number, total = 0;
    for (output = 0; output < outputs; output++) {
        group->output_starts[output] = total;
        for (number = 0; number < group->count; number++)
            if (group->outputs[number] == output)
                group->by_output[total++] = number;
    }
    group->output_starts[outputs] = total;
}

/* For each feature that there is the rows that have it, in their order. Few king buckets occur in a group. */
QZ_BODY void qz_list_rows(qz_group *group)
{
    int places[QZ_MOST_ROWS];
    int occurs[QZ_MOST_KING_BUCKETS] = {0};
    int row, man, bucket, feature, listed = 0, total = 0;
    for (row = 0; row < 2 * group->count; row++)
        occurs[group->features[row][0] / QZ_INPUTS] = 1;
    for (bucket = 0; bucket < QZ_MOST_KING_BUCKETS; bucket++)
        if (occurs[bucket])
            memset(places + bucket * QZ_INPUTS, 0, QZ_INPUTS * sizeof(int));
    for (row = 0; row < 2 * group->count; row++)
        for (man = 0; man < group->men[row >> 1]; man++)
            places[group->features[row][man]]++;
    for (bucket = 0; bucket < QZ_MOST_KING_BUCKETS; bucket++) {
        if (!occurs[bucket])
            continue;
        for (feature = bucket * QZ_INPUTS; feature < (bucket + 1) * QZ_INPUTS; feature++) {
            const int size = places[feature];
            group->listed[listed] = (uint16_t)feature;
            group->starts[listed] = places[feature] = total;
            listed += size > 0;
            total += size;
        }
    }
    group->count_of_listed = listed;
    group->starts[listed] = total;
    for (row = 0; row < 2 * group->count; row++)
        for (man = 0; man < group->men[row >> 1]; man++)
            group->rows[places[group->features[row][man]]++] = (uint16_t)row;
}

QZ_BODY float qz_sum_of_parts(const float *parts)
{
    float total = 0.0f;
    int i;
    for (i = 0; i < QZ_PARTS; i++)
        total += parts[i];
    return total;
}

/* What one step of AdamW needs beside the blocks. */
typedef struct {
    float scale;  /* of the summed gradients: one over the number of positions */
    float rate;
    float first_fix, second_fix;  /* 1 - 0.9^step, 1 - 0.999^step */
    float decay;
    float most;  /* weights are kept within this, either way */
} qz_adam_plan;

#define QZ_AT(name) qz_##name##_base
#define QZ_TARGET
#define QZ_VECTOR_BYTES 16
#if QZ_HAS_LEVELS
#  define QZ_ROOTS _mm_sqrt_ps
#  define QZ_ADD_SHORTS(a, b) (QZ_AT(shorts))_mm_adds_epi16((__m128i)(a), (__m128i)(b))
#endif
#include "training_level.h"
#if QZ_HAS_LEVELS
#  define QZ_AT(name) qz_##name##_avx2
#  define QZ_TARGET QZ_TARGET_AVX2
#  define QZ_VECTOR_BYTES 32
#  define QZ_ROOTS _mm256_sqrt_ps
#  define QZ_ADD_SHORTS(a, b) (QZ_AT(shorts))_mm256_adds_epi16((__m256i)(a), (__m256i)(b))
#  include "training_level.h"
#  define QZ_AT(name) qz_##name##_avx512
#  define QZ_TARGET QZ_TARGET_AVX512
#  define QZ_VECTOR_BYTES 64
#  define QZ_ROOTS _mm512_sqrt_ps
#  define QZ_ADD_SHORTS(a, b) (QZ_AT(shorts))_mm512_adds_epi16((__m512i)(a), (__m512i)(b))
#  include "training_level.h"
#  define QZ_CHOOSE(NAME, level, arguments)                                                                             \
    ((level) == QZ_LEVEL_AVX512 ? qz_##NAME##_avx512 arguments                                                          \
     : (level) == QZ_LEVEL_AVX2 ? qz_##NAME##_avx2 arguments                                                            \
                                : qz_##NAME##_base arguments)
#else
#  define QZ_CHOOSE(NAME, level, arguments) ((void)(level), qz_##NAME##_base arguments)
#endif

QZ_INLINE float qz_output(int level, const float *weights, const qz_shape *shape, int output, const uint16_t *mine,
                          const uint16_t *theirs, int men)
{
    return QZ_CHOOSE(output, level, (weights, shape, output, mine, theirs, men));
}

QZ_INLINE double qz_learn(int level, const float *weights, const int16_t *shorts, float *gradient, const qz_shape *shape,
                          qz_group *group)
{
    return QZ_CHOOSE(learn, level, (weights, shorts, gradient, shape, group));
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

QZ_INLINE void qz_shorten(int level, int16_t *shorts, const float *weights, const qz_shape *shape, int from, int to)
{
    QZ_CHOOSE(shorten, level, (shorts, weights, shape, from, to));
}

QZ_INLINE void qz_gather(int level, float *sums, float **gradients, int threads, const qz_shape *shape, int feature)
{
    QZ_CHOOSE(gather, level, (sums, gradients, threads, shape, feature));
}

QZ_INLINE void qz_confine(int level, float *own, const float *shared, int neurons, float most)
{
    QZ_CHOOSE(confine, level, (own, shared, neurons, most));
}

QZ_INLINE void qz_merge(int level, float *merged, const float *own, const float *shared, int neurons, float most)
{
    QZ_CHOOSE(merge, level, (merged, own, shared, neurons, most));
}

#endif
