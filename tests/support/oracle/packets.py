# SPDX-License-Identifier: BSD-3-Clause
"""One frame: what the switch sends for it."""

import functools
import struct
from collections import namedtuple

from .arithmetic import OPERATIONS, QUERY, calc
from .formats import FORMATS
from .extended import EXTENDED, calc_extended
from .fp32 import FP32, calc_fp32
from .narrow import NARROW, NarrowFormat

UDP_PORT = 20038
MAGIC = 0x4E46
VERSION = 1
HEADER_BYTES = 12
REPLY_BIT = 0x80
SLOTS = {1: 'B', 2: 'H', 4: 'I'}  # of struct, by their bytes
EXCEPTIONS = ('invalid', 'divbyzero', 'overflow', 'underflow')  # bits 0 to 3 of the status
ERRORS = ('ok', 'version', 'op', 'format', 'length', 'query', 'lanes')

# ip, udp: offset of the header in the frame, None where there is none whose lengths fit.
# payload, end: where the UDP payload begins and ends.
Layout = namedtuple('Layout', 'ip ip_version udp payload end', defaults=(None,) * 5)


def switch(frame, sets, port=UDP_PORT, forward='pair', counters=None):
    """The frame that the switch sends for a frame that it receives.

    sets: what table_sets returned. counters: a collections.Counter that is raised as the
    statistics are: 'netfc_packets', 'lanes', and requests by 'errors.' with a name of ERRORS and
    by 'exceptions.' with a name of EXCEPTIONS.
    """
    layout = parse(frame)
    out = bytearray(frame)
    if layout.udp is not None and u16(frame, layout.udp + 2) == port:
        counted = compute(out, layout, sets)
        if counters is not None:
            counters.update(counted)
    if forward == 'reflect':
        reflect(out, layout)
    return bytes(out)


def parse(frame):
    """Where the headers of a frame lie, as far as they are whole and their lengths fit."""
    if len(frame) < 14:
        return Layout()
    at, tags = 14, 0
    ethertype = u16(frame, 12)
    while ethertype in (0x8100, 0x88A8) and tags < 2 and len(frame) >= at + 4:
        ethertype = u16(frame, at + 2)
        at, tags = at + 4, tags + 1
    if ethertype == 0x0800:
        return parse_ipv4(frame, at)
    if ethertype == 0x86DD:
        return parse_ipv6(frame, at)
    return Layout()


def parse_ipv4(frame, at):
    available = len(frame) - at
    if available < 20 or frame[at] >> 4 != 4:
        return Layout()
    header, total = (frame[at] & 15) * 4, u16(frame, at + 2)
    if header < 20 or not header <= total <= available:
        return Layout()
    fragment = u16(frame, at + 6) & 0x3FFF
    if fragment or frame[at + 9] != 17:
        return Layout(at, 4)
    return parse_udp(frame, Layout(at, 4), at + header, total - header)


def parse_ipv6(frame, at):
    available = len(frame) - at
    if available < 40 or frame[at] >> 4 != 6:
        return Layout()
    length = u16(frame, at + 4)
    if length > available - 40:
        return Layout()
    if frame[at + 6] != 17:
        return Layout(at, 6)
    return parse_udp(frame, Layout(at, 6), at + 40, length)


def parse_udp(frame, layout, at, available):
    """The layout of a datagram at `at`, `available` being what the IP header leaves for it."""
    if available < 8 or not 8 <= u16(frame, at + 4) <= available:
        return layout
    return layout._replace(udp=at, payload=at + 8, end=at + u16(frame, at + 4))


def compute(out, layout, sets):
    """Answers the NetFC request in a frame, if it is one, in place. Returns what to count."""
    start, length = layout.payload, layout.end - layout.payload
    if length < 6 or u16(out, start) != MAGIC or out[start + 5] & REPLY_BIT:
        return {}
    error = request_error(out, start, length, sets)
    before = bytes(out[start:layout.end])
    counted = {'netfc_packets': 1}
    flags = 0
    if error == 0:
        lanes = u16(out, start + 6)
        flags = compute_lanes(out, start, lanes, sets)
        counted['lanes'] = lanes
        counted.update({f'exceptions.{name}': flags >> bit & 1
                        for bit, name in enumerate(EXCEPTIONS)})
    else:
        counted['errors.' + ERRORS[error]] = 1
    out[start + 5] = REPLY_BIT | error << 4 | flags
    update_checksum(out, layout, before)
    return counted


