# SPDX-License-Identifier: BSD-3-Clause
"""Whole frames to the switch and back. Needs the right to raw sockets.

Nobody has to say which interface leads to the switch, nor whose MAC address: the frame of a request
that the kernel itself sends is looked at.
"""

import socket
import struct
import time
from collections.abc import Callable

from netfc.conformance import wire
from netfc.conformance.check import NotOffered
from netfc.conformance.link import RECEIVE_BYTES, Link

# From linux/if_packet.h; Python's socket module does not have them.
_SOL_PACKET, _AUXDATA = 263, 8
_AUX = struct.Struct("=IIIHHHH")  # status, two lengths, two offsets, VLAN TCI and TPID
_VLAN_VALID = 1 << 4
_EVERY_PROTOCOL = 0x0003
_ETHERNET = 1
_LONGEST = 65536
_LOOK = 2.0  # seconds for the kernel to send


class Raw:
    """Frames on the interface that leads to the switch.

    link: a socket whose port the frames have, so that the kernel does not refuse what comes back.
    headers: of a request that has nothing special.
    """

    def __init__(self, link: Link, payload: bytes):
        self.link = link
        try:
            self._socket = socket.socket(
                socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERY_PROTOCOL)
            )
        except PermissionError as error:
            raise NotOffered("needs raw sockets: run it as root, or with CAP_NET_RAW") from error
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)
            self._socket.setsockopt(_SOL_PACKET, _AUXDATA, 1)
            self.headers, self._interface = self._learn(payload)
            self._socket.bind((self._interface, _EVERY_PROTOCOL))
        except (OSError, NotOffered):
            self._socket.close()
            raise

    def close(self) -> None:
        """Closes the sockets."""
        self._socket.close()
        self.link.close()

    def _learn(self, payload: bytes) -> tuple[wire.Headers, str]:
        """The headers that the kernel gives to a payload, and where it sends it."""
        until = time.monotonic() + _LOOK
        self.link.send(payload)
        while time.monotonic() < until:
            frame, where = self._next(until)
            found = wire.parse(frame)
            is_own = where is not None and where[2] == socket.PACKET_OUTGOING
            if found is None or where is None or not is_own or found.payload != payload:
                continue
            if where[3] != _ETHERNET:
                raise NotOffered(f"{where[0]}, which leads to the switch, has no Ethernet frames")
            mac, own = found.macs
            return wire.Headers(own, mac, found.addresses, found.ports), where[0]
        raise NotOffered("no interface is seen to send to the switch")

    def _next(self, until: float) -> tuple[bytes, tuple[str, int, int, int] | None]:
        """The next frame, with the VLAN tag that the kernel takes out, and where it came from."""
        self._socket.settimeout(max(until - time.monotonic(), 1e-4))
        try:
            frame, extra, _, where = self._socket.recvmsg(_LONGEST, socket.CMSG_SPACE(_AUX.size))
        except TimeoutError:
            return b"", None
        for level, kind, data in extra:
            if (level, kind) == (_SOL_PACKET, _AUXDATA):
                status, *_, tci, tpid = _AUX.unpack(data[: _AUX.size])
                if status & _VLAN_VALID:
                    frame = frame[:12] + struct.pack(">HH", tpid, tci) + frame[12:]
        return frame, where

    def ask(self, frame: bytes, is_it: Callable[[bytes], bool], seconds: float) -> bytes | None:
        """Sends a frame once; the first that comes and is what is looked for."""
        self.link.limits.pace()
        self.link.traffic.sent += 1
        until = time.monotonic() + seconds
        try:
            self._socket.send(frame)
        except OSError as error:
            self.link.error = error
            return None
        while time.monotonic() < until:
            got, where = self._next(until)
            if where is None or where[2] == socket.PACKET_OUTGOING:
                continue
            if is_it(got):
                self.link.traffic.received += 1
                return got
        return None
