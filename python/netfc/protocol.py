# SPDX-License-Identifier: BSD-3-Clause
"""The NetFC protocol, version 1: its numbers, their names, and requests as bytes.

docs/protocol.md describes it; lib/netfc/include/netfc_wire.h says the same in C.
"""

import enum
import struct

import numpy
from numpy.typing import ArrayLike

from netfc._native.arrays import Encodings

# The numbers of operations and formats on the wire; table sets are named by their formats, too.
OPS = {"add": 1, "sub": 2, "mul": 3, "div": 4}
SYMBOLS = {"add": "+", "sub": "-", "mul": "x", "div": "/"}  # for people
FORMAT_IDS = {"fp16": 1, "posit16": 2, "bf16": 3, "posit16_es2": 4}

MAGIC = 0x4E46
VERSION = 1
UDP_PORT = 20038
QUERY = 16  # the op that is not arithmetic
HEADER = struct.Struct(">HBBBBHI")  # magic, version, op, format, status, count, id
STATUS_OFFSET = 5
LANE_BYTES = 6  # x, y and z
QUERY_COUNTERS = struct.Struct(">IQ")  # connections and bytes, behind z where they fit

REPLY = 0x80  # set in the status of a reply
CODE_SHIFT = 4

OP_NAMES = {**{number: name for name, number in OPS.items()}, QUERY: "query"}
FORMAT_NAMES = {number: name for name, number in FORMAT_IDS.items()}


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
CODE_MEANINGS: dict[int, str] = {
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
    def words(self) -> list[str]:
        """The flags that are set, as a list of words for people."""
        names = (str(flag.name).lower() for flag in Flag if flag & self)
        return [{"divbyzero": "division by zero"}.get(name, name) for name in names]


def op_number(op: str) -> int:
    """The number of an operation of OPS. Raises ValueError for any other name."""
    if op not in OPS:
        raise ValueError(f"no operation '{op}': there are {', '.join(OPS)}")
    return OPS[op]


def split_status(status: int) -> tuple[bool, int, Flag]:
    """Whether a status byte is that of a reply, its code as an int, its flags."""
    return bool(status & REPLY), status >> CODE_SHIFT & 7, Flag(status & 15)


def request(op: int, format_id: int, x: ArrayLike, y: ArrayLike, request_id: int = 0) -> bytes:
    """The payload of a request.

    op, format_id: as on the wire, see OPS and FORMAT_IDS
    x, y: encodings, of shape (lanes,) with up to 65535 lanes
    request_id: 32 bits of the sender's own
    """
    x, y = (numpy.asarray(slots, dtype=">u2") for slots in (x, y))
    header = HEADER.pack(MAGIC, VERSION, op, format_id, 0, x.size, request_id)
    return header + x.tobytes() + y.tobytes() + bytes(2 * x.size)


def results(payload: bytes) -> Encodings:
    """The array z of a whole reply, of shape (lanes,)."""
    count = HEADER.unpack_from(payload)[5]
    z = numpy.frombuffer(payload, ">u2", count, HEADER.size + 4 * count)
    return z.astype(numpy.uint16)
