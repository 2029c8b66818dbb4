# SPDX-License-Identifier: BSD-3-Clause
"""Tensor parallel layers whose outputs and gradients do not depend on the number of ranks.

A layer's matrix is cut into blocks, as many for any number of ranks, and each rank has as many of
them. Products of blocks have the same shape everywhere; where they are added up, it is exact.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import nn

from netfc.torch.invariant.blocks import Adder, mark_block, spread, sum_blocks

BLOCKS = 8


class Parallel(nn.Module):  # pylint: disable=abstract-method
    """A layer of which each rank of a group has some blocks.

    blocks: of all ranks. group: of back end "netfc"; None: the default one, if there is any.
    Parameters have a dimension for this rank's blocks in front. An ordinary state dict can be
    loaded, and ordinary_state_dict() gives one. Raises ValueError for what blocks do not divide.
    """

    def __init__(self, blocks: int, group: Any, size: int):
        super().__init__()
        self.adder = Adder(group)
        ranks = self.adder.ranks
        if blocks < 1 or size % blocks or blocks % ranks.size:
            raise ValueError(
                f"{size} features in {blocks} blocks at {ranks.size} ranks: give blocks that divide"
                " the features, and ranks that divide the blocks"
            )
        self.block, self.own = size // blocks, blocks // ranks.size
        self.first = ranks.rank * self.own  # this rank's first block
        self.size = size  # of all ranks' blocks

    def check_range(self, what: str, numbers: Any) -> None:
        """Raises IndexError for numbers of features that there are not, which no rank has."""
        wrong = numbers[(numbers < 0) | (numbers >= self.size)]
        if wrong.numel():
            raise IndexError(
                f"{what} {int(wrong[0])} is none of {self.size}: give 0 to {self.size - 1}"
            )

    # By parameter: which of its dimensions is cut into blocks.
    cut: dict[str, int] = {}

    def cut_out(self, name: str, whole: Any) -> Any:
        """This rank's blocks of an ordinary parameter."""
        dimension = self.cut[name]
        parts = whole.detach().split(self.block, dimension)[self.first : self.first + self.own]
        return torch.stack([part.contiguous() for part in parts])

    def take(self, name: str, whole: Any) -> None:
        """Have this rank's part of an ordinary parameter, or all of it."""
        if name in self.cut:
            parameter = mark_block(nn.Parameter(self.cut_out(name, whole)))
        else:
            parameter = nn.Parameter(whole.detach().clone())
        self.register_parameter(name, parameter)

    def ordinary(self, name: str) -> Any:
        """The whole of a parameter; all ranks call it."""
        own = getattr(self, name).detach()
        if name not in self.cut:
            return own
        all_of = [torch.empty_like(own) for _ in range(self.adder.ranks.size)]
        if self.adder.ranks.group is None:
            all_of = [own]
        else:
            dist.all_gather(all_of, own, group=self.adder.ranks.group)
        return torch.cat([block for part in all_of for block in part], self.cut[name])

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *arguments: Any) -> None:
        ours = dict(state_dict)
        for name, dimension in self.cut.items():
            whole = state_dict.get(prefix + name)
            own = getattr(self, name, None)
            if whole is None or own is None or whole.dim() >= own.dim():
                continue
            if whole.shape[dimension] == self.size:  # else it is refused by its shape
                ours[prefix + name] = self.cut_out(name, whole)
        super()._load_from_state_dict(ours, prefix, *arguments)


