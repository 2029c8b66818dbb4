# SPDX-License-Identifier: BSD-3-Clause
"""NetFC datagrams to a switch and back: a window of them under way, sent again where lost.

Uses nothing but a UDP socket. Linux only: the socket is told never to fragment, because switches
do not look into fragments.
"""

import contextlib
import dataclasses
import errno
import os
import socket
import threading
import time
import weakref
from collections.abc import Iterator

from netfc import hosts, protocol
from netfc._native import given
from netfc.errors import ClientError, NoReplyError

# From linux/in.h and linux/in6.h; Python's socket module does not have them.
_IP_MTU_DISCOVER, _IP_PMTUDISC_DO, _IP_MTU = 10, 2, 14
_IPV6_MTU_DISCOVER, _IPV6_PMTUDISC_DO, _IPV6_MTU = 23, 2, 24

TIMEOUT, RETRIES, WINDOW = 0.25, 8, 32
MAX_TIMEOUT = 3600

_MAX_DATAGRAM = 65535
_RECEIVE_BYTES = 1 << 22  # asked for; the system gives what it allows
_ID_OFFSET = 8
# What may pass by itself: the datagram counts as lost.
_PASSING_ERRORS = {errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENOBUFS, errno.EAGAIN}


@dataclasses.dataclass
class Counters:
    """What happened on a channel so far."""

    sent: int = 0  # datagrams, without those sent again
    sent_again: int = 0
    received: int = 0  # replies to what was sent
    ignored: int = 0  # datagrams that were nothing of the kind, or came twice


@dataclasses.dataclass
class _Sent:
    """A request under way."""

    index: int
    payload: bytes
    deadline: float = 0.0
    times: int = 0


_Waiting = dict[bytes, _Sent]  # by id


