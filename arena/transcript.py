"""The dialogue of a game, kept for the author of an engine that does something wrong."""

import collections
import threading
import time

# Of the beginning and of the end: lines, and characters of them. A long game between talkative engines has 2 million.
_FIRST_LINES, _FIRST_SIZE = 2_000, 1 << 20
_LAST_LINES, _LAST_SIZE = 20_000, 3 << 20
_LONGEST = 4_096  # characters of a line that are kept; a long game's position has 2,500


class Transcript:
    """Lines with their time and who said them to whom. Of an endless flood it keeps the beginning and the end."""

    def __init__(self):
        self.started = time.perf_counter()
        self.first = []
        self.last = collections.deque()
        self.count = 0
        self.lock = threading.Lock()  # both engines are read in threads of their own
        self.room = _FIRST_SIZE  # characters that still fit into the beginning
        self.size = 0  # characters of the end

    def add(self, moment, name, arrow, line):
        if len(line) > _LONGEST:
            line = f"{line[:_LONGEST]} [{len(line) - _LONGEST} characters left out]"
        with self.lock:
            self.count += 1
            if self.room > 0 and len(self.first) < _FIRST_LINES:
                self.room -= len(line)
                self.first.append((moment, name, arrow, line))
                return
            self.room = 0
            self.last.append((moment, name, arrow, line))
            self.size += len(line)
            while self.size > _LAST_SIZE or len(self.last) > _LAST_LINES:
                self.size -= len(self.last.popleft()[3])

    def lines(self):
        with self.lock:
            first, last = list(self.first), list(self.last)
            left_out = self.count - len(first) - len(last)
        texts = [self._text(*entry) for entry in first]
        if left_out:
            texts.append(f"... {left_out} lines left out ...")
        return texts + [self._text(*entry) for entry in last]

    def _text(self, moment, name, arrow, line):
        return f"{moment - self.started:11.6f} {name} {arrow} {line}"
