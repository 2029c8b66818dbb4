# SPDX-License-Identifier: BSD-3-Clause
"""Means of all ranks' gradients, as communication hooks of DistributedDataParallel.

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


def exact_means(wrapped=lambda hook: hook):
    """Exact means, by the switch; wrapped: torch's wrapper of any hook, in 16 bits."""
    hook = wrapped(netfc.torch.mean_hook)
    return lambda bucket: hook(dist.group.WORLD, bucket)


def eights(results=torch.float32):
    """A byte for each gradient, and exact means of the bytes, by the switch."""
    state = netfc.torch.Fp8State(results=results)
    return lambda bucket: netfc.torch.fp8_hook(state, bucket)


def half_sums(bucket):
    """Exact sums in fp16, by a switch that does not divide; the ranks do it in float32."""
    buffer = bucket.buffer()
    future = dist.all_reduce(buffer.to(torch.float16), async_op=True).get_future()
    return future.then(lambda reduced: buffer.copy_(reduced.value()[0]).div_(dist.get_world_size()))


def ring(bucket):
    """float32 sums along gloo's ring."""
    buffer = bucket.buffer().div_(dist.get_world_size())
    future = dist.all_reduce(buffer, async_op=True).get_future()
    return future.then(lambda reduced: reduced.value()[0])


def integers(bucket):
    """Scaled integers, added up by the switch: what SwitchML and ATP do."""
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


# By name: back end of torch.distributed, and what makes the hook.
HOOKS = {
    "netfc": ("netfc", exact_means),
    "gloo": ("gloo", lambda: ring),
    "integers": ("netfc", lambda: integers),
    "tables": ("gloo", Tables),
    "half means": ("netfc", lambda: exact_means(default_hooks.fp16_compress_wrapper)),
    "half sums": ("netfc", lambda: half_sums),
    "bf16": ("netfc", lambda: exact_means(default_hooks.bf16_compress_wrapper)),
    "fp8": ("netfc", eights),
    "fp8 into bf16": ("netfc", lambda: eights(torch.bfloat16)),
}
