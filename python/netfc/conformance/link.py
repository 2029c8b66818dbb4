# SPDX-License-Identifier: BSD-3-Clause
"""Datagrams to the switch and back, over a network that may lose, double, delay and reorder them.

Replies are matched by the id of a request alone: what else is in them is the checks' to judge.
"""

import dataclasses
import errno
import math
import os
import socket
import time
from collections.abc import Callable, Sequence

from netfc import protocol
from netfc.conformance.check import Unreachable

WINDOW = 24  # datagrams under way: BMv2's receive ring has 32 places
FIRST_WAIT, LEAST_WAIT = 0.25, 0.05  # seconds until a datagram is sent again
LEAST_PATIENCE = 3.0  # seconds for a reply where others come: machines may be busy
WAITS = 12  # and so many times as long as until a datagram is sent again
LONGEST = 65535
RECEIVE_BYTES = 1 << 22
ID = slice(8, 12)
REMEMBERED = 4096  # replies, by which those that come again are known


@dataclasses.dataclass
class Limits:
    """How much a switch and a user can take.

    rate: datagrams a second, 0: as many as there are. timeout: seconds within which a reply must
    come where no others do, the repeats of its request included. end: when the time is over, as
    time.monotonic() has it; None: it never is.
    """

    rate: float = 0.0
    timeout: float = 5.0
    end: float | None = None
    _next: float = 0.0

    def pace(self) -> None:
        """Waits until the next datagram may be sent. Raises Unreachable when the time is over."""
        now = time.monotonic()
        if self.end is not None and now > self.end:
            raise Unreachable("the time that --time gives is over")
        if not self.rate:
            return
        if self._next > now:
            time.sleep(self._next - now)
        self._next = max(now, self._next) + 1 / self.rate


@dataclasses.dataclass
class Traffic:
    """What happened on the way."""

    sent: int = 0
    sent_again: int = 0
    received: int = 0
    doubled: int = 0  # replies that came again
    foreign: int = 0  # datagrams that answer nothing that was asked


@dataclasses.dataclass
class _Sent:
    place: int
    payload: bytes
    first: float
    seconds: float  # until it is given up
    last: float = 0.0
    times: int = 0


@dataclasses.dataclass
class _Answered:
    times: int  # how often it was sent
    payload: bytes
    reply: bytes


