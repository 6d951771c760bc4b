"""An engine that keeps to the protocol and to nothing else, for the tests of `quetzal uci-check`."""

import sys

import chess

print("PlainEngine 1.0", flush=True)
board = chess.Board()
waiting = False
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]:
        print("id name PlainEngine\nid author nobody\nuciok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:
        end = words.index("moves") if "moves" in words else len(words)
        board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:end]))
        for move in words[end + 1 :]:
            board.push_uci(move)
    elif words[:1] == ["go"]:
        print("info depth 0 score cp 0 nodes 0", flush=True)
        waiting = True
    if waiting and words[:1] in (["go"], ["stop"]) and "infinite" not in words:
        print(f"bestmove {next(iter(board.legal_moves)).uci()}", flush=True)
        waiting = False
    elif words[:1] == ["quit"]:
        break
