# SPDX-License-Identifier: BSD-3-Clause
"""The greatest gradients alone: a communication hook of DistributedDataParallel.

Each rank sends the blocks of its gradients that are greatest, and zeros for all others, which cost
nothing on the link where a whole packet is zeros. What it has not sent it adds to the gradients of
its next step (error feedback: Stich et al., "Sparsified SGD with Memory", 2018; blocks: Fei et al.,
"Efficient Sparse Collective Communication", 2021). The switch gives the exact mean of what ranks
have sent, rounded once.
"""

import torch
import torch.distributed as dist

from netfc.torch.callbacks import then_at_once
from netfc.torch.feedback import Feedback
from netfc.torch.group import group_of_hook

BLOCK = 362  # float32 of a packet of 1,500 bytes


class TopKState:
    """State of topk_hook, one for each model.

    group: of back end "netfc", with the same ranks as the model's; None: the default group.
    fraction: of each bucket's blocks that a rank sends, at least one. block: gradients that are
    sent, or not, together.

    Raises ValueError for another fraction or block.
    """

    def __init__(
        self, group: dist.ProcessGroup | None = None, *, fraction: float = 0.01, block: int = BLOCK
    ):
        if not 0 < fraction <= 1:
            raise ValueError(f"fraction is {fraction}: give more than 0, and 1 or less")
        if block < 1:
            raise ValueError(f"block is {block}: give 1 or more")
        self.group, self.fraction, self.block = group, fraction, block
        self._feedback = Feedback()

    def split(self, bucket: dist.GradBucket) -> torch.Tensor:
        """What to send of a bucket's gradients, float32: they and what was not sent before, or +0.
        The rest is kept as it is."""
        gradients = self._feedback.added(bucket, bucket.buffer().float().reshape(-1))
        chosen = self._are_chosen(gradients)
        zero = torch.zeros((), dtype=gradients.dtype)
        self._feedback.keep(bucket, torch.where(chosen, zero, gradients))
        return torch.where(chosen, gradients, zero)

    def _are_chosen(self, gradients: torch.Tensor) -> torch.Tensor:
        """Which gradients are in the blocks whose magnitudes have the greatest sums. A NaN is
        greater than all."""
        count = gradients.numel()
        blocks = -(-count // self.block)
        padded = torch.nn.functional.pad(gradients.abs(), (0, blocks * self.block - count))
        sums = padded.reshape(blocks, self.block).sum(1)
        chosen = torch.zeros(blocks, dtype=torch.bool)
        chosen[sums.topk(max(1, round(self.fraction * blocks))).indices] = True
        return chosen.repeat_interleave(self.block)[:count]


def topk_hook(state: TopKState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """A communication hook of DistributedDataParallel: gradients become means of the greatest.

    Gives a future of the bucket's tensor.

    Raises ValueError for a group of another back end, and for gradients that are not on the CPU.
    """
    buffer = bucket.buffer()
    group = group_of_hook("topk_hook", state.group, buffer)
    sent = state.split(bucket)
    opts = dist.AllreduceOptions()
    opts.reduceOp = dist.ReduceOp.AVG
    future = group.allreduce([sent], opts).get_future()
    return then_at_once(future, lambda done: buffer.copy_(done.value()[0].reshape(buffer.shape)))
