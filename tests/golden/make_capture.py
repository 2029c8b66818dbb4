#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes netfc.pcap: NetFC as it looks on the wire, for tests of what reads it.

Requests and the replies of a switch that reflects, in every format, operation and wrapping, with
every status, cut short in every way. Made of the test suite's own frames and its own idea of a
switch, not of what is tested with it. The same bytes in every run.
"""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
PATH = HERE / 'netfc.pcap'
sys.path.insert(0, str(HERE.parent / 'support'))

import frames  # noqa: E402
import oracle  # noqa: E402
from oracle import ADD, DIV, MUL, QUERY, SUB  # noqa: E402

SETS = oracle.table_sets('fp16_k1024', 'posit16_k512', 'bf16_k128')
ALL_SETS = oracle.table_sets(*'fp16_k1024 posit16_k512 bf16_k128 posit16_es2_k256'.split())
START = 1635724800  # seconds: the month the NetFC paper appeared
STEP_US, REPLY_US = 1000, 25
DESTINATION = [0x0A00], [0x0007]  # 10.0.0.7, in x and y

OPERANDS = {
    'fp16': ([0x3E00, 0xC248, 0x0001, 0x7BFF, 0x8000], [0x4080, 0x3555, 0x03FF, 0x0400, 0x0000]),
    'posit16': ([0x4800, 0xA920, 0x0001, 0x7FFF, 0x0000], [0x5100, 0x2AAB, 0xFFFF, 0x8001, 0x1234]),
    'bf16': ([0x3FC0, 0xC049, 0x0001, 0x7F7F, 0x8000], [0x4010, 0x3EAB, 0x007F, 0x0080, 0x0000]),
}
OPERANDS['posit16_es2'] = OPERANDS['posit16']


def plain(payload):
    return frames.carriers()['ipv4'](payload)


def reflected(frame):
    out = bytearray(frame)
    oracle.reflect(out, oracle.parse(frame))
    return bytes(out)


def answered(frame, sets=None):
    """A request and the reply of a switch that reflects."""
    return [frame, oracle.switch(frame, sets or ALL_SETS, forward='reflect')]


def replied(payload, status, changes=b'', at=0):
    """A request and a reply made by hand: status, and bytes from payload[at] on, replaced."""
    reply = frames.patched(frames.patched(payload, 5, bytes([status])), at, changes)
    return [plain(payload), reflected(plain(reply))]


def exchanges():
    """(name, frames) of everything in the capture; frames with one name follow closely."""
    yield from arithmetic()
    yield from special_values()
    yield from further()
    yield from errors()
    yield from wrappings()
    yield from cut_short()
    yield from queries()
    yield from oddities()
    yield from eights()


def arithmetic():
    for form in oracle.FORMATS.values():
        for op in oracle.OPERATIONS:
            payload = frames.request(op, form.number, *OPERANDS[form.name],
                                     identity=0x1000 * form.number + op)
            yield f'{form.name}, op {op}', answered(plain(payload))


def further():
    """Functions, and operations of two and three numbers."""
    for form in oracle.FORMATS.values():
        for op in oracle.EXTENDED:
            payload = frames.request(op, form.number, *OPERANDS[form.name], z=[0x1234] * 5)
            yield f'{form.name}, op {op}', answered(plain(payload))
    # rsqrt, to_bf16, to_posit16_es2, to_int16, to_q8, from_q15, of a user's own
    for op, x, z, flags in ((71, 0x4400, 0x3800, 0), (71, 0x8000, 0xFC00, 2), (99, 0x3E00, 0x3FC0, 0),
                            (100, 0x3E00, 0x4400, 0), (112, 0xC248, 0xFFFD, 0),
                            (120, 0x3E00, 0x0180, 0), (143, 0xC000, 0xB800, 0),
                            (193, 0x3E00, 0x4480, 0)):
        payload = frames.request(op, 1, [x], [0])
        yield f'function {op} of {x:04X}', replied(payload, 0x80 | flags, z.to_bytes(2, 'big'), 16)
    name = struct.unpack('>16H', b'softplus'.ljust(32, b'\0'))
    payload = frames.request(192, 1, name[:8], name[8:])
    yield 'name', replied(payload, 0x80, (193).to_bytes(2, 'big'), 44)
    yield 'unknown name', replied(payload, 0xA0)


def special_values():
    """Operands and flags that ordinary numbers do not bring about."""
    for form, inf, nan in ((1, 0x7C00, 0x7E00), (3, 0x7F80, 0x7FC0)):
        x = [inf, inf | 0x8000, nan, nan + 1, nan | 0x8000]
        yield f'specials, format {form}', answered(plain(frames.request(ADD, form, x, x[::-1])))
    yield 'NaR', answered(plain(frames.request(MUL, 2, [0x8000, 1, 0x7FFF], [1, 0, 0x7FFF])))
    single = {
        'overflow': (MUL, 0x7BFF, 0x7BFF),
        'underflow': (MUL, 0x0001, 0x0001),
        'division by zero': (DIV, 0x3C00, 0x8000),
        'invalid': (SUB, 0x7C00, 0x7C00),
    }
    for name, (op, x, y) in single.items():
        yield name, answered(plain(frames.request(op, 1, [x], [y])))
    x, y = [0x3C00, 0x0000, 0x7BFF, 0x0001], [0x0000, 0x0000, 0x0001, 0x7BFF]
    yield 'all flags', answered(plain(frames.request(DIV, 1, x, y)))


def errors():
    yield 'error version', answered(plain(frames.request(version=2)))
    yield 'error op', answered(plain(frames.request(op=9)))
    yield 'error format, unknown', answered(plain(frames.request(form=11)))
    yield 'error format, not loaded', answered(plain(frames.request(form=4)), SETS)
    yield 'error length, no lanes', answered(plain(frames.request(count=0)))
    yield 'error length, too short', answered(plain(frames.request(count=2)))
    yield 'error query', answered(plain(frames.request(QUERY, 1, *DESTINATION)))
    yield 'error lanes', replied(frames.lanes(9), 0xE0)
    yield 'error unknown', replied(frames.lanes(2), 0xF0)


def wrappings():
    carriers = frames.carriers()
    names = ('ipv6', 'ipv4, zero checksum', 'ipv4, 2 words of options', 'vlan 8100, ipv4',
             'vlan 88A8 8100, ipv6', 'ipv4, padded')
    for number, name in enumerate(names):
        payload = frames.lanes(3, form=1 + number % 4, identity=0x60 + number)
        yield name, answered(carriers[name](payload))
    yield 'largest in 1,500 bytes', answered(plain(frames.lanes(243, form=3, op=MUL)))
    yield 'bytes behind z', answered(plain(frames.lanes(2, tail=b'tail')))


def cut_short():
    for size in (6, 7, 8, 11):
        yield f'{size} bytes', answered(plain(frames.request()[:size]))
    for size in (12, 13, 16, 17, 20, 25, 29):
        yield f'{size} bytes of 30', answered(plain(frames.lanes(3)[:size]))
    yield 'count 65535', [plain(frames.lanes(2, count=0xFFFF))]


def queries():
    query = frames.request(QUERY, 1, *DESTINATION, identity=0x70, tail=bytes(12))
    z = struct.pack('>HIQ', 0x1B0A, 1729, 505000)  # 0.00344 as fp16; connections; bytes
    yield 'query', replied(query, 0x80, z, 16)
    yield 'query without counters', replied(query[:-12], 0x80, z[:2], 16)
    yield 'query for an unknown one', replied(query, 0x80, bytes(14), 16)
    yield 'query of three lanes', answered(plain(frames.lanes(3, op=QUERY)))


def oddities():
    request, reply = answered(plain(frames.lanes(2, identity=0x80)))
    yield 'sent twice, answered twice', [request, request, reply, reply]
    yield 'reply without request', [answered(plain(frames.lanes(2, identity=0x81)))[1]]
    passing = plain(frames.lanes(2, identity=0x82))
    yield 'forwarded to the other side', [passing, oracle.switch(passing, ALL_SETS)]
    yield 'request with flags set', [plain(frames.request(status=0x3F, identity=0x83))]
    yield 'not NetFC', [plain(b'not NetFC at all'), plain(b'NF\1\1\1')]


def eights():
    """Formats of 8 bits: every operation in an odd number of lanes, both ways to overflow, functions, an error."""
    x, y = [0x3C, 0xC2, 0x01, 0x7B, 0x80], [0x38, 0x45, 0x81, 0x7F, 0x00]
    for name in ('fp8_e4m3_exact', 'fp8_e5m2_exact', 'fp8_e4m3_sat', 'fp8_e5m2_sat'):
        sets = oracle.table_sets(name)
        (form,) = sets
        for op in (*oracle.OPERATIONS, *oracle.EXTENDED):
            payload = bytearray(frames.request(op, form, x, y, z=[0x34] * 5))
            payload[17] = payload[23] = payload[29] = 0  # what fills up
            yield f'{name}, op {op}', answered(plain(bytes(payload)), sets)
    yield 'fp8_e4m3, division by zero', answered(plain(frames.request(DIV, 8, [0x38] * 2, [0x80] * 2)),
                                                 oracle.table_sets('fp8_e4m3_exact'))
    # sqrt of 4, and of a user's own
    for op, z in ((70, 0x40), (193, 0x50)):
        payload = frames.request(op, 8, [0x48] * 2, [0] * 2)
        yield f'fp8_e4m3, function {op}', replied(payload, 0x80, bytes([z] * 2), 16)
    yield 'fp8_e5m2, not loaded', answered(plain(frames.lanes(4, form=9)))
    yield 'fp8_e4m3, largest in 1,500 bytes', answered(plain(frames.lanes(486, form=8, op=MUL)),
                                                       oracle.table_sets('fp8_e4m3_sat'))


def write_capture(path):
    """Write the capture; the last frame as a capture of too few bytes of it would."""
    records = [(STEP_US * number + REPLY_US * part, frame, len(frame))
               for number, (_, together) in enumerate(exchanges())
               for part, frame in enumerate(together)]
    last = plain(frames.lanes(5))
    records.append((records[-1][0] + STEP_US, last[:70], len(last)))
    with open(path, 'wb') as file:
        file.write(struct.pack('<IHHiIII', 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for time_us, data, length in records:
            stamp = START + time_us // 1000000, time_us % 1000000
            file.write(struct.pack('<IIII', *stamp, len(data), length) + data)


if __name__ == '__main__':
    write_capture(PATH)
