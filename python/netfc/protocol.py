# SPDX-License-Identifier: BSD-3-Clause
"""The NetFC protocol, version 1: its numbers, their names, and requests as bytes.

docs/protocol.md describes it; lib/netfc/include/netfc_wire.h says the same in C.
"""

import enum
import struct
from collections.abc import Mapping

import numpy
from numpy.typing import ArrayLike

from netfc import catalogue
from netfc._native import given
from netfc._native.arrays import Encodings

# By name; of formats those that requests compute in.
OPS = catalogue.numbers(catalogue.ARITHMETIC)
EXTRA_OPS = catalogue.numbers(catalogue.EXTENDED)  # without a table set
SYMBOLS = {row.name: row.symbol for row in catalogue.ARITHMETIC}  # in texts
FORMAT_IDS = {row.name: row.number for row in catalogue.FORMATS if row.in_requests}

MAGIC = 0x4E46
VERSION = 1
UDP_PORT = 20038
QUERY = 16  # an op that is not arithmetic
NAME = 192  # likewise: the number of an operation by its name
NAME_LANES = 8  # of such a request: x and y hold the name
_MAX_LANES = 65535  # as a header can say
HEADER = struct.Struct(">HBBBBHI")  # magic, version, op, format, status, count, id
STATUS_OFFSET = 5
QUERY_COUNTERS = struct.Struct(">IQ")  # connections and bytes, after z where they fit

REPLY = 0x80  # set in the status of a reply
CODE_SHIFT = 4

# Functions of one number, of which a switch computes those that it has loaded.
FUNCTIONS = catalogue.function_numbers()
USER_FUNCTIONS = range(193, 256)  # the numbers of users' own

OP_NAMES: dict[int, str] = {
    **{number: name for name, number in (OPS | EXTRA_OPS | FUNCTIONS).items()},
    QUERY: "query",
    NAME: "name",
    **{number: f"own_{number}" for number in USER_FUNCTIONS},
}
# Conversions to wider formats, or fixed point, and back: the least bytes of their slots.
_WIDENED = {NAME: 2} | {
    number: 4 if name == "to_fp32" else 2
    for name, number in FUNCTIONS.items()
    if number > catalogue.TO_FORMAT and not name.startswith("to_fp8_")
}
FORMAT_NAMES = {number: name for name, number in FORMAT_IDS.items()}
_SLOT_BYTES = {row.number: row.bytes for row in catalogue.FORMATS if row.in_requests}


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
        """The flags that are set, as a list of words."""
        names = (str(flag.name).lower() for flag in Flag if flag & self)
        return [{"divbyzero": "division by zero"}.get(name, name) for name in names]


def op_number(op: str, known: Mapping[str, int] = OPS | EXTRA_OPS) -> int:
    """The number of an operation of those that are known. Raises ValueError for any other name."""
    if op not in known:
        raise ValueError(f"no operation '{op}': there are {', '.join(known)}")
    return known[op]


def slot_bytes(format_id: int, op: int = OPS["add"]) -> int:
    """The bytes of a slot, 2 of a format that is not known.

    op: a conversion's slots are as wide as the wider one of argument and result, those of a request
        for a name 2 bytes
    """
    size = _SLOT_BYTES.get(format_id, 2)
    return max(size, _WIDENED.get(op, size))


def operand_bytes(format_id: int, lanes: int, op: int = OPS["add"]) -> int:
    """The bytes of x, and so of y and of z: filled up to an even number."""
    size = lanes * slot_bytes(format_id, op)
    return size + size % 2


def lanes_in(space: int, format_id: int, op: int = OPS["add"]) -> int:
    """How many lanes so many bytes have space for."""
    return space // 3 // 2 * 2 // slot_bytes(format_id, op)


def lane_bytes(format_id: int) -> int:
    """The bytes of a lane of a format: x, y and z."""
    return 3 * slot_bytes(format_id)


