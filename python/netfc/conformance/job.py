# SPDX-License-Identifier: BSD-3-Clause
"""Workers of a job, each with a socket: what they send, repeat and are told. They always leave."""

import contextlib
import dataclasses
import functools
import os
import select
import socket
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from netfc import aggregation, protocol
from netfc.conformance import sums
from netfc.conformance.check import Failed, NotOffered, Undecided
from netfc.conformance.kit import TRIES, Kit
from netfc.conformance.link import LONGEST, is_reply
from netfc.formats import NUMBER_FORMATS

REASON = {name: number for number, name in aggregation.REASONS.items()}
SLOTS = (16, 1 << 15)  # as many as are asked for; switches whose jobs are set up grant theirs
LEAST_BYTES = 4
REPEAT = 0.1  # seconds, and more where the switch takes longer
_JOIN = aggregation.OPS["join"]


@dataclasses.dataclass(frozen=True)
class Message:
    """What the switch says."""

    payload: bytes
    op: int
    format: int
    status: int
    count: int
    id: int
    job: int
    worker: int
    reason: int
    secret: int
    port: int  # that it came from

    @property
    def code(self) -> int:
        """Of the status."""
        return self.status >> protocol.CODE_SHIFT & 7

    @property
    def flags(self) -> int:
        """Of the status."""
        return self.status & 15

    @property
    def values(self) -> bytes:
        """What is after the header."""
        return self.payload[aggregation.HEADER.size :]

    @property
    def granted(self) -> tuple[int, ...]:
        """Workers, shards, slots, bytes, least, cookie or session, incarnation of a join."""
        return aggregation.JOIN.unpack_from(self.values)

    @property
    def said(self) -> str:
        """The code, or the reason, by its name."""
        if self.code != aggregation.CODE:
            return protocol.CODE_NAMES.get(self.code, f"code {self.code}")
        absence = self.values[0] if self.values else self.count >> 8
        return aggregation.reason_name(self.reason, absence)


def read(payload: bytes, port: int) -> Message | None:
    """A message; None: it is none."""
    if not is_reply(payload) or len(payload) < aggregation.HEADER.size:
        return None
    (
        _,
        _,
        op,
        form,
        status,
        count,
        id_,
        job,
        worker,
        reason,
        secret,
    ) = aggregation.HEADER.unpack_from(payload)
    return Message(payload, op, form, status, count, id_, job, worker, reason, secret, port)


class Member:
    """A worker."""

    def __init__(self, kit: Kit, number: int, workers: int, job: int, token: int):
        self.kit, self.workers = kit, workers
        self.family, host = kit.targets[0]
        self._host = host
        self.socket = self._open(number)
        incarnation = int.from_bytes(os.urandom(8), "big") | 1
        self.place = aggregation.Worker(job, token, number, 0, incarnation)
        self.cookie = 0
        self.shards = self.slots = 1
        self.most, self.least = LEAST_BYTES, 0
        self.labels = False
        self.asks = 0  # for these features, if a call does not say

    def _open(self, number: int) -> socket.socket:
        made = socket.socket(self.family, socket.SOCK_DGRAM)
        sources = self.kit.settings.sources
        if sources:
            made.bind((sources[number % len(sources)], 0))
        return made

    def another_port(self) -> socket.socket:
        """A socket at another port of the same address."""
        return self._open(self.place.number)

    # ---- one datagram --------------------------------------------------------------------

    def send(self, payload: bytes, shard: int = 0, via: socket.socket | None = None) -> None:
        """Sends a datagram; what the network has against it is as if it were lost."""
        self.kit.limits.pace()
        self.kit.traffic.sent += 1
        target = (self._host[0], self.kit.settings.aggregate_port + shard, *self._host[2:])
        with contextlib.suppress(OSError):
            (via or self.socket).sendto(payload, target)

    def receive(self, seconds: float, via: socket.socket | None = None) -> Message | None:
        """The next message; None: none comes in time."""
        use = via or self.socket
        use.settimeout(max(seconds, 1e-4))
        try:
            payload, where = use.recvfrom(LONGEST)
        except OSError:
            return None
        self.kit.traffic.received += 1
        return read(payload, where[1])

    def ask(
        self,
        payload: bytes,
        shard: int = 0,
        is_it: Callable[[Message], bool] | None = None,
        via: socket.socket | None = None,
    ) -> Message:
        """The reply to a datagram, repeated until it comes. Raises Failed or Undecided."""
        op, message_id = payload[3], int.from_bytes(payload[8:12], "big")

        def fits(message: Message) -> bool:
            return (message.op, message.id) == (op, message_id) and (
                is_it is None or is_it(message)
            )

        until = time.monotonic() + self.kit.limits.timeout
        wait = max(REPEAT, self.kit.requests.wait)
        while time.monotonic() < until:
            self.send(payload, shard, via)
            again = time.monotonic() + wait
            while (left := again - time.monotonic()) > 0:
                message = self.receive(left, via)
                if message is not None and fits(message):
                    return message
            wait *= 1.5
        if self.workers == 1 and op != _JOIN and via is None:  # nobody else is waited for
            return _beside_joins([self], [payload], shard, fits)[0]
        self.kit.check_alive()
        raise _unanswered(payload)

    # ---- joins ---------------------------------------------------------------------------

    def join_payload(self, cookie: int | None = None, **changed: int) -> bytes:
        """A join. changed: workers, slots, bytes_, least, features."""
        slots = self.kit.found.get("slots", SLOTS[0])
        asked = {"workers": self.workers, "slots": slots, "bytes_": self.kit.chunk_bytes,
                 "least": LEAST_BYTES, "features": self.asks} | changed  # fmt: skip
        return aggregation.join(
            self.place,
            asked["workers"],
            asked["slots"],
            asked["bytes_"],
            self.cookie if cookie is None else cookie,
            self.kit.requests.new_id(),
            None,
            asked["features"],
            least=asked["least"],
        )

    def join(self, **changed: int) -> Message:
        """Joins once, with the cookie that the switch asks for; keeps what is granted."""
        message = self.ask(self.join_payload(**changed))
        if message.code == aggregation.CODE and message.reason == REASON["cookie"]:
            self.cookie = message.granted[5]
            message = self.ask(self.join_payload(**changed))
        if message.code == 0:
            _, self.shards, self.slots, self.most, self.least, session, _ = message.granted
            self.place = dataclasses.replace(self.place, session=session)
            self.labels = bool(message.reason & aggregation.LABELS)
        return message

    def leave(self, reason: int = 0) -> Message:
        """Leaves, for a reason or none."""
        return self.ask(aggregation.leave(self.place, self.kit.requests.new_id(), reason))

    # ---- chunks --------------------------------------------------------------------------

    def shard(self, number: int) -> int:
        """Where a chunk goes: how many ports after the first."""
        return number % self.slots % self.shards

    def chunk(self, number: int, values: bytes, op: str = "sum", form: str = "fp32",
              owner: int = 0, count: int | None = None) -> bytes:  # fmt: skip
        """A chunk, filled up as the join's reply says."""
        payload = aggregation.chunk(
            self.place, aggregation.OPS[op], aggregation.FORMAT_IDS[form], number, values, owner,
            count,
        )  # fmt: skip
        return payload if not values else payload.ljust(aggregation.HEADER.size + self.least, b"\0")

    def close(self) -> None:
        """Leaves, whatever the switch says to that, and closes the socket."""
        with contextlib.suppress(Failed, Undecided, OSError):
            self.leave()
        self.socket.close()


