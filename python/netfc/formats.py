# SPDX-License-Identifier: BSD-3-Clause
"""The four 16-bit number formats of NetFC, on numpy and without libnetfc.

FORMATS has them by name, BY_ID by the number that stands on the wire. Encodings are uint16,
values float64, in arrays of any shape. All functions agree with libnetfc to the last bit.
"""

import functools
import math
import re

import numpy

import netfc

_SIGN = 0x8000
_MAGNITUDES = 0x8000  # encodings without a sign bit

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_NAN = re.compile(r"[+-]?na[nr]", re.IGNORECASE)
_HEX = re.compile(r"0x([0-9a-f]{1,4})", re.IGNORECASE)


class NumberFormat:
    """A 16-bit number format.

    A kind of format says what its magnitudes (the encodings from 0 to 0x7fff) stand for, where
    rounding goes from one magnitude to the next, and how negative numbers are encoded.
    """

    def __init__(self, name, nan):
        self.name = name
        self.id = netfc.FORMATS[name]
        self.nan = nan

    @functools.cached_property
    def _values(self):
        """The value of every encoding."""
        values = numpy.empty(2 * _MAGNITUDES)
        magnitudes = numpy.arange(_MAGNITUDES)
        values[magnitudes] = self._magnitude_values()
        values[self._negate(magnitudes)] = -values[magnitudes]
        return self._with_specials(values)

    @functools.cached_property
    def _boundaries(self):
        """Boundary m is where rounding to nearest goes from magnitude m to m + 1."""
        return self._magnitude_boundaries()

    def decode(self, bits):
        """The values of encodings; NaN for NaN and NaR."""
        return self._values[numpy.asarray(bits, dtype=numpy.uint16)]

    def encode(self, values):
        """The encodings nearest to values, ties to the even encoding."""
        values = numpy.asarray(values, dtype=numpy.float64)
        size = numpy.abs(values)
        below = numpy.searchsorted(self._boundaries, size)
        boundary = self._boundaries[numpy.minimum(below, len(self._boundaries) - 1)]
        magnitude = below + ((size == boundary) & (below % 2 == 1))
        bits = numpy.where(numpy.signbit(values), self._negate(magnitude), magnitude)
        return numpy.where(self._is_nan(values), self.nan, bits).astype(numpy.uint16)

    def text(self, bits):
        """What an encoding stands for, for people: up to eight digits, inf, NaN or NaR."""
        value = self._values[bits]
        return self.nan_text if math.isnan(value) else f"{value:.8g}"


class Ieee(NumberFormat):
    """Sign, exponent and fraction (IEEE 754-2019, section 3.4)."""

    nan_text = "NaN"

    def __init__(self, name, exponent_bits):
        self._fraction_bits = 15 - exponent_bits
        self._bias = 2 ** (exponent_bits - 1) - 1
        self._infinity = (2**exponent_bits - 1) << self._fraction_bits
        super().__init__(name, nan=self._infinity | 1 << (self._fraction_bits - 1))

    def _magnitude_values(self):
        magnitudes = numpy.arange(_MAGNITUDES)
        exponent = magnitudes >> self._fraction_bits
        hidden = numpy.where(exponent > 0, 1 << self._fraction_bits, 0)
        significand = hidden + magnitudes % (1 << self._fraction_bits)
        # Subnormal numbers have the least exponent, too.
        scale = numpy.maximum(exponent, 1) - self._bias - self._fraction_bits
        return numpy.ldexp(significand.astype(numpy.float64), scale)

    def _magnitude_boundaries(self):
        # What would be the next number stands where infinity is.
        values = self._magnitude_values()[: self._infinity + 1]
        return (values[:-1] + values[1:]) / 2

    def _with_specials(self, values):
        for sign in (0, _SIGN):
            values[sign | self._infinity] = -math.inf if sign else math.inf
            values[(sign | self._infinity) + 1 : sign + _MAGNITUDES] = math.nan
        return values

    def _negate(self, bits):
        return bits ^ _SIGN

    def _is_nan(self, values):
        return numpy.isnan(values)


class Posit(NumberFormat):
    """Sign, regime, exponent and fraction (Posit Standard 2022, section 3)."""

    nan_text = "NaR"

    def __init__(self, name, exponent_bits):
        self._exponent_bits = exponent_bits
        super().__init__(name, nan=_SIGN)

    def _positive_values(self, bits, width):
        """The values of positive posits that are `width` bits long."""
        width -= 1  # the sign
        mask = (1 << width) - 1
        first = bits >> (width - 1) & 1
        other = numpy.where(first == 1, ~bits & mask, bits)
        run = width - numpy.frexp(other)[1]  # frexp counts the bits from the first one on
        regime = numpy.where(first == 1, run - 1, -run)
        rest = bits << (run + 1) & mask  # behind the bit that ends the regime, left-aligned
        exponent = rest >> (width - self._exponent_bits)
        fraction = (rest << self._exponent_bits & mask) / (1 << width)
        return numpy.ldexp(1 + fraction, (regime << self._exponent_bits) + exponent)

    def _magnitude_values(self):
        values = numpy.zeros(_MAGNITUDES)
        values[1:] = self._positive_values(numpy.arange(1, _MAGNITUDES), 16)
        return values

    def _magnitude_boundaries(self):
        # One bit longer than its neighbours; but nothing rounds to zero.
        boundaries = numpy.zeros(_MAGNITUDES - 1)
        boundaries[1:] = self._positive_values(2 * numpy.arange(1, _MAGNITUDES - 1) + 1, 17)
        return boundaries

    def _with_specials(self, values):
        values[0] = 0  # there is no other zero
        values[self.nan] = math.nan
        return values

    def _negate(self, bits):
        return -bits & 0xFFFF

    def _is_nan(self, values):
        return ~numpy.isfinite(values)


FORMATS = {
    number_format.name: number_format
    for number_format in (
        Ieee("fp16", exponent_bits=5),
        Posit("posit16", exponent_bits=1),
        Ieee("bf16", exponent_bits=8),
        Posit("posit16_es2", exponent_bits=2),
    )
}
BY_ID = {number_format.id: number_format for number_format in FORMATS.values()}


def parse_bits(text):
    """The encoding that a text such as 0x3c00 names, None where it names none."""
    match = _HEX.fullmatch(text)
    return int(match[1], 16) if match else None


def parse_number(text):
    """The float that a decimal number, inf, nan or nar names, None where a text names none.

    What is too large or too small for a float becomes the largest or the least one: no
    text but inf itself stands for infinity, and none but zero for zero.
    """
    if _NAN.fullmatch(text):
        return math.nan
    if _INFINITY.fullmatch(text):
        return float(text)
    if not _DECIMAL.fullmatch(text):
        return None
    value = float(text)
    if math.isinf(value):
        return math.copysign(numpy.finfo(numpy.float64).max, value)
    if value == 0 and re.match(r"[^e]*[1-9]", text, re.IGNORECASE):
        return math.copysign(5e-324, value)
    return value
