# SPDX-License-Identifier: BSD-3-Clause
"""The entries that `netfc-p4` writes, in the translated P4 program.

Every key of every table, against tables built independently; then whole operations, against the
library that the switch computes with. No P4 compiler is needed.
"""

import json

import numpy as np
import pytest

import operands
import oracle
import p4_lanes
import p4_results
import p4_rows
import p4_targets
import table_builder
import tiers
from p4_entries import complaint, run
from p4_targets import EXACT_SETS, LAYOUTS, LOG_SETS, REQUEST, exported, verdict

RANDOM_PAIRS = 100000
NO_RESULT = -0x8000
QUICK = ('fp16_k1024 compact', 'posit16_k1 direct', 'fp16_exact')
WITHOUT_PROGRAM = ('it has no P4 program; of the correctly rounded sets, fp16_exact, bf16_exact, fp32_exact '
                   'and those of fp8 have one')


def in_one_process(*words):
    """A lane takes seconds to fill: one process does that, and all tests of it. One of each kind is for every change."""
    name = ' '.join(words)
    later = () if name in QUICK else (pytest.mark.long,)
    return pytest.param(words, id=name, marks=(pytest.mark.xdist_group(name), *later))


@pytest.fixture(name='lane', scope='module', params=[
    in_one_process(name, layout) for name in (*LOG_SETS, 'fp16_k64', 'bf16_k4_floor', 'posit16_k1')
    for layout in LAYOUTS])
def fill_lane(request):
    """A lane filled from what BMv2 would be told, with the name of its set."""
    name, layout = request.param
    tables = oracle.table_set(name)
    rows = p4_rows.read_bmv2(exported('bmv2', name, '--layout', layout))
    options = [f'-DNETFC_FORMAT={tables.format.number}']
    if layout == 'compact':
        options += ['-DNETFC_COMPACT', f'-DNETFC_SCALE_BITS={tables.k.bit_length() - 1}']
    return name, layout, p4_lanes.Lane(rows, *options)


# ---- every key -------------------------------------------------------------------------------


def test_every_logarithm(lane):
    name, _, lane = lane
    tables = oracle.table_set(name)
    magnitudes = np.arange(1, len(tables.log))
    for operand in 'xy':
        for slots in (magnitudes, np.array([tables.format.negate(m) for m in magnitudes.tolist()])):
            assert (lane.logarithms(operand, slots) == tables.log[1:]).all()


def test_every_mi(lane):
    name, layout, lane = lane
    tables = oracle.table_set(name)
    last = min(tables.guard, 0x7FFF)
    theta = np.arange(-last, 1 if layout == 'compact' else last + 1)
    mi = [np.array([NO_RESULT if m is oracle.NO_RESULT else m for m in page]) for page in tables.mi]
    assert (lane.mi(0, theta) == mi[0][theta + 0x8000]).all()
    differ = np.where(theta <= 0, mi[1][theta + 0x8000], mi[2][theta + 0x8000])
    assert (lane.mi(1, theta) == differ).all()


def test_every_power(lane):
    name, _, lane = lane
    tables = oracle.table_set(name)
    n, powers = np.arange(-0x8000, 0x8000), np.array(tables.exp)
    expected = np.zeros_like(n)  # posits neither overflow nor underflow
    if not isinstance(tables.format, oracle.Posit):
        expected = np.select([powers == 0, powers == tables.format.infinity], [8, 4], 0)
    for negative in (0, 1):
        slots, flags = lane.powers(negative, n)
        assert (slots == [tables.format.negate(power) if negative else power
                          for power in tables.exp]).all()
        assert (flags == expected).all()


# ---- whole operations ------------------------------------------------------------------------


def test_operations(lane):
    """Special values, boundaries, each slot as an operand: what z and which flags come out."""
    name, _, lane = lane
    assert lane.table('decide').has_order(), 'two entries of the same priority'
    for op, pairs in operands.by_operation(name).items():
        p4_results.check(name, lane, op, *np.array(pairs).T)


@pytest.mark.parametrize('op', oracle.OPERATIONS)
def test_correctly_rounded_operations(op, exact_lane):
    """The same for the correctly rounded sets, whose tables are looked up by what others give."""
    name, lane = exact_lane
    random = np.random.default_rng(op).integers(0, 0x10000, (2, RANDOM_PAIRS))
    pairs = np.concatenate((np.array(operands.by_operation(name)[op]).T, random), axis=1)
    p4_results.check(name, lane, op, *pairs)


