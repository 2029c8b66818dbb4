# SPDX-License-Identifier: BSD-3-Clause
"""netfc-tables as a user calls it: every command, for people and as JSON, and bad input."""

import json
import os
import random
import struct
import subprocess
import zlib

import pytest

import oracle
import p4_entries
from table_builder import PROGRAM, TIMEOUT_S, complaint, run, run_json

OPERATIONS = {'add': oracle.ADD, 'sub': oracle.SUB, 'mul': oracle.MUL, 'div': oracle.DIV}
LARGEST_SETS = ('fp16_k1024', 'posit16_k512_floor', 'bf16_k128', 'posit16_es2_k256')
EXACT_SETS = ('fp16_exact', 'fp16_exact_small', 'bf16_exact', 'bf16_exact_small',
              'posit16_exact', 'posit16_es2_exact')
HEADER_BYTES, TABLE_BYTES = 56, 12  # of a file: before, and for each table
LOG_ENTRIES = HEADER_BYTES + 4 * TABLE_BYTES
MI1_ENTRIES = LOG_ENTRIES + 2 * 2**15 + 2 * 2**16


@pytest.fixture(name='built', scope='module')
def build_once(tmp_path_factory):
    """A file of fp16_k1024."""
    path = tmp_path_factory.mktemp('built') / 'fp16_k1024.netfc'
    run('build', '--quiet', '-o', path, 'fp16_k1024')
    return path


# ---- usage -----------------------------------------------------------------------------------


def test_help_and_version():
    commands = ('build', 'list', 'show', 'calc', 'verify', 'size')
    assert all(command in run('--help').stdout for command in commands)
    assert run('--version').stdout.startswith('netfc-tables ')
    for command in commands:
        assert run(command, '--help').stdout.startswith(f'Usage: netfc-tables {command}')
        assert '--nonsense' in complaint(command, '--nonsense')
    assert 'Usage' in run(status=1).stderr
    assert 'nonsense' in complaint('nonsense')
    assert 'netfc-p4' in complaint('export', 'fp16_k1024')


@pytest.mark.parametrize('command', [('build',), ('show',), ('size',), ('calc', '--stream')])
@pytest.mark.parametrize('name', ['fp16', 'fp16_k3', 'fp16_k2048', 'fp17_k1', 'bf16_k1_ceil'])
def test_unknown_set_lists_the_known(command, name, tmp_path):
    message = complaint(*command, name, cwd=tmp_path)
    assert name in message and 'posit16_es2_k256' in message
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('number, bits', [
    ('0.1e-99999999999999999999', '0x0001'), ('-0.001e-9223372036854775808', '0xffff'),
    ('0.0e99999999999999999999', '0x0000'), ('1234e9223372036854775807', '0x7fff')])
def test_exponents_that_no_integer_holds(number, bits):
    assert run_json('calc', 'posit16_exact', 'add', number, '0')['x']['bits'] == bits


