# SPDX-License-Identifier: BSD-3-Clause
"""Digits and places in a tree as netfc.aggregation, scapy and Wireshark have them, against bytes
that are made by hand and by tests/support/exact_sums.py.

Pure but for tshark: bytes of packets.
"""

import dataclasses
import random
import struct

import pytest

from netfc.conformance import sums as exact_sums
import tshark
from netfc import aggregation
from netfc.scapy_aggregation import Aggregation

SESSION, TOKEN = 0x1112131415161718, 0x0102030405060708
PLACE = aggregation.Worker(job=513, token=TOKEN, number=3, session=SESSION)
TREE = struct.pack('>BBHII2B2B', 2, 0, 0, 600, 50, 4, 2, 3, 1)  # member 2 of 4, whose parent is 1 of 3
# 1.5 and what cancels, three minus zeros, infinities of both signs.
SUMS = [(3 << 148, 0), (-1, 0), (0, exact_sums.MINUS_ZERO),
        (0, exact_sums.PLUS_INF | exact_sums.MINUS_INF)]


def header(op, form, count, number, byte_15, secret=SESSION):
    return struct.pack('>HBBBBHIHBBQ', 0x4e46, 1, op, form, 0, count, number, 513, 3, byte_15,
                       secret)


def digits(sums, lanes, byte_15=0x80, divisor=0):
    """All packets of a chunk of binary32."""
    return [header(34 if divisor else 33, 5, len(sums), 7, byte_15) + part
            for part in exact_sums.parts(sums, lanes, divisor)]


def join(behind):
    return header(32, 0, 0, 1, 0, TOKEN) + struct.pack(
        '>BBHHHQQ', 4, 0, 8, 1448, 0, 0x99, PLACE.incarnation) + behind


@pytest.mark.parametrize('form', exact_sums.KINDS)
def test_parts_are_read_and_written_as_the_model_has_them(form):
    draw = random.Random(form)
    size = exact_sums.KINDS[form].bits // 8
    for lanes in (1, 3, 8):
        values = [draw.randbytes(8 * size) for _ in range(5)]
        sums = exact_sums.added([exact_sums.of_values(form, one) for one in values])
        for payload in exact_sums.parts(sums, lanes):
            part = aggregation.read_part(payload + b'behind')
            assert bytes(part) == payload
            first, number, parts, own = exact_sums.read_part(payload)
            assert (part.first, part.number, part.parts) == (first, number, parts)
            assert [lane << 32 * part.lowest for lane in part.lanes] == [one for one, _ in own]
            assert part.marks == (tuple(marks for _, marks in own) if part.marks else ())
            assert aggregation.read_part(payload[:-1]) is None
            divided = exact_sums.parts(sums, lanes, 1 << 24)[part.number]
            assert dataclasses.replace(part, divisor=1 << 24) == aggregation.read_part(divided + b'behind')
            assert bytes(aggregation.read_part(divided)) == divided
            assert aggregation.read_part(divided[:-1]) is None


def test_chunks_of_digits_are_built_as_the_model_has_them():
    whole = digits(SUMS, 3)
    parts = [aggregation.read_part(payload[24:]) for payload in whole]
    assert [part.number for part in parts] == [0, 1] and parts[1].marks == (6,)
    for part, payload in zip(parts, whole):
        assert aggregation.digits(PLACE, 33, 5, 7, part, count=4) == payload
        made = Aggregation(op='sum', format='fp32', id=7, job=513, worker=3, session=SESSION,
                           reason=aggregation.DIGITS, count=4, part=part)
        assert bytes(made) == payload
    owned = aggregation.digits(PLACE, 33, 5, 7, parts[0], 4, aggregation.OWNER + 2)
    assert owned == digits(SUMS, 3, 0x80 | 64 + 2)[0]


def test_scapy_reads_digits():
    first, second = (Aggregation(payload) for payload in digits(SUMS, 3))
    assert (first.count, first.part.first, first.part.lanes) == (4, 0, (3 << 148, -1, 0))
    assert first.part.marks == (0, 0, exact_sums.MINUS_ZERO) and first.values is None
    assert first.mysummary().endswith('chunk 7, 4 fp32, digits 1 of 2, request')
    assert second.part.first == 3
    owned = Aggregation(digits(SUMS, 4, 0x80 | 64 + 2)[0])
    assert owned.mysummary().endswith("digits 1 of 1, worker 2's, request")
    divided = Aggregation(digits(SUMS, 3, divisor=6)[1])
    assert divided.mysummary().endswith('4 fp32, digits 2 of 2 over 6, request')
    cut = Aggregation(digits(SUMS, 4)[0][:-1])
    assert cut.part is None and cut.mysummary().endswith(', digits, request')


