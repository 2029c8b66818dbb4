# SPDX-License-Identifier: BSD-3-Clause
"""Aggregation as a scapy layer, on UDP ports 20040 to 20047. An example:

    from netfc.scapy_aggregation import Aggregation

    Aggregation(op="sum", format="fp32", job=1, worker=0, session=7, values=[1.5, -2.25]).show2()

shows a packet with its lanes as numbers. A join has a token; all else a session, which the reply to
a complete join grants. A join in a tree has a `place`, netfc.aggregation.Place; a chunk whose
reason has aggregation.DIGITS has a `part`, netfc.aggregation.Part, in the place of values.
"""

import operator
import struct
from typing import Any

import numpy
from scapy.fields import (
    ByteEnumField,
    ByteField,
    ConditionalField,
    Field,
    FieldLenField,
    FieldListField,
    IntField,
    ShortField,
    XLongField,
)
from scapy.layers.inet import UDP
from scapy.packet import Packet, Raw, bind_bottom_up, bind_top_down

from netfc import aggregation, catalogue, protocol
from netfc.scapy import CLIENT_PORT, SLOT_CODES, start_fields

PORTS = 8  # shards of a switch that are known without asking
_CODE_NAMES = {**protocol.CODE_NAMES, aggregation.CODE: "aggregation"}
# What struct can read.
_STRUCT = {"float16": "e", "float32": "f", "float64": "d", "int32": "i", "int64": "q"}
_NUMBERS = {row.number: _STRUCT[row.dtype] for row in catalogue.FORMATS if row.dtype in _STRUCT}


def _is_result(pkt: Any) -> bool:
    return bool(pkt.reply) and pkt.code == 0


def _number_of(pkt: Any) -> int:
    return aggregation.values_format(pkt.format, _is_result(pkt))


def _bytes_of(pkt: Any) -> int:
    return aggregation.value_bytes(pkt.format, _is_result(pkt))


