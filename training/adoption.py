"""How a network becomes the one that comes with the program.

The network's file is checked, the win/draw/loss model is fitted to games that it plays, and then both are put into
place: eval/default.qnn and eval/default_wdl.json. Nothing is changed before all of it is known.
"""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from arena.errors import InputError
from arena.openings import Supply, fingerprint, read_openings
from board.files import read_bytes, replace_file
from eval import EMBEDDED, load_evaluation, network_summary
from training.network_history import read_history
from training.wdl_fit import fit_to_games
from uci_engine.wdl import MODEL_FILE


class Candidate(NamedTuple):
    """A network that the engine has accepted, and what the history says about it."""

    blob: bytes
    sha256: str
    neurons: int
    entry: dict | None  # of the history


def check_network(path, history):
    """Reads a network as the engine does, and evaluates with it from now on. ValueError or OSError if it is none."""
    path = Path(path)
    blob = read_bytes(path)
    load_evaluation(str(path))
    summary = network_summary()
    if summary is None:
        raise InputError("is no network", path)
    digest = hashlib.sha256(blob).hexdigest()
    entries = [entry for entry in read_history(Path(history)) if entry["network"]["sha256"] == digest]
    return Candidate(blob, digest, summary["neurons"], entries[-1] if entries else None)


def fit_model(candidate, openings, games, nodes, seed, on_game=None):
    """What eval/default_wdl.json says: the model, and what it was fitted to. Plays with the evaluation in use."""
    supply = Supply(read_openings(openings), shuffle=True, seed=seed)
    found = fit_to_games(supply, games, nodes, on_game)
    return {
        "network": candidate.sha256,
        "model": {name: round(value, 1) for name, value in found.model._asdict().items()},
        "games": {
            "white_wins": found.results.get(1.0, 0),
            "draws": found.results.get(0.5, 0),
            "black_wins": found.results.get(0.0, 0),
        },
        "nodes": nodes,
        "seed": seed,
        "openings": fingerprint(openings),
        "positions": found.positions,
        "log_likelihood": round(found.log_likelihood, 4),
    }


def put_into_place(root, candidate, model):
    """Writes the network and its model; returns the files."""
    network, described = Path(root) / "eval" / EMBEDDED, Path(root) / "eval" / MODEL_FILE
    replace_file(network, candidate.blob)
    replace_file(described, json.dumps(model, indent=1) + "\n")
    return network, described


def verdict_text(candidate):
    """What the history says: the network should have won its matches."""
    if candidate.entry is None:
        return "it is not in the history: scripts/generations.py plays its matches and enters it"
    verdict = "accepted" if candidate.entry["accepted"] else "rejected"
    return f"the history has it as {candidate.entry['name']}, {verdict}: {candidate.entry['reason']}"
