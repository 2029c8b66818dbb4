# SPDX-License-Identifier: BSD-3-Clause
"""Operands and results as numpy arrays: numbers (float64) or encodings (uint16)."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy
from numpy.typing import ArrayLike, NDArray

Encodings = NDArray[numpy.uint16]
Values = NDArray[numpy.float64]


class Codec(Protocol):
    """What goes from numbers to encodings and back."""

    def encode(self, values: ArrayLike) -> Encodings:
        """Numbers to encodings."""

    def decode(self, bits: ArrayLike) -> Values:
        """Encodings to numbers."""


def operands(x: ArrayLike, y: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """x and y in one shape, both float64 or both uint16.

    Raises TypeError for what is no real number or of two kinds, ValueError for shapes that
    numpy cannot broadcast.
    """
    first, second = _as_lanes("x", x), _as_lanes("y", y)
    if first.dtype != second.dtype:
        raise TypeError(
            f"x is {first.dtype} and y is {second.dtype}: give numbers for both,"
            " or encodings (uint16)"
        )
    try:
        first, second = numpy.broadcast_arrays(first, second)
    except ValueError as error:
        message = f"x and y differ in shape: {first.shape} and {second.shape}"
        raise ValueError(message) from error
    return first, second


def compute(
    codec: Codec,
    x: ArrayLike,
    y: ArrayLike,
    on_encodings: Callable[[Encodings, Encodings], Encodings],
) -> NDArray[Any]:
    """Results of the kind of the operands, whatever works on encodings alone."""
    first, second = operands(x, y)
    if first.dtype == numpy.uint16:
        z: Encodings = on_encodings(first, second)[()]
        return z
    return codec.decode(on_encodings(codec.encode(first), codec.encode(second)))


def encoded(codec: Codec, x: ArrayLike, y: ArrayLike) -> tuple[Encodings, Encodings]:
    """operands() as encodings, whatever they were."""
    first, second = operands(x, y)
    if first.dtype == numpy.uint16:
        return first, second
    return codec.encode(first), codec.encode(second)


def _as_lanes(name: str, values: ArrayLike) -> NDArray[Any]:
    array = numpy.asarray(values)
    if array.dtype == numpy.uint16:
        return array
    if array.dtype.kind not in "iuf" and array.size > 0:
        raise TypeError(f"{name} is {array.dtype}, not an array of real numbers")
    return array.astype(numpy.float64)
