# SPDX-License-Identifier: BSD-3-Clause
"""How formats encode numbers: IEEE 754 formats and posits, on numpy.

Numbers are compared and rounded as integers, so that no floating-point environment changes a bit.

Encodings are unsigned integers, numbers floats of the types that a codec says, in arrays of any
shape. All functions agree with libnetfc to the last bit, but for NaN in fp32, which have the bits
that numpy's own conversion gives.
"""

import abc
import functools
import math
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray

from netfc._native import given
from netfc._native.arrays import Encodings, Values
from netfc._native.to_odd import to_odd
from netfc.catalogue import FormatRow

_Integers = NDArray[numpy.signedinteger[Any]]

_U64 = numpy.uint64
_MAGNITUDE = _U64((1 << 63) - 1)  # of a float's bits, all but the sign
_INFINITY = _U64(0x7FF << 52)


class Codec(abc.ABC):
    """How a number format encodes numbers.

    nan: the encoding of NaN; nan_text: its name; digits: decimal ones that tell numbers apart
    encodings, numbers: their numpy types
    """

    nan_text = "NaN"
    digits = 8

    def __init__(self, bits: int, nan: int, numbers: str = "float64"):
        self.nan = nan
        self.encodings: numpy.dtype[Any] = numpy.dtype(f"uint{bits}")
        self.numbers: numpy.dtype[Any] = numpy.dtype(numbers)

    @abc.abstractmethod
    def decode(self, bits: ArrayLike) -> Values:
        """The values of encodings; NaN for NaN and NaR. Raises ValueError for what is none."""

    @abc.abstractmethod
    def encode(self, values: ArrayLike) -> Encodings:
        """The encodings nearest to values, ties to the even encoding."""

    def checked(self, bits: ArrayLike) -> Encodings:
        """Encodings, in their type. Raises ValueError for what is none."""
        return given.encodings("these are", bits, self.encodings)


class Native(Codec):
    """binary32, which numpy has: numbers are of its own type."""

    def __init__(self, bits: int, exponent_bits: int):
        fraction_bits = bits - 1 - exponent_bits
        quiet_nan = (1 << (exponent_bits + 1)) - 1 << (fraction_bits - 1)
        super().__init__(bits, quiet_nan, f"float{bits}")
        self.digits = math.ceil(1 + (fraction_bits + 1) * math.log10(2))

    def decode(self, bits: ArrayLike) -> Values:
        values: Values = self.checked(bits).view(self.numbers)[()]
        return values

    def encode(self, values: ArrayLike) -> Encodings:
        numbers = given.real_array("values are", values)
        if numbers.dtype == self.numbers:
            return numpy.array(numbers).view(self.encodings)
        bits = to_odd(numbers).reshape(-1).view(_U64)
        encodings = bits >> _U64(63) << _U64(31) | _single(bits & _MAGNITUDE)
        return encodings.astype(self.encodings).reshape(numbers.shape)


