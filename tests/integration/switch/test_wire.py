# SPDX-License-Identifier: BSD-3-Clause
"""Every kind of frame through the running switch: each byte as the oracle says."""

import functools
import struct
from collections import Counter

import pytest

import frames
import oracle
import switch

TABLES = ('fp16_k1024', 'posit16_k512', 'bf16_k128')  # format 4 is left out, for error 3
ALL_TABLES = (*TABLES, 'posit16_es2_k256')


@functools.lru_cache(maxsize=None)
def zoo():
    """Names and frames of the zoo, as two tuples."""
    return tuple(zip(*frames.zoo()))


def raw(frame):
    """The NetFC datagram of a plain frame, without padding or checksum."""
    return frame[14 + 20 + 8:]


def pair(inputs, tables, *options):
    """Sends frames into port 0 of a pair; returns what port 1 sent, and the result."""
    result = switch.run([inputs, []], tables, options=options)
    assert result.outputs[0] == []
    return result.outputs[1], result


@pytest.mark.parametrize('tables', [TABLES, ALL_TABLES, ('posit16_es2_k16_floor',)],
                         ids=['three sets', 'four sets', 'one set'])
def test_pair(tables):
    names, inputs = zoo()
    counters = Counter()
    sets = oracle.table_sets(*tables)
    expected = [oracle.switch(frame, sets, counters=counters) for frame in inputs]
    outputs, result = pair(inputs, tables, '--forward', 'pair')
    switch.assert_same(outputs, expected, names)
    switch.assert_counted(result.stats, counters)


def test_reflect():
    names, inputs = zoo()
    sets = oracle.table_sets(*TABLES)
    counters = Counter()
    expected = [oracle.switch(frame, sets, forward='reflect', counters=counters)
                for frame in inputs]
    result = switch.run([inputs], TABLES, options=['--forward', 'reflect'])
    switch.assert_same(result.outputs[0], expected, names)
    switch.assert_counted(result.stats, counters)


def test_another_port():
    moved = [frames.build(frames.ethernet() / ip / frames.udp(frames.lanes(3), dport=port))
             for ip in (frames.ipv4(), frames.ipv6()) for port in (1, 53, 5353, 20038, 65535)]
    sets = oracle.table_sets('fp16_k1024')
    for port in (1, 5353, 65535):
        outputs, _ = pair(moved, ['fp16_k1024'], '--port', str(port))
        switch.assert_same(outputs, [oracle.switch(frame, sets, port=port) for frame in moved])
        assert sum(a != b for a, b in zip(moved, outputs)) == 2


def test_defaults():
    requests = [frames.plain_frame(frames.lanes(5, form)) for form in oracle.FORMATS]
    sets = oracle.table_sets('fp16_k1024')
    result = switch.run([requests, []], tables=None, match=None)
    switch.assert_same(result.outputs[1], [oracle.switch(frame, sets) for frame in requests])


@pytest.mark.parametrize('match', ['lpm', 'direct', 'fpu'])
def test_binary32_without_its_set(match):
    """Format 5 is refused as one without a table set, whatever its length: code 3, z untouched."""
    requests = [frames.plain_frame(frames.lanes(count, form=5, op=op))
                for count in (1, 2, 40) for op in (oracle.ADD, oracle.DIV)]
    result = switch.run([requests, []], ['fp16_k1024'], match=match)
    assert [raw(frame)[5] for frame in result.outputs[1]] == [0x80 | 3 << 4] * len(requests)
    assert [raw(frame)[12:] for frame in result.outputs[1]] == [
        raw(frame)[12:] for frame in requests]


def test_one_port_reflects_by_default():
    requests = [frames.plain_frame(frames.lanes(5))]
    sets = oracle.table_sets('fp16_k1024')
    result = switch.run([requests])
    expected = [oracle.switch(frame, sets, forward='reflect') for frame in requests]
    switch.assert_same(result.outputs[0], expected)


@pytest.mark.parametrize('lcores', [1, 2, 6])
@pytest.mark.parametrize('forward, sent_by', [('pair', (1, 0, 3, 2)), ('reflect', (0, 1, 2, 3))])
def test_four_ports(forward, sent_by, lcores):
    inputs = [[frames.plain_frame(frames.lanes(1 + port + n % 40, identity=1000 * port + n))
               for n in range(100)] for port in range(4)]
    sets = oracle.table_sets('fp16_k1024')
    result = switch.run(inputs, options=['--forward', forward], lcores=lcores)
    for port, source in enumerate(sent_by):
        expected = [oracle.switch(frame, sets, forward=forward) for frame in inputs[source]]
        switch.assert_same(result.outputs[port], expected)


def test_three_ports_reflect():
    inputs = [[frames.plain_frame(frames.lanes(1 + port))] for port in range(3)]
    sets = oracle.table_sets('fp16_k1024')
    result = switch.run(inputs, options=['--forward', 'reflect'])
    for output, sent in zip(result.outputs, inputs):
        switch.assert_same(output, [oracle.switch(sent[0], sets, forward='reflect')])


def test_one_lane_is_a_minimum_frame():
    request = frames.build(frames.ethernet() / frames.ipv4() / frames.udp(frames.request()),
                           pad=False)
    assert len(request) == 60


# ---- checksums, by their definition instead of by an update ------------------------------------


def checksum_is_right(frame):
    """Whether the UDP checksum of a frame fits its contents."""
    layout = oracle.parse(frame)
    size, at = (4, layout.ip + 12) if layout.ip_version == 4 else (16, layout.ip + 8)
    pseudo = frame[at:at + 2 * size] + struct.pack('>HH', 17, layout.end - layout.udp)
    return (oracle.word_sum(pseudo) + oracle.word_sum(frame[layout.udp:layout.end])) % 0xFFFF == 0


def test_checksums_stay_right():
    payloads = list(frames.payloads().values())[::3]
    right = [wrap(payload) for name, wrap in frames.carriers().items() if 'checksum' not in name
             for payload in payloads]
    assert all(map(checksum_is_right, right))
    outputs, _ = pair(right, TABLES)
    assert all(map(checksum_is_right, outputs))
    assert sum(a != b for a, b in zip(right, outputs)) > len(right) / 2


def test_zero_checksums():
    wrap = frames.carriers()
    requests = [wrap[name](frames.lanes(n)) for n in range(1, 40)
                for name in ('ipv4, zero checksum', 'ipv6, zero checksum')]
    outputs, _ = pair(requests, TABLES)
    sent = [oracle.u16(frame, oracle.parse(frame).udp + 6) for frame in outputs]
    assert not any(sent[0::2]) and all(sent[1::2])
