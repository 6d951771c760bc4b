"""The order of a book's entries. Nothing is shared with other compiled modules."""
