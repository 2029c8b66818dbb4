# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of torch_rank.py: the greatest gradients alone."""

import torch

import torch_sparse
from torch_rank_fp8 import Bucket
from torch_rank_group import RANK

import netfc.torch


def topk_steps(fraction, block):
    """What netfc.torch.topk_hook makes of each step's gradients, of two buckets."""
    state = netfc.torch.TopKState(fraction=float(fraction), block=int(block))
    steps = []
    for step in range(torch_sparse.STEPS):
        given = torch.from_numpy(torch_sparse.gradients(RANK, step))
        futures = [netfc.torch.topk_hook(state, Bucket(given.clone(), index)) for index in (0, 1)]
        one, other = (future.wait().tolist() for future in futures)
        assert one == other
        steps.append(one)
    return steps


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
