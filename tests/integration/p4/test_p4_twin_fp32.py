# SPDX-License-Identifier: BSD-3-Clause
"""The P4 program of binary32 on BMv2 against the running switch: the same frames, every byte.

Needs p4c-bm2-ss, simple_switch and simple_switch_CLI on the PATH, and says so where they are not.
"""

import numpy as np
import pytest

import bmv2
import fp32_frames
import hosts
import operands_fp32
import oracle
import switch

STRUCTURED = 10000  # pairs of an operation


def arithmetic(lanes):
    """Requests of all operations: all pairs of special values, and structured operands."""
    made = []
    for op in oracle.OPERATIONS:
        draw = np.random.default_rng(op)
        pairs = [operands_fp32.special_pairs(), operands_fp32.structured(draw, STRUCTURED)]
        made += fp32_frames.bulk(op, np.concatenate(pairs, axis=1).T.tolist(), lanes)
    return made


@bmv2.needs_bmv2
@hosts.needs_namespaces
@pytest.mark.parametrize('lanes, match', [(1, 'direct'), (2, 'hash')])
def test_every_byte(lanes, match, tmp_path):
    named = [(case, frame) for case, frame in fp32_frames.zoo() if bmv2.can_be_sent(frame)]
    sent = [frame for _, frame in named] + arithmetic(lanes)
    replies = switch.run([sent, []], tables=(fp32_frames.NAME,), match=match).outputs[1]
    expected = [bmv2.as_computed_by(frame, reply, lanes) for frame, reply in zip(sent, replies)]
    entries = bmv2.exported(fp32_frames.NAME, '--lanes', str(lanes))
    options = ('-DNETFC_FORMAT=5', f'-DNETFC_LANES={lanes}')
    with bmv2.running(tmp_path, options, bmv2.FORWARD['pair'] + entries) as (first, second):
        arrived = bmv2.send(first, second, sent)
    names = [case for case, _ in named] + ['arithmetic'] * (len(sent) - len(named))
    switch.assert_same(arrived, expected, names)
    assert sum(frame != reply for frame, reply in zip(sent, arrived)) > 10000


@bmv2.needs_bmv2
@pytest.mark.parametrize('last', (2, 3, 4))
def test_all_variants_compile(last, tmp_path):
    for lanes in (1, 8):
        bmv2.compile_program(tmp_path, '-DNETFC_FORMAT=5', f'-DNETFC_LAST_OP={last}',
                             f'-DNETFC_LANES={lanes}')
