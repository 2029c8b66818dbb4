# SPDX-License-Identifier: BSD-3-Clause
"""What calls of netfc.allreduce are given, checked, as numbers of the library."""

from typing import Any

import numpy
from numpy.typing import NDArray

from netfc import aggregation, catalogue
from netfc._allreduce import KINDS
from netfc._native import given
from netfc.aggregation import Place

_FORMATS = {row.name: row for row in catalogue.FORMATS}
FORMATS = {name: row.number for name, row in _FORMATS.items()}
OPS = {
    name: number
    for name, number in aggregation.OPS.items()
    if name not in ("join", "copy", "leave")
}

# Formats that an array's type tells; others are encodings (uint16, uint8), which need `format`.
_BY_DTYPE = {row.dtype: name for name, row in _FORMATS.items() if row.dtype}

_PAIRS = catalogue.format_pairs()

# Types that there are sums and dot products of.
_SUMMED = ("float32", "float64", "int32", "int64")
_MULTIPLIED = ("float32", "float64")


def numpy_array(array: Any, use: str) -> NDArray[Any]:
    """The array. Raises TypeError for what is none, or has a mask. use: what it is taken for."""
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"{type(array).__name__} is not a numpy array: {use}")
    given.no_mask(array)
    return array


def total_format(name: str, arrays: list[NDArray[Any]]) -> int:
    """The number of the arrays' format, for sum() of one and dot() of two."""
    names = _SUMMED if name == "sum" else _MULTIPLIED
    for array in arrays:
        numpy_array(array, "its numbers are added")
        if array.dtype.name not in names or not array.dtype.isnative:
            raise TypeError(
                f"there is no {name} of an array of {array.dtype}: use {', '.join(names)}"
            )
    x, y = arrays[0], arrays[-1]
    if x.dtype != y.dtype or x.shape != y.shape:
        raise ValueError(
            f"arrays of {x.dtype} {x.shape} and of {y.dtype} {y.shape} have no dot product:"
            " give two of one type and shape"
        )
    return FORMATS[_BY_DTYPE[x.dtype.name]]


def ranged(name: str, value: int, bits: int) -> int:
    """A number of so many bits. Raises ValueError for others."""
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{name} is {value}: give 0 to {(1 << bits) - 1}")
    return value


def put_place(options: Any, place: Place | None) -> None:
    """Raises ValueError for one that no option can say; the library sees to the others."""
    if place is None:
        return
    if place.workers < 1 or len(place.path) > aggregation.MAX_LEVELS:
        raise ValueError(
            f"place has {place.workers} workers and {len(place.path)} switches above: give 1 or"
            f" more workers, and up to {aggregation.MAX_LEVELS} switches"
        )
    options.tree_workers = ranged("place.workers", place.workers, 32)
    options.levels = len(place.path)
    for level, (members, index) in enumerate(place.path):
        options.level[level].members = ranged("place.path", members, 32)
        options.level[level].index = ranged("place.path", index, 32)


def job_token(token: int | None, workers: int) -> int:
    """0, with which the library draws one, for a worker that is alone."""
    if not token and workers > 1:
        raise ValueError(
            f"token is {'missing' if token is None else token}, which anybody would guess: let one"
            " worker draw one, netfc.allreduce.draw_token(), and hand it to the others"
        )
    return ranged("token", token or 0, 64)


def scaled(name: str, seconds: float, per_second: int) -> int:
    """Seconds in another unit, in 32 bits. Raises ValueError for others."""
    value = round(seconds * per_second) if 0 <= seconds < 1 << 32 else -1
    if not 0 <= value < 1 << 32:
        raise ValueError(f"{name} is {seconds} s: give 0 to {(2**32 - 1) / per_second} s")
    return value


