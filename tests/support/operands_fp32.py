# SPDX-License-Identifier: BSD-3-Clause
"""Operands of binary32 that are likely to show a mistake: special values, boundaries, cancellation,
ties, subnormal operands and results, the edge of overflow, and random ones."""

import itertools

import numpy as np

SIGN = 0x80000000
MAGNITUDES = (0, 1, 2, 3, 0x3FFFFF, 0x400000, 0x7FFFFE, 0x7FFFFF, 0x800000, 0x800001, 0xFFFFFF,
              0x1000000, 0x33800000, 0x33800001, 0x34000000, 0x3F000000, 0x3F7FFFFF, 0x3F800000,
              0x3F800001, 0x3FC00000, 0x3FFFFFFF, 0x40000000, 0x40490FDB, 0x4B000000, 0x4B7FFFFF,
              0x7E800000, 0x7EFFFFFF, 0x7F000000, 0x7F7FFFFE, 0x7F7FFFFF, 0x7F800000, 0x7F800001,
              0x7FBFFFFF, 0x7FC00000, 0x7FC00001, 0x7FFFFFFF)
SPECIAL = tuple(magnitude | sign for magnitude in MAGNITUDES for sign in (0, SIGN))


def special_pairs():
    """All pairs of the special values: two rows, x and y."""
    return np.array(list(itertools.product(SPECIAL, repeat=2)), dtype=np.int64).T


def structured(draw, count):
    """Pairs of each structure, `count` in all. draw: numpy's generator."""
    x, y = draw.integers(0, 1 << 32, (2, count))
    kind = np.arange(count) % 8
    steps = draw.integers(-30, 31, count)
    runs = (1 << draw.integers(0, 24, (2, count))) - 1
    near = np.clip((x >> 23 & 0xFF) + steps, 0, 254) << 23
    # What leads to exponents around 0, 127 and 254 of products and quotients.
    target = np.array([0, 127, 254])[draw.integers(0, 3, count)] + steps
    product = np.clip(target + 127 - (x >> 23 & 0xFF), 0, 254) << 23
    quotient = np.clip((x >> 23 & 0xFF) + 127 - target, 0, 254) << 23
    fraction = 0x807FFFFF
    chosen = [
        (x, y),
        (x, y & fraction | near),
        (x & 0x80FFFFFF, y & 0x80FFFFFF),
        (x, (x ^ SIGN) + draw.integers(-4, 5, count)),
        (x & 0xFFF80007, y & 0x80780007 | near),
        (x & 0xFF800000 | runs[0], y & SIGN | near | runs[1]),
        (x, y & fraction | product),
        (x & 0xFFFFF000, y & 0x807FF000 | quotient),
    ]
    pairs = np.array([np.choose(kind, [pair[side] for pair in chosen]) for side in (0, 1)])
    return pairs & 0xFFFFFFFF
