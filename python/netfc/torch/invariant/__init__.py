# SPDX-License-Identifier: BSD-3-Clause
"""Training that gives the same bits on any number of processes.

A unit is a micro-batch: what one process computes in one go. Its gradients do not depend on who
computes it. Units' gradients are added exactly, and the sum over all units of all processes is
rounded once; so it does not matter which process has which units, nor how many there are.

    from netfc.torch import invariant

    sampler = invariant.UnitSampler(len(data), unit=16, units=8, seed=1)
    loader = torch.utils.data.DataLoader(data, batch_sampler=sampler)
    training = invariant.Training(model, sampler)  # in the place of DistributedDataParallel
    for step in training.steps(loader, until=200):
        for inputs, labels in step:
            step.backward(loss_function(model(inputs), labels))  # a mean over the unit
        optimizer.step()

With one process no switch is needed. With several, the process group's back end is "netfc", and its
switch takes digits (--aggregate digits=fp32). docs/reproducible.md of dpdk-netfc has the rest.
"""

from netfc.torch.invariant.agreement import InvariantError
from netfc.torch.invariant.blocks import Adder, spread, sum_blocks
from netfc.torch.invariant.parallel import (
    ColumnParallelLinear,
    RowParallelLinear,
    VocabParallelEmbedding,
    ordinary_state_dict,
    vocab_parallel_cross_entropy,
)
from netfc.torch.invariant.randoms import seed_of
from netfc.torch.invariant.sampler import UnitSampler
from netfc.torch.invariant.training import Step, Training

__all__ = [
    "Adder",
    "ColumnParallelLinear",
    "InvariantError",
    "RowParallelLinear",
    "Step",
    "Training",
    "UnitSampler",
    "VocabParallelEmbedding",
    "ordinary_state_dict",
    "seed_of",
    "spread",
    "sum_blocks",
    "vocab_parallel_cross_entropy",
]
