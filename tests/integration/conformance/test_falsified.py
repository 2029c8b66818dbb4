# SPDX-License-Identifier: BSD-3-Clause
"""The kit checked itself: a wire that falsifies one thing at a time, and the check that finds it.

With nothing falsified, all of these checks pass; a check that cannot fail would be found by its line.
"""

import itertools
import struct
import time

import numpy as np
import pytest

import hosts
import sanitized
from falsifier import Datagram, Falsifier, parse
from hosts import SWITCH_IP, SWITCH_IP6
from netfc import aggregation, protocol
from netfc.conformance import wire as wire_of_kit
from netfc.conformance.catalogue import CHECKS
from netfc.conformance.check import Verdict, carried_out
from netfc.conformance.kit import Kit, Settings
from netfc.conformance.link import Limits

import namespaces

TABLES = ('fp16_exact', 'posit16_exact', 'bf16_exact', 'fp32_exact', 'fp8_e4m3_exact')
FUNCTIONS = 'sqrt,exp,to_bf16,to_int16,from_q8'
OPTIONS = ['--tables', ','.join(TABLES), '--functions', FUNCTIONS, '--aggregate=digits=all',
           '--address', f'{SWITCH_IP}/24', '--address', f'{SWITCH_IP6}/64']
BY_NUMBER = {check.number: check for check in CHECKS}
REPLY, AGGREGATION, HEADER = 0x80, 7, 24
REASON = {name: number for number, name in aggregation.REASONS.items()}
JOIN, LEAVE = 32, 40

pytestmark = [hosts.needs_namespaces, sanitized.without_sanitizers]


# ---- what is falsified -----------------------------------------------------------------------


def replies(change, **fields):
    """Changes payloads from the switch. fields: what they have: op, form, code, port, reason."""
    def lie(datagram):
        payload = datagram.payload
        if not datagram.from_switch or len(payload) < 6 or not payload[5] & REPLY:
            return None
        has = {'op': payload[3], 'form': payload[4], 'code': payload[5] >> 4 & 7, 'port': datagram.port,
               'reason': payload[15] if len(payload) > 15 else None, 'size': len(payload)}
        if all(has[name] == value for name, value in fields.items()):
            return change(payload)
        return None

    return lie


def lanes(op, form, change):
    """Changes results. change: of x, y, z as arrays, and flags; it changes z, or gives other flags."""
    def on_payload(payload):
        count = int.from_bytes(payload[6:8], 'big')
        kind = np.dtype(f'>u{protocol.slot_bytes(form, op)}')
        size = protocol.operand_bytes(form, count, op)
        x, y, z = (np.frombuffer(bytes(payload), kind, count, 12 + size * at).astype(np.int64)
                   for at in range(3))
        flags = change(x, y, z, payload[5] & 15)
        if flags is not None:
            payload[5] = payload[5] & 0xF0 | flags
        made = (z & (1 << 8 * kind.itemsize) - 1).astype(kind).tobytes()
        payload[12 + 2 * size:12 + 2 * size + len(made)] = made

    return replies(on_payload, op=op, form=form, code=0)


def where(condition, become):
    """Results of the lanes in which a condition of x, y and z holds are something else."""
    def change(x, y, z, _):
        hit = condition(x, y, z)
        z[hit] = become(z)[hit] if callable(become) else become

    return change


def one_pair(x, y):
    """One lane of a hundred thousand has its last bit wrong."""
    return where(lambda a, b, _: (a == x) & (b == y), lambda z: z ^ 1)


def some(x, _, z):
    """A lane in sixteen."""
    return (x ^ z) & 15 == 5


def flags_without(flag):
    return lambda x, y, z, flags: flags & ~flag


def byte(at, value, **fields):
    """Another byte; value: what it becomes, or a function of what it was."""
    def change(payload):
        if len(payload) > at:
            payload[at] = value(payload[at]) if callable(value) else value

    return replies(change, **fields)


def reason(before, after, op=None):
    """Another reason."""
    fields = {'code': AGGREGATION, 'reason': REASON[before]} | ({} if op is None else {'op': op})
    return byte(15, REASON[after], **fields)


def granted(at, form, change, **fields):
    """Another number in the reply to a join."""
    def on_payload(payload):
        size = struct.calcsize(form)
        value = int.from_bytes(payload[at:at + size], 'big')
        payload[at:at + size] = change(value).to_bytes(size, 'big')

    return replies(on_payload, op=JOIN, **fields)