@pytest.fixture(name='exact_lane', scope='module', params=map(in_one_process, EXACT_SETS))
def fill_exact_lane(request):
    name, = request.param
    rows = p4_rows.read_bmv2(exported('bmv2', name))
    form = oracle.table_set(name).format.number
    return name, p4_lanes.Lane(rows, f'-DNETFC_FORMAT={form}', '-DNETFC_EXACT')


# ---- requests --------------------------------------------------------------------------------


@pytest.mark.parametrize('name', LOG_SETS[::2])
def test_requests(name):
    rows = p4_rows.read_bmv2(exported('bmv2', name, '--layout', 'compact',
                                       '--port', '4321'))[REQUEST]
    form = oracle.table_set(name).format.number
    magic = oracle.MAGIC
    for op in oracle.OPERATIONS:
        assert verdict(rows, 4321, magic, 1, op, form, 0, 1) == ('compute',)
        assert verdict(rows, 4321, magic, 1, op, form + 1, 0, 1) == ('refuse', 3)
        assert verdict(rows, 4321, magic, 1, op, 0, 0, 1) == ('refuse', 3)
        assert verdict(rows, 4321, magic, 2, op, form, 0, 1) == ('refuse', 1)
        assert verdict(rows, 4321, magic, 1, op, form, 1, 1) is None
        assert verdict(rows, 4321, magic ^ 1, 1, op, form, 0, 1) is None
        assert verdict(rows, oracle.UDP_PORT, magic, 1, op, form, 0, 1) is None
    for op in (0, 5, 15, 17, 255):
        assert verdict(rows, 4321, magic, 1, op, form, 0, 1) == ('refuse', 2)
        assert verdict(rows, 4321, magic, 0, op, form, 0, 1) == ('refuse', 1)
    query = ('query',) if form == 1 else ('refuse', 3)
    assert verdict(rows, 4321, magic, 1, oracle.QUERY, 1, 0, 1) == query
    assert verdict(rows, 4321, magic, 1, oracle.QUERY, 2, 0, 1) == ('refuse', 3)


def test_nothing_is_computed_before_the_last_entry():
    rows = p4_rows.read_bmv2(exported('bmv2', 'fp16_k2', '--layout', 'compact'))[REQUEST]
    for op in (*oracle.OPERATIONS, oracle.QUERY):
        fields = (oracle.UDP_PORT, oracle.MAGIC, 1, op, 1)
        assert verdict(rows, *fields, 0, 0) == ('refuse', 3)
        assert verdict(rows, *fields, 1, 0) is None
    assert verdict(rows, oracle.UDP_PORT, oracle.MAGIC, 1, 5, 1, 0, 0) == ('refuse', 2)


@pytest.mark.parametrize('target, last', [
    ('bmv2', 'table_add IngressPipe.netfc.loaded IngressPipe.netfc.complete 0x2113 =>'),
    ('p4runtime', 'field_id: 1 exact { value: "\\x21\\x13" }'),
    ('bfrt', '    (0x2113, ),\n])'), ('bfrt-json', '"program": {"value": 8467}')])
def test_the_last_entry_says_what_all_are_for(target, last):
    """Layout 2, compact; format 1; k = 2^1; 3 lanes."""
    text = exported(target, 'fp16_k2', '--layout', 'compact', '--lanes', '3')
    assert last in text[-300:]
    assert text.count(last) == 1


# ---- targets ---------------------------------------------------------------------------------


@pytest.mark.parametrize('name, options', [
    *tiers.later('long', *((name, ('--layout', 'compact')) for name in LOG_SETS if not name.startswith('posit'))),
    ('bf16_k128', ('--layout', 'compact', '--lanes', '3')),
    ('fp16_k16_floor', ('--layout', 'compact', '--port', '9'))])
def test_targets_agree(name, options):
    """For every set and layout: tests/exhaustive."""
    assert p4_targets.read_back(name, *options) > 0


def test_lanes_are_alike():
    tables = p4_rows.read_bmv2(exported('bmv2', 'bf16_k128', '--layout', 'compact', '--lanes', '4'))
    paths = {path.split('.', 3)[3] for path in tables if path.startswith('IngressPipe.netfc.lane')}
    assert len(tables) == 2 + 4 * len(paths)  # with that of requests and that of the last entry
    for path in paths:
        first, *others = ([row.content[1:] for row in tables[f'IngressPipe.netfc.lane{lane}.{path}']]
                          for lane in range(4))
        assert all(other == first for other in others)


def test_prefixes_save_most_of_the_mi_tables():
    """The compact layout's miTables take a tenth of the direct one's entries."""
    direct, compact = (p4_rows.read_bmv2(exported('bmv2', 'fp16_k1024', '--layout', layout))
                       for layout in LAYOUTS)
    assert len(direct['IngressPipe.netfc.lane0.mi.mi']) > 10 * len(compact['IngressPipe.netfc.lane0.mi.mi'])
    assert sum(map(len, direct.values())) > 10 * sum(map(len, compact.values()))


