"""Is the compiled core there, and does it belong to the sources beside it?"""

import hashlib
import os
from importlib.machinery import EXTENSION_SUFFIXES

from uci_engine import __version__

HOW_TO_BUILD = "Build it with 'make build' in the checkout, or install with 'pip install .'."


def core_problem():
    """What is wrong with the compiled core, or None.

    An extension module silently wins over a newer .py of the same name, so a forgotten build would run old code. Where
    the sources are present their digest is compared with the one taken when the core was built.
    """
    try:
        from uci_engine import _build
    except ImportError:
        return f"Quetzal's compiled core has not been built. {HOW_TO_BUILD}"
    # Paths as plain text: pathlib alone would take a third of the time that a GUI waits for the first answer.
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    sources = [os.path.join(root, *source.split("/")) for source in _build.SOURCES]
    if not all(map(os.path.exists, sources)):
        return None  # a frozen program carries no sources that could be newer
    for module in _build.MODULES:
        stem = os.path.join(root, *module.split("."))
        if not any(os.path.exists(stem + suffix) for suffix in EXTENSION_SUFFIXES):
            return f"Quetzal's compiled module {module} is missing. {HOW_TO_BUILD}"
    known = set(sources)
    for folder in {os.path.dirname(source) for source in sources}:
        if any(name.endswith(".pxd") and os.path.join(folder, name) not in known for name in os.listdir(folder)):
            return f"Quetzal's sources have a module that is not compiled yet. {HOW_TO_BUILD}"
    digest = hashlib.sha256()
    for name, source in zip(_build.SOURCES, sources, strict=True):
        with open(source, "rb") as file:
            digest.update(name.encode() + b"\0" + file.read())
    if digest.hexdigest() != _build.SOURCES_SHA256:
        return f"Quetzal's compiled core is older than its sources. {HOW_TO_BUILD}"
    return None


def facts():
    """Version and build, by name."""
    from uci_engine import _build

    return {
        "version": __version__,
        "commit": _build.COMMIT,
        "compiler": _build.COMPILER,
        "profile": f"{_build.PROFILE}, guided" if getattr(_build, "GUIDED", False) else _build.PROFILE,
        "CPU level": _build.CPU_LEVEL,
    }


def describe():
    """The same, a line each."""
    build = facts()
    return "\n".join((f"Quetzal {build.pop('version')}", *(f"{name:9} {value}" for name, value in build.items())))