def requests(change, **fields):
    """What goes to the switch: a function of the datagram. fields: as of replies(), but of requests."""
    def lie(datagram):
        if datagram.from_switch or datagram.port not in (20038, *range(20040, 20050)):
            return None
        has = {'op': datagram.payload[3] if len(datagram.payload) > 3 else None, 'port': datagram.port}
        return change(datagram) if all(has[name] == value for name, value in fields.items()) else None

    return lie


def dropped_if(condition):
    return requests(lambda datagram: [] if condition(datagram) else None)


def frame(change):
    """Changes the reply to a frame that the kit has made, after everything else is right."""
    def lie(datagram):
        if not datagram.from_switch or datagram.port != 20038 or is_of_kernel(datagram):
            return None
        made = bytearray(datagram.bytes())
        made = change(made, datagram) or made
        return [Datagram(bytearray(made), 0, 0, bytearray(), True, fix=False)]

    return lie


def is_of_kernel(datagram):
    """Which does not want its datagrams fragmented, and gives those over IPv6 a flow."""
    at = datagram.ip
    if datagram.frame[at] >> 4 == 4:
        return datagram.frame[at + 6] & 0x40
    return any(datagram.frame[at + 1:at + 4])


def flipped(offset):
    """A bit of the frame is another, at an offset from UDP's header."""
    def change(made, datagram):
        made[datagram.udp + offset] ^= 1

    return frame(change)


def untagged(made, datagram):
    if datagram.ip > 14:
        return made[:12] + made[16:]
    return None


def other_ffff(made, datagram):
    at = datagram.udp + 6
    if made[at:at + 2] == b'\xff\xff':
        made[at:at + 2] = b'\0\1'


def unfragmented(datagram):
    if datagram.ip == 14 and datagram.frame[12:14] == b'\x08\x00':
        datagram.frame[20:22] = bytes(2)


def less_tagged(datagram):
    """Three VLAN tags become two."""
    if datagram.ip == 14 + 12:
        frame_ = bytes(datagram.frame[:12] + datagram.frame[16:])
        return [parse(frame_, False)]
    return None


def reflected(datagram, change):
    """A payload that comes back from the wire itself, changed."""
    made = bytearray(datagram.bytes())
    ip, udp = datagram.ip, datagram.udp
    made[0:6], made[6:12] = made[6:12], made[0:6]
    made[ip + 12:ip + 16], made[ip + 16:ip + 20] = made[ip + 16:ip + 20], made[ip + 12:ip + 16]
    made[udp:udp + 2], made[udp + 2:udp + 4] = made[udp + 2:udp + 4], made[udp:udp + 2]
    back = parse(bytes(made), True)
    change(back.payload)
    return back


class Both:
    """What the wire sends both ways for a datagram from the host: one on, and one back at once."""

    def __init__(self, condition, change):
        self.condition, self.change, self.back = condition, change, None

    def __call__(self, datagram):
        if datagram.from_switch or not self.condition(datagram):
            return None
        self.back(reflected(datagram, self.change).bytes())
        return [] if datagram.port == 20038 else None


def wrong_magic(datagram):
    return datagram.port == 20038 and datagram.payload[:2] not in (b'NF', b'')


def is_stray_reply(datagram):
    return datagram.port == 20038 and len(datagram.payload) > 5 and datagram.payload[5] & REPLY


def change_z(payload):
    """As a switch would that computes it."""
    payload[5] |= REPLY
    payload[-1] ^= 1


def computed_anyway(frame_):
    """A frame whose headers say that it has no request comes back as if it had one."""
    at = frame_.find(b'NF\1\1')
    if at < 0 or wire_of_kit.parse(frame_) is not None:
        return None
    made = bytearray(frame_)
    made[0:6], made[6:12] = made[6:12], made[0:6]
    made[at + 5] |= REPLY
    made[-1] ^= 1
    return bytes(made)


def barrier_at_once(payload):
    payload[5] = REPLY
    payload[15] = 2


def results(form, change, op=33):
    """Changes the values of results."""
    def on_payload(payload):
        if len(payload) > HEADER:
            change(payload)

    return replies(on_payload, op=op, form=form, code=0)


def last_bit(payload):
    payload[-1] ^= 1


def two_more_bytes(payload):
    """Where there is room for them."""
    if len(payload) < 100:
        payload += bytes(2)