class Tabulated(Codec):
    """A format of so few bits that the values of all encodings fit a table.

    A kind of format says what its magnitudes (the encodings without a sign bit) stand for, where
    rounding goes from one magnitude to the next, and how negative numbers are encoded.
    """

    def __init__(self, bits: int, nan: int):
        super().__init__(bits, nan)
        self._sign = 1 << (bits - 1)
        self._magnitudes = 1 << (bits - 1)  # how many encodings have no sign bit

    @functools.cached_property
    def _values(self) -> Values:
        """The value of every encoding."""
        values = numpy.empty(2 * self._magnitudes)
        magnitudes = numpy.arange(self._magnitudes)
        values[magnitudes] = self._magnitude_values()
        values[self._negate(magnitudes)] = -values[magnitudes]
        return self._with_specials(values)

    @functools.cached_property
    def _boundaries(self) -> NDArray[numpy.uint64]:
        """Boundary m is where rounding to nearest goes from magnitude m to m + 1, by its bits."""
        return self._magnitude_boundaries().view(_U64)

    def decode(self, bits: ArrayLike) -> Values:
        values: Values = self._values[self.checked(bits)]
        return values

    def encode(self, values: ArrayLike) -> Encodings:
        # Floats are as great as their bits without the sign: compared so, subnormal ones count
        # in whatever way the processor calculates.
        floats = to_odd(given.real_array("values are", values)).view(_U64)
        size = floats & _MAGNITUDE
        below = numpy.searchsorted(self._boundaries, size)
        boundary = self._boundaries[numpy.minimum(below, len(self._boundaries) - 1)]
        magnitude = below + ((size == boundary) & (below % 2 == 1))
        bits = numpy.where(floats > _MAGNITUDE, self._negate(magnitude), magnitude)
        encodings: Encodings = numpy.where(self._is_nan(size), self.nan, bits).astype(
            self.encodings
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
    def _is_nan(self, size: NDArray[numpy.uint64]) -> NDArray[numpy.bool_]:
        """Which floats, by their bits without the sign, the format has no number for."""


class Ieee(Tabulated):
    """Sign, exponent and fraction (IEEE 754-2019, section 3.4)."""

    def __init__(self, bits: int, exponent_bits: int):
        self._fraction_bits = bits - 1 - exponent_bits
        self._bias = 2 ** (exponent_bits - 1) - 1
        self._infinity = self._first_special(bits)
        super().__init__(bits, nan=self._infinity | 1 << (self._fraction_bits - 1))

    def _first_special(self, bits: int) -> int:
        """The magnitude after the greatest number's."""
        return (1 << (bits - 1)) - (1 << self._fraction_bits)

    def _magnitude_values(self) -> Values:
        magnitudes = numpy.arange(self._magnitudes)
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
        for sign in (0, self._sign):
            values[sign | self._infinity] = -math.inf if sign else math.inf
            values[(sign | self._infinity) + 1 : sign + self._magnitudes] = math.nan
        return values

    def _negate(self, bits: _Integers) -> _Integers:
        return bits ^ self._sign

    def _is_nan(self, size: NDArray[numpy.uint64]) -> NDArray[numpy.bool_]:
        return size > _INFINITY


class NoInfinity(Ieee):
    """Likewise, but the greatest magnitude alone is no number: NaN (OCP OFP8 E4M3)."""

    def _first_special(self, bits: int) -> int:
        return (1 << (bits - 1)) - 1

    def _with_specials(self, values: Values) -> Values:
        for sign in (0, self._sign):
            values[sign | self._infinity] = math.nan
        return values

    def encode(self, values: ArrayLike) -> Encodings:
        bits = super().encode(values)
        encodings: Encodings = numpy.where(bits & self._infinity == self._infinity, self.nan, bits)
        return encodings.astype(self.encodings)


class Posit(Tabulated):
    """Sign, regime, exponent and fraction (Posit Standard 2022, section 3)."""

    nan_text = "NaR"

    def __init__(self, bits: int, exponent_bits: int):
        self._bits, self._exponent_bits = bits, exponent_bits
        super().__init__(bits, nan=1 << (bits - 1))

    def _positive_values(self, bits: _Integers, width: int) -> Values:
        """The values of positive posits that are `width` bits long."""
        width -= 1  # the sign
        mask = (1 << width) - 1
        first = bits >> (width - 1) & 1
        other = numpy.where(first == 1, ~bits & mask, bits)
        run = width - numpy.frexp(other)[1]  # frexp counts the bits from the first one on
        regime = numpy.where(first == 1, run - 1, -run)
        rest = bits << (run + 1) & mask  # after the bit that ends the regime, left-aligned
        exponent = rest >> (width - self._exponent_bits)
        fraction = (rest << self._exponent_bits & mask) / (1 << width)
        values: Values = numpy.ldexp(1 + fraction, (regime << self._exponent_bits) + exponent)
        return values

    def _magnitude_values(self) -> Values:
        values = numpy.zeros(self._magnitudes)
        values[1:] = self._positive_values(numpy.arange(1, self._magnitudes), self._bits)
        return values

    def _magnitude_boundaries(self) -> Values:
        # One bit longer than its neighbours; but nothing rounds to zero.
        boundaries = numpy.zeros(self._magnitudes - 1)
        boundaries[1:] = self._positive_values(
            2 * numpy.arange(1, self._magnitudes - 1) + 1, self._bits + 1
        )
        return boundaries

    def _with_specials(self, values: Values) -> Values:
        values[0] = 0  # there is no other zero
        values[self.nan] = math.nan
        return values

    def _negate(self, bits: _Integers) -> _Integers:
        return -bits & (2 * self._sign - 1)

    def _is_nan(self, size: NDArray[numpy.uint64]) -> NDArray[numpy.bool_]:
        return size >= _INFINITY


def codec_of(row: FormatRow) -> Codec:
    """The codec of a format that requests compute in."""
    if row.kind == "posit":
        return Posit(row.bits, row.exponent_bits)
    if row.kind == "no-infinity":
        return NoInfinity(row.bits, row.exponent_bits)
    kind = Ieee if row.bits <= 16 else Native
    return kind(row.bits, row.exponent_bits)


# Of binary32: the least exponent of a normal number as floats have it, the difference between its
# exponents and theirs, by how many bits it is shorter, and where it ends.
_LEAST_EXPONENT = _U64(1023 - 126)
_REBIASED = _U64((1023 - 127) << 52)
_SHORTER = _U64(29)
_SINGLE_INFINITY = _U64(0x7F800000)


def _single(size: NDArray[numpy.uint64]) -> NDArray[numpy.uint64]:
    """The magnitudes of binary32 nearest to floats, both as bits without the sign."""
    # What goes into the exponent when it is rounded up is right there, up to infinity.
    normal = numpy.minimum(_rounded(size - _REBIASED, _SHORTER), _SINGLE_INFINITY)
    significand = (size & _U64((1 << 52) - 1)) | _U64(1 << 52)
    missing = _LEAST_EXPONENT - numpy.minimum(size >> _U64(52), _LEAST_EXPONENT)
    subnormal = _rounded(significand, numpy.minimum(_SHORTER + missing, _U64(60)))
    nan = _SINGLE_INFINITY | _U64(1 << 22) | size >> _SHORTER & _U64((1 << 23) - 1)
    finite = numpy.where(size >> _U64(52) < _LEAST_EXPONENT, subnormal, normal)
    return numpy.where(size > _INFINITY, nan, finite)


def _rounded(bits: NDArray[numpy.uint64], fewer: Any) -> NDArray[numpy.uint64]:
    """Shifted right by `fewer`, to the nearest, ties to even."""
    last = bits >> fewer & _U64(1)
    rounded: NDArray[numpy.uint64] = bits + (_U64(1) << fewer - _U64(1)) - _U64(1) + last >> fewer
    return rounded
