# SPDX-License-Identifier: BSD-3-Clause
"""Frames with a UDP datagram: made with any mistake, and read back."""

import dataclasses
import struct

import numpy

VLAN, SERVICE_VLAN = 0x8100, 0x88A8
IPV4, IPV6 = 0x0800, 0x86DD
UDP = 17
LEAST = 60  # bytes of a frame, without its checksum
NO_OPERATION = b"\x01"  # an IPv4 option
RIGHT = -1  # of checksums and lengths


@dataclasses.dataclass(frozen=True)
class Headers:
    """What stands before the payload, from the client's side.

    tags: TPIDs of VLAN tags, outermost first. addresses: of IP, packed: own, the switch's.
    options: IPv4 options in bytes, a multiple of 4. checksum: of UDP; RIGHT, or the value.
    ip_length, udp_length: RIGHT, or the value. padding: bytes after the datagram.
    flags: flags and fragment offset of IPv4. next_header: in front of UDP, IPv6 alone.
    """

    own_mac: bytes
    mac: bytes
    addresses: tuple[bytes, bytes]
    ports: tuple[int, int]
    tags: tuple[int, ...] = ()
    options: bytes = b""
    checksum: int = RIGHT
    ip_length: int = RIGHT
    udp_length: int = RIGHT
    padding: bytes = b""
    flags: int = 0
    protocol: int = UDP
    next_header: bytes = b""

    @property
    def is_ipv6(self) -> bool:
        """Of IP's two versions."""
        return len(self.addresses[0]) == 16


@dataclasses.dataclass(frozen=True)
class Datagram:
    """What is in a frame: tags with their numbers, checksums as they are and as they should be."""

    macs: tuple[bytes, bytes]  # to, from
    tags: tuple[tuple[int, int], ...]
    addresses: tuple[bytes, bytes]  # from, to
    ports: tuple[int, int]
    options: bytes
    checksum: int
    right_checksum: int
    is_header_right: bool  # the checksum of the IPv4 header
    payload: bytes


def sum16(data: bytes) -> int:
    """The complement of the one's complement sum (RFC 1071)."""
    data += b"\0" * (len(data) % 2)
    total = int(numpy.frombuffer(data, ">u2").sum(dtype=numpy.uint64))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF ^ total


def udp_sum(addresses: tuple[bytes, bytes], datagram: bytes) -> int:
    """The checksum of a datagram, whose own is left out; 0 is sent as FFFF."""
    pseudo = b"".join(addresses) + struct.pack(">HH", UDP, len(datagram))
    return sum16(pseudo + datagram[:6] + b"\0\0" + datagram[8:]) or 0xFFFF


def build(headers: Headers, payload: bytes) -> bytes:
    """The frame."""
    udp_length = 8 + len(payload) if headers.udp_length == RIGHT else headers.udp_length
    datagram = struct.pack(">HHHH", *headers.ports, udp_length, 0) + payload
    checksum = headers.checksum
    if checksum == RIGHT:
        checksum = udp_sum(headers.addresses, datagram)
    datagram = datagram[:6] + struct.pack(">H", checksum) + datagram[8:]
    frame = headers.mac + headers.own_mac
    for vlan, tpid in enumerate(headers.tags, 5):
        frame += struct.pack(">HH", tpid, vlan)
    frame += _ip(headers, headers.next_header + datagram) + headers.padding
    return frame.ljust(LEAST, b"\0")


def _ip(headers: Headers, datagram: bytes) -> bytes:
    """Ethernet's type, and what follows it."""
    own, other = headers.addresses
    if headers.is_ipv6:
        length = len(datagram) if headers.ip_length == RIGHT else headers.ip_length
        head = struct.pack(">HIHBB", IPV6, 6 << 28, length, headers.protocol, 64)
        return head + own + other + datagram
    words = 5 + len(headers.options) // 4
    length = 4 * words + len(datagram) if headers.ip_length == RIGHT else headers.ip_length
    kind = headers.protocol
    head = struct.pack(">BBHHHBBH", 4 << 4 | words, 0, length, 1, headers.flags, 64, kind, 0)
    head += own + other + headers.options
    head = head[:10] + struct.pack(">H", sum16(head)) + head[12:]
    return struct.pack(">H", IPV4) + head + datagram


def parse(frame: bytes) -> Datagram | None:
    """The UDP datagram in a frame; None where there is none, or one whose lengths do not fit."""
    at, tags = 12, []
    while len(frame) >= at + 6 and _u16(frame, at) in (VLAN, SERVICE_VLAN):
        tags.append((_u16(frame, at), _u16(frame, at + 2) & 0xFFF))
        at += 4
    if len(frame) < at + 2:
        return None
    kind, at = _u16(frame, at), at + 2
    macs = frame[:6], frame[6:12]
    if kind == IPV4 and len(frame) >= at + 20 and frame[at + 9] == UDP:
        header = (frame[at] & 15) * 4
        end = at + _u16(frame, at + 2)
        head = frame[at : at + header]
        addresses = head[12:16], head[16:20]
        is_right = sum16(head) == 0
        options, at = head[20:], at + header
    elif kind == IPV6 and len(frame) >= at + 40 and frame[at + 6] == UDP:
        end = at + 40 + _u16(frame, at + 4)
        addresses = frame[at + 8 : at + 24], frame[at + 24 : at + 40]
        is_right, options, at = True, b"", at + 40
    else:
        return None
    if not at + 8 <= end <= len(frame) or not 8 <= _u16(frame, at + 4) <= end - at:
        return None
    datagram = frame[at : at + _u16(frame, at + 4)]
    ports = _u16(datagram, 0), _u16(datagram, 2)
    return Datagram(
        macs,
        tuple(tags),
        addresses,
        ports,
        options,
        _u16(datagram, 6),
        udp_sum(addresses, datagram),
        is_right,
        datagram[8:],
    )


def _u16(data: bytes, at: int) -> int:
    return data[at] << 8 | data[at + 1]
