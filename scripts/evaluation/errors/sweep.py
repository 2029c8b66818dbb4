# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of operands through table sets, block by block.

Where both operands of a sum change their signs, so does the correctly rounded result, and that of a product
or quotient where one does. If a set's results do, too, which is looked at for every pair, then its errors are
the same, and are counted once for all these images.
"""

import concurrent.futures
import ctypes
import dataclasses
import multiprocessing
import os
import signal
import sys
import typing

import numpy

from evaluation.errors import tally
from evaluation.errors.numbers import ENCODINGS, SIGN
from evaluation.errors.tally import Misses, Tally

SUMS = "add", "sub"
ALL = numpy.arange(ENCODINGS, dtype=numpy.uint16)
PLAIN = ((1, 1),)  # signs of x and y: the pairs as they are
PROGRESS_JOBS = 128
PR_SET_PDEATHSIG = 1  # of linux/prctl.h

# Kinds of pairs are told by the larger exponent of the operands less that of the result. What has none has
# one that is beyond all others: either operand, where nothing can cancel; and results by their kind.
BEYOND = 8192
BEYOND_RESULT = {tally.ZERO: 16384, tally.INFINITE: 4096, tally.SPECIAL: -2048}
MOST = 600  # no difference of numbers' exponents is greater


class WrongError(Exception):
    """What ought to be equal is not."""


@dataclasses.dataclass(frozen=True)
class Sweep:
    """What is asked for.

    tables: netfc.TableSet for the format of numbers
    step: every so many x, with every y
    check: every so many pairs are compared with libnetfc's exact results, too; of add, so many blocks
        of x - y with x + -y
    """

    op: str
    numbers: typing.Any
    tables: list
    cells: tally.Cells
    step: int
    check: int
    threads: int
    progress: bool

    def jobs(self):
        """Blocks: x and y, one of which is a number of its own, and the signs that they take."""
        if self.step > 1:
            return [(x, ALL, PLAIN) for x in ALL[:: self.step]]
        positive = ALL[1:SIGN]
        special = ALL[[0, SIGN]]  # not as many images as others have
        if self.op in SUMS:
            return [(x, ALL, ((1, 1), (-1, -1))) for x in positive] + [(x, ALL, PLAIN) for x in special]
        signs = (1, 1), (1, -1), (-1, 1), (-1, -1)
        others = numpy.delete(ALL, [0, SIGN])
        return [
            *((x, positive, signs) for x in positive),
            *((others, y, PLAIN) for y in special),
            *((x, ALL, PLAIN) for x in special),
        ]


class Share:
    """Counts what is in one process's share of the blocks."""

    def __init__(self, sweep):
        numbers = sweep.numbers
        self._sweep, self._numbers = sweep, numbers
        self._mirror = numbers.mirror(sweep.op)
        self._exponent = numpy.where(numbers.is_finite, numbers.exponent, BEYOND).astype(numpy.int16)
        if sweep.op not in SUMS:
            self._exponent[:] = BEYOND
        self._result = numbers.exponent.astype(numpy.int16)
        for kind, those in (
            (tally.ZERO, numbers.value == 0),
            (tally.INFINITE, numpy.isinf(numbers.value)),
            (tally.SPECIAL, numpy.isnan(numbers.value)),
        ):
            self._result[those] = BEYOND_RESULT[kind]
        self._others = numpy.where(numpy.abs(numbers.value) < 1, tally.DECIMALS, tally.OTHERS)
        self._others = self._others.astype(numpy.uint8)
        self._kind = kinds_by_difference()
        self.pairs = numpy.zeros(tally.KINDS_END, numpy.int64)
        self.misses = [Misses(numbers, sweep.cells) for _ in sweep.tables]

    def run(self, first):
        """Counts every so many blocks, from one on. Returns the pairs by kind, and the sets' tallies."""
        jobs = self._sweep.jobs()
        with numpy.errstate(all="ignore"):
            for number in range(first, len(jobs), self._sweep.threads):
                self.count(number, *jobs[number])
                if self._sweep.progress and first == 0 and number % PROGRESS_JOBS == 0:
                    print(f"{100 * number // len(jobs)} %", file=sys.stderr, flush=True)
            return self.pairs, [misses.finish() for misses in self.misses]

    def count(self, number, x, y, signs):
        """A block of pairs; number: which one."""
        op, numbers = self._sweep.op, self._numbers
        expected = numbers.expected(op, x, y)
        kinds = self._kinds(x, y, expected)
        self.pairs += len(signs) * numpy.bincount(kinds, minlength=tally.KINDS_END)
        images = [(self._signed(x, a), self._signed(y, b), a != b if op not in SUMS else a < 0) for a, b in signs]
        self._check_expected(number, images, expected)
        for tables, misses in zip(self._sweep.tables, self.misses):
            results = [tables.compute(op, *operands) for *operands, _ in images]
            if op == "add" and number % self._sweep.check == 0:
                self._check_differences(tables, images, results)
            mirrored = results[0], self._mirror.take(results[0]) if len(images) > 1 else None
            if all((mirrored[image[2]] == z).all() for image, z in zip(images[1:], results[1:])):
                misses.count(x, y, results[0], expected, kinds, len(images))
                continue
            for image, z in zip(images, results):
                misses.count(*image[:2], z, self._mirrored(expected, image), kinds, 1)

    def _signed(self, bits, sign):
        return bits if sign > 0 else self._numbers.negated.take(bits)

    def _mirrored(self, z, image):
        return self._mirror.take(z) if image[2] else z

    def _kinds(self, x, y, expected):
        larger = numpy.maximum(self._exponent.take(x), self._exponent.take(y))
        larger = larger - self._result.take(expected)
        return self._kind.take(larger.view(numpy.uint16)) + (self._others.take(x) | self._others.take(y))

    def _check_expected(self, number, images, expected):
        sample = slice(number % self._sweep.check, None, self._sweep.check)
        for image in images:
            operands = (bits[sample] if bits.ndim else bits for bits in image[:2])
            exact = self._numbers.form.exact(self._sweep.op, *operands)
            if not (exact == self._mirrored(expected[sample], image)).all():
                raise WrongError("netfc_exact() has other results than the CPU")

    def _check_differences(self, tables, images, results):
        """Over all pairs, differences are the same as sums if x - y equals x + -y."""
        for (x, y, _), z in zip(images, results):
            if not (tables.compute("sub", x, self._numbers.negated.take(y)) == z).all():
                raise WrongError("results of x - y are not those of x + -y")


