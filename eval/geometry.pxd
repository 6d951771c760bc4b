"""Distances on the board."""
from board.types cimport file_of, rank_of


cdef inline int distance(int a, int b) noexcept nogil:
    """King moves between two squares."""
    cdef int files = file_of(a) - file_of(b)
    cdef int ranks = rank_of(a) - rank_of(b)
    files = -files if files < 0 else files
    ranks = -ranks if ranks < 0 else ranks
    return files if files > ranks else ranks


cdef inline int eccentricity(int square) noexcept nogil:
    """Steps from the four central squares, files and ranks added: 0 in the centre, 6 in a corner."""
    cdef int file = file_of(square)
    cdef int rank = rank_of(square)
    return (3 - file if file < 4 else file - 4) + (3 - rank if rank < 4 else rank - 4)
