# SPDX-License-Identifier: BSD-3-Clause
"""Real numbers of any type as floats that stand for them when they are rounded on.

A number that no float is becomes an odd one beside it, whose last bits say that there is more: so
whatever rounds it to 40 bits or fewer rounds as if it were the number itself, once. All of it is
done in integers, or exactly: neither the rounding mode nor "flush to zero" of the program changes
a bit.
"""

import math
import struct
import sys
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy
from numpy.typing import NDArray

Floats = NDArray[numpy.float64]

_LOST_BITS = 11  # of 64-bit integers, by floats


def to_odd(values: NDArray[Any]) -> Floats:
    """Floats for an array as given.real_array() gives it, of its shape."""
    flat = values.reshape(-1)
    with numpy.errstate(all="ignore"):
        return _flat_to_odd(flat).reshape(values.shape)


def neighbour(nearest: float, exact: Any) -> float:
    """Of the floats around a number, the odd one; `nearest` itself if it is the number.

    exact: the number, of a type that compares with floats exactly.
    """
    is_odd = struct.pack("<d", nearest)[0] & 1
    if is_odd or exact == nearest:
        return nearest
    return math.nextafter(nearest, math.inf if exact > nearest else -math.inf)


def _flat_to_odd(values: NDArray[Any]) -> Floats:
    kind, size = values.dtype.kind, values.dtype.itemsize
    if kind == "O":
        return numpy.array([_number_to_odd(one) for one in values.tolist()], numpy.float64)
    if kind == "V":
        return _single(values.astype(numpy.float32))
    if kind == "f" and size == 4:
        return _single(values)
    if kind == "f" and size > 8:
        return _long_double(values)
    if kind in "iu" and size == 8:
        return _integer(values)
    return values.astype(numpy.float64)


def _number_to_odd(number: Any) -> float:
    """Of one number of Python's."""
    if not isinstance(number, Rational):
        return float(to_odd(numpy.asarray(number)))
    exact = Fraction(int(number.numerator), int(number.denominator))
    try:
        return neighbour(exact.numerator / exact.denominator, exact)
    except OverflowError:
        return sys.float_info.max if exact > 0 else -sys.float_info.max  # odd ones


def _integer(values: NDArray[Any]) -> Floats:
    """Of 64-bit integers: what is too long for a float has its last bits replaced by one."""
    magnitude = numpy.where(values < 0, -values.astype(numpy.uint64), values.astype(numpy.uint64))
    last = magnitude & numpy.uint64((1 << _LOST_BITS) - 1)
    sticky = (last != 0).astype(numpy.uint64) << numpy.uint64(_LOST_BITS)
    is_long = magnitude >> numpy.uint64(64 - _LOST_BITS) != 0
    floats = numpy.where(is_long, (magnitude ^ last) | sticky, magnitude).astype(numpy.float64)
    return numpy.where(values < 0, -floats, floats)


def _single(values: NDArray[Any]) -> Floats:
    """Of binary32: a processor that takes subnormal numbers for zero would convert none."""
    bits = values.view(numpy.uint32)
    subnormal = (bits & numpy.uint32(0x7FFFFF)).astype(numpy.float64) * 2.0**-149
    is_subnormal = bits & numpy.uint32(0x7F800000) == 0
    sized = numpy.where(bits >> numpy.uint32(31), -subnormal, subnormal)
    return numpy.where(is_subnormal, sized, values.astype(numpy.float64))


def _long_double(values: NDArray[Any]) -> Floats:
    """Of long doubles."""
    floats = values.astype(numpy.float64)
    greatest = numpy.copysign(sys.float_info.max, floats)
    floats = numpy.where(numpy.isinf(floats) & numpy.isfinite(values), greatest, floats)
    size, rounded = numpy.abs(values), numpy.abs(floats.astype(values.dtype))
    bits = floats.view(numpy.uint64)
    is_even = bits & numpy.uint64(1) == 0
    more, less = is_even & (size > rounded), is_even & (size < rounded)
    odd: Floats = (bits + more - less.astype(numpy.uint64)).view(numpy.float64)
    return odd
