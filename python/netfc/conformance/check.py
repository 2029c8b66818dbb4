# SPDX-License-Identifier: BSD-3-Clause
"""What a check is, and what comes of it."""

import dataclasses
import enum
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netfc.conformance.kit import Kit

PROTOCOL = "docs/protocol.md"


class Verdict(enum.Enum):
    """What comes of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_OFFERED = "not offered"
    UNDECIDED = "undecided"


@dataclasses.dataclass(frozen=True)
class Evidence:
    """Why a check failed: UDP payloads, or frames, each empty where there is none.

    is_frame: whether they are frames. expected: as far as the protocol says it.
    """

    sent: bytes = b""
    expected: bytes = b""
    got: bytes = b""
    is_frame: bool = False


class Failed(Exception):
    """The switch is wrong: what is, and what shows it."""

    def __init__(
        self,
        what: str,
        sent: bytes = b"",
        expected: bytes = b"",
        got: bytes = b"",
        is_frame: bool = False,
    ):
        super().__init__(what)
        self.evidence = Evidence(sent, expected, got, is_frame)


class NotOffered(Exception):
    """The switch does not offer what the check is about, or this machine cannot ask for it."""


class Undecided(Exception):
    """The network, or the time that was given, did not let the check come to an end."""


class Unreachable(Exception):
    """No check can come to an end any more."""


@dataclasses.dataclass(frozen=True)
class Check:
    """A check of one sentence.

    number: that it has in all releases. name: a few words, "add in fp16".
    clause: the sentence of docs/protocol.md, as it stands there; section: its heading's anchor.
    run: raises Failed, NotOffered or Undecided; returns what was looked at ("65,536 pairs").
    """

    number: int
    name: str
    clause: str
    section: str
    run: Callable[["Kit"], str | None]

    @property
    def link(self) -> str:
        """Where the sentence stands."""
        return f"{PROTOCOL}#{self.section}"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What came of a check: detail says what was looked at, or why not, or what is wrong.

    seconds: 0 where it was not carried out.
    """

    check: Check
    verdict: Verdict
    detail: str
    seconds: float
    evidence: Evidence | None = None


def carried_out(check: Check, kit: "Kit", clock: Callable[[], float]) -> Outcome:
    """Carries a check out. Raises Unreachable."""
    begun = clock()
    evidence = None
    try:
        verdict, detail = Verdict.PASSED, check.run(kit) or ""
    except Failed as failed:
        verdict, detail, evidence = Verdict.FAILED, str(failed), failed.evidence
    except NotOffered as reason:
        verdict, detail = Verdict.NOT_OFFERED, str(reason)
    except Undecided as reason:
        verdict, detail = Verdict.UNDECIDED, str(reason)
    return Outcome(check, verdict, detail, clock() - begun, evidence)
