# SPDX-License-Identifier: BSD-3-Clause
"""Futures and works of torch that fail as exceptions.

torch makes works of futures, but wait() of such a work says nothing when the future has failed
(seen in 1.13 and 2.6): its caller would go on with values that are none. So wait() of all works
looks, from the first failure on, whether it is one of ours. It takes no time-out either, so that
is waited for here. A subclass of Work in Python is no way out: 1.13 does not ask it for its future,
and 2.6 forgets it while the reducer still needs it.
"""

import copy
import datetime
import threading
from typing import Any

import torch
from torch._C import _distributed_c10d as c10d

from netfc.torch import callbacks

# Copies, of which others are raised: a traceback would keep a group, and its callers' tensors.
_failures: list[Exception] = []


class Promise:
    """A result to come. Its future, and the work made of it, fail if it fails. origin: the
    collective whose result it is."""

    def __init__(self, origin: callbacks.Origin | None = None) -> None:
        self.origin = origin or callbacks.Origin()
        self._kept: Any = torch.futures.Future()
        self._future = callbacks.plain_then(self._kept, _value_or_error)

    def work(self) -> Any:
        """A torch.distributed.Work."""
        return _work_of(self._future, self.origin)

    def keep(self, tensors: list[Any]) -> None:
        """It is done."""
        self._kept.set_result(tensors)

    def fail(self, error: Exception) -> None:
        """It has failed."""
        if str(error) not in map(str, _failures):
            _failures.append(copy.copy(error))
        self._kept.set_result(error)


def together(works: list[Any], tensors: list[Any]) -> Any:
    """A work that is done when all of some are; its result is the tensors."""
    futures = callbacks.plain_collect_all([work.get_future() for work in works])

    def done(all_done: Any) -> list[Any]:
        for future in all_done.value():
            future.value()
        return tensors

    known = callbacks.origin_of(works[-1]) if works else None
    return _work_of(callbacks.plain_then(futures, done), known)


def _work_of(future: Any, origin: callbacks.Origin | None) -> Any:
    # pylint: disable-next=protected-access
    return callbacks.belonging(c10d._create_work_from_future(future), origin)


def _value_or_error(future: Any) -> Any:
    """What is raised here becomes the failure of the future that then() has given."""
    value = future.value()
    if isinstance(value, Exception):
        raise value
    return value


def failure_of(work: Any) -> Exception | None:
    """Why a work that is done has failed, if it is one of ours."""
    try:
        callbacks.plain_future_of(work).wait()
    except RuntimeError as error:
        text = str(error)
        return next((failure for failure in _failures if str(failure) in text), None)
    return None


def watch_waits() -> None:
    """Have wait() of torch's works raise what made them fail, and do what nobody has begun to. Once
    for a process."""
    waits = c10d.Work.wait

    def wait(work: Any, timeout: datetime.timedelta = datetime.timedelta()) -> Any:
        origin = callbacks.origin_of(work)
        if origin is not None and origin.hasten is not None:
            origin.hasten()
        try:
            done = waits(work, timeout)
        except RuntimeError as error:
            if "finite timeout not implemented" not in str(error):
                raise
            _wait_for(work, timeout)
            done = waits(work)
        failure = failure_of(work) if _failures else None
        if failure is not None:
            raise copy.copy(failure)
        return done

    wait.__doc__ = waits.__doc__
    c10d.Work.wait = wait


def _wait_for(work: Any, timeout: datetime.timedelta) -> None:
    """Raises RuntimeError, as gloo's works do, if it is not done in time; it goes on."""
    done = threading.Event()
    callbacks.plain_then(callbacks.plain_future_of(work), lambda future: done.set())
    if not done.wait(timeout.total_seconds()):
        raise RuntimeError(f"Timed out: the work is not done after {timeout.total_seconds()} s")
