# SPDX-License-Identifier: BSD-3-Clause
"""Gradients as 8 bits: a communication hook of DistributedDataParallel.

Blocks of gradients have a scale each, a power of two that all ranks agree on: the greatest for
which none of any rank's gradients is too large. Each rank sends its gradients in units of it as a
byte, and keeps what that has rounded away, to add it to the gradients of its next step (error
feedback: Seide et al., "1-Bit Stochastic Gradient Descent", 2014). The switch gives the exact mean
of the bytes, rounded once to the type of the results; scaling it back rounds nothing but subnormal
numbers. So the bits are the same each time.
"""

import functools
from typing import Any

import numpy
import torch
import torch.distributed as dist
from numpy.typing import NDArray

from netfc.formats import Format
from netfc.torch.callbacks import then_at_once
from netfc.torch.feedback import Feedback
from netfc.torch.group import group_of_hook
from netfc.torch.layout import as_array

BLOCK = 512  # gradients that have one scale: it is sent in 4 bytes
_FORMATS = ("fp8_e4m3", "fp8_e5m2")
_RESULTS = (torch.float32, torch.bfloat16, torch.float16)


class Fp8State:
    """State of fp8_hook, one for each model.

    group: of back end "netfc", with the same ranks as the model's; None: the default group.
    format: "fp8_e4m3", of more digits, or "fp8_e5m2", whose greatest and least number are further
      apart. block: gradients that have a scale of their own. results: the type of the means:
      torch.float32, or bfloat16 or float16, which are half as long and rounded more.
    feedback: whether what is rounded away is added to the next step's gradients.

    Raises ValueError for another format, type or block.
    """

    def __init__(
        self,
        group: Any = None,
        *,
        format: str = "fp8_e4m3",  # pylint: disable=redefined-builtin
        block: int = BLOCK,
        results: Any = torch.float32,
        feedback: bool = True,
    ):
        if format not in _FORMATS:
            raise ValueError(f"format is '{format}': give one of {', '.join(_FORMATS)}")
        if results not in _RESULTS:
            raise ValueError(f"results are {results}: give one of {', '.join(map(str, _RESULTS))}")
        if block < 1:
            raise ValueError(f"block is {block}: give 1 or more")
        self.group, self.format, self.block, self.results = group, format, block, results
        self.feedback = feedback
        self._rounded_away = Feedback()

    def compensated(self, bucket: dist.GradBucket) -> NDArray[Any]:
        """A bucket's gradients, and what has been rounded away of the last."""
        gradients = self._rounded_away.added(bucket, bucket.buffer().float().reshape(-1))
        return numpy.asarray(as_array(gradients))

    def keep(self, bucket: dist.GradBucket, rest: NDArray[Any]) -> None:
        """Keep the rounding errors."""
        if self.feedback:
            self._rounded_away.keep(bucket, torch.from_numpy(rest))


def fp8_hook(state: Fp8State, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """A communication hook of DistributedDataParallel: gradients become means of bytes.

    It waits for the scales, and gives a future of the bucket's tensor. Gradients that are NaN or
    infinite are NaN to all ranks.

    Raises ValueError for a group of another back end, and for gradients that are not on the CPU.
    """
    buffer = bucket.buffer()
    group = group_of_hook("fp8_hook", state.group, buffer)
    gradients = state.compensated(bucket)
    shifts = _agree_on_shifts(group, gradients, state)
    eights = encoded(state.format, numpy.ldexp(gradients, shifts))
    with numpy.errstate(invalid="ignore"):  # of infinities
        rest = gradients - numpy.ldexp(decoded(state.format, eights), -shifts)
    state.keep(bucket, rest)
    means = torch.empty(gradients.size, dtype=state.results)
    work = group.allreduce_into(means, torch.from_numpy(eights), dist.ReduceOp.AVG, state.format)
    return then_at_once(
        work.get_future(), lambda done: _scaled_back(buffer, done.value()[0], shifts)
    )


def _agree_on_shifts(group: Any, gradients: NDArray[Any], state: Fp8State) -> NDArray[Any]:
    """For each gradient the power of two, by its exponent, that brings its block below the greatest
    number."""
    starts = numpy.arange(0, gradients.size, state.block)
    greatest = torch.from_numpy(numpy.maximum.reduceat(numpy.abs(gradients), starts))
    opts = dist.AllreduceOptions()
    opts.reduceOp = dist.ReduceOp.MAX
    group.allreduce([greatest], opts).wait()
    fraction, exponent = numpy.frexp(greatest.numpy())
    top_fraction, top_exponent = numpy.frexp(_greatest_number(state.format))
    shifts = top_exponent - exponent - (fraction > top_fraction)
    shifts[~numpy.isfinite(fraction) | (fraction == 0)] = 0
    return numpy.repeat(shifts, state.block)[: gradients.size]


def _scaled_back(buffer: Any, means: Any, shifts: NDArray[Any]) -> Any:
    exact = numpy.ldexp(as_array(means.float()), -shifts)
    return buffer.copy_(torch.from_numpy(exact).reshape(buffer.shape))


def encoded(name: str, values: NDArray[numpy.float32]) -> NDArray[numpy.uint8]:
    """The encodings of 8 bits nearest to binary32 values, as Format.encode() has them.

    Values are first rounded to odd, to the upper half of their bits, which are more than two more
    than encodings have: so the table's rounding is the only one that counts.
    """
    bits = numpy.ascontiguousarray(values).view(numpy.uint32)
    return _encodings(name)[(bits >> 16) | ((bits & 0xFFFF) != 0)]


def decoded(name: str, encodings: NDArray[numpy.uint8]) -> NDArray[numpy.float32]:
    """The values of encodings."""
    return _values(name)[encodings]


@functools.cache
def _encodings(name: str) -> NDArray[numpy.uint8]:
    """By the upper half of a binary32."""
    return Format(name).encode((numpy.arange(1 << 16, dtype=numpy.uint32) << 16).view("f4"))


@functools.cache
def _values(name: str) -> NDArray[numpy.float32]:
    return Format(name).decode(numpy.arange(256)).astype(numpy.float32)


@functools.cache
def _greatest_number(name: str) -> float:
    values = _values(name)
    return float(values[numpy.isfinite(values)].max())
