"""The network in the integers of its file, evaluated as the engine does it: to compare with the trainer's arithmetic."""

import cython
from cython.cimports.board.types import i16, i64, u16
from cython.cimports.eval.network_shape import ACTIVATION_ONE, CENTIPAWNS, OUTPUT_ONE, output_of
from cython.cimports.libc.math import fabs, lrint
from cython.cimports.libc.stdlib import calloc, free
from cython.cimports.training.network_trainer import (
    NetworkTrainer,
    bias_start,
    output_bias_at,
    output_start,
)
from cython.cimports.training.positions import MOST_MEN, PositionSet, unpack_features


@cython.final
@cython.cclass
class RoundedNetwork:
    """The integers nearest to a trainer's weights."""

    def __cinit__(self, trainer: NetworkTrainer):
        index: cython.size_t
        output: cython.int
        outputs: cython.size_t = output_start(cython.address(trainer.shape))
        self.shape = trainer.shape
        self.buckets = trainer.buckets
        self.size = output_bias_at(cython.address(self.shape))
        self.weights = cython.cast(cython.pointer(i16), calloc(self.size, cython.sizeof(i16)))
        if self.weights == cython.NULL:
            raise MemoryError("no memory for a network")
        trainer._round(0, trainer.size)
        for index in range(self.size):
            self.weights[index] = lrint(trainer.rounded[index] * (ACTIVATION_ONE if index < outputs else OUTPUT_ONE))
        for output in range(self.shape.outputs):
            self.output_biases[output] = lrint(trainer.rounded[self.size + output] * (ACTIVATION_ONE * OUTPUT_ONE))

    def __dealloc__(self):
        free(self.weights)

    def _activate(self, position, values):
        """The clamped sums of both sides' neurons, 0 to 255, the side to move's first; returns the number of men."""
        mine: u16[MOST_MEN]
        theirs: u16[MOST_MEN]
        men: cython.int = unpack_features(position, cython.address(self.buckets), mine, theirs)
        side: cython.int
        man: cython.int
        neuron: cython.int
        row: cython.pointer(cython.const[i16])
        for side in range(2):
            row = self.weights + bias_start(cython.address(self.shape))
            for neuron in range(self.shape.neurons):
                values[side * self.shape.neurons + neuron] = row[neuron]
            for man in range(men):
                row = self.weights + cython.cast(cython.size_t, theirs[man] if side else mine[man]) * self.shape.neurons
                for neuron in range(self.shape.neurons):
                    values[side * self.shape.neurons + neuron] += row[neuron]
        for neuron in range(2 * self.shape.neurons):
            values[neuron] = min(max(values[neuron], 0), ACTIVATION_ONE)
        return men

    def _sum(self, values, output):
        total: i64 = 0
        neuron: cython.int
        outputs: cython.pointer(cython.const[i16]) = (
            self.weights + output_start(cython.address(self.shape)) + 2 * output * self.shape.neurons
        )
        for neuron in range(2 * self.shape.neurons):
            total += values[neuron] * values[neuron] * outputs[neuron]
        return total

    def _score(self, position):
        """Centipawns, with the divisions that the engine does."""
        values: cython.int[MOST_VALUES]
        output: cython.int = output_of(self._activate(position, values), self.shape.outputs)
        total: i64 = self._sum(values, output) // ACTIVATION_ONE + self.output_biases[output]
        return cython.cast(cython.int, total * CENTIPAWNS // (ACTIVATION_ONE * OUTPUT_ONE))

    def scores(self, positions: PositionSet) -> list:
        """Centipawns of every position, for the side to move."""
        index: cython.size_t
        found = []
        for index in range(positions.count):
            found.append(self._score(cython.address(positions.positions[index])))
        return found

    def compare(self, trainer: NetworkTrainer, positions: PositionSet, first: int, last: int) -> tuple:
        """Sums over positions first to last: |here - trainer|, |here|, |score of the search|; and the largest of the first.

        All in centipawns.
        """
        index: cython.size_t
        begin: cython.size_t = first
        end: cython.size_t = last
        score: cython.int
        apart: cython.double
        difference: cython.double = 0
        largest: cython.double = 0
        size: cython.double = 0
        searched: cython.double = 0
        if not begin <= end <= positions.count or trainer.size != self.size + self.shape.outputs:
            raise ValueError("these positions or this trainer do not belong here")
        with cython.nogil:
            for index in range(begin, end):
                score = self._score(cython.address(positions.positions[index]))
                apart = fabs(score - CENTIPAWNS * trainer._output(cython.address(positions.positions[index])))
                difference += apart
                largest = max(largest, apart)
                size += score if score > 0 else -score
                searched += fabs(cython.cast(cython.double, positions.positions[index].score))
        return difference, size, searched, largest

    def numbers(self) -> tuple:
        """Feature weights, biases and output weights as bytes of 16-bit numbers in this machine's order; output biases."""
        block = cython.cast(cython.p_char, self.weights)[: self.size * cython.sizeof(i16)]
        biases = bias_start(cython.address(self.shape)) * cython.sizeof(i16)
        outputs = output_start(cython.address(self.shape)) * cython.sizeof(i16)
        output_biases = tuple(self.output_biases[output] for output in range(self.shape.outputs))
        return block[:biases], block[biases:outputs], block[outputs:], output_biases
