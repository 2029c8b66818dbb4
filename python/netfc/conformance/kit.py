# SPDX-License-Identifier: BSD-3-Clause
"""What checks ask with: links to the switch, what it offers, and what it has to answer."""

import contextlib
import dataclasses
import errno
import functools
import itertools
import os
import socket
from collections.abc import Sequence
from typing import Any

import numpy

from netfc import aggregation, hosts, protocol
from netfc._native.arrays import Encodings
from netfc.conformance.check import Failed, NotOffered, Undecided, Unreachable
from netfc.conformance.link import (
    FIRST_WAIT,
    ID,
    LONGEST,
    WINDOW,
    Limits,
    Link,
    Traffic,
    is_reply,
)
from netfc.formats import NUMBER_FORMATS, Format

MTU_BYTES = 1500 - 28  # of a UDP payload over IPv4; over IPv6 20 less
_OPERANDS, _TOKEN = slice(12, 16), slice(16, 24)  # of a request of one lane, of a join
TRIES = 6  # how often a datagram may be lost, and others beside it not, until it is called ignored


@dataclasses.dataclass(frozen=True)
class Settings:
    """What is asked, and how.

    addresses: of the switch, one or one of each family. port, aggregate_port: UDP ports.
    tables: table sets that it has, none: they are found out. long: all pairs of 16 bits.
    job, token: of aggregation; 0: drawn. sources: own addresses of workers; none: the machine's.
    set_up: jobs that the switch was given beforehand and that do not end: (workers, number).
    """

    addresses: tuple[str, ...]
    port: int = protocol.UDP_PORT
    aggregate_port: int = aggregation.UDP_PORT
    tables: tuple[str, ...] = ()
    long: bool = False
    job: int = 0
    token: int = 0
    sources: tuple[str, ...] = ()
    set_up: tuple[tuple[int, int], ...] = ()


