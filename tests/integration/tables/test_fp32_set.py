# SPDX-License-Identifier: BSD-3-Clause
"""netfc-tables with fp32_exact, whose lanes have 32 bits."""

import json
import random
import zlib

import numpy as np
import pytest

from table_builder import complaint, run, run_json

OPERATIONS = {'add': np.add, 'sub': np.subtract, 'mul': np.multiply, 'div': np.divide}
NAME = 'fp32_exact'
HEADER_BYTES = 56 + 10 * 12  # of a file of ten tables


def test_it_is_listed():
    assert {'set': NAME, 'format': 'fp32', 'family': 'exact', 'k': None,
            'rounding': 'nearest'} in run_json('list')['known']
    assert NAME in complaint('size', 'fp33_exact')
    for name in ('fp32_k1', 'fp32_exact_small', 'fp32_k4_floor'):
        assert 'only fp32_exact' in complaint('size', name)


def test_calc():
    third = run_json('calc', NAME, 'div', '1', '3')
    assert third['x'] == {'bits': '0x3f800000', 'value': 1.0}
    assert third['z'] == {'bits': '0x3eaaaaab', 'value': float(np.float32(1) / np.float32(3)),
                          'flags': []}
    assert third['z'] == third['exact'] and third['accuracy'] == 1
    assert run_json('calc', NAME, '-', 'inf', '1')['z']['value'] == 'inf'
    assert run_json('calc', NAME, '-', 'inf', 'inf')['z']['value'] == 'nan'
    # Rounded once: through a double it would be a tie.
    assert run_json('calc', NAME, '+', '1.00000005960464477540', '0')['x']['bits'] == '0x3f800001'
    assert run_json('calc', NAME, '+', '1e-46', '0x00000001')['z']['bits'] == '0x00000001'
    text = run('calc', '--hex', NAME, 'mul', '7f7fffff', 'c0000000').stdout
    assert text.count('exceptions: overflow') == 2 and '0xff800000' in text
    for operand in ('', '1,5', '0x123456789', '0x', '1.5x', '0x1p3', 'nan(1)', ' 1'):
        assert '0x3f800000' in complaint('calc', NAME, 'add', operand, '1')


@pytest.mark.parametrize('op', OPERATIONS)
def test_hex_stream(op):
    draw = random.Random(op)
    special = [0, 1, 0x80000000, 0x3F800000, 0x7F7FFFFF, 0x7F800000, 0x7FC00001, 0xFFFFFFFF]
    pairs = [(x, y) for x in special for y in special]
    pairs += [(draw.getrandbits(32), draw.getrandbits(32)) for _ in range(500)]
    lines = run('calc', '--stream', '--hex', NAME, op,
                stdin=''.join(f'{x:08X} {y:08X} 00000000 01\n' for x, y in pairs)).stdout
    x, y = np.array(pairs, np.uint32).T
    with np.errstate(all='ignore'):
        z = OPERATIONS[op](x.view(np.float32), y.view(np.float32))
    bits = np.where(np.isnan(z), 0x7FC00000, z.view(np.uint32))
    assert [line.split()[:3] for line in lines.splitlines()] == [
        [f'{word:08X}' for word in row] for row in zip(x, y, bits)]


def test_text_and_json_streams():
    lines = 'add 1.5 0x3f800000\ndiv 1 0'
    text = run('calc', '--stream', NAME, stdin=lines).stdout.splitlines()
    assert text[0].startswith('1.5 + 1 = 2.5 0x40200000, exact 2.5 0x40200000')
    objects = run('calc', '--stream', '--json', NAME, stdin=lines).stdout.splitlines()
    assert json.loads(objects[1])['z'] == {
        'bits': '0x7f800000', 'value': 'inf', 'flags': ['division by zero']}
    done = run('calc', '--stream', '--hex', NAME, 'add', stdin='1 2\n123456789 1\n', status=1)
    assert 'line 2' in done.stderr and done.stdout == '00000001 00000002 00000003 00\n'


def test_show():
    shown = run_json('show', NAME)
    assert shown['format'] == 'fp32' and shown['k'] is None
    assert {'stages_add_sub', 'stages_mul', 'stages_div'} <= set(shown)
    text = run('show', NAME).stdout
    assert 'Stages of mul:' in text and 'Stages of div:' in text
    decided = run('show', NAME, 'decide').stdout
    assert 'inf div by 0' in decided and 'NaN invalid' in decided
    entry = run_json('show', NAME, 'differ', '-4095')['entries'][0]
    assert entry['key'] == -4095 and entry['value'] == 4095 * 4095 // 4 and entry['occurs']


@pytest.mark.parametrize('op', OPERATIONS)
def test_walk_ends_where_calc_does(op):
    walk = run_json('show', '--walk', NAME, op, '1.5', '-2.25')
    fields = {field['name']: field for step in walk.pop('steps') for field in step['fields']}
    assert walk == run_json('calc', NAME, op, '1.5', '-2.25')
    assert fields['z']['bits'] == walk['z']['bits'] and len(walk['z']['bits']) == 10
    assert fields['|x|']['means'] == 1.5
    assert 'whatever the stages compute' in run('show', NAME, '-w', op, 'nan', '0').stdout


def test_memory_of_a_pass_is_below_496_kb():
    sizes = run_json('size', NAME)
    tables = {table['table']: table['copies'] * table['slot_bytes'] for table in sizes['tables']}
    assert sum(tables.values()) == sizes['total']['slot_bytes'] < 496 * 1024
    assert set(tables) == {'exps', 'lead', 'norm', 'square', 'differ', 'recip', 'cross', 'scale',
                           'round'}


def test_files(tmp_path):
    file = tmp_path / f'{NAME}.netfc'
    run('build', '--quiet', '--dir', tmp_path, NAME)
    assert 'good' in run('verify', file).stdout
    assert run_json('calc', file, 'mul', '3', '5')['z']['value'] == 15
    good = file.read_bytes()
    for at in range(HEADER_BYTES + 1):  # header, descriptors, an entry of too many bits
        damaged = bytearray(good[:-4])
        damaged[at] ^= 0x41
        file.write_bytes(damaged + zlib.crc32(damaged).to_bytes(4, 'big'))
        assert 'cannot load' in complaint('calc', file, 'mul', '3', '5')
    file.write_bytes(good[:-1])
    assert 'ends too early' in complaint('calc', file, 'mul', '3', '5')
