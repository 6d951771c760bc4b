"""What `make windows` has made, and how tests start it: under wine, as Windows would."""

import subprocess

import windows

DIRECTORY = windows.PLACE / "dist" / windows.NAME
PROGRAM = DIRECTORY / "quetzal.exe"
SINGLE = windows.PLACE / "dist" / f"{windows.NAME}.exe"
PYTHON = windows.PYTHON / "python.exe"
FORMS = {"directory": PROGRAM, "single file": SINGLE}
SLOW = 600


def quetzal(*words, program=PROGRAM, timeout=SLOW):
    """The output of a command, and its status 0."""
    return windows.under_wine(program, *words, timeout=timeout)


def running(*marks):
    """The command lines with one of these texts in them that Linux sees, programs under wine among them."""
    lines = subprocess.run(["ps", "axww", "-o", "args"], capture_output=True, text=True, check=True).stdout.splitlines()
    return [line for line in lines if any(mark in line for mark in marks)]
