"""An engine that does everything wrong, for the tests of `quetzal uci-check`. It can still be greeted."""

import sys
import time

print("BadEngine 1.0, welcome!", flush=True)
for line in sys.stdin:
    words = line.split()
    if line == "uci\n":
        print("id name BadEngine ")
        print("option name Hash type spin default 16")
        print("option name Log type string default")
        print("option name MultiPV type spin default 1 min 1 max 4")
        print("option name UCI_ShowWDL type check default false")
        print("option name UCI_LimitStrength type check default false")
        print("option name UCI_Elo type spin default 1500")
        print("uciok", flush=True)
    elif line == "isready\n":
        print("readyok", flush=True)
    elif words[:1] == ["go"]:
        print("info depth 1  score -368 nps 1.5 pv e2e5", flush=True)
        print("bestmove E2E5", flush=True)
    elif words[:1] == ["stop"]:
        print("bestmove h1h1", flush=True)
    elif words[:1] == ["position"]:
        if words[1:2] != ["startpos"]:
            sys.exit(3)
    elif line == "quit\n":
        break
# Neither `quit` nor the end of the input ends it in time, and waiting costs a processor.
deadline = time.monotonic() + 6
while time.monotonic() < deadline:
    pass
sys.exit(1)
