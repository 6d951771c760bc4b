/* Compiler intrinsics, in one place and with portable fallbacks.
 *
 * Everything here is a leaf operation on 64-bit words that C has no operator for, or one that is meant to wrap around
 * (the multiplications), which the overflow checks of a debug build would otherwise complain about.
 */
#ifndef QUETZAL_INTRINSICS_H
#define QUETZAL_INTRINSICS_H

#include <stdint.h>

#if defined(_MSC_VER) && !defined(__clang__)
#  include <intrin.h>
#  define QZ_INLINE static __forceinline
#else
#  define QZ_INLINE static inline
#endif

#define QZ_RANK_1 UINT64_C(0x00000000000000ff)
#define QZ_RANK_2 UINT64_C(0x000000000000ff00)
#define QZ_RANK_3 UINT64_C(0x0000000000ff0000)
#define QZ_RANK_6 UINT64_C(0x0000ff0000000000)
#define QZ_RANK_7 UINT64_C(0x00ff000000000000)
#define QZ_RANK_8 UINT64_C(0xff00000000000000)
#define QZ_FILE_A UINT64_C(0x0101010101010101)
#define QZ_FILE_H UINT64_C(0x8080808080808080)
#define QZ_LIGHT_SQUARES UINT64_C(0x55aa55aa55aa55aa)
#define QZ_ALL_SQUARES UINT64_C(0xffffffffffffffff)

/* A pointer that one thread fills in and others may find at any time, with everything it points to. */
#if defined(__GNUC__) || defined(__clang__)
QZ_INLINE void *qz_find_shared(void *const *place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }
QZ_INLINE void qz_share(void **place, void *value) { __atomic_store_n(place, value, __ATOMIC_RELEASE); }
#else
QZ_INLINE void *qz_find_shared(void *const *place)
{
    void *value = *(void *const volatile *)place;
    _ReadWriteBarrier();
    return value;
}
QZ_INLINE void qz_share(void **place, void *value)
{
    _ReadWriteBarrier();
    *(void *volatile *)place = value;
}
#endif

#if defined(__GNUC__) || defined(__clang__)

/* Both scans want a word that is not zero. */
QZ_INLINE int qz_lsb(uint64_t word) { return __builtin_ctzll(word); }
QZ_INLINE int qz_msb(uint64_t word) { return 63 ^ __builtin_clzll(word); }
QZ_INLINE int qz_popcount(uint64_t word) { return __builtin_popcountll(word); }
QZ_INLINE uint64_t qz_byteswap64(uint64_t word) { return __builtin_bswap64(word); }
QZ_INLINE uint32_t qz_byteswap32(uint32_t word) { return __builtin_bswap32(word); }
QZ_INLINE void qz_prefetch(const void *address) { __builtin_prefetch(address); }

#elif defined(_MSC_VER) && (defined(_M_X64) || defined(_M_ARM64))

QZ_INLINE int qz_lsb(uint64_t word) { unsigned long at; _BitScanForward64(&at, word); return (int)at; }
QZ_INLINE int qz_msb(uint64_t word) { unsigned long at; _BitScanReverse64(&at, word); return (int)at; }
QZ_INLINE uint64_t qz_byteswap64(uint64_t word) { return _byteswap_uint64(word); }
QZ_INLINE uint32_t qz_byteswap32(uint32_t word) { return _byteswap_ulong(word); }
#  if defined(_M_X64)
QZ_INLINE int qz_popcount(uint64_t word) { return (int)__popcnt64(word); }
QZ_INLINE void qz_prefetch(const void *address) { _mm_prefetch((const char *)address, _MM_HINT_T0); }
#  else
QZ_INLINE int qz_popcount(uint64_t word) { return (int)_CountOneBits64(word); }
QZ_INLINE void qz_prefetch(const void *address) { __prefetch(address); }
#  endif

#else

QZ_INLINE int qz_popcount(uint64_t word)
{
    word -= (word >> 1) & 0x5555555555555555u;
    word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (int)((word * 0x0101010101010101u) >> 56);
}
QZ_INLINE int qz_lsb(uint64_t word) { return qz_popcount((word & (~word + 1)) - 1); }
QZ_INLINE int qz_msb(uint64_t word)
{
    int at = 0;
    while (word >>= 1) at++;
    return at;
}
QZ_INLINE uint32_t qz_byteswap32(uint32_t word)
{
    word = ((word & 0x00ff00ffu) << 8) | ((word >> 8) & 0x00ff00ffu);
    return (word << 16) | (word >> 16);
}
QZ_INLINE uint64_t qz_byteswap64(uint64_t word)
{
    return ((uint64_t)qz_byteswap32((uint32_t)word) << 32) | qz_byteswap32((uint32_t)(word >> 32));
}
QZ_INLINE void qz_prefetch(const void *address) { (void)address; }

#endif

/* Where a masked occupancy is found in its square's table: the high bits of a wrapping product. */
QZ_INLINE unsigned qz_magic_index(uint64_t occupied, uint64_t magic, unsigned shift)
{
    return (unsigned)((occupied * magic) >> shift);
}

/* The high word of a 128-bit product: maps a key evenly onto [0, count) without a division. */
QZ_INLINE uint64_t qz_multiply_high(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    return __umulh(a, b);
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
    uint64_t middle_low = a_low * b_high + (uint32_t)middle;
    return a_high * b_high + (middle >> 32) + (middle_low >> 32);
#endif
}

#endif