def request_error(out, start, length, sets):
    """The error code of a request, 0 for none."""
    _, version, op, form, _ = struct.unpack_from('>HBBBB', out, start)
    if version != VERSION:
        return ERRORS.index('version')
    if op not in (*OPERATIONS, *EXTENDED, QUERY):
        return ERRORS.index('op')
    if form not in ((*FORMATS, *NARROW) if op in EXTENDED else sets) or (op == QUERY and form != 1):
        return ERRORS.index('format')
    if length < HEADER_BYTES or u16(out, start + 6) == 0:
        return ERRORS.index('length')
    if length < HEADER_BYTES + 3 * operand_bytes(form, u16(out, start + 6)):
        return ERRORS.index('length')
    return ERRORS.index('query') if op == QUERY else 0


def compute_lanes(out, start, lanes, sets):
    """Writes z of every lane; returns the OR of their flags."""
    op, form = out[start + 3:start + 5]
    slots = struct.Struct(f">{lanes}{SLOTS[slot_bytes(form)]}")
    places = [start + HEADER_BYTES + operand_bytes(form, lanes) * part for part in range(3)]
    triples = zip(*(slots.unpack_from(out, place) for place in places))
    results = [calc_lane(sets, form, op, *triple) for triple in triples]
    slots.pack_into(out, places[2], *(result for result, _ in results))
    return functools.reduce(int.__or__, (flags for _, flags in results))


def slot_bytes(form):
    return 4 if form == FP32 else 1 if form in NARROW else 2


def operand_bytes(form, lanes):
    """Of x, and so of y and of z: filled up to an even number."""
    size = lanes * slot_bytes(form)
    return size + size % 2


def calc_lane(sets, form, op, x, y, z):
    if form == FP32:
        return calc_fp32(op, x, y)
    if form in NARROW and op in EXTENDED:
        number_format = sets[form].format if form in sets else NarrowFormat(form)
        return number_format.extended(op, x, y, z)
    if form in NARROW:
        return sets[form].result(op, x, y)
    return calc_extended(form, op, x, y, z) if op in EXTENDED else calc(sets[form], op, x, y)


def update_checksum(out, layout, before):
    """Brings the UDP checksum up to date with a changed payload, as RFC 1624 has it."""
    at = layout.udp + 6
    checksum = u16(out, at)
    if checksum == 0 and layout.ip_version == 4:
        return
    total = ~checksum & 0xFFFF
    total += word_sum(out[layout.payload:layout.end]) - word_sum(before)
    # Python's % is never negative; 0 and 0xFFFF are the same number, sent as 0xFFFF.
    struct.pack_into('>H', out, at, (-total) % 0xFFFF or 0xFFFF)


def word_sum(data):
    """The plain sum of the 16-bit words of data, an odd last byte padded with zero."""
    data = bytes(data) + b'\0' * (len(data) % 2)
    return sum(struct.unpack(f'>{len(data) // 2}H', data))


def reflect(out, layout):
    """Sends a frame back: MAC addresses, IP addresses and UDP ports change places."""
    if len(out) >= 12:
        swap(out, 0, 6)
    if layout.ip_version == 4:
        swap(out, layout.ip + 12, 4)
    elif layout.ip_version == 6:
        swap(out, layout.ip + 8, 16)
    if layout.udp is not None:
        swap(out, layout.udp, 2)


def swap(out, at, size):
    """Swaps two neighbouring fields of `size` bytes, the first at `at`."""
    out[at:at + 2 * size] = out[at + size:at + 2 * size] + out[at:at + size]


def u16(data, at):
    return data[at] << 8 | data[at + 1]
