# SPDX-License-Identifier: BSD-3-Clause
"""Ways to the mean of all ranks' gradients, as communication hooks of DistributedDataParallel.

Each is a function of a bucket that gives a future of its tensor.
"""

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

import netfc
import netfc.torch

SCALE = 10_000  # of the float-to-integer baseline, as in the paper


def done(tensor):
    """A future that is done."""
    future = torch.futures.Future()
    future.set_result(tensor)
    return future


class Switch:
    """Exact means, by the switch."""

    def __init__(self):
        self._group = dist.group.WORLD

    def __call__(self, bucket):
        return netfc.torch.mean_hook(self._group, bucket)


class HalfMeans:
    """Exact means in fp16, by the switch, as torch's own wrapper has them for any hook."""

    def __init__(self):
        self._hook = default_hooks.fp16_compress_wrapper(netfc.torch.mean_hook)

    def __call__(self, bucket):
        return self._hook(dist.group.WORLD, bucket)


class BrainMeans:
    """Exact means in bfloat16, by the switch."""

    def __init__(self):
        self._hook = default_hooks.bf16_compress_wrapper(netfc.torch.mean_hook)

    def __call__(self, bucket):
        return self._hook(dist.group.WORLD, bucket)


class Eights:
    """A byte for each gradient, and exact means of the bytes, by the switch."""

    results = torch.float32

    def __init__(self):
        self._state = netfc.torch.Fp8State(results=self.results)

    def __call__(self, bucket):
        return netfc.torch.fp8_hook(self._state, bucket)


class EightsIntoBrains(Eights):
    """The same, and the means rounded to bfloat16."""

    results = torch.bfloat16


class HalfSums:
    """Exact sums in fp16, by a switch that does not divide; the ranks do it in float32."""

    def __call__(self, bucket):
        buffer = bucket.buffer()
        future = dist.all_reduce(buffer.to(torch.float16), async_op=True).get_future()
        return future.then(lambda reduced: self._divided(buffer, reduced.value()[0]))

    @staticmethod
    def _divided(buffer, total):
        """The mean, in float32."""
        return buffer.copy_(total).div_(dist.get_world_size())


class Gloo:
    """float32 sums along gloo's ring."""

    def __call__(self, bucket):
        buffer = bucket.buffer().div_(dist.get_world_size())
        future = dist.all_reduce(buffer, async_op=True).get_future()
        return future.then(lambda reduced: reduced.value()[0])


class Integers:
    """Scaled integers, added up by the switch: what SwitchML and ATP do."""

    def __call__(self, bucket):
        scaled = (bucket.buffer() * SCALE).round().to(torch.int32)
        dist.all_reduce(scaled)
        return done(scaled.to(torch.float32) / (SCALE * dist.get_world_size()))


class Tables:
    """fp16 sums by the paper's tables, one worker after the other."""

    def __init__(self):
        self._tables = netfc.TableSet("fp16_k1024")

    def __call__(self, bucket):
        mine = bucket.buffer().to(torch.float16)
        everybody = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
        dist.all_gather(everybody, mine)
        encodings = [one.numpy().view("u2") for one in everybody]
        total = encodings[0]
        for other in encodings[1:]:
            total = self._tables.add(total, other)
        return done(torch.from_numpy(total.view("f2")).float() / dist.get_world_size())


# By name: back end of torch.distributed, and the hook.
WAYS = {"netfc": ("netfc", Switch), "gloo": ("gloo", Gloo), "integers": ("netfc", Integers),
        "tables": ("gloo", Tables), "half means": ("netfc", HalfMeans),
        "half sums": ("netfc", HalfSums), "bf16": ("netfc", BrainMeans),
        "fp8": ("netfc", Eights), "fp8 into bf16": ("netfc", EightsIntoBrains)}