def test_failed_write():
    with open('/dev/full', 'w', encoding='ascii') as full:
        done = subprocess.run([PROGRAM, 'list'], stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and b'No space' in done.stderr


# ---- build, verify, list ---------------------------------------------------------------------


def test_build_writes_where_it_is_told(tmp_path):
    report = run('build', 'fp16_k2', cwd=tmp_path).stdout
    assert 'fp16_k2.netfc' in report and 'bytes' in report and 'certain' in report
    (tmp_path / 'dir').mkdir()
    run('build', '-d', tmp_path / 'dir', 'fp16_k2')
    report = run_json('build', '-o', tmp_path / 'named', 'fp16_k2')
    files = [tmp_path / 'fp16_k2.netfc', tmp_path / 'dir' / 'fp16_k2.netfc', tmp_path / 'named']
    contents = {file.read_bytes() for file in files}
    assert len(contents) == 1 and len(contents.pop()) == report['bytes']
    assert report['margin']['log_error'] < report['margin']['log_distance']
    assert report['margin']['exp_error'] < report['margin']['exp_distance']


def test_build_refuses_loudly(tmp_path):
    assert 'create its folder' in complaint('build', '-d', tmp_path / 'none', 'fp16_k1', status=2)
    assert 'exclude' in complaint('build', '-d', tmp_path, '-o', 'x', 'fp16_k1')
    assert 'regular file' in complaint('build', '-o', tmp_path, 'fp16_k1')
    assert 'one table set' in complaint('build', 'fp16_k1', 'fp16_k2')
    assert not list(tmp_path.iterdir())


def changed(data, offset, value, mend_checksum=True):
    """A file's bytes with one of them changed."""
    data = bytearray(data)
    data[offset] = value
    if mend_checksum:
        data[-4:] = struct.pack('>I', zlib.crc32(bytes(data[:-4])))
    return bytes(data)


@pytest.mark.parametrize('name, tables, layout, entry', [
    ('fp16_exact', 9, 'direct', 0),  # no product is a tie, no sum overflows
    ('fp16_k4', 4, 'compact', 2 * (32768 + 3 * 65536 + 3))])  # subnormal powers of one exponent
def test_files_of_any_entries_can_be_exported(tmp_path, name, tables, layout, entry):
    path = tmp_path / 'set.netfc'
    run('build', '-o', path, name)
    data = path.read_bytes()
    entries = HEADER_BYTES + TABLE_BYTES * tables
    data = data[:entries] + bytes(len(data) - entries)
    path.write_bytes(changed(data, entries + entry + 1, int(entry != 0)))
    p4_entries.run('--target', 'bmv2', '--layout', layout, '--output', os.devnull, path)


def write_bad_files(folder, good):
    """Bad files of every kind, and what must be said of each."""
    data = good.read_bytes()
    entry = LOG_ENTRIES + 2 * 0x3C00 + 1
    mi1_entry = MI1_ENTRIES + 2 * 0xFFF9 + 1
    bad = {
        'empty': (b'', 'not a table-set file'),
        'foreign': (b'something else', 'not a table-set file'),
        'truncated': (data[:-1], 'ends too early'),
        'longer': (data + b'\0', 'goes on after its end'),
        'older': (changed(data, 11, 0), 'older version'),
        'newer': (changed(data, 11, 2), 'newer version'),
        'header': (changed(data, 49, 1), 'do not fit its header'),
        'flipped': (changed(data, entry, data[entry] ^ 1, False), 'table log, key 15360 '),
        'forged': (changed(data, mi1_entry, data[mi1_entry] ^ 1), 'table mi1, key -7 '),
        'renamed': (changed(data, data.index(b'fp16_k1024') + 4, ord('x'), False), 'wrong checksum'),
        'summed': (changed(data, -1, data[-1] ^ 1, False), 'wrong checksum'),
    }
    for name, (content, _) in bad.items():
        (folder / f'{name}.netfc').write_bytes(content)
    return {folder / f'{name}.netfc': said for name, (_, said) in bad.items()}


def test_verify(built, tmp_path):
    assert 'good' in run('verify', built).stdout
    bad = write_bad_files(tmp_path, built)
    bad[tmp_path / 'missing.netfc'] = 'No such file'
    lines = run('verify', *bad, built, status=1).stdout.splitlines()
    assert len(lines) == len(bad) + 1 and 'good' in lines[-1]
    for line, (path, said) in zip(lines, bad.items()):
        assert line.startswith(f'{path}: BAD: ') and said in line
    verdicts = run_json('verify', tmp_path / 'forged.netfc', tmp_path / 'newer.netfc', status=1)
    assert verdicts[0]['difference']['key'] == -7 and verdicts[0]['set'] == 'fp16_k1024'
    assert 'newer' in verdicts[1]['error'] and not verdicts[1]['good']
    summed, = run_json('verify', tmp_path / 'summed.netfc', status=1)
    assert summed['difference'] == {'byte': summed['bytes'] - 1, 'where': 'checksum'}
    assert ', in the checksum' in run('verify', tmp_path / 'summed.netfc', status=1).stdout


def test_bad_files_are_refused_elsewhere(built, tmp_path):
    for path, said in write_bad_files(tmp_path, built).items():
        if path.stem not in ('flipped', 'forged'):
            assert said in complaint('size', path)


def test_list(built, tmp_path):
    known = run_json('list')['known']
    assert {'set': 'bf16_k64_floor', 'format': 'bf16', 'family': 'log', 'k': 64,
            'rounding': 'floor'} in known
    assert {'set': 'bf16_exact', 'format': 'bf16', 'family': 'exact', 'k': None,
            'rounding': 'nearest'} in known
    assert len({entry['set'] for entry in known}) == 2 * (11 + 10 + 8 + 9) + len(EXACT_SETS) + len(
        ('fp32_exact', 'fp8_e4m3_exact', 'fp8_e4m3_sat', 'fp8_e5m2_exact', 'fp8_e5m2_sat'))
    bad = write_bad_files(tmp_path, built)
    (tmp_path / 'fp16_k1024.netfc').write_bytes(built.read_bytes())
    (tmp_path / 'fp16_k1.netfc').write_bytes(built.read_bytes())
    text = run('list', env={'NETFC_TABLES_DIR': str(tmp_path)}).stdout
    assert text.count('not usable') == len(bad) - 1 and 'misnamed: holds fp16_k1024' in text
    states = {file['file']: file for file in run_json('list', '--dir', tmp_path)['files']}
    assert len(states) == len(bad) + 2
    assert states['fp16_k1024.netfc']['valid'] and not states['fp16_k1024.netfc']['misnamed']
    assert states['forged.netfc']['misnamed'] and 'error' in states['truncated.netfc']
    assert 'No such file' in complaint('list', '--dir', tmp_path / 'none')


def test_list_waits_for_no_pipe(tmp_path):
    os.mkfifo(tmp_path / 'pipe.netfc')
    file, = run_json('list', '--dir', tmp_path)['files']
    assert not file['valid'] and file['error'] == 'not a table-set file'


# ---- show ------------------------------------------------------------------------------------


def entries(name, table, *keys):
    """Some entries of a table, or all, by key."""
    return {entry['key']: entry for entry in run_json('show', name, table, *keys)['entries']}


def test_show_set(built):
    text = run('show', built).stdout
    assert 'binary16' in text and 'mi2' in text and 'theta = sat(j - i)' in text
    tables = {table['table']: table for table in run_json('show', built)['tables']}
    assert tables['log']['copies'] == 2 and tables['mi0']['occurring_keys'] == 2 * 15 * 1024 + 1


def test_show_entries():
    assert entries('fp16_k1024', 'log', '0x3c00', '3')[0x3C00]['value'] == 0
    assert entries('fp16_k1024', 'log', 3)[3]['value'] == -22953
    close = entries('fp16_k1024_floor', 'mi1', -1, 0, '0xfc00')
    assert [close[key]['value'] for key in (-1, 0, -1024)] == [-10782, -32768, -1024]
    assert close[0]['value_means'] == 'no result' and close[-1]['key_means'] == -1 / 1024
    top = entries('fp16_k1024', 'exp', 1024, 16384)
    assert top[1024]['value_means'] == 2.0 and top[16384]['value_means'] == 'inf'
    text = run('show', 'fp16_k1024', 'mi0', '-1024').stdout
    assert '0xfc00' in text and '-1024/1024 = -1' in text and '599/1024' in text


@pytest.mark.parametrize('table', ['log', 'mi0', 'mi2', 'exp'])
def test_ranges_for_people_are_the_entries(table):
    everything = entries('posit16_k16', table)
    bits = 15 if table == 'log' else 16
    assert len(everything) == 2**bits
    seen = 0
    for line in run('show', 'posit16_k16', table).stdout.splitlines()[1:]:
        words = line.split()
        first = int(words[0], 16)
        last = int(words[2], 16) if words[1] == '..' else first
        for number in range(seen, seen + (last - first) % 2**bits + 1):
            key = number if table == 'log' else number - 2**15
            seen += 1
            if 'never looked up' in line:
                assert not everything[key]['occurs']
            else:
                assert f'0x{everything[key]["value"] % 2**16:04x}' in words
    assert seen == 2**bits


def test_show_decide():
    rows = [line.split() for line in run('show', 'fp16_k1', 'decide').stdout.splitlines()]
    rows = [(*row[:3], row[3][:3], row[-3][0]) for row in rows if row and row[0] in ('yes', 'no')]
    yes, no = 'yes', 'no'
    assert rows == [(yes, yes, yes, 'mi0', '+'), (yes, yes, no, 'mi0', '+'),
                    (yes, no, yes, 'mi1', '+'), (yes, no, no, 'mi2', '-'),
                    (no, yes, yes, 'mi1', '-'), (no, yes, no, 'mi2', '+'),
                    (no, no, yes, 'mi0', '-'), (no, no, no, 'mi0', '-')]
    assert 'NaR div by 0' in run('show', 'posit16_k1', 'decide').stdout
    decision = entries('fp16_k1', 'decide', '0x342')[0x342]
    assert decision['key_means']['op'] == 'div' and decision['value_means']['z'] == 'inf'


def test_show_complains():
    assert 'mi1' in complaint('show', 'fp16_k1', 'mi')
    assert '32767' in complaint('show', 'fp16_k1', 'log', '32768')
    assert '-32768' in complaint('show', 'fp16_k1', 'exp', '1', '40000')
    assert 'nonsense' in complaint('show', 'fp16_k1', 'exp', 'nonsense')
    assert 'OP X Y' in complaint('show', '--walk', 'fp16_k1', 'add', '1')


@pytest.mark.parametrize('name', LARGEST_SETS + EXACT_SETS)
def test_walk_ends_where_calc_does(name):
    for op in OPERATIONS:
        walk = run_json('show', '--walk', name, op, '1.5', '-2.25')
        fields = {field['name']: field for step in walk.pop('steps') for field in step['fields']}
        assert walk == run_json('calc', name, op, '1.5', '-2.25')
        assert fields['z']['bits'] == walk['z']['bits'] and fields['|x|']['means'] == 1.5
    text = run('show', name, '-w', 'div', '-1', '0').stdout
    assert 'whatever the stages compute' in text and 'division by zero' in text


# ---- calc ------------------------------------------------------------------------------------


def test_calc():
    result = run_json('calc', 'fp16_k1024', 'mul', '1.1', '0x4200')
    assert result['x'] == {'bits': '0x3c66', 'value': 1.099609375} and result['op'] == 'mul'
    assert result['exact']['bits'] == '0x4299' and result['accuracy'] > 0.999
    assert run_json('calc', 'fp16_k1024', '-', '-1e-3', '-inf')['z']['value'] == 'inf'
    assert run_json('calc', 'bf16_k128', 'add', 'nan', '1')['z']['value'] == 'nan'
    assert run_json('calc', 'posit16_k512', 'x', '1e999', '1')['x']['bits'] == '0x7fff'
    assert run_json('calc', 'posit16_k512', 'x', '-1e-999', '1')['x']['bits'] == '0xffff'
    overflow = run('calc', '--hex', 'fp16_k1024', 'mul', '7bff', '4000').stdout
    assert overflow.count('exceptions: overflow') == 2 and 'accuracy 100' in overflow
    for operand in ('', '1,5', '0x12345', '0x', '1.5x', '0x1p3', 'nan(1)'):
        assert 'is not an operand' in complaint('calc', 'fp16_k1', 'add', operand, '1')
    assert "'pow'" in complaint('calc', 'fp16_k1', 'pow', '1', '1')


def test_a_short_option_that_does_not_exist_is_unknown():
    """--hex and --json have no short form."""
    for option in ('-x', '-j'):
        assert f"invalid option -- '{option[1]}'" in complaint('calc', option, 'fp16_k1', 'add',
                                                               '1', '1')


@pytest.mark.parametrize('name', LARGEST_SETS + EXACT_SETS)
@pytest.mark.parametrize('op', OPERATIONS)
def test_hex_stream(name, op):
    special = [0, 0x8000, 1, 0x3C00, 0x7BFF, 0x7C00, 0x7E00, 0x7F80, 0xFF80, 0xFFFF]
    pairs = [(x, y) for x in special for y in special]
    draw = random.Random(op)
    pairs += [(draw.getrandbits(16), draw.getrandbits(16)) for _ in range(500)]
    answers = run('calc', '--stream', '--hex', name, op,
                  stdin=''.join(f'{x:04X} {y:04X} 0000 01\n' for x, y in pairs)).stdout
    expected = ((x, y, *oracle.calc(oracle.table_set(name), OPERATIONS[op], x, y))
                for x, y in pairs)
    assert answers == ''.join('%04X %04X %04X %02X\n' % line for line in expected)


def test_text_and_json_streams():
    lines = 'add 1.5 0x3c00\nmul -2 nan\r\n/ 1 0'
    text = run('calc', '--stream', 'fp16_k1024', stdin=lines).stdout.splitlines()
    assert text[0].startswith('1.5 + 1 = 2.5 0x4100, exact 2.5 0x4100') and len(text) == 3
    objects = run('calc', '--stream', '--json', 'fp16_k1024', stdin=lines).stdout.splitlines()
    assert json.loads(objects[2])['z'] == {
        'bits': '0x7c00', 'value': 'inf', 'flags': ['division by zero']}
    mixed = run('calc', '--stream', '--hex', 'fp16_k1024', stdin='sub 4000 3C00\nadd 0 8000\n')
    assert mixed.stdout == 'sub 4000 3C00 3C00 00\nadd 0000 8000 0000 00\n'
    assert run('calc', '--stream', 'fp16_k1024').stdout == ''


@pytest.mark.parametrize('line', ['', ' ', '1', '1 2 3', 'x 2', '1 2 3 4 5', '0x12345 1', '1 \0'])
def test_bad_line_of_a_stream(line):
    for options in ((), ('--hex',), ('--json',)):
        done = run('calc', '--stream', *options, 'fp16_k1024', 'add', status=1,
                   stdin=f'3 4\n1 2\n{line}\n1 1\n')
        assert 'line 3' in done.stderr and len(done.stdout.splitlines()) == 2


def test_stream_answers_before_its_input_ends():
    with subprocess.Popen([PROGRAM, 'calc', '--stream', '--hex', 'fp16_k1', 'add'], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1) as program:
        for _ in range(3):
            program.stdin.write('3C00 3C00\n')
            assert program.stdout.readline() == '3C00 3C00 4000 00\n'
        program.stdin.close()
        assert program.wait(TIMEOUT_S) == 0


# ---- size ------------------------------------------------------------------------------------


def test_size_accounts_for_the_papers_448_kb():
    sizes = run_json('size', 'fp16_k1024')
    paper = sum(table['copies'] * table['paper_bytes'] for table in sizes['tables'])
    assert paper == sizes['paper_bytes'] == sizes['total']['slot_bytes'] == 448 * 1024
    assert 22 < sizes['total']['merged']['saved_percent'] < 25
    assert 26 < sizes['total']['optimal']['saved_percent'] < 28
    text = run('size', 'fp16_k1024').stdout
    assert '448.0' in text and 'log, copy 2' in text and '% less' in text


@pytest.mark.parametrize('name', ['fp16_k1', 'posit16_k512', 'bf16_k16_floor', 'posit16_es2_k256'])
def test_sizes_add_up(name):
    sizes = run_json('size', name)
    for kind in ('plain', 'merged', 'optimal'):
        parts = [table['copies'] * table[kind]['entries'] for table in sizes['tables']]
        assert sum(parts) == sizes['total'][kind]['entries']
    for table in sizes['tables']:
        counts = [table[kind]['entries'] for kind in ('optimal', 'merged', 'plain')]
        assert counts == sorted(counts) and counts[-1] <= table['slots']
