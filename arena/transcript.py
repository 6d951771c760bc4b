"""The dialogue of a game, kept for the author of an engine that does something wrong."""

import collections
import time

_FIRST = 2_000
_LAST = 20_000


class Transcript:
    """Lines with their time and who said them to whom. Of an endless flood it keeps the beginning and the end."""

    def __init__(self):
        self.started = time.perf_counter()
        self.first = []
        self.last = collections.deque(maxlen=_LAST)
        self.count = 0

    def add(self, moment, name, arrow, line):
        self.count += 1
        (self.first if len(self.first) < _FIRST else self.last).append((moment, name, arrow, line))

    def lines(self):
        left_out = self.count - len(self.first) - len(self.last)
        texts = [self._text(*entry) for entry in self.first]
        if left_out:
            texts.append(f"... {left_out} lines left out ...")
        return texts + [self._text(*entry) for entry in self.last]

    def _text(self, moment, name, arrow, line):
        return f"{moment - self.started:11.6f} {name} {arrow} {line}"
