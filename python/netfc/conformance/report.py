# SPDX-License-Identifier: BSD-3-Clause
"""What came of the checks: as text, as JSON, as JUnit's XML, and as a capture file."""

import collections
import dataclasses
import itertools
import os
import xml.etree.ElementTree as xml
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from netfc import capture
from netfc.conformance import decode
from netfc.conformance.check import Evidence, Outcome, Verdict
from netfc.conformance.link import Traffic


def text(outcomes: Sequence[Outcome], everything: bool = False) -> Iterator[str]:
    """A paragraph for each that failed or is undecided, one for those that one reason kept from
    being carried out; then a line for all."""
    for reason, group in itertools.groupby(outcomes, _why_not_carried_out):
        same = list(group)
        for outcome in same[:1] if reason else same:
            if everything or outcome.verdict in (Verdict.FAILED, Verdict.UNDECIDED):
                yield from paragraph(outcome)
        if reason and len(same) > 1:
            are = "is the check" if len(same) == 2 else f"are the {len(same) - 1} checks"
            yield f"    and so {are} after it: {_ranges(each.check.number for each in same[1:])}"
    yield summary(outcomes)


def _why_not_carried_out(outcome: Outcome) -> str:
    """Nothing for one that was."""
    skipped = outcome.verdict is Verdict.UNDECIDED and not outcome.seconds
    return outcome.detail if skipped else ""


def _ranges(numbers: Iterable[int]) -> str:
    """As --only takes them: 1011,2002-2018."""
    made = []
    for _, run in itertools.groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        first, *rest = (number for _, number in run)
        made.append(f"{first}-{rest[-1]}" if rest else str(first))
    return ",".join(made)


def paragraph(outcome: Outcome) -> Iterator[str]:
    """A check, and why."""
    check = outcome.check
    detail = f": {outcome.detail}" if outcome.detail else ""
    yield f"{check.number} {check.name}: {outcome.verdict.value}{detail}"
    if outcome.evidence is not None:
        yield f'    "{check.clause}" ({check.link})'
        yield from (f"    {line}" for line in decode.lines(outcome.evidence))


def counts(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many there are of each verdict."""
    found = collections.Counter(outcome.verdict for outcome in outcomes)
    return {verdict.value: found[verdict] for verdict in Verdict}


def summary(outcomes: Sequence[Outcome]) -> str:
    """How many there are of each verdict, in words."""
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts(outcomes).items())
    return f"{len(outcomes)} checks: {said}"


def notes(traffic: Traffic) -> Iterator[str]:
    """What the network did, where it matters."""
    if traffic.sent_again:
        yield (
            f"{traffic.sent_again:,} datagrams were sent again, of {traffic.sent:,}: the network"
            " loses some, or the switch is slow"
        )
    if traffic.doubled:
        yield f"{traffic.doubled:,} replies came twice or late"
    if traffic.foreign:
        yield f"{traffic.foreign:,} datagrams came that answer nothing that was asked"


def as_json(outcomes: Sequence[Outcome], traffic: Traffic) -> dict[str, Any]:
    """All of it."""
    return {
        "counts": counts(outcomes),
        "checks": [_json(outcome) for outcome in outcomes],
        "datagrams": dataclasses.asdict(traffic),
    }


def _json(outcome: Outcome) -> dict[str, Any]:
    check = outcome.check
    made: dict[str, Any] = {
        "number": check.number,
        "name": check.name,
        "clause": check.clause,
        "link": check.link,
        "verdict": outcome.verdict.value,
        "detail": outcome.detail,
        "seconds": round(outcome.seconds, 3),
    }
    if outcome.evidence is not None:
        kept = dataclasses.asdict(outcome.evidence)
        made["evidence"] = {
            key: value.hex() if isinstance(value, bytes) else value for key, value in kept.items()
        }
        made["decoded"] = list(decode.lines(outcome.evidence))
    return made


def junit(outcomes: Sequence[Outcome]) -> str:
    """A test suite of JUnit's: what is not offered is skipped, what is undecided an error."""
    found = counts(outcomes)
    suite = xml.Element(
        "testsuite",
        name="netfc-conform",
        tests=str(len(outcomes)),
        failures=str(found["failed"]),
        errors=str(found["undecided"]),
        skipped=str(found["not offered"]),
        time=f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    )
    for outcome in outcomes:
        check = outcome.check
        case = xml.SubElement(
            suite,
            "testcase",
            classname=f"netfc-conform.{check.section}",
            name=f"{check.number} {check.name}",
            time=f"{outcome.seconds:.3f}",
        )
        if outcome.verdict is Verdict.FAILED:
            said = xml.SubElement(case, "failure", message=outcome.detail)
            said.text = "\n".join(paragraph(outcome))
        elif outcome.verdict is not Verdict.PASSED:
            kind = "error" if outcome.verdict is Verdict.UNDECIDED else "skipped"
            xml.SubElement(case, kind, message=f"{outcome.verdict.value}: {outcome.detail}")
    xml.indent(suite)
    return xml.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def write_pcap(path: str | os.PathLike[str], outcomes: Iterable[Outcome], port: int) -> None:
    """The frames of all failures: sent, expected and got. Raises OSError."""
    frames: list[bytes] = []
    for outcome in outcomes:
        if outcome.evidence is not None:
            frames += _frames(outcome.evidence, port)
    capture.write(path, frames)


def _frames(evidence: Evidence, port: int) -> Iterator[bytes]:
    for data in (evidence.sent, evidence.expected, evidence.got):
        if data:
            yield data if evidence.is_frame else capture.udp_frame(data, port=port)
