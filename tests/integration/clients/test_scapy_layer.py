# SPDX-License-Identifier: BSD-3-Clause
"""The scapy layer: the golden capture, building, printing, matching requests and replies."""

import itertools
import socket

import numpy as np
import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.supersocket import StreamSocket

import frames
import make_capture
import oracle
import switch
from fake_switch import FakeSwitch, with_status, with_z

import netfc
from netfc.scapy import NetFC, NetFCStart, QueryCounters, numbers, query, query_destination, request

GOLDEN = list(make_capture.exchanges())
FRAMES = [frame for _, together in GOLDEN for frame in together]
ONE_PLUS_TWO = bytes.fromhex('4e46010101000001000000073c0040000000')
THREE = bytes.fromhex('4e46010101800001000000073c0040004200')


# ---- the golden capture ----------------------------------------------------------------------


def test_the_capture_is_what_its_maker_makes(tmp_path):
    make_capture.write_capture(tmp_path / 'new.pcap')
    assert (tmp_path / 'new.pcap').read_bytes() == make_capture.PATH.read_bytes(), (
        'run tests/golden/make_capture.py, and look at what has changed')


def expected_fields(payload):
    """What a payload has for each field, worked out by hand; absent ones are left out."""
    status = payload[5]
    fields = {
        'magic': oracle.u16(payload, 0), 'version': payload[2], 'op': payload[3],
        'format': payload[4], 'reply': status >> 7, 'code': status >> 4 & 7, 'flags': status & 15,
    }
    if len(payload) < 12:
        return fields
    count = oracle.u16(payload, 6)
    fields = {**fields, 'count': count, 'id': int.from_bytes(payload[8:12], 'big')}
    if payload[4] in oracle.NARROW:
        size = count + count % 2
        return {**fields, **{name: list(payload[12 + part * size:][:count]) for part, name in enumerate('xyz')}}
    slots = [oracle.u16(payload, at) for at in range(12, len(payload) - 1, 2)]
    return {**fields, 'x': slots[:count], 'y': slots[count:2 * count], 'z': slots[2 * count:3 * count]}


def payload_of(frame):
    layout = oracle.parse(frame)
    return frame[layout.payload:layout.end]


def test_every_field_of_the_capture():
    seen = 0
    for frame in FRAMES:
        payload, packet = payload_of(frame), Ether(frame)
        if payload[:2] != b'NF' or len(payload) < 6:
            assert NetFC not in packet and NetFCStart not in packet
            continue
        layer = packet[NetFC] if len(payload) >= 12 else packet[NetFCStart]
        expected = expected_fields(payload)
        assert {name: getattr(layer, name) for name in expected} == expected
        seen += 1
    assert seen > 100


def test_capture_is_built_again():
    """Dissected, taken apart into fields, and built from them, every frame is what it was."""
    for frame in FRAMES:
        packet = Ether(frame)
        for layer in packet.iterpayloads():
            layer.raw_packet_cache = None
        assert bytes(packet) == frame


def test_capture_covers_everything():
    payloads = [payload_of(frame) for frame in FRAMES]
    replies = {payload[5] for payload in payloads if len(payload) > 5 and payload[5] & 0x80}
    assert {status >> 4 & 7 for status in replies} == set(range(8))
    assert {status & 15 for status in replies} >= {0, 1, 2, 4, 8, 15}
    every = set(itertools.product(oracle.OPERATIONS, oracle.FORMATS)) | {(oracle.QUERY, 1)}
    assert {tuple(payload[3:5]) for payload in payloads} >= every


def test_replies_of_the_capture_answer_their_requests():
    for name, together in GOLDEN:
        packets = [Ether(frame) for frame in together]
        if len(together) != 2 or NetFC not in packets[0]:
            continue
        asked, reply = packets
        assert asked[NetFC].hashret() == reply[NetFC].hashret(), name
        assert reply[NetFC].answers(asked[NetFC]), name
        assert not asked[NetFC].answers(reply[NetFC]), name
        if name != 'forwarded to the other side':
            assert reply[IP if IP in reply else IPv6].answers(asked[IP if IP in asked else IPv6])


# ---- building --------------------------------------------------------------------------------


