"""Which Quetzal is this? Installations that answer alike play alike."""

import hashlib
import sys

from eval import DEFAULT, read_evaluation
from uci_engine import __version__, _build
from uci_engine.bench import signature
from uci_engine.build import core_problem

DEPTH = 8  # a moment's work, and any difference in move generation, evaluation or search shows


def identity():
    """What must be the same where one run is shared: by name, as short texts. For a process that has loaded nothing else."""
    return {
        "version": __version__,
        "commit": _build.COMMIT,
        "core": core_problem() or _build.SOURCES_SHA256[:12],
        "network": hashlib.sha256(read_evaluation(DEFAULT)).hexdigest()[:12],
        "signature": f"{signature(DEPTH)} nodes",
        "Python": ".".join(map(str, sys.version_info[:2])),
    }
