# SPDX-License-Identifier: BSD-3-Clause
"""Error messages: what has failed, which rank caused it, and what each rank was doing."""

from netfc.allreduce import AllreduceError
from netfc.torch.meeting import Meeting, Report
from netfc.torch.watch import Watch

REPORT_S = 2.0  # how long to wait for other ranks' reports of a failure


class Blame:
    """Of one rank's sequence."""

    def __init__(self, meeting: Meeting, sequence: int, watch: Watch):
        self._meeting, self._sequence, self._watch = meeting, sequence, watch

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

        number, call: what has failed. left: seconds until the group's time-out; who has only heard
        that others have failed waits longer for what they say.
        """
        lines = []
        second_hand = _is_second_hand(error)
        try:
            if not self._watch.store_answers():
                raise RuntimeError("the store does not answer")
            self._meeting.report(_report_of(call, error))
            reports = self._meeting.reports(
                REPORT_S if second_hand else min(left, REPORT_S), second_hand
            )
            if second_hand:
                error = _first_of(reports) or error
            lines += self._of_others(number, reports)
        # Whatever has gone wrong with the explanation, who called has to know of the error.
        except Exception as gone:  # pylint: disable=broad-except
            why = (str(gone) or type(gone).__name__).splitlines()[0]
            lines.append(f"What other ranks say is not known ({why})")
        own = f"{self._meeting.name(self._meeting.rank)}, {call}: {error}"
        text = "\n  ".join([own, *lines])
        if isinstance(error, AllreduceError):
            return AllreduceError(text, error.status, error.worker, error.switch, error.leaf)
        status = "argument" if isinstance(error, ValueError) else "waiting"
        return AllreduceError(text, status, None, None)

    def _of_others(self, number: int, reports: dict[int, Report]) -> list[str]:
        """A line for each other rank or, of many, for those that have reported or are near."""
        meeting = self._meeting
        told = {*reports, *meeting.near} - {meeting.rank}
        lines = []
        for rank in sorted(told):
            what = str(reports[rank]) if rank in reports else self._state(rank, number)
            lines.append(f"{meeting.name(rank)}, {what}")
        rest = len(meeting.others) - len(told)
        return [*lines, f"and {rest} other ranks"] if rest else lines

    def _behind(self, number: int) -> list[int]:
        """The ranks next to this one that have not called that; none if not known."""
        if not self._watch.store_answers():
            return []
        try:
            return [rank for rank in self._meeting.near if self._calls_of(rank) < number]
        except RuntimeError:
            return []

    def _calls_of(self, rank: int) -> int:
        return self._meeting.sign_of(rank).calls[self._sequence][0]

    def _state(self, rank: int, number: int) -> str:
        if self._meeting.has_ended(rank):
            return "has ended"
        sign = self._meeting.sign_of(rank)
        if sign.calls[self._sequence][0] < number:
            return f"has not called it; its latest call was {sign}"
        return f"{sign}: it waits, or computes"


def _is_second_hand(error: Exception) -> bool:
    """Whether it says no more than that another rank has failed: that one knows why."""
    if not isinstance(error, AllreduceError):
        return False
    return error.status == "failed" or (error.status == "aborted" and error.worker is None)


def _report_of(call: str, error: Exception) -> Report:
    if not isinstance(error, AllreduceError):
        return Report(call, str(error))
    culprit = None if _is_second_hand(error) else error.worker
    return Report(call, str(error), error.status, culprit)


def _first_of(reports: dict[int, Report]) -> AllreduceError | None:
    """The error of the first rank that names a culprit; None: none does."""
    for report in reports.values():
        if report.culprit is not None:
            return AllreduceError(report.why, report.status, report.culprit, None)
    return None