# ---- the command -----------------------------------------------------------------------------


def test_report(tmp_path):
    path = tmp_path / 'entries'
    said = run('-t', 'bmv2', '-l', 'compact', '-n', 2, '-o', path, 'bf16_k128').stdout
    entries = len(path.read_text().splitlines())
    assert said == f'bf16_k128: wrote {path}, {entries:,} entries in 26 tables\n'
    report = run('-t', 'bmv2', '-l', 'compact', '-n', 2, '-o', path, '--json', 'bf16_k128').stdout
    assert json.loads(report) == {'set': 'bf16_k128', 'target': 'bmv2', 'layout': 'compact', 'lanes': 2,
                      'tables': 26, 'entries': entries, 'file': str(path)}


def test_a_file_is_exported_as_its_set(tmp_path):
    path = tmp_path / 'bf16_k128.netfc'
    table_builder.run('build', '--quiet', '-o', path, 'bf16_k128')
    options = ('--layout', 'compact')
    assert exported('bmv2', path, *options) == exported('bmv2', 'bf16_k128', *options)


def test_the_sets_with_a_program_are_those_that_the_message_names(tmp_path):
    options = ('-t', 'bmv2', '-o', tmp_path / 'entries')
    for row in table_builder.run_json('list')['known']:
        if row['family'] == 'log':
            continue
        if row['set'] in WITHOUT_PROGRAM.replace(',', '').split() or row['format'].startswith('fp8_'):
            run(*options, row['set'])
        else:
            assert WITHOUT_PROGRAM in complaint(*options, row['set'])


@pytest.mark.parametrize('arguments, message', [
    (('fp16_k1024',), 'required: -t/--target'),
    (('-t', 'bmv2'), 'name one table set'),
    (('-t', 'bmv2', 'fp16_k1024', 'bf16_k128'), 'name one table set'),
    (('-t', 'tofino', 'fp16_k1024'), "--target: invalid choice: 'tofino'"),
    (('-t', 'bmv2', '-l', 'flat', 'fp16_k1024'), "--layout: invalid choice: 'flat'"),
    (('-t', 'bmv2', '-n', '0', 'fp16_k1024'), "--lanes 0: expected 1 to 8"),
    (('-t', 'bmv2', '-n', '9', 'fp16_k1024'), '--lanes 9: expected 1 to 8'),
    (('-t', 'bmv2', '-n', 'all', 'fp16_k1024'), "--lanes: 'all': expected a whole number"),
    (('-t', 'bmv2', '-p', '65536', 'fp16_k1024'), "--port: '65536': expected 1 to 65535"),
    (('-t', 'bfrt', '--program', 'a b', 'fp16_k1024'), "'a b': expected the name of a P4 program"),
    (('-t', 'bfrt', '--program', '1a', 'fp16_k1024'), "'1a': expected the name of a P4 program"),
    (('-t', 'bfrt', '--program', 'class', 'fp16_k1024'), "'class': expected the name of"),
    (('-t', 'bmv2', '--program', 'other', 'fp16_k1024'), '--program needs --target bfrt'),
    (('-t', 'bmv2', '--json', 'fp16_k1024'), '--json needs --output'),
    (('-t', 'bmv2', '-l', 'compact', 'fp16_k1'), 'needs k to be 2 at least'),
    (('-t', 'bmv2', 'fp16_exact_small'), WITHOUT_PROGRAM),
    (('-t', 'bmv2', 'posit16_exact'), WITHOUT_PROGRAM),
    (('-t', 'bmv2', '-l', 'compact', 'fp16_exact'), 'the direct layout only'),
    (('-t', 'bmv2', '-f', 'exp', 'fp32_exact'), 'programs of fp32 have no functions'),
    (('-t', 'bmv2', '-f', 'to_bf16', 'fp32_exact'), 'programs of fp32 have no functions'),
    (('-t', 'bmv2', '-f', 'sqrt,to_fp32', 'fp16_k2'), "function 'to_fp32' has results of 32 bits"),
    (('-t', 'bmv2', 'fp16_k3'), "table set 'fp16_k3'")])
def test_wrong_usage(arguments, message):
    assert message in complaint(*arguments)


def test_a_file_that_cannot_be_written(tmp_path):
    path = tmp_path / 'missing' / 'entries'
    assert 'cannot write' in complaint('-t', 'bmv2', '-o', path, 'bf16_k128', status=2)
