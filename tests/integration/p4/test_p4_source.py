# SPDX-License-Identifier: BSD-3-Clause
"""The P4 sources against the exporter, without a P4 compiler: for every table its keys, actions,
parameters and size."""

import functools
import re
import subprocess

import pytest

import oracle
import p4_rows
import project_scripts
from p4_targets import EXACT_SETS, LAYOUTS, LOG_SETS
from p4_entries import run

pytestmark = pytest.mark.long

P4 = project_scripts.PROJECT / 'p4'
FUNCTIONS = ('sqrt', 'rsqrt', 'exp', 'ln', 'tanh', 'gelu', 'to_bf16', 'from_q8')
INSTANCES = {'log_x': 'LogarithmX', 'log_y': 'LogarithmY', 'mi': 'Mi', 'power': 'Power',
             'divide': 'Divide', 'log_connections': 'IntegerLog', 'log_bytes': 'IntegerLog',
             'align_x': 'Align', 'align_y': 'Align', 'prenorm_x': 'Prenorm', 'prenorm_y': 'Prenorm',
             'sum': 'Sum', 'factors': 'Factors', 'factor_x': 'Factor', 'factor_y': 'Factor',
             'high': 'Multiply', 'low': 'Multiply', 'cross_x': 'Multiply', 'cross_y': 'Multiply',
             'quotient': 'Quotient', 'guess': 'Estimate', 'by_high': 'Part', 'by_low': 'Part',
             'recip': 'PlaceUpper', 'upper': 'PlaceUpper', 'digit': 'PlaceDigit',
             'dividend_high': 'Place', 'dividend_low': 'Place', 'divisor_high': 'Place',
             'divisor_low': 'Place',
             'even': 'Even', 'odd': 'Odd'}


def test_flags_of_all_lanes():
    """The table that joins lanes' flags names every set of flags, more absent ones first."""
    text = (P4 / 'include' / 'netfc.p4').read_text()
    entries = [tuple(map(int, pair)) for pair in
               re.findall(r'NETFC_WITHOUT\((\d+)\) : raise\((\d+)\)', text)]
    assert sorted(raised for _, raised in entries) == list(range(15))
    assert all(absent == 15 - raised for absent, raised in entries)
    sizes = [bin(absent).count('1') for absent, _ in entries]
    assert sizes == sorted(sizes, reverse=True)


# ---- tables ----------------------------------------------------------------------------------


# What more a program is compiled with, and what its entries are exported with.
MORE = {'': ((), ()), 'slowloris': (('-DNETFC_SLOWLORIS',), ('--slowloris',)),
        'functions': (('-DNETFC_FUNCTIONS=8',), ('--functions', ','.join(FUNCTIONS))),
        'up to sub': (('-DNETFC_LAST_OP=2',), ('--up-to', 'sub')),
        'up to mul': (('-DNETFC_LAST_OP=3',), ('--up-to', 'mul'))}


@functools.lru_cache(maxsize=None)
def controls(*options):
    """What the preprocessed program consists of: control -> its text."""
    source = preprocessed('netfc.p4', *options)
    return {found[1]: block(source, found.end())
            for found in re.finditer(r'\bcontrol (\w+)\s*\(', source)}


def preprocessed(name, *options):
    """An include file as the compiler sees it."""
    return subprocess.run(['cc', '-E', '-P', '-x', 'c', *options, P4 / 'include' / name],
                          capture_output=True, text=True, check=True).stdout


def block(text, start):
    """What stands between the first brace after `start` and the one that closes it."""
    start = text.index('{', start)
    depth = 0
    for at in range(start, len(text)):
        depth += {'{': 1, '}': -1}.get(text[at], 0)
        if depth == 0:
            return text[start + 1:at]
    raise AssertionError('a brace is not closed')


def table_in(control, name):
    """Keys (name, match kind), actions and size of a table."""
    found = re.search(r'\btable %s \{' % name, control)
    assert found, f'no table {name}'
    body = block(control, found.start())
    keys = re.findall(r':\s*(\w+)\s*(?:@name\("(\w+)"\))?\s*;', block(body, body.index('key =')))
    actions = block(body, body.index('actions =')).replace(' ', '').strip(';').split(';')
    size = re.search(r'\bsize = (.*?);', body)
    return [(name, kind) for kind, name in keys], set(actions), eval(size[1])


def parameters(control, action):
    """An action's parameters: (name, bits)."""
    found = re.search(r'\baction %s\((.*?)\)' % action, control, re.S)
    assert found, f'no action {action}'
    return [(name, int(bits)) for bits, name in re.findall(r'bit<(\d+)> (\w+)', found[1])]


def control_of(path):
    """The control that has a table, by its path below the control Netfc of the first lane."""
    first, *instances, _ = ['netfc', *path.split('.')] if '.' not in path else path.split('.')
    if instances:
        return INSTANCES[instances[-1]]
    return {'lane0': 'Lane', 'function0': 'FunctionLane', 'netfc': 'Netfc'}[first]


