# SPDX-License-Identifier: BSD-3-Clause
"""NetFC requests and replies in capture files, without any packet library."""

import os
import struct
from collections.abc import Iterable, Iterator

import numpy

from netfc._native.arrays import Encodings
from netfc._replacement import replacing
from netfc.protocol import HEADER, MAGIC, UDP_PORT, results

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
    """(id, status, z) of the reply in a frame made by udp_frame().

    Raises ValueError for what is none, or is cut.
    """
    payload = frame[NETFC_OFFSET:]
    if len(payload) < HEADER.size or not payload.startswith(MAGIC.to_bytes(2, "big")):
        raise ValueError(f"no NetFC message {NETFC_OFFSET} bytes after the start of the frame")
    status, _, request_id = HEADER.unpack_from(payload)[-3:]
    return request_id, status, results(payload)


def write(path: str | os.PathLike[str], frames: Iterable[bytes]) -> None:
    """Write frames to a capture file."""
    with replacing(path) as file:
        file.write(PCAP_HEADER)
        for frame in frames:
            file.write(RECORD.pack(0, 0, len(frame), len(frame)) + frame)


def read(path: str | os.PathLike[str]) -> list[bytes]:
    """The frames of a capture file, a pcap file of Ethernet frames, as machines of any byte order
    write it, with micro- or nanoseconds.

    Raises OSError where it cannot be read, ValueError where it is no such file or is damaged, and
    where frames were cut while they were captured.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return list(_frames(data))
    except ValueError as error:
        raise ValueError(f"{os.fsdecode(path)}: {error}") from error


_MAGICS = (0xA1B2C3D4, 0xA1B23C4D)  # with microseconds, with nanoseconds
_ETHERNET = 1
_LINK_TYPE = 0xFFFF  # what else is in that field tells of checksums
_OTHERS = {
    b"\x0a\x0d\x0d\x0a": 'a pcapng file: convert it with "editcap -F pcap"',
    b"\x1f\x8b": "compressed: decompress it with gunzip",
    b"\x28\xb5\x2f\xfd": "compressed: decompress it with unzstd",
    b"\x04\x22\x4d\x18": "compressed: decompress it with unlz4",
}


def _frames(data: bytes) -> Iterator[bytes]:
    order = _byte_order(data)
    record = struct.Struct(order + "IIII")
    (link,) = struct.unpack_from(order + "I", data, len(PCAP_HEADER) - 4)
    if link & _LINK_TYPE != _ETHERNET:
        raise ValueError(f"its frames are of link type {link & _LINK_TYPE}, not of Ethernet")
    at, number = len(PCAP_HEADER), 1
    while at < len(data):
        if len(data) - at < record.size:
            raise ValueError(f"it is cut in the header of frame {number}")
        _, _, kept, length = record.unpack_from(data, at)
        at += record.size
        if len(data) - at < kept:
            raise ValueError(f"it is cut or damaged in frame {number}, said to have {kept} bytes")
        if kept < length:
            raise ValueError(
                f"frame {number} was cut while it was captured: {kept} of {length} bytes; capture"
                " with a greater snap length"
            )
        yield data[at : at + kept]
        at, number = at + kept, number + 1


def _byte_order(data: bytes) -> str:
    """Of a capture file's numbers, as struct calls it."""
    for magic, what in _OTHERS.items():
        if data.startswith(magic):
            raise ValueError(f"it is {what}")
    for order in "<>":
        if len(data) >= 4 and struct.unpack_from(order + "I", data)[0] in _MAGICS:
            if len(data) < len(PCAP_HEADER):
                raise ValueError("it is cut in its header")
            return order
    raise ValueError("it is no pcap file")
