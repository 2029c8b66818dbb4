# SPDX-License-Identifier: BSD-3-Clause
"""binary32, whose lanes have 32 bits: one lane's result and exceptions, in rational numbers."""

import fractions
import math
import struct

from .arithmetic import ADD, DIV, DIVISION_BY_ZERO, INVALID, MUL, OVERFLOW, SUB, UNDERFLOW

FP32 = 5  # the format's number
NAN, INFINITY, SIGN = 0x7FC00000, 0x7F800000, 0x80000000
MIN_EXPONENT, PRECISION = -149, 24


class Fp32Format:
    """The format, as far as a table set's is asked for."""

    number = FP32


class Fp32Set:
    """fp32_exact."""

    format = Fp32Format


def calc_fp32(op, x, y):
    """One lane: the encoding and the exception flags of x (op) y."""
    a, b = decode(x), decode(y ^ SIGN if op == SUB else y)
    z = special_result(op, a, b)
    if z is None:
        z = exact_result(op, a, b)
    return z, exception_flags(op, decode(x), decode(y), z)


def decode(bits):
    """The value, a float: each one of binary32 is one of Python's."""
    return struct.unpack('>f', struct.pack('>I', bits))[0]


def encode_special(value):
    """The encoding of a zero, an infinity or NaN."""
    if math.isnan(value):
        return NAN
    sign = SIGN if math.copysign(1, value) < 0 else 0
    return sign | (INFINITY if math.isinf(value) else 0)


def special_result(op, x, y):
    """The result where an operand is zero, infinite or NaN; else None. Of SUB, y is negated."""
    if x != 0 and y != 0 and math.isfinite(x) and math.isfinite(y):
        return None
    if op in (ADD, SUB):
        return encode_sum(x + y)  # of a number and zero, or no number
    if op == MUL:
        return encode_special(x * y)
    if y == 0:
        sign = math.copysign(1, x) * math.copysign(1, y)
        return NAN if math.isnan(x) or x == 0 else encode_special(sign * math.inf)
    return encode_special(x / y)


def encode_sum(value):
    """The encoding of a value that binary32 has."""
    if value == 0 or not math.isfinite(value):
        return encode_special(value)
    return struct.unpack('>I', struct.pack('>f', value))[0]


def exact_result(op, x, y):
    """The result for numbers other than zero: the exact one, rounded once."""
    x, y = fractions.Fraction(x), fractions.Fraction(y)
    if op in (ADD, SUB):
        exact = x + y
    else:
        exact = x * y if op == MUL else x / y
    return round_to_nearest(abs(exact)) | (SIGN if exact < 0 else 0)


def round_to_nearest(value):
    """The encoding nearest to a value that is not negative, ties to even (IEEE 754-2019, 4.3.1)."""
    if value == 0:
        return 0
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= value < fractions.Fraction(2) ** exponent
    place = max(exponent - PRECISION + 1, MIN_EXPONENT)
    # Python rounds a fraction to an integer, ties to even.
    significand = round(value / fractions.Fraction(2) ** place)
    # One more for each place; the hidden bit of a normal number is part of its significand.
    encoding = significand + (place - MIN_EXPONENT) * 2 ** (PRECISION - 1)
    return min(encoding, INFINITY)


def exception_flags(op, x, y, z):
    """The flags of a lane."""
    if op == DIV and y == 0 and math.isfinite(x) and x != 0:
        return DIVISION_BY_ZERO
    magnitude = z & ~SIGN
    if magnitude > INFINITY:
        return 0 if math.isnan(x) or math.isnan(y) else INVALID
    if magnitude == INFINITY:
        return OVERFLOW if math.isfinite(x) and math.isfinite(y) else 0
    if magnitude != 0 or op in (ADD, SUB) or x == 0:
        return 0
    return UNDERFLOW if math.isfinite(y) and y != 0 else 0
