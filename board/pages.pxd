"""Zeroed memory in large pages; the header says what for."""

cdef extern from "pages.h" nogil:
    void* allocate_pages "qz_allocate_pages"(size_t size)
    void free_pages "qz_free_pages"(void* memory, size_t size)