def first_sign(payload):
    payload[HEADER] ^= 0x80


def no_flags(payload):
    payload[5] &= 0xF0


def one_more_flag(payload):
    payload[5] ^= 1


def of_worker(number, change):
    def on_payload(payload):
        if payload[14] == number:
            change(payload)

    return on_payload


def one_and_a_half(payload):
    """1 + 1, one of them twice: 3."""
    if payload[HEADER:HEADER + 4] == bytes.fromhex('40000000'):
        payload[HEADER:HEADER + 4] = bytes.fromhex('40400000')


def of_chunk(number, change):
    def on_payload(payload):
        if int.from_bytes(payload[8:12], 'big') == number:
            change(payload)

    return on_payload


def values_in_acknowledgements(payload):
    if payload[15] == 2:
        payload += bytes.fromhex('40400000')


def accepted_label(payload):
    payload[5], payload[15] = REPLY, 2


def one_lane_lost(payload):
    """A zero has taken the place of what another worker sent."""
    if payload[15] == 0:
        payload[HEADER:HEADER + 4] = bytes(4)


def values_for_zeros(payload):
    """As a switch would answer that promises zeros and sends them."""
    if payload[15] == 3:
        payload[15] = 0
        payload += bytes(4 * int.from_bytes(payload[6:8], 'big'))


def zeros_for_all(payload):
    """Whoever has asked for them."""
    if payload[15] == 0 and not any(payload[HEADER:]):
        payload[15] = 3
        del payload[HEADER:]


def session_that_changes():
    """Each reply has another one."""
    drawn = itertools.count(1)
    return granted(32, 'Q', lambda session: session ^ next(drawn), code=0)


