# SPDX-License-Identifier: BSD-3-Clause
"""Arithmetic through the running switch: every z, flag and checksum as the oracle says."""

import functools
import itertools
import random
from collections import Counter

import pytest

import frames
import operands
import oracle
import switch
import tiers

GROUPS = {
    'plain': ('fp16_k1024', 'posit16_k512', 'bf16_k128', 'posit16_es2_k256'),
    'floor': ('fp16_k1024_floor', 'posit16_k512_floor', 'bf16_k128_floor',
              'posit16_es2_k256_floor'),
    'small': ('fp16_k16', 'posit16_k8_floor', 'bf16_k4', 'posit16_es2_k2_floor'),
    'exact': ('fp16_exact', 'bf16_exact'),
    'small exact': ('fp16_exact_small', 'bf16_exact_small'),
    'exact posits': ('posit16_exact', 'posit16_es2_exact'),
    'least': ('fp16_k1_floor', 'posit16_k1', 'bf16_k1_floor', 'posit16_es2_k1'),
}
# Every set in one engine, the paper's in each.
RUNS = [(group, 'direct') for group in GROUPS] + [('plain', 'lpm'), ('plain', 'hash')]
LATER = [(group, engine) for group in GROUPS for engine in ('lpm', 'hash') if group != 'plain']


@functools.lru_cache(maxsize=None)
def traffic(group):
    """Requests in all four formats and operations, mixed, what to expect, and the counters."""
    requests = []
    sizes = itertools.cycle(range(1, frames.MAX_LANES + 1))
    for name in GROUPS[group]:
        form = oracle.table_set(name).format
        for op, pairs in operands.by_operation(name).items():
            requests += frames.bulk(op, form.number, pairs, sizes)
    random.Random(group).shuffle(requests)
    assert lane_counts(requests) == set(range(1, frames.MAX_LANES + 1))
    sets = oracle.table_sets(*GROUPS[group])
    counters = Counter()
    return requests, [oracle.switch(frame, sets, counters=counters) for frame in requests], counters


def lane_counts(requests):
    return {oracle.u16(frame, oracle.parse(frame).payload + 6) for frame in requests}


@pytest.mark.parametrize('group, engine', [*RUNS, *tiers.later('slow', *LATER)])
def test_all_formats_and_operations(group, engine):
    requests, expected, counters = traffic(group)
    result = switch.run([requests, []], GROUPS[group], engine)
    switch.assert_same(result.outputs[1], expected)
    switch.assert_counted(result.stats, counters)


def test_fpu():
    """Without tables: correctly rounded, in every format."""
    requests, _, _ = traffic('plain')
    sets = oracle.table_sets('fp16_exact', 'posit16_exact', 'bf16_exact', 'posit16_es2_exact')
    counters = Counter()
    expected = [oracle.switch(frame, sets, counters=counters) for frame in requests]
    result = switch.run([requests, []], GROUPS['plain'], 'fpu')
    switch.assert_same(result.outputs[1], expected)
    switch.assert_counted(result.stats, counters)


@pytest.mark.parametrize('bits', [128, 256, 512])
@pytest.mark.parametrize('engine', ['direct', 'fpu'])
def test_every_vector_unit(engine, bits):
    """Whatever instructions kernels may use, the results are the same."""
    requests, _, _ = traffic('plain')
    forced = switch.run([requests, []], GROUPS['plain'], engine,
                        eal=[f'--force-max-simd-bitwidth={bits}'])
    assert forced.outputs == switch.run([requests, []], GROUPS['plain'], engine).outputs
