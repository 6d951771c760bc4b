/* What the search wants from the operating system and the memory model, with one branch per platform:
 * a steady clock and relaxed atomics. (Memory: board/pages.h.)
 */
#ifndef QUETZAL_PLATFORM_H
#define QUETZAL_PLATFORM_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#  ifndef WIN32_LEAN_AND_MEAN
#    define WIN32_LEAN_AND_MEAN
#  endif
#  include <windows.h>
#else
#  include <time.h>
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#  define QZ_STATIC static __inline
#else
#  define QZ_STATIC static inline
#endif

/* Microseconds since some fixed moment; never goes back. */
QZ_STATIC int64_t qz_now(void)
{
#if defined(_WIN32)
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    return (int64_t)(ticks.QuadPart / frequency.QuadPart * 1000000
                     + ticks.QuadPart % frequency.QuadPart * 1000000 / frequency.QuadPart);
#else
    struct timespec moment;
    clock_gettime(CLOCK_MONOTONIC, &moment);
    return (int64_t)moment.tv_sec * 1000000 + moment.tv_nsec / 1000;
#endif
}

/* Words that several threads read and write: whole, but in no promised order. Flags promise one thing: whoever sees a
 * flag also sees what was written before it was set. */
#if defined(__GNUC__) || defined(__clang__)
QZ_STATIC uint64_t qz_load_word(const uint64_t *word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
QZ_STATIC void qz_store_word(uint64_t *word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELAXED); }
QZ_STATIC int16_t qz_load_short(const int16_t *entry) { return __atomic_load_n(entry, __ATOMIC_RELAXED); }
QZ_STATIC void qz_store_short(int16_t *entry, int16_t value) { __atomic_store_n(entry, value, __ATOMIC_RELAXED); }
QZ_STATIC int qz_load_flag(const int *flag) { return __atomic_load_n(flag, __ATOMIC_ACQUIRE); }
QZ_STATIC void qz_store_flag(int *flag, int value) { __atomic_store_n(flag, value, __ATOMIC_RELEASE); }
#else
QZ_STATIC uint64_t qz_load_word(const uint64_t *word) { return *(const volatile uint64_t *)word; }
QZ_STATIC void qz_store_word(uint64_t *word, uint64_t value) { *(volatile uint64_t *)word = value; }
QZ_STATIC int16_t qz_load_short(const int16_t *entry) { return *(const volatile int16_t *)entry; }
QZ_STATIC void qz_store_short(int16_t *entry, int16_t value) { *(volatile int16_t *)entry = value; }
QZ_STATIC int qz_load_flag(const int *flag) { return *(const volatile int *)flag; }
QZ_STATIC void qz_store_flag(int *flag, int value) { *(volatile int *)flag = value; }
#endif

/* Microseconds of processor time that this thread has had, or -1 where the system does not tell them finely enough. */
QZ_STATIC int64_t qz_thread_time(void)
{
#if defined(CLOCK_THREAD_CPUTIME_ID) && !defined(_WIN32)
    struct timespec moment;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &moment) == 0)
        return (int64_t)moment.tv_sec * 1000000 + moment.tv_nsec / 1000;
#endif
    return -1;
}

#endif