FP16, POSIT16, BF16, ES2, FP32, E4M3 = 1, 2, 3, 4, 5, 8
NAN16, NAN8 = 0x7E00, 0x7F
ARITHMETIC = {
    'a NaN with a payload': (1011, lanes(1, FP16, where(lambda x, y, z: z == NAN16, NAN16 + 1))),
    '-0 - 0 is +0': (1012, lanes(2, FP16, where(lambda x, y, z: z == 0x8000, 0))),
    'subnormal products are flushed': (1013, lanes(3, FP16, where(lambda x, y, z: z & 0x7C00 == 0, 0))),
    'x / 0 is invalid': (1014, lanes(4, FP16, lambda x, y, z, flags: 1 if flags & 2 else flags)),
    'no division by zero': (1034, lanes(4, BF16, flags_without(2))),
    'no overflow': (1033, lanes(3, BF16, flags_without(4))),
    'an overflow too many': (1031, lanes(1, BF16, lambda x, y, z, flags: flags | 4)),
    'no underflow': (1053, lanes(3, FP32, flags_without(8))),
    'ties away from even': (1051, lanes(1, FP32, where(some, lambda z: z + 1))),
    'differences of fp32 have another sign': (1052, lanes(2, FP32, where(
        lambda x, y, z: (x == y) & (z == 0), 0x80000000))),
    'one lane of 10^5': (1083, lanes(3, E4M3, one_pair(0x3A, 0x41))),
    'another lane of 10^5': (1081, lanes(1, E4M3, one_pair(0x01, 0xFF))),
    'too large is the greatest': (1084, lanes(4, E4M3, where(
        lambda x, y, z: (z == NAN8) & (x & 0x7F != NAN8) & (y & 0x7F != NAN8), 0x7E))),
    'the least of 0 and -0': (1085, lanes(5, E4M3, where(
        lambda x, y, z: (x | y == 0x80) & (z == 0x80), 0))),
    'the greatest of NaN': (1086, lanes(6, E4M3, where(lambda x, y, z: z == NAN8, 0))),
    'NaN is alike': (1087, lanes(7, E4M3, where(lambda x, y, z: z == NAN8, 0))),
    'fma rounds twice': (1018, lanes(8, FP16, where(some, lambda z: z ^ 1))),
    'NaR and a number': (1021, lanes(1, POSIT16, where(lambda x, y, z: z == 0x8000, 0))),
    'posits overflow': (1023, lanes(3, POSIT16, lambda x, y, z, flags: flags | 4)),
    'posits divided by zero': (1024, lanes(4, POSIT16, flags_without(2))),
    'the last lane of many': (1101, lanes(1, FP16, lambda x, y, z, flags: z.__setitem__(
        -1, z[-1] if len(z) < 200 else z[-1] ^ 1))),
    'the last of odd lanes': (1108, lanes(1, E4M3, lambda x, y, z, flags: z.__setitem__(
        -1, z[-1] ^ (len(z) & 1)))),
    'sqrt of negative numbers': (1270, lanes(70, FP16, where(lambda x, y, z: z == NAN16, 0))),
    'exp of large numbers': (1273, lanes(73, FP16, flags_without(4))),
    'conversions cut off': (1299, lanes(99, FP16, where(some, lambda z: z - 1))),
    'a function of a number that has none': (1400, byte(5, 0x80, op=195)),
    'integers wrap around': (1312, lanes(112, FP16, where(lambda x, y, z: z == 0x7FFF, 0x8000))),
    'fixed point is shifted': (1336, lanes(136, FP16, where(some, lambda z: z + 0x400))),
}
REQUESTS = {
    'version: another code': (2001, replies(lambda payload: payload.__setitem__(5, 0xA0), code=1)),
    'z is cleared with a code': (2001, replies(lambda payload: payload.__setitem__(-1, 0x77), code=1)),
    'flags with a code': (2002, replies(lambda payload: payload.__setitem__(5, payload[5] | 8), code=2)),
    'op: another code': (2002, replies(lambda payload: payload.__setitem__(5, 0xB0), code=2)),
    'functions that are not loaded: another code': (2003, replies(
        lambda payload: payload.__setitem__(5, 0xB0), code=2)),
    'format: another code': (2004, replies(lambda payload: payload.__setitem__(5, 0xA0), code=3)),
    'a set that is missing': (2005, replies(
        lambda payload: payload.__setitem__(5, 0xC0), code=3, form=9)),
    'no lanes are fine': (2006, replies(lambda payload: payload.__setitem__(5, 0x80), code=4)),
    'short: another code': (2007, replies(lambda payload: payload.__setitem__(5, 0xA0), code=4)),
    'precedence': (2008, replies(lambda payload: payload.__setitem__(5, 0xA0) if payload[3] == 0
                                 else None, code=1)),
    'too many lanes: another code': (2009, replies(lambda payload: payload.__setitem__(5, 0xC0)
                                                   if payload[6:8] > b'\0\x32' else None, op=1)),
    'what follows is cleared': (2010, replies(
        lambda payload: payload.__setitem__(-1, payload[-1] ^ 0xFF), code=0, form=FP16)),
    'statuses are obeyed': (2011, dropped_if(lambda datagram: len(datagram.payload) > 12
                                             and 0 < datagram.payload[5] < 0x80)),
    'ids': (2012, replies(lambda payload: payload.__setitem__(11, payload[11] ^ (
        1 if bytes(payload[8:11]) in (bytes(3), b'\0\xff\0', b'\xff' * 3) else 0)))),
    'padding is written': (2013, replies(lambda payload: payload.__setitem__(-1, 0)
                                         if payload[7] & 1 else None, code=0, form=E4M3)),
    'flags of the first lane': (2014, lanes(4, FP16, lambda x, y, z, flags: flags if y[0] == 0 else 0)),
    'other magic is computed': (2015, Both(wrong_magic, change_z)),
    'replies are computed': (2016, Both(is_stray_reply, change_z)),
    'names': (2017, replies(lambda payload: payload.__setitem__(12 + 33, payload[12 + 33] ^ 1),
                            op=192, code=0)),
    'queries': (2018, replies(lambda payload: payload.__setitem__(5, 0xC0), code=5)),
}
FRAMES = {
    'UDP checksum': (3001, flipped(6)),
    'a port': (3001, flipped(3)),
    'no checksum becomes a wrong one': (3002, frame(lambda made, datagram: made.__setitem__(
        slice(datagram.udp + 6, datagram.udp + 8), b'\x12\x34'))),
    'wrong checksums are mended': (3003, requests(lambda datagram: None)),
    'options': (3004, dropped_if(lambda datagram: datagram.udp - datagram.ip in (28, 40))),
    'a tag is taken off': (3005, frame(untagged)),
    'another VLAN': (3006, frame(lambda made, datagram: made.__setitem__(
        15, made[15] ^ (1 if datagram.ip > 14 else 0)))),
    'IP checksum': (3007, frame(lambda made, datagram: made.__setitem__(
        datagram.ip + 10, made[datagram.ip + 10] ^ 1))),
    'padded requests': (3008, dropped_if(lambda datagram: datagram.frame.endswith(b'\xee' * 9))),
    'FFFF is 0': (3009, frame(other_ffff)),
    'FFFF is 0 over IPv6': (3029, frame(other_ffff)),
    'three tags': (3011, requests(less_tagged)),
    'fragments': (3014, requests(unfragmented)),
    'UDP checksum over IPv6': (3021, flipped(6)),
    'what is no request comes back changed': (3016, Both(wrong_magic, change_z)),
    'wrong checksums over IPv6 are mended': (3023, requests(lambda datagram: None)),
    'a tag is taken off IPv6': (3025, frame(untagged)),
    'another VLAN over IPv6': (3026, frame(lambda made, datagram: made.__setitem__(
        15, made[15] ^ (1 if datagram.ip > 14 else 0)))),
    'padded requests over IPv6': (3028, dropped_if(lambda datagram: datagram.frame.endswith(b'\xee' * 9))),
}
JOINS = {
    'a reason that there is not': (4001, byte(15, 40, op=JOIN, code=AGGREGATION)),
    'no cookie is asked for': (4002, reason('cookie', 'waiting')),
    'cookies are not those of a worker': (4003, replies(of_worker(1, lambda payload: payload.__setitem__(
        15, 2)), op=JOIN, code=AGGREGATION, reason=REASON['cookie'])),
    'granted, though one is missing': (4004, replies(lambda payload: payload.__setitem__(5, 0x80),
                                                     op=JOIN, code=AGGREGATION, reason=2)),
    'slots of no power of two': (4005, granted(26, 'H', lambda slots: slots - 1, code=0)),
    'more bytes than asked for': (4005, granted(28, 'H', lambda most: most + 8, code=0)),
    'workers differ': (4005, replies(of_worker(1, lambda payload: payload.__setitem__(25, 7)),
                                     op=JOIN, code=0)),
    'another session': (4006, session_that_changes()),
    'short joins': (4007, replies(lambda payload: payload.__setitem__(5, 0xA0), op=JOIN, code=4)),
    'numbers of workers': (4008, reason('mismatch', 'full')),
    'bytes': (4009, granted(28, 'H', lambda most: most + 100, code=0)),
    'tokens': (4010, reason('taken', 'full')),
    'incarnations: nobody is told why': (4011, replies(lambda payload: payload.__setitem__(
        HEADER + 1, 9) if payload[15] >= 64 and len(payload) > HEADER + 1 else None, code=AGGREGATION)),
    'incarnations': (4011, reason('taken', 'waiting')),
    'leaves from other ports': (4012, reason('taken', 'no-job', LEAVE)),
    'who has left': (4013, replies(lambda payload: payload.__setitem__(HEADER, 0) if payload[15] >= 64
                                   else None, code=AGGREGATION)),
    'why a worker failed': (4014, replies(lambda payload: payload.__setitem__(
        HEADER + 1, payload[HEADER + 1] ^ 1) if payload[15] >= 64 else None, code=AGGREGATION)),
    'ended jobs': (4015, reason('no-job', 'window')),
    'places': (4016, reason('place', 'waiting')),
    'means in a tree': (4017, results(FP32, lambda payload: payload.__setitem__(HEADER, 0x3E), op=34)),
}
CHUNKS = {
    'more bytes than were sent': (4101, results(FP32, two_more_bytes)),
    'the last value': (4101, results(FP32, last_bit)),
    'a repeat is added': (4102, results(FP32, one_and_a_half)),
    'windows': (4103, reason('window', 'mismatch')),
    'late chunks': (4104, results(FP32, of_chunk(32, last_bit))),
    "one worker's results": (4105, results(FP32, of_worker(1, last_bit))),
    'ports of results': (4106, lambda datagram: datagram.frame.__setitem__(
        datagram.udp + 1, datagram.frame[datagram.udp + 1] ^ 1)
        if datagram.from_switch and datagram.payload[3:4] == b'\x21' else None),
    'headers of chunks': (4107, replies(lambda payload: payload.__setitem__(5, 0xA0), code=3)),
    'chunks that differ': (4108, reason('mismatch', 'no-job')),
    'counts that differ': (4108, replies(lambda payload: payload.__setitem__(15, 3) if payload[7] == 2
                                         else None, op=33, code=AGGREGATION, reason=4)),
    'sessions of chunks': (4109, reason('no-job', 'failed', 33)),
    'acknowledgements': (4110, replies(values_in_acknowledgements, op=33, code=0)),
    'copies': (4111, results(FP32, last_bit, op=37)),
    'barriers': (4112, Both(lambda datagram: datagram.port == 20040 and datagram.payload[3:4] == b'\x25',
                            barrier_at_once)),
    'zeros replace': (4115, replies(one_lane_lost, op=33, code=0)),
    'zeros with a payload': (4115, replies(accepted_label, op=33, code=4)),
    'zeros with their values': (4116, replies(values_for_zeros, op=33, code=0)),
    'zeros for all': (4116, replies(zeros_for_all, op=33, code=0)),
    'zeros without a kind': (4116, byte(15, lambda kind: 2 if kind == 3 else kind, op=33, code=0)),
    'labels': (4113, replies(accepted_label, op=37, code=AGGREGATION)),
    **{f'a rounding of {form}': (4200 + number, results(number, last_bit))
       for form, number in aggregation.FORMAT_IDS.items() if number < 16},
    'means': (4201, results(FP16, last_bit, op=34)),
    'least ones': (4205, results(FP32, first_sign, op=35)),
    'greatest ones': (4203, results(BF16, first_sign, op=36)),
    'no flags of sums': (4209, results(9, no_flags)),
    'a flag too many': (4207, results(7, one_more_flag)),
    **{f'digits of {form}': (4300 + number, results(number, last_bit, op=34))
       for form, number in aggregation.FORMAT_IDS.items() if number < 16},
    **{f'sums of {pair}': (4400 + 10 * (number & 15) + (number >> 4), results(number, last_bit))
       for pair, number in aggregation.FORMAT_IDS.items() if number > 16},
}
LIES = {**ARITHMETIC, **REQUESTS, **FRAMES, **JOINS, **CHUNKS}


