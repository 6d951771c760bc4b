"""The learned evaluation: a small network whose first layer is kept up to date instead of computed.

Its inputs are 768 switches, "a piece of this colour and kind stands on this square", seen by each side from its own
end of the board and mirrored so that its king is on the left. A neuron of the first layer is a sum over the pieces on
the board, so a move changes it by two or three summands: the sums of every ply are kept ("accumulators"), each with a
note of the pieces in it, and a new position starts from the nearest of them and adds the difference. Nothing has to be
undone, and a null move, castling or a promotion is no special case. When a king crosses the middle its side's picture
is mirrored, and when it changes its bucket all inputs have other weights. Its sums then start from the last ones that
were made with the king there, of a position elsewhere in the tree: these are kept, too ("Finny tables").
"""

import cython
from cython.cimports.board.bits import pop_lsb, popcount
from cython.cimports.board.pages import allocate_pages, free_pages
from cython.cimports.board.position import ConstPosition, king_square, occupied
from cython.cimports.board.types import NO_PIECE, i16, i64, u64
from cython.cimports.eval.network_shape import (
    ACTIVATION_ONE,
    INPUTS,
    MOST_KING_BUCKETS,
    MOST_NEURONS,
    OUTPUT_ONE,
    input_of,
    output_of,
    set_king_buckets,
    view_of,
)
from cython.cimports.libc.stdlib import calloc, free
from cython.cimports.libc.string import memcpy, memset

from eval import network_file

_add_rows = cython.declare(AddRows, add_rows_for(LEVEL_BASE))
_output_sum = cython.declare(OutputSum, output_sum_for(LEVEL_BASE))
_LINE = cython.declare(cython.int, 64)  # bytes; vector loads want their rows to begin on such a boundary
_MOST_MOVED = cython.declare(cython.int, 4)  # squares that a move changes at most: castling
_VIEW_BITS = cython.declare(cython.int, 6)  # of a picture; above them stands the bucket

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
    rows: cython.size_t = 2 * ACCUMULATED_PLIES + 4 * MOST_KING_BUCKETS
    made: cython.pointer(Accumulators) = cython.cast(
        cython.pointer(Accumulators), calloc(1, cython.sizeof(Accumulators))
    )
    if made == cython.NULL:
        return cython.NULL
    made.block = calloc(1, rows * MOST_NEURONS * cython.sizeof(i16) + _LINE)
    if made.block == cython.NULL:
        free(made)
        return cython.NULL
    made.values = _aligned(made.block)
    made.kept_values = made.values + 2 * ACCUMULATED_PLIES * MOST_NEURONS
    return made


