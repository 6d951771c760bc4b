"""A process that plays games for a run, one after the other.

Each worker has its own interpreter, so that the games that run at once do not disturb each other's clocks. It reads
encounters as lines of JSON and writes what happens in the same way. The end of its input is the end of the run: it ends
its engines and leaves at once, so nothing survives a run that was killed.
"""

import json
import os
import queue
import sys
import threading
import traceback

from arena.containment import adopt_descendants
from arena.players import Players


class Worker:
    def __init__(self, source, sink):
        self.source = source
        self.sink = sink
        self.tasks = queue.SimpleQueue()
        self.players = Players(on_start=lambda pids: self.say("engines", pids=pids))

    def say(self, kind, **values):
        data = (json.dumps({"kind": kind, **values}, separators=(",", ":")) + "\n").encode()
        while data:
            data = data[os.write(self.sink, data) :]

    def listen(self):
        """In a thread of its own, so that the end is noticed in the middle of a game."""
        for line in self.source:
            self.tasks.put(json.loads(line))
        self.players.end_all()
        os._exit(0)

    def run(self):
        sys.setswitchinterval(0.0005)  # the thread that reads an engine must not wait for the one that writes a record
        threading.Thread(target=self.listen, daemon=True).start()
        while True:
            task = self.tasks.get()
            if task["cores"] is not None and hasattr(os, "sched_setaffinity"):
                os.sched_setaffinity(0, task["cores"])
            encounter = task["encounter"]
            encounter["engines"] = {int(index): values for index, values in encounter["engines"].items()}
            try:
                self.players.play(
                    encounter,
                    scale=task["scale"],
                    on_game=lambda record, log: self.say("game", record=record, log=log),
                    on_move=self.show_move if task["live"] else None,
                    on_warning=lambda text: self.say("warning", text=text),
                )
            except BaseException:
                self.say("error", text=traceback.format_exc())
                self.players.end_all()
                os._exit(1)
            self.say("done", encounter=encounter["number"])

    def show_move(self, plan, move, thought):
        self.say("move", game=plan["game"], players=plan["players"], move=move, thought=thought)


def main():
    # What a library prints must not get between the lines of JSON.
    sink = os.dup(1)
    os.dup2(2, 1)
    adopt_descendants()
    Worker(sys.stdin.buffer, sink).run()


if __name__ == "__main__":
    main()
