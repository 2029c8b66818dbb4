# SPDX-License-Identifier: BSD-3-Clause
"""The collectives of a process group: joined to a job of the switch, done in the order of calls."""

import atexit
import contextlib
import dataclasses
import functools
import os
import threading
import time
import warnings
import weakref
from collections.abc import Callable

from netfc.allreduce import AllreduceError, Communicator, Handle
from netfc.torch.blame import Blame
from netfc.torch.calls import COPIES, Call
from netfc.torch.task_threads import TaskThreads
from netfc.torch.meeting import Meeting, Place
from netfc.torch.options import Options
from netfc.torch.watch import GLANCE_S, Watch
from netfc.torch.works import Promise

JOINING = "joining the job"
PASSING = ("full", "no-slots", "taken")  # refusals that end with another job, maybe
FULL_S = 1.0  # between two attempts to join where the switch is full
# The library's time-out is the last resort: it does not know which rank has not called.
SPARE_S = 10.0
DEADLINE_MAX_S = 4_000_000.0  # what netfc.allreduce takes
SETTLE_S = 5.0  # how long the end of the process waits for threads


@dataclasses.dataclass
class Reduction:
    """A collective that was started."""

    number: int
    call: Call
    promise: Promise
    handle: Handle


_running: "weakref.WeakSet[Reductions]" = weakref.WeakSet()


@atexit.register
def _settle_all() -> None:
    for reductions in list(_running):
        reductions.settle()