class ParallelLinear(Parallel):  # pylint: disable=abstract-method
    """nn.Linear whose weight is cut."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        *,
        blocks: int = BLOCKS,
        group: Any = None,
    ):
        super().__init__(blocks, group, (out_features, in_features)[self.cut["weight"]])
        for name, one in nn.Linear(in_features, out_features, bias).named_parameters():
            self.take(name, one)


class ColumnParallelLinear(ParallelLinear):
    """nn.Linear whose outputs are cut into blocks: gives this rank's, one after the other.

    What follows, up to RowParallelLinear, has to treat elements by themselves: an activation.
    """

    cut = {"weight": 0, "bias": 0}

    def blocks_of(self, values: Any) -> list[Any]:
        """The outputs, block by block."""
        copies = spread(values, self.own, self.adder)
        bias = getattr(self, "bias", None)
        return [
            nn.functional.linear(copy, self.weight[own], None if bias is None else bias[own])
            for own, copy in enumerate(copies)
        ]

    def forward(self, values: Any) -> Any:
        """values: of shape (..., in_features), the same at all ranks."""
        return torch.cat(self.blocks_of(values), -1)


class RowParallelLinear(ParallelLinear):
    """nn.Linear whose inputs are cut into blocks, as ColumnParallelLinear gives them; its output is
    the exact sum of all blocks' products, rounded once, and the bias."""

    cut = {"weight": 1}

    def forward(self, values: Any) -> Any:
        """values: this rank's blocks, of shape (..., in_features / ranks)."""
        if values.shape[-1] != self.own * self.block:
            raise ValueError(
                f"{values.shape[-1]} features are not {self.own} blocks of {self.block}: give this"
                " rank's, as ColumnParallelLinear does"
            )
        parts = values.split(self.block, -1)
        products = [
            nn.functional.linear(part.contiguous(), self.weight[own])
            for own, part in enumerate(parts)
        ]
        total = sum_blocks(products, self.adder)
        bias = getattr(self, "bias", None)
        return total if bias is None else total + bias


class VocabParallelEmbedding(Parallel):
    """nn.Embedding whose rows are cut into blocks."""

    cut = {"weight": 0}

    def __init__(
        self, num_embeddings: int, embedding_dim: int, *, blocks: int = BLOCKS, group: Any = None
    ):
        super().__init__(blocks, group, num_embeddings)
        self.take("weight", nn.Embedding(num_embeddings, embedding_dim).weight)

    def forward(self, indices: Any) -> Any:
        """indices: of any shape, the same at all ranks."""
        self.check_range("index", indices)
        rows = self.weight.flatten(0, 1)
        own = indices - self.first * self.block
        is_own = (own >= 0) & (own < len(rows))
        found = nn.functional.embedding(own[is_own], rows)
        # An empty sum is -0: others' rows are not changed by it, whatever their zeros' sign.
        values = torch.full((*indices.shape, rows.shape[1]), -0.0, dtype=rows.dtype)
        values = values.index_put((is_own,), found)
        return sum_blocks([values], self.adder)


class _CrossEntropy(torch.autograd.Function):  # pylint: disable=abstract-method
    """Of blocks of logits; each is (samples, block)."""

    @staticmethod
    def forward(  # pylint: disable=arguments-differ
        ctx: Any, layer: Parallel, targets: Any, *blocks: Any
    ) -> Any:
        """The mean loss."""
        layer.check_range("target", targets)
        adder = layer.adder
        greatest = torch.stack([block.max(1).values for block in blocks]).max(0).values
        greatest = adder.ranks.greatest(greatest)
        powers = [(block - greatest[:, None]).exp_() for block in blocks]
        total = adder.total([power.sum(1) for power in powers])
        own = targets - layer.first * layer.block
        hits = []
        target = torch.full_like(greatest, -0.0)
        for number, block in enumerate(blocks):
            places = own - number * layer.block
            samples = ((places >= 0) & (places < layer.block)).nonzero()[:, 0]
            places = places[samples]
            hits.append((samples, places))
            target[samples] = block[samples, places]
        ctx.save_for_backward(total, *powers)
        ctx.hits = hits
        return (total.log() + greatest - adder.total([target])).mean()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Softmax less the targets, of each block."""
        (gradient,) = gradients
        total, *powers = ctx.saved_tensors
        results = []
        for power, (samples, places) in zip(powers, ctx.hits):
            one = power / total[:, None]
            one[samples, places] -= 1
            results.append(one * (gradient / len(total)))
        return (None, None, *results)


def vocab_parallel_cross_entropy(head: ColumnParallelLinear, values: Any, targets: Any) -> Any:
    """The mean cross entropy of a layer's outputs, of which no rank has all.

    head: the last layer, a class for each output. values: its inputs, (samples, features). targets:
    classes, (samples).
    """
    blocks = head.blocks_of(values)
    return _CrossEntropy.apply(head, targets, *blocks)


def ordinary_state_dict(model: nn.Module) -> dict[str, Any]:
    """A model's state dict as one without parallel layers has it; all ranks call it."""
    state = dict(model.state_dict())
    for prefix, module in model.named_modules():
        if isinstance(module, Parallel):
            for name, _ in module.named_parameters(recurse=False):
                key = f"{prefix}.{name}" if prefix else name
                state[key] = module.ordinary(name)
    return state
