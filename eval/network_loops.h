/* The vector loops of the network: plain C that compilers vectorise, once for each level of processor.
 *
 * All numbers are whole, so every level computes the same result. The number of neurons is a multiple of 32; the common
 * sizes are compiled with the size known, so that the loops unroll.
 */
#ifndef QUETZAL_NETWORK_LOOPS_H
#define QUETZAL_NETWORK_LOOPS_H

#include "cpu_levels.h"

#if defined(__clang__)
#  define QZ_ELEMENTWISE _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#  define QZ_ELEMENTWISE _Pragma("GCC ivdep")
#else
#  define QZ_ELEMENTWISE __pragma(loop(ivdep))
#endif

typedef const int16_t *qz_row;

/* target = source + rows that came - rows that went. Target and source may be the same. */
QZ_BODY void qz_add_rows_body(int16_t *into, const int16_t *from, const qz_row *came, int comers, const qz_row *went,
                              int goers, int neurons)
{
    int16_t *target = (int16_t *)QZ_ALIGNED(into);
    const int16_t *source = (const int16_t *)QZ_ALIGNED(from);
    int i;
    if (comers == 1 && goers == 2) { /* a capture */
        qz_row a = (qz_row)QZ_ALIGNED(came[0]), b = (qz_row)QZ_ALIGNED(went[0]), c = (qz_row)QZ_ALIGNED(went[1]);
        QZ_ELEMENTWISE
        for (i = 0; i < neurons; i++) target[i] = (int16_t)(source[i] + a[i] - b[i] - c[i]);
        return;
    }
    while (comers > 0 && goers > 0) { /* a move */
        qz_row a = (qz_row)QZ_ALIGNED(came[--comers]), b = (qz_row)QZ_ALIGNED(went[--goers]);
        QZ_ELEMENTWISE
        for (i = 0; i < neurons; i++) target[i] = (int16_t)(source[i] + a[i] - b[i]);
        source = target;
    }
    while (comers >= 4) { /* a board set up anew */
        qz_row a = (qz_row)QZ_ALIGNED(came[comers - 1]), b = (qz_row)QZ_ALIGNED(came[comers - 2]);
        qz_row c = (qz_row)QZ_ALIGNED(came[comers - 3]), d = (qz_row)QZ_ALIGNED(came[comers - 4]);
        QZ_ELEMENTWISE
        for (i = 0; i < neurons; i++) target[i] = (int16_t)(source[i] + a[i] + b[i] + c[i] + d[i]);
        source = target;
        comers -= 4;
    }
    while (comers > 0) {
        qz_row a = (qz_row)QZ_ALIGNED(came[--comers]);
        QZ_ELEMENTWISE
        for (i = 0; i < neurons; i++) target[i] = (int16_t)(source[i] + a[i]);
        source = target;
    }
    while (goers > 0) {
        qz_row b = (qz_row)QZ_ALIGNED(went[--goers]);
        QZ_ELEMENTWISE
        for (i = 0; i < neurons; i++) target[i] = (int16_t)(source[i] - b[i]);
        source = target;
    }
    if (source != target) { /* nothing changed: a null move */
        QZ_ELEMENTWISE
        for (i = 0; i < neurons; i++) target[i] = source[i];
    }
}

/* The sum of weight times clamped activation squared. A weight is at most 127 and an activation at most 255, so that
 * their product fits 16 bits, and 256 summands fit 32.
 */
QZ_BODY int64_t qz_output_sum_body(const int16_t *values, const int16_t *output_weights, int neurons)
{
    const int16_t *sums = (const int16_t *)QZ_ALIGNED(values);
    const int16_t *weights = (const int16_t *)QZ_ALIGNED(output_weights);
    int64_t total = 0;
    int start, i;
    for (start = 0; start < neurons; start += 256) {
        int end = neurons - start > 256 ? start + 256 : neurons;
        int32_t part = 0;
        for (i = start; i < end; i++) {
            int16_t value = sums[i] < 0 ? 0 : sums[i] > 255 ? 255 : sums[i];
            int16_t weighted = (int16_t)(value * weights[i]);
            part += (int32_t)weighted * value;
        }
        total += part;
    }
    return total;
}

#define QZ_WITH_KNOWN_SIZE(call_with) \
    switch (neurons) { \
    case 64: call_with(64); \
    case 128: call_with(128); \
    case 256: call_with(256); \
    case 384: call_with(384); \
    case 512: call_with(512); \
    case 768: call_with(768); \
    default: call_with((neurons & ~31)); \
    }

#define QZ_ADD_ROWS(size) qz_add_rows_body(target, source, came, comers, went, goers, size); return
#define QZ_OUTPUT_SUM(size) return qz_output_sum_body(values, weights, size)

#define QZ_NETWORK_LOOPS(level, attribute) \
    attribute static void qz_add_rows_##level(int16_t *target, const int16_t *source, const qz_row *came, int comers, \
                                              const qz_row *went, int goers, int neurons) \
    { \
        QZ_WITH_KNOWN_SIZE(QZ_ADD_ROWS) \
    } \
    attribute static int64_t qz_output_sum_##level(const int16_t *values, const int16_t *weights, int neurons) \
    { \
        QZ_WITH_KNOWN_SIZE(QZ_OUTPUT_SUM) \
    }

QZ_NETWORK_LOOPS(base, )

#if QZ_HAS_LEVELS
QZ_NETWORK_LOOPS(avx2, QZ_TARGET_AVX2)
QZ_NETWORK_LOOPS(avx512, QZ_TARGET_AVX512)
#else
#  define qz_add_rows_avx2 qz_add_rows_base
#  define qz_add_rows_avx512 qz_add_rows_base
#  define qz_output_sum_avx2 qz_output_sum_base
#  define qz_output_sum_avx512 qz_output_sum_base
#endif

typedef void (*qz_add_rows_loop)(int16_t *, const int16_t *, const qz_row *, int, const qz_row *, int, int);
typedef int64_t (*qz_output_sum_loop)(const int16_t *, const int16_t *, int);

QZ_INLINE qz_add_rows_loop qz_add_rows_for(int level)
{
    return level == QZ_LEVEL_AVX512 ? qz_add_rows_avx512 : level == QZ_LEVEL_AVX2 ? qz_add_rows_avx2 : qz_add_rows_base;
}

QZ_INLINE qz_output_sum_loop qz_output_sum_for(int level)
{
    return level == QZ_LEVEL_AVX512 ? qz_output_sum_avx512
           : level == QZ_LEVEL_AVX2 ? qz_output_sum_avx2
                                    : qz_output_sum_base;
}

#endif
