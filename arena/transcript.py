"""The dialogue of a game, kept for the author of an engine that does something wrong."""

import collections
import threading
import time

from arena.text import visible

_LONGEST = 4_096  # characters of a line that are kept; a long game's position has 2,500
# Lines are kept in blocks of so many characters and lines: the first one and the last ones. A long game between
# talkative engines has 2 million characters.
_BLOCK_SIZE, _BLOCK_LINES = 1 << 18, 2_000
_LAST_BLOCKS = 12


class Transcript:
    """Lines with their time and who said them to whom. Of an endless flood it keeps the beginning and the end.

    Several threads add lines, thousands in a second: only the change to a new block takes a lock.
    """

    def __init__(self):
        self.started = time.perf_counter()
        self.count = 0
        self.first = self.block = []
        self.last = collections.deque(maxlen=_LAST_BLOCKS)
        self.room = _BLOCK_SIZE  # characters that still fit into the block
        self.lock = threading.Lock()

    def add(self, moment, name, arrow, line):
        self.count += 1
        if len(line) > _LONGEST:
            line = f"{line[:_LONGEST]} [{len(line) - _LONGEST} characters left out]"
        self.block.append((moment, name, arrow, line))
        self.room -= len(line)
        if self.room <= 0 or len(self.block) >= _BLOCK_LINES:
            self.begin_block()

    def begin_block(self):
        with self.lock:
            if self.room <= 0 or len(self.block) >= _BLOCK_LINES:
                self.block = []
                self.room = _BLOCK_SIZE
                self.last.append(self.block)

    def lines(self):
        with self.lock:
            first, last = list(self.first), [entry for block in self.last for entry in list(block)]
        left_out = self.count - len(first) - len(last)
        texts = [self._text(*entry) for entry in first]
        if left_out > 0:
            texts.append(f"... {left_out} lines left out ...")
        return texts + [self._text(*entry) for entry in last]

    def _text(self, moment, name, arrow, line):
        return f"{moment - self.started:11.6f} {name} {arrow} {visible(line)}"