class Link:
    """A UDP socket to a port of the switch.

    address: (host, port) or what IPv6 has; Raises OSError where there is no way there.
    """

    def __init__(self, family: int, address: tuple[object, ...], limits: Limits, traffic: Traffic):
        self.family, self.address, self.limits, self.traffic = family, address, limits, traffic
        self.wait = FIRST_WAIT  # until a datagram is sent again
        self.error: OSError | None = None  # the last of the network's
        self._answered: dict[bytes, _Answered] = {}  # by id, the last one at the end
        # A request, its reply, and another one that came later.
        self.contradiction: tuple[bytes, bytes, bytes] | None = None
        self._next_id = int.from_bytes(os.urandom(4), "big")
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
            self.socket.connect(address)
        except OSError:
            self.socket.close()
            raise

    def close(self) -> None:
        """Closes the socket."""
        self.socket.close()

    def new_id(self) -> int:
        """An id that no other request of this link has."""
        self._next_id = (self._next_id + 1) & 0xFFFFFFFF
        return self._next_id

    def send(self, payload: bytes) -> None:
        """Sends a datagram; what the network has against it is remembered."""
        self.limits.pace()
        try:
            self.socket.send(payload)
        except OSError as error:
            self._note(error)

    def receive(self, until: float) -> bytes | None:
        """The next datagram that comes before a time; None: none does."""
        try:
            self.socket.settimeout(max(until - time.monotonic(), 1e-4))
            return self.socket.recv(LONGEST)
        except OSError as error:
            self._note(error)
            if not isinstance(error, TimeoutError):
                time.sleep(0.001)  # an error that comes at once would come again at once
            return None

    def patience(self) -> float:
        """Seconds for a reply where others come, by how long those take."""
        return min(self.limits.timeout, max(LEAST_PATIENCE, WAITS * self.wait))

    def exchange(
        self, payloads: Sequence[bytes], seconds: float | None = None
    ) -> list[bytes | None]:
        """The reply to each request, which all have ids of their own; None: none came in time.

        seconds: for each reply; None: as the limits say.
        """
        return self._exchange(payloads, self.limits.timeout if seconds is None else seconds)

    def beside(self, payloads: Sequence[bytes], control: bytes) -> tuple[list[bytes | None], bool]:
        """Replies to requests that come before that of another, which is sent after them, or
        shortly after it; and whether that one comes. Fewer than WINDOW."""
        *replies, last = self._exchange([*payloads, control], self.limits.timeout, True)
        return replies, last is not None

    def _exchange(
        self, payloads: Sequence[bytes], seconds: float, until_last: bool = False
    ) -> list[bytes | None]:
        replies: list[bytes | None] = [None] * len(payloads)
        waiting: dict[bytes, _Sent] = {}  # by id, the one that was sent first in front
        unsent = iter(enumerate(payloads))
        left, heard, end = len(payloads), time.monotonic(), math.inf
        while left and time.monotonic() < end:
            while len(waiting) < WINDOW and (new := next(unsent, None)) is not None:
                self.traffic.sent += 1
                self._send(waiting, _Sent(*new, time.monotonic(), seconds))
            reply = self.receive(min(end, *(self._due(each) for each in waiting.values())))
            sent = None if reply is None else self._match(waiting, reply)
            if sent is not None:
                replies[sent.place] = reply
                left, heard = left - 1, time.monotonic()
                if until_last and sent.place == len(payloads) - 1:
                    end = heard + self.wait
            given_up = self._repeat(waiting)
            left -= given_up
            if given_up and time.monotonic() >= heard + seconds:
                break  # nothing comes any more: not for the others, either
        return replies

    def ask(self, payload: bytes, seconds: float | None = None) -> bytes | None:
        """The reply to one request."""
        return self.exchange([payload], seconds)[0]

    def listen(
        self, payload: bytes, is_it: Callable[[bytes], bool], seconds: float
    ) -> bytes | None:
        """Sends a datagram once and looks for one that answers it, whatever its id."""
        self.traffic.sent += 1
        until = time.monotonic() + seconds
        self.send(payload)
        while time.monotonic() < until:
            reply = self.receive(until)
            if reply is not None and is_it(reply):
                self.traffic.received += 1
                return reply
        return None

    def _send(self, waiting: dict[bytes, _Sent], sent: _Sent) -> None:
        sent.times += 1
        sent.last = time.monotonic()
        waiting[sent.payload[ID]] = sent
        self.send(sent.payload)

    def _match(self, waiting: dict[bytes, _Sent], reply: bytes) -> _Sent | None:
        """The request under way that a datagram answers."""
        key = reply[ID]
        sent = waiting.pop(key, None)
        if sent is None:
            self._no_match(key, reply)
            return None
        self.traffic.received += 1
        self._answered[key] = _Answered(sent.times, sent.payload, reply)
        if len(self._answered) > REMEMBERED:
            del self._answered[next(iter(self._answered))]
        if sent.times == 1:
            took = time.monotonic() - sent.last
            self.wait = max(LEAST_WAIT, 0.95 * self.wait, min(3 * took, self.limits.timeout))
        return sent

    def _no_match(self, key: bytes, reply: bytes) -> None:
        """Counts it. A second reply to what was sent twice: the repeat was too early."""
        first = self._answered.get(key)
        if first is None:
            self.traffic.foreign += 1
            return
        self.traffic.doubled += 1
        if reply != first.reply:
            self.contradiction = first.payload, first.reply, reply
        if first.times > 1:
            self.wait = min(1.25 * self.wait, self.limits.timeout)

    def _due(self, sent: _Sent) -> float:
        """When it is sent again: after twice the time whenever that was in vain."""
        later = sent.last + self.wait * float(1 << min(sent.times - 1, 5))
        end = self._end(sent)
        return min(later, end) if sent.last < end else end

    def _end(self, sent: _Sent) -> float:
        return sent.first + max(sent.seconds, 4 * self.wait)

    def _repeat(self, waiting: dict[bytes, _Sent]) -> int:
        """Sends again what has waited for too long. Returns how many are given up."""
        given_up, now = 0, time.monotonic()
        for key, sent in list(waiting.items()):
            if self._due(sent) > now:
                continue
            del waiting[key]
            if now >= self._end(sent):
                given_up += 1
                continue
            self.traffic.sent_again += 1
            self._send(waiting, sent)
        return given_up

    def _note(self, error: OSError) -> None:
        if isinstance(error, TimeoutError):
            return
        if error.errno == errno.EBADF:
            raise error
        self.error = error


def is_reply(payload: bytes) -> bool:
    """Whether it is a message of a switch."""
    return (
        len(payload) > protocol.STATUS_OFFSET
        and payload[:2] == protocol.MAGIC.to_bytes(2, "big")
        and payload[protocol.STATUS_OFFSET] & protocol.REPLY != 0
    )
