"""The evaluation in use: the network, or the classical one where the user wants it. Endings that are known go first."""

import pkgutil
from pathlib import Path

import cython
from cython.cimports.board.types import PAWN, WHITE
from cython.cimports.eval.classical import FULL_SCALE, MOST_SCORE
from cython.cimports.eval.classical import evaluate as evaluate_classical
from cython.cimports.eval.endgames import is_known_ending, may_be_known, scale_factor
from cython.cimports.eval.network import free_accumulators, network, network_score, new_accumulators
from cython.cimports.eval.pawns import clear_pawn_cache, free_pawn_cache, new_pawn_cache
from cython.cimports.libc.stdlib import calloc, free

from board.files import open_regular
from eval.network import set_network
from eval.network_file import MAGIC, NetworkError, unpack_network
from eval.weights import load_weights, restore_weights

CLASSICAL = ""  # the name of the classical evaluation with its own weights
EMBEDDED = "default.qnn"  # that of the network that comes with the program
DEFAULT = EMBEDDED  # the evaluation that the program starts with

_MOST_BYTES = 1 << 26  # of a file; the largest network has a fifth of it

_summary = None  # how the loaded network was trained


def new_workspace():
    """For one thread; NULL when there is no memory."""
    made: cython.pointer(Workspace) = cython.cast(cython.pointer(Workspace), calloc(1, cython.sizeof(Workspace)))
    if made == cython.NULL:
        return cython.NULL
    made.pawns = new_pawn_cache()
    made.accumulators = new_accumulators()
    if made.pawns == cython.NULL or made.accumulators == cython.NULL:
        free_workspace(made)
        return cython.NULL
    return made


def free_workspace(workspace):
    if workspace != cython.NULL:
        free_pawn_cache(workspace.pawns)
        free_accumulators(workspace.accumulators)
        free(workspace)


def clear_workspace(workspace):
    """For new weights; accumulators see for themselves that there is another network."""
    clear_pawn_cache(workspace.pawns)


def evaluate(position, workspace, ply):
    """Centipawns from the side to move, at most MOST_SCORE either way. In check the score means little.

    `ply` says which position of its line a thread asks about; positions that follow each other are cheaper so.
    """
    score: cython.int = 0
    if network.neurons == 0:
        return evaluate_classical(position, workspace.pawns)
    # No sum of weights mates with bishop and knight.
    if may_be_known(position) and is_known_ending(position, cython.address(score)):
        return score if position.turn == WHITE else -score
    score = network_score(position, workspace.accumulators, ply)
    # Nor does it know that a minor piece more wins nothing without pawns.
    strong: cython.int = position.turn if score > 0 else position.turn ^ 1
    if not position.kinds[PAWN] & position.colours[strong]:
        score = score * scale_factor(position, strong) // FULL_SCALE
    return MOST_SCORE if score > MOST_SCORE else -MOST_SCORE if score < -MOST_SCORE else score


def read_evaluation(name):
    """The file of an evaluation. Names are those of `load_evaluation`."""
    if name in (CLASSICAL, EMBEDDED):
        return pkgutil.get_data("eval", name or "weights.json")
    with open(name, "rb", opener=open_regular) as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise NetworkError(f"{name}: larger than any network or weights file")
    return data


def load_evaluation(name=None):
    """Evaluates with something else from now on. Not while any thread searches; what was remembered is then outdated.

    `name` is a network file, a weights file of the classical evaluation, the name of the network that comes with the
    program, "" for the classical evaluation, or None for what the program starts with. Beside a network the classical
    weights are the bundled ones. What is wrong with a file is said by the ValueError or OSError that is raised, and the
    evaluation stays what it was.
    """
    global _summary
    if name is None:
        name = DEFAULT
    if name == CLASSICAL:
        load_weights()
        set_network(None)
        _summary = None
        return
    blob = read_evaluation(name)
    if blob[:4] != MAGIC and blob.lstrip()[:1] != b"{":
        raise NetworkError(f"{name}: neither a network nor a file of weights")
    if blob[:4] == MAGIC:
        data = unpack_network(blob, str(name))
        set_network(data)
        restore_weights()
        shape = {"neurons": data.neurons, "outputs": data.outputs, "king_buckets": data.king_buckets}
        _summary = {**shape, "scale": data.scale, **data.training}
    else:
        load_weights(Path(name))
        set_network(None)
        _summary = None


def network_summary():
    """How the network in use was trained, and its size; None when the classical evaluation is in use."""
    return None if _summary is None else dict(_summary)


if DEFAULT != CLASSICAL:  # whose weights are there already
    load_evaluation()