def _slot_type(format_id: int, op: int) -> str:
    return f">u{slot_bytes(format_id, op)}"


def number_of(op: str) -> int:
    """The number of an operation or a function of the library's. Raises ValueError for others."""
    return FUNCTIONS[op] if op in FUNCTIONS else op_number(op)


def split_status(status: int) -> tuple[bool, int, Flag]:
    """Whether a status byte is that of a reply, its code as an int, its flags."""
    return bool(status & REPLY), status >> CODE_SHIFT & 7, Flag(status & 15)


def request(
    op: int,
    format_id: int,
    x: ArrayLike,
    y: ArrayLike | None = None,
    request_id: int = 0,
    z: ArrayLike | None = None,
) -> bytes:
    """The payload of a request.

    op, format_id: as on the wire, see OPS, EXTRA_OPS, FUNCTIONS and FORMAT_IDS, 0 to 255
    x, y, z: encodings, of shape (lanes,), all the same, with up to 65535 lanes; None: zeros, where
        the operation does not read them
    request_id: 32 bits of the sender's own

    Raises ValueError for what does not fit, TypeError for what is no number.
    """
    slot = numpy.dtype(_slot_type(format_id, op))
    given_slots = {"x": x, "y": y, "z": z}
    slots = {
        name: given.encodings(f"{name} has", values, slot)
        for name, values in given_slots.items()
        if values is not None or name == "x"
    }
    lanes = _lanes_of(slots)
    try:
        header = HEADER.pack(MAGIC, VERSION, op, format_id, 0, lanes, request_id)
    except struct.error as error:
        raise ValueError(
            f"op {op}, format_id {format_id}, request_id {request_id}: give whole numbers up to"
            " 255, 255 and 4294967295"
        ) from error
    size = operand_bytes(format_id, lanes, op)
    operands = (slots[name].tobytes() if name in slots else b"" for name in given_slots)
    return header + b"".join(operand.ljust(size, b"\0") for operand in operands)


def _lanes_of(slots: dict[str, Encodings]) -> int:
    """How many lanes x and the others have. Raises ValueError where they differ or are too many."""
    shape = slots["x"].shape
    for name, values in slots.items():
        if values.shape != shape or values.ndim != 1:
            raise ValueError(
                f"{name} has shape {values.shape}, and x {shape}: give one dimension, as many lanes"
            )
    if shape[0] > _MAX_LANES:
        raise ValueError(f"{shape[0]} lanes are more than {_MAX_LANES}, the most in a request")
    return shape[0]


def name_request(name: str, format_id: int, request_id: int = 0) -> bytes:
    """The payload of a request for the number of an operation by its name, which has up to 31
    characters of ASCII, none of them NUL. Raises ValueError for any other name."""
    size = 4 * NAME_LANES
    encoded = name.encode("ascii", errors="replace")
    if not 0 < len(encoded) < size or not name.isascii() or "\0" in name:
        raise ValueError(
            f"'{name}' is not a function name: give 1 to {size - 1} ASCII characters, no NUL"
        )
    slots = numpy.frombuffer(encoded.ljust(size, b"\0"), dtype=">u2")
    return request(NAME, format_id, slots[:NAME_LANES], slots[NAME_LANES:], request_id)


def results(payload: bytes) -> Encodings:
    """The array z of a whole reply, of shape (lanes,), as wide as its slots.

    Raises ValueError for one that is cut.
    """
    if len(payload) < HEADER.size:
        raise ValueError(f"a message of {len(payload)} bytes is cut in its header")
    _, _, op, format_id, _, count, _ = HEADER.unpack_from(payload)
    slot = numpy.dtype(_slot_type(format_id, op))
    at = HEADER.size + 2 * operand_bytes(format_id, count, op)
    if len(payload) < at + count * slot.itemsize:
        raise ValueError(f"a message of {len(payload)} bytes is cut: it has {count} lanes")
    z = numpy.frombuffer(payload, slot, count, at)
    return z.astype(slot.newbyteorder("="))
