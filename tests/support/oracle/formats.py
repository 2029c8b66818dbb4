# SPDX-License-Identifier: BSD-3-Clause
"""Number formats: how slots are read and how real numbers are rounded into them."""

import math

import numpy as np


class Format:
    """A 16-bit number format: how slots are read and how real numbers are rounded into it.

    values[m] is the value of the finite magnitude m, ascending; edges[m] is the boundary where
    rounding to nearest changes from magnitude m to m + 1.
    """

    def __init__(self, number, name, largest_k, guard, near_one):
        self.number = number
        self.name = name
        self.largest_k = largest_k
        self.guard = guard
        self.near_one = near_one  # q: what stands for theta = 0 where operands cancel

    def round_magnitude(self, real):
        """The magnitude nearest to each non-negative real; ties go to the even encoding."""
        real = np.asarray(real, dtype=float)
        below = np.searchsorted(self.edges, real, side='left')
        edge = self.edges[np.minimum(below, len(self.edges) - 1)]
        tie_to_upper = (real == edge) & (below % 2 == 1)
        return below + tie_to_upper

    def floor_magnitude(self, real):
        """The greatest finite magnitude whose value is not above each non-negative real."""
        return np.searchsorted(self.values, real, side='right') - 1


class Ieee(Format):
    """IEEE 754 binary interchange layout: sign, exponent, fraction."""

    def __init__(self, number, name, exponent_bits, fraction_bits, largest_k):
        super().__init__(number, name, largest_k, guard=15, near_one=1)
        bias = 2 ** (exponent_bits - 1) - 1
        self.infinity = (2 ** exponent_bits - 1) << fraction_bits
        self.nan = self.infinity | 1 << (fraction_bits - 1)
        self.top_exponent = bias + 1  # of the first power of two that is too large
        self.least_exponent = 1 - bias - fraction_bits  # of the least subnormal
        magnitudes = np.arange(self.infinity)
        exponent = np.maximum(magnitudes >> fraction_bits, 1)
        hidden = np.where(magnitudes >> fraction_bits, 1 << fraction_bits, 0)
        significand = hidden + magnitudes % (1 << fraction_bits)
        self.values = np.ldexp(significand.astype(float), exponent - bias - fraction_bits)
        above = np.append(self.values[1:], 2.0 ** self.top_exponent)
        self.edges = (self.values + above) / 2

    def magnitude(self, slot):
        return slot & 0x7FFF

    def negate(self, slot):
        return slot ^ 0x8000

    def decode(self, slot):
        """The value of a slot as a float; NaNs and infinities as Python's."""
        magnitude = self.magnitude(slot)
        if magnitude < self.infinity:
            value = float(self.values[magnitude])
        else:
            value = math.inf if magnitude == self.infinity else math.nan
        return math.copysign(value, -1 if slot & 0x8000 else 1)

    def encode(self, real):
        """The slot nearest to a float."""
        if math.isnan(real):
            return self.nan
        sign = 0x8000 if math.copysign(1, real) < 0 else 0
        return sign | int(self.round_magnitude(abs(real)))

    def exp_rounded(self, real):
        return self.round_magnitude(real)

    def exp_floored(self, real):
        return np.where(real >= 2.0 ** self.top_exponent, self.infinity, self.floor_magnitude(real))


class Posit(Format):
    """posit<16, exponent_bits>: sign, regime, exponent, fraction."""

    def __init__(self, number, name, exponent_bits, largest_k):
        super().__init__(number, name, largest_k, guard=64, near_one=1 / 4)
        self.nan = 0x8000
        self.values = np.array(
            [0.0] + [posit_value(m, 16, exponent_bits) for m in range(1, 0x8000)])
        # Zero is no neighbour of the least posit: every positive real lies above edge 0.
        self.edges = np.array(
            [0.0] + [posit_value(2 * m + 1, 17, exponent_bits) for m in range(1, 0x7FFF)])

    def magnitude(self, slot):
        return self.negate(slot) if slot & 0x8000 else slot

    def negate(self, slot):
        return -slot & 0xFFFF

    def decode(self, slot):
        """The value of a slot as a float; NaR as a NaN."""
        if slot == self.nan:
            return math.nan
        value = float(self.values[self.magnitude(slot)])
        return -value if slot & 0x8000 else value

    def encode(self, real):
        """The slot nearest to a float; infinities, which posits lack, count as NaR."""
        if not math.isfinite(real):
            return self.nan
        magnitude = int(self.round_magnitude(abs(real)))
        return self.negate(magnitude) if real < 0 else magnitude

    def exp_rounded(self, real):
        return self.round_magnitude(real)

    def exp_floored(self, real):
        return np.maximum(self.floor_magnitude(real), 1)


def posit_value(bits, width, exponent_bits):
    """The value of a positive posit of `width` bits as a float."""
    text = format(bits, f'0{width}b')[1:]
    run = len(text) - len(text.lstrip(text[0]))
    regime = run - 1 if text[0] == '1' else -run
    rest = text[run + 1:]
    exponent = int(rest[:exponent_bits].ljust(exponent_bits, '0'), 2)
    fraction = rest[exponent_bits:]
    significand = int('1' + fraction, 2)
    return math.ldexp(significand, regime * 2 ** exponent_bits + exponent - len(fraction))


FORMATS = {f.number: f for f in (
    Ieee(1, 'fp16', exponent_bits=5, fraction_bits=10, largest_k=1024),
    Posit(2, 'posit16', exponent_bits=1, largest_k=512),
    Ieee(3, 'bf16', exponent_bits=8, fraction_bits=7, largest_k=128),
    Posit(4, 'posit16_es2', exponent_bits=2, largest_k=256),
)}
FORMATS_BY_NAME = {f.name: f for f in FORMATS.values()}