def test_request():
    assert bytes(request('add', 'fp16', 1, 2, id=7)) == ONE_PLUS_TWO
    assert bytes(NetFC(x=[0x3C00], y=[0x4000], id=7)) == ONE_PLUS_TWO
    packet = request('div', 'posit16', [1.5, -3], [2, 4])
    assert bytes(packet) == frames.request(
        oracle.DIV, 2, [0x4800, 0xA800], [0x5000, 0x6000], identity=0).replace(b'\xA5', b'\0')
    with pytest.raises(ValueError, match='x has 2 lanes, y has 1'):
        request('add', 'fp16', [1, 2], [1])
    with pytest.raises(ValueError, match='no number format .fp64.: there are fp16'):
        request('add', 'fp64', 1, 1)


def test_lanes_of_32_bits():
    packet = request('div', 'fp32', [1, 2], [3, -4.5], id=7)
    payload = bytes(packet)
    assert payload == frames.request(
        oracle.DIV, oracle.FP32, [0x3F800000, 0x40000000], [0x40400000, 0xC0900000], identity=7,
        z=[0, 0])
    again = NetFC(payload + b'ab')
    assert again.count == 2 and again.y == [0x40400000, 0xC0900000] and again.z == [0, 0]
    assert bytes(again[Raw]) == b'ab'
    assert numbers(again, 'y').tolist() == [3, -4.5] and numbers(again, 'y').dtype == np.float32
    assert '-4.5 (0xc0900000)' in again.show(dump=True)
    assert again.mysummary() == 'NetFC fp32 div, 2 lanes, request'
    cut = NetFC(payload[:-6])
    assert (len(cut.x), len(cut.y), len(cut.z)) == (2, 2, 0)
    assert bytes(NetFC(format=5)) == bytes.fromhex('4e460101050000010000000000000000') + bytes(8)


def test_what_stands_above_an_encoding_is_not_read():
    """Slots of a conversion that are wider than its argument, or its result."""
    packet = NetFC(NetFC(op=101, format=1, x=[0xABCD3E00], y=[0xFFFFFFFF], z=[0x3FC00000]).build())
    assert numbers(packet, 'x') == [1.5] and numbers(packet, 'z') == [1.5]
    assert '1.5 (0xabcd3e00)' in packet.show(dump=True)
    packet = NetFC(NetFC(op=104, format=1, x=[0x3E00], z=[0x663C]).build())
    assert numbers(packet, 'z') == [1.5]
    assert '1.5 (0x663c)' in packet.show(dump=True)


def test_one_lane_is_the_default():
    assert bytes(NetFC()) == bytes.fromhex('4e460101010000010000000000000000') + bytes(2)
    assert NetFC(bytes(NetFC())).x == [0]
    assert len(NetFC(x=[1, 2, 3])) == 12 + 18
    assert NetFC(bytes(NetFC(x=[1, 2, 3]))).z == [0, 0, 0]


def test_on_udp():
    packet = IP(bytes(IP(dst='10.0.0.2') / UDP() / request('add', 'fp16', 1, 2)))
    assert packet[UDP].dport == 20038 and packet[UDP].sport != 53
    assert packet[NetFC].count == 1
    reply = IP(bytes(IP() / UDP(sport=20038, dport=packet[UDP].sport) / Raw(THREE)))
    assert reply[NetFC].z == [0x4200]


def test_mistakes_can_be_built():
    packet = NetFC(bytes(NetFC(version=7, op=9, format=11, count=5, x=[1], y=[], z=[])))
    assert (packet.version, packet.op, packet.format, packet.count) == (7, 9, 11, 5)
    assert (packet.x, packet.y, packet.z) == ([1], [], [])


def test_query():
    packet = NetFC(bytes(query('10.0.0.7', id=9)))
    assert (packet.op, packet.count, packet.x, packet.y) == (16, 1, [0x0A00], [0x0007])
    assert query_destination(packet) == '10.0.0.7'
    assert len(packet) == 12 + 6 + 12
    reply = NetFC(bytes(packet)[:16] + bytes.fromhex('1b0a 000006c1 000000000007b4a8'))
    assert (reply[QueryCounters].connections, reply[QueryCounters].bytes) == (1729, 505000)
    assert QueryCounters not in NetFC(bytes(packet)[:18])


# ---- printing --------------------------------------------------------------------------------


