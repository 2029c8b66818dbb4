# SPDX-License-Identifier: BSD-3-Clause
"""Payloads and frames in words: fields by their names, and where two differ."""

from collections.abc import Iterator

from netfc import aggregation, protocol
from netfc.conformance.check import Evidence

SHOWN_BYTES = 64
SHOWN_DIFFERENCES = 4


def lines(evidence: Evidence, name: str = "frame") -> Iterator[str]:
    """What was sent, expected and got: in hex, and decoded."""
    for word, data in (
        ("sent", evidence.sent),
        ("expected", evidence.expected),
        ("got", evidence.got),
    ):
        if not data:
            continue
        yield f"{word:8} {len(data)} bytes: {shown(data)}"
        payload = data if not evidence.is_frame else payload_of(data)
        yield f"{'':8} {describe(payload) if payload else 'no UDP datagram'}"
    if evidence.expected and evidence.got:
        yield from differences(evidence.expected, evidence.got, name)


def shown(data: bytes) -> str:
    """Hex digits, as many as a line has."""
    return data[:SHOWN_BYTES].hex() + ("..." if len(data) > SHOWN_BYTES else "")


def differences(expected: bytes, got: bytes, name: str = "") -> Iterator[str]:
    """Where they differ."""
    del name
    if len(expected) != len(got):
        yield f"{'':8} {len(got)} bytes instead of {len(expected)}"
    places = [at for at, pair in enumerate(zip(expected, got)) if pair[0] != pair[1]]
    for at in places[:SHOWN_DIFFERENCES]:
        yield f"{'':8} byte {at}: 0x{got[at]:02x} instead of 0x{expected[at]:02x}"
    if len(places) > SHOWN_DIFFERENCES:
        yield f"{'':8} and {len(places) - SHOWN_DIFFERENCES} more bytes"


def describe(payload: bytes) -> str:
    """The fields of a message."""
    if len(payload) < protocol.HEADER.size or payload[:2] != b"NF":
        return "no NetFC message"
    _, version, op, form, status, count, id_ = protocol.HEADER.unpack_from(payload)
    fields = [f"version {version}" if version != protocol.VERSION else ""]
    is_aggregation = op in aggregation.OP_NAMES and op >= 32
    names = aggregation.OP_NAMES if is_aggregation else protocol.OP_NAMES
    formats = aggregation.FORMAT_NAMES if is_aggregation else protocol.FORMAT_NAMES
    fields += [names.get(op, f"op {op}"), formats.get(form, f"format {form}")]
    fields += [_status(status), f"count {count}", f"id 0x{id_:08x}"]
    if is_aggregation and len(payload) >= aggregation.HEADER.size:
        *_, job, worker, reason, secret = aggregation.HEADER.unpack_from(payload)
        is_refused = status & protocol.REPLY and status >> protocol.CODE_SHIFT & 7 == 7
        said = aggregation.reason_name(reason) if is_refused else f"0x{reason:02x}"
        fields += [f"job {job}", f"worker {worker}", f"byte 15 {said}", f"secret 0x{secret:016x}"]
    return ", ".join(field for field in fields if field)


def _status(status: int) -> str:
    is_reply, code, flags = protocol.split_status(status)
    if not is_reply:
        return f"request (status 0x{status:02x})" if status else "request"
    name = "aggregation" if code == aggregation.CODE else protocol.CODE_NAMES.get(code, "unknown")
    return f"reply, code {code} ({name})" + (f", flags {', '.join(flags.words)}" if flags else "")


def payload_of(frame: bytes) -> bytes:
    """The payload of a frame's UDP datagram; nothing where there is none."""
    at = 12
    while frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
        at += 4
    kind, at = frame[at : at + 2], at + 2
    if kind == b"\x08\x00" and len(frame) > at + 28:
        return frame[at + (frame[at] & 15) * 4 + 8 :]
    return frame[at + 48 :] if kind == b"\x86\xdd" else b""
