# SPDX-License-Identifier: BSD-3-Clause
"""Error messages: what has failed, which rank caused it, and what each rank was doing."""

from netfc.allreduce import AllreduceError
from netfc.torch.meeting import Meeting
from netfc.torch.watch import Watch

REPORT_S = 2.0  # how long to wait for other ranks' reports of a failure


class Blame:
    """Of one rank."""

    def __init__(self, meeting: Meeting, watch: Watch):
        self._meeting, self._watch = meeting, watch
        self._others = [rank for rank in range(meeting.size) if rank != meeting.rank]

    def time_out(self, number: int) -> AllreduceError:
        """The group's time-out has expired before the call of that number was done."""
        text = f"It is not done within the timeout of {self._meeting.timeout:g} s"
        late = self._behind(number)
        if late:
            names = ", ".join(map(self._meeting.name, late))
            return AllreduceError(f"{text}: {names} did not call it.", "silent", late[0], None)
        return AllreduceError(
            f"{text}, and no rank is known to be late: it is too much for the links in that time"
            " (give init_process_group() a longer timeout=), or packets do not get through.",
            "timeout",
            None,
            None,
        )

    def explain(self, number: int, call: str, error: Exception, left: float) -> AllreduceError:
        """The error with what all ranks were doing, after giving the others time to report it.

        number, call: what has failed. left: seconds until the group's time-out.
        """
        name = self._meeting.name
        lines = [f"{name(self._meeting.rank)}, {call}: {error}"]
        try:
            if not self._watch.store_answers():
                raise RuntimeError("the store does not answer")
            self._meeting.report(f"{call}: {error}")
            reports = self._meeting.reports(min(left, REPORT_S))
            for rank in self._others:
                lines.append(f"{name(rank)}, {reports.get(rank) or self._state(rank, number)}")
        except RuntimeError as gone:
            lines.append(f"What other ranks say is not known ({str(gone).splitlines()[0]})")
        text = "\n  ".join(lines)
        if isinstance(error, AllreduceError):
            return AllreduceError(text, error.status, error.worker, error.switch, error.leaf)
        status = "argument" if isinstance(error, ValueError) else "waiting"
        return AllreduceError(text, status, None, None)

    def _behind(self, number: int) -> list[int]:
        """The ranks that have not called that; none if not known."""
        if not self._watch.store_answers():
            return []
        try:
            return [rank for rank in self._others if self._meeting.sign_of(rank).calls < number]
        except RuntimeError:
            return []

    def _state(self, rank: int, number: int) -> str:
        if self._meeting.has_ended(rank):
            return "has ended"
        sign = self._meeting.sign_of(rank)
        if sign.calls < number:
            return f"has not called it; its latest call was {sign.call}"
        return f"{sign.call}: it waits, or computes"
