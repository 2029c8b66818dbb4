# SPDX-License-Identifier: BSD-3-Clause
"""netfc-tables build --function: expressions and values in, function files out, and bad input."""

import math
import os
import random
import re
import shlex
from fractions import Fraction

import numpy as np
import pytest

import project_scripts
import sanitized
import switch
from table_builder import complaint, run, run_json

import netfc
from oracle.extended import rounded_to_odd

FORMATS = tuple(name for name, form in netfc.formats.NUMBER_FORMATS.items() if form.bits <= 16)
SATURATING = ('fp8_e4m3_sat', 'fp8_e5m2_sat')


def build(folder, name, *options, status=0):
    """Builds NAME.netfcfun in a folder; gives the report as JSON."""
    path = folder / f'{name}.netfcfun'
    report = run_json('build', '--function', name, '-d', folder, *options, status=status)
    assert report['file'] == str(path) and path.stat().st_size == report['bytes']
    return report


def entries(path):
    """The encodings of all values, which a file has behind its header, with their flags and a checksum."""
    with open(path, 'rb') as file:
        data = file.read()
    return np.frombuffer(data, '>u2', (len(data) - 52 - 4) // 3, 52)


def exact(x):
    """A number without the rounding of floats."""
    return Fraction(x) if math.isfinite(x) else x


@pytest.mark.parametrize('name', FORMATS)
@pytest.mark.parametrize('expression, python', [
    ('max(x, 0)', lambda x: x if x > 0 else 0.0),
    ('min(1, -x)', lambda x: min(1.0, -x)),
    ('1.5e0*x - 2 ^ -3 + .25', lambda x: Fraction(3, 2) * exact(x) + Fraction(1, 8)),
    ('-x^2/3', lambda x: -(exact(x) ** 2) / 3 if x else -0.0),
    ('2^3^0.5 + pi*e - (x)', lambda x: 2 ** 3 ** 0.5 + math.pi * math.e - x),
    ('atan2(abs(x), hypot(3, 4))', lambda x: math.atan2(abs(x), 5.0)),
])
def test_expressions(tmp_path, name, expression, python):
    report = build(tmp_path, 'mine', '--expression', expression, '--format', name)
    assert report['format'] == name and report['function'] == 'mine'
    number_format = netfc.Format(name)
    values = number_format.decode(np.arange(1 << number_format.bits, dtype=number_format.encodings))
    results = [math.nan if math.isnan(x) else python(float(x)) for x in values]
    expected = number_format.encode([
        rounded_to_odd(z) if isinstance(z, Fraction) and z != 0 else float(z) for z in results])
    np.testing.assert_array_equal(entries(report['file']), expected)


def test_report_and_use(tmp_path):
    text = run('build', '--function', 'half', '--expression', 'x / 2', cwd=tmp_path).stdout
    assert text.startswith('half: wrote half.netfcfun, 196,664 bytes, 65,536 entries of fp16')
    assert 'Every normal result is exact.' in text
    assert 'underflow: 2 of 65,536 arguments' in text  # the least number and its negative
    path = tmp_path / 'half.netfcfun'
    assert run_json('calc', path, '3')['result'] == {'bits': '0x3e00', 'value': 1.5, 'flags': []}
    assert run_json('calc', path, '0x0001')['result']['flags'] == ['underflow']
    assert run('show', path, '-inf', 'nan').stdout.splitlines() == [
        '0xfc00  -inf             -> 0xfc00  -inf', '0x7e00  NaN              -> 0x7e00  NaN']
    assert run('build', '-q', '-f', 'half', '--expression', 'x/2', '-o', path).stdout == ''


def test_the_example_of_the_document(tmp_path):
    """It says what the document says."""
    text = (project_scripts.SCRIPTS.parent / 'docs' / 'functions.md').read_text(encoding='utf-8')
    command = re.search(r"netfc-tables (build --function softplus .*)\n", text)[1]
    expected = re.search(r'and ends with\n\n```text\n(.*?)```', text, re.DOTALL)[1]
    said = run(*shlex.split(command), cwd=tmp_path).stdout
    assert expected and said.endswith(expected)
    assert 'log1p, log2' in complaint('build', '-f', 'f', '--expression', 'f(x)', cwd=tmp_path)


def test_exceptions(tmp_path):
    report = build(tmp_path, 'inverse', '--expression', '1 / x')
    assert report['exceptions']['division by zero'] == 2
    result = run_json('calc', report['file'], '-0')['result']
    assert result == {'bits': '0xfc00', 'value': '-inf', 'flags': ['division by zero']}
    assert report['exceptions']['overflow'] == 512  # 1 / x of the least 256 numbers, both signs
    assert 0 < report['greatest_relative_error'] <= 2 ** -11


# The library's functions as expressions; conversions to fixed point are none of a format.
EXPRESSIONS = {
    'abs': 'abs(x)', 'neg': '-x', 'floor': 'floor(x)', 'ceil': 'ceil(x)', 'trunc': 'trunc(x)',
    'round': 'round(x)', 'sqrt': 'sqrt(x)', 'rsqrt': '1 / sqrt(x)', 'reciprocal': '1 / x',
    'exp': 'exp(x)', 'exp2': '2^x', 'ln': 'ln(x)', 'log2': 'log2(x)', 'sin': 'sin(x)', 'cos': 'cos(x)',
    'tanh': 'tanh(x)', 'sigmoid': '1 / (1 + exp(-x))', 'erf': 'erf(x)',
    'gelu': 'x / 2 * erfc(-x / sqrt(2))', 'silu': 'x * sigmoid(x)',
}


@pytest.mark.skipif(sanitized.is_sanitized(), reason='libnetfc in a process without the sanitizer')
@pytest.mark.parametrize('name', FORMATS)
@pytest.mark.parametrize('function', EXPRESSIONS)
def test_expressions_give_the_library_s_tables(tmp_path, function, name):
    """Every encoding and every flag, at all arguments."""
    library = netfc.Library(switch.BUILD)
    report = build(tmp_path, 'mine', '--expression', EXPRESSIONS[function], '--format', name)
    mine, theirs = netfc.Function.load(report['file'], library), netfc.Function(function, name, library)
    np.testing.assert_array_equal(mine.entries, theirs.entries)
    np.testing.assert_array_equal(mine.entry_flags, theirs.entry_flags)


@pytest.mark.parametrize('name', SATURATING)
@pytest.mark.parametrize('function', ('neg', 'reciprocal', 'exp', 'ln'))
def test_expressions_saturate_as_the_library_does(tmp_path, function, name):
    report = build(tmp_path, 'mine', '--expression', EXPRESSIONS[function], '--format', name)
    assert report['format'] == name.removesuffix('_sat')
    for x in ('0x7c', '0xfc', '0x7f', '-0', '0', '0x01', '0x82', '1', '6', '6.5', '12', '-448'):
        theirs = run_json('calc', name, function, x)
        assert run_json('calc', report['file'], x)['result'] == theirs['result'], x


@pytest.mark.parametrize('expression, name, x, bits, flags', [
    # Poles are zeros that something is divided by, nothing that is merely too small.
    ('1 / exp(x)', 'fp16', '-800', '0x7c00', ['overflow']),
    ('1 / exp(x)', 'posit16', '-800', '0x7fff', []),
    ('1 / exp(x)', 'fp8_e4m3', '-50', '0x7f', ['overflow']),
    ('1 / x', 'fp8_e4m3', '0', '0x7f', ['division by zero']),
    ('sqrt(x)', 'fp8_e4m3', '-1', '0x7f', ['invalid']),
    ('x + 10', 'fp8_e4m3_sat', '448', '0x7e', []),
    ('x * 2', 'fp8_e4m3_sat', '-448', '0xfe', ['overflow']),
    ('1 / x', 'fp8_e5m2_sat', '-0', '0xfb', ['division by zero']),
    ('exp(1 / x)', 'fp16', '0', '0x7c00', ['division by zero']),
    ('exp(-1 / x)', 'fp16', '0', '0x0000', []),
    ('abs(x)^-pi', 'posit16', '0', '0x8000', ['division by zero']),
    ('1 / sin(pi * x)', 'posit16', '3', '0x8000', ['division by zero']),
    ('atan(1 / x)', 'fp16', '-0', '0xbe48', []),
    # On both sides of a pole, and at -0, whose sign it keeps.
    ('tan(x)', 'fp8_e4m3', '1.5', '0x56', []),
    ('tan(x)', 'fp8_e4m3', '2', '0xc1', []),
    ('+tan(x)', 'fp8_e4m3', '11', '0xf6', []),
    ('tan(x)', 'fp8_e4m3', '-0', '0x80', []),
    # What is too small for any precision is not zero, nor 1 what is 1 but for that.
    ('ln(1 + exp(x))', 'fp16', '-60000', '0x0000', ['underflow']),
    ('ln(1 + exp(x))', 'posit16_es2', '-1e16', '0x0001', []),
    ('(1 + exp(x))^2 - 1', 'bf16', '-1e30', '0x0000', ['underflow']),
    ('max(0, 1 - tanh(x))', 'posit16', '1e8', '0x0001', []),
    ('floor(tanh(x)) + ceil(erfc(x))', 'bf16', '1e9', '0x3f80', []),
    ('sin(exp(-abs(x)))', 'bf16', '-1e9', '0x0000', ['underflow']),
    ('1.00048828125 + exp(x)', 'fp16', '-60000', '0x3c01', []),
    ('1.00048828125 - exp(x)', 'fp16', '-60000', '0x3c00', []),
    # What is exact though its parts are not.
    ('sqrt(2)^2 * (x + 0.00048828125)', 'fp16', '1', '0x4000', []),
    ('sqrt(2)^2 * (x + 0.00146484375)', 'fp16', '1', '0x4002', []),
    ('round(ln(exp(x)) + 0.5)', 'fp16', '2', '0x4000', []),
    ('sin(pi * x)', 'posit16_es2', '7', '0x0000', []),
    ('acos(cos(pi * x)) / pi', 'fp16', '1', '0x3c00', []),
    # Of negative numbers, integer powers alone.
    ('x^0.1', 'fp16', '-2', '0x7e00', ['invalid']),
    ('x^0.1', 'fp16', '-0', '0x0000', []),
    ('x^(1/3)', 'bf16', '-inf', '0x7f80', []),
    ('x^-0.1', 'fp16', '-0', '0x7c00', ['division by zero']),
    ('x^(0.1 * 30)', 'fp16', '-2', '0xc800', []),
    ('x^cbrt(x)', 'posit16', '-8', '0x0800', []),
    ('x^cbrt(x)', 'posit16', '-7', '0x8000', ['invalid']),
    # To infinite powers, of either sign, as IEEE 754's pow.
    ('(-7.25^pi)^(1/0)', 'fp16', '0', '0x7c00', ['division by zero']),
    ('(-7.25^pi)^(-1/0)', 'fp16', '0', '0x0000', []),
    ('(-pi/4)^(1/0)', 'fp16', '0', '0x0000', []),
    ('(-pi/4)^(-1/0)', 'bf16', '0', '0x7f80', ['division by zero']),
    ('(sin(1) - sin(1)*sqrt(2)^2/2)^(1/0)', 'fp16', '0', '0x0000', []),
    ('(-1)^(1/0)', 'fp16', '0', '0x3c00', []),
    # Cancellation.
    ('exp(x) - 1 - x', 'bf16', '1e-20', '0x0001', []),
    ('cos(x) - 1', 'bf16', '1e-30', '0x8000', ['underflow']),
    ('(1 - cos(x)) / x^2', 'bf16', '1e-38', '0x3f00', []),
    # At infinities limits, unless nothing comes near one.
    ('x * exp(-x)', 'fp16', 'inf', '0x0000', []),
    ('x / (1 + x)', 'bf16', '-inf', '0x3f80', []),
    ('x * sin(1 / x)', 'fp16', 'inf', '0x3c00', []),
    ('x^2 + x - x^2', 'fp16', 'inf', '0x7e00', ['invalid']),
    ('sin(x) / x', 'fp16', 'inf', '0x7e00', ['invalid']),
    ('sqrt(x)', 'fp16', '-2', '0x7e00', ['invalid']),
    # NaN is the one NaN of a format, whatever its sign and its other bits were.
    ('-x', 'fp16', '0xfe01', '0x7e00', []), ('abs(x)', 'bf16', '0xffff', '0x7fc0', []),
])
def test_single_values(tmp_path, expression, name, x, bits, flags):
    report = build(tmp_path, 'mine', '--expression', expression, '--format', name)
    result = run_json('calc', report['file'], x)['result']
    assert (result['bits'], result['flags']) == (bits, flags)


def test_values_in_order(tmp_path):
    table = netfc.Function('silu', library=netfc.Library(switch.BUILD)).entries \
        if not sanitized.is_sanitized() else np.arange(65536)
    (tmp_path / 'bits').write_text(''.join(f'0x{z:04x}\n' for z in table))
    report = build(tmp_path, 'mine', '--from', tmp_path / 'bits')
    assert report['greatest_relative_error'] is None
    assert entries(report['file']).tolist() == list(table)
    shown = [int(entry['result']['bits'], 16) for entry in run_json('show', report['file'])]
    assert shown == list(table)
    # Decimal numbers, comments, blank lines.
    numbers = '# celsius\n\n' + ''.join(f' {x / 8}\t# {x}\n' for x in range(65536))
    (tmp_path / 'numbers').write_text(numbers)
    report = build(tmp_path, 'mine', '--from', tmp_path / 'numbers', '--format', 'posit16_es2')
    expected = netfc.Format('posit16_es2').encode(np.arange(65536) / 8)
    assert entries(report['file']).tolist() == expected.tolist()


def test_values_of_8_bits(tmp_path):
    (tmp_path / 'values').write_text(''.join(f'0x{z:02x}\n' for z in reversed(range(256))))
    report = build(tmp_path, 'mine', '--from', tmp_path / 'values', '--format', 'fp8_e4m3')
    assert report['bytes'] == 52 + 3 * 256 + 4
    assert entries(report['file']).tolist() == list(reversed(range(256)))
    assert run('show', report['file'], '0x38').stdout == '0x38  1                -> 0xc7  -3.75\n'
    assert len(run('show', report['file']).stdout.splitlines()) == 256
    with open(tmp_path / 'values', 'a', encoding='ascii') as file:
        file.write('0x100\n')
    said = complaint('build', '-f', 'mine', '--from', 'values', '--format', 'fp8_e5m2', cwd=tmp_path)
    assert 'line 257: more values than there are encodings of x' in said
    (tmp_path / 'values').write_text('0x100\n')
    said = complaint('build', '-f', 'mine', '--from', 'values', '--format', 'fp8_e5m2', cwd=tmp_path)
    assert "line 1: neither a number nor an encoding: '0x100'" in said


def test_flags_of_encodings(tmp_path):
    """NaN is invalid, and only an infinity a division by zero, whether given as a word or as an encoding."""
    values = ['0'] * 65536
    values[0x3c00], values[0x4000], values[0x4200], values[0x4400] = 'nan', '0x7e00', 'inf', '0xfc00'
    (tmp_path / 'values').write_text('\n'.join(values))
    report = build(tmp_path, 'mine', '--from', tmp_path / 'values')
    flags = [run_json('calc', report['file'], x)['result']['flags'] for x in '12345']
    assert flags == [['invalid'], ['invalid'], ['division by zero'], ['division by zero'], []]


def test_pairs(tmp_path):
    lines = [f'0x{x:04x} {x % 100}' for x in range(65536) if x & 0x7FFF <= 0x7C00]
    lines[lines.index('0x3c00 60')] = '1 -inf'
    random.Random(1).shuffle(lines)
    (tmp_path / 'pairs').write_text('\n'.join(lines))
    report = build(tmp_path, 'mine', '--from', tmp_path / 'pairs')
    assert run_json('calc', report['file'], '1')['result'] == {
        'bits': '0xfc00', 'value': '-inf', 'flags': ['division by zero']}
    assert run_json('calc', report['file'], '0x0063')['result']['value'] == 99
    assert run_json('calc', report['file'], 'nan')['result']['flags'] == []


def test_an_expression_in_a_file(tmp_path):
    (tmp_path / 'mine').write_text('# twice\nf(x) = 2 * x  # that is all\n')
    report = build(tmp_path, 'twice', '--from', tmp_path / 'mine')
    assert run_json('calc', report['file'], '1.5')['result']['value'] == 3


@pytest.mark.parametrize('expression, message', [
    ('', 'expected a value'), (' ', 'a number, x or a function is missing'), ('x +', 'is missing'), ('(x', 'a ) is missing'),
    ('x x', 'character 3: an operator is missing'), ('relu(x)', 'an unknown name'),
    ('sqrt x', 'a ( is missing'), ('min(x)', 'too few arguments'), ('0x10', 'decimal'),
    ('exp(x, x)', 'too many arguments'), ('(' * 200 + 'x', 'nested too deeply'),
    ('-' * 200 + 'x', 'nested too deeply'),
    ('sin(exp(exp(x)))', '1536 bits do not tell the value'),
    ('x $ 2', 'an operator is missing')])
def test_expressions_that_are_none(tmp_path, expression, message):
    said = complaint('build', '-f', 'mine', '--expression', expression, cwd=tmp_path)
    assert message in said and not list(tmp_path.iterdir())
    if message == 'an unknown name':
        assert 'log1p' in said


def test_files_that_are_none(tmp_path):
    def said(text):
        (tmp_path / 'values').write_bytes(text.encode())
        return complaint('build', '-f', 'mine', '--from', 'values', cwd=tmp_path)

    assert '65436 of 65,536 values are missing, the first that of x = 0x0064' in said('1\n' * 100)
    assert 'line 65537: more values than there are encodings of x' in said('1\n' * 65537)
    assert "line 3: neither a number nor an encoding: 'one'" in said('1\n\none\n')
    assert 'line 2: expected one value' in said('1\n1 2\n')
    assert 'line 2: expected x and a value' in said('1 2\n1\n')
    assert 'line 1: expected one value' in said('1 2 3\n')
    assert "line 2: x is given twice: '0x3c00'" in said('1 2\n0x3c00 3\n')
    assert "line 1: x is not a number of the format: '0.1'" in said('0.1 2\n')
    assert "line 1: x is neither a number nor an encoding: 'x'" in said('x 2\n')
    assert '65535 of 65,536 values are missing' not in said('1 2\n')  # NaN need not be there
    assert '63487 of 65,536' not in said('') and 'missing' in said('')
    assert 'there is more than the expression' in said('f(x) = x\n1\n')
    assert 'line 2: it is no line of text' in said('1\n2\0\n3\n')
    assert 'line 1: it is no line of text' in said('1' * 20000)
    assert 'No such file' in complaint('build', '-f', 'mine', '--from', 'nowhere', cwd=tmp_path)
    assert 'line 1: it is no line' in complaint('build', '-f', 'mine', '--from', '/dev/zero')
    assert 'directory' in complaint('build', '-f', 'mine', '--from', '.', cwd=tmp_path, status=2)


def test_wrong_options(tmp_path):
    def said(*options):
        return complaint('build', *options, cwd=tmp_path)

    assert 'either --from or --expression' in said('-f', 'mine')
    assert 'either --from or' in said('-f', 'mine', '--from', 'a', '--expression', 'x')
    assert "--function '': expected a value" in said('-f', '', '--expression', 'x')
    for name in ('sqrt', 'Mine', 'a b', 'fma', 'add', '2x', 'to_q16', 'from_bf16', 'to_int32'):
        assert 'is not a name' in said('-f', name, '--expression', 'x')
    assert 'reads as a conversion' in said('-f', 'to_q16', '--expression', 'x')
    for name in ('fp17', 'fp8_e4m3_exact', 'fp32', 'fp16_sat'):
        assert f"'{name}' is not a format of your own functions" in said(
            '-f', 'mine', '--expression', 'x', '--format', name)
    assert 'are for a --function' in said('fp16_k1', '--expression', 'x')
    assert 'or a --function' in said('fp16_k1', '-f', 'mine', '--expression', 'x')
    assert not list(tmp_path.iterdir())


def test_damaged_files(tmp_path):
    path = tmp_path / 'mine.netfcfun'
    run('build', '-q', '-f', 'mine', '--expression', 'x', '-o', path)
    whole = path.read_bytes()
    for data, what in ((whole[:1000], 'ends too early'), (whole + b'x', 'goes on after'),
                       (whole[:600] + b'\xff' + whole[601:], 'wrong checksum'),
                       (b'', 'not a function file'), (b'NetFCset' + whole[8:], 'not a function')):
        path.write_bytes(data)
        assert what in complaint('calc', path, '1') and what in complaint('show', path)
        if not sanitized.is_sanitized():
            with pytest.raises(ValueError, match=what):
                netfc.Function.load(path, netfc.Library(switch.BUILD))
    os.unlink(path)
    assert 'No such file' in complaint('show', path)


@pytest.mark.skipif(sanitized.is_sanitized(), reason='libnetfc in a process without the sanitizer')
def test_python_loads_what_was_built(tmp_path):
    library = netfc.Library(switch.BUILD)
    report = build(tmp_path, 'cube', '--expression', 'x^3', '--format', 'bf16')
    cube = netfc.Function.load(report['file'], library)
    assert (cube.name, cube.format.name) == ('cube', 'bf16') and cube(3) == 27
    assert cube.flags(1e30) == netfc.Flag.OVERFLOW and not cube.entries.flags.writeable
    with pytest.raises(FileNotFoundError):
        netfc.Function.load(tmp_path / 'none.netfcfun', library)
