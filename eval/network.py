"""The learned evaluation: a small network whose first layer is kept up to date instead of computed.

Its inputs are 768 switches, "a piece of this colour and kind stands on this square", seen by each side from its own
end of the board and mirrored so that its king is on the left. A neuron of the first layer is a sum over the pieces on
the board, so a move changes it by two or three summands: the sums of every ply are kept ("accumulators"), each with a
note of the pieces in it, and a new position starts from the nearest of them and adds the difference. Nothing has to be
undone, and a null move, castling or a promotion is no special case. When a king crosses the middle its side's picture
is mirrored, and its sums start again from the empty board.
"""

import cython
from cython.cimports.board.bits import pop_lsb, popcount
from cython.cimports.board.position import ConstPosition, king_square, occupied
from cython.cimports.board.types import BLACK, NO_PIECE, WHITE, i16, i64, u64
from cython.cimports.eval.network_shape import (
    ACTIVATION_ONE,
    INPUTS,
    MOST_NEURONS,
    OUTPUT_ONE,
    input_of,
    output_of,
    view_of,
)
from cython.cimports.libc.stdlib import calloc, free
from cython.cimports.libc.string import memcpy, memset

from eval import network_file

_add_rows = cython.declare(AddRows, add_rows_for(LEVEL_BASE))
_output_sum = cython.declare(OutputSum, output_sum_for(LEVEL_BASE))
_LINE = cython.declare(cython.int, 64)  # bytes; vector loads want their rows to begin on such a boundary