def test_scapy_reads_a_refused_part():
    """It is a header alone, with the absence in the place of count."""
    refused = bytearray(header(33, 5, 0x1103, 7, 64 + 2))
    refused[5] = 0xf0
    layer = Aggregation(bytes(refused))
    assert layer.mysummary().endswith('reply: late 2 at level 1')


def test_joins_in_a_tree():
    place = aggregation.Place(((4, 2), (3, 1)), 600, below=50)
    assert aggregation.join(PLACE, 4, 8, 1448, 0x99, 1, place) == join(TREE)
    layer = Aggregation(join(TREE))
    assert (layer.place, layer.cookie, bytes(layer)) == (place, 0x99, join(TREE))
    made = Aggregation(op='join', format=0, id=1, job=513, worker=3, token=TOKEN, workers=4,
                       slots=8, bytes=1448, cookie=0x99, place=place)
    assert bytes(made) == join(TREE)


@pytest.mark.parametrize('behind', [
    b'', TREE[:11], TREE[:-1],  # none, or cut
    b'\5' + TREE[1:], TREE[:4] + bytes(4) + TREE[8:],  # too many levels, no workers
    TREE[:12] + b'\4\4\3\1', b'\xa5' * 8])  # member 4 of 4, a tag
def test_what_is_no_place(behind):
    assert aggregation.read_place(behind) is None
    assert Aggregation(join(behind)).place is None


@pytest.fixture(name='dissected', scope='module')
def dissect(tmp_path_factory):
    """What tshark prints of digits, of a refusal of them, and of joins."""
    refused = bytearray(header(33, 5, 0x1103, 7, 64 + 2))
    refused[5] = 0xf0
    decided = bytearray(join(TREE))
    decided[5], decided[15], decided[47], decided[49] = 0x80, 9, 9, 3
    no_lanes = bytearray(digits(SUMS, 4)[0])
    no_lanes[26:28] = 0, 0
    payloads = [*digits(SUMS, 3), digits(SUMS, 4, 0x80 | 64 + 2)[0], digits(SUMS, 4)[0][:-1],
                bytes(no_lanes), bytes(refused), digits(SUMS, 4, divisor=6)[0],
                digits(SUMS, 4, divisor=6)[0][:-1], digits(SUMS, 4, divisor=2**24 + 1)[0],
                join(TREE), bytes(decided), join(b'\xa5' * 8)]
    return tshark.dissected(tmp_path_factory.mktemp('capture'), payloads)


def test_wireshark_shows_digits(dissected):
    first, second, owned, cut, no_lanes, refused, divided, shorter, beyond, *_ = dissected
    assert 'sum job 513 worker 3 chunk 7, 4 fp32, digits, request' in first
    lines = [line.strip() for line in first.splitlines()]
    assert {'First lane: 0', 'Lanes: 3', 'Part: 0', 'Parts: 2', 'Lowest digit: 0'} <= set(lines)
    sums = [line for line in lines if line.startswith('Sum: ')]
    assert sums == [f'Sum: {total.to_bytes(20, "big", signed=True).hex()} (lane {lane}{marks})'
                    for lane, (total, _), marks in zip(range(3), SUMS, ('', '', ', all -0'))]
    assert 'Digits of a lane: 5' in first
    assert 'Sum: 00000000 (lane 3, +infinity, -infinity)' in second
    assert "digits, worker 2's, request" in owned and 'Owner: 2' in owned
    assert 'Values are missing' in cut and 'Values are missing' not in first
    assert 'No part that can be' in no_lanes and 'No part that can be' not in first
    assert 'reply: member 2 at level 1 is late' in refused and 'Detail: 3' in refused
    lines = [line.strip() for line in divided.splitlines()]
    assert {'Parts: 1', 'Divisor: 6'} <= set(lines) and 'No part' not in divided
    assert 'Values are missing' in shorter and 'No part that can be' in beyond


def test_wireshark_shows_places(dissected):
    *_, asked, decided, tagged = dissected
    assert 'Switches above: 2' in asked and 'Workers of the tree: 600' in asked
    assert 'Member: 2 of 4 at level 1' in asked and 'Member: 1 of 3 at level 2' in asked
    assert 'Decided at level, and 1: 3' in decided and 'Incarnation: 0x0000000000000009' in decided
    assert 'Workers below: 50' in asked and 'Switches above' not in tagged
    assert 'Labels: True' in decided and 'Labels: False' in asked
    assert 'Divisors: True' in decided and 'Divisors: False' in asked
