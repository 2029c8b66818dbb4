# SPDX-License-Identifier: BSD-3-Clause
"""Worker threads: they run tasks in order, each task's callbacks beside the next task."""

import collections
import threading
import time
from collections.abc import Callable
from typing import Any

SHORT_LIVED = "netfc-short"  # name of threads for one task, which the end of the process waits for
_SPARE = 2  # idle threads to keep; others end


class TaskThreads:
    """do(thing): does it, and gives a function that tells of it.

    Things are done in the order of put(), one at a time. The telling runs callbacks of torch's
    futures, which may wait for what is done next: so another thread goes on meanwhile, if there is
    anything to do. Who needs a thing at once may do it itself, between claim() and release().
    """

    def __init__(self, do: Callable[[Any], Callable[[], None]]):
        self._do = do
        self._tasks: collections.deque[Any] = collections.deque()
        self._change = threading.Condition()
        self._spare = self._telling = 0  # threads
        self._does = self._closed = False

    def put(self, thing: Any) -> None:
        """Have it done."""
        with self._change:
            self._tasks.append(thing)
            if not self._does:
                self._call_one()

    def claim(self, thing: Any = None) -> bool:
        """Whether the caller may do this next, which has been put, or something that has not."""
        with self._change:
            if self._does or self._closed or next(iter(self._tasks), None) is not thing:
                return False
            if thing is not None:
                self._tasks.popleft()
            self._does = True
            return True

    def release(self, thing: Any = None) -> None:
        """What was claimed is done. thing: it is not, threads do it next."""
        with self._change:
            if thing is not None:
                self._tasks.appendleft(thing)
            self._pass_turn()

    def close(self) -> None:
        """Return when all tasks are done, not their callbacks; nothing may be put from then on."""
        with self._change:
            self._closed = True
            self._change.notify_all()
            self._change.wait_for(lambda: not self._tasks and not self._does)

    def settle(self, end: float) -> None:
        """Return when all tasks and callbacks are done, or at that time (time.monotonic())."""
        with self._change:
            self._change.wait_for(
                lambda: not self._tasks and not self._does and self._telling == 0,
                max(0.0, end - time.monotonic()),
            )

    def _call_one(self) -> None:
        """To what there is to do; nobody does anything."""
        if self._spare > 0:
            self._change.notify_all()  # who waits in settle() may be the first
        else:
            threading.Thread(target=self._run, name="netfc-torch", daemon=True).start()

    def _run(self) -> None:
        while self._takes_turn():
            try:
                self._do_next()
            finally:
                self._has_told()

    def _do_next(self) -> None:
        """What it has of torch's is let go before the thread says that it has told: tensors may not
        be freed beside the end of the process."""
        try:
            tell = self._do(self._tasks.popleft())
        finally:  # others may have the turn, whatever has happened
            self._leave_turn()
        tell()

    def _takes_turn(self) -> bool:
        with self._change:
            while self._does or not self._tasks:
                if self._closed or self._spare == _SPARE:
                    return False
                self._spare += 1
                self._change.wait()
                self._spare -= 1
            self._does = True
        return True

    def _leave_turn(self) -> None:
        with self._change:
            self._telling += 1
            self._pass_turn()

    def _pass_turn(self) -> None:
        self._does = False
        if self._tasks:
            self._call_one()
        if self._closed:
            self._change.notify_all()

    def _has_told(self) -> None:
        with self._change:
            self._telling -= 1
            self._change.notify_all()
