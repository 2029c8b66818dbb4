# SPDX-License-Identifier: BSD-3-Clause
"""Checks of chunks and results that are all zeros: a header alone, where all know them."""

from collections.abc import Sequence

from netfc import aggregation, protocol
from netfc.conformance.check import Check, Failed, NotOffered
from netfc.conformance.chunks import WORKERS, expect
from netfc.conformance.job import Member, Message, basic, exchange, join_all, join_for, team
from netfc.conformance.kit import Kit, with_status


def _know_zeros(kit: Kit, members: Sequence[Member]) -> None:
    """All join and ask for zeros. Raises NotOffered."""
    if not join_for(kit, members, aggregation.ZEROS):
        raise NotOffered("the reply to a join says that zeros are not known")


def _zeros(member: Member, number: int, count: int, form: str) -> bytes:
    op, form_id = aggregation.OPS["sum"], aggregation.FORMAT_IDS[form]
    return aggregation.zeros(member.place, op, form_id, number, count)


def zeros(kit: Kit) -> str:
    """Chunks of zeros are +0 in each lane, and refused where they are anything else."""
    form, value = basic(kit)
    with team(kit, WORKERS, joined=False) as members:
        _know_zeros(kit, members)
        count = min(5, members[0].most // len(value(1)))
        for number, filled in enumerate(((0,), (2,), (0, 1))):
            sent = [each.chunk(number, value(1) * count, form=form) if place in filled
                    else _zeros(each, number, count, form)
                    for place, each in enumerate(members)]  # fmt: skip
            total = value(len(filled)) * count
            for message, payload in zip(exchange(members, sent, number), sent):
                expect(message, total, payload, f"1 of {len(filled)} and zeros of the others")
        _wrong_zeros(members[0], 3, count, form)
    return f"{count} values"


def _wrong_zeros(member: Member, number: int, count: int, form: str) -> None:
    """What is refused of zeros."""
    good = _zeros(member, number, count, form)
    for what, sent in (
        ("zeros with something after the header", good + bytes(4)),
        ("a header that does not say that it is of zeros", good[:5] + b"\0" + good[6:]),
        ("zeros of no values", good[:6] + bytes(2) + good[8:]),
        ("zeros of digits", good[:15] + bytes([aggregation.DIGITS]) + good[16:]),
    ):
        message = member.ask(sent, member.shard(number))
        if message.code != protocol.Code.LENGTH:
            raise Failed(f"{what}: {message.said}, not code 4", sent, with_status(sent, 4),
                         message.payload)  # fmt: skip


def results_of_zeros(kit: Kit) -> str:
    """A header alone, if all members know zeros, and all values are +0; else values."""
    form, value = basic(kit)
    with team(kit, joined=False) as members:
        _know_zeros(kit, members)
        count = min(5, members[0].most // len(value(1)))
        sent = [_zeros(members[0], 0, count, form),
                members[1].chunk(0, value(0) * count, form=form)]  # fmt: skip
        for message, payload in zip(exchange(members, sent, 0), sent):
            _expect_nothing(message, payload)
        _expect_nothing(members[0].ask(sent[0], members[0].shard(0)), sent[0])
    with team(kit, joined=False) as members:
        _join_some(kit, members, aggregation.ZEROS)
        sent = [each.chunk(0, value(0) * count, form=form) for each in members]
        for message, payload in zip(exchange(members, sent, 0), sent):
            expect(message, value(0) * count, payload, "zeros where a worker does not know them", 0)
            if message.reason != 0:
                raise Failed(f"values of kind {message.reason}, which one worker has not asked for",
                             payload, b"", message.payload)  # fmt: skip
    return f"{count} values"


def _join_some(kit: Kit, members: Sequence[Member], features: int) -> None:
    """The first asks for features, the others for none."""
    for member in members:
        member.asks = features if member is members[0] else 0
    join_all(kit, members)


def _expect_nothing(message: Message, sent: bytes) -> None:
    wanted = sent[:5] + bytes([protocol.REPLY]) + sent[6:15] + b"\3" + sent[16:24]
    if message.payload != wanted:
        raise Failed("a result of zeros is no header alone that says so", sent, wanted,
                     message.payload)  # fmt: skip


CHECKS = (
    Check(4115, "chunks of zeros", "It is the same chunk as one with so many zeros, for all other"
          " workers, whether theirs have values or not.", "zeros", zeros),
    Check(4116, "results of zeros", "is a header alone, of kind 3 with the same count, if the"
          " switch and all members of the job know zeros", "zeros", results_of_zeros),
)  # fmt: skip
