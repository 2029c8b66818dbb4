# SPDX-License-Identifier: BSD-3-Clause
"""The scapy layer and the Wireshark dissector of aggregation.

Pure but for tshark: bytes of packets.
"""

import struct

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

import tshark
from netfc import aggregation
from netfc.scapy_aggregation import Aggregation

PLACE = aggregation.Worker(job=513, token=0x0102030405060708, number=3, session=0x1112131415161718)


def test_scapy_builds_what_the_protocol_says():
    values = [1.5, -2.25]
    made = bytes(Aggregation(op='sum', format='fp32', id=9, job=513, worker=3,
                             session=PLACE.session, values=values))
    assert made == aggregation.chunk(PLACE, 33, 5, 9, struct.pack('>2f', *values))
    joining = Aggregation(op='join', format=0, id=1, job=513, worker=3, token=PLACE.token,
                          workers=4, slots=8, bytes=1448, cookie=5)
    assert bytes(joining) == aggregation.join(PLACE, 4, 8, 1448, cookie=5, message_id=1)
    leaving = Aggregation(op='leave', format=0, id=1, job=513, worker=3, session=PLACE.session,
                          reason=9)
    assert bytes(leaving) == aggregation.leave(PLACE, message_id=1, reason=9)


def test_scapy_reads_what_it_is_given():
    payload = aggregation.chunk(PLACE, 34, 1, 7, struct.pack('>3e', 1, 2, 3))
    packet = Ether() / IP() / UDP(sport=1, dport=aggregation.UDP_PORT) / payload
    layer = Ether(bytes(packet))[Aggregation]
    assert (layer.op, layer.count, layer.values) == (34, 3, [0x3c00, 0x4000, 0x4200])
    reply = layer.copy()
    reply.reply, reply.code, reply.reason = 1, aggregation.CODE, 67
    assert reply.answers(layer) and 'unknown 12 3 at level 3' in reply.mysummary()
    reply.values = [0x0102, 0, 0]
    assert 'late 3' in reply.mysummary()


def test_scapy_has_values_of_8_bits():
    payload = aggregation.chunk(PLACE, 33, 8, 7, b'\x38\xfe\x01')
    layer = Aggregation(payload)
    assert (layer.count, layer.values) == (3, [0x38, 0xfe, 0x01])
    assert layer.mysummary().endswith('chunk 7, 3 fp8_e4m3, request')
    assert bytes(Aggregation(op='sum', format='fp8_e4m3', id=7, job=513, worker=3,
                             session=PLACE.session, values=[0x38, 0xfe, 0x01])) == payload
    layer.reply, layer.code, layer.reason, layer.values[0] = 1, aggregation.CODE, 67, 1
    assert layer.mysummary().endswith('reply: late 3')


def test_scapy_reads_results_of_another_format():
    payload = aggregation.chunk(PLACE, 33, 0x58, 7, bytes([0x38, 0x7e]))
    request = Aggregation(payload)
    assert (request.count, request.values) == (2, [0x38, 0x7e])
    assert request.mysummary().endswith('chunk 7, 2 fp8_e4m3:fp32, request')
    reply = Aggregation(op='sum', format='fp8_e4m3:fp32', reply=1, id=7, job=513, worker=3,
                        session=PLACE.session, values=[1.0, 896.0])
    assert bytes(reply)[24:] == struct.pack('>ff', 1, 896)
    assert Aggregation(bytes(reply)).values == [0x3f800000, 0x44600000]


def test_scapy_reads_copies():
    ours = Aggregation(aggregation.chunk(PLACE, 37, 5, 9, bytes(8), aggregation.OWNER + 3))
    theirs = Aggregation(aggregation.chunk(PLACE, 37, 5, 9, b'', aggregation.OWNER + 2, count=2))
    assert ours.mysummary().endswith("chunk 9, 2 fp32, worker 3's, request")
    assert theirs.mysummary().endswith("chunk 9, 2 fp32, worker 2's, request")
    assert (ours.values, theirs.values) == ([0, 0], [])
    theirs.reply, theirs.reason = 1, 2
    assert theirs.mysummary().endswith('reply: acknowledgement')
    theirs.code, theirs.reason, theirs.count = aggregation.CODE, 64 + 5, 0x0107
    assert theirs.mysummary().endswith('reply: late 5')


def test_labels_of_calls():
    payload = aggregation.label(PLACE, 5, 7, 0x89ab0001)
    layer = Aggregation(payload)
    assert (layer.label, layer.values, layer.id) == (0x89ab0001, None, 7)
    assert bytes(Aggregation(op='copy', format='fp32', id=7, job=513, worker=3, flags=1, count=0,
                             session=PLACE.session, label=0x89ab0001)) == payload


