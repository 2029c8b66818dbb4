# SPDX-License-Identifier: BSD-3-Clause
"""Futures and works of torch that fail as exceptions.

torch makes works of futures, but wait() of such a work says nothing when the future has failed
(seen in 1.13 and 2.6): its caller would go on with values that are none. So wait() of all works
looks, from the first failure on, whether it is one of ours. A subclass of Work in Python is no way
out: 1.13 does not ask it for its future, and 2.6 forgets it while the reducer still needs it.
"""

from typing import Any

import torch
from torch._C import _distributed_c10d as c10d

_failures: list[Exception] = []


class Promise:
    """A result to come. Its future, and the work made of it, fail if it fails."""

    def __init__(self) -> None:
        self._kept: Any = torch.futures.Future()
        self._future = self._kept.then(_value_or_error)

    def work(self) -> Any:
        """A torch.distributed.Work."""
        return c10d._create_work_from_future(self._future)  # pylint: disable=protected-access

    def keep(self, tensors: list[Any]) -> None:
        """It is done."""
        self._kept.set_result(tensors)

    def fail(self, error: Exception) -> None:
        """It has failed."""
        if not any(error is known for known in _failures):
            _failures.append(error)
        self._kept.set_result(error)


def _value_or_error(future: Any) -> Any:
    """What is raised here becomes the failure of the future that then() has given."""
    value = future.value()
    if isinstance(value, Exception):
        raise value
    return value


def failure_of(work: Any) -> Exception | None:
    """Why a work that is done has failed, if it is one of ours."""
    try:
        work.get_future().wait()
    except RuntimeError as error:
        text = str(error)
        return next((failure for failure in _failures if str(failure) in text), None)
    return None


def watch_waits() -> None:
    """Have wait() of torch's works raise what made them fail. Once for a process."""
    waits = c10d.Work.wait

    def wait(work: Any, *arguments: Any, **options: Any) -> Any:
        done = waits(work, *arguments, **options)
        failure = failure_of(work) if _failures else None
        if failure is not None:
            raise failure
        return done

    wait.__doc__ = waits.__doc__
    c10d.Work.wait = wait