class Kit:
    """A switch, asked. A context manager, which leaves nothing behind.

    Raises Unreachable where an address cannot be found out or reached.
    """

    def __init__(self, settings: Settings, limits: Limits):
        self.settings, self.limits, self.traffic = settings, limits, Traffic()
        self.targets = [_resolved(address) for address in settings.addresses]
        self.answers_requests = False
        self.answers_aggregation = False
        # Why replies to requests, or joins, cannot be told from others.
        self._strange: dict[int, Failed] = {}  # by the port
        self._offered: dict[tuple[int, int], tuple[bytes, bytes | None]] = {}  # request and reply
        self.found: dict[str, Any] = {}  # what checks have found out, for others
        self.requests = self.link(settings.port)
        self._left = list(settings.set_up)

    def __enter__(self) -> "Kit":
        return self

    def __exit__(self, *_: object) -> None:
        self.requests.close()

    def link(self, port: int, family: int | None = None) -> Link:
        """A new socket to a port of the switch. Raises NotOffered if it has no such address."""
        for found, host in self.targets:
            if family in (None, found):
                try:
                    return Link(found, (host[0], port, *host[2:]), self.limits, self.traffic)
                except OSError as error:
                    raise Unreachable(f"cannot reach {host[0]}: {error.strerror}") from error
        raise NotOffered("no IPv6 address of the switch is given" if family == socket.AF_INET6
                         else "no IPv4 address of the switch is given")  # fmt: skip

    @property
    def most_bytes(self) -> int:
        """Of a payload that passes without fragments."""
        return MTU_BYTES - (20 if self.targets[0][0] == socket.AF_INET6 else 0)

    @property
    def chunk_bytes(self) -> int:
        """Of values in a chunk that passes without fragments."""
        return self.most_bytes - aggregation.HEADER.size

    def new_job(self, workers: int) -> int:
        """The number of a job that has not begun. Raises NotOffered where all have."""
        if not self.settings.set_up:
            return self.settings.job or int.from_bytes(os.urandom(2), "big") or 1
        for found in self._left:
            if found[0] == workers:
                self._left.remove(found)
                return found[1]
        raise NotOffered(f"no job of {workers} workers is left of those that --job names")

    # ---- whether it is there -------------------------------------------------------------

    def find(self) -> None:
        """Looks whether it answers requests and joins. Raises Unreachable if it answers neither."""
        control, with_jobs = self.control(), self.link(self.settings.aggregate_port)
        try:
            worker = aggregation.Worker(self.settings.job or 0xFFFF, self.settings.token or 1, 0)
            join = aggregation.join(worker, 1, 1, 4, message_id=with_jobs.new_id())
            computed, joined = _replies((self.requests, control), (with_jobs, join))
        finally:
            with_jobs.close()
        if computed is None:
            computed = self._look_for_strange(self.settings.port, control, _OPERANDS)
        if joined is None:
            joined = self._look_for_strange(self.settings.aggregate_port, join, _TOKEN)
        comes_back = control == computed or join == joined
        self.answers_requests = computed not in (None, control)
        self.answers_aggregation = (
            joined is not None and joined != join and code(joined) in (0, aggregation.CODE)
        )
        if not self.answers_requests and joined in (None, join) and not self._strange:
            raise Unreachable(self._silence() if not comes_back else self._echo())

    def _look_for_strange(self, port: int, payload: bytes, kept: slice) -> bytes | None:
        """The reply to what seems to have none, where others were lost. One from another port, or
        with another id, is remembered. kept: what else tells that it is one."""
        family, host = self.targets[0]
        with socket.socket(family, socket.SOCK_DGRAM) as anywhere:
            anywhere.settimeout(FIRST_WAIT)
            for _ in range(TRIES):
                with contextlib.suppress(OSError):
                    anywhere.sendto(payload, (host[0], port, *host[2:]))
                    reply, where = anywhere.recvfrom(LONGEST)
                    if is_reply(reply) and where[0] == host[0] and reply[kept] == payload[kept]:
                        if (where[1], reply[ID]) == (port, payload[ID]):
                            return reply
                        what = f"a reply comes from UDP port {where[1]}, not {port}"
                        if where[1] == port:
                            what = "the id of a reply is another"
                        self._strange[port] = Failed(what, payload, b"", reply)
                        return None
        return None

    def require_requests(self) -> None:
        """Raises NotOffered where no request is answered, or Failed."""
        self._require(self.answers_requests, self.settings.port, "nothing answers")

    def require_aggregation(self) -> None:
        """Raises NotOffered where no join is answered, or Failed."""
        port = self.settings.aggregate_port
        self._require(self.answers_aggregation, port, "nothing answers joins")

    def _require(self, answers: bool, port: int, what: str) -> None:
        if not answers and port in self._strange:
            raise self._strange[port]
        if not answers:
            raise NotOffered(f"{what} on UDP port {port}")

    def control(self) -> bytes:
        """A request that every switch answers: with what it computes, or with a code."""
        return protocol.request(1, 1, [0x3C00], [0x4000], self.requests.new_id(), [0xA5A5])

    def check_alive(self) -> None:
        """Raises Unreachable where it answers nothing any more."""
        if self.answers_requests and self.requests.ask(self.control()) is None:
            raise Unreachable(self._silence())

    def _echo(self) -> str:
        return (
            f"what is sent to {self.settings.addresses[0]} UDP port {self.settings.port} comes back"
            " as it was: is that the switch's port (--port), and does the switch compute?"
        )

    def _silence(self) -> str:
        host = self.settings.addresses[0]
        text = f"no reply from {host} UDP port {self.settings.port}"
        text += f" within {self.limits.timeout:g} s"
        if self.requests.error is not None:
            text += f"; the network says: {self.requests.error.strerror}"
        elif self.traffic.foreign:
            text += f"; {self.traffic.foreign} datagrams came that answer none of these requests"
        if _is_own(self.targets[0]):
            text += f"; {host} is an address of this machine: give that of a switch"
        elif self.requests.error is not None and self.requests.error.errno in (
            errno.ENETDOWN, errno.ENETUNREACH, errno.EHOSTUNREACH,
        ):  # fmt: skip
            text += ": is the interface up, and does the switch answer ARP?"
        elif not self.answers_requests:
            text += ": is it the switch's address, and does it listen on that port (--port)?"
        return text

    # ---- what it answers -----------------------------------------------------------------

    def replies(self, payloads: Sequence[bytes]) -> list[bytes]:
        """The replies to requests that must be answered, all of them. Raises Failed."""
        replies: list[bytes] = []
        for payload, reply in zip(payloads, self.answers(payloads)):
            if reply is None:
                raise _ignored(payload)
            replies.append(reply)
        return replies

    def answers(self, payloads: Sequence[bytes], few: bool = False) -> list[bytes | None]:
        """The reply to each request; None: it is ignored. Raises Undecided.

        few: ask them a few at a time, so that many that are ignored take no longer than they must.
        """
        self.require_requests()
        found: list[bytes | None] = [None] * len(payloads)
        if not few:
            found = self.requests.exchange(payloads, self.requests.patience())
        for _ in range(TRIES):
            missing = [place for place, reply in enumerate(found) if reply is None]
            for at in range(0, len(missing), WINDOW - 1):
                self._insist(payloads, found, missing[at : at + WINDOW - 1])
        if self.requests.contradiction is not None:
            sent, first, second = self.requests.contradiction
            self.requests.contradiction = None
            raise Failed("a request has two replies that differ", sent, first, second)
        return found

    def _insist(
        self, payloads: Sequence[bytes], found: list[bytes | None], missing: Sequence[int]
    ) -> None:
        """Asks for some beside a request that every switch answers. Raises Undecided."""
        replies, is_alive = self.requests.beside(
            [payloads[place] for place in missing], self.control()
        )
        if not is_alive:
            self.check_alive()
            raise Undecided("replies to some requests are lost, whatever is done")
        for place, reply in zip(missing, replies):
            found[place] = reply

    def expect(self, sent: Sequence[bytes], expected: Sequence[bytes], what: str) -> None:
        """Sends requests and compares. Raises Failed with the first that differs."""
        wrong = [
            (request, want, got)
            for request, want, got in zip(sent, expected, self.replies(sent))
            if want != got
        ]
        if wrong:
            count = f"{len(wrong):,} of {len(sent):,} replies are wrong"
            raise Failed(f"{what}: {count}", *wrong[0])

    # ---- what it offers ------------------------------------------------------------------

    def learn(self, ops: Sequence[int]) -> None:
        """Asks for operations in all formats, as many at the same time as may be under way."""
        asked = {
            (op, form.id): self._one_lane(op, form)
            for op, form in itertools.product(ops, NUMBER_FORMATS.values())
            if (op, form.id) not in self._offered
        }
        replies = self.answers(list(asked.values()), few=True)
        self._offered |= {key: (asked[key], reply) for key, reply in zip(asked, replies)}

    def _one_lane(self, op: int, form: Format) -> bytes:
        count = protocol.NAME_LANES if op == protocol.NAME else 1
        one = numpy.zeros(count, f"u{protocol.slot_bytes(form.id, op)}")
        return protocol.request(op, form.id, one, one, self.requests.new_id(), one)

    def code_of(self, op: int, form: Format) -> int:
        """The code that a request of one lane has. Raises Failed where it is ignored."""
        self.learn([op])
        payload, reply = self._offered[op, form.id]
        if reply is None:
            raise _ignored(payload)
        return code(reply)

    def computes(self, op: int, form: Format) -> bool:
        """Whether it computes an operation in a format."""
        self.learn([op])
        _, reply = self._offered[op, form.id]
        return reply is not None and code(reply) == protocol.Code.OK

    def require(self, op: int, form: Format) -> None:
        """Raises NotOffered unless it computes an operation in a format."""
        found = self.code_of(op, form)
        if found != protocol.Code.OK:
            name = protocol.CODE_NAMES.get(found, f"code {found}")
            meaning = protocol.CODE_MEANINGS.get(found, "unknown")
            raise NotOffered(f"answered with code {found}, {name}: {meaning}")

    @functools.cached_property
    def _most_lanes(self) -> dict[tuple[int, int], int]:
        return {}

    def most_lanes(self, op: int, form: Format) -> int:
        """How many lanes it computes in a request, up to what fits an MTU of 1,500 bytes."""
        key = (op, form.id)
        if key not in self._most_lanes:
            space = self.most_bytes - protocol.HEADER.size
            self._most_lanes[key] = self._bisected(op, form, protocol.lanes_in(space, form.id, op))
        return self._most_lanes[key]

    def _bisected(self, op: int, form: Format, most: int) -> int:
        def computes(lanes: int) -> bool:
            zeros = numpy.zeros(lanes, f"u{protocol.slot_bytes(form.id, op)}")
            ask = protocol.request(op, form.id, zeros, zeros, self.requests.new_id(), zeros)
            return code(self.replies([ask])[0]) == protocol.Code.OK

        if computes(most):
            return most
        least = 1
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if computes(middle) else (least, middle)
        return least

    def formats(self) -> list[Format]:
        """Those that it adds numbers of."""
        return [form for form in NUMBER_FORMATS.values() if self.computes(1, form)]

    def any_format(self) -> Format:
        """One of them. Raises NotOffered where there is none."""
        found = self.formats()
        if not found:
            raise NotOffered("it adds in no format")
        return found[0]