class Reductions:
    """A rank's place in a job, and the threads that complete its futures."""

    def __init__(self, meeting: Meeting, place: Place, options: Options):
        self._meeting, self._place, self._options = meeting, place, options
        self._silence = min(options.silence, meeting.timeout / 2)
        self._watch = Watch(meeting, self._silence)
        self._blame = Blame(meeting, self._watch)
        self._comm: Communicator | None = None
        self._error: Exception | None = None
        self._calls = 0
        self._waited_s = 0.0
        self._copied = 0
        self._lock = threading.Lock()
        self._task_threads: TaskThreads | None = None
        self._process = os.getpid()

    def join(self) -> None:
        """Join, if that has not been done. Raises AllreduceError with what other ranks say."""
        with self._lock:
            if self._comm is None and self._error is None:
                self._join()
            if self._error is not None:
                raise self._error

    def start(self, call: Call) -> Promise:
        """Start a collective; gives a promise of it.

        Raises AllreduceError if this group has failed before, ValueError for what cannot be done.
        """
        self.join()
        with self._lock:
            assert self._comm is not None
            promise = Promise()
            handle = self._comm.start_collective(
                call.kind, call.values, call.result, **call.options
            )
            self._calls += 1
            self._watch.called(self._calls, call.text(self._calls))
            assert self._task_threads is not None
            self._task_threads.put(Reduction(self._calls, call, promise, handle))
        return promise

    @property
    def is_in_tree(self) -> bool:
        """Whether ranks use switches that are not the same."""
        return self._place.leaf.place is not None

    def number(self, rank: int) -> int:
        """A rank's number in the default group."""
        return self._meeting.number(rank)

    def close(self) -> None:
        """Leave the job; what is under way fails. In a forked process: nothing."""
        if self._comm is None or os.getpid() != self._process:
            return
        comm, self._comm = self._comm, None
        if self._error is None:
            self._error = AllreduceError("the process group is closed", "aborted", None, None)
        assert self._task_threads is not None
        self._watch.stop()
        comm.abort()
        self._task_threads.close()
        try:
            comm.leave()
        except AllreduceError:
            pass  # the switch has the job until it times out

    def settle(self) -> None:
        """Wait until no thread runs torch's code: that would kill the process at its end."""
        end = time.monotonic() + SETTLE_S
        if self._task_threads is None or os.getpid() != self._process:
            return
        self._watch.stop()
        self._watch.join(SETTLE_S)
        self._task_threads.settle(end)

    @property
    def stats(self) -> dict[str, int]:
        """What was counted, see netfc.allreduce.Communicator.stats; {} before the first call."""
        return self._comm.stats if self._comm is not None else {}

    @property
    def done(self) -> int:
        """Reductions that are done, and not what only copies."""
        return self.stats.get("allreduces", 0) - self._copied

    @property
    def slots(self) -> int:
        """Chunks in flight, to all switches together; 0 before the first call."""
        return self._comm.info["slots"] if self._comm is not None else 0

    @property
    def waited_s(self) -> float:
        """Seconds of waiting for reductions that had been started."""
        return self._waited_s

    @property
    def late(self) -> dict[int, int]:
        """How often ranks, in the default group's numbers, were waited for two seconds or more."""
        return {self._meeting.number(rank): times for rank, times in self._watch.late.items()}

    def _join(self) -> None:
        try:
            self._meeting.gather(JOINING)
            self._comm = self._joined()
        except (AllreduceError, OSError, RuntimeError, ValueError) as error:
            self._error = self._blame.explain(0, JOINING, error, 0.0)
            return
        self._watch.called(0, JOINING)
        self._watch.start()
        self._task_threads = TaskThreads(self._keep)
        _running.add(self)

    def _joined(self) -> Communicator:
        """A full switch has place when an earlier job has timed out, maybe."""
        place = self._place.leaf
        timeout = min(self._meeting.timeout, self._options.join_timeout)
        end = time.monotonic() + timeout
        said = False
        while True:
            try:
                return self._attempt(max(0.1, end - time.monotonic()))
            except AllreduceError as unnamed:
                error = place.named(unnamed)
                if error.status not in PASSING:
                    raise error from unnamed
                # What comes of an attempt that has no time says nothing.
                if time.monotonic() + 2 * FULL_S >= end:
                    raise self._full_error(error) from error
            if not said:
                said = True
                self._say(f"waits up to {timeout:.0f} s, since the switch has no place for its job")
            time.sleep(FULL_S)

    def _attempt(self, seconds: float) -> Communicator:
        place, deadline = self._place, min(self._meeting.timeout + SPARE_S, DEADLINE_MAX_S)
        comm = Communicator(
            place.switches,
            worker=place.leaf.worker,
            workers=len(place.leaf.ranks),
            place=place.leaf.place,
            token=place.token,
            job=place.job,
            slots=place.slots,
            chunk_bytes=place.chunk_bytes,
            bind_address=self._options.bind_address,
            interface=self._options.interface,
            join_timeout=seconds,
            deadline=deadline,
            # A rank that is slow is waited for, as gloo does; then it is named.
            patience=deadline,
            silence=self._silence,
        )
        granted = comm.info["slots"] // comm.info["switches"]
        if granted < place.least_slots:
            comm.leave()
            text = f"The switch has only {granted} slots left, and a process group needs"
            raise AllreduceError(f"{text} {place.least_slots}.", "no-slots", None, None)
        if granted < place.slots:
            self._say(f"has {granted} slots of the switch, not {place.slots}: that is what is left")
        return comm

    def _full_error(self, error: AllreduceError) -> AllreduceError:
        place = self._place
        text = (
            f"{error} Each process group has a job of its own: this one asks for {place.slots}"
            f" slots (NETFC_SLOTS) and takes {place.least_slots} at the least."
        )
        return AllreduceError(text, error.status, None, error.switch)

    def _say(self, what: str) -> None:
        warnings.warn(f"netfc.torch: this process group {what}; docs/pytorch.md tells how to count")

    def _keep(self, reduction: Reduction) -> Callable[[], None]:
        """Wait until it is done; gives what tells of it."""
        begun = time.monotonic()
        try:
            self._await(reduction, begun + self._meeting.timeout)
            reduction.call.finish()
            self._copied += reduction.call.kind in COPIES
        except Exception as error:  # pylint: disable=broad-except # the caller has to know
            self._fail(reduction, error, begun + self._meeting.timeout)
            assert self._error is not None
            return functools.partial(reduction.promise.fail, self._error)
        finally:
            self._waited_s += time.monotonic() - begun
        return functools.partial(reduction.promise.keep, reduction.call.given)

    def _await(self, reduction: Reduction, end: float) -> None:
        """Raises AllreduceError if it fails, is not done by then, or somebody it needs is gone."""
        if self._is_done(reduction.handle, end):
            return
        self._watch.wait_begins(reduction.number)
        try:
            while not self._is_done(reduction.handle, end):
                self._check(reduction.number, end)
        finally:
            self._watch.wait_ends()

    def _is_done(self, handle: Handle, end: float) -> bool:
        try:
            return _is_done(handle, end)
        except AllreduceError as error:
            raise self._place.leaf.named(error) from error

    def _check(self, number: int, end: float) -> None:
        error: AllreduceError | None = None
        trouble = self._watch.trouble()
        if trouble is not None:
            status = "aborted" if trouble.rank is None else "silent"
            error = AllreduceError(trouble.text, status, trouble.rank, None)
        elif time.monotonic() >= end:
            error = self._blame.time_out(number)
        if error is None:
            return
        comm = self._comm
        if comm is not None:
            comm.abort()
        raise error

    def _fail(self, reduction: Reduction, error: Exception, end: float) -> None:
        if self._error is None:
            left = end - time.monotonic()
            self._error = self._blame.explain(
                reduction.number, reduction.call.text(reduction.number), error, left
            )


def _is_done(handle: Handle, end: float) -> bool:
    """Wait a moment for it. Raises AllreduceError if it has failed."""
    with contextlib.suppress(TimeoutError):
        handle.wait(max(0.0, min(GLANCE_S, end - time.monotonic())))
        return True
    return False
