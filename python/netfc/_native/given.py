# SPDX-License-Identifier: BSD-3-Clause
"""Numbers and encodings as callers give them: the door that all of them come through.

What is no real number is refused here: complex numbers, texts, bytes, truth values, dates, None,
and arrays with a mask, which would not count.
"""

import array
import numbers
import os
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import NDArray

# Sequences of something else than numbers, and arrays, which know their type.
_NO_LISTS = (str, bytes, bytearray, memoryview, array.array)

_EXACT_IN_A_FLOAT = 2**53  # integers up to here


def real_array(what: str, values: Any) -> NDArray[Any]:
    """An array of real numbers, in the machine's byte order: integers, floats of any width, or
    objects of Python's where numpy has no type that holds them all.

    what: for the message, "x is". Raises TypeError for what is no real number.
    """
    types = _types(values)
    for kind in types:
        if not _is_real(kind):
            raise TypeError(f"{what} {kind.__name__}, not an array of real numbers")
    taken = numpy.asarray(values)
    if _has_lost(taken, types):
        taken = numpy.asarray(values, dtype=object)
    return taken if taken.dtype.isnative else taken.astype(taken.dtype.newbyteorder("="))


def encodings(what: str, values: Any, kind: numpy.dtype[Any]) -> NDArray[Any]:
    """Encodings in their type, an unsigned one.

    what: for messages, "x is". Raises TypeError for what is no real number, ValueError for what is
    no encoding.
    """
    taken, greatest = real_array(what, values), int(numpy.iinfo(kind).max)
    is_integer = taken.dtype.kind in "iu" or all(
        issubclass(one, numbers.Integral) for one in _types(taken)
    )
    if taken.size and not (is_integer and ((taken >= 0) & (taken <= greatest)).all()):
        raise ValueError(f"{what} no encodings: encodings are integers from 0 to {greatest}")
    return taken.astype(kind)


def no_mask(values: Any) -> None:
    """Raises TypeError for an array that has a mask."""
    if isinstance(values, numpy.ma.MaskedArray):
        raise TypeError("an array's mask would not count: give its filled() values")


def in_memory(values: NDArray[Any], kind: Any = None) -> NDArray[Any]:
    """The array as C functions take it: in one piece, aligned, of that type; a copy if need be."""
    return numpy.require(values, kind, ["C", "A"])


def c_text(what: str, text: str) -> bytes:
    """A name for a C function. Raises ValueError for one with a NUL, which would end there."""
    if not isinstance(text, str):
        raise TypeError(f"{what} {text!r}: expected str, not {type(text).__name__}")
    return _whole(what, text.encode())


def c_path(what: str, path: str | os.PathLike[str]) -> bytes:
    """Likewise, a file's name, whatever its bytes."""
    return _whole(what, os.fsencode(path))


def _whole(what: str, text: bytes) -> bytes:
    if b"\0" in text:
        name = os.fsdecode(text)
        raise ValueError(f"{what} {name!r} has a NUL, which would end it: leave that out")
    return text


def _types(values: Any) -> set[type]:
    """The types of all numbers in it, however deep."""
    no_mask(values)
    if isinstance(values, Sequence) and not isinstance(values, _NO_LISTS):
        types = set(map(type, values))
        simple = {kind for kind in types if issubclass(kind, (int, float, numpy.number))}
        if types == simple:
            return types
        return simple.union(*(_types(one) for one in values if type(one) not in simple))
    if isinstance(values, (memoryview, array.array)) or hasattr(values, "__array__"):
        taken = numpy.asarray(values)
        if taken.dtype.hasobject:
            return set(map(type, taken.ravel().tolist()))
        return {taken.dtype.type}
    return {type(values)}


def _is_real(kind: type) -> bool:
    if issubclass(kind, numpy.generic):
        dtype = numpy.dtype(kind)
        # The kind of types that others have made, bfloat16 for instance, is V.
        is_others = dtype.kind == "V" and kind is not numpy.void
        return dtype.kind in "iuf" or (is_others and numpy.can_cast(dtype, numpy.float32))
    return issubclass(kind, (numbers.Rational, float)) and kind is not bool


def _has_lost(taken: NDArray[Any], types: set[type]) -> bool:
    """Whether numpy may have rounded integers of a list when it made an array of it."""
    if taken.dtype.kind != "f" or not any(issubclass(kind, numbers.Integral) for kind in types):
        return False
    return taken.dtype != numpy.float64 or not (numpy.abs(taken) <= _EXACT_IN_A_FLOAT).all()
