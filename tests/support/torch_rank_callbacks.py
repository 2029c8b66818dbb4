# SPDX-License-Identifier: BSD-3-Clause
"""Bodies of torch_rank.py: callbacks of futures that reduce, with delays that differ by rank."""

import random
import threading
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

from torch_rank_group import RANK, SIZE

import netfc.torch

DELAY_S = 0.003


def pause(draw):
    """The last rank is late, or not."""
    if RANK == SIZE - 1 and draw.random() < 0.5:
        time.sleep(DELAY_S * draw.random())


def reducing(value, group=None):
    """A callback that reduces a value of its own; gives what came of it."""
    def callback(_):
        tensor = torch.full((3,), float(value))
        dist.all_reduce(tensor, group=group, async_op=True).get_future().wait()
        return tensor[0].item()
    return callback


def four_futures(count, order='as started'):
    """How many of count sums are not what they have to be."""
    draw, wrong = random.Random(RANK), 0
    for number in range(int(count) // 4):
        values, futures = [4 * number + which for which in range(4)], []
        if order == 'as started':
            for value in values:
                pause(draw)
                work = dist.all_reduce(torch.ones(3), async_op=True)
                futures.append(work.get_future().then(reducing(value)))
        else:
            works = [dist.all_reduce(torch.ones(3), async_op=True) for _ in values]
            for work, value in reversed(list(zip(works, values))):
                pause(draw)
                futures.append(work.get_future().then(reducing(value)))
            values.reverse()
        wrong += sum(future.wait() != SIZE * value for future, value in zip(futures, values))
    return wrong


def callbacks_of_callbacks(count):
    """Each starts two reductions, and has them call others, while this thread reduces."""
    draw, wrong = random.Random(RANK), 0

    def outer(value):
        def callback(_):
            tensors = [torch.full((3,), float(value + which)) for which in range(2)]
            futures = []
            for which, tensor in enumerate(tensors):
                pause(draw)
                work = dist.all_reduce(tensor, async_op=True)
                futures.append(work.get_future().then(reducing(value + 10 + which)))
            last = torch.full((3,), value + 20.0)
            dist.all_reduce(last)
            inner = [future.wait() for future in futures]
            return [*(one[0].item() for one in tensors), *inner, last[0].item()]
        return callback

    for number in range(int(count)):
        futures = []
        for which in range(3):
            value = 1000 * number + 100 * which
            work = dist.all_reduce(torch.ones(3), async_op=True)
            pause(draw)
            futures.append((value, work.get_future().then(outer(value))))
        for value, future in futures:
            expected = [SIZE * (value + more) for more in (0, 1, 10, 11, 20)]
            wrong += future.wait() != expected
    return wrong


def callbacks_by_other_ways(count):
    """Of works together, of futures that are not torch.distributed's, of gloo's, and by
    add_done_callback()."""
    draw, wrong = random.Random(RANK), 0
    for number in range(int(count)):
        value, futures, sums = 10 * number, [], []
        pause(draw)
        both = [dist.all_reduce(torch.ones(3), async_op=True).get_future() for _ in range(2)]
        futures.append(torch.futures.collect_all(both).then(reducing(value)))
        own = torch.futures.Future()
        work = dist.all_reduce(torch.ones(3), async_op=True)
        work.get_future().then(lambda _, own=own: own.set_result(1))
        pause(draw)
        futures.append(own.then(reducing(value + 1)))
        work = dist.all_reduce(torch.ones(3, dtype=torch.int8), async_op=True)
        pause(draw)
        futures.append(work.get_future().then(reducing(value + 2)))
        done = threading.Event()

        def note(future, value=value, sums=sums, done=done):
            sums.append(reducing(value + 3)(future))
            done.set()

        work = dist.all_reduce(torch.ones(3), async_op=True)
        pause(draw)
        work.get_future().add_done_callback(note)
        futures = [future.wait() for future in futures]
        done.wait()
        wrong += sum(one != SIZE * (value + which) for which, one in enumerate(futures + sums))
    return wrong


def callbacks_of_two_groups(count):
    """A callback of one group's call reduces in the other."""
    draw, wrong = random.Random(RANK), 0
    groups = [None, dist.new_group()]
    for number in range(int(count)):
        values = [4 * number + which for which in range(4)]
        futures = []
        for which, value in enumerate(values):
            pause(draw)
            work = dist.all_reduce(torch.ones(3), group=groups[which % 2], async_op=True)
            callback = reducing(value, groups[which // 2])
            futures.append(work.get_future().then(callback))
        wrong += sum(future.wait() != SIZE * value for future, value in zip(futures, values))
    return wrong


def callbacks_in_other_orders():
    """Two callbacks that reduce as many numbers, and not in the same order at all ranks."""
    works = [dist.all_reduce(torch.ones(3), async_op=True) for _ in range(2)]
    for work in works:
        work.wait()
    for which in (0, 1)[::1 if RANK == 0 else -1]:
        works[which].get_future().then(reducing(which)).wait()
    return 'not reached'


def a_callback_at_one_rank():
    """The others reduce outside of one."""
    work = dist.all_reduce(torch.ones(3), async_op=True)
    work.wait()
    if RANK == 0:
        work.get_future().then(reducing(1)).wait()
    else:
        dist.all_reduce(torch.ones(3))
    return 'not reached'


class Delay(torch.autograd.Function):
    """A layer whose backward pass takes a time of its own at each rank."""

    @staticmethod
    def forward(ctx, values, draw):
        ctx.draw = draw
        return values.clone()

    @staticmethod
    def backward(ctx, gradients):
        time.sleep(2 * DELAY_S * ctx.draw.random())
        return gradients, None


class Layers(torch.nn.Module):
    """Some layers, and a delay behind each; with biases, which are not compressed."""

    def __init__(self, draw):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(20, 20) for _ in range(6))
        self.draw = draw

    def forward(self, values):
        for layer in self.layers:
            values = torch.tanh(layer(Delay.apply(values, self.draw)))
        return values


def power_sgd_in_buckets(steps, megabytes):
    """torch's own hook with several buckets, or one: the weights after some steps, and how many
    buckets there were.

    Each matrix's first approximation is given: the hook draws it for each bucket.
    """
    dist._DEFAULT_FIRST_BUCKET_BYTES = int(float(megabytes) * (1 << 20))
    torch.manual_seed(1)
    draw = random.Random()
    layers = Layers(draw)
    model = torch.nn.parallel.DistributedDataParallel(layers, bucket_cap_mb=float(megabytes))
    state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=1, start_powerSGD_iter=2,
                                        min_compression_rate=1, batch_tensors_with_same_shape=False)
    buckets = set()

    def hook(state, bucket):
        index = bucket.index()
        buckets.add(index)
        if state.iter >= state.start_powerSGD_iter and index not in state.q_memory_dict:
            matrices = [one for one in bucket.gradients() if one.dim() == 2]
            starts = [torch.linspace(1, 2, one.shape[1]) for one in matrices]
            state.q_memory_dict[index] = torch.cat(starts) if starts else torch.empty(0)
            state.p_memory_dict[index] = torch.empty(sum(one.shape[0] for one in matrices))
        return powerSGD_hook.powerSGD_hook(state, bucket)

    model.register_comm_hook(state, hook)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    data = torch.Generator().manual_seed(RANK)
    for _ in range(int(steps)):
        optimizer.zero_grad()
        model(torch.randn(8, 20, generator=data)).square().sum().backward()
        optimizer.step()
    weights = torch.cat([one.detach().reshape(-1) for one in model.parameters()])
    return [len(buckets), weights.view(torch.int32).tolist(), netfc.torch.stats()['reductions']]


def callbacks_that_wait_for_each_other():
    """The first one, of a future of the program's own, is called when the second has reduced."""
    own = torch.futures.Future()
    never = own.then(lambda _: 'first')
    work = dist.all_reduce(torch.ones(3), async_op=True)
    return [work.get_future().then(reducing(1)).wait(), never.done()]
