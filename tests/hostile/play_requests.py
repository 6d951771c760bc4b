"""What no page would ask the program behind `quetzal play`, from a seed: it answers in words, and its game stays sound.

python tests/hostile/play_requests.py [--seed N] [--seconds S] [--keep DIR] | --replay FILE
"""

import contextlib
import http.client
import json
import random
import sys
import tempfile
import threading
import time

import chess
from fuzzing import KEEP, cases, command_line, keep_failure, kept_failure

from play.pages import PlayServer
from play.session import Session
from play.storage import Store
from web.server import TOKEN_HEADER

ANSWER_SECONDS = 20.0
MOST_THREADS = 40
EXPECTED = {200, 400, 403, 404, 413, 415, 422}

PATHS = (
    "game/new", "game/open", "game/delete", "game/move", "game/take-back", "game/resign", "game/offer-draw",
    "game/claim-draw", "game/hint", "analysis/start", "analysis/stop", "engine", "position", "pgn/list", "pgn/read",
    "pgn/write", "review/start", "review/stop", "inside/iterations", "inside/stop", "inside/tree", "inside/children", "x",
)  # fmt: skip
FENS = (
    chess.STARTING_FEN, "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "k7/8/8/8/8/8/8/K7 w - - 0 1", "8/8/8/8/8/8/8/8 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", "x", "", "/" * 300,
    "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/8/8/k7/8/7K w - - 0 1", "4k3/8/8/8/8/8/8/4K3 w KQkq e3 -1 99999",
)  # fmt: skip
MOVES = (
    "e2e4",
    "e7e5",
    "g1f3",
    "e4",
    "O-O",
    "Nf3",
    "0000",
    "--",
    "e2e9",
    "a7a8q",
    "e1g1",
    "",
    "x" * 500,
    "\x00",
    "\u2654",
)
PGNS = (
    "1. e4 e5 2. Nf3", "[FEN \"x\"]\n\n1. e4", "[Variant \"Chess960\"]\n\n1. e4 *", "(" * 3000, "{" * 3000, "1. e4 " + "(1. d4) " * 500,
    "", "\x00", "[White \"</script><script>alert(1)</script>\"]\n\n1. e4 {</script>}", "1. e4 ; x\n e5 $999 $-1 1-0 1-0",
    "[Event \"a\"]\n" * 2000, "%\n" * 5000, "1. -- e5", "[Variant \"Antichess\"]\n\n1. e4",
)  # fmt: skip
ODD = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    3,
    800,
    3000,
    10**12,
    10**30,
    0.5,
    1e308,
    "",
    "x",
    [],
    {},
    [[]],
    [1],
    {"a": 1},
    "\ud800",
)
NAMES = (
    "fen", "chess960", "person", "level", "book", "control", "moves", "id", "move", "ply", "lines", "nodes", "threads", "hash",
    "pgn", "headers", "comment", "nodes_per_move", "depth", "technique", "number", "node",
)  # fmt: skip


def make_value(rng, name):
    if rng.random() < 0.25:
        return rng.choice(ODD)
    if name == "fen":
        return rng.choice(FENS)
    if name == "move":
        return rng.choice(MOVES)
    if name == "moves":
        return rng.choices(MOVES, k=rng.choice((0, 1, 2, 5)))
    if name == "pgn":
        return rng.choice(PGNS)
    if name == "control":
        return rng.choice(([1000, 0], [60_000, 1000], [0, 0], [1], [10**12, 10**12], ["a", "b"]))
    if name == "nodes" and rng.random() < 0.7:
        return [
            [rng.randrange(-2, 4), rng.choice(MOVES), rng.choice(("", "a}b{", 5)), [rng.choice(ODD)]] for _ in range(4)
        ]
    if name == "technique":
        return rng.choice(("minimax", "alphabeta-bad", "alphabeta-good", "engine", "x"))
    if name in ("threads", "hash", "depth", "lines"):
        return rng.choice((1, 2, 3))  # sound ones: they are to cost little
    return rng.choice((0, 1, 2, 800, 5000))


def make_request(rng):
    """Path and fields; the latter as JSON text, so that it can be kept."""
    fields = {name: make_value(rng, name) for name in rng.sample(NAMES, rng.choice((0, 1, 3, 6)))}
    path = rng.choice(PATHS)
    if path == "inside/tree":
        fields["depth"] = rng.choice((1, 2, 99))
    if path == "review/start":
        fields["nodes_per_move"] = rng.choice((1000, 5, "x"))
    return path, json.dumps(fields)


class Site:
    """The program with a page, as `quetzal play` starts it."""

    def __init__(self):
        self.directory = tempfile.TemporaryDirectory()
        self.page = PlayServer(Session(Store(self.directory.name)), 0)
        self.page.start()
        self.start = "/" + self.page.address.split("/", 3)[3]

    def close(self):
        self.page.close()
        self.directory.cleanup()

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.page.server.port, timeout=ANSWER_SECONDS)
        headers = {"Content-Type": "application/json", TOKEN_HEADER: self.page.server.token}
        with contextlib.closing(connection):
            connection.request(method, self.start + path, body, headers)
            reply = connection.getresponse()
            return reply.status, reply.read()


def check_game(game):
    """The rules of python-chess, from the start position of the game."""
    board = chess.Board(game["fen"], chess960=game["chess960"])
    for move in game["moves"]:
        board.push(board.parse_uci(move))
    assert (game["points"] is None) == (game["reason"] == ""), "a result without a reason"


def problem_with(site, path, body):
    """What is wrong after a request, or None."""
    try:
        began = time.monotonic()
        status, answer = site.ask("POST", path, body)
        assert status in EXPECTED, f"status {status}"
        assert b"Traceback" not in answer, "a traceback"
        if status == 422:
            assert json.loads(answer)["problem"], "no reason"
        status, answer = site.ask("GET", "state.json")
        assert status == 200, f"status {status} for the state"
        state = json.loads(answer)
        if state["game"] is not None:
            check_game(state["game"])
        for kind in ("games.json", "review.json", "iterations.json"):
            status, answer = site.ask("GET", kind)
            assert status == 200, f"status {status} for {kind}"
            json.loads(answer)
        assert time.monotonic() - began < ANSWER_SECONDS, "slow"
        assert threading.active_count() < MOST_THREADS, f"{threading.active_count()} threads"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def case_of(case):
    return make_request(random.Random(case))


def replay(path):
    """Sends a kept request again, to a program that has seen no other; what is still wrong, or None."""
    kept = kept_failure(path)
    if "body" not in kept:
        kept["path"], kept["body"] = case_of(kept["case"])
    site = Site()
    try:
        return problem_with(site, kept["path"], kept["body"])
    finally:
        site.close()


def run(seed, seconds, keep=KEEP, most=None):
    """Sends requests until the time is over, or so many; counts of requests, games begun and problems."""
    counts = {"requests": 0, "accepted": 0, "problems": 0}
    site = Site()
    try:
        for case in cases("play", seed, seconds, keep, most):
            path, body = case_of(case)
            counts["requests"] += 1
            before = site.page.session.version
            problem = problem_with(site, path, body)
            counts["accepted"] += site.page.session.version != before
            if problem is not None:
                counts["problems"] += 1
                keep_failure(keep, f"play-{case}", problem, path=path, body=body)
    finally:
        site.close()
    return counts


if __name__ == "__main__":
    sys.exit(command_line(__doc__.splitlines()[0], run, replay))
