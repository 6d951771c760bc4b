"""The report page while games run, over HTTP. It shows this run and nothing else, and takes no commands."""

import http.server
import json
import socketserver
import threading
import time
from urllib.parse import parse_qs, urlsplit

from arena.errors import InputError
from arena.report import GAMES_WITH_MOVES, WITH_MOVES, compact, compact_games, frame, overview, page

_SHOW_SECONDS = 0.2
_LOCAL = ("localhost", "127.0.0.1", "::1")
_POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"


class LiveState:
    """What the page shows, filled by the run and read by the server's threads."""

    def __init__(self):
        self.lock = threading.Lock()
        self.frame = {}
        self.overview = {}
        self.games = []
        self.running = []
        self.is_over = False

    def begin(self, run):
        games = compact_games(run.journal)
        with self.lock:
            self.frame = frame(run)
            self.overview = overview(run)
            self.games = games

    def add(self, run, record):
        game = compact(record, run.journal.description["rules"]["chess960"])
        latest = overview(run)
        with self.lock:
            self.games.append(game)
            self.overview = latest
            if len(self.games) > GAMES_WITH_MOVES:
                for name in WITH_MOVES:
                    self.games[-GAMES_WITH_MOVES - 1].pop(name, None)

    def show(self, run):
        """The boards of the games that are being played."""
        running = []
        for game in run.live.games.values():
            scores, clocks = [None, None], [None, None]
            for index, thought in enumerate(game["thoughts"]):
                side = (index + game["offset"]) % 2
                clocks[side] = thought.get("left")
                score = thought.get("score") if "mate" not in thought else None
                scores[side] = score if score is None or side == 0 else -score
            running.append(
                {
                    "game": game["game"],
                    "players": game["players"],
                    "fen": game["fen"],
                    "moves": list(game["moves"]),
                    "scores": scores,
                    "clocks": clocks,
                }
            )
        with self.lock:
            self.running = sorted(running, key=lambda each: each["game"])

    def end(self):
        with self.lock:
            self.is_over = True
            self.running = []

    def page_data(self):
        with self.lock:
            rest = {"running": self.running, "live": True, "over": self.is_over}
            return {**self.frame, **self.overview, "games": [dict(game) for game in self.games], **rest}

    def news(self, known):
        """What has changed for a page that knows so many games."""
        with self.lock:
            return {
                **self.overview,
                "games": [dict(game) for game in self.games[known:]],
                "running": self.running,
                "over": self.is_over,
            }


class Handler(http.server.BaseHTTPRequestHandler):
    server_version = "quetzal"
    sys_version = ""

    def do_GET(self):
        if not self.is_meant_for_us():
            self.send_error(403, "wrong host")
            return
        address = urlsplit(self.path)
        if address.path == "/":
            self.answer("text/html; charset=utf-8", page(self.server.state.page_data()))
        elif address.path == "/state.json":
            known = parse_qs(address.query).get("games", ["0"])[0]
            known = int(known) if known.isdigit() and len(known) < 10 else 0
            self.answer("application/json", json.dumps(self.server.state.news(known), separators=(",", ":")))
        else:
            self.send_error(404)

    def is_meant_for_us(self):
        """A page from elsewhere must not read this one by giving its own name our address."""
        if not self.server.is_local:
            return True
        host = self.headers.get("Host", "")
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        return name.strip("[]").lower() in _LOCAL

    def answer(self, kind, text):
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """The terminal belongs to the table."""


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request, client_address):
        """A browser that goes away in the middle of an answer is nothing to report."""


class LiveView:
    """Serves the page; told of everything like the display on the terminal."""

    def __init__(self, port, host="127.0.0.1"):
        self.state = LiveState()
        try:
            self.server = Server((host, port), Handler)
        except (OSError, OverflowError) as error:
            raise InputError(f"the page cannot be served on {host}:{port}: {error}") from None
        self.server.state = self.state
        self.server.is_local = host in _LOCAL
        self.address = f"http://{host}:{self.server.server_address[1]}/"

        self.thread = None
        self.shown = 0.0

    def begin(self, run):
        self.state.begin(run)
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def warning(self, text):
        pass

    def game(self, run, record):
        self.state.add(run, record)

    def update(self, run):
        if time.monotonic() - self.shown >= _SHOW_SECONDS:
            self.shown = time.monotonic()
            self.state.show(run)

    def end(self, run, complete):
        self.state.end()

    def close(self):
        if self.thread is not None:
            self.server.shutdown()
        self.server.server_close()
