"""Thinks for pages and terminals: the same Engine that the UCI process has, asked for one thing at a time.

There is one engine and there are several wishes: the move of a game, a hint, the analysis of a position. Each has a place
of its own where the newest wish replaces an older one; a move comes before a hint, and both before analysis, which goes
on when they are done.
"""

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from uci_engine.engine import Engine
from uci_engine.go import GoParameters
from uci_engine.report import parse_info

KINDS = ("move", "hint", "analysis")  # the most urgent first


class Wish(NamedTuple):
    """What to search. `options` are engine options as text; those not named here get their defaults.

    `on_info` gets the fields of each line as a dict, `on_end` the move in UCI's notation, or None where there is none.
    Both are called by other threads. With `is_fresh` nothing that was learned before is used.
    """

    fen: str
    moves: tuple
    options: dict
    parameters: GoParameters
    on_info: Callable
    on_end: Callable
    is_fresh: bool = False


def most_urgent(wishes):
    """Of wishes by their kinds, or None where there is none."""
    return next((wishes[kind] for kind in KINDS if kind in wishes), None)


class Lines:
    """Takes what the engine writes; `log` is what the engine's own writer has, too."""

    log = None

    def __init__(self, say):
        self.say = say
        self.wish = None
        self.best = None

    def __call__(self, line):
        words = line.split()
        if words[:2] == ["info", "string"]:
            self.say(line.removeprefix("info string "))
        elif words[0] == "info" and "score" in words:
            if self.wish is not None:
                self.wish.on_info(parse_info(words))
        elif words[0] == "bestmove":
            self.best = None if words[1] == "(none)" else words[1]


class Thinker:
    """Runs a thread that grants wishes. `settings` are options for every wish; `say` takes what the engine says."""

    def __init__(self, settings=None, say=lambda _: None):
        self._settings = dict(settings or {})
        self._lines = Lines(say)
        self.engine = Engine(self._lines)
        self._say = say
        self._condition = threading.Condition()
        self._wishes = {}
        self._current = None
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="thinker", daemon=True)
        self._thread.start()

    def ask(self, kind, wish):
        """Replaces the wish of this kind; what it replaces ends without a word."""
        with self._condition:
            self._wishes[kind] = wish
            self._interrupt()

    def cancel(self, kind):
        with self._condition:
            self._wishes.pop(kind, None)
            self._interrupt()

    def change(self, settings):
        """Other settings for what comes; what is being thought about begins again with them."""
        with self._condition:
            self._settings.update(settings)
            if self._current is not None:
                self._current = None
                self.engine.stop()

    def close(self):
        with self._condition:
            self._is_closing = True
            self._wishes.clear()
            self._interrupt()
        self._thread.join()
        self.engine.close()

    def _first(self):
        return most_urgent(self._wishes)

    def _interrupt(self):
        """Stops the engine if it thinks about what is no longer the most urgent wish."""
        if self._current is not None and self._current is not self._first():
            self._current = None
            self.engine.stop()
        self._condition.notify_all()

    def _run(self):
        try:
            self.engine.get_ready()  # so that no clock pays for it
            self.engine.opening.ready()
        except Exception as error:
            self._say(f"{type(error).__name__}: {error}")
        while True:
            with self._condition:
                while self._first() is None and not self._is_closing:
                    self._condition.wait()
                if self._is_closing:
                    return
                wish = self._current = self._first()
                settings = dict(self._settings)
            try:
                self._grant(wish, settings)
            except Exception as error:
                self._say(f"{type(error).__name__}: {error}")
                self._lines.best = None
            with self._condition:
                if self._current is not wish:
                    continue  # interrupted: it is asked again if it is still wanted
                self._current = None
                for kind in [kind for kind, each in self._wishes.items() if each is wish]:
                    del self._wishes[kind]
            try:
                wish.on_end(self._lines.best)
            except Exception as error:  # the next wish must not wait for ever
                self._say(f"{type(error).__name__}: {error}")

    def _grant(self, wish, settings):
        engine, arrived, ended = self.engine, time.monotonic(), threading.Event()
        prepare(engine, wish, settings)
        self._lines.best = None
        self._lines.wish = wish
        # Not while the condition is held: what the engine writes at once goes to callbacks, which may wait for others.
        engine.go(wish.parameters, ended.set, arrived)
        with self._condition:
            if self._current is not wish:  # an earlier stop came before there was anything to stop
                engine.stop()
        ended.wait()
        self._lines.wish = None


def prepare(engine, wish, settings):
    """Gives the engine the options and the position of a wish; `settings` are options for every wish."""
    wanted = settings | wish.options
    # Before the position: how castling is read depends on one of them.
    for option in engine.options:
        if option.kind == "button" or option.name in ("Debug Log File", "UCI_EngineAbout"):
            continue
        value = option.parse(wanted[option.name]) if option.name in wanted else option.default
        if engine.values[option.name] != value:
            engine.set_option(option.name, wanted.get(option.name, _text(option.default)))
    if wish.is_fresh:
        engine.new_game()
    engine.set_position(wish.fen, wish.moves)


def _text(value):
    return str(value).lower() if isinstance(value, bool) else str(value)
