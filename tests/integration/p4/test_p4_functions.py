# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one number in the P4 programs: their entries against the library, and, where there
is a BMv2, what it makes of requests against the running switch, byte for byte."""

import itertools

import pytest

import bmv2
import frames
import function_tables
import hosts
import oracle
import p4_rows
import p4_targets
import switch
import table_builder
from p4_entries import complaint
from p4_targets import REQUEST, exported, verdict

pytestmark = pytest.mark.long

NUMBERS = {'rsqrt': 71, 'exp': 73, 'to_bf16': 99, 'to_q8': 120}
OWN = 193
LONG = 'sqrt,rsqrt,exp,ln,tanh,gelu,to_bf16,from_q8'


@pytest.fixture(name='own')
def build_own(tmp_path):
    return user_function(tmp_path)


def user_function(folder, form='fp16'):
    """A function of a user's own, in a file."""
    path = folder / 'halved.netfcfun'
    table_builder.run('build', '--function', 'halved', '--format', form, '--expression', 'x / 2', '-o', path)
    return path


def entries(name, function):
    """x, z and flags of every argument."""
    operands = (name, function) if name else (function,)
    return [(x, *entry) for x, entry in enumerate(function_tables.table(*operands))]


@pytest.mark.parametrize('name', ('fp16_k16', 'posit16_k512', 'bf16_exact'))
def test_every_entry(name):
    """Those of every lane are the library's."""
    tables = p4_rows.read_bmv2(exported('bmv2', name, '--lanes', '2', '--functions', 'rsqrt,to_q8'))
    form = oracle.table_set(name).format.name
    for number, function in enumerate(('rsqrt', 'to_q8'), 1):
        expected = entries(form, function)
        for lane in range(2):
            rows = tables[f'IngressPipe.netfc.function{lane}.f{number}']
            assert {row.action for row in rows} == {f'IngressPipe.netfc.function{lane}.result'}
            assert [(row.keys[0][0], *row.args) for row in rows] == expected


def test_every_entry_of_a_function_of_ones_own(own):
    tables = p4_rows.read_bmv2(exported('bmv2', 'fp16_k16', '--functions', f'exp,{own}'))
    rows = tables['IngressPipe.netfc.function0.f2']
    assert [(row.keys[0][0], *row.args) for row in rows] == entries(None, own)


def test_requests(own):
    """Functions have their tables' numbers; other formats, and functions that are not there, none."""
    rows = p4_rows.read_bmv2(exported('bmv2', 'fp16_k16', '--functions', f'exp,{own},rsqrt'))
    rows = rows[REQUEST]
    form = oracle.FORMATS_BY_NAME['fp16'].number
    assert verdict_of(rows, NUMBERS['exp'], form) == ('evaluate', 1)
    assert verdict_of(rows, OWN, form) == ('evaluate', 2)
    assert verdict_of(rows, NUMBERS['rsqrt'], form) == ('evaluate', 3)
    assert verdict_of(rows, NUMBERS['exp'], form + 1) == ('refuse', 3)
    assert verdict_of(rows, OWN + 1, form) == ('refuse', 2)
    assert verdict_of(rows, 1, form) == ('compute',)


def verdict_of(rows, op, form):
    """What is done with a request, all entries being loaded."""
    return verdict(rows, oracle.UDP_PORT, oracle.MAGIC, 1, op, form, 0, 1)


def test_targets_agree():
    """In one lane, and few of them: tests/exhaustive reads back more."""
    options = ('--layout', 'compact', '--functions', 'rsqrt')
    assert p4_targets.read_back('bf16_k16', *options) > 0x10000


@pytest.mark.parametrize('functions, message', [
    ('nowhere', "no function 'nowhere'; netfc-tables list --functions has all names"),
    ('exp,exp', "function 'exp' is given twice"),
    (f'{LONG},abs', 'a program has 8 functions at most'),
    ('nowhere.netfcfun', "function 'nowhere.netfcfun': No such file"),
    ('', "no function ''")])
def test_bad_functions(functions, message):
    assert message in complaint('-t', 'bmv2', '--functions', functions, 'fp16_k16')


def test_a_function_of_another_format(own):
    said = complaint('-t', 'bmv2', '--functions', own, 'bf16_k16')
    assert 'is one of fp16, and the table set of bf16' in said


# ---- BMv2 ------------------------------------------------------------------------------------


def every_third(op, form, first, lanes):
    """Requests for every third argument of a function."""
    sizes = itertools.cycle(range(1, lanes + 1))
    return frames.bulk(op, form, [(x, 0x1234) for x in range(first, 0x10000, 3)], sizes)


@bmv2.needs_bmv2
@hosts.needs_namespaces
@pytest.mark.parametrize('name, options, lanes', [
    ('fp16_k8', ['-DNETFC_COMPACT', '-DNETFC_SCALE_BITS=3'], 2),
    ('bf16_exact', ['-DNETFC_FORMAT=3', '-DNETFC_EXACT'], 1)])
def test_every_byte(name, options, lanes, tmp_path):
    """Functions, operations, what there is none of, and more lanes than the program has."""
    form = oracle.table_set(name).format
    functions = ['rsqrt', 'to_q8', user_function(tmp_path, form.name)]
    layout = 'compact' if '-DNETFC_COMPACT' in options else 'direct'
    loaded = ['--functions', ','.join(map(str, functions))]
    sent = [frame for _, frame in frames.zoo() if bmv2.can_be_sent(frame)]
    for first, op in enumerate((NUMBERS['rsqrt'], NUMBERS['to_q8'], OWN)):
        sent += every_third(op, form.number, first, lanes)
    for op in (1, 2, 3, 4, 64, NUMBERS['exp'], NUMBERS['rsqrt'], OWN, OWN + 1):
        pairs = list(zip(range(0, 0x10000, 0x123), range(0xffff, 0, -0x123)))
        sent += frames.bulk(op, form.number, pairs, itertools.cycle((1, 2, 3)))
        sent += frames.bulk(op, 2, pairs[:9], itertools.cycle((1, 2, 3)))
    replies = switch.run([sent, []], tables=(name,), options=loaded, more_memory=16).outputs[1]
    expected = [bmv2.as_computed_by(frame, reply, lanes) for frame, reply in zip(sent, replies)]
    filled = bmv2.exported(name, '--layout', layout, '--lanes', str(lanes), *loaded)
    with bmv2.running(tmp_path, [*options, f'-DNETFC_LANES={lanes}', '-DNETFC_FUNCTIONS=3'],
                      bmv2.FORWARD['pair'] + filled) as (first, second):
        arrived = bmv2.send(first, second, sent)
    switch.assert_same(arrived, expected, ['functions'] * len(sent))
    assert 0x10000 <= lanes * sum(frame != reply for frame, reply in zip(sent, arrived))


@bmv2.needs_bmv2
def test_variants_compile(tmp_path):
    for form, count, more in ((1, 8, []), (2, 4, ['-DNETFC_COMPACT']), (3, 1, ['-DNETFC_EXACT'])):
        bmv2.compile_program(tmp_path, f'-DNETFC_FORMAT={form}', f'-DNETFC_FUNCTIONS={count}',
                             '-DNETFC_LANES=2', *more)
