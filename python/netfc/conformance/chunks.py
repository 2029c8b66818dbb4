# SPDX-License-Identifier: BSD-3-Clause
"""Checks of what becomes of chunks: windows, repeats, ports, owners, labels, sums, digits."""

import functools
import random
import time
from collections.abc import Callable, Iterator, Sequence

from netfc import aggregation, catalogue, protocol
from netfc.conformance import operands, sums
from netfc.conformance.check import Check, Failed, NotOffered
from netfc.conformance.job import (
    REASON,
    Member,
    Message,
    basic,
    exchange,
    join_for,
    require,
    team,
)
from netfc.conformance.joins import says
from netfc.conformance.kit import Kit, with_status
from netfc.formats import NUMBER_FORMATS

WORKERS = 3
MOST_VALUES = 362  # of a chunk of sums
OWNER = aggregation.OWNER
ONE, TWO, THREE = (bytes.fromhex(bits) for bits in ("3f800000", "40000000", "40400000"))


def expect(
    message: Message, values: bytes, sent: bytes, what: str, flags: int | None = None
) -> None:
    """A result that has these values, and is else the worker's own packet. Raises Failed."""
    status = protocol.REPLY | (message.flags if flags is None else flags)
    form = sent[4]
    wanted = sent[:4] + bytes([form, status]) + sent[6:15] + bytes([0]) + sent[16:24] + values
    got = message.payload[: len(wanted)]
    if got[:15] + b"\0" + got[16:] != wanted or message.code != 0:
        raise Failed(f"{what}: {_difference(message, values)}", sent, wanted, message.payload)
    if len(message.payload) not in (len(wanted), len(sent)):
        raise Failed(f"{what}: another length", sent, wanted, message.payload)


def _difference(message: Message, values: bytes) -> str:
    if message.code != 0:
        return f"answered with {message.said}"
    if message.values[: len(values)] != values:
        return "other results"
    return "another header"


# ---- slots -----------------------------------------------------------------------------------


