# SPDX-License-Identifier: BSD-3-Clause
"""Error feedback: what a communication hook has not sent of gradients, for the next step."""

from typing import Any

import torch
import torch.distributed as dist


class Feedback:
    """Of a model's gradients, by parameter: DistributedDataParallel deals these out to its buckets
    anew, in another order, once the first step has shown in which order gradients come."""

    def __init__(self) -> None:
        self._rests: dict[int, tuple[Any, torch.Tensor]] = {}  # by id(), with who has it

    def added(self, bucket: dist.GradBucket, gradients: torch.Tensor) -> torch.Tensor:
        """A bucket's gradients, of one dimension, and what was not sent of them before."""
        parameters = bucket.parameters()
        if not any(id(one) in self._rests for one in parameters):
            return gradients
        return gradients + torch.cat([self._rest_of(one, gradients) for one in parameters])

    def keep(self, bucket: dist.GradBucket, rests: torch.Tensor) -> None:
        """Keep what is not sent. Infinities and NaN count as 0: they are of this step alone."""
        finite = torch.where(rests.isfinite(), rests, torch.zeros((), dtype=rests.dtype))
        parameters = bucket.parameters()
        for one, rest in zip(parameters, finite.split([one.numel() for one in parameters])):
            self._rests[id(one)] = (one, rest)

    def _rest_of(self, parameter: Any, like: torch.Tensor) -> torch.Tensor:
        _, rest = self._rests.get(id(parameter), (None, None))
        return like.new_zeros(parameter.numel()) if rest is None else rest
