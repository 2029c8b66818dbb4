# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of jobs: none is drawn twice among all process groups of a training."""

import os
import secrets
from typing import Any

import torch.distributed as dist

_DRAWS = 256  # other trainings take none of these: so many in a row are never all taken by chance


class Jobs:
    """What rank 0 of each group draws, noted in the store that all groups share."""

    def __init__(self, store: Any):
        while isinstance(store, dist.PrefixStore):
            store = store.underlying_store
        self._store, self._drawn = store, list[int]()
        # An agent's store outlives the attempt whose processes could not give numbers back.
        self._folder = f"netfc/jobs/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}"

    def draw(self, jobs: range) -> int | None:
        """One that no group has; None: there is none."""
        for job in secrets.SystemRandom().sample(jobs, min(len(jobs), _DRAWS)):
            if self._count(job, 1) == 1:
                self._drawn.append(job)
                return job
            self._count(job, -1)
        return None

    def give_back(self) -> None:
        """Others may draw what was drawn here. Raises RuntimeError if the store is gone."""
        while self._drawn:
            self._count(self._drawn.pop(), -1)

    def _count(self, job: int, more: int) -> int:
        return int(self._store.add(f"{self._folder}/{job}", more))


def none_left(jobs: range) -> str:
    """Why there is none."""
    numbers = f"{jobs[0]} to {jobs[-1]}" if len(jobs) > 1 else f"{jobs[0]}"
    return (
        f"Other process groups have all of NETFC_JOB's numbers, {numbers}: give one for each"
        " process group, and another for each group whose callbacks reduce"
    )
