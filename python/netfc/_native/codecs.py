# SPDX-License-Identifier: BSD-3-Clause
"""How 16-bit formats encode numbers: IEEE 754 formats and posits, on numpy.

Encodings are uint16, values float64, in arrays of any shape. All functions agree with libnetfc to
the last bit.
"""

import abc
import functools
import math
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray

from netfc._native.arrays import Encodings, Values

_Integers = NDArray[numpy.signedinteger[Any]]

_SIGN = 0x8000
_MAGNITUDES = 0x8000  # encodings without a sign bit


class Codec(abc.ABC):
    """How a number format encodes numbers.

    A kind of format says what its magnitudes (the encodings from 0 to 0x7fff) stand for, where
    rounding goes from one magnitude to the next, and how negative numbers are encoded.
    """

    nan_text: str

    def __init__(self, nan: int):
        self.nan = nan

    @functools.cached_property
    def _values(self) -> Values:
        """The value of every encoding."""
        values = numpy.empty(2 * _MAGNITUDES)
        magnitudes = numpy.arange(_MAGNITUDES)
        values[magnitudes] = self._magnitude_values()
        values[self._negate(magnitudes)] = -values[magnitudes]
        return self._with_specials(values)

    @functools.cached_property
    def _boundaries(self) -> Values:
        """Boundary m is where rounding to nearest goes from magnitude m to m + 1."""
        return self._magnitude_boundaries()

    def decode(self, bits: ArrayLike) -> Values:
        """The values of encodings; NaN for NaN and NaR."""
        values: Values = self._values[numpy.asarray(bits, dtype=numpy.uint16)]
        return values

    def encode(self, values: ArrayLike) -> Encodings:
        """The encodings nearest to values, ties to the even encoding."""
        values = numpy.asarray(values, dtype=numpy.float64)
        size = numpy.abs(values)
        below = numpy.searchsorted(self._boundaries, size)
        boundary = self._boundaries[numpy.minimum(below, len(self._boundaries) - 1)]
        magnitude = below + ((size == boundary) & (below % 2 == 1))
        bits = numpy.where(numpy.signbit(values), self._negate(magnitude), magnitude)
        encodings: Encodings = numpy.where(self._is_nan(values), self.nan, bits).astype(
            numpy.uint16
        )
        return encodings

    @abc.abstractmethod
    def _magnitude_values(self) -> Values:
        """The value of every magnitude."""

    @abc.abstractmethod
    def _magnitude_boundaries(self) -> Values:
        """Between each magnitude and the next."""

    @abc.abstractmethod
    def _with_specials(self, values: Values) -> Values:
        """Values of all encodings, put right where one is no number."""

    @abc.abstractmethod
    def _negate(self, bits: _Integers) -> _Integers:
        """The encodings of numbers of the other sign."""

    @abc.abstractmethod
    def _is_nan(self, values: Values) -> NDArray[numpy.bool_]:
        """Which values the format has no number for."""


class Ieee(Codec):
    """Sign, exponent and fraction (IEEE 754-2019, section 3.4)."""

    nan_text = "NaN"

    def __init__(self, exponent_bits: int):
        self._fraction_bits = 15 - exponent_bits
        self._bias = 2 ** (exponent_bits - 1) - 1
        self._infinity = (2**exponent_bits - 1) << self._fraction_bits
        super().__init__(nan=self._infinity | 1 << (self._fraction_bits - 1))

    def _magnitude_values(self) -> Values:
        magnitudes = numpy.arange(_MAGNITUDES)
        exponent = magnitudes >> self._fraction_bits
        hidden = numpy.where(exponent > 0, 1 << self._fraction_bits, 0)
        significand = hidden + magnitudes % (1 << self._fraction_bits)
        # Subnormal numbers have the least exponent, too.
        scale = numpy.maximum(exponent, 1) - self._bias - self._fraction_bits
        values: Values = numpy.ldexp(significand.astype(numpy.float64), scale)
        return values

    def _magnitude_boundaries(self) -> Values:
        # What would be the next number stands where infinity is.
        values = self._magnitude_values()[: self._infinity + 1]
        return (values[:-1] + values[1:]) / 2

    def _with_specials(self, values: Values) -> Values:
        for sign in (0, _SIGN):
            values[sign | self._infinity] = -math.inf if sign else math.inf
            values[(sign | self._infinity) + 1 : sign + _MAGNITUDES] = math.nan
        return values

    def _negate(self, bits: _Integers) -> _Integers:
        return bits ^ _SIGN

    def _is_nan(self, values: Values) -> NDArray[numpy.bool_]:
        return numpy.isnan(values)


class Posit(Codec):
    """Sign, regime, exponent and fraction (Posit Standard 2022, section 3)."""

    nan_text = "NaR"

    def __init__(self, exponent_bits: int):
        self._exponent_bits = exponent_bits
        super().__init__(nan=_SIGN)

    def _positive_values(self, bits: _Integers, width: int) -> Values:
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
        values: Values = numpy.ldexp(1 + fraction, (regime << self._exponent_bits) + exponent)
        return values

    def _magnitude_values(self) -> Values:
        values = numpy.zeros(_MAGNITUDES)
        values[1:] = self._positive_values(numpy.arange(1, _MAGNITUDES), 16)
        return values

    def _magnitude_boundaries(self) -> Values:
        # One bit longer than its neighbours; but nothing rounds to zero.
        boundaries = numpy.zeros(_MAGNITUDES - 1)
        boundaries[1:] = self._positive_values(2 * numpy.arange(1, _MAGNITUDES - 1) + 1, 17)
        return boundaries

    def _with_specials(self, values: Values) -> Values:
        values[0] = 0  # there is no other zero
        values[self.nan] = math.nan
        return values

    def _negate(self, bits: _Integers) -> _Integers:
        return -bits & 0xFFFF

    def _is_nan(self, values: Values) -> NDArray[numpy.bool_]:
        return ~numpy.isfinite(values)