def test_scapy_reads_zeros():
    request = Aggregation(aggregation.zeros(PLACE, 33, 5, 7, 362))
    assert (request.count, request.values) == (362, None)
    assert request.mysummary().endswith('chunk 7, 362 fp32, zeros, request')
    assert bytes(Aggregation(op='sum', format='fp32', id=7, job=513, worker=3, flags=2, count=362,
                             session=PLACE.session)) == bytes(request)
    reply = bytearray(bytes(request))
    reply[5], reply[15] = 0x80, 3
    assert Aggregation(bytes(reply)).mysummary().endswith('reply: zeros')
    assert Aggregation(bytes(reply)).answers(request)


def test_scapy_reads_what_a_join_is_granted():
    """In the cookie's place."""
    payload = bytearray(aggregation.join(PLACE, 4, 8, 1448, cookie=5))
    asked = Aggregation(bytes(payload))
    assert (asked.token, asked.cookie, asked.granted_session) == (PLACE.token, 5, None)
    payload[5] = 0x80
    granted = Aggregation(bytes(payload))
    assert granted.answers(asked)
    assert (granted.token, granted.cookie, granted.granted_session) == (PLACE.token, None, 5)
    assert bytes(granted) == payload


@pytest.fixture(name='dissected', scope='module')
def dissect(tmp_path_factory):
    """What tshark prints of a request, a refusal, a join, what is granted, and a packet that was cut."""
    chunk = aggregation.chunk(PLACE, 33, 5, 7, struct.pack('>2f', 1.5, -2))
    refusal = bytearray(chunk)
    refusal[5], refusal[15], refusal[24:26] = 0xf0, 64 + 2, (1, 7)
    join = aggregation.join(PLACE, 4, 8, 1448, cookie=0x99)
    copy = aggregation.chunk(PLACE, 37, 5, 7, b'', aggregation.OWNER + 2, count=2)
    late, done = bytearray(copy), bytearray(copy)
    late[5], late[15], late[6:8] = 0xf0, 64 + 2, (1, 7)
    done[5], done[15] = 0x80, 2
    eights = aggregation.chunk(PLACE, 33, 9, 7, b'\x3c\xfb\x01')
    wider = aggregation.chunk(PLACE, 33, 0x58, 7, b'\x38\x7e')
    sums = wider[:5] + b'\x80' + wider[6:24] + struct.pack('>2f', 1.5, 896)
    zeros = aggregation.zeros(PLACE, 33, 5, 7, 362)
    payloads = [chunk, bytes(refusal), join, join[:5] + b'\x80' + join[6:], chunk[:-2],
                copy, bytes(late), bytes(done), eights, wider, sums,
                aggregation.label(PLACE, 5, 7, 0x89ab0001),
                zeros, zeros[:5] + b'\x80' + zeros[6:15] + b'\3' + zeros[16:]]
    return tshark.dissected(tmp_path_factory.mktemp('capture'), payloads)


def test_wireshark_shows_requests(dissected):
    request, refusal, join, granted, cut, copy, late, done, eights, wider, sums, call, zeros, none = dissected
    assert 'chunk 7, 362 fp32, zeros, request' in zeros and 'Zeros: True' in zeros
    assert 'reply: zeros' in none
    assert 'Values are missing' not in zeros + none
    assert 'Label: 0x89ab0001' in call and 'Values are missing' not in call
    assert 'sum job 513 worker 3 chunk 7, 2 fp32, request' in request
    assert 'Value: 1.5' in request and 'Value: -2' in request
    assert 'Session: 0x1112131415161718' in request and 'Token' not in request
    assert 'reply: worker 2 is late' in refusal and 'Detail: 7' in refusal
    assert 'Token: 0x0102030405060708' in join and 'Session' not in join
    assert 'Cookie: 0x0000000000000099' in join and 'Session: 0x0000000000000099' in granted
    assert 'Slots: 8' in join and 'Bytes of values in a chunk: 1448' in join
    assert 'Values are missing' in cut
    assert "copy job 513 worker 3 chunk 7, 2 fp32, worker 2's, request" in copy
    assert 'Owner: 2' in copy and 'Values are missing' not in copy
    assert 'reply: worker 2 is late' in late and 'Detail: 7' in late
    assert 'reply: acknowledgement' in done and 'Values are missing' not in done
    assert 'sum job 513 worker 3 chunk 7, 3 fp8_e5m2, request' in eights
    assert [f'Value: {value}' in eights for value in ('3c', 'fb', '01')] == [True] * 3
    assert 'Values are missing' not in eights
    assert 'chunk 7, 2 fp8_e4m3:fp32, request' in wider and 'Value: 7e' in wider
    assert 'chunk 7, 2 fp8_e4m3:fp32, reply' in sums and 'Value: 896' in sums
    assert 'Values are missing' not in wider + sums
