# SPDX-License-Identifier: BSD-3-Clause
"""Results of a table set that differ from the expected ones, counted in integers.

Nearly all are off by a few units in the last place (ulp). So there are about a million different errors:
a number of ulp and an expected magnitude. Each has a counter of its own, and its relative error is
computed once. Others are counted in batches.
"""

import dataclasses

import numpy

from evaluation.errors.numbers import ENCODINGS, exponentials

# Pairs whose expected result is a finite number other than zero are evaluated: sums of two such numbers by
# the number of leading bits that cancel, from 0 up, the last for all larger numbers; others are UNCANCELLED.
# The other pairs are left out, by what the expected result is: zero, infinite, or NaN or NaR.
CANCELLED = 17
UNCANCELLED, ZERO, INFINITE, SPECIAL, KINDS = range(CANCELLED, CANCELLED + 5)
# Pairs of each kind whose operands are both less than 1 in magnitude, and others.
KIND_BITS = 5
DECIMALS, OTHERS = 0, 1 << KIND_BITS
KINDS_END = 2 << KIND_BITS

ACCURACIES = 10_001  # in steps of 1/10,000; the last one is for exactly 1
ULPS = 18  # 0, 1, 2-3, 4-7, ...
ERRORS, ERROR_ONE = 64, 40  # bin b is for 2^(b - ERROR_ONE) up to twice that; the outer ones take the rest
WORST = 6  # so many of the greatest errors are kept
LOSS_ONE = 1 << 30

NEAR = 15  # the largest error in ulp that has counters of its own
MAGNITUDES = 1 << 15
CELLS = (2 * NEAR + 2) * MAGNITUDES  # a power of 2; the last ones are none
FAR = 2 * CELLS  # the cell of what is counted in another way
BATCH = 1 << 22


def relative_errors(numbers, z, expected):
    """Those of results; that of NaN is infinite."""
    wanted = numbers.value[expected]
    errors = numpy.abs((numbers.value[z] - wanted) / wanted)
    return numpy.where(numpy.isnan(errors), numpy.inf, errors)


def losses(accuracies):
    """1 - accuracy, in units of 1 / LOSS_ONE."""
    return numpy.rint((1 - accuracies) * LOSS_ONE).astype(numpy.int64)


@dataclasses.dataclass
class Cells:
    """The errors and accuracies that have counters of their own: number of ulp, expected magnitude."""

    errors: numpy.ndarray
    accuracies: numpy.ndarray
    losses: numpy.ndarray  # floats, which are added up exactly

    @classmethod
    def of(cls, numbers):
        """Those of a format; 0 and 1 where there is no such result."""
        off, expected = numpy.divmod(numpy.arange(CELLS), MAGNITUDES)
        z = expected + off - NEAR
        here = (z >= 0) & (z < MAGNITUDES) & numbers.is_finite[expected]
        here &= ~numpy.isnan(numbers.value[z % ENCODINGS])
        errors = numpy.zeros(CELLS)
        errors[here] = relative_errors(numbers, z[here], expected[here])
        accuracies = exponentials(errors)
        return cls(errors, accuracies, losses(accuracies).astype(float))


class Tally:
    """Counts of errors. Their order does not matter."""

    def __init__(self):
        self.left_out_wrong = self.inexact = self.overflowed = self.loss = 0
        self.accuracies = numpy.zeros(ACCURACIES, numpy.int64)
        self.ulps = numpy.zeros(ULPS, numpy.int64)
        self.errors = numpy.zeros(ERRORS, numpy.int64)
        self.cancelled = numpy.zeros((2, CANCELLED), numpy.int64)  # inexact ones, and their loss
        self.worst = {}  # by error: how many, and the least pair

    def add(self, errors, accuracies, ulps, counts):
        """So many results of each error, whose expected results are finite."""
        infinite = numpy.isinf(errors)
        self.inexact += int(counts.sum())
        self.overflowed += int(counts[infinite].sum())
        self.loss += int((losses(accuracies) * counts).sum())
        magnitudes = numpy.frexp(errors)[1] - 1 + ERROR_ONE
        for into, bins in (
            (self.accuracies, numpy.minimum((accuracies * (ACCURACIES - 1)).astype(int), ACCURACIES - 2)),
            (self.ulps, numpy.minimum(numpy.frexp(ulps)[1], ULPS - 1)),
            (self.errors, numpy.where(infinite, ERRORS - 1, numpy.clip(magnitudes, 0, ERRORS - 1))),
        ):
            # Sums of floats, but exact ones: less than 2^53.
            into += numpy.bincount(bins, counts, len(into)).astype(numpy.int64)

    def add_worst(self, error, count, pair):
        """So many results of an error, and the least pair that has it."""
        before, least = self.worst.get(error, (0, pair))
        self.worst[error] = before + count, min(pair, least)
        if len(self.worst) > WORST:
            del self.worst[min(self.worst)]

    def merge(self, other):
        """Another's counts, too."""
        for name, value in vars(other).items():
            if name != "worst":
                setattr(self, name, getattr(self, name) + value)
        for error, (count, pair) in other.worst.items():
            self.add_worst(error, count, pair)