def format_number(array: NDArray[Any] | None, name: str | None, result: NDArray[Any] | None) -> int:
    """The number of the format, or of two, which have to fit the arrays' types."""
    array = numpy_array(array, "results are written in place")
    of_values, _, of_results = (name or "").partition(":")
    of_values = format_of(array, of_values)
    if not isinstance(result, numpy.ndarray):
        pair = f"{of_values}:{of_results}"
        return _PAIRS[pair] if pair in _PAIRS else FORMATS[of_values]
    if not of_results and result.dtype == array.dtype:
        return FORMATS[of_values]
    of_results = format_of(result, of_results)
    if of_results == of_values:
        return FORMATS[of_values]
    pair = f"{of_values}:{of_results}"
    if pair not in _PAIRS:
        others = catalogue.WIDER_RESULTS.get(of_values)
        raise TypeError(
            f"results of {of_values} cannot be {of_results}"
            + (f": give an array for {' or '.join(others)}" if others else "")
        )
    return _PAIRS[pair]


def format_of(array: NDArray[Any], name: str) -> str:
    """The name of the array's format; "": as its type says."""
    name = name or _BY_DTYPE.get(array.dtype.name, "")
    if not name:
        raise TypeError(
            f"an array of {array.dtype} cannot be reduced: use float64, float32, float16, int64,"
            " int32, or encodings (uint16, uint8) with their format named"
        )
    if name not in FORMATS:
        raise ValueError(f"there is no format '{name}': give one of {', '.join(FORMATS)}")
    row = _FORMATS[name]
    encodings = {16: "uint16", 8: "uint8"}.get(row.bits)
    if array.dtype.name not in (row.dtype, encodings):
        raise TypeError(f"an array of {array.dtype} does not hold {name}")
    return name


def kind_number(kind: str) -> int:
    """Of a collective."""
    if kind not in KINDS:
        raise ValueError(f"there is no collective '{kind}': give one of {', '.join(KINDS)}")
    return KINDS.index(kind)


def bytes_of(array: NDArray[Any] | None) -> int:
    """An array's, which are copied."""
    return numpy_array(array, "its bytes are copied").nbytes


def size_of(array: NDArray[Any] | None) -> int:
    """An array's values."""
    return numpy_array(array, "results are written there").size


def op_number(op: str) -> int:
    """Of a reduction."""
    if op not in OPS:
        raise ValueError(f"there is no operation '{op}': give one of {', '.join(OPS)}")
    return OPS[op]


def check_layout(array: NDArray[Any], writes: bool) -> None:
    """Values are read, and results written, in place, in one piece of memory."""
    numpy_array(array, "results are written there" if writes else "its values are read in place")
    if array.dtype.hasobject:
        raise TypeError(f"an array of {array.dtype} has addresses, which say nothing to others")
    if not array.flags.c_contiguous:
        raise ValueError("the array is not contiguous in C's order: give numpy.ascontiguousarray()")
    if not array.flags.aligned:
        raise ValueError(
            f"the array's memory is not aligned for {array.dtype}, as that of a part of a message"
            ' may be: give numpy.require(array, requirements="CAW"), which copies it'
        )
    if writes and not array.flags.writeable:
        raise ValueError("the array is read-only, and results are written in place")
    if not array.dtype.isnative:
        raise ValueError(f"an array of {array.dtype.str} is not in this machine's byte order")


def check_parts(
    kind: str, values: NDArray[Any] | None, result: NDArray[Any] | None, workers: int
) -> None:
    """Raises ValueError, TypeError: the arrays do not fit each other."""
    if kind == "barrier" or values is None or result is None:
        return
    if kind == "broadcast":
        if values.nbytes != result.nbytes:
            raise ValueError(f"{values.nbytes} bytes do not go into {result.nbytes}")
        return
    if kind in ("allreduce", "reduce"):
        if values.size != result.size:
            raise ValueError(f"{values.size} values need as many results, not {result.size}")
        return
    if kind == "allgather":
        part, whole, unit = values.nbytes, result.nbytes, "bytes"
    else:
        part, whole, unit = result.size, values.size, "values"
    if part * workers != whole:
        raise ValueError(
            f"{kind}: an array of {whole} {unit} is not {workers} times"
            f" {part}, a part for each worker"
        )
