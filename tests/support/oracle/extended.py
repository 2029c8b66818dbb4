# SPDX-License-Identifier: BSD-3-Clause
"""One lane of min, max, compare and fma, which need no table set: exact fractions, rounded once."""

import math
from fractions import Fraction

from .arithmetic import INVALID, OVERFLOW, UNDERFLOW
from .formats import FORMATS, Posit

MIN, MAX, COMPARE, FMA = 5, 6, 7, 8
EXTENDED = (MIN, MAX, COMPARE, FMA)


def calc_extended(number, op, x, y, z):
    """One lane of a format, by its number: the result slot and the exception flags."""
    form = FORMATS[number]
    if op == FMA:
        return fma(form, x, y, z)
    if op == COMPARE:
        return compare(form, x, y), 0
    if any(math.isnan(form.decode(slot)) for slot in (x, y)):
        return form.nan, 0
    return (min if op == MIN else max)(x, y, key=lambda slot: order(form, slot)), 0


def order(form, slot):
    """What numbers are sorted by: their values, -0 before +0."""
    value = form.decode(slot)
    return value, math.copysign(1, value)


def compare(form, x, y):
    """-1, 0 or 1 as a slot; NaR, which is no NaN, is less than all posits."""
    values = [form.decode(slot) for slot in (x, y)]
    if isinstance(form, Posit):
        values = [-math.inf if math.isnan(value) else value for value in values]
    elif any(map(math.isnan, values)):
        return form.nan
    return form.encode(float((values[0] > values[1]) - (values[0] < values[1])))


def fma(form, x, y, z):
    """x * y + z, rounded once, and the flags."""
    a, b, c = map(form.decode, (x, y, z))
    if any(map(math.isnan, (a, b, c))):
        return form.nan, 0
    if not all(map(math.isfinite, (a, b, c))):
        real = a * b + c if math.isfinite(c) or not math.isfinite(a * b) else c
        return form.encode(real), INVALID if math.isnan(real) else 0
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        # Products of 16-bit numbers are far from underflow in a double, and so are exact zeros.
        return form.encode(a * b + c), 0
    slot = form.encode(rounded_to_odd(exact))
    value = form.decode(slot)
    return slot, OVERFLOW if math.isinf(value) else UNDERFLOW if value == 0 else 0


def rounded_to_odd(exact):
    """A float whose last bit says that it is not exact: rounding it again is as rounding once."""
    nearest = float(exact)
    if Fraction(nearest) == exact:
        return nearest
    mantissa, exponent = math.frexp(nearest)
    last = int(math.ldexp(mantissa, 53))
    if last % 2:
        return nearest
    return math.ldexp(last + (1 if exact > Fraction(nearest) else -1), exponent - 53)