def free_accumulators(accumulators):
    if accumulators != cython.NULL:
        free(accumulators.block)
        free(accumulators)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _picture(perspective: cython.int, king: cython.int) -> cython.int:
    """How a side with its king there sees the board, and by which weights: its view and its king's bucket."""
    view: cython.int = view_of(perspective, king)
    return view | network.buckets.of_squares[king ^ view] << _VIEW_BITS


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _changed(position: cython.pointer(ConstPosition), men: cython.pointer(Men)) -> u64:
    """The squares on which a position differs from what was summed."""
    return (
        (position.kinds[0] ^ men.kinds[0])
        | (position.kinds[1] ^ men.kinds[1])
        | (position.kinds[2] ^ men.kinds[2])
        | (position.kinds[3] ^ men.kinds[3])
        | (position.kinds[4] ^ men.kinds[4])
        | (position.kinds[5] ^ men.kinds[5])
        | (position.colours[0] ^ men.colours[0])
        | (position.colours[1] ^ men.colours[1])
    )


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _note_men(men: cython.pointer(Men), position: cython.pointer(ConstPosition)) -> cython.void:
    memcpy(men.kinds, position.kinds, 6 * cython.sizeof(u64))
    memcpy(men.colours, position.colours, 2 * cython.sizeof(u64))
    memcpy(men.squares, position.squares, 64)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _list_difference(
    difference: cython.pointer(Difference),
    position: cython.pointer(ConstPosition),
    men: cython.pointer(Men),
    changed: u64,
    perspective: cython.int,
    picture: cython.int,
) -> cython.void:
    """The rows by which the sums of a position differ from those of the men before, given the squares that have changed."""
    view: cython.int = picture & ((1 << _VIEW_BITS) - 1)
    neurons: cython.int = network.neurons
    features: Row = network.features + (picture >> _VIEW_BITS) * INPUTS * neurons  # of the bucket
    comers: cython.int = 0
    goers: cython.int = 0
    while changed:
        square: cython.int = pop_lsb(cython.address(changed))
        piece: cython.int = position.squares[square]
        if piece != NO_PIECE:
            difference.came[comers] = features + input_of(piece, square, perspective, view) * neurons
            comers += 1
        piece = men.squares[square]
        if piece != NO_PIECE:
            difference.went[goers] = features + input_of(piece, square, perspective, view) * neurons
            goers += 1
    difference.comers = comers
    difference.goers = goers


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _bring_up_to_date(
    position: cython.pointer(ConstPosition),
    accumulators: cython.pointer(Accumulators),
    ply: cython.int,
    perspective: cython.int,
    moved: u64,
) -> cython.pointer(i16):
    """The sums of a position for one side, made from the nearest that are at hand: before this move, or before that.

    `moved` are the squares on which the position differs from its parent, if that is summed.
    """
    picture: cython.int = _picture(perspective, king_square(position, perspective))
    source: cython.pointer(Men) = cython.NULL
    changed: u64 = 0
    least: cython.int = 65  # no source yet: more than all squares
    stride: cython.int = 2 * network.neurons
    start: cython.pointer(cython.const[i16]) = cython.NULL
    candidate: cython.int
    step: cython.int
    difference: u64
    size: cython.int
    for step in range(3):
        # The parent, which is nearly always right; else the last sibling; else the grandparent.
        candidate = ply - 1 if step == 0 else ply if step == 1 else ply - 2
        if candidate < 0 or not accumulators.summed[candidate].valid:
            continue
        if accumulators.summed[candidate].pictures[perspective] != picture:
            continue
        difference = moved if step == 0 else _changed(position, cython.address(accumulators.summed[candidate].men))
        size = popcount(difference)
        if size < least:
            least = size
            changed = difference
            source = cython.address(accumulators.summed[candidate].men)
            start = accumulators.values + candidate * stride + perspective * network.neurons
            if size <= _MOST_MOVED:
                break
    target: cython.pointer(i16) = accumulators.values + ply * stride + perspective * network.neurons
    changing: cython.pointer(i16) = target
    if least > _MOST_MOVED:
        # A king has come to this half or bucket. What was summed when one was here the last time is brought up to date
        # where it is kept, and then copied.
        half: cython.int = picture & 1
        bucket: cython.int = picture >> _VIEW_BITS
        kept: cython.pointer(Men) = cython.address(accumulators.kept[perspective][half][bucket])
        difference = _changed(position, kept)
        if popcount(difference) < least:
            place: cython.int = (2 * perspective + half) * MOST_KING_BUCKETS + bucket
            changing = accumulators.kept_values + place * network.neurons
            start = changing
            source = kept
            changed = difference
    rows: Difference
    _list_difference(cython.address(rows), position, source, changed, perspective, picture)
    _add_rows(changing, start, rows.came, rows.comers, rows.went, rows.goers, network.neurons)
    if changing != target:
        _note_men(source, position)
        memcpy(target, changing, network.neurons * cython.sizeof(i16))
    accumulators.summed[ply].pictures[perspective] = picture
    return target


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _start_again(accumulators: cython.pointer(Accumulators)) -> cython.void:
    """For another network: no ply is summed, and all that is kept are the sums of the empty board."""
    index: cython.int
    men: cython.pointer(Men) = cython.address(accumulators.kept[0][0][0])
    for index in range(ACCUMULATED_PLIES):
        accumulators.summed[index].valid = False
    memset(men, 0, cython.sizeof(accumulators.kept))
    for index in range(4 * MOST_KING_BUCKETS):
        memset(men[index].squares, NO_PIECE, 64)
        memcpy(accumulators.kept_values + index * network.neurons, network.biases, network.neurons * cython.sizeof(i16))
    accumulators.version = network.version


def network_score(position, accumulators, ply):
    """Centipawns from the side to move, by the network that is loaded. `accumulators` belong to the calling thread."""
    us: cython.int = position.turn
    if accumulators.version != network.version:
        _start_again(accumulators)
    moved: u64 = 0
    if ply > 0 and accumulators.summed[ply - 1].valid:
        moved = _changed(position, cython.address(accumulators.summed[ply - 1].men))
    mine: cython.pointer(i16) = _bring_up_to_date(position, accumulators, ply, us, moved)
    theirs: cython.pointer(i16) = _bring_up_to_date(position, accumulators, ply, us ^ 1, moved)
    _note_men(cython.address(accumulators.summed[ply].men), position)
    accumulators.summed[ply].valid = True
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
    size: cython.size_t = 0
    block: cython.pointer(i16) = cython.NULL
    if data is not None:
        neurons = data.neurons
        # One block, each part of it on a boundary: all sizes are multiples of 32 numbers.
        rows: cython.size_t = INPUTS * data.king_buckets
        size = (rows + 1 + 2 * data.outputs) * neurons * cython.sizeof(i16)
        block = cython.cast(cython.pointer(i16), allocate_pages(size))
        if block == cython.NULL:
            raise MemoryError("no memory for the network")
        network.biases = block + rows * neurons
        network.outputs = network.biases + neurons
        _copy_numbers(block, data.feature_weights)
        _copy_numbers(network.biases, data.biases)
        _copy_numbers(network.outputs, data.output_weights)
        network.count_of_outputs = data.outputs
        for index in range(data.outputs):
            network.output_biases[index] = data.output_biases[index]
        set_king_buckets(cython.address(network.buckets), data.bucket_table)
        network.scale = data.scale
    free_pages(network.features, network.size)
    network.features = block
    network.size = size
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