def options_for(name, layout):
    """What a program is compiled with for a set and lay-out."""
    if name == 'fp32_exact':
        return ['-DNETFC_FORMAT=5']
    tables = oracle.table_set(name)
    options = [f'-DNETFC_FORMAT={tables.format.number}']
    if isinstance(tables, oracle.NarrowSet):
        return options
    if isinstance(tables, oracle.LogSet):
        options.append(f'-DNETFC_SCALE_BITS={tables.k.bit_length() - 1}')
    else:
        options.append('-DNETFC_EXACT')
    return options + (['-DNETFC_COMPACT'] if layout == 'compact' else [])


@pytest.mark.parametrize('name, layout, more', [
    *((name, layout, '') for name in [*LOG_SETS, 'fp16_k16'] for layout in LAYOUTS),
    *((name, 'direct', '') for name in [*EXACT_SETS, 'fp32_exact', 'fp8_e4m3_exact']),
    *(('fp32_exact', 'direct', f'up to {last}') for last in ('sub', 'mul')),
    ('fp16_k32', 'compact', 'slowloris'), ('fp16_k32', 'compact', 'functions'),
    ('bf16_exact', 'direct', 'functions')])
def test_tables_fit_their_entries(name, layout, more):
    compiled, exported = MORE[more]
    source = controls(*options_for(name, layout), *compiled)
    options = ('-l', layout, *exported, name)
    written = run('-t', 'bmv2', *options).stdout
    names = field_names(run('-t', 'bfrt', *options).stdout)
    seen = set()
    for path, rows in p4_rows.read_bmv2(written).items():
        path = path.removeprefix('IngressPipe.netfc.')
        control = source[control_of(path)]
        keys, actions, size = table_in(control, path.split('.')[-1])
        assert len(rows) <= size, path
        for action, fields in names[path].items():
            assert action in actions
            more = [key for key, _ in keys] + [key for key, _ in parameters(control, action)]
            assert [field for field in fields if field in more] == more
            assert set(fields) - set(more) <= {'match_priority'} | {
                f'{key}_{end}' for key, kind in keys
                for end in {'ternary': ['mask'], 'lpm': ['p_length']}.get(kind, [])}
        seen.add((control_of(path), path.split('.')[-1]))
    open_tables = {(control, table) for control, text in source.items()
                   for table in re.findall(r'\btable (\w+) \{', text)
                   if 'const entries' not in block(text, text.index(f'table {table} {{'))}
    # The user's own, with what is an attack.
    assert seen == open_tables - {('Slowloris', 'defend')}


@pytest.mark.parametrize('name, layout, lanes, more', [
    *((name, layout, 1, ()) for name in [*LOG_SETS, 'fp16_k16'] for layout in LAYOUTS),
    *((name, 'direct', 8, ()) for name in EXACT_SETS),
    ('fp8_e4m3_sat', 'direct', 24, ()), ('fp8_e5m2_exact', 'direct', 40, ()),
    ('fp16_k32', 'compact', 5, ('slowloris',)), ('fp16_exact', 'direct', 1, ('slowloris',))])
def test_the_last_entry_is_for_the_program(name, layout, lanes, more):
    """Its number is that of the program for this set, and that program matches it."""
    options = [option for word in more for option in (f'--{word}',)]
    last = run('-t', 'bmv2', '-l', layout, '-n', lanes, *options,
               name).stdout.splitlines()[-1]
    [row] = p4_rows.read_bmv2(f'{last}\n')['IngressPipe.netfc.loaded']
    source = preprocessed('parser.p4', *options_for(name, layout), f'-DNETFC_LANES={lanes}',
                          *(f'-DNETFC_{word.upper()}' for word in more))
    assert row.keys == ((eval(re.search(r'meta\.program = (.*?);', source, re.S)[1]), None),)


def test_programs_have_numbers_of_their_own():
    """No two variants have one number: their entries are not taken for each other's."""
    variants = {tuple(options_for(name, layout)) for name in LOG_SETS for layout in LAYOUTS} | {
        tuple(options_for(name, 'direct')) for name in EXACT_SETS} | {
        ('-DNETFC_COMPACT', '-DNETFC_FORMAT=1', f'-DNETFC_SCALE_BITS={bits}')
        for bits in range(1, 10)}
    variants = {(*options, f'-DNETFC_LANES={lanes}') for options in variants for lanes in (1, 8)}
    numbers = {variant: eval(re.search(r'meta\.program = (.*?);',
                                       preprocessed('parser.p4', *variant), re.S)[1])
               for variant in variants}
    alike = {}
    for variant, number in numbers.items():
        # Only where tables are split, which posits' are not, are they made for one k.
        split = '-DNETFC_COMPACT' in variant and (
            '-DNETFC_FORMAT=1' in variant or '-DNETFC_FORMAT=3' in variant)
        what = frozenset(option for option in variant
                         if split or not option.startswith('-DNETFC_SCALE_BITS'))
        assert alike.setdefault(number, what) == what and number < 1 << 16


def field_names(program):
    """What a program for Tofino's shell fills: table -> action -> names of fields."""
    found = re.findall(r"^fill\('IngressPipe\.netfc\.(\S+)', '(\w+)', \((.*?), ?\), \[$", program,
                       re.M)
    tables = {}
    for path, action, fields in found:
        tables.setdefault(path, {})[action] = re.findall(r"'(\w+)'", fields)
    return tables