@contextlib.contextmanager
def team(kit: Kit, count: int = 2, joined: bool = True) -> Iterator[list[Member]]:
    """Workers of a job, who have joined. Raises NotOffered where the switch does not aggregate."""
    kit.require_aggregation()
    job = kit.new_job(count)
    token = kit.settings.token or int.from_bytes(os.urandom(8), "big") or 1
    members = [Member(kit, number, count, job, token) for number in range(count)]
    try:
        if joined:
            join_all(kit, members)
        yield members
    finally:
        for member in members:
            member.close()


def join_all(kit: Kit, members: Sequence[Member], **changed: int) -> None:
    """Joins until all are in. Raises NotOffered for reasons that are no mistakes, or Failed."""
    until = time.monotonic() + 2 * kit.limits.timeout
    left = list(members)
    while left:
        for member in list(left):
            message = member.join(**changed)
            if message.code == 0:
                left.remove(member)
            elif message.code != aggregation.CODE or message.reason != REASON["waiting"]:
                _refused(kit, member, message)
        if time.monotonic() > until:
            raise Undecided("workers wait for each other, though all have joined")


def join_for(kit: Kit, members: Sequence[Member], feature: int) -> bool:
    """All join and ask for a feature. Whether they may use it."""
    join_all(kit, members, features=feature)
    session = members[0].place.session
    message = members[0].ask(members[0].join_payload(session, features=feature))
    return bool(message.reason & feature)


def _refused(kit: Kit, member: Member, message: Message) -> None:
    """A join that is refused."""
    if message.reason == REASON["mismatch"] and "slots" not in kit.found:
        kit.found["slots"] = SLOTS[1]  # it may have as many slots as it was made with
        return
    if message.code == aggregation.CODE and message.reason in (
        REASON["off"], REASON["full"], REASON["no-slots"],
    ):  # fmt: skip
        raise NotOffered(f"a join is refused: {message.said}")
    sent = member.join_payload()
    raise Failed(f"a join is refused: {message.said}", sent, b"", message.payload)


