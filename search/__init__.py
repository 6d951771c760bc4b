"""Which move? Alpha-beta search with everything that makes it deep. `Searcher` is the door."""

from search.searcher import MAX_DEPTH, MAX_MULTIPV, MAX_THREADS, Info, Limits, Listener, Result, Searcher

__all__ = ["MAX_DEPTH", "MAX_MULTIPV", "MAX_THREADS", "Info", "Limits", "Listener", "Result", "Searcher"]
