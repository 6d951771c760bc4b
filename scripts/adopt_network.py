"""Makes a network the one that comes with the program.

    python scripts/adopt_network.py work/g3/g3.qnn --openings openings.epd

1. check       the file, and what docs/networks.json says about it
2. fit         the win/draw/loss model, to games that the network plays against itself
3. write       eval/default.qnn and eval/default_wdl.json
4. signature   the node counts of the new search, tests/data/signature.json

Nothing is written before the games are played. What a program cannot do is printed at the end; docs/networks.md
explains it. With eval/default.qnn itself only the model is fitted again.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from arena.interrupts import INTERRUPTED, Interrupt
from command.arguments import positive
from command.progress import Progress
from training.adoption import check_network, fit_model, put_into_place, verdict_text

ROOT = Path(__file__).resolve().parent.parent
LEFT = """left to do, in the same commit:
  - make test
  - docs/networks.md: a paragraph on what is new about this network
  - docs/strength-log.md: its matches
  - the commit message: 'Bench: N' with the last count above, and the match with a clock
and in commits of their own:
  - margins of the search (scripts/spsa.py), docs/performance.md, levels of docs/limit-strength.md"""


def build_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("network", metavar="NET.qnn")
    parser.add_argument("--openings", required=True, metavar="FILE", help=".epd, .pgn, or .bin for a Polyglot book")
    parser.add_argument("--games", type=positive, default=400, metavar="N", help="to fit the model to (default: 400)")
    parser.add_argument("--nodes", type=positive, default=3000, metavar="N", help="per move, about (default: 3000)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the openings' order (default: 1)")
    parser.add_argument("--root", type=Path, default=ROOT, metavar="DIR", help="another checkout (default: this one)")
    return parser


def adopt(options):
    """All steps; returns the exit status."""
    candidate = check_network(options.network, options.root / "docs" / "networks.json")
    print(
        f"{options.network}: {candidate.neurons} neurons, {candidate.sha256[:8]}; {verdict_text(candidate)}", flush=True
    )
    with Interrupt() as interrupt:
        progress = Progress("fitting", "games", options.games, interrupt=interrupt)
        model = fit_model(
            candidate, options.openings, options.games, options.nodes, options.seed, lambda: progress.advance(1)
        )
        progress.clear()
    print(
        f"model {model['model']}, {model['positions']} positions, log-likelihood {model['log_likelihood']}", flush=True
    )
    for path in put_into_place(options.root, candidate, model):
        print(f"written: {path}", flush=True)
    signature = [sys.executable, str(options.root / "scripts" / "check_signature.py"), "--write"]
    status = subprocess.run(signature, cwd=options.root).returncode
    if status != 0:
        raise ValueError(f"the signature is not written: check_signature.py ended with status {status}")
    print(LEFT)
    return 0


def main(arguments=None):
    options = build_parser().parse_args(arguments)
    try:
        return adopt(options)
    except KeyboardInterrupt:
        print("interrupted; nothing is changed before the games are played", file=sys.stderr)
        return INTERRUPTED
    except (ValueError, OSError) as error:
        print(f"adopt_network: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
