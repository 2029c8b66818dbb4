# SPDX-License-Identifier: BSD-3-Clause
"""Sums over blocks of a matrix product, exact and rounded once, whoever has which blocks."""

from collections.abc import Sequence
from typing import Any

import torch

from netfc.torch.invariant.agreement import Ranks
from netfc.torch.invariant.sums import Sums


_BLOCK = "netfc_is_block"


def is_block(parameter: Any) -> bool:
    """Whether other ranks have other parts of a parameter."""
    return getattr(parameter, _BLOCK, False)


def mark_block(parameter: Any) -> Any:
    """Gives the parameter, of which this rank has a part."""
    setattr(parameter, _BLOCK, True)
    return parameter


class Adder:
    """Adds up blocks of all ranks of a group, as agreement.Ranks has it."""

    def __init__(self, group: Any = None):
        self.ranks = Ranks(group)
        self._sums: dict[Any, Sums] = {}

    def total(self, blocks: Sequence[Any]) -> Any:
        """The sum of this rank's blocks and all others', all of one type and shape."""
        key = blocks[0].dtype, blocks[0].shape
        if key not in self._sums:
            self._sums[key] = Sums(key[0], [key[1]])
        sums = self._sums[key]
        sums.forget()
        for block in blocks:
            sums.add(0, block)
        sums.start(self.ranks).wait()
        return sums.finish()[0]


class _Total(torch.autograd.Function):  # pylint: disable=abstract-method
    """Forward a sum; backward each block has its gradient."""

    @staticmethod
    def forward(ctx: Any, adder: Adder, *blocks: Any) -> Any:  # pylint: disable=arguments-differ
        """The sum."""
        ctx.count = len(blocks)
        return adder.total(blocks)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The sum's gradient, for each."""
        return (None, *gradients * ctx.count)


class _Spread(torch.autograd.Function):  # pylint: disable=abstract-method
    """Forward the same for each block; backward the sum of their gradients."""

    @staticmethod
    def forward(  # pylint: disable=arguments-differ
        ctx: Any, adder: Adder, count: int, values: Any
    ) -> Any:
        """As many views."""
        ctx.adder = adder
        return tuple(values.view_as(values) for _ in range(count))

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """The sum over all blocks of all ranks."""
        return None, None, ctx.adder.total(gradients)


def sum_blocks(blocks: Sequence[Any], adder: Adder) -> Any:
    """The exact sum of the blocks of all ranks, rounded once; with a gradient.

    blocks: tensors of one type and shape, of which each rank may have another number, but one at
    least. All ranks of the adder's group call it, in one order.
    """
    return _Total.apply(adder, *blocks)


def spread(values: Any, count: int, adder: Adder) -> tuple[Any, ...]:
    """The values for each of this rank's blocks: their gradient is the exact sum, over all blocks
    of all ranks, rounded once. It is the counterpart of sum_blocks()."""
    result: tuple[Any, ...] = _Spread.apply(adder, count, values)
    return result
