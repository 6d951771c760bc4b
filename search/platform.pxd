"""The operating system, as far as the search needs it."""
from board.types cimport i16, i64, u64

cdef extern from "platform.h" nogil:
    i64 now "qz_now"()  # microseconds on a clock that never goes back
    i64 thread_time "qz_thread_time"()  # microseconds of processor time that this thread has had, or -1
    u64 load_word "qz_load_word"(const u64* word)
    void store_word "qz_store_word"(u64* word, u64 value)
    i16 load_short "qz_load_short"(const i16* entry)
    void store_short "qz_store_short"(i16* entry, i16 value)
    int load_flag "qz_load_flag"(const int* flag)
    void store_flag "qz_store_flag"(int* flag, int value)
