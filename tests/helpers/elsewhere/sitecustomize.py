"""A machine that has not the directory which POOL_TEST_HIDDEN names: for workers of the tests, which run beside it."""

import os
import sys

HIDDEN = os.environ["POOL_TEST_HIDDEN"]


def refuse(path):
    if isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(HIDDEN):
        raise FileNotFoundError(2, "not on this machine", os.fspath(path))


def hide(name):
    known = getattr(os, name)

    def hiding(path=".", *arguments, **more):
        refuse(path)
        return known(path, *arguments, **more)

    setattr(os, name, hiding)


def audit(event, arguments):
    if event == "open":
        refuse(arguments[0])


for function in ("stat", "lstat", "listdir", "scandir", "open"):
    hide(function)
sys.addaudithook(audit)