class _Values(FieldListField):
    """Values or results as encodings: 8, 16, 32 or 64 bits, as the packet's format says."""

    def __init__(self) -> None:
        super().__init__("values", [], IntField("", 0), count_from=lambda pkt: pkt.count)

    def i2len(self, pkt: Any, val: Any) -> int:
        """How many bytes."""
        return len(val or []) * _bytes_of(pkt)

    def i2count(self, pkt: Any, val: Any) -> int:
        """How many values."""
        return len(val or [])

    def addfield(self, pkt: Any, s: Any, val: Any) -> Any:
        """Append the values to the bytes of a packet; floats and integers become encodings."""
        return s + b"".join(_encode(value, _number_of(pkt), _bytes_of(pkt)) for value in val or [])

    def getfield(self, pkt: Any, s: Any) -> Any:
        """Take the values off the bytes of a packet; fewer where it was cut."""
        size = _bytes_of(pkt)
        count = min(pkt.count, len(s) // size)
        return s[count * size :], list(struct.unpack_from(f">{count}{SLOT_CODES[size]}", s))


class _Read(Field[Any, Any]):
    """What netfc.aggregation reads and writes as a whole, or None."""

    __slots__ = ["read"]

    def __init__(self, name: str, read: Any) -> None:
        super().__init__(name, None)
        self.read = read

    def addfield(self, pkt: Any, s: Any, val: Any) -> Any:
        """Append it to the bytes of a packet."""
        return s if val is None else s + bytes(val)

    def getfield(self, pkt: Any, s: Any) -> Any:
        """Take it off the bytes of a packet; what is cut stays there."""
        value = self.read(s)
        return s if value is None else s[len(bytes(value)) :], value


def _encode(value: Any, format_id: int, size: int) -> bytes:
    number = _NUMBERS.get(format_id)
    if isinstance(value, (float, numpy.floating)) and number is not None:
        return struct.pack(f">{number}", value)
    # What is no whole number is no encoding.
    return operator.index(value).to_bytes(size, "big", signed=value < 0)


def _is_join(pkt: Any) -> bool:
    return bool(pkt.op == aggregation.OPS["join"])


def _is_no_join(pkt: Any) -> bool:
    return not _is_join(pkt)


def _grants(pkt: Any) -> bool:
    return _is_join(pkt) and bool(pkt.reply) and pkt.code == 0


def _has_digits(pkt: Any) -> bool:
    is_chunk = pkt.op not in (aggregation.OPS["join"], aggregation.OPS["leave"])
    return is_chunk and not pkt.reply and bool(pkt.reason & aggregation.DIGITS)


def _has_label(pkt: Any) -> bool:
    is_copy = pkt.op == aggregation.OPS["copy"]
    return is_copy and not pkt.reply and bool(int(pkt.flags) & aggregation.LABELLED)


def _is_of_zeros(pkt: Any) -> bool:
    if pkt.op in (aggregation.OPS["join"], aggregation.OPS["leave"]):
        return False
    if pkt.reply:
        return _is_result(pkt) and aggregation.KINDS.get(pkt.reason) == "zeros"
    return bool(int(pkt.flags) & aggregation.OF_ZEROS)


def _has_values(pkt: Any) -> bool:
    return not _has_digits(pkt) and not _has_label(pkt) and not _is_of_zeros(pkt)


def _has_cookie(pkt: Any) -> bool:
    return _is_join(pkt) and not _grants(pkt)


class Aggregation(Packet):
    """A message of an aggregation: header, and values or what a join asks for."""

    name = "NetFC aggregation"
    fields_desc = [
        *start_fields(
            aggregation.OPS["sum"],
            aggregation.OP_NAMES,
            aggregation.FORMAT_IDS["fp32"],
            aggregation.FORMAT_NAMES,
            _CODE_NAMES,
        ),
        FieldLenField("count", None, count_of="values", fmt="H"),
        IntField("id", 0),
        ShortField("job", 0),
        ByteField("worker", 0),
        ByteEnumField("reason", 0, aggregation.REASONS),
        ConditionalField(XLongField("token", 0), _is_join),
        ConditionalField(XLongField("session", 0), _is_no_join),
        ConditionalField(ByteField("workers", 1), _is_join),
        ConditionalField(ByteField("shards", 0), _is_join),
        ConditionalField(ShortField("slots", 1), _is_join),
        ConditionalField(ShortField("bytes", 1448), _is_join),
        ConditionalField(ShortField("least", 0), _is_join),
        ConditionalField(XLongField("cookie", 0), _has_cookie),
        ConditionalField(XLongField("granted_session", 0), _grants),
        ConditionalField(XLongField("incarnation", 1), _is_join),
        ConditionalField(_Read("place", aggregation.read_place), _is_join),
        ConditionalField(_Read("part", aggregation.read_part), _has_digits),
        ConditionalField(IntField("label", 0), _has_label),
        ConditionalField(_Values(), _has_values),
    ]

    @classmethod
    # pylint: disable-next=keyword-arg-before-vararg
    def dispatch_hook(cls, _pkt: Any = None, *_args: Any, **_fields: Any) -> Any:
        """The layer for these bytes: an aggregation's, or none."""
        if _pkt is None:
            return cls
        magic = protocol.MAGIC.to_bytes(2, "big")
        whole = len(_pkt) >= aggregation.HEADER.size and _pkt.startswith(magic)
        return cls if whole else Raw

    def answers(self, other: Any) -> bool:
        """Whether this is the reply to another packet."""
        return (
            isinstance(other, Aggregation)
            and (self.reply, other.reply) == (1, 0)
            and (self.op, self.job, self.worker) == (other.op, other.job, other.worker)
            and self.id == other.id
        )

    def _absence(self) -> int:
        """Why a worker's values are missing: the first byte of the values, or of count."""
        if not self.values:
            return int(self.count or 0) >> 8
        return int(self.values[0]) >> 8 * (_bytes_of(self) - 1)

    def mysummary(self) -> str:
        """One human-readable line."""
        text = self.sprintf("NetFC aggregation %op%, job %job% worker %worker%")
        if self.op not in (aggregation.OPS["join"], aggregation.OPS["leave"]):
            count = self.count if self.count is not None else len(self.values or [])
            text += self.sprintf(", chunk %id%, ") + f"{count} " + self.sprintf("%format%")
        if not self.reply:
            zeros = ", zeros" if _is_of_zeros(self) else ""
            return text + self._digits() + zeros + self._owner() + ", request"
        if self.code == aggregation.CODE:
            return text + f", reply: {aggregation.reason_name(self.reason, self._absence())}"
        if self.code:
            return text + self.sprintf(", reply: error %code%")
        if _is_join(self):
            return text + ", reply: joined"
        kind = aggregation.KINDS.get(self.reason, f"unknown {self.reason}")
        return text + ", reply" + (f": {kind}" if self.reason else "")

    def _digits(self) -> str:
        """Which part of exact sums a request is."""
        if not _has_digits(self):
            return ""
        part = self.part
        if part is None:
            return ", digits"
        divisor = f" over {part.divisor}" if part.divisor else ""
        return f", digits {part.number + 1} of {part.parts}{divisor}"

    def _owner(self) -> str:
        """Whose chunk a request is of."""
        is_leave = self.op == aggregation.OPS["leave"]
        owner = self.reason & ~aggregation.DIGITS
        if owner < aggregation.OWNER or is_leave:
            return ""
        return f", worker {owner - aggregation.OWNER}'s"


for _port in range(aggregation.UDP_PORT, aggregation.UDP_PORT + PORTS):
    bind_bottom_up(UDP, Aggregation, sport=_port)
    bind_bottom_up(UDP, Aggregation, dport=_port)
bind_top_down(UDP, Aggregation, sport=CLIENT_PORT, dport=aggregation.UDP_PORT)
