"""Sorted runs of a book's entries. Nothing is shared with other compiled modules."""
