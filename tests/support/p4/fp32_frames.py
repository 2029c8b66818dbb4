# SPDX-License-Identifier: BSD-3-Clause
"""Requests with lanes of binary32."""

import struct

import frames
import oracle

NAME = 'fp32_exact'
FORMAT = 5
LANE_BYTES = 12
ONE, TWO, UNTOUCHED_Z = 0x3F800000, 0x40000000, 0xA5A5A5A5


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