def whole(kit: Kit) -> str:
    """Chunks of one value to as many as a packet has."""
    form, value = basic(kit)
    with team(kit) as members:
        most = members[0].most // len(value(1))
        counts = sorted({1, 2, 3, most // 2, most - 1, most} - {0})
        for number, count in enumerate(counts):
            sent = [member.chunk(number, value(1) * count, form=form) for member in members]
            for message, payload in zip(exchange(members, sent, number), sent):
                expect(message, value(2) * count, payload, f"{count} values of 1 and 1")
    return f"1 to {most} values"


def repeated(kit: Kit) -> str:
    """A chunk that comes again is not added again."""
    form, value = basic(kit)
    with team(kit) as (first, second):
        sent = [member.chunk(0, value(1), form=form) for member in (first, second)]
        for _ in range(3):
            first.send(sent[0], first.shard(0))
        for message, payload in zip(exchange([first, second], sent, 0), sent):
            expect(message, value(2), payload, "1, sent several times, and 1")
        for _ in range(2):
            again = first.ask(sent[0], first.shard(0))
            expect(again, value(2), sent[0], "a chunk repeated after its result")
    return "not added twice, answered again"


def windows(kit: Kit) -> str:
    """Chunks that are further ahead than slots allow."""
    form, value = basic(kit)
    with team(kit) as (first, second):
        for ahead in (2 * first.slots, 3 * first.slots + 1):
            sent = first.chunk(ahead, value(1), form=form)
            says(first.ask(sent, first.shard(ahead)), "window", sent, f"chunk {ahead} in the"
                 f" beginning, with {first.slots} slots")  # fmt: skip
        _rounds(first, second, form, value, 2)
    return f"{first.slots} slots"


def _rounds(
    first: Member, second: Member, form: str, value: Callable[..., bytes], rounds: int
) -> None:
    """A slot's chunks, one after the other."""
    for turn in range(rounds):
        number = turn * first.slots
        sent = [each.chunk(number, value(turn + 1), form=form) for each in (first, second)]
        for message, payload in zip(exchange([first, second], sent, number), sent):
            expect(message, value(2 * turn + 2), payload, f"chunk {number}")


def late(kit: Kit) -> str:
    """Chunks that were done long ago change nothing."""
    form, value = basic(kit)
    with team(kit) as (first, second):
        _rounds(first, second, form, value, 3)
        old = first.chunk(0, value(3), form=form)
        first.send(old, first.shard(0))
        last = 2 * first.slots
        sent = first.chunk(last, value(3), form=form)
        expect(first.ask(sent, first.shard(last)), value(6), sent, "a result, asked for again")
        old = first.chunk(first.slots, value(3), form=form)
        answer = first.ask(old, first.shard(first.slots))
        expect(answer, value(4), old, "the last result but one, asked for again")
        _rounds_from(first, second, form, value, 3)
    return "3 rounds of a slot"


def _rounds_from(
    first: Member, second: Member, form: str, value: Callable[..., bytes], turn: int
) -> None:
    number = turn * first.slots
    sent = [each.chunk(number, value(1), form=form) for each in (first, second)]
    for message, payload in zip(exchange([first, second], sent, number), sent):
        expect(message, value(2), payload, f"chunk {number}, after a late one")


def any_order(kit: Kit) -> str:
    """Chunks of all slots at once, in any order, from workers in any order."""
    form, value = basic(kit)
    draw = random.Random(15)
    with team(kit, WORKERS) as members:
        pairs = [(each, number) for each in members for number in range(members[0].slots)]
        draw.shuffle(pairs)
        for each, number in pairs:
            each.send(each.chunk(number, value(number % 4), form=form), each.shard(number))
        for number in range(members[0].slots):
            sent = [each.chunk(number, value(number % 4), form=form) for each in members]
            order = draw.sample(range(WORKERS), WORKERS)
            for message, payload in zip(exchange(members, sent, number, order), sent):
                expect(message, value(3 * (number % 4)), payload, f"chunk {number}")
    return f"{len(pairs)} chunks"


def ports_of_results(kit: Kit) -> str:
    """A result goes to the port that the worker's first packet of the chunk came from."""
    form, value = basic(kit)
    with team(kit) as members, members[0].another_port() as elsewhere:
        first, second = members
        sent = [each.chunk(0, value(1), form=form) for each in members]
        for _ in range(3):  # some may be lost
            first.send(sent[0], first.shard(0), elsewhere)
        second.ask(sent[1], second.shard(0))
        message = first.receive(_patience(kit), elsewhere)
        if message is None:  # lost, perhaps: then it is there, and goes to who asks
            stray = first.receive(_patience(kit))
            if stray is not None and stray.id == 0 and stray.op == sent[0][3]:
                raise Failed("the result goes to another port than the chunk came from", sent[0],
                             b"", stray.payload)  # fmt: skip
            message = first.ask(sent[0], first.shard(0), via=elsewhere)
        expect(message, value(2), sent[0], "a chunk from another port")
        shard = first.shard(0) + kit.settings.aggregate_port
        if message.port != shard:
            raise Failed(f"the result comes from port {message.port}, not {shard}", sent[0], b"",
                         message.payload)  # fmt: skip
        expect(first.ask(sent[0], first.shard(0)), value(2), sent[0], "a result, asked for by the"
               " other port")  # fmt: skip
    return "to the chunk's port, and to who asks again"


def _patience(kit: Kit) -> float:
    return max(0.3, 4 * kit.requests.wait)


def headers(kit: Kit) -> str:
    """Version, operation, format and length of a chunk."""
    form, value = basic(kit)
    with team(kit) as (first, _):
        whole_ = first.chunk(0, value(1) * 2, form=form)
        for at, byte, code in (
            (2, 9, 1),
            (3, 7, 2),
            (3, 39, 2),
            (3, 63, 2),
            (4, 0, 3),
            (4, 11, 3),
        ):
            sent = whole_[:at] + bytes([byte]) + whole_[at + 1 :]
            message = first.ask(sent, first.shard(0))
            if (message.code, message.flags) != (code, 0):
                raise Failed(f"byte {at} is {byte}: {message.said}, not code {code}", sent,
                             with_status(sent, code), message.payload)  # fmt: skip
        _cut(first, value(1), form)
    return "6 chunks, and some that are cut"


def _cut(member: Member, one: bytes, form: str) -> None:
    """Chunks with fewer values than they count, of all lengths up to 12 values."""
    most = min(12, member.most // len(one))
    whole_ = member.chunk(0, one * most, form=form)[: aggregation.HEADER.size + most * len(one)]
    for count in range(most):
        sent = whole_[: aggregation.HEADER.size + count * len(one)]
        message = member.ask(sent, member.shard(0))
        if (message.code, message.flags) != (protocol.Code.LENGTH, 0):
            raise Failed(f"{count} values of {most}: {message.said}, not code 4", sent,
                         with_status(sent, protocol.Code.LENGTH), message.payload)  # fmt: skip


def mismatches(kit: Kit) -> str:
    """Workers that send different things in a chunk: the one that differs is told 4, others who."""
    form, value = basic(kit)
    others = [("mean", 1), ("sum", 2)] if form == "fp32" else [("sum", 2)]
    return "; ".join(_mismatch(kit, form, value, op, count) for op, count in others)


def _mismatch(kit: Kit, form: str, value: Callable[..., bytes], op: str, count: int) -> str:
    """Worker 1 sends this, the others a sum of one value."""
    with team(kit, WORKERS) as (first, second, third):
        first.send(first.chunk(0, value(1), form=form), first.shard(0))
        time.sleep(_patience(kit) / 4)
        sent = second.chunk(0, value(1) * count, op, form)
        what = f"a chunk of {op} and {count} values, where another worker has sum and 1"
        says(second.ask(sent, second.shard(0)), "mismatch", sent, what)
        if first.place.session == 0:
            return f"{op}, {count} values; jobs are set up beforehand, and others are not told"
        sent = third.chunk(0, value(1), form=form)
        told = third.ask(sent, third.shard(0))
        if told.reason != aggregation.MISSING + 1:
            raise Failed(f"the others are told {told.said}, not that worker 1 differs", sent,
                         b"", told.payload)  # fmt: skip
    return f"{op}, {count} values"


def sessions_of_chunks(kit: Kit) -> str:
    """A chunk with another session comes from a worker's address: reason 3."""
    form, value = basic(kit)
    with team(kit) as (first, second):
        if first.place.session == 0:
            raise NotOffered("jobs are set up beforehand: the token is the session")
        good = first.chunk(0, value(1), form=form)
        wrong = good[:16] + (int.from_bytes(good[16:24], "big") ^ 1).to_bytes(8, "big") + good[24:]
        says(first.ask(wrong, first.shard(0)), "no-job", wrong, "a chunk with another session")
        sent = [good, second.chunk(0, value(1), form=form)]
        for message, payload in zip(exchange([first, second], sent, 0), sent):
            expect(message, value(2), payload, "what was sent with another session is added")
    return "no-job"


# ---- owners and labels -----------------------------------------------------------------------


def owners(kit: Kit) -> str:
    """A reduction with an owner: the results are the owner's alone."""
    form, value = basic(kit)
    with team(kit, WORKERS) as members:
        sent = [each.chunk(0, value(1), form=form, owner=OWNER + 1) for each in members]
        replies = exchange(members, sent, 0)
        results = [message.values[: len(value(1))] for message in replies]
        if all(message.code == message.reason == 0 for message in replies) and set(results) == {
            value(3)
        }:
            raise NotOffered("owners are ignored: results go to all")
        expect(replies[1], value(3), sent[1], "the owner's result")
        for place in (0, 2):
            if replies[place].code != 0 or replies[place].reason != 2 or replies[place].values:
                raise Failed("who does not own a chunk gets something else than an acknowledgement",
                             sent[place], b"", replies[place].payload)  # fmt: skip
    return "results to one of three"


def copies(kit: Kit) -> str:
    """A worker's values, unchanged, to all others; their bits are not looked at."""
    with team(kit, WORKERS) as members:
        values = bytes.fromhex("7fc12345ff80000100000001deadbeef")
        values = values[: max(4, members[0].most // 4 * 4)]
        count = len(values) // 4
        sent = [each.chunk(0, values if each.place.number == 2 else b"", "copy", "fp32", OWNER + 2,
                           count) for each in members]  # fmt: skip
        replies = exchange(members, sent, 0)
        if any(message.code == protocol.Code.OP for message in replies):
            raise NotOffered("it does not copy: code 2")
        for place in (0, 1):
            expect(replies[place], values, sent[place], "what is copied", 0)
        if replies[2].code != 0 or replies[2].values:
            raise Failed("who owns a copy gets something else than an acknowledgement", sent[2],
                         b"", replies[2].payload)  # fmt: skip
        _wrong_copies(members, values)
    return f"{count} values to two of three"


def _wrong_copies(members: Sequence[Member], values: bytes) -> None:
    """What is refused of copies and owners."""
    first, count, mismatch = members[0], len(values) // 4, REASON["mismatch"]
    for sent, code, reason in (
        (first.chunk(1, values, "copy", owner=OWNER + 2), 4, 0),
        (first.chunk(1, b"", "copy", count=count), aggregation.CODE, mismatch),
        (first.chunk(1, b"", "copy", owner=OWNER + 9, count=count), aggregation.CODE, mismatch),
        (first.chunk(1, values, "sum", owner=1), 2, 0),
    ):  # fmt: skip
        message = first.ask(sent, first.shard(1))
        if message.code != code or reason and message.reason != reason:
            raise Failed(f"byte 15 is {sent[15]:#x}, op {sent[3]}: {message.said}", sent,
                         with_status(sent, code), message.payload)  # fmt: skip


def barriers(kit: Kit) -> str:
    """A copy of nothing: nobody has it before all have sent it."""
    with team(kit) as members:
        sent = [each.chunk(0, b"", "copy", count=0) for each in members]
        members[0].send(sent[0], members[0].shard(0))
        early = members[0].receive(_patience(kit))
        if early is not None and early.code == 0 and early.op == sent[0][3]:
            raise Failed(
                "a barrier is over before all have come to it", sent[0], b"", early.payload
            )
        for message, payload in zip(exchange(members, sent, 0), sent):
            if message.code == protocol.Code.OP:
                raise NotOffered("it does not copy: code 2")
            if message.code != 0 or message.values:
                raise Failed(f"a barrier: {message.said}", payload, b"", message.payload)
    return "2 workers"


def labels(kit: Kit) -> str:
    """Calls with labels: alike they are done, others are mismatches."""
    with team(kit, joined=False) as members:
        if not join_for(kit, members, aggregation.LABELS):
            raise NotOffered("the reply to a join says that labels are not known")

        def label(member: Member, number: int, value: int) -> bytes:
            return aggregation.label(member.place, aggregation.FORMAT_IDS["fp32"], number, value)

        sent = [label(member, 0, 7) for member in members]
        for message, payload in zip(exchange(members, sent, 0), sent):
            if message.code != 0 or message.values:
                raise Failed(f"equal labels: {message.said}", payload, b"", message.payload)
        none = label(members[0], 1, 0)
        message = members[0].ask(none, members[0].shard(1))
        if message.code != 4:
            raise Failed(f"a label 0: {message.said}, not code 4", none, with_status(none, 4),
                         message.payload)  # fmt: skip
        sent = [label(members[0], 1, 7), label(members[1], 1, 8)]
        members[0].send(sent[0], members[0].shard(1))
        time.sleep(_patience(kit) / 4)
        says(members[1].ask(sent[1], members[1].shard(1)), "mismatch", sent[1], "another label")
    return "alike, other, none"


# ---- sums ------------------------------------------------------------------------------------


def values_of(form: str, count: int, seed: int) -> list[bytes]:
    """Values of each worker: special ones in all combinations, cancellation, overflow, any bits."""
    kind, draw = sums.KINDS[form], random.Random(f"{form} {seed}")
    size, end = kind.bits // 8, 1 << kind.bits
    edges = _edges(form)
    lanes: list[list[int]] = [
        [edges[(lane // len(edges) ** place) % len(edges)] for place in range(WORKERS)]
        for lane in draw.sample(
            range(len(edges) ** WORKERS), min(count // 2, len(edges) ** WORKERS)
        )
    ]
    while len(lanes) < count:
        base = draw.randrange(end)
        near = draw.randrange(1 << min(kind.bits, 12))
        lanes.append(
            draw.choice(
                (
                    [draw.randrange(end) for _ in range(WORKERS)],
                    [base, base ^ end >> 1, near],  # what cancels, and what is left
                    [base, base & ~near % end, near],
                    [base & ~7, (base & ~7) ^ 1, base ^ end >> 1],
                )
            )
        )
    for lane in lanes:
        draw.shuffle(lane)
    return [b"".join(lane[w].to_bytes(size, "big") for lane in lanes) for w in range(WORKERS)]


def _edges(form: str) -> list[int]:
    kind = sums.KINDS[form]
    sign = 1 << kind.bits - 1
    if form in NUMBER_FORMATS:
        return [int(bits) for bits in operands.specials(NUMBER_FORMATS[form])][::3]
    if kind.is_integer:
        return [0, 1, sign - 1, sign, sign + 1, 2 * sign - 1, sign // 2, 0xFFFF, 0x10000]
    top = kind.greatest
    small = [0, 1, 1 << kind.fraction_bits, top, top + 1, kind.nan, top - (1 << 52)]
    return small + [sign + each for each in small]


def of_format(kit: Kit, form: str) -> str:
    """sum, mean, min and max of a format: several chunks of special and of any values."""
    offered = []
    require(kit, form)
    with team(kit, WORKERS) as members:
        number = 0
        for op in ("sum", "mean", "min", "max"):
            size = sums.KINDS[form].bits // 8
            count = max(1, min(members[0].most // size, MOST_VALUES))
            done = _reduce(members, number, op, form, values_of(form, count, number))
            number += 1
            if done is None:
                continue
            offered.append(op)
            _reduce(members, number, op, form, values_of(form, count, number))
            number += 1
    if not offered:
        raise NotOffered(f"{form} is not aggregated, or sums are left to the workers")
    return f"{', '.join(offered)}; {number} chunks"


def _reduce(
    members: Sequence[Member], number: int, op: str, form: str, team_values: list[bytes]
) -> int | None:
    """A chunk of all. Returns its flags; None: it is not offered."""
    sent = [each.chunk(number, mine, op, form) for each, mine in zip(members, team_values)]
    order = random.Random(number).sample(range(len(members)), len(members))
    replies = exchange(members, sent, number, order)
    if any(message.code in (2, 3) for message in replies):
        return None
    if replies[0].code == 0 and replies[0].reason == 1:
        return None  # sums, which the workers round
    values, flags = expected_of(form, op, team_values)
    for message, payload in zip(replies, sent):
        expect(message, values, payload, f"{op} of {form}", flags)
    return flags


def expected_of(form: str, op: str, team_values: list[bytes]) -> tuple[bytes, int]:
    """The result of a chunk, and its flags."""
    if op in ("min", "max"):
        return sums.least_or_greatest(form, op, team_values), 0
    total = sums.added([sums.of_values(form, values) for values in team_values])
    return sums.rounded(form, total, len(team_values) if op == "mean" else 1)


def wider(kit: Kit, form: str, result: str) -> str:
    """Sums and means in another format than the values'."""
    require(kit, form)
    with team(kit, WORKERS) as members:
        count = max(1, min(members[0].most // (sums.KINDS[result].bits // 8), MOST_VALUES))
        for number, op in enumerate(("sum", "mean")):
            mine = values_of(form, count, number)
            sent = [each.chunk(number, values, op, f"{form}:{result}", count=count)
                    for each, values in zip(members, mine)]  # fmt: skip
            replies = exchange(members, sent, number)
            if any(message.code == protocol.Code.FORMAT for message in replies):
                raise NotOffered("it knows no results of another format: code 3")
            total = sums.added([sums.of_values(form, values) for values in mine])
            total = sums.in_units_of(form, result, total)
            values, flags = sums.rounded(result, total, WORKERS if op == "mean" else 1)
            for message, payload in zip(replies, sent):
                expect(message, values, payload, f"{op} of {form} in {result}", flags)
    return "sum, mean"


def digits(kit: Kit, form: str) -> str:
    """Exact sums of many values in place of values; a mean is of workers all the same, or divided
    by what members say, if they may."""
    require(kit, form)
    with team(kit, WORKERS, joined=False) as members:
        known = join_for(kit, members, aggregation.DIVISORS)
        member_sums = [sums.of_values(form, values) for values in values_of(form, 24, 5)]
        twice = sums.added([member_sums[0], member_sums[0]])
        kinds = [("sum", 0), ("mean", 0), *([("mean", 7)] if known else [])]
        for number, (op, divisor) in enumerate(kinds):
            replies = _digits(members, number, op, form, [twice, *member_sums[1:]], divisor)
            refused = next((message for message in replies if message.code), None)
            if refused is not None and (refused.code in (2, 3) or refused.reason in (4, 15)):
                is_reason = refused.code == aggregation.CODE
                said = f"reason {refused.reason}" if is_reason else f"code {refused.code}"
                raise NotOffered(f"it accepts no exact sums, in digits, of {form}: {said}")
            total = sums.added([twice, *member_sums[1:]])
            values, flags = sums.rounded(form, total, (divisor or WORKERS) if op == "mean" else 1)
            for message, member in zip(replies, members):
                sent = member.chunk(number, bytes(24 * len(values) // 24), op, form)
                if (
                    message.code
                    or message.values[: len(values)] != values
                    or message.flags != flags
                ):
                    raise Failed(f"{op} of digits of {form}: {_difference(message, values)}", sent,
                                 sent[:5] + bytes([0x80 | flags]) + sent[6:24] + values,
                                 message.payload)  # fmt: skip
    return "sum, mean, divisor" if known else "sum, mean"


# pylint: disable-next=too-many-arguments,too-many-positional-arguments
def _digits(
    members: Sequence[Member],
    number: int,
    op: str,
    form: str,
    member_sums: Sequence[sums.Sums],
    divisor: int,
) -> list[Message]:
    """Each sends its sums in parts, some of them twice, the last one until there is a reply."""
    lanes = len(member_sums[0])
    last = []
    for member, mine in zip(members, member_sums):
        made = [
            aggregation.chunk(
                member.place,
                aggregation.OPS[op],
                aggregation.FORMAT_IDS[form],
                number,
                piece,
                aggregation.DIGITS,
                lanes,
            )
            for piece in sums.parts(mine, 4 if form == "fp64" else 12, divisor)
        ]
        for payload in [*made[:-1], *made[:1]]:
            answer = None
            for wait in (0.0, 0.01):
                member.send(payload, member.shard(number))
                answer = answer or member.receive(wait)
            if answer is not None and answer.code:
                return [answer]
        last.append(made)
    return _until_answered(members, last, number)


def _until_answered(
    members: Sequence[Member], made: Sequence[Sequence[bytes]], number: int
) -> list[Message]:
    """All parts again and again, until each member has its result."""
    for turn in range(1, len(made[0])):
        for member, parts in zip(members, made):
            member.send(parts[turn - 1], member.shard(number))
    return exchange(members, [parts[-1] for parts in made], number, is_all=False)


def silence(kit: Kit) -> str:
    """Who sends nothing is named; with --long, as it takes as long as the switch's stall."""
    if not kit.settings.long:
        raise NotOffered("takes as long as the switch waits for a worker: --long")
    form, value = basic(kit)
    with team(kit) as (first, second):
        sent = first.chunk(0, value(1), form=form)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            first.send(sent, first.shard(0))
            message = first.receive(0.5)
            if message is not None and message.code == aggregation.CODE:
                if message.said not in ("silent 1", "late 1"):
                    raise Failed(f"worker 1 sends nothing, and {message.said} is said", sent, b"",
                                 message.payload)  # fmt: skip
                del second
                return message.said
    raise NotOffered("nobody is named within a minute")


_CHECKS = (
    Check(4101, "lengths of chunks", "values, which the result overwrites in the reply",
          "aggregation", whole),
    Check(4102, "repeated chunks", "A result comes from the port that the chunk was sent to.",
          "aggregation", repeated),
    Check(4103, "windows", "the chunk is further ahead than the slots allow", "aggregation",
          windows),
    Check(4104, "late chunks",
          "It sends chunk c only when it has the result of chunk c - S.", "aggregation", late),
    Check(4105, "chunks in any order", "chunk c to port P + (c mod S) mod shards",
          "aggregation", any_order),
    Check(4106, "ports of results", "It goes to the port from which the worker's first packet of"
          " the chunk came or, if the result exists already, to the port that asks for it again.",
          "aggregation", ports_of_results),
    Check(4107, "headers of chunks", "A packet has the header above, 12 more bytes, and then"
          " values, which the result overwrites in the reply", "aggregation", headers),
    Check(4108, "chunks that differ",
          "all others, whatever they send, are answered with 64 + its number", "aggregation",
          mismatches),
    Check(4109, "sessions of chunks", "If a chunk with another session comes from a worker's"
          " address, the switch answers with reason 3; otherwise it drops the chunk.",
          "aggregation", sessions_of_chunks),
    Check(4110, "owners", "With 64 + w, worker w owns the chunk", "aggregation", owners),
    Check(4111, "copies", "w's values, unchanged, to all but w", "aggregation", copies),
    Check(4112, "barriers", "37 with count 0, a barrier; byte 15 is 0", "aggregation", barriers),
    Check(4113, "labels", "Labels that differ, or a label and another chunk, are a mismatch"
          " (reason 4).", "labels", labels),
    Check(4114, "silent workers", "worker w's values are missing", "aggregation", silence),
)  # fmt: skip


def _checks() -> Iterator[Check]:
    yield from _CHECKS
    exact = "The switch rounds the exact sum once, to the result's format."
    ops = "32 join, 33 sum, 34 mean, 35 min, 36 max, 37 copy, 40 leave"
    for form, kind in sums.KINDS.items():
        of_form: Callable[[Kit], str | None] = functools.partial(of_format, form=form)
        yield Check(4200 + kind.number, f"reductions of {form}", ops, "aggregation", of_form)
        of_digits = functools.partial(digits, form=form)
        clause = "A lane is a two's-complement integer of d digits of 32 bits, the most significant"
        clause += " first."
        yield Check(4300 + kind.number, f"digits of {form}", clause, "digits", of_digits)
    for form, results in catalogue.WIDER_RESULTS.items():
        for result in results:
            number = 4400 + 10 * sums.KINDS[form].number + sums.KINDS[result].number
            pair = functools.partial(wider, form=form, result=result)
            yield Check(number, f"sums of {form} in {result}", exact, "aggregation", pair)


CHECKS = tuple(sorted(_checks(), key=lambda check: check.number))
