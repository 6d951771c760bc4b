"""What only the frozen program does when it starts: it puts its environment right and stays with its parent.

The directory build is one process and needs little. The single file is two: the first unpacks everything into a
temporary directory, starts the second there, waits for it, and cleans up. If somebody kills the first one outright (some
GUIs end engines so), the second would play on, and the directory would stay for ever.
"""

import os
import select
import signal
import sys
import threading

MAIN_LEVEL = "1"  # how the boot loader calls the process that it started; those that this one starts again count on


def prepare_process():
    """Called once, before anything else is done."""
    if unpacked_directory() is None:
        restore_environment()
    elif os.environ.get("_PYI_PARENT_PROCESS_LEVEL") == MAIN_LEVEL:
        follow_parent(clean_up_and_leave)


def restore_environment():
    """Other engines that a match starts must find their own libraries, not ours, and another Quetzal starts afresh.

    Not in the single file: what it starts of itself uses what is unpacked already, and finds it by these variables.
    """
    original = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    if original is not None:
        os.environ["LD_LIBRARY_PATH"] = original
    elif os.environ.get("LD_LIBRARY_PATH") == sys._MEIPASS:
        del os.environ["LD_LIBRARY_PATH"]
    for name in [name for name in os.environ if name.startswith("_PYI_")]:
        del os.environ[name]


def unpacked_directory():
    """Where the single file unpacked itself; None in the directory build, which lies where its program does."""
    directory = os.path.realpath(sys._MEIPASS)
    program = os.path.dirname(os.path.realpath(sys.executable))
    try:
        is_inside = os.path.commonpath((directory, program)) == program
    except ValueError:
        is_inside = False  # on another drive
    return None if is_inside else directory


def clean_up_and_leave():
    """At once: nobody is left who could be told anything."""
    import shutil

    shutil.rmtree(unpacked_directory(), ignore_errors=True)
    os._exit(1)


def follow_parent(act):
    """Calls `act` from a thread when the parent process has ended, however it ended."""
    wait = parent_waiter(os.getppid())
    if wait is None:
        return  # the end of the input has to do

    def follow():
        wait()
        act()

    thread = threading.Thread(target=follow, name="parent", daemon=True)
    if hasattr(signal, "pthread_sigmask"):
        # Threads inherit what is blocked. Signals are for the one that waits for them, and it comes later.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    else:
        thread.start()


def parent_waiter(parent):
    """A function that sleeps until that process ends, with what the system offers for it; None if it offers nothing."""
    try:
        if hasattr(os, "pidfd_open"):  # Linux 5.3
            descriptor = os.pidfd_open(parent)
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            return poll.poll
        if hasattr(select, "kqueue"):  # macOS
            changes = select.kqueue()
            ended = select.kevent(parent, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            changes.control([ended], 0, 0)
            return lambda: changes.control(None, 1)
        if sys.platform == "win32":
            import _winapi

            handle = _winapi.OpenProcess(0x00100000, False, parent)  # SYNCHRONIZE
            return lambda: _winapi.WaitForSingleObject(handle, _winapi.INFINITE)
    except OSError:
        pass  # an older system, or the parent is gone already
    return None
