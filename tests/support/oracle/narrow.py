# SPDX-License-Identifier: BSD-3-Clause
"""OCP's formats of 8 bits: one lane's result and exceptions, in rational numbers."""

import functools
import math
from fractions import Fraction

from .arithmetic import ADD, DIV, DIVISION_BY_ZERO, INVALID, MUL, OVERFLOW, SUB, UNDERFLOW
from .extended import COMPARE, FMA, MIN

E4M3, E5M2 = 8, 9  # the formats' numbers
NARROW = (E4M3, E5M2)


class NarrowFormat:
    """One of them, and what becomes of results that are too large.

    values[m] is the value of the finite magnitude m, ascending, and of what would be the next.
    """

    def __init__(self, number, saturates=False):
        fraction_bits, bias = (3, 7) if number == E4M3 else (2, 15)
        self.number, self.saturates = number, saturates
        self.greatest, self.nan = (0x7E, 0x7F) if number == E4M3 else (0x7B, 0x7E)
        one = 2**fraction_bits
        self.values = [Fraction(m % one + one * (m >= one)) * Fraction(2) ** (
            max(m // one, 1) - bias - fraction_bits) for m in range(self.greatest + 2)]

    def decode(self, slot):
        """The value: a Fraction, or infinity or NaN as a float; -0.0 for minus zero."""
        magnitude, sign = slot & 0x7F, -1 if slot & 0x80 else 1
        if magnitude <= self.greatest:
            value = self.values[magnitude]
            return sign * value if value else math.copysign(0.0, sign)
        is_infinity = self.number == E5M2 and magnitude == 0x7C
        return sign * math.inf if is_infinity else math.nan

    def too_large(self, negative):
        """What is too large, or infinite."""
        sign = 0x80 if negative else 0
        if self.saturates:
            return sign | self.greatest
        return self.nan if self.number == E4M3 else sign | 0x7C

    def encode(self, value):
        """The slot nearest to a value, ties to even, and whether it was a number, but too large."""
        if isinstance(value, float):
            if math.isnan(value):
                return self.nan, False
            negative = math.copysign(1, value) < 0
            if math.isinf(value):
                return self.too_large(negative), False
            if value == 0:
                return 0x80 if negative else 0, False
            value = Fraction(value)
        return self._rounded(abs(value), value < 0)

    def extended(self, op, x, y, z):
        """One lane of min, max, compare or fma: the slot and the exception flags."""
        a, b, c = map(self.decode, (x, y, z))
        if op == FMA:
            return self._fma(a, b, c)
        if math.isnan(a) or math.isnan(b):
            return self.nan, 0
        if op == COMPARE:
            return self.encode(float((a > b) - (a < b)))[0], 0
        # -0 is less than +0.
        return (min if op == MIN else max)(
            x, y, key=lambda slot: (self.decode(slot), -(slot & 0x80))), 0

    def _fma(self, a, b, c):
        exact = apply(ADD, apply(MUL, a, b), c)
        z, over = self.encode(exact)
        if isinstance(exact, float):
            operands_are_numbers = not any(map(math.isnan, (a, b, c)))
            return z, INVALID if math.isnan(exact) and operands_are_numbers else 0
        return z, OVERFLOW if over else UNDERFLOW if z & 0x7F == 0 else 0

    @functools.cache
    def _rounded(self, size, negative):
        below = max(m for m in range(self.greatest + 1) if self.values[m] <= size)
        half = (self.values[below] + self.values[below + 1]) / 2
        magnitude = below + (size > half or (size == half and below % 2 == 1))
        if magnitude > self.greatest:
            return self.too_large(negative), True
        return magnitude | (0x80 if negative else 0), False


class NarrowSet:
    """A table set of theirs, by its name."""

    def __init__(self, name):
        self.format = NarrowFormat(E4M3 if 'e4m3' in name else E5M2, name.endswith('_sat'))

    @functools.cache
    def result(self, op, x, y):
        """One lane: the slot and the exception flags of x (op) y."""
        form = self.format
        a, b = form.decode(x), form.decode(y)
        exact = apply(op, a, b)
        z, over = form.encode(exact)
        if op == DIV and b == 0 and a != 0 and math.isfinite(a):
            return z, DIVISION_BY_ZERO
        if isinstance(exact, float) and math.isnan(exact):
            return z, 0 if math.isnan(a) or math.isnan(b) else INVALID
        if over:
            return z, OVERFLOW
        return z, UNDERFLOW if exact != 0 and z & 0x7F == 0 else 0


def apply(op, x, y):
    """x (op) y, of Fractions exactly, and as IEEE 754 has it where one is no such number."""
    if op == SUB:
        op, y = ADD, -y
    if isinstance(x, Fraction) and isinstance(y, Fraction):
        if op == ADD:
            return x + y or 0.0
        return x * y if op == MUL else x / y
    if op == ADD:
        # Of a number and a zero it is the number.
        return x if y == 0 and isinstance(x, Fraction) else (
            y if x == 0 and isinstance(y, Fraction) else float(x) + float(y))
    if op == MUL:
        return float(x) * float(y)
    if y != 0:
        return float(x) / float(y)
    if math.isnan(x) or x == 0:
        return math.nan
    return math.inf * math.copysign(1, x) * math.copysign(1, y)
