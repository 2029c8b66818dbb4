# SPDX-License-Identifier: BSD-3-Clause
"""The entries that `netfc-tables export` writes for fp32_exact, walked as the hardware would, against
the library. No P4 compiler is needed."""

import numpy as np
import pytest

import operands_fp32
import oracle
import p4_rows
import p4_targets
import p4_walk
import p4_walk_fp32
from fp32_frames import FORMAT, NAME, OPERATIONS, library_results
from p4_targets import exported, rows_in_order
from table_builder import complaint, run

PAIRS = 200000  # of an operation
PROGRAMS = {'sub': (1, 2), 'mul': (1, 2, 3), 'div': (1, 2, 3, 4)}


@pytest.fixture(name='lanes', scope='module')
def fill_lanes():
    """A lane of each program, by its last operation."""
    return {last: p4_walk_fp32.Fp32Lane(p4_rows.read_bmv2(exported('bmv2', NAME, '--up-to', last)))
            for last in PROGRAMS}


@pytest.mark.parametrize('last, op', [(last, op) for last, ops in PROGRAMS.items() for op in ops])
def test_operations(lanes, last, op):
    """Special values and structured operands: what z and which flags come out."""
    draw = np.random.default_rng([op, len(last)])
    x, y = np.concatenate((operands_fp32.special_pairs(), operands_fp32.structured(draw, PAIRS)),
                          axis=1)
    z, flags = lanes[last].compute(op, x, y)
    expected_z, expected_flags = library_results(op, x, y)
    wrong = np.flatnonzero((z != expected_z) | (flags != expected_flags))
    assert wrong.size == 0, [
        f'{x[w]:08x} {OPERATIONS[op]} {y[w]:08x}: {z[w]:08x} {flags[w]}, not '
        f'{expected_z[w]:08x} {expected_flags[w]}' for w in wrong[:5]]


def test_every_leading_one(lanes):
    """Every sum of one or two bits, and its neighbours: one entry each tells its leading one."""
    lead = lanes['sub'].lead
    assert lead.unique
    bits = 1 << np.arange(28)
    magnitudes = np.unique(np.add.outer(np.add.outer(bits, bits).ravel(), [-1, 0, 1]))
    magnitudes = magnitudes[(magnitudes > 0) & (magnitudes < 1 << 28)]
    for negative in (False, True):
        sums = -magnitudes & 0xFFFFFFFF if negative else magnitudes
        rows = [lead.rows[row] for row in lead(sums)]
        assert [row.action.endswith('negative') for row in rows] == [negative] * len(rows)
        assert [28 - row.args[0] for row in rows] == [m.bit_length() for m in magnitudes.tolist()]
    assert lead(np.array([0])) == [-1]


@pytest.mark.parametrize('last', PROGRAMS)
def test_requests(last):
    """What a program without an operation answers: operations that it has not with code 2."""
    rows = p4_rows.read_bmv2(exported('bmv2', NAME, '--up-to', last))[p4_walk.REQUEST]
    table = p4_walk.Ternary(rows, (16, 16, 8, 8, 8, 1))
    for op in oracle.OPERATIONS:
        for form in (FORMAT, 1, 0, 6):
            row = rows_in_order(rows)[table(*(np.array(field) for field in (
                oracle.UDP_PORT, oracle.MAGIC, 1, op, form, 0)))]
            expected = ('refuse', 2) if op not in PROGRAMS[last] else \
                ('compute',) if form == FORMAT else ('refuse', 3)
            assert (row.action.split('.')[-1], *row.args) == expected


def test_targets_agree():
    assert p4_targets.read_back(NAME, '--up-to', 'sub') > 0


def test_wrong_usage():
    assert 'direct layout only' in complaint('export', '-t', 'bmv2', '-l', 'compact', NAME)
    assert '--up-to takes' in complaint('export', '-t', 'bmv2', '--up-to', 'add', NAME)
    assert 'only programs of fp32_exact' in complaint('export', '-t', 'bmv2', '--up-to', 'mul',
                                                      'fp16_exact')
    assert 'of that format' in complaint('export', '-t', 'bmv2', '--slowloris', NAME)


def test_a_file_is_exported_as_its_set(tmp_path):
    path = tmp_path / 'fp32_exact.netfc'
    run('build', '--quiet', '-o', path, NAME)
    assert exported('bmv2', path, '--up-to', 'mul') == exported('bmv2', NAME, '--up-to', 'mul')
