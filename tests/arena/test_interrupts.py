"""The first request to end is noted, the second is an exception; nothing of it stays behind."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from arena.interrupts import Interrupt

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals are POSIX's")


def run(program):
    """The output of a program in a process of its own, which sends signals to itself."""
    head = (
        "import os, signal, time\nfrom arena.interrupts import Interrupt\n"
        "def send(name): os.kill(os.getpid(), getattr(signal, name))\n"
    )
    done = subprocess.run([sys.executable, "-c", head + program], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_the_first_request_is_noted_and_the_second_ends_at_once(name):
    program = f"""
signal.signal(signal.{name}, signal.default_int_handler)  # whatever the one who started us ignores
with Interrupt() as interrupt:
    interrupt.check()
    print(interrupt.is_requested)
    send("{name}")
    print(interrupt.is_requested, interrupt.signal == signal.{name})
    try:
        interrupt.check()
    except KeyboardInterrupt:
        print("checked")
    try:
        send("SIGINT" if "{name}" != "SIGINT" else "{name}")
        time.sleep(60)
    except KeyboardInterrupt:
        print("ended")
print(signal.getsignal(signal.{name}) is signal.default_int_handler)
"""
    program = "signal.signal(signal.SIGINT, signal.default_int_handler)\n" + program
    assert run(program) == ["False", "True", "True", "checked", "ended", "True"]


def test_what_is_ignored_stays_ignored():
    """As under nohup, or in the background of a shell."""
    program = """
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with Interrupt() as interrupt:
    send("SIGHUP")
    print(interrupt.is_requested)
"""
    assert run(program) == ["False"]


def test_another_thread_hears_nothing_and_disturbs_nothing():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work():
        with Interrupt() as interrupt:
            seen.append(interrupt.is_requested)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
    assert signal.getsignal(signal.SIGINT) is before