def kinds_by_difference():
    """The kind of a pair by the larger exponent less the result's, a number of 16 bits."""
    less = ALL.view(numpy.int16).astype(int)
    kinds = numpy.clip(less, 0, tally.CANCELLED - 1)
    for kind, result in ((tally.UNCANCELLED, 0), *BEYOND_RESULT.items()):
        kinds[numpy.abs(less - BEYOND + result) <= MOST] = kind
        if result:
            kinds[numpy.abs(less + result) <= MOST] = kind
    return kinds.astype(numpy.uint8)


def run_share(first):
    """Runs in a process of its own, which has the sweep from the one that has started it."""
    return Share(_SWEEPS[-1]).run(first)


_SWEEPS = []


def begin(sweep, parent):
    """In each process of its own: it ends with its parent, however that ends."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # which has ended already
        os._exit(1)  # pylint: disable=protected-access
    _SWEEPS.append(sweep)


def run(sweep):
    """Counts all. Returns pairs by kind, and for each set the tallies of decimals and of others.

    Raises WrongError, and BrokenProcessPool where a process has been killed.
    """
    pairs = numpy.zeros(tally.KINDS_END, numpy.int64)
    tallies = [[Tally(), Tally()] for _ in sweep.tables]
    fork = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(
        sweep.threads, fork, initializer=begin, initargs=(sweep, os.getpid())
    ) as pool:
        for more, sets in pool.map(run_share, range(sweep.threads)):
            pairs += more
            for into, tallied in zip(tallies, sets):
                for one, other in zip(into, tallied):
                    one.merge(other)
    return pairs, tallies
