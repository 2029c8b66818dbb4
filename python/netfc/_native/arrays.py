# SPDX-License-Identifier: BSD-3-Clause
"""Operands and results as numpy arrays: numbers or encodings, of the types that a format says."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy
from numpy.typing import ArrayLike, NDArray

from netfc._native.given import real_array

Encodings = NDArray[numpy.unsignedinteger[Any]]
Values = NDArray[numpy.floating[Any]]


_ALL = {2: "both", 3: "all"}


class Codec(Protocol):
    """What goes from numbers to encodings and back."""

    @property
    def encodings(self) -> numpy.dtype[Any]:
        """The type of encodings, such as uint16."""

    @property
    def numbers(self) -> numpy.dtype[Any]:
        """The type of numbers, such as float64."""

    def encode(self, values: ArrayLike) -> Encodings:
        """Numbers to encodings."""

    def decode(self, bits: ArrayLike) -> Values:
        """Encodings to numbers."""


def operands(codec: Codec, *values: ArrayLike) -> list[NDArray[Any]]:
    """Operands x, y, z in one shape, all numbers or all encodings.

    Raises TypeError for what is no real number or of two kinds, ValueError for shapes that
    numpy cannot broadcast.
    """
    lanes = {name: real_array(f"{name} is", array) for name, array in zip("xyz", values)}
    if len({array.dtype == codec.encodings for array in lanes.values()}) > 1:
        kinds = " and ".join(f"{name} is {array.dtype}" for name, array in lanes.items())
        wanted = f"numbers for {_ALL[len(lanes)]}, or encodings ({codec.encodings})"
        raise TypeError(f"{kinds}: give {wanted}")
    try:
        return list(numpy.broadcast_arrays(*lanes.values()))
    except ValueError as error:
        shapes = " and ".join(str(array.shape) for array in lanes.values())
        raise ValueError(f"{' and '.join(lanes)} differ in shape: {shapes}") from error


def compute(
    codec: Codec,
    on_encodings: Callable[..., Encodings],
    *values: ArrayLike,
    result: Codec | None = None,
) -> NDArray[Any]:
    """Results of the kind of the operands, whatever works on encodings alone.

    codec: that of operands, and of results unless `result` is given
    on_encodings: gives the encodings of results for those of operands
    values: the operands x, y, z, or fewer
    """
    lanes = operands(codec, *values)
    if lanes[0].dtype == codec.encodings:
        z: Encodings = on_encodings(*lanes)[()]
        return z
    return (result or codec).decode(on_encodings(*map(codec.encode, lanes)))


def encoded(codec: Codec, *values: ArrayLike) -> list[Encodings]:
    """operands() as encodings, whatever they were."""
    lanes = operands(codec, *values)
    if lanes[0].dtype == codec.encodings:
        return lanes
    return list(map(codec.encode, lanes))
