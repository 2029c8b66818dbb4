# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of nodes with several GPUs: NCCL inside a node, the switch between nodes."""

import torch
import torch.distributed as dist

from netfc.torch.group import BACKEND


class NodeState:
    """State of node_hook. All ranks make it at the same time, as it makes groups of them.

    per_node: ranks of each node, with numbers one after the other. inside: the back end of a node's
    ranks. Options of the group between nodes are those of the environment (NETFC_SWITCH).

    Raises ValueError where the ranks are not so many times some.
    """

    def __init__(self, per_node: int, inside: str = "nccl"):
        ranks = dist.get_world_size()
        if per_node < 1 or ranks % per_node != 0:
            raise ValueError(f"{ranks} ranks are no nodes of {per_node}")
        for first in range(0, ranks, per_node):
            group = dist.new_group(list(range(first, first + per_node)), backend=inside)
            if first <= dist.get_rank() < first + per_node:
                self.first, self.inside = first, group
        self.per_node = per_node
        self.between = dist.new_group(list(range(0, ranks, per_node)), backend=BACKEND)


def node_hook(state: NodeState, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """A communication hook of DistributedDataParallel: means over nodes of means over their ranks.

    The first rank of each node has the means of its ranks, as the back end there rounds them, and
    the switch gives the exact mean of these. It waits for that, and gives a future of the bucket's
    tensor.
    """
    gradients = bucket.buffer()
    gradients /= state.per_node
    dist.reduce(gradients, state.first, group=state.inside)
    if dist.get_rank() == state.first:
        dist.all_reduce(gradients, dist.ReduceOp.AVG, group=state.between)
    dist.broadcast(gradients, state.first, group=state.inside)
    future: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    future.set_result(gradients)
    return future
