# SPDX-License-Identifier: BSD-3-Clause
"""NetFC requests and replies in capture files, without any packet library."""

import os
import struct
from collections.abc import Iterable

import numpy

from netfc._native.arrays import Encodings
from netfc.protocol import HEADER, UDP_PORT, results

PCAP_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1)
RECORD = struct.Struct("<IIII")
# Ethernet, IPv4 without options, UDP: what stands before the NetFC header, in bytes.
NETFC_OFFSET = 14 + 20 + 8
MAX_LANES = 243  # in a frame of 1,514 bytes


def _sum16(data: bytes) -> int:
    """The one's complement sum of RFC 1071."""
    data += b"\0" * (len(data) % 2)
    total = int(numpy.frombuffer(data, dtype=">u2").sum(dtype=numpy.uint64))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def udp_frame(
    payload: bytes,
    source: str = "10.0.0.1",
    destination: str = "10.0.0.2",
    port: int = UDP_PORT,
) -> bytes:
    """An Ethernet frame with a UDP datagram over IPv4, both checksums right."""
    addresses = bytes(map(int, source.split("."))) + bytes(map(int, destination.split(".")))
    length = 8 + len(payload)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 0, 0x4000, 64, 17, 0) + addresses
    ip = ip[:10] + struct.pack(">H", 0xFFFF ^ _sum16(ip)) + ip[12:]
    udp = struct.pack(">HHHH", 49152, port, length, 0)
    checksum = 0xFFFF ^ _sum16(addresses + struct.pack(">HH", 17, length) + udp + payload)
    udp = udp[:6] + struct.pack(">H", checksum or 0xFFFF)
    ethernet = bytes.fromhex("020000000002 020000000001 0800")
    return ethernet + ip + udp + payload


def reply(frame: bytes) -> tuple[int, int, Encodings]:
    """(id, status, z) of the reply in a frame made by udp_frame()."""
    payload = frame[NETFC_OFFSET:]
    status, _, request_id = HEADER.unpack_from(payload)[-3:]
    return request_id, status, results(payload)


def write(path: str | os.PathLike[str], frames: Iterable[bytes]) -> None:
    """Write frames to a capture file."""
    with open(path, "wb") as file:
        file.write(PCAP_HEADER)
        for frame in frames:
            file.write(RECORD.pack(0, 0, len(frame), len(frame)) + frame)


def read(path: str | os.PathLike[str]) -> list[bytes]:
    """The frames of a capture file written on a machine of this byte order."""
    with open(path, "rb") as file:
        data = file.read()
    frames, at = [], len(PCAP_HEADER)
    while at < len(data):
        _, _, length, _ = RECORD.unpack_from(data, at)
        at += RECORD.size
        frames.append(data[at : at + length])
        at += length
    return frames