def test_show():
    shown = NetFC(bytes(request('add', 'fp16', [1.5, -np.inf], [2.25, np.nan]))).show(dump=True)
    assert 'x         = [1.5 (0x3e00), -inf (0xfc00)]' in shown
    assert 'y         = [2.25 (0x4080), NaN (0x7e00)]' in shown
    assert 'op        = add' in shown and 'format    = fp16' in shown
    shown = NetFC(op=9, format=11, x=[5]).show(dump=True)
    assert 'x         = [0x0005]' in shown and 'z         = [0x0000]' in shown
    shown = NetFC(reply=1, code='format', format='posit16', x=[0x8000]).show(dump=True)
    assert 'NaR (0x8000)' in shown and 'code      = format' in shown


def test_show_of_a_query():
    shown = NetFC(bytes(query('10.0.0.7'))).show(dump=True)
    assert 'x         = [0x0a00]' in shown and 'z         = [0 (0x0000)]' in shown
    assert 'connections= 0' in shown


@pytest.mark.parametrize('packet, summary', [
    (NetFC(), 'NetFC fp16 add, 1 lane, request'),
    (NetFC(op='mul', format='bf16', x=[1] * 3, reply=1), 'NetFC bf16 mul, 3 lanes, reply'),
    (NetFC(reply=1, flags='overflow+divbyzero'),
     'NetFC fp16 add, 1 lane, reply: division by zero, overflow'),
    (NetFC(reply=1, code='lanes'), 'NetFC fp16 add, 1 lane, reply: error lanes'),
])
def test_summary(packet, summary):
    assert packet.summary() == summary
    assert (IP() / UDP() / packet).summary().endswith(summary)


def test_numbers():
    packet = request('add', 'posit16_es2', [1.5, 3], [0, -2])
    assert numbers(packet, 'x').tolist() == [1.5, 3]
    assert numbers(packet, 'y').tolist() == [0, -2]


@pytest.mark.parametrize('name', netfc.FORMATS)
def test_every_encoding_is_shown_as_its_number(name):
    number_format = netfc.FORMATS[name]
    bits = list(range(0, 0x10000, 257)) + [0x7FFF, 0x8000, 0x8001]
    shown = NetFC(format=name, x=bits).get_field('x').i2repr(NetFC(format=name), bits)
    assert shown == '[' + ', '.join(f'{number_format.text(b)} (0x{b:04x})' for b in bits) + ']'


# ---- sending and receiving -------------------------------------------------------------------


def test_answers():
    asked, reply = NetFC(ONE_PLUS_TWO), NetFC(THREE)
    assert reply.answers(asked)
    for change in ({'id': 8}, {'op': 2}, {'format': 2}, {'version': 2}, {'reply': 0}):
        other = NetFC(THREE)
        for name, value in change.items():
            setattr(other, name, value)
        assert not other.answers(asked), change
    assert not reply.answers(reply) and not reply.answers(Raw(ONE_PLUS_TWO))


def test_send_and_receive():
    """sr() finds the reply to each request, in whatever order they come."""
    held = []

    def mangle(asked, _):
        held.append(with_z(with_status(asked), [0x4200]))
        return held[::-1] if len(held) == 3 else []

    with FakeSwitch({}, mangle) as server, socket.socket(type=socket.SOCK_DGRAM) as plain:
        plain.connect((server.address, server.port))
        asked = [request('add', 'fp16', 1, 2, id=number) for number in (5, 6, 7)]
        answered, unanswered = StreamSocket(plain, NetFC).sr(asked, timeout=5, verbose=False)
    assert len(unanswered) == 0
    assert sorted(reply.id for _, reply in answered) == [5, 6, 7]
    assert all(sent.id == reply.id and reply.z == [0x4200] for sent, reply in answered)


def test_the_switch_takes_what_it_builds():
    """Requests from scapy through the running switch."""
    requests = [request(op, 'fp16', [1.5, -3.25], [2.25, 0.5], id=number)
                for number, op in enumerate(netfc.OPS)]
    inputs = [bytes(frames.ethernet() / frames.ipv4() / UDP(sport=40000) / packet)
              for packet in requests]
    outputs = switch.run([inputs], options=['--forward', 'reflect']).outputs[0]
    sets = oracle.table_sets('fp16_k1024')
    assert outputs == [oracle.switch(frame, sets, forward='reflect') for frame in inputs]
    for asked, frame in zip(requests, outputs):
        reply = Ether(frame)[NetFC]
        assert reply.answers(asked)
        exact = oracle.exact_result(asked.op, 1.5, 2.25)
        assert numbers(reply, 'z')[0] == pytest.approx(exact, rel=1e-3)
