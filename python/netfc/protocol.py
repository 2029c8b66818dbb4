# SPDX-License-Identifier: BSD-3-Clause
"""The NetFC protocol, version 1: its numbers, their names, and requests as bytes.

docs/protocol.md describes it; lib/netfc/include/netfc_wire.h says the same in C.
"""

import enum
import struct

import numpy

import netfc

MAGIC = 0x4E46
VERSION = 1
UDP_PORT = 20038
QUERY = 16  # the op that is not arithmetic
HEADER = struct.Struct(">HBBBBHI")  # magic, version, op, format, status, count, id
STATUS_OFFSET = 5
LANE_BYTES = 6  # x, y and z
QUERY_COUNTERS = struct.Struct(">IQ")  # connections and bytes, behind z where there is room

REPLY = 0x80  # set in the status of a reply
CODE_SHIFT = 4

OP_NAMES = {**{number: name for name, number in netfc.OPS.items()}, QUERY: "query"}
FORMAT_NAMES = {number: name for name, number in netfc.FORMATS.items()}


class Code(enum.IntEnum):
    """The code of a reply's status: 0, or why nothing was computed."""

    OK = 0
    VERSION = 1
    OP = 2
    FORMAT = 3
    LENGTH = 4
    QUERY = 5
    LANES = 6


CODE_NAMES = {int(code): code.name.lower() for code in Code}
CODE_MEANINGS = {
    Code.OK: "computed",
    Code.VERSION: "the version is not 1",
    Code.OP: "no such operation",
    Code.FORMAT: "no such format, or its table set is not loaded",
    Code.LENGTH: "no lanes, or the datagram is too short for them",
    Code.QUERY: "queries are off",
    Code.LANES: "more lanes than this switch computes",
}


class Flag(enum.IntFlag):
    """The exception flags of a reply's status, those of all its lanes together."""

    INVALID = 1
    DIVBYZERO = 2
    OVERFLOW = 4
    UNDERFLOW = 8

    @property
    def words(self):
        """The flags that are set, as a list of words for people."""
        names = (flag.name.lower() for flag in Flag if flag & self)
        return [{"divbyzero": "division by zero"}.get(name, name) for name in names]


def split_status(status):
    """Whether a status byte is that of a reply, its code as an int, its flags."""
    return bool(status & REPLY), status >> CODE_SHIFT & 7, Flag(status & 15)


def request(op, format_id, x, y, request_id=0):
    """The payload of a request; op and format_id as on the wire, x and y arrays of encodings."""
    header = HEADER.pack(MAGIC, VERSION, op, format_id, 0, len(x), request_id)
    operands = (numpy.asarray(slots, dtype=">u2").tobytes() for slots in (x, y))
    return header + b"".join(operands) + bytes(2 * len(x))


def results(payload):
    """The array z of a whole reply."""
    count = HEADER.unpack_from(payload)[5]
    z = numpy.frombuffer(payload, ">u2", count, HEADER.size + 4 * count)
    return z.astype(numpy.uint16)
