# SPDX-License-Identifier: BSD-3-Clause
"""Lanes of 8 bits through the running switch, by every match engine."""

import collections
import itertools

import pytest

import frames
import oracle
import switch

MOST_LANES = 486  # that fit a 1,500-byte MTU over IPv4
TABLES = ('fp16_k1024', 'fp8_e4m3_sat', 'fp8_e5m2_exact')


def requests():
    """All pairs of operands with all operations, in requests of all lengths."""
    pairs = list(itertools.product(range(256), repeat=2))
    sizes = itertools.cycle((1, 2, 3, 8, 9, 17, 64, 65, MOST_LANES, MOST_LANES))
    return [frame for form, op in itertools.product(oracle.NARROW, oracle.OPERATIONS)
            for frame in frames.bulk(op, form, pairs, sizes)]


@pytest.mark.parametrize('match, bits', [
    ('hash', None), ('fpu', None), *itertools.product(('direct',), (64, 256, 512))])
def test_every_engine(match, bits):
    sent, counters = requests(), collections.Counter()
    sets = oracle.table_sets(*TABLES)
    expected = [oracle.switch(frame, sets, counters=counters) for frame in sent]
    eal = () if bits is None else (f'--force-max-simd-bitwidth={bits}',)
    result = switch.run([sent, []], TABLES, match, eal=eal)
    switch.assert_same(result.outputs[1], expected)
    assert result.stats['netfc_packets'] == counters['netfc_packets'] == len(sent)
    assert result.stats['lanes'] == counters['lanes'] == 8 * 65536
    for name in oracle.EXCEPTIONS:
        assert result.stats['exceptions'][name] == counters[f'exceptions.{name}'] > 0


@pytest.mark.parametrize('match', ['lpm', 'direct'])
def test_every_wrapping(match):
    """All that comes in is answered as ever, requests of 8 bits among it."""
    names, sent = zip(*frames.zoo())
    kinds = itertools.cycle(itertools.product(oracle.NARROW, (1, 5, 6)))
    wrapped = [(f'{name}: {lanes} lanes of format {form}',
                wrap(frames.lanes(lanes, form, op)))
               for (name, wrap), op, (form, lanes) in zip(
                   frames.carriers().items(), itertools.cycle(oracle.OPERATIONS), kinds)]
    names, sent = [*names, *(name for name, _ in wrapped)], [*sent, *(one for _, one in wrapped)]
    sets = oracle.table_sets(*TABLES)
    result = switch.run([sent, []], TABLES, match)
    switch.assert_same(result.outputs[1], [oracle.switch(one, sets) for one in sent], names)


def test_lengths_and_sets_that_are_not_loaded():
    """Code 4 for a datagram without what fills up, code 3 for a format whose set is missing."""
    sent = [frames.plain_frame(frames.lanes(lanes, form, count=count))
            for form in oracle.NARROW
            for lanes, count in ((5, 5), (5, 6), (5, 7), (6, 7), (6, 0), (6, 21846), (6, 65535))]
    sent += [frames.plain_frame(frames.lanes(5, oracle.E4M3)[:-1])]
    for tables in (TABLES, TABLES[:2], TABLES[:1]):
        sets = oracle.table_sets(*tables)
        result = switch.run([sent, []], tables)
        switch.assert_same(result.outputs[1], [oracle.switch(frame, sets) for frame in sent])
