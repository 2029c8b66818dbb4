# SPDX-License-Identifier: BSD-3-Clause
"""Operands and results of binary32 as numpy arrays: numbers (float32) or encodings (uint32)."""

from collections.abc import Callable
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray

WideEncodings = NDArray[numpy.uint32]
Lanes = NDArray[numpy.float32] | WideEncodings


def encode(values: ArrayLike) -> WideEncodings:
    """The encodings nearest to numbers, ties to even. Raises TypeError for what is no number."""
    with numpy.errstate(over="ignore"):
        return _numbers("values are", numpy.asarray(values)).view(numpy.uint32)


def decode(bits: ArrayLike) -> NDArray[numpy.float32]:
    """The values of encodings, integers from 0 to 2^32 - 1."""
    array = numpy.asarray(bits)
    if array.dtype.kind not in "iu" or (array.size > 0 and not _fits(array)):
        raise ValueError("encodings are integers from 0 to 4294967295")
    return array.astype(numpy.uint32).view(numpy.float32)


def encoded(x: ArrayLike, y: ArrayLike) -> tuple[WideEncodings, WideEncodings, bool]:
    """Operands as encodings of one shape, and whether they were numbers.

    Raises TypeError for what is no real number or for numbers with encodings, ValueError for
    shapes that numpy cannot broadcast.
    """
    lanes = {"x": numpy.asarray(x), "y": numpy.asarray(y)}
    are_numbers = [lane.dtype != numpy.uint32 for lane in lanes.values()]
    if are_numbers[0] != are_numbers[1]:
        kinds = " and ".join(f"{name} is {lane.dtype}" for name, lane in lanes.items())
        raise TypeError(f"{kinds}: give numbers for both, or encodings (uint32)")
    if are_numbers[0]:
        with numpy.errstate(over="ignore"):
            lanes = {
                name: _numbers(f"{name} is", lane).view(numpy.uint32)
                for name, lane in lanes.items()
            }
    try:
        first, second = numpy.broadcast_arrays(*lanes.values())
    except ValueError as error:
        shapes = " and ".join(str(lane.shape) for lane in lanes.values())
        raise ValueError(f"x and y differ in shape: {shapes}") from error
    return first, second, are_numbers[0]


def compute(
    on_encodings: Callable[[WideEncodings, WideEncodings], WideEncodings],
    x: ArrayLike,
    y: ArrayLike,
) -> Lanes:
    """Results of the kind of the operands: float32, or uint32 for encodings."""
    first, second, are_numbers = encoded(x, y)
    z = on_encodings(first, second)
    return z.view(numpy.float32)[()] if are_numbers else z[()]


def _numbers(what: str, array: NDArray[numpy.generic]) -> NDArray[numpy.float32]:
    if array.dtype.kind not in "iuf" and array.size > 0:
        raise TypeError(f"{what} {array.dtype}, not an array of real numbers")
    return array.astype(numpy.float32)


def _fits(array: NDArray[Any]) -> bool:
    return bool((array >= 0).all() and (array <= 0xFFFFFFFF).all())
