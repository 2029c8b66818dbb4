# SPDX-License-Identifier: BSD-3-Clause
"""A sequence of a process group's collectives: a job of the switch, in which they are done one
after the other."""

import atexit
import contextlib
import dataclasses
import functools
import os
import threading
import time
import weakref
from collections.abc import Callable

from netfc.allreduce import AllreduceError, Communicator, Handle
from netfc.torch.blame import Blame
from netfc.torch.calls import COPIES, Call
from netfc.torch.fate import Fate
from netfc.torch.joining import Joining
from netfc.torch.meeting import Meeting, Place
from netfc.torch.task_threads import SHORT_LIVED, TaskThreads
from netfc.torch.watch import GLANCE_S, Watch
from netfc.torch.works import Promise

JOINING = "joining the job"
HERE_S = 0.02  # how long who calls waits itself, before threads do that
SETTLE_S = 5.0  # how long the end of the process waits for threads


@dataclasses.dataclass
class Reduction:
    """A collective. number: in the sequence, 0 until it has started, as the handle is None."""

    call: Call
    promise: Promise
    number: int = 0
    handle: Handle | None = None

    def __str__(self) -> str:
        return self.call.text(self.promise.origin)


_running: "weakref.WeakSet[Reductions]" = weakref.WeakSet()


@atexit.register
def _settle_all() -> None:
    for reductions in list(_running):
        reductions.settle()
    end = time.monotonic() + SETTLE_S
    for thread in threading.enumerate():
        if thread.name == SHORT_LIVED:
            thread.join(max(0.0, end - time.monotonic()))


