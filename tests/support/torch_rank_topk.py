# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of torch_rank.py: the greatest gradients alone."""

import torch

import torch_sparse
from torch_rank_fp8 import steps_of
from torch_rank_group import RANK

import netfc.torch


def topk_steps(fraction, block):
    """Of netfc.torch.topk_hook."""
    state = netfc.torch.TopKState(fraction=float(fraction), block=int(block))
    return steps_of(netfc.torch.topk_hook, state, torch_sparse.gradients, torch_sparse.STEPS)


def topk_training():
    """A training with a tenth of the gradients."""
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(20, 40), torch.nn.Tanh(), torch.nn.Linear(40, 1)), bucket_cap_mb=0.001)
    model.register_comm_hook(netfc.torch.TopKState(fraction=0.1, block=4), netfc.torch.topk_hook)
    optimizer = torch.optim.SGD(model.parameters(), 0.02)
    torch.manual_seed(RANK)
    losses = []
    for _ in range(150):
        inputs = torch.randn(16, 20)
        loss = torch.nn.functional.mse_loss(model(inputs), inputs.sum(1, keepdim=True) / 4)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return {'losses': losses, 'weights': [weights.tolist() for weights in model.parameters()]}
