# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed.monitored_barrier(), which torch grants to groups of gloo's name alone."""

import datetime
import functools
from typing import Any

import torch.distributed as dist
from torch.distributed import distributed_c10d


def whole() -> Any:
    """The default group."""
    return distributed_c10d._get_default_group()  # pylint: disable=protected-access


def lend_monitored_barrier(back_end: str) -> None:
    """Have groups of a back end that has it do it, too. Once for a process."""
    gloos = dist.monitored_barrier

    @functools.wraps(gloos)
    def monitored_barrier(
        group: Any = None, timeout: datetime.timedelta | None = None, wait_all_ranks: bool = False
    ) -> None:
        group = whole() if group is None else group
        if group is dist.GroupMember.NON_GROUP_MEMBER or dist.get_backend(group) != back_end:
            gloos(group, timeout, wait_all_ranks)
        elif timeout is None:
            group.monitored_barrier(wait_all_ranks=wait_all_ranks)
        else:
            group.monitored_barrier(timeout, wait_all_ranks=wait_all_ranks)

    dist.monitored_barrier = distributed_c10d.monitored_barrier = monitored_barrier