# ---- the network -----------------------------------------------------------------------------


@pytest.fixture(name='network', scope='module')
def made_network(tmp_path_factory):
    """A host, the wire, and a switch at a TAP behind it. Yields the host and the wire."""
    with hosts.Namespace() as middle, hosts.Host(0) as host:
        namespaces.join(middle, 0, host, name='h{}')
        with hosts.LiveSwitch(tmp_path_factory.mktemp('switch'), ['net_tap0,iface=t0'], OPTIONS,
                              namespace=middle, memory=512) as live:
            live.wait_until_ready()
            with Falsifier(middle, 'h0', 't0') as wire:
                host.configure()
                yield host, wire
            live.stop()


def outcome(host, number):
    """What comes of a check."""
    with host.entered(), Kit(Settings((SWITCH_IP, SWITCH_IP6), tables=TABLES),
                             Limits(timeout=3.0)) as kit:
        kit.answers_requests = kit.answers_aggregation = True
        return carried_out(BY_NUMBER[number], kit, time.monotonic)


def test_there_are_sixty():
    assert len(LIES) >= 60 and {number for number, _ in LIES.values()} <= set(BY_NUMBER)


def test_nothing_is_falsified(network):
    """All of the checks below pass."""
    host, wire = network
    wire.lie = None
    found = {number: outcome(host, number) for number in sorted({number for number, _ in LIES.values()})}
    assert {number: each.detail for number, each in found.items() if each.verdict is not Verdict.PASSED
            } == {1400: "no function of a user's own is loaded", 2009: 'it computes any number of lanes',
                  2018: 'queries are off, and are answered with code 5',
                  3016: 'the switch keeps what is no request, or sends it elsewhere'}


@pytest.mark.parametrize('name', LIES)
def test_found(network, name):
    host, wire = network
    number, lie = LIES[name]
    if isinstance(lie, Both):
        lie.back = wire.ends[0].send
    wire.lie = lie
    try:
        found = outcome(host, number)
    finally:
        wire.lie = None
    assert found.verdict is Verdict.FAILED, (found.verdict, found.detail)


@pytest.mark.parametrize('number', [3012, 3013, 3015, 3032, 3034])
def test_headers_that_nobody_looks_at(network, number):
    """Lengths that lie, other protocols, extension headers: what comes back has them, too."""
    host, wire = network
    assert outcome(host, number).verdict is Verdict.PASSED
    wire.answer = computed_anyway
    try:
        found = outcome(host, number)
    finally:
        wire.answer = None
    assert found.verdict is Verdict.FAILED and 'computed, though with' in found.detail, found
