"""What a run is made of: engines, rules, openings. All of it can be written to JSON and read back."""

import dataclasses
import re

from arena.control import parse_control


@dataclasses.dataclass
class EngineSettings:
    """One engine: how it is started, what it is told, how long it may think."""

    name: str
    command: list[str]
    control: str
    options: dict[str, str] = dataclasses.field(default_factory=dict)
    ponder: bool = False
    restart: bool = False  # a new process for every game
    directory: str | None = None  # working directory
    rating: float | None = None  # a known rating, which anchors the others'

    def parsed_control(self):
        return parse_control(self.control)

    @property
    def threads(self):
        """Processors that it uses while it thinks, by its option Threads."""
        for name, value in self.options.items():
            if name.lower() == "threads" and re.fullmatch("[0-9]{1,9}", value):
                return max(1, int(value))
        return 1


@dataclasses.dataclass
class Rules:
    """What holds for every game of a run. Scores in centipawns, times in milliseconds unless seconds are named."""

    chess960: bool = False
    resign_score: int | None = None
    resign_moves: int = 3
    resign_both: bool = False  # the winner must agree
    draw_score: int | None = None
    draw_moves: int = 8
    draw_from: int = 40
    most_moves: int | None = None
    syzygy: str | None = None
    margin: float | None = None  # beyond the clock; by default nothing, with movetime 100
    startup_seconds: float = 10.0
    ping_seconds: float = 10.0
    move_seconds: float = 300.0  # for moves without a clock


def as_dict(settings):
    return dataclasses.asdict(settings)


def engine_from(values):
    return EngineSettings(**values)


def rules_from(values):
    return Rules(**values)
