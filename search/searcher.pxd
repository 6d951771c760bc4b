"""The object that owns the threads, the transposition table and the search that is running."""
from board.position cimport Position
from search.state cimport Shared, Worker


cdef class Searcher:
    cdef Shared* shared
    cdef public int overhead  # milliseconds
    cdef public int multipv
    cdef int _megabytes
    cdef object _wake  # a condition: everything below changes under its lock
    cdef list _threads
    cdef int _job
    cdef int _helpers_at_work
    cdef bint _running
    cdef bint _held  # infinite or pondering: no result before somebody asks for it
    cdef bint _closing
    cdef object _listener
    cdef object _board
    cdef object _result
    cdef object _tables  # endgame tables, kept alive
    cdef object _tb_results  # of the root moves, when they are known

    cdef void _add_worker(self) except *
    cdef void _drop_workers(self, int keep) noexcept
    cdef void _prepare(self, object board, object limits) except *
    cdef Worker* _vote(self) noexcept nogil
    cdef int _tb_score(self, int move, int score) except? -32003
    cdef object _make_result(self)
    cdef object _make_info(self, Worker* worker, int line)
    cdef void _on_report(self, Worker* worker, int kind, int number) noexcept
