# SPDX-License-Identifier: BSD-3-Clause
"""Datagrams with more lanes than an mbuf holds: they come in chains of mbufs."""

import functools
import itertools

import pytest

import frames
import oracle
import switch

TABLES = ('fp16_k1024', 'posit16_k512')
MBUF_BYTES = 2048
MAX_LANES = 2675  # net_pcap cuts frames of more than 16,128 bytes when it writes them
CARRIERS = ('ipv4', 'ipv6', 'ipv4, zero checksum', 'ipv4, 10 words of options', 'ipv4, padded',
            'vlan 88A8 8100, ipv4', 'vlan 8100, ipv6', 'ipv6, short datagram')


def around_mbuf_ends(wrap):
    """Counts of lanes whose x, y or z slots end about where an mbuf ends."""
    slots_at = oracle.parse(wrap(frames.request())).payload + oracle.HEADER_BYTES
    for mbufs, arrays in itertools.product((1, 2), (1, 2, 3)):
        lanes = (mbufs * MBUF_BYTES - slots_at) // (2 * arrays)
        yield from range(lanes - 2, lanes + 4)


def requests_in(wrap):
    """Names and requests of 243 to 1,491 lanes in one wrapping, good and bad."""
    counts = [243, 244, 500, 1490, 1491, *around_mbuf_ends(wrap)]
    for number, count in enumerate(counts):
        op = oracle.OPERATIONS[number % 4]
        yield f'{count} lanes', wrap(frames.lanes(count, form=1 + number % 2, op=op))
    for count in (400, 1200):
        yield f'{count} lanes and a tail', wrap(frames.lanes(count, tail=b'\xBB' * 3001))
        yield f'one of {count} lanes missing', wrap(frames.lanes(count, count=count + 1))
        yield f'{count} lanes of no format', wrap(frames.lanes(count, form=77))
        yield f'{count} lanes of a reply', wrap(frames.lanes(count, status=0x80))
        yield f'1 of {count} lanes', wrap(frames.lanes(count, count=1))


@functools.lru_cache(maxsize=None)
def requests():
    """Names and requests in all wrappings, up to the largest that net_pcap can send."""
    wraps = frames.carriers()
    made = [(f'{carrier}: {name}', frame)
            for carrier in CARRIERS for name, frame in requests_in(wraps[carrier])]
    for carrier in ('ipv4', 'ipv6'):
        made.append((f'{carrier}: {MAX_LANES} lanes', wraps[carrier](frames.lanes(MAX_LANES))))
    return tuple(zip(*made))


@pytest.mark.parametrize('forward, sent_by', [('pair', 1), ('reflect', 0)])
def test_chains_of_mbufs(forward, sent_by):
    names, inputs = requests()
    sets = oracle.table_sets(*TABLES)
    expected = [oracle.switch(frame, sets, forward=forward) for frame in inputs]
    result = switch.run([inputs, []], TABLES, options=['--forward', forward])
    switch.assert_same(result.outputs[sent_by], expected, names)


def test_short_and_long_mixed():
    """A chain of mbufs between single ones, many times over."""
    inputs = [frames.plain_frame(frames.lanes(count)) for n in range(0, 100, 5)
              for count in (1, 243, 600 + n, 2, 2000 + n, 3)]
    sets = oracle.table_sets('fp16_k1024')
    result = switch.run([inputs])
    expected = [oracle.switch(frame, sets, forward='reflect') for frame in inputs]
    switch.assert_same(result.outputs[0], expected)


def test_truncated_jumbo_frames():
    whole = frames.plain_frame(frames.lanes(1490))
    inputs = [whole[:size] for size in (1000, 2047, 2048, 2049, 4096, 6000, len(whole) - 1)]
    result = switch.run([inputs, []])
    switch.assert_same(result.outputs[1], inputs)