class Reductions:
    """A rank's place in a job, and the threads that complete its futures.

    sequence: CALLS or CALLBACKS, see netfc.torch.meeting. choose: gives the place, once all ranks
    have called their first. calls: how many there have been before.
    """

    def __init__(
        self,
        sequence: int,
        meeting: Meeting,
        joining: Joining,
        choose: Callable[[], Place],
        fate: Fate,
        calls: int = 0,
    ):
        self._sequence, self._meeting, self._joining = sequence, meeting, joining
        self._choose, self._fate = choose, fate
        self._watch = Watch(meeting, sequence, joining.silence)
        self._blame = Blame(meeting, sequence, self._watch)
        self._place: Place | None = None
        self._comm: Communicator | None = None
        self._last_stats: dict[str, int] = {}
        self._last_slots = 0
        self._calls = calls
        self._waited_s = 0.0
        self._copied = 0
        self._lock = threading.Lock()
        self._task_threads = TaskThreads(self._keep)
        self._process = os.getpid()
        _running.add(self)

    def join(self, call: str = JOINING) -> None:
        """Join, if that has not been done. call: for which one.

        Raises AllreduceError with what other ranks say.
        """
        with self._lock:
            if self._comm is None:
                self._fate.check()
                self._join(call)
            self._fate.check()

    def confirm(self) -> None:
        """Wait until all others have joined, too: torch's own wait for them says nothing of why one
        does not come. Raises AllreduceError with what they say."""
        try:
            self._meeting.confirm()
        except (AllreduceError, OSError, RuntimeError) as error:
            raise self._fate.fail(self._blame.explain(0, JOINING, error, 0.0)) from error

    def start(self, call: Call, promise: Promise, waits: bool) -> None:
        """Start a collective, which has its number here. waits: who calls does nothing before it is
        done: then it may be when this returns, without another thread.

        Raises AllreduceError if this group has failed before, ValueError for what cannot be done.
        """
        reduction = Reduction(call, promise)
        self.join()
        try:
            with self._lock:
                promise.origin.number = self._calls + 1
                self._begin(reduction, waits)
                waits = waits and self._task_threads.claim()
                if not waits:
                    self._task_threads.put(reduction)
                    promise.origin.hasten = functools.partial(self._hasten, weakref.ref(reduction))
        except AllreduceError as error:  # that has been there while nothing was called
            raise self._failed(reduction, error, time.monotonic()) from error
        if waits:
            self._do_here(reduction)

    def put(self, call: Call, promise: Promise) -> None:
        """Have a collective started and done after those before it, without waiting for anything.
        It has its label and number."""
        self._task_threads.put(Reduction(call, promise))

    def close(self, is_lost: bool = False) -> None:
        """Leave the job; what is under way fails. is_lost: the switch has it no more, so that it is
        not told. In a forked process: nothing."""
        if self._comm is None or os.getpid() != self._process:
            return
        comm, self._comm = self._comm, None
        self._watch.stop()
        if not is_lost:
            self._watch.leaves()
        comm.abort()
        self._task_threads.close()
        self._last_stats, self._last_slots = comm.stats, comm.info["slots"]
        with contextlib.suppress(AllreduceError):  # the switch has the job until it times out
            (comm.close if is_lost else comm.leave)()

    def settle(self) -> None:
        """Wait until no thread runs torch's code: that would kill the process at its end."""
        end = time.monotonic() + SETTLE_S
        if os.getpid() != self._process:
            return
        self._watch.stop()
        self._watch.join(SETTLE_S)
        self._task_threads.settle(end)

    @property
    def begun(self) -> int:
        """How many collectives have been."""
        return self._calls

    @property
    def store_answers(self) -> bool:
        """Whether the process group's store has answered of late."""
        return self._watch.store_answers()

    @property
    def stats(self) -> dict[str, int]:
        """What was counted, see netfc.allreduce.Communicator.stats; {} before the first call."""
        return self._comm.stats if self._comm is not None else self._last_stats

    @property
    def done(self) -> int:
        """Reductions that are done, and not what only copies."""
        return self.stats.get("allreduces", 0) - self._copied

    @property
    def slots(self) -> int:
        """Chunks in flight, to all switches together; 0 before the first call."""
        return self._comm.info["slots"] if self._comm is not None else self._last_slots

    @property
    def waited_s(self) -> float:
        """Seconds of waiting for reductions that had been started."""
        return self._waited_s

    @property
    def late(self) -> dict[int, int]:
        """How often ranks, in the default group's numbers, were waited for two seconds or more."""
        return {self._meeting.number(rank): times for rank, times in self._watch.late.items()}

    def held_too_long(self, reduction: str, why: str) -> Exception:
        """A callback's reduction has not had its turn in time; gives the error of the group."""
        text = f"It has not had its turn within the timeout of {self._meeting.timeout:g} s: {why}"
        error = AllreduceError(text, "timeout", None, None)
        return self._fate.fail(self._blame.explain(self._calls + 1, reduction, error, 0.0))

    def _join(self, call: str) -> None:
        try:
            self._meeting.gather(self._sequence, call)
            self._place = self._choose()
            self._comm = self._joining.joined(self._place, self._meeting, self._sequence)
        except (AllreduceError, OSError, RuntimeError, ValueError) as error:
            self._fate.fail(self._blame.explain(0, call, error, 0.0))
            return
        self._fate.shares(self._abort)
        self._watch.called(0, call)
        self._watch.start()

    def _hasten(self, started: "weakref.ref[Reduction]") -> None:
        """Its caller waits for it now: do it in that thread, if no other has begun to."""
        reduction = started()
        if reduction is None or os.getpid() != self._process:
            return
        if self._task_threads.claim(reduction):
            self._do_here(reduction)

    def _do_here(self, reduction: Reduction) -> None:
        """Do what was claimed; if it is not done in a moment, leave it to the threads."""
        left: Reduction | None = reduction
        try:
            if self._is_done_here(reduction):
                left = None
        finally:
            self._task_threads.release(left)
        if left is None:
            reduction.promise.keep(reduction.call.given)

    def _is_done_here(self, reduction: Reduction) -> bool:
        """Wait a moment for it in the thread that has called it. False: it is not done so far, or
        has failed: others find out why."""
        assert reduction.handle is not None
        begun = time.monotonic()
        try:
            reduction.handle.wait(HERE_S)
            self._finish(reduction)
        except (AllreduceError, TimeoutError):
            return False
        finally:
            self._waited_s += time.monotonic() - begun
        return True

    def _finish(self, reduction: Reduction) -> None:
        reduction.call.finish()
        self._copied += reduction.call.kind in COPIES

    def _begin(self, reduction: Reduction, waits: bool = False) -> None:
        """Send it, under the lock."""
        self._fate.check()
        assert self._comm is not None
        call = reduction.call
        reduction.handle = self._comm.start_collective(
            call.kind,
            call.values,
            call.result,
            label=reduction.promise.origin.label,
            lazily=waits,
            **call.options,
        )
        self._calls += 1
        reduction.number = self._calls
        self._watch.called(self._calls, str(reduction))

    def _keep(self, reduction: Reduction) -> Callable[[], None]:
        """Wait until it is done; gives what tells of it."""
        begun = time.monotonic()
        end = begun + self._meeting.timeout
        try:
            if reduction.handle is None:
                self.join(str(reduction))
                with self._lock:
                    self._begin(reduction)
            self._await(reduction, end)
            self._finish(reduction)
        except Exception as error:  # pylint: disable=broad-except # the caller has to know
            return functools.partial(reduction.promise.fail, self._failed(reduction, error, end))
        finally:
            self._waited_s += time.monotonic() - begun
        return functools.partial(reduction.promise.keep, reduction.call.given)

    def _await(self, reduction: Reduction, end: float) -> None:
        """Raises AllreduceError if it fails, is not done by then, or somebody it needs is gone."""
        assert reduction.handle is not None
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
            assert self._place is not None
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
        self._abort()
        raise error

    def _abort(self) -> None:
        comm = self._comm
        if comm is not None:
            comm.abort()

    def _failed(self, reduction: Reduction, error: Exception, end: float) -> Exception:
        """The error of the process group."""
        if self._fate.error is not None:
            return self._fate.fail(error)
        left = end - time.monotonic()
        number = reduction.number or self._calls + 1
        return self._fate.fail(self._blame.explain(number, str(reduction), error, left))


def _is_done(handle: Handle, end: float) -> bool:
    """Wait a moment for it. Raises AllreduceError if it has failed."""
    with contextlib.suppress(TimeoutError):
        handle.wait(max(0.0, min(GLANCE_S, end - time.monotonic())))
        return True
    return False
