# SPDX-License-Identifier: BSD-3-Clause
"""Reads captures block by block (draft-ietf-opsawg-pcapng), with what scapy's reader leaves out: interface,
direction and counters. Every block has to be whole."""

import collections
import pathlib
import struct

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
EPB_FLAGS, IFB_NAME, ISB_IFRECV, ISB_IFDROP = 2, 2, 4, 5  # options
IN, OUT = 1, 2  # directions in EPB_FLAGS
HEAD_BYTES = 28  # of an enhanced packet block before the packet

Packet = collections.namedtuple('Packet', 'frame interface direction length ns')
Capture = collections.namedtuple('Capture', 'interfaces packets seen missed')


def padded(length):
    return (length + 3) // 4 * 4


def blocks(path):
    """Yields type and body of every block of a file in this machine's byte order."""
    data, at = pathlib.Path(path).read_bytes(), 0
    while at < len(data):
        kind, length = struct.unpack_from('<II', data, at)
        assert len(data) >= at + length and length % 4 == 0, f'{path} ends within a block'
        assert struct.unpack_from('<I', data, at + length - 4) == (length,)
        yield kind, data[at + 8:at + length - 4]
        at += length


def options(data):
    """The options of a block, by their codes."""
    found, at = {}, 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from('<HH', data, at)
        if code == 0:
            break
        found[code] = data[at + 4:at + 4 + length]
        at += 4 + padded(length)
    return found


def packet(body):
    """The packet in an enhanced packet block, with its time in nanoseconds since 1970."""
    interface, high, low, captured, length = struct.unpack_from('<5I', body)
    flags, = struct.unpack('<I', options(body[20 + padded(captured):])[EPB_FLAGS])
    return Packet(body[20:20 + captured], interface, flags & 3, length, high << 32 | low)


def read(path):
    """The interfaces' names; the packets; how many were seen and missed by interface."""
    found = Capture([], [], {}, {})
    for number, (kind, body) in enumerate(blocks(path)):
        assert (kind == SECTION) == (number == 0)
        if kind == INTERFACE:
            found.interfaces.append(options(body[8:])[IFB_NAME].decode())
        elif kind == PACKET:
            found.packets.append(packet(body))
        elif kind == STATISTICS:
            interface, = struct.unpack_from('<I', body)
            counted = options(body[12:])
            found.seen[interface], = struct.unpack('<Q', counted[ISB_IFRECV])
            found.missed[interface], = struct.unpack('<Q', counted[ISB_IFDROP])
    return found