class Misses:
    """Collects the misses of a set: results that differ from the expected ones."""

    def __init__(self, numbers, cells):
        self._numbers, self._cells = numbers, cells
        self._near = numpy.zeros(FAR + 1, numpy.int64)  # decimals, then others
        self._worst = [numpy.array([]), numpy.array([])]  # the greatest errors among them
        self._least = {}  # of what may be among the worst: the least pair by cell
        self._waiting = {}  # by weight: near and far ones, their pairs and kinds
        self._size = 0
        self.tallies = [Tally(), Tally()]  # likewise; complete after finish()

    def count(self, x, y, z, expected, kinds, weight):
        """Results of pairs, each counted `weight` times."""
        at = numpy.flatnonzero(z != expected)
        kinds = kinds.take(at)
        is_counted = kinds % OTHERS <= UNCANCELLED
        if not is_counted.all():
            for population, tally in enumerate(self.tallies):
                left_out = ~is_counted & (kinds >> KIND_BITS == population)
                tally.left_out_wrong += weight * int(left_out.sum())
            at, kinds = at[is_counted], kinds[is_counted]
        if at.size:
            x, y = (operand.take(at) if operand.ndim else operand for operand in (x, y))
            pairs = numpy.left_shift(x, 16, dtype=numpy.uint32) | y
            self._put(z.take(at), expected.take(at), pairs, kinds, weight)

    def _put(self, z, expected, pairs, kinds, weight):
        ordinal = self._numbers.ordinal.take(expected)
        off = self._numbers.ordinal.take(z) - ordinal
        off *= numpy.sign(ordinal)
        magnitude = numpy.abs(ordinal)
        cell = off + NEAR
        is_far = (cell.view(numpy.uint32) > 2 * NEAR) | (magnitude + off < 0)
        cell <<= MAGNITUDES.bit_length() - 1
        cell += magnitude
        cell += (kinds >> KIND_BITS) * numpy.int32(CELLS)
        near, far = self._waiting.setdefault(weight, ([], []))
        at = numpy.flatnonzero(is_far)
        if at.size:
            populations = (kinds[at] >> KIND_BITS).astype(numpy.int64)
            keys = populations << 32 | expected[at].astype(numpy.int64) << 16 | z[at]
            far.append((keys, pairs[at], kinds[at]))
            cell[at], kinds[at] = FAR, UNCANCELLED
        near.append((cell, pairs, kinds))
        self._size += len(z)
        if self._size > BATCH:
            self._take_waiting()

    def _take_waiting(self):
        for weight, (near, far) in self._waiting.items():
            if near:
                self._take_near(*map(numpy.concatenate, zip(*near)), weight)
            if far:
                self._take_far(*map(numpy.concatenate, zip(*far)), weight)
        self._waiting, self._size = {}, 0

    def _add_cancelled(self, kinds, loss, weight):
        if (kinds % OTHERS == UNCANCELLED).all():
            return
        # Sums of floats, but exact ones: less than 2^53.
        kinds = kinds.astype(numpy.intp)
        sums = [numpy.bincount(kinds, of, KINDS_END).astype(numpy.int64) for of in (None, loss())]
        for tally, at in zip(self.tallies, (DECIMALS, OTHERS)):
            tally.cancelled += weight * numpy.array(sums)[:, at : at + CANCELLED]

    def _take_near(self, cells, pairs, kinds, weight):
        self._add_cancelled(kinds, lambda: self._cells.losses.take(cells & CELLS - 1), weight)
        counts = numpy.bincount(cells, minlength=FAR + 1)
        new = numpy.flatnonzero((self._near == 0) & (counts > 0))
        for population in range(2):
            self._note_least(new[new // CELLS == population], population, cells, pairs)
        first = int(pairs.min())
        for cell in [cell for cell, pair in self._least.items() if first < pair and counts[cell]]:
            self._least[cell] = min(self._least[cell], int(pairs[cells == cell].min()))
        self._near += weight * counts

    def _note_least(self, new, population, cells, pairs):
        """Of cells that are counted for the first time, those that may be among the worst."""
        errors = self._cells.errors[new % CELLS]
        self._worst[population] = numpy.unique([*self._worst[population], *numpy.unique(errors)[-WORST:]])[-WORST:]
        for cell in new[errors >= self._worst[population].min(initial=numpy.inf)]:
            self._least[cell] = int(pairs[cells == cell].min())

    def _take_far(self, keys, pairs, kinds, weight):
        found, at, counts = numpy.unique(keys, return_inverse=True, return_counts=True)
        expected, z = found >> 16 & 0xFFFF, found & 0xFFFF
        errors = relative_errors(self._numbers, z, expected)
        accuracies = exponentials(errors)
        ulps = numpy.abs(self._numbers.ordinal[z] - self._numbers.ordinal[expected])
        self._add_cancelled(kinds, lambda: losses(accuracies)[at], weight)
        for population, tally in enumerate(self.tallies):
            here = numpy.flatnonzero(found >> 32 == population)
            tally.add(errors[here], accuracies[here], ulps[here], weight * counts[here])
            for error in numpy.unique(errors[here])[-WORST:]:
                those = pairs[(errors == error)[at] & (kinds >> KIND_BITS == population)]
                tally.add_worst(float(error), weight * len(those), int(those.min()))

    def finish(self):
        """The tallies, complete."""
        self._take_waiting()
        for population, tally in enumerate(self.tallies):
            counts = self._near[population * CELLS : (population + 1) * CELLS]
            cells = numpy.flatnonzero(counts)
            errors, ulps = self._cells.errors[cells], numpy.abs(cells // MAGNITUDES - NEAR)
            tally.add(errors, self._cells.accuracies[cells], ulps, counts[cells])
            for cell in cells[numpy.isin(errors, numpy.unique(errors)[-WORST:])]:
                least = self._least[population * CELLS + cell]
                tally.add_worst(float(self._cells.errors[cell]), int(counts[cell]), least)
        return self.tallies