def _replies(*asked: tuple[Link, bytes]) -> list[bytes | None]:
    """What several links reply. Where one does, the others are not waited for as long."""
    found = [link.ask(payload, link.patience()) for link, payload in asked]
    seconds = max(link.patience() for link, _ in asked) if any(found) else None
    return [reply or link.ask(payload, seconds) for reply, (link, payload) in zip(found, asked)]


def _ignored(payload: bytes) -> Failed:
    return Failed(f"no reply, {TRIES} times, while other requests are answered", payload)


def code(reply: bytes) -> int:
    """The code of a reply."""
    return protocol.split_status(reply[protocol.STATUS_OFFSET])[1]


def with_status(request: bytes, number: int = 0, flags: int = 0) -> bytes:
    """A request as it is answered with a code, nothing computed."""
    at = protocol.STATUS_OFFSET
    status = protocol.REPLY | number << protocol.CODE_SHIFT | flags
    return request[:at] + bytes([status]) + request[at + 1 :]


def with_results(request: bytes, z: Encodings, flags: int) -> bytes:
    """A request as it is answered, computed."""
    _, _, op, form, _, count, _ = protocol.HEADER.unpack_from(request)
    at = protocol.HEADER.size + 2 * protocol.operand_bytes(form, count, op)
    results = z.astype(f">u{protocol.slot_bytes(form, op)}").tobytes()
    return with_status(request[:at] + results + request[at + len(results) :], 0, flags)


def _resolved(address: str) -> tuple[int, tuple[object, ...]]:
    """The family of an address, and what connect() takes."""
    try:
        return hosts.resolve(address, 1)
    except ValueError as error:
        raise Unreachable(str(error)) from error


def _is_own(target: tuple[int, tuple[object, ...]]) -> bool:
    """Whether it is an address of this machine: only such can be bound."""
    family, host = target
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((host[0], 0, *host[2:]))
        except OSError:
            return False
    return True
