# SPDX-License-Identifier: BSD-3-Clause
"""A thread that says that this rank is alive, and finds out who of the others is not.

The switch tells only that a rank's values are missing: it may compute for long, or be gone. What
asks the store has a thread of its own, since a store that is gone may not answer at all.
"""

import contextlib
import dataclasses
import threading
import time

from netfc.torch.meeting import Meeting

LOOK_S = 1.0  # between two looks whether others have failed, and at processes of this machine
BEATS = 6  # of a rank, in the time after which it is taken for gone
GLANCE_S = 0.5  # between two calls of trouble()
# Who has its result may end, and so may the store with it, while another asks the switch again for
# a result that was lost.
GRACE_S = 2.0
LATE_S = 2 * LOOK_S  # of waiting for a rank, which has had the time to tell of its call


@dataclasses.dataclass(frozen=True)
class Trouble:
    """Why nothing will come of a reduction.

    since: when that was found out, of time.monotonic(); it counts a while later. rank: whose fault
    it is, in the group; None: unknown.
    """

    text: str
    since: float
    rank: int | None = None


@dataclasses.dataclass
class _Seen:
    """The latest sign of life: which it was, and when it was new, of time.monotonic()."""

    beat: int
    at: float


class Watch:
    """Of one rank's sequence. silence: seconds without a sign of life after which another is gone.

    It asks for the ranks that are next to this one; what others find out, they report.
    """

    def __init__(self, meeting: Meeting, sequence: int, silence: float):
        self._meeting, self._sequence, self._silence = meeting, sequence, silence
        self._signs: dict[int, _Seen] = {}
        self._called = self._told = (-1, "nothing")
        self._late: dict[int, int] = {}
        self._latest_late: dict[int, int] = {}  # the call for which a rank was late
        self._waits_for = 0  # which call; 0: it does not wait
        self._trouble: Trouble | None = None
        self._rounds = 0
        self._stuck = (0, 0)  # how many there had been, and how often trouble() saw that since
        self._beaten = self._looked = -silence
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="netfc-watch", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End. The thread may be in a call of a store that does not answer: it is left there."""
        self._end.set()

    def leaves(self) -> None:
        """This rank has left the process group: tell the others, if the store answers."""
        number, call = self._called
        if self.store_answers():
            with contextlib.suppress(RuntimeError):
                self._meeting.beat(
                    self._sequence, number, f"{call}, and it has left the process group"
                )

    def join(self, timeout: float) -> None:
        """Wait until it has ended, seconds at most."""
        if self._thread.is_alive():
            self._thread.join(timeout)

    def called(self, number: int, call: str) -> None:
        """This rank has called something; others are told within LOOK_S."""
        self._called = (number, call)

    def wait_begins(self, number: int) -> None:
        """This rank waits for others from now on, in the call of that number."""
        self._signs.clear()
        self._trouble = None
        self._looked = time.monotonic() - self._silence / BEATS + LATE_S
        self._waits_for = number

    def wait_ends(self) -> None:
        """What it waited for has come, or will not."""
        self._waits_for = 0

    @property
    def late(self) -> dict[int, int]:
        """How often each rank next to this one was waited for, LATE_S or more."""
        return dict(self._late)

    def trouble(self) -> Trouble | None:
        """What has been found out since wait_begins(). To be called every GLANCE_S."""
        now = time.monotonic()
        rounds, calls = self._stuck
        self._stuck = (rounds, calls + 1) if rounds == self._rounds else (self._rounds, 0)
        if calls * GLANCE_S > self._silence:
            return Trouble(_store_text(f"no answer for {calls * GLANCE_S:.0f} s"), now)
        trouble = self._trouble
        return trouble if trouble is not None and now >= trouble.since + GRACE_S else None

    def store_answers(self) -> bool:
        """Whether a store that is slow, or gone, has not been noticed yet."""
        return self._stuck[1] * GLANCE_S < 2 * LOOK_S

    def _run(self) -> None:
        while not self._end.wait(LOOK_S):
            try:
                self._look()
            except RuntimeError as error:
                if self._waits_for and self._trouble is None:
                    why = str(error).splitlines()[0]
                    self._trouble = Trouble(_store_text(why), time.monotonic())
            self._rounds += 1

    def _look(self) -> None:
        now = time.monotonic()
        self._tell(now)
        number = self._waits_for
        if not number or self._trouble is not None:
            return
        trouble = self._ended() or self._failed()
        if trouble is None and now - self._looked >= self._silence / BEATS:
            trouble = self._silent(now, number)
            self._looked = now
        if self._waits_for == number:
            self._trouble = trouble

    def _tell(self, now: float) -> None:
        called = self._called
        if called != self._told or now - self._beaten >= self._silence / BEATS:
            self._meeting.beat(self._sequence, *called)
            self._told, self._beaten = called, now

    def _failed(self) -> Trouble | None:
        """Who has failed will not come any more."""
        if not self._meeting.has_failed():
            return None
        return Trouble("Another rank has failed.", time.monotonic() - GRACE_S)

    def _ended(self) -> Trouble | None:
        for rank in self._meeting.others:
            if self._meeting.has_ended(rank):
                text = f"The process of {self._meeting.name(rank)} has ended."
                return Trouble(text, time.monotonic(), rank)
        return None

    def _silent(self, now: float, number: int) -> Trouble | None:
        """Who has been silent since this rank began to look, and for too long."""
        for rank in self._meeting.near:
            sign = self._meeting.sign_of(rank)
            if sign.calls[self._sequence][0] < number:
                self._is_late(rank, number)
            seen = self._signs.get(rank)
            if seen is None or seen.beat != sign.beat:
                self._signs[rank] = _Seen(sign.beat, now)
            elif now - seen.at > self._silence:
                text = (
                    f"There is no sign of life of {self._meeting.name(rank)} for"
                    f" {now - seen.at:.0f} s: it has ended, is stopped, or cannot be reached."
                )
                return Trouble(text, now, rank)
        return None

    def _is_late(self, rank: int, number: int) -> None:
        if self._latest_late.get(rank) != number:
            self._latest_late[rank] = number
            self._late[rank] = self._late.get(rank, 0) + 1


def _store_text(why: str) -> str:
    return (
        "The store of the process group does not answer: the process that has it, mostly"
        f" rank 0's, has ended, maybe ({why})."
    )