LEVELS = {"x86-64-v2": LEVEL_BASE, "avx2": LEVEL_AVX2, "avx512": LEVEL_AVX512}


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _aligned(block: cython.p_void) -> cython.pointer(i16):
    """The first boundary in a block that was made _LINE bytes larger for it."""
    address: cython.size_t = cython.cast(cython.size_t, block)
    return cython.cast(cython.pointer(i16), (address + _LINE - 1) // _LINE * _LINE)


def new_accumulators():
    """For one thread, with room for the largest network; NULL when there is no memory."""
    room: cython.size_t = ACCUMULATED_PLIES * 2 * MOST_NEURONS * cython.sizeof(i16) + _LINE
    made: cython.pointer(Accumulators) = cython.cast(
        cython.pointer(Accumulators), calloc(1, cython.sizeof(Accumulators))
    )
    if made == cython.NULL:
        return cython.NULL
    made.block = calloc(1, room)
    if made.block == cython.NULL:
        free(made)
        return cython.NULL
    made.values = _aligned(made.block)
    return made


def free_accumulators(accumulators):
    if accumulators != cython.NULL:
        free(accumulators.block)
        free(accumulators)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _row(piece: cython.int, square: cython.int, perspective: cython.int, view: cython.int) -> Row:
    """The weights of "this piece stands on this square", as that side sees it."""
    return network.features + input_of(piece, square, perspective, view) * network.neurons


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _changed(position: cython.pointer(ConstPosition), summed: cython.pointer(Summed)) -> u64:
    """The squares on which a position differs from what was summed."""
    return (
        (position.kinds[0] ^ summed.kinds[0])
        | (position.kinds[1] ^ summed.kinds[1])
        | (position.kinds[2] ^ summed.kinds[2])
        | (position.kinds[3] ^ summed.kinds[3])
        | (position.kinds[4] ^ summed.kinds[4])
        | (position.kinds[5] ^ summed.kinds[5])
        | (position.colours[0] ^ summed.colours[0])
        | (position.colours[1] ^ summed.colours[1])
    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _bring_up_to_date(
    position: cython.pointer(ConstPosition),
    accumulators: cython.pointer(Accumulators),
    ply: cython.int,
    perspective: cython.int,
) -> cython.pointer(i16):
    """The sums of a position for one side, made from the nearest that are at hand: before this move, or before that."""
    view: cython.int = view_of(perspective, king_square(position, perspective))
    source: cython.pointer(Summed) = cython.NULL
    changed: u64 = occupied(position)
    least: cython.int = popcount(changed)
    stride: cython.int = 2 * network.neurons
    start: cython.pointer(cython.const[i16]) = network.biases  # of the empty board
    candidate: cython.int
    step: cython.int
    for step in range(3):
        # The parent, which is nearly always right; else the last sibling; else the grandparent.
        candidate = ply - 1 if step == 0 else ply if step == 1 else ply - 2
        if candidate < 0 or not accumulators.summed[candidate].valid:
            continue
        if accumulators.summed[candidate].views[perspective] != view:
            continue
        difference: u64 = _changed(position, cython.address(accumulators.summed[candidate]))
        size: cython.int = popcount(difference)
        if size < least:
            least = size
            changed = difference
            source = cython.address(accumulators.summed[candidate])
            start = accumulators.values + candidate * stride + perspective * network.neurons
            if size <= 4:  # no move changes more
                break
    came: Row[64]
    went: Row[64]
    comers: cython.int = 0
    goers: cython.int = 0
    while changed:
        square: cython.int = pop_lsb(cython.address(changed))
        piece: cython.int = position.squares[square]
        if piece != NO_PIECE:
            came[comers] = _row(piece, square, perspective, view)
            comers += 1
        if source != cython.NULL:
            piece = source.squares[square]
            if piece != NO_PIECE:
                went[goers] = _row(piece, square, perspective, view)
                goers += 1
    target: cython.pointer(i16) = accumulators.values + ply * stride + perspective * network.neurons
    _add_rows(target, start, came, comers, went, goers, network.neurons)
    return target


def network_score(position, accumulators, ply):
    """Centipawns from the side to move, by the network that is loaded. `accumulators` belong to the calling thread."""
    us: cython.int = position.turn
    index: cython.int
    if accumulators.version != network.version:
        for index in range(ACCUMULATED_PLIES):
            accumulators.summed[index].valid = False
        accumulators.version = network.version
    summed: cython.pointer(Summed) = cython.address(accumulators.summed[ply])
    mine: cython.pointer(i16) = _bring_up_to_date(position, accumulators, ply, us)
    theirs: cython.pointer(i16) = _bring_up_to_date(position, accumulators, ply, us ^ 1)
    memcpy(summed.kinds, position.kinds, 6 * cython.sizeof(u64))
    memcpy(summed.colours, position.colours, 2 * cython.sizeof(u64))
    memcpy(summed.squares, position.squares, 64)
    summed.views[WHITE] = view_of(WHITE, king_square(position, WHITE))
    summed.views[BLACK] = view_of(BLACK, king_square(position, BLACK))
    summed.valid = True
    which: cython.int = output_of(popcount(occupied(position)), network.count_of_outputs)
    weights: cython.pointer(i16) = network.outputs + 2 * which * network.neurons
    total: i64 = _output_sum(mine, weights, network.neurons)
    total += _output_sum(theirs, weights + network.neurons, network.neurons)
    total = (total // ACTIVATION_ONE + network.output_biases[which]) * network.scale // (ACTIVATION_ONE * OUTPUT_ONE)
    return cython.cast(cython.int, total)


@cython.cfunc
def _copy_numbers(target: cython.pointer(i16), data) -> cython.void:
    numbers = network_file.numbers_from(data)
    view: cython.short[::1] = numbers
    memcpy(target, cython.address(view[0]), len(numbers) * cython.sizeof(i16))


def set_network(data):
    """Evaluates with this network from now on; None: with none. Not while any thread evaluates."""
    neurons: cython.int = 0
    index: cython.int
    block: cython.p_void = cython.NULL
    if data is not None:
        neurons = data.neurons
        # One block, each part of it on a boundary: all sizes are multiples of 32 numbers.
        block = calloc((INPUTS + 1 + 2 * data.outputs) * neurons * cython.sizeof(i16) + _LINE, 1)
        if block == cython.NULL:
            raise MemoryError("no memory for the network")
        network.features = _aligned(block)
        network.biases = network.features + INPUTS * neurons
        network.outputs = network.biases + neurons
        _copy_numbers(network.features, data.feature_weights)
        _copy_numbers(network.biases, data.biases)
        _copy_numbers(network.outputs, data.output_weights)
        network.count_of_outputs = data.outputs
        for index in range(data.outputs):
            network.output_biases[index] = data.output_biases[index]
        network.scale = data.scale
    free(network.block)
    network.block = block
    network.neurons = neurons
    network.version += 1


def available_levels():
    """The CPU levels whose loops this processor can run, lowest first."""
    return [name for name, level in LEVELS.items() if level <= processor_level()]


def choose_level(name):
    """Runs the loops of another CPU level: for tests and comparisons. All give the same scores."""
    global _add_rows, _output_sum
    if name not in available_levels():
        raise ValueError(f"no CPU level '{name}' here; there are: {', '.join(available_levels())}")
    level: cython.int = LEVELS[name]
    _add_rows = add_rows_for(level)
    _output_sum = output_sum_for(level)


memset(cython.address(network), 0, cython.sizeof(Network))
choose_level(max(available_levels(), key=LEVELS.get))
