# SPDX-License-Identifier: BSD-3-Clause
"""Requests with lanes of binary32, and what a P4 program of that format replies."""

import struct
import subprocess

import numpy as np

import frames
import oracle
import switch

NAME = 'fp32_exact'
FORMAT = 5
LANE_BYTES = 12
OPERATIONS = {1: 'add', 2: 'sub', 3: 'mul', 4: 'div'}
ONE, TWO, UNTOUCHED_Z = 0x3F800000, 0x40000000, 0xA5A5A5A5


def library_results(op, x, y):
    """z and flags as libnetfc has them, in a process of its own: a build with sanitizers needs one."""
    lines = ''.join(f'{OPERATIONS[op]} {a:08x} {b:08x}\n' for a, b in zip(x, y))
    answers = subprocess.run([switch.TABLE_BUILDER, 'calc', '--stream', '--hex', NAME], input=lines,
                             capture_output=True, text=True, check=True).stdout.split()
    z, flags = ([int(word, 16) for word in answers[column::5]] for column in (3, 4))
    assert len(z) == len(x)
    return np.array(z), np.array(flags)


# ---- requests --------------------------------------------------------------------------------


def request(op=oracle.ADD, x=(ONE,), y=(TWO,), *, count=None, tail=b'', **fields):
    """A NetFC payload with lanes of 32 bits; fields as frames.request() has them."""
    slots = struct.pack(f'>{3 * len(x)}I', *x, *y, *[UNTOUCHED_Z] * len(x))
    return frames.request(op, FORMAT, [], [], count=len(x) if count is None else count,
                          tail=slots + tail, **fields)


def bulk(op, pairs, lanes):
    """Requests of 1 to `lanes` lanes in turn for all pairs (x, y)."""
    made, at = [], 0
    while at < len(pairs):
        x, y = zip(*pairs[at:at + 1 + len(made) % lanes])
        made.append(frames.plain_frame(request(op, x, y, identity=len(made))))
        at += len(x)
    return made


def payloads():
    """Good and bad requests: name -> bytes."""
    made = {f'op {op}': request(op) for op in (0, *oracle.OPERATIONS, 16, 255)}
    made.update({f'count {count} for one lane': request(count=count) for count in (
        0, 2, 3, 0x7FF, 0x800, 0xFFF, 0x1000, 0x2AAB, 0x4000, 0x5556, 0x8000, 0xAAAB, 0xFFFF)})
    made.update({f'{size} bytes of a request': request()[:size] for size in range(24)})
    made.update({f'{fill} bytes over': request(tail=bytes(fill)) for fill in (1, 2, 3, 12)})
    made.update({f'{lanes} lanes': request(x=[ONE] * lanes, y=[TWO] * lanes)
                 for lanes in (2, 3, 8, 9, 64, 121)})
    made['as many bytes as lanes of 16 bits'] = request(x=[ONE] * 2, y=[TWO] * 2, count=4)
    made['version before length'] = request(version=2, count=0)
    made['a reply'] = request(status=0x80)
    made['another magic'] = request(magic=0x464E)
    return made


def zoo():
    """These in every carrier, and the frames of other formats: a list of (name, frame)."""
    made = [(f'{carrier}: {name}', wrap(payload)) for carrier, wrap in frames.carriers().items()
            for name, payload in payloads().items()]
    return made + frames.zoo()


# ---- replies ---------------------------------------------------------------------------------


def replies(sent, lanes):
    """What a program of all four operations and that many lanes makes of frames."""
    out = [bytearray(frame) for frame in sent]
    jobs = {op: [] for op in OPERATIONS}
    for frame in out:
        layout = oracle.parse(frame)
        if not is_request(frame, layout):
            continue
        error = error_of(frame, layout, lanes)
        if error == 0:
            jobs[frame[layout.payload + 3]].append((frame, layout))
        else:
            before = bytes(frame[layout.payload:layout.end])
            frame[layout.payload + 5] = oracle.REPLY_BIT | error << 4
            oracle.update_checksum(frame, layout, before)
    for op, chosen in jobs.items():
        compute(op, chosen)
    return [bytes(frame) for frame in out]


def is_request(frame, layout):
    """Whether there is a request that is answered."""
    if layout.udp is None or oracle.u16(frame, layout.udp + 2) != oracle.UDP_PORT:
        return False
    start = layout.payload
    return layout.end - start >= 6 and oracle.u16(frame, start) == oracle.MAGIC and \
        not frame[start + 5] & oracle.REPLY_BIT


def error_of(frame, layout, lanes):
    """The error code of a request, 0 for none."""
    start, length = layout.payload, layout.end - layout.payload
    _, version, op, form = struct.unpack_from('>HBBB', frame, start)
    if version != oracle.VERSION:
        return oracle.ERRORS.index('version')
    if op not in OPERATIONS and op != oracle.QUERY:
        return oracle.ERRORS.index('op')
    if form != FORMAT or op == oracle.QUERY:
        return oracle.ERRORS.index('format')
    count = oracle.u16(frame, start + 6) if length >= 8 else 0
    if count == 0 or length < oracle.HEADER_BYTES + LANE_BYTES * count:
        return oracle.ERRORS.index('length')
    return oracle.ERRORS.index('lanes') if count > lanes else 0


def compute(op, requests):
    """Answers all requests of an operation, (frame, layout) each, in place."""
    operands = []
    for frame, layout in requests:
        count = oracle.u16(frame, layout.payload + 6)
        slots = struct.unpack_from(f'>{2 * count}I', frame, layout.payload + oracle.HEADER_BYTES)
        operands.append((slots[:count], slots[count:]))
    z, flags = library_results(op, *([word for pair in operands for word in pair[side]]
                                     for side in (0, 1)))
    at = 0
    for (frame, layout), (x, _) in zip(requests, operands):
        start, end = layout.payload, at + len(x)
        before = bytes(frame[start:layout.end])
        struct.pack_into(f'>{len(x)}I', frame, start + oracle.HEADER_BYTES + 8 * len(x),
                         *z[at:end].tolist())
        frame[start + 5] = oracle.REPLY_BIT | int(np.bitwise_or.reduce(flags[at:end]))
        oracle.update_checksum(frame, layout, before)
        at = end
