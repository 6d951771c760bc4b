"""The page for playing and analysing: what it asks for, and the server behind it."""

import contextlib
import http
import json
import secrets

from book.endgame.syzygy import Tables
from book.endgame.table_paths import shipped_directories, split_path
from play.explain import position_facts
from play.pgn_tree import game_of, list_games, nodes_of, read_game
from play.session import Session
from play.study import Study
from uci_engine import __version__
from web.page import assemble, json_text, part
from web.server import HTML, JSON, PGN, Answer, Server, refusal

PORT = 8060  # if it is free and no other was asked for
BODY_BYTES = 4_000_000  # of what a page may send: a PGN collection of a few thousand games

_SCRIPTS = ("words", "requests", "tree", "game", "games", "analysis", "review", "inside", "main")


def page_text(token):
    """The page, with the token that its requests carry."""
    script = "\n".join([part("web", "assets/interactive.js"), *(part("play", f"page/{name}.js") for name in _SCRIPTS)])
    data = {"token": token, "version": __version__}
    return assemble("Quetzal", part("play", "page/body.html"), part("play", "page/page.css"), script, data)


def encode(data):
    return Answer(json_text(data).encode(), JSON)


class PlayServer:
    """Serves one session. `port` None takes PORT, or any other that is free."""

    def __init__(self, session=None, port=None, host="127.0.0.1", syzygy_path=""):
        self.session = session or Session()
        directories = split_path(syzygy_path) or shipped_directories()
        self.tables = Tables(directories, on_problem=self.session.say)
        self.study = Study(self.session.note, self.tables, syzygy_path)
        self._start = secrets.token_hex(4)
        self.server = self._listen(port, host)
        self.address = self.server.address
        self._page = page_text(self.server.token).encode()
        self._changes = {
            **{f"/{name}": action for name, action in self.session.requests().items()},
            "/game/open": lambda data: self.session.open_game(data.get("id")),
            "/game/delete": lambda data: self.session.delete_game(data.get("id")),
            "/analysis/start": lambda data: self.session.analyse(data),
            "/analysis/stop": lambda _: self.session.stop_analysis(),
            "/engine": lambda data: self.session.set_engine(data),
            "/position": lambda data: position_facts(data, self.tables),
            "/review/start": self.study.review,
            "/review/stop": lambda _: self.study.background.cancel("review"),
            "/inside/iterations": self.study.iterate,
            "/inside/stop": lambda _: self.study.background.cancel("iterations"),
            "/inside/tree": self.study.record,
            "/inside/children": self.study.children,
            "/pgn/list": self._list_games,
            "/pgn/read": self._read_game,
            "/pgn/write": lambda data: {"pgn": f"{game_of(data)}\n"},
        }

    def _listen(self, port, host):
        more = {"change": self.change, "secret": self.session.store.secret(), "body_bytes": BODY_BYTES}
        if port is None:
            with contextlib.suppress(OSError):
                return Server(PORT, self.answer, host, **more)
            port = 0
        return Server(port, self.answer, host, **more)

    def start(self):
        self.server.start()

    def close(self):
        self.server.close()
        self.study.close()
        self.session.close()

    def answer(self, path, query):
        if path == "/":
            return Answer(self._page, HTML)
        if path == "/state.json":
            return encode(self._news(query.get("since", [""])[-1]))
        if path in ("/review.json", "/iterations.json"):
            return encode(self.study.result(path[1:].removesuffix(".json")) or {})
        if path == "/games.json":
            return encode(self.session.games())
        if path == "/game.pgn":
            try:
                return Answer(self.session.pgn(query.get("id", [""])[-1]).encode(), PGN)
            except ValueError as error:
                return refusal(http.HTTPStatus.NOT_FOUND, str(error))
        return None

    def _news(self, known):
        """The state, unless the page has it. Versions of another start of the program are others, whatever they count."""
        if known == f"{self._start}-{self.session.version}":
            return {}
        state = self.session.state()
        return {**state, "tasks": self.study.state(), "version": f"{self._start}-{state['version']}"}

    def change(self, path, data):
        """Does what the page asks for. What is wrong with it is the person's to know, in words."""
        action = self._changes.get(path)
        if action is None:
            return None
        try:
            return encode(action(data) or {})
        except (ValueError, TypeError, OverflowError) as error:
            text = json.dumps({"problem": str(error) or type(error).__name__}).encode()
            return Answer(text, JSON, http.HTTPStatus.UNPROCESSABLE_ENTITY)
        except OSError as error:
            text = json.dumps({"problem": f"the disk refuses: {error.strerror or error}"}).encode()
            return Answer(text, JSON, http.HTTPStatus.INSUFFICIENT_STORAGE)

    def _list_games(self, data):
        text = data.get("pgn")
        if not isinstance(text, str):
            raise ValueError("there is no PGN")
        games = list_games(text)
        if not games:
            raise ValueError("there is no game in this text")
        return {"games": [{"place": place, "headers": headers} for place, headers in games]}

    def _read_game(self, data):
        text = data.get("pgn")
        if not isinstance(text, str):
            raise ValueError("there is no PGN")
        game, problems = read_game(text)
        return {**nodes_of(game), "problems": problems[:5]}
