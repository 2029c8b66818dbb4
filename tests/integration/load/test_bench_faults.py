# SPDX-License-Identifier: BSD-3-Clause
"""netfc-bench against a switch that errs."""

import struct

import pytest

import oracle
from bench_runs import bench, erring
from needs import needs_tap

IP, UDP, PAYLOAD, LANES = 14, 34, 42, 4
Z = PAYLOAD + 12 + 4 * LANES


def flipped(reply, at, bits=1):
    return reply[:at] + bytes([reply[at] ^ bits]) + reply[at + 1:]


def checksum(data):
    total = oracle.word_sum(data)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack('>H', ~total & 0xFFFF or 0xFFFF)


def resummed(reply):
    """The reply with right checksums."""
    ip = reply[IP:IP + 10] + b'\0\0' + reply[IP + 12:UDP]
    udp = reply[UDP:UDP + 6] + b'\0\0' + reply[UDP + 8:]
    pseudo = ip[12:] + bytes([0, 17]) + udp[4:6]
    return (reply[:IP] + ip[:10] + checksum(ip) + ip[12:] +
            udp[:6] + checksum(pseudo + udp) + udp[8:])


def shortened(reply):
    """Less a lane's z, with all lengths right."""
    return resummed(reply[:16] + struct.pack('>H', len(reply) - 16) + reply[18:UDP + 4] +
                    struct.pack('>H', len(reply) - 36) + reply[UDP + 6:-2])


# What the erring switch answers, and how each reply must be counted.
FAULTS = {
    'id': lambda r: [resummed(flipped(r, PAYLOAD + 8, 0x40))],
    'addresses': lambda r: [resummed(flipped(r, IP + 19))],
    'length': lambda r: [shortened(r)],
    'header': lambda r: [resummed(flipped(r, PAYLOAD + 3, 7))],
    'count': lambda r: [resummed(flipped(r, PAYLOAD + 7, 2))],
    'uncomputed': lambda r: [resummed(flipped(r, PAYLOAD + 5, 0x80))],
    'refused': lambda r: [resummed(flipped(r, PAYLOAD + 5, 0x10))],
    'flags': lambda r: [resummed(flipped(r, PAYLOAD + 5, 8))],
    'operands': lambda r: [resummed(flipped(r, PAYLOAD + 12))],
    'results': lambda r: [resummed(flipped(r, Z))],
    'udp_checksum': lambda r: [flipped(r, UDP + 7)],
    'ip_checksum': lambda r: [flipped(r, IP + 11)],
    'duplicates': lambda r: [r, r],
    'lost': lambda r: [],
}


def bench_over_tap(folder, answer, *options, status):
    """Runs the bench against a switch that sends answer(the right reply) for each request."""
    sets = oracle.table_sets('fp16_k1024')
    oracle.table_set('fp16_k1024').result(oracle.ADD, 0x3C00, 0x3C01)  # built before the hurry
    with erring(oracle.UDP_PORT, lambda request: answer(oracle.switch(request, sets, forward='reflect'))) as device:
        return bench(folder, *options, '--timeout', 3000, '--lanes', LANES, status=status, vdevs=[device])


@needs_tap
def test_every_fault_is_found(tmp_path):
    faults = iter(FAULTS.values())
    report = bench_over_tap(tmp_path, lambda reply: next(faults, lambda r: [r])(reply),
                            '--packets', len(FAULTS) + 6, '--window', 1, status=2)
    faults = {kind: count for kind, count in report['mismatches'].items() if count}
    assert faults == {kind: 1 for kind in FAULTS if kind not in ('duplicates', 'lost')}
    assert report['duplicates'] == 1
    assert report['wrong'] == len(faults)
    assert report['refusals']['version'] == 1
    assert report['wrong_lanes'] == 1
    assert len(report['examples']) == len(faults)
    assert report['lost'] >= 2  # the one with another id, and the one without a reply


@needs_tap
@pytest.mark.parametrize('at', [-1, -5, -9], ids='zyx')
def test_what_fills_up_is_looked_at(tmp_path, at):
    """Three lanes of 8 bits have a byte after each of x, y and z, which stays as it is."""
    def answer(request):
        reply = oracle.switch(request, sets, forward='reflect')
        return [resummed(flipped(reply, len(reply) + at))]

    sets = oracle.table_sets('fp8_e4m3_exact')
    with erring(oracle.UDP_PORT, answer) as device:
        report = bench(tmp_path, '--set', 'fp8_e4m3_exact', '--lanes', 3, '--packets', 2, '--window', 1,
                       '--timeout', 3000, status=2, vdevs=[device])
    assert report['mismatches']['padding'] == report['wrong'] == 2 and report['right'] == 0


@needs_tap
def test_reordering_is_seen(tmp_path):
    waiting = []

    def answer(reply):
        waiting.append(reply)
        if len(waiting) < 4:
            return []
        replies = waiting[::-1]
        waiting.clear()
        return replies

    report = bench_over_tap(tmp_path, answer, '--packets', 40, '--window', 4, status=0)
    assert report['wrong'] == 0
    assert 0 < report['reordered'] < report['answered']['packets']
    assert report['reorder_extent'] >= 3
