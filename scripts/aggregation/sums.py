# SPDX-License-Identifier: BSD-3-Clause
"""Sums of several workers' binary32 values: exact ones, and those that float32 additions give.

Arrays have the shape (workers, values).
"""

import math

import numpy

# A binary64's bits behind those that a binary32 has, of a number halfway between two of them.
BEHIND, HALFWAY = (1 << 29) - 1, 1 << 28


def gradients(worker, count):
    """What a worker's training step may give: layers of different scales. The same each time."""
    scales = numpy.random.default_rng(0).integers(-4, 3, count)
    draw = numpy.random.default_rng(worker + 1)
    return (draw.standard_normal(count) * 10.0**scales).astype(numpy.float32)


def exact_sums(values):
    """The exact sums, rounded to binary32 once (to nearest, ties to even); normal numbers only."""
    # fsum() rounds the exact sum to binary64. Rounding that to binary32 is rounding twice, which
    # differs from rounding once only where the first result is halfway between two binary32 and
    # the exact sum is not: then the side where it lies decides.
    columns = values.T.tolist()
    sums = numpy.array(list(map(math.fsum, columns)))
    for lane in numpy.flatnonzero((sums.view(numpy.uint64) & BEHIND) == HALFWAY):
        rest = math.fsum((*columns[lane], -sums[lane]))
        if rest != 0:
            sums[lane] = math.nextafter(sums[lane], math.copysign(math.inf, rest))
    return sums.astype(numpy.float32)


def sums_in_order(values, order):
    """What float32 additions give, in that order of workers."""
    total = values[order[0]].copy()
    for worker in order[1:]:
        total += values[worker]
    return total


def count_same(one, other):
    """How many lanes have the same bits."""
    return int(numpy.count_nonzero(one.view(numpy.uint32) == other.view(numpy.uint32)))
