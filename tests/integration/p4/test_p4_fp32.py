# SPDX-License-Identifier: BSD-3-Clause
"""The entries that `netfc-p4` writes for fp32_exact, in the translated P4 program, against
the library. No P4 compiler is needed."""

import numpy as np
import pytest

import operands_fp32
import oracle
import p4_lanes
import p4_results
import p4_rows
import p4_targets
import table_builder
from fp32_frames import FORMAT, NAME
from p4_targets import REQUEST, exported, verdict
from p4_entries import complaint

pytestmark = pytest.mark.long

PAIRS = 200000  # of an operation
PROGRAMS = {'sub': (1, 2), 'mul': (1, 2, 3), 'div': (1, 2, 3, 4)}
ALL = [(last, op, 1) for last, ops in PROGRAMS.items() for op in ops] + [
    ('div', op, 2) for op in PROGRAMS['div']]


@pytest.fixture(name='lanes', scope='module')
def fill_lanes():
    """A lane of each program, by its last operation and how many passes divisions take."""
    rows = {last: p4_rows.read_bmv2(exported('bmv2', NAME, '--up-to', last)) for last in PROGRAMS}
    return {(last, passes): p4_lanes.Lane(
        rows[last], f'-DNETFC_FORMAT={FORMAT}', f'-DNETFC_LAST_OP={PROGRAMS[last][-1]}',
        f'-DNETFC_PASSES={passes}') for last, passes in sorted({(a, c) for a, _, c in ALL})}


@pytest.mark.parametrize('last, op, passes', ALL)
def test_operations(lanes, last, op, passes):
    """Special values and structured operands: what z and which flags come out."""
    draw = np.random.default_rng([op, len(last)])
    x, y = np.concatenate((operands_fp32.special_pairs(), operands_fp32.structured(draw, PAIRS)),
                          axis=1)
    p4_results.check(NAME, lanes[last, passes], op, x, y)


def test_every_leading_one(lanes):
    """Every sum of one or two bits, and its neighbours: one entry each tells its leading one."""
    lead = lanes['sub', 1].table('sum.lead')
    assert lead.has_order()
    bits = 1 << np.arange(28)
    magnitudes = np.unique(np.add.outer(np.add.outer(bits, bits).ravel(), [-1, 0, 1]))
    magnitudes = magnitudes[(magnitudes > 0) & (magnitudes < 1 << 28)]
    for action in ('positive', 'negative'):
        sums = magnitudes if action == 'positive' else -magnitudes & 0xFFFFFFFF
        found = [lead.look((value,)) for value in sums.tolist()]
        assert [(hit, name) for hit, name, _ in found] == [(True, action)] * len(found)
        assert [28 - zeros for _, _, (zeros,) in found] == [m.bit_length()
                                                          for m in magnitudes.tolist()]
    assert not lead.look((0,))[0]


def test_digits_of_quotients_are_near(lanes):
    """For all divisors, and all remainders that they leave: how far an estimate is off before it is
    rounded, by less than 3/4 the first and by less than 1/2 the second, so that the first remainder
    is less than 5/4 of the divisor and the second less than the divisor."""
    recip = lanes['div', 1].table('begin.recip.place')
    _, keys, words = recip.columns
    assert keys.tolist() == list(range(1 << 15))
    reciprocal = (1 << 14) + (words[:, 0] >> 10)
    for divisor in ((1 << 15 | keys) << 8, (1 << 15 | keys) << 8 | 255):
        # An estimate is (r + half of what was cut off) * reciprocal / 2^26, for r * 2^12 / divisor.
        wrong = abs(reciprocal * divisor - (1 << 38))
        cut = (1 << 9) * reciprocal * divisor
        assert (4 * ((1 << 25) * wrong + cut) < 3 * (1 << 26) * divisor).all()
        assert (2 * (5 * divisor // 4 * wrong + cut) < (1 << 26) * divisor).all()


@pytest.mark.parametrize('last', PROGRAMS)
def test_requests(last):
    """What a program without an operation answers: operations that it has not with code 2."""
    rows = p4_rows.read_bmv2(exported('bmv2', NAME, '--up-to', last))[REQUEST]
    for op in oracle.OPERATIONS:
        for form in (FORMAT, 1, 0, 6):
            expected = ('refuse', 2) if op not in PROGRAMS[last] else \
                ('compute',) if form == FORMAT else ('refuse', 3)
            assert verdict(rows, oracle.UDP_PORT, oracle.MAGIC, 1, op, form, 0, 1) == expected


def test_targets_agree():
    assert p4_targets.read_back(NAME, '--up-to', 'sub') > 0


def test_wrong_usage():
    assert 'direct layout only' in complaint('-t', 'bmv2', '-l', 'compact', NAME)
    assert "--up-to: invalid choice: 'add'" in complaint(
        '-t', 'bmv2', '--up-to', 'add', NAME)
    assert 'only programs of fp32_exact' in complaint('-t', 'bmv2', '--up-to', 'mul',
                                                      'fp16_exact')
    assert 'of that format' in complaint('-t', 'bmv2', '--slowloris', NAME)


def test_a_file_is_exported_as_its_set(tmp_path):
    path = tmp_path / 'fp32_exact.netfc'
    table_builder.run('build', '--quiet', '-o', path, NAME)
    assert exported('bmv2', path, '--up-to', 'mul') == exported('bmv2', NAME, '--up-to', 'mul')
