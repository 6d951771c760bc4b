/* One loop, compiled for several levels of x86 processors, and the question which of them this processor can run.
 *
 * The build's baseline is x86-64-v2. Write a loop once as a QZ_BODY function; give it a small caller for each level,
 * marked with the level's target, into which the compiler inlines and vectorises the body anew; and choose one of the
 * callers when the program starts, by qz_cpu_level. Elsewhere than on x86 with gcc or clang there is the baseline alone.
 */
#ifndef QUETZAL_CPU_LEVELS_H
#define QUETZAL_CPU_LEVELS_H

#include "intrinsics.h"

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#  include <cpuid.h>
#endif

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

/* The highest level that this processor and its operating system can run.
 *
 * Asked from the processor itself (cpuid, leaves 1 and 7, as Intel's and AMD's manuals number the bits): the compiler's
 * own __builtin_cpu_supports needs a runtime library that not every compiler brings. A processor may have vector
 * registers that the system does not save when it changes threads; XCR0 has a bit for each kind that it does save. */
QZ_INLINE int qz_cpu_level(void)
{
#if QZ_HAS_LEVELS
    enum { FMA = 1 << 12, OSXSAVE = 1 << 27, AVX = 1 << 28 };                                   /* leaf 1, ecx */
    enum { BMI1 = 1 << 3, AVX2 = 1 << 5, BMI2 = 1 << 8, AVX512F = 1 << 16, AVX512DQ = 1 << 17 }; /* leaf 7, ebx */
    const unsigned avx512bw = 1u << 30, avx512vl = 1u << 31;
    const unsigned basic = FMA | OSXSAVE | AVX, avx2 = BMI1 | AVX2 | BMI2;
    const unsigned avx512 = AVX512F | AVX512DQ | avx512bw | avx512vl;
    const unsigned saves_avx = 0x06, saves_avx512 = 0xe6;
    unsigned eax, ebx, ecx, edx, saved, unused;
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || (ecx & basic) != basic)
        return QZ_LEVEL_BASE;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx))
        return QZ_LEVEL_BASE;
    __asm__ volatile("xgetbv" : "=a"(saved), "=d"(unused) : "c"(0));
    if ((ebx & avx2) != avx2 || (saved & saves_avx) != saves_avx)
        return QZ_LEVEL_BASE;
    return (ebx & avx512) == avx512 && (saved & saves_avx512) == saves_avx512 ? QZ_LEVEL_AVX512 : QZ_LEVEL_AVX2;
#else
    return QZ_LEVEL_BASE;
#endif
}

#endif
