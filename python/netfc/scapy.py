# SPDX-License-Identifier: BSD-3-Clause
"""NetFC version 1 as a scapy layer, on UDP port 20038.

    from netfc.scapy import NetFC, request

    request("add", "fp16", [1.5], [2.25]).show2()
    sr1(IP(dst="10.0.0.2") / UDP() / request("add", "fp16", [1.5, 2.5], [2.25, 1]))

NetFC is the layer; numbers() says what the slots of a packet stand for.
"""

import ipaddress
import struct
from typing import Any

from numpy.typing import ArrayLike
from scapy.fields import (
    BitEnumField,
    BitField,
    ByteEnumField,
    ByteField,
    FieldLenField,
    FieldListField,
    FlagsField,
    IntField,
    LongField,
    XIntField,
    XShortField,
)
from scapy.layers.inet import UDP
from scapy.packet import Packet, Raw, bind_bottom_up, bind_top_down

from netfc import formats, protocol
from netfc._native.arrays import Values
from netfc.functions import FixedPoint, slots_of

CLIENT_PORT = 49152  # where requests come from unless UDP says otherwise
START_BYTES = 6  # up to the status: what a switch must have to answer at all

SLOT_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}  # of struct
_FLAG_NAMES = [str(flag.name).lower() for flag in protocol.Flag]


def slot_bytes(packet: Any) -> int:
    """The bytes of a slot, as the packet's format and operation say."""
    return protocol.slot_bytes(packet.format, packet.op)


class Slot(XShortField):
    """The encoding of a number in the packet's format."""

    def i2repr(self, pkt: Any, x: Any) -> str:
        """The bits, and the number where the packet says of what format it is."""
        codec = slot_codec(pkt, self.name)
        bits = f"0x{x:0{2 * slot_bytes(pkt)}x}"
        return bits if codec is None else f"{codec.text(encoding(codec, x))} ({bits})"


def slot_codec(packet: Any, field: str) -> formats.Format | FixedPoint | None:
    """What the slots x, y or z of a packet are encoded as; None: they are no numbers."""
    number_format = formats.BY_ID.get(packet.format)
    is_address = packet.op == protocol.QUERY and field != "z"
    if number_format is None or is_address or packet.op == protocol.NAME:
        return None
    argument, result = slots_of(protocol.OP_NAMES.get(packet.op, ""), number_format)
    return {"x": argument, "z": result}.get(field, number_format)


def encoding(codec: formats.Format | FixedPoint, slot: int) -> int:
    """What a slot holds: in one that is wider than an encoding, switches do not read the rest."""
    return slot & (1 << 8 * codec.encodings.itemsize) - 1