def exchange(
    members: Sequence[Member],
    payloads: Sequence[bytes],
    number: int,
    order: Iterable[int] | None = None,
    is_all: bool = True,
) -> list[Message]:
    """All send a chunk, and repeat it until each has a reply. is_all: nothing else that may have
    been lost is waited for. Raises Failed, if that is so, or Undecided."""

    def fits(message: Message) -> bool:
        return message.id == number & 0xFFFFFFFF and message.op != _JOIN

    kit, replies = members[0].kit, [None] * len(members)  # type: Kit, list[Message | None]
    by_socket = {member.socket: place for place, member in enumerate(members)}
    turn = list(order) if order is not None else list(range(len(members)))
    until = time.monotonic() + kit.limits.timeout
    wait = max(REPEAT, kit.requests.wait)
    while None in replies and time.monotonic() < until:
        for place in turn:
            if replies[place] is None:
                members[place].send(payloads[place], members[place].shard(number))
        again = time.monotonic() + wait
        wait *= 1.5
        while None in replies and (left := again - time.monotonic()) > 0:
            for ready in select.select(list(by_socket), [], [], left)[0]:
                message = members[by_socket[ready]].receive(0)
                if message is not None and fits(message):
                    replies[by_socket[ready]] = replies[by_socket[ready]] or message
    missing = [place for place, message in enumerate(replies) if message is None]
    if missing and not is_all:
        kit.check_alive()
        raise _unanswered(payloads[missing[0]])
    if missing:
        late = _beside_joins(
            [members[place] for place in missing], [payloads[place] for place in missing],
            members[0].shard(number), fits,
        )  # fmt: skip
        for place, message in zip(missing, late):
            replies[place] = message
    return [message for message in replies if message is not None]


def _beside_joins(
    members: Sequence[Member],
    payloads: Sequence[bytes],
    shard: int,
    fits: Callable[[Message], bool],
) -> list[Message]:
    """Replies to what has had none for long, asked for once more beside joins. Raises Failed where
    these are answered, TRIES times, and it is not; Undecided where neither is."""
    kit = members[0].kit
    found: dict[int, Message] = {}
    for _ in range(TRIES):
        joins = [member.join_payload(member.place.session) for member in members]
        joined: set[int] = set()
        until = time.monotonic() + kit.limits.timeout
        while len(joined) < len(members) and time.monotonic() < until:
            for place, member in enumerate(members):
                member.send(payloads[place], shard)
                member.send(joins[place])
            _receive_beside(members, joins, fits, found, joined)
        if len(found) == len(members):
            return [found[place] for place in range(len(members))]
        if len(joined) < len(members):
            kit.check_alive()
            raise _unanswered(payloads[0])
    payload = next(each for place, each in enumerate(payloads) if place not in found)
    raise Failed(f"{_unanswered(payload)}, {TRIES} times, while joins are answered", payload)


def _receive_beside(
    members: Sequence[Member],
    joins: Sequence[bytes],
    fits: Callable[[Message], bool],
    found: dict[int, Message],
    joined: set[int],
) -> None:
    """Replies that come for a while: `found`, and whose joins are answered."""
    by_socket = {member.socket: place for place, member in enumerate(members)}
    again = time.monotonic() + max(REPEAT, members[0].kit.requests.wait)
    while len(found) < len(members) and (left := again - time.monotonic()) > 0:
        for ready in select.select(list(by_socket), [], [], left)[0]:
            place = by_socket[ready]
            message = members[place].receive(0)
            if message is not None and fits(message):
                found.setdefault(place, message)
            elif message is not None and message.payload[8:12] == joins[place][8:12]:
                joined.add(place)


def _unanswered(payload: bytes) -> Undecided:
    return Undecided(f"no reply to {aggregation.OP_NAMES.get(payload[3], f'op {payload[3]}')}")


# ---- what is summed ------------------------------------------------------------------------


def _value(form: str, value: float) -> bytes:
    """A number, as it stands in a chunk."""
    if form in NUMBER_FORMATS:
        known = NUMBER_FORMATS[form]
        return int(known.encode([value])[0]).to_bytes(known.bits // 8, "big")
    size = sums.KINDS[form].bits // 8
    if form == "fp64":
        return struct.pack(">d", value)
    return int(value).to_bytes(size, "big", signed=True)


def basic(kit: Kit) -> tuple[str, Callable[..., bytes]]:
    """A format that this switch sums, and a number of it. Raises NotOffered."""
    known = replies_to_ones(kit)
    for form in ("fp32", "fp16", "fp8_e4m3", "int32"):
        if known[form].code == known[form].reason == 0:
            return form, functools.partial(_value, form)
    raise NotOffered("it gives sums as results in no format")


def replies_to_ones(kit: Kit) -> dict[str, Message]:
    """What a worker alone is answered that sums 1 of each format, asked once."""
    if "ones" not in kit.found:
        answers: dict[str, Message] = {}
        with team(kit, 1) as (alone,):
            number = 0
            for form in sums.KINDS:
                sent = alone.chunk(number, _value(form, 1.0), form=form)
                answers[form] = alone.ask(sent, alone.shard(number))
                number += answers[form].code == 0
        kit.found["ones"] = answers
    found: dict[str, Message] = kit.found["ones"]
    return found


def require(kit: Kit, form: str) -> None:
    """Raises NotOffered where a format is not known at all."""
    if replies_to_ones(kit)[form].code == protocol.Code.FORMAT:
        raise NotOffered("the format is not aggregated: code 3")
