/* Zeroed memory in large pages, for what a search touches in no order: tables, histories, weights. With pages of 4 KB the
 * processor would look up an address in the page table at nearly every access. One branch per operating system.
 */
#ifndef QUETZAL_PAGES_H
#define QUETZAL_PAGES_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#  ifndef WIN32_LEAN_AND_MEAN
#    define WIN32_LEAN_AND_MEAN
#  endif
#  include <windows.h>
#else
#  include <sys/mman.h>
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#  define QZ_PAGES_STATIC static __inline
#else
#  define QZ_PAGES_STATIC static inline
#endif

/* Other systems' headers may have the name of the advice, too: Emscripten's memory takes none, and cannot give back parts of
 * what it gave. */
#if defined(__linux__) && defined(MADV_HUGEPAGE)
#  define QZ_TAKES_ADVICE
#endif

#define QZ_LARGE_PAGE ((size_t)2 << 20)

QZ_PAGES_STATIC size_t qz_in_large_pages(size_t size)
{
    return (size + QZ_LARGE_PAGE - 1) / QZ_LARGE_PAGE * QZ_LARGE_PAGE;
}

/* Zeroed memory on a page boundary, which costs nothing until it is touched; NULL when there is none. Where the system
 * takes the advice, it comes in large pages. Those begin at multiples of their size, which mmap alone does not promise:
 * so one more is asked for, and what is left over at both ends is given back. */
QZ_PAGES_STATIC void *qz_allocate_pages(size_t size)
{
#if defined(_WIN32)
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
#elif defined(QZ_TAKES_ADVICE)
    size_t whole = qz_in_large_pages(size), before, behind;
    char *memory = (char *)mmap(NULL, whole + QZ_LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (memory == (char *)MAP_FAILED)
        return NULL;
    before = (size_t)(-(uintptr_t)memory) % QZ_LARGE_PAGE;
    behind = QZ_LARGE_PAGE - before;
    if (before != 0)
        munmap(memory, before);
    munmap(memory + before + whole, behind);
    madvise(memory + before, whole, MADV_HUGEPAGE);
    return memory + before;
#else
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
#endif
}

/* Gives back what qz_allocate_pages gave for that size. */
QZ_PAGES_STATIC void qz_free_pages(void *memory, size_t size)
{
    if (memory == NULL)
        return;
#if defined(_WIN32)
    (void)size;
    VirtualFree(memory, 0, MEM_RELEASE);
#elif defined(QZ_TAKES_ADVICE)
    munmap(memory, qz_in_large_pages(size));
#else
    munmap(memory, size);
#endif
}

#endif