class Channel:
    """A UDP socket that talks to one switch, with one thread at a time, see alone().

    address: name or address of the switch, or of a host behind it, IPv4 or IPv6
    port: UDP port, 1 to 65535
    timeout: seconds until a datagram counts as lost, more than 0, up to an hour
    retries: how often a lost datagram is sent again, 0 or more
    window: how many datagrams may be under way, at least 1
    """

    def __init__(
        self,
        address: str,
        port: int = protocol.UDP_PORT,
        timeout: float = TIMEOUT,
        retries: int = RETRIES,
        window: int = WINDOW,
    ):
        _check(address, "the address of the switch is empty")
        given.c_text("address", address)
        _check(1 <= port <= 65535, f"port {port} is not between 1 and 65535")
        _check(
            0 < timeout <= MAX_TIMEOUT,
            f"a timeout of {timeout} s is not between 0 and {MAX_TIMEOUT}",
        )
        _check(retries >= 0, f"{retries} retries are fewer than 0")
        _check(window >= 1, f"a window of {window} datagrams is less than 1")
        self.address, self.port = address, port
        self.timeout, self.retries, self.window = timeout, retries, window
        self.counters = Counters()
        self._next_id = _any_id()
        self._passing_error: OSError | None = None
        self._is_ipv6 = False
        self._lock = threading.RLock()
        self._is_inherited = False
        self._socket = self._connect()
        _channels.add(self)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """While new_id() and exchange() are used: other threads wait. A forked process gets a
        socket and ids of its own, so that it takes none of its parent's replies."""
        with self._lock:
            if self._is_inherited and self._socket.fileno() >= 0:
                self._socket.close()
                self._socket = self._connect()
                self._next_id = _any_id()
            self._is_inherited = False
            yield

    def note_fork(self) -> None:
        """This process has just been forked, maybe while another thread was within alone()."""
        self._lock, self._is_inherited = threading.RLock(), True

    @property
    def header_bytes(self) -> int:
        """What IP and UDP put in front of a datagram."""
        return (40 if self._is_ipv6 else 20) + 8

    def new_id(self) -> int:
        """An id that no other request of this channel had for a long time."""
        self._next_id = (self._next_id + 1) & 0xFFFFFFFF
        return self._next_id

    def exchange(self, requests: list[bytes]) -> Iterator[tuple[int, bytes]]:
        """Send requests and yield (index, reply) for each, in the order of the replies.

        requests: a list of payloads, each with an id of its own. Raises NoReplyError, and
        ClientError where the network refuses to send.
        """
        waiting: _Waiting = {}  # by id, oldest first
        unsent = 0  # index of the next one
        self._passing_error = None
        while unsent < len(requests) or waiting:
            while unsent < len(requests) and len(waiting) < self.window:
                self.counters.sent += 1
                self._send(waiting, _Sent(unsent, requests[unsent]))
                unsent += 1
            oldest = next(iter(waiting.values()))  # pylint: disable=stop-iteration-return
            reply = self._receive(oldest.deadline)
            if reply is not None:
                yield from self._match(waiting, reply)
            self._send_overdue(waiting, len(requests))

    def _connect(self) -> socket.socket:
        """A socket that receives from this address and port alone."""
        try:
            family, target = hosts.resolve(self.address, self.port)
        except ValueError as error:
            raise ClientError(str(error)) from error
        self._is_ipv6 = family == socket.AF_INET6
        try:
            return self._open(family, target)
        except OSError as error:
            raise ClientError(f"cannot reach {self.name}: {error.strerror}") from error

    def _open(self, family: int, target: tuple[object, ...]) -> socket.socket:
        new = socket.socket(family, socket.SOCK_DGRAM)
        try:
            self._set_up(new)
            new.connect(target)
        except OSError:
            new.close()
            raise
        return new

    def _set_up(self, new: socket.socket) -> None:
        """Space for a window of replies, and no fragments."""
        new.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
        if self._is_ipv6:
            new.setsockopt(socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER, _IPV6_PMTUDISC_DO)
        else:
            new.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _IP_PMTUDISC_DO)

    @property
    def name(self) -> str:
        """The other end, for messages."""
        return f"{self.address} UDP port {self.port}"

    def _send(self, waiting: _Waiting, sent: _Sent) -> None:
        """Send a request and note it as the last one under way."""
        sent.times += 1
        sent.deadline = time.monotonic() + self.timeout
        waiting[sent.payload[_ID_OFFSET : _ID_OFFSET + 4]] = sent
        try:
            self._socket.settimeout(self.timeout)
            self._socket.send(sent.payload)
        except OSError as error:
            self._note(error)

    def _receive(self, deadline: float) -> bytes | None:
        """The next datagram; None where none came in time."""
        try:
            self._socket.settimeout(max(deadline - time.monotonic(), 1e-6))
            return self._socket.recv(_MAX_DATAGRAM)
        except OSError as error:
            self._note(error)
            return None

    def _note(self, error: OSError) -> None:
        """Remember an error that may pass, raise any other."""
        if isinstance(error, TimeoutError):
            return
        if error.errno == errno.EMSGSIZE:
            raise ClientError(
                f"datagrams of that many lanes are too long for the way to {self.name}:"
                f" set the MTU to {self._path_mtu()}"
            ) from error
        if error.errno not in _PASSING_ERRORS:
            raise ClientError(f"cannot send to {self.name}: {error.strerror}") from error
        self._passing_error = error

    def _path_mtu(self) -> int:
        if self._is_ipv6:
            return self._socket.getsockopt(socket.IPPROTO_IPV6, _IPV6_MTU)
        return self._socket.getsockopt(socket.IPPROTO_IP, _IP_MTU)

    def _match(self, waiting: _Waiting, reply: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield (index, reply) if it is the reply to a request under way."""
        key = reply[_ID_OFFSET : _ID_OFFSET + 4]
        sent = waiting.get(key)
        if sent is None or not is_reply(reply, sent.payload):
            self.counters.ignored += 1
            return
        del waiting[key]
        self.counters.received += 1
        yield sent.index, reply

    def _send_overdue(self, waiting: _Waiting, total: int) -> None:
        """Send again what has waited for too long."""
        while waiting:
            key, oldest = next(iter(waiting.items()))
            if oldest.deadline > time.monotonic():
                return
            if oldest.times > self.retries:
                raise NoReplyError(self._no_reply(oldest, total))
            del waiting[key]
            self.counters.sent_again += 1
            self._send(waiting, oldest)

    def _no_reply(self, sent: _Sent, total: int) -> str:
        text = (
            f"no reply from {self.name} to datagram {sent.index + 1} of {total}, which was sent"
            f" {sent.times} time{'s' * (sent.times > 1)}, {self.timeout:g} s apart;"
            f" {self.counters.received} replies have come so far"
        )
        if self.counters.ignored:
            text += f", {self.counters.ignored} other datagrams were ignored"
        if self._passing_error:
            text += f"; the network says: {self._passing_error.strerror}"
        return text


_channels: "weakref.WeakSet[Channel]" = weakref.WeakSet()


def _any_id() -> int:
    return int.from_bytes(os.urandom(4), "big")


def _note_fork() -> None:
    for channel in _channels:
        channel.note_fork()


os.register_at_fork(after_in_child=_note_fork)


def is_reply(reply: bytes, request: bytes) -> bool:
    """Whether reply is request with its status and its results replaced, as a switch does it."""
    status = protocol.STATUS_OFFSET
    _, _, op, form, _, count, _ = protocol.HEADER.unpack_from(request)
    operands_end = protocol.HEADER.size + 2 * protocol.operand_bytes(form, count, op)
    return (
        len(reply) == len(request)
        and reply[status] & protocol.REPLY != 0
        and reply[:status] == request[:status]
        and reply[status + 1 : operands_end] == request[status + 1 : operands_end]
    )


def _check(condition: object, message: str) -> None:
    if not condition:
        raise ValueError(message)
