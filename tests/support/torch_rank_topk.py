# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of torch_rank.py: the greatest gradients alone."""

import torch_sparse
from torch_rank_fp8 import steps_of, training

import netfc.torch


def topk_steps(fraction, block):
    """Of netfc.torch.topk_hook."""
    state = netfc.torch.TopKState(fraction=float(fraction), block=int(block))
    return steps_of(netfc.torch.topk_hook, state, torch_sparse.gradients, torch_sparse.STEPS)


def topk_training():
    """A training with a tenth of the gradients."""
    state = netfc.torch.TopKState(fraction=0.1, block=4)
    return training(netfc.torch.topk_hook, state, 150, 0.02)
