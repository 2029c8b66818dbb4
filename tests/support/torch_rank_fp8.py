# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of torch_rank.py: values and gradients of 8 bits."""

import math
import random
import time

import torch
import torch.distributed as dist

import torch_eights
from torch_rank_group import RANK

import netfc.torch


class Bucket:
    """What a communication hook is given, of one tensor; the gradients of these parameters."""

    def __init__(self, tensor, parameters=None):
        self._tensor, self._parameters = tensor, parameters or [torch.empty_like(tensor)]

    def buffer(self):
        return self._tensor

    def parameters(self):
        return self._parameters


def steps_of(hook, state, gradients, steps):
    """What a communication hook makes of each step's gradients, of two buckets."""
    means = []
    parameters = [[torch.empty(gradients(RANK, 0).size)] for _ in range(2)]
    for step in range(steps):
        given = torch.from_numpy(gradients(RANK, step))
        futures = [hook(state, Bucket(given.clone(), own)) for own in parameters]
        one, other = (future.wait().tolist() for future in futures)
        assert one == other
        means.append(one)
    return means


def fp8_steps(form, feedback):
    """Of netfc.torch.fp8_hook."""
    state = netfc.torch.Fp8State(format=form, block=torch_eights.BLOCK, feedback=bool(feedback))
    return steps_of(netfc.torch.fp8_hook, state, torch_eights.gradients, torch_eights.STEPS)


def fp8_of_infinity():
    """Infinite and NaN in one step, and ones in the next."""
    state = netfc.torch.Fp8State()
    bad = torch.tensor([0.0, math.inf if RANK == 0 else 0.0, math.nan if RANK else 0.0, 0.0])
    parameters = [torch.empty(4)]
    return [netfc.torch.fp8_hook(state, Bucket(one, parameters)).wait().tolist()
            for one in (bad, torch.ones(4))]


def other_order(hook, state, first):
    """What a hook makes of two steps' gradients of two parameters, in the other order in the second, in
    which they are 0: what was not sent in the first. first: by parameter."""
    parameters = [torch.empty(one.shape) for one in first]
    hook(state, Bucket(torch.cat(first), parameters)).wait()
    zeros = Bucket(torch.zeros(sum(map(len, first))), parameters[::-1])
    return hook(state, zeros).wait().tolist()


def fp8_other_order():
    """Of netfc.torch.fp8_hook."""
    first = [torch.tensor([256.0, 1 + 2**-10]), torch.tensor([1.0, 1.0])]
    return other_order(netfc.torch.fp8_hook, netfc.torch.Fp8State(), first)


def training(hook, state, steps, rate, begin=lambda: None):
    """A training with a communication hook: losses, and the weights' bits. begin: of a step."""
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(
        torch.nn.Linear(20, 40), torch.nn.Tanh(), torch.nn.Linear(40, 1)), bucket_cap_mb=0.001)
    model.register_comm_hook(state, hook)
    optimizer = torch.optim.SGD(model.parameters(), rate)
    torch.manual_seed(RANK)
    losses = []
    for _ in range(steps):
        inputs = torch.randn(16, 20)
        begin()
        loss = (model(inputs) - inputs.sum(1, keepdim=True) / 4).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    weights = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
    return {'weights': weights.numpy().tobytes().hex(), 'losses': losses}


def fp8_training(run):
    """With gradients of 8 bits; ranks are late by chance, by another one in each run."""
    late = random.Random(f'{run} {RANK}')
    return training(netfc.torch.fp8_hook, netfc.torch.Fp8State(block=64), 60, 0.05,
                    lambda: time.sleep(late.random() * 0.003))


def reduce_into():
    """Values of 8 and 16 bits into wider ones."""
    into, eights = netfc.torch.all_reduce_into, torch.tensor([0x7E, 0xB8, 0], dtype=torch.uint8)
    means, sums, started = (torch.zeros(3) for _ in range(3))
    into(sums, eights, format='fp8_e4m3')
    into(means, eights, dist.ReduceOp.AVG, format='fp8_e4m3')
    columns = torch.zeros(2, 2).t()  # not contiguous
    into(columns, torch.tensor([[0x7E, 0xB8], [0, 0]], dtype=torch.uint8).t(), format='fp8_e4m3')
    halves, brains = torch.zeros(2), torch.zeros(2)
    into(halves, torch.tensor([60000.0, 1.5], dtype=torch.float16))
    into(brains, torch.tensor([3.0, 1.5], dtype=torch.bfloat16))
    into(started, eights, format='fp8_e4m3', async_op=True).wait()
    in_place = eights.clone()
    into(in_place, in_place, format='fp8_e4m3')
    into(torch.zeros(0), torch.zeros(0, dtype=torch.uint8), format='fp8_e4m3')
    return {'eights': sums.tolist(), 'means': means.tolist(), 'halves': halves.tolist(),
            'brains': brains.tolist(), 'started': started.tolist(), 'in place': in_place.tolist(),
            'columns': columns.reshape(-1).tolist()}


def reduce_float8():
    """torch's own types."""
    told = {}
    for name in ('float8_e4m3fn', 'float8_e5m2'):
        given = torch.tensor([1.0 + RANK, -2.0]).to(getattr(torch, name))
        wider = torch.zeros(2)
        netfc.torch.all_reduce_into(wider, given)
        dist.all_reduce(given)
        told |= {name: given.float().tolist(), f'{name} wider': wider.tolist()}
    return told


def fp8_refused(which):
    """What raises."""
    into, eights = netfc.torch.all_reduce_into, torch.zeros(3, dtype=torch.uint8)
    match which:
        case 'type':
            into(torch.zeros(3, dtype=torch.float64), eights, format='fp8_e4m3')
        case 'name':
            into(torch.zeros(3), eights)
        case 'other name':
            into(torch.zeros(3), torch.zeros(3, dtype=torch.float16), format='fp8_e4m3')
        case 'size':
            into(torch.zeros(2), eights, format='fp8_e4m3')
        case 'operation':
            into(torch.zeros(3), eights, dist.ReduceOp.PRODUCT, format='fp8_e4m3')
        case 'least':
            into(torch.zeros(3), eights, dist.ReduceOp.MIN, format='fp8_e4m3')
        case 'hook':
            state = netfc.torch.Fp8State(dist.new_group(backend='gloo'))
            netfc.torch.fp8_hook(state, Bucket(torch.zeros(3)))
        case 'format':
            netfc.torch.Fp8State(format='fp8')
        case 'results':
            netfc.torch.Fp8State(results=torch.int32)
