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

UNKNOWN_OP = 255


def arithmetic(lanes, structured, special=1):
    """Requests of all operations: all pairs of special values, or each nth of them, and so many
    structured ones."""
    made = []
    for op in oracle.OPERATIONS:
        draw = np.random.default_rng(op)
        pairs = [operands_fp32.special_pairs()[:, ::special],
                 operands_fp32.structured(draw, structured)]
        made += fp32_frames.bulk(op, np.concatenate(pairs, axis=1).T.tolist(), lanes)
    return made


def replies_without(missing, sent, match):
    """dpdk-netfc's replies, where the operations `missing` are unknown, as to the P4 program."""
    places = [place_of_op(frame, missing) for frame in sent]
    asked = [frame if at is None else frame[:at] + bytes((UNKNOWN_OP,)) + frame[at + 1:]
             for frame, at in zip(sent, places)]
    replies = switch.run([asked, []], tables=(fp32_frames.NAME,), match=match).outputs[1]
    return [reply if at is None else reply[:at] + frame[at:at + 1] + reply[at + 1:]
            for frame, reply, at in zip(sent, replies, places)]


def place_of_op(frame, missing):
    """Where a datagram asks for one of these operations."""
    layout = oracle.parse(frame)
    if layout.udp is None or layout.end <= layout.payload + 3:
        return None
    return layout.payload + 3 if frame[layout.payload + 3] in missing else None


@bmv2.needs_bmv2
@hosts.needs_namespaces
@pytest.mark.parametrize('last, lanes, match, structured, passes', [
    ('div', 1, 'direct', 20000, 1), ('div', 2, 'fpu', 10000, 2), ('mul', 2, 'hash', 2000, 1),
    ('sub', 1, 'fpu', 2000, 1)])
def test_every_byte(last, lanes, match, structured, passes, tmp_path):
    last_op = ('add', 'sub', 'mul', 'div').index(last) + 1
    missing = [op for op in oracle.OPERATIONS if op > last_op]
    named = [(case, frame) for case, frame in fp32_frames.zoo() if bmv2.can_be_sent(frame)]
    sent = [frame for _, frame in named] + arithmetic(lanes, structured)
    expected = [bmv2.as_computed_by(frame, reply, lanes) for frame, reply in
                zip(sent, replies_without(missing, sent, match))]
    entries = bmv2.exported(fp32_frames.NAME, '--lanes', str(lanes), '--up-to', last)
    options = ('-DNETFC_FORMAT=5', f'-DNETFC_LANES={lanes}', f'-DNETFC_LAST_OP={last_op}',
               f'-DNETFC_PASSES={passes}')
    with bmv2.running(tmp_path, options, bmv2.FORWARD['pair'] + entries) as (first, second):
        arrived = bmv2.send(first, second, sent)
    names = [case for case, _ in named] + ['arithmetic'] * (len(sent) - len(named))
    answered = sum(frame != reply for frame, reply in zip(sent, expected))
    if passes > 1:  # what goes round is overtaken
        arrived, expected, names = sorted(arrived), sorted(expected), ['in any order'] * len(sent)
    switch.assert_same(arrived, expected, names)
    print(f'\n{last}, {lanes} lanes: {answered:,} of {len(sent):,} frames answered, as dpdk-netfc')
    assert lanes * answered > len(oracle.OPERATIONS) * structured


@bmv2.needs_bmv2
@pytest.mark.parametrize('last, lanes, passes', [(2, 8, 1), (3, 4, 1), (4, 3, 1), (4, 3, 2)])
def test_variants_compile(last, lanes, passes, tmp_path):
    bmv2.compile_program(tmp_path, '-DNETFC_FORMAT=5', f'-DNETFC_LAST_OP={last}',
                         f'-DNETFC_LANES={lanes}', f'-DNETFC_PASSES={passes}')
