# SPDX-License-Identifier: BSD-3-Clause
"""Several workers' binary32 values, and the sums and means: exact ones, rounded once, and those of
float32 additions. Arrays have the shape (workers, ..., values).
"""

import fractions

import numpy


def gradients(worker, count):
    """What a worker's training step may give: layers of different scales. The same each time."""
    scales = numpy.random.default_rng(0).integers(-4, 3, count)
    draw = numpy.random.default_rng(worker + 1)
    return (draw.standard_normal(count) * 10.0**scales).astype(numpy.float32)


def exact_sums(given, divisor=1):
    """The exact sums over a power of two, rounded to binary32 to nearest, ties to even.

    Sums of binary64 are exact for most lanes: twoSum tells for which. The others are added up in
    fractions.
    """
    total = numpy.zeros(given.shape[1:])
    inexact = numpy.zeros(given.shape[1:], bool)
    for one in given.astype(numpy.float64):
        before, total = total, total + one
        other = total - before
        inexact |= (before - (total - other)) + (one - other) != 0
    result = (total / divisor).astype(numpy.float32)
    for lane in zip(*numpy.nonzero(inexact)):
        column = given[(slice(None), *lane)].tolist()
        result[lane] = nearest(sum(map(fractions.Fraction, column)) / divisor)
    return result


def means(given):
    """The exact means, rounded as exact_sums() are; ranks: a power of two."""
    return exact_sums(given, len(given))


def half_means(given):
    """The exact means of fp16 values, rounded to fp16; ranks: a power of two, 32 at most.

    Sums are multiples of 2^-24 below 2^21, and fit a binary64.
    """
    return (half_values(given).sum(axis=0) / len(given)).astype("f2")


def half_sums_divided(given):
    """The exact sums of fp16 values, rounded to fp16, over the number of ranks; as half_means()."""
    return half_values(given).sum(axis=0).astype("f2").astype("f4") / len(given)


def half_values(given):
    """Gradients to the nearest fp16, as ranks send them, in binary64."""
    return given.astype("f2").astype("f8")


def nearest(value):
    """A fraction to the nearest binary32, ties to even; no overflow."""
    if value == 0:
        return numpy.float32(0)
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    if abs(value) < fractions.Fraction(2) ** exponent:
        exponent -= 1
    unit = fractions.Fraction(2) ** max(exponent - 23, -149)
    return numpy.float32(float(round(value / unit) * unit))


def differ(one, other):
    """How many values have other bits; zeros of both signs are the same."""
    return int(numpy.count_nonzero(one != other))


def sums_in_order(values, order):
    """What float32 additions give, in that order of workers."""
    total = values[order[0]].copy()
    for worker in order[1:]:
        total += values[worker]
    return total


def count_same(one, other):
    """How many lanes have the same bits."""
    return int(numpy.count_nonzero(one.view(numpy.uint32) == other.view(numpy.uint32)))
