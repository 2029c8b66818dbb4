# SPDX-License-Identifier: BSD-3-Clause
"""A thread that says that this rank is alive, and finds out who of the others is not.

The switch tells only that a rank's values are missing: it may compute for long, or be gone. What
asks the store has a thread of its own, since a store that is gone may not answer at all.
"""

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
class _Sign:
    """The latest sign of life: which it was, and when it was new, of time.monotonic()."""

    beat: int
    seen: float


class Watch:
    """Of one rank. silence: seconds without a sign of life after which another is gone."""

    def __init__(self, meeting: Meeting, silence: float):
        self._meeting, self._silence = meeting, silence
        self._others = [rank for rank in range(meeting.size) if rank != meeting.rank]
        self._signs: dict[int, _Sign] = {}
        self._waiting = False
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

    def wait_begins(self) -> None:
        """This rank waits for others from now on."""
        self._signs.clear()
        self._trouble = None
        self._waiting = True

    def wait_ends(self) -> None:
        """What it waited for has come, or will not."""
        self._waiting = False

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
                if self._waiting and self._trouble is None:
                    why = str(error).splitlines()[0]
                    self._trouble = Trouble(_store_text(why), time.monotonic())
            self._rounds += 1

    def _look(self) -> None:
        now = time.monotonic()
        if now - self._beaten >= self._silence / BEATS:
            self._meeting.beat()
            self._beaten = now
        if not self._waiting or self._trouble is not None:
            return
        trouble = self._ended() or self._failed()
        if trouble is None and now - self._looked >= self._silence / BEATS:
            trouble = self._silent(now)
            self._looked = now
        if self._waiting:
            self._trouble = trouble

    def _failed(self) -> Trouble | None:
        """Who has failed will not come any more."""
        if not self._meeting.has_failed():
            return None
        return Trouble("Another rank has failed.", time.monotonic() - GRACE_S)

    def _ended(self) -> Trouble | None:
        for rank in self._others:
            if self._meeting.has_ended(rank):
                text = f"The process of {self._meeting.name(rank)} has ended."
                return Trouble(text, time.monotonic(), rank)
        return None

    def _silent(self, now: float) -> Trouble | None:
        """Who has been silent since this rank began to look, and for too long."""
        for rank in self._others:
            beat = self._meeting.beat_of(rank)
            sign = self._signs.get(rank)
            if sign is None or sign.beat != beat:
                self._signs[rank] = _Sign(beat, now)
            elif now - sign.seen > self._silence:
                text = (
                    f"There is no sign of life of {self._meeting.name(rank)} for"
                    f" {now - sign.seen:.0f} s: it has ended, is stopped, or cannot be reached."
                )
                return Trouble(text, now, rank)
        return None


def _store_text(why: str) -> str:
    return (
        "The store of the process group does not answer: the process that has it, mostly"
        f" rank 0's, has ended, maybe ({why})."
    )