class Lanes(FieldListField):
    """The x, y or z of all lanes. Left out, it is zeros: as many as x has, or one for x."""

    def __init__(self, name: str):
        super().__init__(name, [], Slot(name, 0), count_from=lambda pkt: pkt.count)
        self.default = None

    def i2len(self, pkt: Any, val: Any) -> int:
        """How many bytes."""
        size = (2 if pkt is None else slot_bytes(pkt)) * self.i2count(pkt, val)
        return size + size % 2

    def i2count(self, pkt: Any, val: Any) -> int:
        """How many lanes."""
        if val is None:
            return 1 if pkt is None or pkt.x is None else len(pkt.x)
        return len(val)

    def i2repr(self, pkt: Any, x: Any) -> str:
        """All lanes, as numbers and bits."""
        return super().i2repr(pkt, self._filled(pkt, x))

    def addfield(self, pkt: Any, s: Any, val: Any) -> Any:
        """Append the lanes to the bytes of a packet."""
        val = self._filled(pkt, val)
        packed = struct.pack(f">{len(val)}{SLOT_CODES[slot_bytes(pkt)]}", *val)
        return s + packed + b"\0" * (len(packed) % 2)

    def getfield(self, pkt: Any, s: Any) -> Any:
        """Take the lanes off the bytes of a packet; fewer where it was cut."""
        size = slot_bytes(pkt)
        count = min(pkt.count, len(s) // size)
        end = size * count + size * count % 2  # what fills up is no lane
        return s[end:], list(struct.unpack_from(f">{count}{SLOT_CODES[size]}", s))

    def _filled(self, pkt: Any, val: Any) -> Any:
        return [0] * self.i2count(pkt, val) if val is None else val


def start_fields(
    op: int, ops: dict[int, str], form: int, forms: dict[int, str], codes: dict[int, str]
) -> list[Any]:
    """The fields that every message begins with: defaults and names of op, format and code."""
    return [
        XShortField("magic", protocol.MAGIC),
        ByteField("version", protocol.VERSION),
        ByteEnumField("op", op, ops),
        ByteEnumField("format", form, forms),
        BitField("reply", 0, 1),
        BitEnumField("code", 0, 3, codes),
        FlagsField("flags", 0, 4, _FLAG_NAMES),
    ]


_START = start_fields(
    protocol.OPS["add"],
    protocol.OP_NAMES,
    protocol.FORMAT_IDS["fp16"],
    protocol.FORMAT_NAMES,
    protocol.CODE_NAMES,
)


class NetFC(Packet):
    """A NetFC datagram: header and lanes."""

    name = "NetFC"
    fields_desc = [
        *_START,
        FieldLenField("count", None, count_of="x", fmt="H"),
        XIntField("id", 0),
        Lanes("x"),
        Lanes("y"),
        Lanes("z"),
    ]

    @classmethod
    # pylint: disable-next=keyword-arg-before-vararg
    def dispatch_hook(cls, _pkt: Any = None, *_args: Any, **_fields: Any) -> Any:
        """The layer for these bytes: NetFC whole, its start alone, or no NetFC."""
        if _pkt is None:
            return cls
        magic = protocol.MAGIC.to_bytes(2, "big")
        if len(_pkt) < START_BYTES or not _pkt.startswith(magic):
            return Raw
        return cls if len(_pkt) >= protocol.HEADER.size else NetFCStart

    def post_dissect(self, s: Any) -> Any:
        """Lanes that a cut datagram lacks are none, and not the zeros of the default."""
        for name in "xyz":
            self.fields.setdefault(name, [])
        return s

    def guess_payload_class(self, payload: Any) -> Any:
        """Counters stand after the lane of a query."""
        if self.op == protocol.QUERY and len(payload) >= protocol.QUERY_COUNTERS.size:
            return QueryCounters
        return Raw

    def hashret(self) -> bytes:
        """What a request has in common with its reply."""
        return struct.pack(">BBI", self.op, self.format, self.id)

    def answers(self, other: Any) -> bool:
        """Whether this is the reply to another packet."""
        return (
            isinstance(other, NetFC)
            and (self.reply, other.reply) == (1, 0)
            and (self.version, self.op, self.format) == (other.version, other.op, other.format)
            and self.id == other.id
        )

    def mysummary(self) -> str:
        """One human-readable line."""
        lanes = self.count if self.count is not None else len(self.x or [0])
        text = self.sprintf("NetFC %format% %op%") + f", {lanes} lane{'s' * (lanes != 1)}"
        if not self.reply:
            return text + ", request"
        if self.code:
            return text + self.sprintf(", reply: error %code%")
        words = ", ".join(protocol.Flag(int(self.flags)).words)
        return text + (f", reply: {words}" if words else ", reply")


class NetFCStart(Packet):
    """A NetFC datagram cut within its header, as far as a switch answers it."""

    name = "NetFC, header cut"
    fields_desc = list(_START)


class QueryCounters(Packet):
    """What stands after the lane of a query that is long enough."""

    name = "NetFC query counters"
    fields_desc = [IntField("connections", 0), LongField("bytes", 0)]


def request(
    op: str,
    number_format: str,
    x: ArrayLike,
    y: ArrayLike | None = None,
    z: ArrayLike | None = None,
    **fields: Any,
) -> NetFC:
    """A request; op and number_format by name, x, y and z numbers or lists of numbers.

    op: of protocol.OPS, EXTRA_OPS or FUNCTIONS; of OPS with fp32
    y: left out, zeros: functions have x alone; z: for fma
    fields: other fields of NetFC. For operands as bits: NetFC(x=[0x3e00], y=[0x4080]).
    """
    form = formats.Format(number_format)
    argument, _ = slots_of(op, form)
    lanes: dict[str, Any] = {"x": argument.encode(x).reshape(-1).tolist()}
    for name, values in (("y", y), ("z", z)):
        if values is not None:
            lanes[name] = form.encode(values).reshape(-1).tolist()
            if len(lanes["x"]) != len(lanes[name]):
                raise ValueError(f"x has {len(lanes['x'])} lanes, {name} has {len(lanes[name])}")
    return NetFC(op=protocol.number_of(op), format=form.id, **lanes, **fields)


def query(destination: str, **fields: Any) -> Packet:
    """A Slowloris query for an IPv4 destination, with space for all counters."""
    x, y = struct.unpack(">HH", ipaddress.IPv4Address(destination).packed)
    header = NetFC(op=protocol.QUERY, format=protocol.FORMAT_IDS["fp16"], x=[x], y=[y], **fields)
    return header / QueryCounters()


def query_destination(packet: Any) -> str:
    """The IPv4 address that a query packet asks for."""
    return str(ipaddress.IPv4Address(packet.x[0] << 16 | packet.y[0]))


def numbers(packet: Any, field: str) -> Values:
    """What the slots x, y or z of a packet stand for: a numpy array of float64, of float32 for
    fp32. Raises ValueError where they are no numbers."""
    codec = slot_codec(packet, field)
    if codec is None:
        raise ValueError(f"{field} of this packet is not a number")
    return codec.decode([encoding(codec, slot) for slot in getattr(packet, field)])


bind_bottom_up(UDP, NetFC, sport=protocol.UDP_PORT)
bind_bottom_up(UDP, NetFC, dport=protocol.UDP_PORT)
# With scapy's own default, 53, replies would be taken for DNS.
bind_top_down(UDP, NetFC, sport=CLIENT_PORT, dport=protocol.UDP_PORT)
