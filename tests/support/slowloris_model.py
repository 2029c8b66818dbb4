# SPDX-License-Identifier: BSD-3-Clause
"""The Slowloris detector as docs/slowloris.md describes it, written for clearness alone.

Shares nothing with the switch: dictionaries instead of tables, floating point instead of integers.
Time does not pass in it.
"""

import math
import struct
from collections import defaultdict
from dataclasses import dataclass

import numpy

SYN, ACK, FIN, RST = 2, 16, 1, 4
TCP, IPV4 = 6, 4


def ratio(connections, count):
    """Connections per byte as the register holds it, an fp16 encoding."""
    if connections == 0:
        return 0
    difference = logarithm(connections) - logarithm(count)
    word = (difference + 16) // 32  # from 2^15 to 2^10 words per octave, to the nearest
    return int(numpy.float16(2.0 ** (word / 1024)).view(numpy.uint16))


def logarithm(value):
    """2^15 * log2 of what a prefix of the leading one and 13 bits leaves of an integer."""
    shift = max(value.bit_length() - 14, 0)
    return round(2 ** 15 * math.log2(((value >> shift) << shift) + ((1 << shift) >> 1)))


@dataclass
class Segment:
    """An IPv4 packet that TCP is in; ports and flags are None where they are not in it."""

    source: bytes
    destination: bytes
    length: int
    ports: tuple = None
    flags: int = 0


def read(frame):
    """The segment in a frame, or None."""
    at = 14
    for _ in range(2):
        if frame[at - 2:at] in (b'\x81\0', b'\x88\xa8'):
            at += 4
    if frame[at - 2:at] != b'\x08\0' or len(frame) < at + 20 or frame[at] >> 4 != IPV4:
        return None
    header = (frame[at] & 15) * 4
    length, fragment = struct.unpack_from('>H2xH', frame, at + 2)
    if not 20 <= header <= length <= len(frame) - at or frame[at + 9] != TCP:
        return None
    found = Segment(frame[at + 12:at + 16], frame[at + 16:at + 20], length)
    if fragment & 0x1FFF == 0 and length - header >= 20:
        found.ports = struct.unpack_from('>HH', frame, at + header)
        found.flags = frame[at + header + 13]
    return found


class Model:
    """The registers of all destinations."""

    def __init__(self):
        self.connections = {}  # (client, server, ports) -> bytes
        self.opened = defaultdict(int)
        self.bytes = {}

    def see(self, frame):
        """Counts a frame."""
        segment = read(frame)
        if segment is None:
            return
        flags = segment.flags & (SYN | ACK | FIN | RST)
        key = (segment.source, segment.destination, segment.ports)
        if flags == SYN and key not in self.connections:
            self.connections[key] = 0
            self.opened[segment.destination] += 1
            self.bytes.setdefault(segment.destination, 0)
        if segment.destination in self.bytes:
            self.bytes[segment.destination] += segment.length
        if key in self.connections and flags != SYN | ACK:
            self.connections[key] += segment.length
        if flags & (FIN | RST) and not flags & SYN:
            self.end(segment, key)

    def end(self, segment, key):
        """Ends a connection from whichever side."""
        if key not in self.connections and segment.ports:
            key = (segment.destination, segment.source, segment.ports[::-1])
        if key in self.connections:
            self.bytes[key[1]] -= self.connections.pop(key)
            self.opened[key[1]] -= 1

    def query(self, address):
        """ratio, connections and bytes of a destination, given as four bytes."""
        connections, count = self.opened[address], self.bytes.get(address, 0)
        return ratio(connections, count), connections, count
