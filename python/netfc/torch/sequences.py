# SPDX-License-Identifier: BSD-3-Clause
"""The collectives of a process group, in two sequences: those that the program calls, and those of
its callbacks, see netfc.torch.callbacks.

Each has a job of the switch, so that neither waits for the other. A callback's collective has a
label, of the collective which the callback belongs to, and which one of its callbacks' it is: ranks
whose callbacks reduce in different orders have an error. The program's own have their places.
"""

import contextlib
import hashlib
import os
import threading
from typing import Any

from netfc.allreduce import AllreduceError
from netfc.torch import callbacks
from netfc.torch.callbacks import Origin
from netfc.torch.calls import Call
from netfc.torch.fate import Fate
from netfc.torch.joining import Joining
from netfc.torch.meeting import CALLBACKS, CALLS, Meeting
from netfc.torch.options import Options
from netfc.torch.reductions import Reductions
from netfc.torch.task_threads import SHORT_LIVED
from netfc.torch.works import Promise

_OF_CALLBACKS = 1 << 31  # a label's bit


# Failures after which a switch that was started anew has a job for the group again. "broken" is one
# that the library has found while nothing was called.
_OF_RESTARTS = ("no-job", "refused", "timeout", "broken")


class Sequences:
    """Of one rank. Waits for all others, and raises as Meeting.agree() does."""

    def __init__(self, meeting: Meeting, options: Options):
        self._options = options
        self._of_callbacks = self._called = 0
        self._past: dict[str, float] = {}
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._is_over = False
        self._begin(meeting, "")

    def join(self) -> None:
        """Join the job of the program's calls, and wait until all have. Raises AllreduceError with
        what others say."""
        self._calls.join()
        self._calls.confirm()

    def start(self, call: Call, waits: bool = False) -> Promise:
        """Start a collective; gives a promise of it. waits: who calls waits for it at once.

        Raises AllreduceError if this group has failed before, and cannot go on, or in a forked
        process; ValueError for what cannot be done.
        """
        self._check_process()
        promise = Promise(Origin(self, call.name))
        if callbacks.is_inside():
            self._fate.check()
            _InTurn(self._meeting.timeout, call, promise, self).start()
            return promise
        self._called += 1
        if self._fate.error is not None:
            self._go_on(call)
        self._fate.check()
        begun = self._calls.begun
        try:
            self._calls.start(call, promise, waits)
        except AllreduceError:  # which the others have of the same call
            raise
        except BaseException:
            self._called -= self._calls.begun == begun
            raise
        return promise

    def _check_process(self) -> None:
        """The others would hear of a forked process's failure as of its parent's."""
        if os.getpid() != self._process:
            text = (
                f"the process group is process {self._process}'s, and this one is forked from it:"
                " let each process be a rank of its own"
            )
            raise AllreduceError(text, "broken", None, None)

    def _begin(self, meeting: Meeting, next_call: str) -> None:
        """Meet all others, and make a place in the jobs."""
        place = meeting.agree(self._options, next_call)
        self._meeting, self._leaf = meeting, place.leaf
        self._fate = fate = Fate()
        joining = Joining(self._options, meeting.timeout)
        before = max(0, self._called - 1)
        self._calls = Reductions(CALLS, meeting, joining, lambda: place, fate, before)
        self._callbacks = Reductions(
            CALLBACKS, meeting, joining, lambda: meeting.further(place, self._options), fate
        )
        self._of_callbacks = 0

    def _go_on(self, call: Call) -> None:
        """Have a new job, as at the beginning, if what has failed is the switch: all ranks do, at
        their next call, which has to be the same."""
        with self._lock:
            if not self._has_lost_switch():
                return
            for each in (self._callbacks, self._calls):
                each.close(is_lost=True)
            past = self._counted()
            try:
                self._meeting.end()
                self._begin(self._meeting.again(), f"{call.name} {self._called}")
                self._past = past
            except (OSError, RuntimeError, ValueError) as error:
                self._is_over = True
                text = f"{call.name} {self._called}, the first after the switch had failed: {error}"
                status = "mismatch" if isinstance(error, ValueError) else "waiting"
                self._fate.error = AllreduceError(text, status, None, None)

    def _has_lost_switch(self) -> bool:
        """Whether that is why all has failed; the same at all ranks."""
        if self._is_over or self._fate.error is None or not self._calls.store_answers:
            return False
        with contextlib.suppress(RuntimeError):
            return self._meeting.first_failure() in _OF_RESTARTS
        return False

    def begin(self, call: Call, promise: Promise, outer: Origin | None) -> None:
        """Start what is called in a callback, of a collective, and has its turn."""
        self._of_callbacks += 1
        origin = promise.origin
        if outer is not None and outer.owner is self:
            outer.inside += 1
            origin.number = outer.inside
            origin.label = _label(outer.label or outer.number, outer.inside)
            origin.where = f" in a callback of {outer}"
        else:
            origin.number = self._of_callbacks
            origin.label = _label(0, self._of_callbacks)
            origin.where = " in callbacks"
        self._callbacks.put(call, promise)

    def held_too_long(self, call: Call, outer: Origin | None) -> Exception:
        """A callback's collective has not had its turn in time; gives the error of the group."""
        where = f"{call.name} in a callback of {outer or 'a future'}, {call.what}"
        why = f"collectives in callbacks are called in one order, and {callbacks.next_one()}"
        return self._callbacks.held_too_long(where, f"{why}, which comes first, has not returned")

    @property
    def is_in_tree(self) -> bool:
        """Whether ranks use switches that are not the same."""
        return self._leaf.place is not None

    def number(self, rank: int) -> int:
        """A rank's number in the default group."""
        return self._meeting.number(rank)

    def close(self) -> None:
        """Leave the jobs; what is under way fails. In a forked process: nothing."""
        self._is_over = True
        text = "the process group was destroyed: init_process_group() and new_group() make others"
        self._fate.error = self._fate.error or AllreduceError(text, "aborted", None, None)
        for each in (self._callbacks, self._calls):
            each.close()
        if os.getpid() == self._process and self._calls.store_answers:
            with contextlib.suppress(RuntimeError):
                self._meeting.end()

    @property
    def stats(self) -> dict[str, Any]:
        """What was counted, see netfc.torch.stats()."""
        both = (self._calls, self._callbacks)
        times: dict[str, int] = next(filter(None, (each.stats for each in both)), {})
        return self._counted() | {
            "rtt_s": times.get("rtt_ns", 0) / 1e9,
            "least_rtt_s": times.get("rtt_min_ns", 0) / 1e9,
            "slots": sum(each.slots for each in both),
            "late": _added(*(each.late for each in both)),
        }

    def _counted(self) -> dict[str, float]:
        """What adds up over all jobs that there have been."""
        both = (self._calls, self._callbacks)
        counted = [each.stats for each in both]
        now = {
            "reductions": sum(each.done for each in both),
            "values": sum(one.get("values", 0) for one in counted),
            "chunks": sum(one.get("sent", 0) for one in counted),
            "repeats": sum(one.get("retransmitted", 0) for one in counted),
            "waited_s": sum(each.waited_s for each in both),
        }
        return {name: number + self._past.get(name, 0) for name, number in now.items()}


