# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums of a worker's own arrays, by ctypes."""

import ctypes
import os
from typing import Any

import numpy
from numpy.typing import NDArray

from netfc import aggregation, catalogue
from netfc._allreduce import library
from netfc._allreduce_arguments import check_layout, numpy_array
from netfc._native import given, loading
from netfc.protocol import Flag

_FORMATS = {row.name: row for row in catalogue.FORMATS}
_NUMBERS = {row.name: row.number for row in catalogue.FORMATS} | catalogue.format_pairs()

# pylint: disable=redefined-builtin


class Totals:
    """Exact sums of arrays, lane by lane: what a worker gives that has several arrays to add.

    count: lanes. format: a key of netfc.allreduce.FORMATS, or two with a colon, of values and of
    wider results: "bf16:fp32". build: as Communicator has it.
    Takes 9 to 33 bytes a lane where lanes are of similar magnitude, and address space for all
    numbers that there are: 33 to 53 bytes a lane, of bf16 and fp32 89, of fp64 545. Raises
    ValueError for what there is not, MemoryError.
    """

    def __init__(
        self, count: int, format: str = "fp32", build: str | os.PathLike[str] | None = None
    ):
        if format not in _NUMBERS or not 0 < count <= 1 << 40:
            raise ValueError(
                f"there are no totals of {count} '{format}': give 1 or more of one of"
                f" {', '.join(_NUMBERS)}"
            )
        self.count, self.format, self.number = count, format, _NUMBERS[format]
        self._row, self._results = (_FORMATS[format.split(":")[end]] for end in (0, -1))
        self._functions = library(str(build) if build else loading.named_build())
        made = self._functions.netfc_allreduce_totals_new(self.number, count)
        if made is None:
            raise MemoryError(f"there is not enough memory for totals of {count} {format}")
        self.pointer = loading.owned(made, self._functions.netfc_allreduce_totals_free)

    @property
    def dtype(self) -> Any:
        """Of results: numpy's own type of the format, or that of encodings."""
        known = self._results.dtype if self._results.dtype != "bfloat16" else ""
        return numpy.dtype(known or f"uint{self._results.bits}")

    def add(self, array: NDArray[Any], first: int | None = None) -> None:
        """Add an array, exactly, to all lanes or to as many as it has, from `first` on.

        Without a copy, if it is contiguous. Raises TypeError or ValueError for what does not fit.
        """
        numpy_array(array, "its numbers are added")
        if array.dtype.name not in (self._row.dtype, f"uint{self._row.bits}"):
            raise TypeError(f"an array of {array.dtype} does not hold {self.format}")
        fits = array.size == self.count if first is None else 0 <= first <= self.count - array.size
        if not fits or not array.dtype.isnative:
            where = "" if first is None else f" from {first} on"
            raise ValueError(
                f"an array of {array.size} {array.dtype.str} does not fit {self.count} lanes{where}"
                " in this machine's byte order"
            )
        whole = given.in_memory(array)
        self._functions.netfc_allreduce_totals_add_some(
            self.pointer, first or 0, whole.size, whole.ctypes.data
        )

    def fold(self, into: "Totals", lane: int = 0) -> None:
        """Add the sums of all lanes to one lane of other totals. Raises ValueError for what does
        not fit."""
        if into.format != self.format or into is self or not 0 <= lane < into.count:
            raise ValueError(
                f"{self.format} does not fold into lane {lane} of {into.count} {into.format}: give"
                " other totals of the same format that have the lane"
            )
        self._functions.netfc_allreduce_totals_fold(into.pointer, lane, self.pointer)

    def divide(self, divisor: int) -> None:
        """Have result() and means of Communicator.allreduce_totals() divide by this number before
        they round, instead of by none and by that of workers; 0: as at first. It is the same at all
        workers, which all give totals then. Raises ValueError for what is out of range.
        """
        if not 0 <= divisor <= aggregation.MAX_DIVISOR:
            raise ValueError(
                f"{divisor} is no divisor of totals: give 0 to {aggregation.MAX_DIVISOR}"
            )
        self._functions.netfc_allreduce_totals_divide(self.pointer, divisor)

    def result(self, into: NDArray[Any] | None = None) -> tuple[NDArray[Any], Flag]:
        """The sums, each rounded once, and their exception flags: what a worker that is alone gets
        of Communicator.allreduce_totals(). Lanes to which nothing was added are -0.

        into: where they go, contiguous; None: a new array. Raises ValueError for what does not fit.
        """
        result = numpy.empty(self.count, self.dtype) if into is None else into
        if result.size != self.count or result.dtype != self.dtype:
            raise ValueError(
                f"{self.count} sums of {self.dtype} do not fit an array of {result.size}"
                f" {result.dtype}"
            )
        check_layout(result, writes=True)
        flags = ctypes.c_uint()
        self._functions.netfc_allreduce_totals_round(
            self.pointer, result.ctypes.data, ctypes.byref(flags)
        )
        return result, Flag(flags.value)

    def clear(self) -> None:
        """Empty all lanes."""
        self._functions.netfc_allreduce_totals_clear(self.pointer)
