"""Quetzal inside a browser: the program behind a page that has neither a server nor threads.

A Web Worker (play/page/browser_worker.js) hands `Program` what the page asks for, and then lets it `work`. The search runs in
that call, where other systems have a thread for it: requests that come meanwhile are heard when it is over.
"""

import json
import time

from play.session import Session
from play.thinker import Lines, most_urgent, prepare
from uci_engine.engine import Engine


class LoneEngine(Engine):
    """An engine without threads: `go` comes back when its move is written."""

    def begin(self, limits, reporter):
        reporter.on_result(self.searcher.think(self.board, limits, reporter))


class LoneThinker:
    """What a session needs of a `Thinker`, but wishes wait for `work`. They must have an end: nobody could stop them."""

    def __init__(self, settings=None, say=lambda _: None):
        self._settings = dict(settings or {})
        self._say = say
        self._lines = Lines(say)
        self.engine = LoneEngine(self._lines)
        self._wishes = {}

    def ask(self, kind, wish):
        self._wishes[kind] = wish

    def cancel(self, kind):
        self._wishes.pop(kind, None)

    def close(self):
        self._wishes.clear()
        self.engine.close()

    def get_ready(self):
        self.engine.get_ready()

    def work(self):
        """Grants the most urgent wish; False if there was none."""
        wish = most_urgent(self._wishes)
        if wish is None:
            return False
        self._wishes = {kind: each for kind, each in self._wishes.items() if each is not wish}
        self._lines.best, self._lines.wish = None, wish
        try:
            prepare(self.engine, wish, self._settings)
            self.engine.go(wish.parameters, lambda: None, time.monotonic())
        except Exception as error:
            self._say(f"{type(error).__name__}: {error}")
        self._lines.wish = None
        wish.on_end(self._lines.best)
        return True


class NoStore:
    """Keeps no games: the page remembers the one that is being played."""

    def names(self):
        return []

    def save(self, record):
        pass


class Program:
    """One person's session. `tell` takes messages for the page, JSON texts: answers, and the state when it has changed."""

    def __init__(self, tell):
        self._tell = tell
        self._told = None
        self.session = Session(NoStore(), thinker=LoneThinker)
        self.session.thinker.get_ready()
        self._requests = self.session.requests() | {"game/new": self._new_game, "game/pgn": self._pgn}

    def _new_game(self, data):
        """Without a clock, whose flag would need a thread to fall."""
        self.session.new_game(data | {"control": None})

    def _pgn(self, _):
        if self.session.game is None:
            raise ValueError("there is no game")
        return {"pgn": self.session.game.pgn()}

    def ask(self, text):
        """Answers a request, {"id": …, "path": …, "body": …}. Whatever is wrong with it is said in the answer."""
        answer = {"kind": "answer", "id": None}
        try:
            request = json.loads(text)
            if not isinstance(request, dict) or not isinstance(request.get("body"), dict):
                raise ValueError("this is no request")
            answer["id"] = request.get("id")
            action = self._requests.get(str(request.get("path")))
            if action is None:
                raise ValueError("there is no such request")
            answer["answer"] = action(request["body"]) or {}
        except Exception as error:  # the page waits for an answer, whatever it has asked for
            answer["problem"] = str(error) or type(error).__name__
        self._tell(json.dumps(answer))
        self._tell_state()

    def work(self):
        """Does what takes time, one thing at a time; False if there was nothing to do."""
        has_worked = self.session.thinker.work()
        self._tell_state()
        return has_worked

    def _tell_state(self):
        if self._told != self.session.version:
            self._told = self.session.version
            self._tell(json.dumps({"kind": "state", "state": self.session.state()}))
