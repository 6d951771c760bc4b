"""The report page while games run, over HTTP. It shows this run and nothing else, and takes no commands."""

import http
import re
import threading
import time

from arena.engine import centipawns
from arena.errors import InputError
from arena.report import GAMES_WITH_MOVES, compact, compact_games, frame, overview, page, without_moves
from web.page import json_text
from web.server import HTML, JSON, Answer, Server, refusal

_BOARD_SECONDS = 0.2
_GAME_SECONDS = 0.5
_RENDERING_SHARE = 0.05  # of the run's time at most: an overview of many games takes long
_ANSWER_BYTES = 1_000_000


def encode(data):
    return json_text(data).encode()


class Snapshot:
    """What the page shows, as bytes that are ready to be sent: written by the run, read by the server's threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.page = b""
        self.games = []  # as (with moves, without), the first None when there are newer ones enough
        self.overview = b"{}"  # of exactly these games
        self.running = b"[]"
        self.is_over = False

    def publish(self, new_games, overview):
        rendered = [(encode(game) if "m" in game else None, encode(without_moves(game))) for game in new_games]
        overview = encode(overview)
        with self.lock:
            self.overview = overview
            for each in rendered:
                self.games.append(each)
                if len(self.games) > GAMES_WITH_MOVES:
                    self.games[-GAMES_WITH_MOVES - 1] = (None, self.games[-GAMES_WITH_MOVES - 1][1])

    def news(self, known):
        """What has changed for a page that knows so many games. Whoever is far behind gets a part and asks again."""
        with self.lock:
            parts, size = [], 0
            for full, short in self.games[known:]:
                game = full or short
                if parts and size + len(game) > _ANSWER_BYTES:
                    break
                parts.append(game)
                size += len(game)
            all_there = b"true" if known + len(parts) >= len(self.games) else b"false"
            over = b"true" if self.is_over else b"false"
            overview, running = self.overview, self.running
        return b'{"overview":%b,"running":%b,"over":%b,"complete":%b,"games":[%b]}' % (
            overview,
            running,
            over,
            all_there,
            b",".join(parts),
        )

    def answer(self, path, query):
        if path == "/":
            return Answer(self.page, HTML)
        if path == "/state.json":
            known = query.get("games", ["0"])[-1]
            if not re.fullmatch(r"[0-9]{1,9}", known, re.ASCII):
                return refusal(http.HTTPStatus.BAD_REQUEST, "games must be a number")
            return Answer(self.news(int(known)), JSON)
        return None


def boards(run):
    """The games that are being played."""
    found = []
    for game in run.live.games.values():
        scores, clocks = [None, None], [None, None]
        for index, thought in enumerate(game["thoughts"]):
            side = (index + game["offset"]) % 2
            clocks[side] = thought.get("left")
            score = centipawns(thought)
            scores[side] = score if score is None or side == 0 else -score
        found.append(
            {
                "game": game["game"] + 1,
                "players": game["players"],
                "fen": game["fen"],
                "moves": list(game["moves"]),
                "scores": scores,
                "clocks": clocks,
            }
        )
    return sorted(found, key=lambda each: each["game"])


class LiveView:
    """Serves the page; told of everything like the display on the terminal.

    Everything is rendered here, between two events of the run, and never while somebody waits for an answer.
    """

    def __init__(self, port, host="127.0.0.1"):
        self.snapshot = Snapshot()
        try:
            self.server = Server(port, self.snapshot.answer, host)
        except (OSError, ValueError) as error:
            raise InputError(f"the page cannot be served on {host}:{port}: {error}") from None
        self.address = self.server.address
        self.new_games = []
        self.boards_due = 0.0
        self.games_due = 0.0

    def begin(self, run):
        self.new_games = compact_games(run.journal)
        latest = self.publish(run)
        data = {**frame(run), **latest, "games": [], "running": [], "live": True, "over": False}
        self.snapshot.page = page(data).encode()
        self.server.start()

    def warning(self, text):
        pass

    def game(self, run, record):
        self.new_games.append(compact(record, run.journal.description["rules"]["chess960"]))

    def update(self, run):
        now = time.monotonic()
        if now >= self.boards_due:
            self.boards_due = now + _BOARD_SECONDS
            self.snapshot.running = encode(boards(run))
        if self.new_games and now >= self.games_due:
            self.publish(run)

    def publish(self, run):
        began = time.monotonic()
        latest = overview(run)
        self.snapshot.publish(self.new_games, latest)
        self.new_games = []
        ended = time.monotonic()
        self.games_due = ended + max(_GAME_SECONDS, (ended - began) / _RENDERING_SHARE)
        return latest

    def end(self, run, complete):
        self.publish(run)
        self.snapshot.running = b"[]"
        self.snapshot.is_over = True

    def close(self):
        self.server.close()
