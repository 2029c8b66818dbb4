# SPDX-License-Identifier: BSD-3-Clause
"""Float-to-integer, the paper's baseline: numbers times a factor, in 16-bit integers that wrap.

Its results are compared with the exact sums, not with sums rounded to 16 bits as NetFC's are.
"""

import numpy

from evaluation import paper
from evaluation.measure import measures

# Factors tried for the best one: eight to each power of two.
FACTORS = 2 ** numpy.arange(0, 30 + 1 / 8, 1 / 8)


def wrap(values, bits):
    """Whole numbers as so many bits of two's complement hold them; they may be larger than 64 bits."""
    half = 1 << (bits - 1)
    return (numpy.fmod(values, 2.0**bits).astype(numpy.int64) + half) % (2 * half) - half


def add(x, y, factor, bits=16):
    """The sum as hosts and a switch compute it: truncate and wrap, add and wrap, scale back."""
    integers = (wrap(numpy.trunc(values * factor), bits) for values in (x, y))
    return wrap(sum(integers), bits) / factor


def both_ways(x, y):
    """x and y of all additions and subtractions, and the exact sums."""
    x, y = numpy.concatenate([x, x]), numpy.concatenate([y, -y])
    return numpy.array([x, y, x + y])


def measure_factor(operands, factor, bits=16):
    """Accuracy and MSE with one factor; operands: as both_ways() has them."""
    x, y, expected = operands
    result = add(x, y, factor, bits)
    return {**measures.summary(measures.accuracy(expected, result)),
            "mse": float(numpy.mean((expected - result) ** 2)), "factor": float(factor)}


def measure(number_format, pairs):
    """The paper's two factors, and the best of FACTORS by average accuracy and by MSE."""
    operands = both_ways(*number_format.decode(pairs))
    operands = operands[:, measures.counted(number_format, number_format.encode(operands[2]))]
    tried = [measure_factor(operands, factor) for factor in FACTORS]
    return {"text": measure_factor(operands, paper.FACTOR),
            "figures": measure_factor(operands, paper.FACTOR_OF_FIGURES),
            "best": max(tried, key=lambda facts: facts["average"]),
            "least_mse": min(tried, key=lambda facts: facts["mse"]),
            "mean_square": float(numpy.mean(operands[2] ** 2))}
