# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of torch_rank.py: the greatest gradients alone."""

import math

import torch

import torch_sparse
from torch_rank_fp8 import Bucket, other_order, steps_of, training

import netfc.torch


def topk_steps(fraction, block):
    """Of netfc.torch.topk_hook."""
    state = netfc.torch.TopKState(fraction=float(fraction), block=int(block))
    return steps_of(netfc.torch.topk_hook, state, torch_sparse.gradients, torch_sparse.STEPS)


def topk_training():
    """A training with a tenth of the gradients."""
    state = netfc.torch.TopKState(fraction=0.1, block=4)
    return training(netfc.torch.topk_hook, state, 150, 0.02)


def topk_other_order():
    """Of netfc.torch.topk_hook."""
    state = netfc.torch.TopKState(fraction=0.5, block=2)
    return other_order(netfc.torch.topk_hook, state, [torch.tensor([1.0, 2]), torch.tensor([3.0, 4])])


def topk_of_infinity():
    """More blocks with infinities and NaN than are sent in a step, and ones in the next."""
    state = netfc.torch.TopKState(fraction=0.25, block=1)
    bad = torch.tensor([math.inf, math.nan, math.nan, 0.5])
    parameters = [torch.empty(4)]
    return [netfc.torch.topk_hook(state, Bucket(one, parameters)).wait().tolist()
            for one in (bad, torch.zeros(4))]
