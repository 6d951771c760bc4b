/* One loop, compiled for several levels of x86 processors, and the question which of them this processor can run.
 *
 * The build's baseline is x86-64-v2. Write a loop once as a QZ_BODY function; give it a small caller for each level,
 * marked with the level's target, into which the compiler inlines and vectorises the body anew; and choose one of the
 * callers when the program starts, by qz_cpu_level. Elsewhere than on x86 with gcc or clang there is the baseline alone.
 */
#ifndef QUETZAL_CPU_LEVELS_H
#define QUETZAL_CPU_LEVELS_H

#include "intrinsics.h"

enum { QZ_LEVEL_BASE, QZ_LEVEL_AVX2, QZ_LEVEL_AVX512 };

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#  define QZ_HAS_LEVELS 1
#  define QZ_TARGET_AVX2 __attribute__((target("avx,avx2,bmi,bmi2,fma,popcnt")))
#  if defined(__clang__)
#    define QZ_TARGET_AVX512 __attribute__((target("avx,avx2,bmi,bmi2,fma,popcnt,avx512f,avx512bw,avx512vl,avx512dq")))
#  else
     /* gcc keeps to 256-bit vectors unless told otherwise. */
#    define QZ_TARGET_AVX512 \
        __attribute__((target("avx,avx2,bmi,bmi2,fma,popcnt,avx512f,avx512bw,avx512vl,avx512dq,prefer-vector-width=512")))
#  endif
#else
#  define QZ_HAS_LEVELS 0
#  define QZ_TARGET_AVX2
#  define QZ_TARGET_AVX512
#endif

#if defined(__GNUC__) || defined(__clang__)
#  define QZ_BODY static inline __attribute__((always_inline))
#  define QZ_RESTRICT __restrict__
#  define QZ_ALIGNED(pointer) __builtin_assume_aligned((pointer), 64)
#else
#  define QZ_BODY QZ_INLINE
#  define QZ_RESTRICT __restrict
#  define QZ_ALIGNED(pointer) (pointer)
#endif

/* The highest level that this processor and its operating system can run. */
QZ_INLINE int qz_cpu_level(void)
{
#if QZ_HAS_LEVELS
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
        return QZ_LEVEL_BASE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512dq"))
        return QZ_LEVEL_AVX512;
    return QZ_LEVEL_AVX2;
#else
    return QZ_LEVEL_BASE;
#endif
}

#endif