class _InTurn:
    """A collective that a callback has called, until it starts or is given up."""

    def __init__(self, timeout: float, call: Call, promise: Promise, sequences: Sequences):
        self._call, self._promise, self._sequences = call, promise, sequences
        self._outer = callbacks.origin_here()
        self._is_over = False
        self._lock = threading.Lock()
        self._timer = threading.Timer(timeout, self._give_up)
        self._timer.daemon = True

    def start(self) -> None:
        """When it has its turn: before this returns, mostly."""
        callbacks.start_in_turn(self._begin)
        with self._lock:
            if not self._is_over:
                self._timer.start()

    def _begin(self) -> None:
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
            self._timer.cancel()
            self._timer.name = SHORT_LIVED  # its thread lets go of this when it has woken
        self._sequences.begin(self._call, self._promise, self._outer)

    def _give_up(self) -> None:
        with self._lock:
            if self._is_over:
                return
            self._is_over = True
        self._promise.fail(self._sequences.held_too_long(self._call, self._outer))


def _label(outer: int, which: int) -> int:
    """Of 32 bits; those of different calls differ but for one in 2^31."""
    words = outer.to_bytes(8, "little") + which.to_bytes(8, "little")
    digest = hashlib.blake2b(words, digest_size=4).digest()
    return _OF_CALLBACKS | int.from_bytes(digest, "little")


def _added(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    return {key: one.get(key, 0) + other.get(key, 0) for key in one | other}
