"""An engine for the tests of the arena: it plays any legal move, or does wrong what its first argument says.

python scripted_engine.py MODE [FILE FOR ITS PROCESS NUMBER]
"""

import os
import random
import sys
import time

from board import Board

MODE = sys.argv[1]
if len(sys.argv) > 2:
    with open(sys.argv[2], "a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")


def wait_for_ever():
    while True:
        time.sleep(1)


def read_file(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def leave_session(pids, *, is_orphan):
    """A process in a session of its own, with our pipes open; an orphan's parent has ended already."""
    reader, writer = os.pipe()
    if os.fork():
        os.close(writer)
        if is_orphan:
            os.wait()
        return int(os.read(reader, 20))
    os.setsid()
    if is_orphan and os.fork():
        os._exit(0)
    os.write(writer, str(os.getpid()).encode())
    with open(pids, "a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    wait_for_ever()


HELPER = None
if MODE in ("daemons", "helped"):
    HELPER = leave_session(sys.argv[2], is_orphan=True)
    if MODE == "daemons":
        leave_session(sys.argv[2], is_orphan=False)

MANY = b"9" * 5000

# Lines before every move, in modes of which the move itself is good.
ABSURD = {
    "digits": [
        "info depth \u0665 score cp \u0661\u0662 nodes \u00b2".encode(),
        b"info depth " + MANY + b" score cp " + MANY + b" nodes " + MANY,
        b"info depth 5 multipv 1 score mate -" + MANY + b" nodes 7",
        b"info depth 5 multipv " + MANY + b" score cp 1",
    ],
    "mates": [b"info depth 5 score mate 2000000"],
    "text": [
        b"info depth 5 score cp 37",
        b"info string score cp -30000 nodes 3",
        b"info depth 3 \xff\xfe\xed\xa0\x80\x00 currmove \x1b]0;title\x07",
        b"\x00\x00",
        b"id name a\x0bb\x1cc",
        b"bestmov",
        b" " * 60_000,
    ],
}

rng = random.Random(1)
moves_made = 0
board = Board()


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def search(words):
    global moves_made
    moves_made += 1
    move = board.uci(rng.choice(board.legal_moves()))
    if MODE == "helped":
        with open(f"/proc/{HELPER}/stat", encoding="ascii") as file:  # it crashes where its helper has gone
            if file.read().rpartition(")")[2].split()[0] == "Z":
                os._exit(4)
    if MODE == "dies":
        os._exit(3)
    if MODE == "slow":
        time.sleep(3)
    if MODE == "calm":
        time.sleep(0.05)
    if MODE == "patient":  # until a chatty opponent has said all
        while not read_file(sys.argv[2]).endswith("chatted\n"):
            time.sleep(0.01)
    if MODE == "never" or (MODE == "never10" and moves_made == 10):
        wait_for_ever()
    if moves_made == 10:
        if MODE == "crash":
            sys.stderr.write("assertion failed: too many moves\n")
            sys.stderr.flush()
            os._exit(3)
        if MODE == "abort":
            os.abort()
        if MODE == "illegal":
            move = "e2e5"
        if MODE == "close":
            os.close(1)
            wait_for_ever()
        if MODE == "garbage":
            sys.stdout.buffer.write(b"bestmove \xff\xfe\x00<b>\n")
            sys.stdout.flush()
            return
        if MODE == "escape":
            sys.stdout.buffer.write(b"bestmove \x1b[2J}%{\r\x07\xe2\x80\xae; ponder \x00\n")
            sys.stdout.flush()
            return
        if MODE == "bulk":
            for _ in range(1500):
                sys.stdout.write("info string " + "y" * 50_000 + "\n")
            sys.stderr.write("z" * 5_000_000 + "\nthe last words\n")
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(3)
        if MODE == "mute":
            say("bestmove")
            return
    if MODE == "flood":
        block = "info depth 1 score cp 10 nodes 100 pv e2e4\n" * 500
        deadline = time.monotonic() + 0.05
        while time.monotonic() < deadline:
            sys.stdout.write(block)
        sys.stdout.write("x" * 3_000_000 + "\n")
    if MODE == "case":
        say(f"BestMove {move.upper()}")
        return
    if MODE in ABSURD:
        for line in ABSURD[MODE]:
            sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.write(b"bestmove " + move.encode() + b"\n")
        sys.stdout.flush()
        return
    score = -900 if MODE == "resigns" else 0 if MODE == "level" else 37
    say(f"info depth 5 seldepth 7 multipv 1 score cp {score} nodes 1234 nps 5000 pv {move}")
    say("info depth 5 multipv 2 score cp -999 nodes 1234 pv a2a3")
    if MODE == "ponders":
        board.push_uci(move)
        replies = board.legal_moves()
        say(f"bestmove {move}" + (f" ponder {board.uci(replies[0])}" if replies else ""))
    else:
        say(f"bestmove {move}")
    if MODE == "chatty":
        for _ in range(200):
            say("y" * 60_000)
        with open(sys.argv[2], "a", encoding="ascii") as file:
            file.write("chatted\n")


for line in sys.stdin:
    words = line.split()
    if MODE == "silent":
        continue
    if words == ["uci"]:
        say("id name Scripted")
        say("option name UCI_Chess960 type check default false")
        say("option name Hash type spin default 1 min 1 max 64")
        if MODE == "options":
            for number in range(100_000):
                say(f"option name Option{number} type combo default a" + " var abcdefgh" * 8)
        say("UCIOK" if MODE == "case" else "uciok")
    elif words == ["isready"]:
        say("readyok")
    elif words[:1] == ["ucinewgame"]:
        rng.seed(1)
        moves_made = 0
    elif words[:1] == ["position"]:
        where = words.index("moves") if "moves" in words else len(words)
        chess960 = words[1] == "fen" and words[4] not in ("KQkq", "-")
        board = (
            Board(chess960=chess960) if words[1] == "startpos" else Board(" ".join(words[2:where]), chess960=chess960)
        )
        for move in words[where + 1 :]:
            board.push_uci(move)
    elif words[:2] == ["go", "ponder"]:
        pass  # answers when the guess was right, or at stop
    elif words[:1] in (["go"], ["ponderhit"]):
        search(words)
    elif words == ["stop"]:
        if MODE == "ponders":
            say("bestmove a1a1")
    elif words == ["quit"] and MODE != "never":
        break
if MODE == "never":
    wait_for_ever()
