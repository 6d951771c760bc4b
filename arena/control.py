"""Time controls: how they are written, and the clocks that keep them.

10+0.1            ten seconds, and a tenth more with every move
40/60+0.5         a minute for every forty moves, and half a second with every move
2:30+1            minutes and seconds
movetime=0.2      seconds for each move
nodes=5000        nodes for each move; no clock unless one is given, too: 10+0.1,nodes=5000
depth=8           plies for each move, likewise
"""

import re
from typing import NamedTuple

# More than anybody plays, and less than clocks, queues and engines can count.
LONGEST_SECONDS = 1_000_000
_MOST = {"movetime": 1000 * LONGEST_SECONDS, "nodes": 10**18, "depth": 10**6, "moves": 10**6}

_CLOCK = re.compile(
    r"(?:([0-9]{1,9})/)?(?:([0-9]{1,9}):)?([0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+)(?:\+([0-9]{1,9}(?:\.[0-9]*)?|\.[0-9]+))?"
)


class Control(NamedTuple):
    """Limits of one engine; times in milliseconds, None where there is no such limit."""

    base: float | None = None
    increment: float = 0.0
    moves: int | None = None
    movetime: float | None = None
    nodes: int | None = None
    depth: int | None = None

    @property
    def is_timed(self):
        return self.base is not None or self.movetime is not None

    def scaled(self, factor):
        """The same control on a machine that needs `factor` times as long for the same work."""
        return self._replace(
            base=None if self.base is None else self.base * factor,
            increment=self.increment * factor,
            movetime=None if self.movetime is None else self.movetime * factor,
        )


def parse_control(text):
    """Reads a time control; ValueError says what is wrong with it."""
    limits = {}
    said = text[:60]
    for part in text.replace(",", " ").split():
        name, equals, value = part.partition("=")
        if equals:
            try:
                number = float(value) * 1000 if name == "movetime" else int(value)
            except ValueError:
                raise ValueError(f"time control '{said}': '{value[:60]}' is no number") from None
            if name not in ("movetime", "nodes", "depth"):
                raise ValueError(f"time control '{said}': '{name[:60]}' is none of movetime, nodes, depth")
            if not 0 < number <= _MOST[name]:
                raise ValueError(f"time control '{said}': {name} must be more than 0 and at most {_MOST[name]:,}")
            limits[name] = number
            continue
        match = _CLOCK.fullmatch(part)
        if match is None:
            raise ValueError(f"time control '{said}': '{part[:60]}' is neither base+increment nor moves/base+increment")
        moves, minutes, seconds, increment = match.groups()
        limits["base"] = 1000 * (60 * int(minutes or 0) + float(seconds))
        limits["increment"] = 1000 * float(increment or 0)
        limits["moves"] = int(moves) if moves else None
        if limits["base"] + limits["increment"] <= 0 or limits["moves"] == 0:
            raise ValueError(f"time control '{said}' leaves no time")
        if max(limits["base"], limits["increment"]) > 1000 * LONGEST_SECONDS or (limits["moves"] or 0) > _MOST["moves"]:
            raise ValueError(f"time control '{said}' has more than {LONGEST_SECONDS:,} seconds or moves")
    if not limits:
        raise ValueError("an empty time control")
    return Control(**limits)


class Clock:
    """The time of one side. Every number is in milliseconds."""

    def __init__(self, control, margin=0.0):
        self.control = control
        self.margin = margin
        self.left = control.base
        self.moves_to_go = control.moves

    def allowance(self):
        """The longest that the move may take, or None without a clock."""
        limits = []
        if self.left is not None:
            limits.append(self.left + self.margin)
        if self.control.movetime is not None:
            limits.append(self.control.movetime + self.margin)
        return min(limits) if limits else None

    def charge(self, elapsed):
        """Books a move that kept the time."""
        if self.left is None:
            return
        self.left = max(0.0, self.left - elapsed) + self.control.increment
        if self.moves_to_go is not None:
            self.moves_to_go -= 1
            if self.moves_to_go == 0:
                self.moves_to_go = self.control.moves
                self.left += self.control.base


def go_words(clocks, turn):
    """The words after `go` for the side to move (0 White, 1 Black)."""
    own = clocks[turn]
    control = own.control
    words = []
    if own.left is not None:
        # An opponent without a clock is shown the mover's own time: engines want both.
        sides = [clock if clock.left is not None else own for clock in clocks]
        white, black = (max(1, int(side.left)) for side in sides)
        words += ["wtime", str(white), "btime", str(black)]
        if any(side.control.increment for side in sides):
            words += ["winc", str(int(sides[0].control.increment)), "binc", str(int(sides[1].control.increment))]
        if own.moves_to_go is not None:
            words += ["movestogo", str(own.moves_to_go)]
    if control.movetime is not None:
        words += ["movetime", str(max(1, int(control.movetime)))]
    if control.nodes is not None:
        words += ["nodes", str(control.nodes)]
    if control.depth is not None:
        words += ["depth", str(control.depth)]
    return " ".join(words)
