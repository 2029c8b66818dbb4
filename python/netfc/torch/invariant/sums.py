# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums of tensors, over units and over ranks."""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch

from netfc.allreduce import Totals
from netfc.torch import layout
from netfc.torch.invariant.agreement import Alone, Done

FORMATS = {
    kind: layout.FORMATS[kind]
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64)
}


_SMALL = 1 << 14  # numbers

# What DistributedDataParallel puts tensors together with, in one call.
_flatten = torch._utils._flatten_dense_tensors  # pylint: disable=protected-access


class Sums:
    """The sums of tensors of one type and these shapes, in the order of the shapes.

    dtype: a key of FORMATS. results: their type, float32 or the same as dtype; None: that. Takes 9
    to 33 bytes for each element, see netfc.allreduce.Totals.
    """

    def __init__(self, dtype: Any, shapes: Sequence[Any], results: Any = None):
        self.dtype, self._shapes = dtype, list(shapes)
        self._results = results or dtype
        sizes = [torch.Size(shape).numel() for shape in self._shapes]
        self._first = [0, *itertools.accumulate(sizes)]
        form = ":".join(dict.fromkeys((FORMATS[dtype], FORMATS[self._results])))
        self._totals = Totals(max(1, self._first[-1]), form)
        self._is_new = True
        self._result: Any = None

    def forget(self) -> None:
        """Begin anew, whatever a failure, or who has not gone on, has left here. What may still be
        under way has the old totals."""
        if not self._is_new:
            self._totals = Totals(self._totals.count, self._totals.format)
            self._is_new = True

    def add(self, place: int, tensor: Any) -> None:
        """Add a tensor to those of its place, exactly, without a copy if it is contiguous."""
        self._is_new = False
        if tensor.numel():
            values = layout.as_array(tensor.detach().contiguous())
            self._totals.add(values, self._first[place])

    def add_all(self, tensors: Sequence[Any]) -> None:
        """Add a tensor to those of each place; None: nothing. Small ones are put together first: a
        copy takes less than a call."""
        self._is_new = False
        some: list[Any] = []
        for place, tensor in enumerate((*tensors, None)):
            if tensor is not None and tensor.numel() < _SMALL:
                some.append(tensor)
                continue
            if some:
                values = layout.as_array(_flatten(some).detach())
                self._totals.add(values, self._first[place - len(some)])
                some = []
            if tensor is not None:
                self.add(place, tensor)

    def add_lanes(self, totals: Totals) -> None:
        """Add all lanes of other totals of this type to the first number."""
        self._is_new = False
        totals.fold(self._totals)

    def start(self, ranks: Alone, count: int = 1) -> Any:
        """Start to add up those of all ranks, divided by a count; gives what has a wait()."""
        self._is_new = False
        self._totals.divide(count)
        self._result = torch.empty(self._totals.count, dtype=self._results)
        if ranks.group is None:
            self._totals.result(layout.as_array(self._result))
            return Done()
        return ranks.group.allreduce_totals(
            self._totals, self._result, "mean" if count > 1 else "sum"
        )

    def finish(self) -> list[Any]:
        """Once that is done: the results, each rounded once. Views of one new tensor. The sums are
        empty again."""
        result, self._result = self._result, None
        self._totals.clear()
        self._is_new = True
        return [
            result[first:end].view(shape)
            for shape, first, end in zip(self._shapes, self._first, self._first[1:])
        ]


_LANES = 1 << 14


def norm(tensors: Iterable[Any], ranks: Alone) -> float:
    """The root of the sum of all squares of all ranks, exact for types up to float32."""
    lanes, whole = Totals(_LANES, "fp64"), Sums(torch.float64, [()])
    for tensor in tensors:
        squares = tensor.detach().double().reshape(-1).square().numpy()
        for first in range(0, squares.size, _LANES):
            lanes.add(squares[first : first + _LANES], 0)
    whole.add_lanes(lanes)
    whole.start(ranks).wait()
    return math.sqrt(whole.finish()[0])
