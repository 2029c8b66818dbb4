# SPDX-License-Identifier: BSD-3-Clause
"""netfc-tables with what needs no table set: functions of one number, min, max, compare and fma."""

from fractions import Fraction

import pytest

import oracle
from table_builder import complaint, run, run_json

FORMATS = ('fp16', 'posit16', 'bf16', 'posit16_es2')
ENTRIES = 0x10000


def values_of(name, function):
    """(argument, result) of every entry: values, bits as the table has them."""
    return [((entry['x']['bits'], entry['x']['value']),
             (entry['result']['bits'], entry['result']['value']))
            for entry in run_json('show', name, function)]


def test_every_function_is_listed():
    listed = run_json('list', '--functions')
    names = [function['name'] for function in listed['functions']]
    assert len(names) == len(set(names)) == 61
    assert {'sqrt', 'gelu', 'to_bf16', 'to_int16', 'from_q15'} <= set(names)
    assert [operation['name'] for operation in listed['operations']] == [
        'min', 'max', 'compare', 'fma']
    text = run('list', '-f').stdout
    assert all(name in text for name in names) and 'square root' in text
    for name in names:
        assert run('calc', 'bf16', name, '0.5').stdout.startswith(f'bf16: {name} 0')


@pytest.mark.parametrize('name', FORMATS)
def test_roots_by_exact_integers(name):
    """sqrt lies between the boundaries of its encoding, which squares compare exactly."""
    edges = oracle.FORMATS_BY_NAME[name].edges
    checked = 0
    for (_, x), (bits, z) in values_of(name, 'sqrt'):
        if not isinstance(x, float | int) or x <= 0:
            continue
        magnitude = int(bits, 16)
        assert magnitude < 0x8000 and z > 0
        below, above = Fraction(float(edges[magnitude - 1])), Fraction(float(edges[magnitude]))
        assert below ** 2 <= Fraction(x) <= above ** 2
        checked += 1
    assert checked > 30000


def test_calc_says_what_goes_in_and_out():
    assert run('calc', 'fp16', 'sqrt', '2').stdout.splitlines() == [
        'fp16: sqrt 2 = 1.4140625', '', 'x   0x4000  fp16         2',
        '=   0x3da8  fp16         1.4140625', 'exceptions: none']
    assert run_json('calc', 'posit16', 'to_q8', '1.25') == {
        'format': 'posit16', 'op': 'to_q8', 'x': {'bits': '0x4400', 'value': 1.25},
        'result': {'bits': '0x0140', 'value': 1.25, 'flags': []}}
    assert 'int16 / 2^8' in run('calc', 'posit16', 'to_q8', '1.25').stdout
    assert run_json('calc', '--hex', 'fp16', 'from_q15', '8000')['result']['value'] == -1
    assert run_json('calc', 'posit16', 'from_q15', '0x8000')['result']['value'] == 'nar'
    # In the format of a table set.
    assert run_json('calc', 'bf16_k128', 'exp2', '10')['result']['value'] == 1024
    assert run_json('calc', 'fp16_exact', 'max', '-0', '0')['result']['bits'] == '0x0000'


def test_a_file_of_a_set_names_its_format(tmp_path):
    path = tmp_path / 'set.netfc'
    run('build', '--quiet', '-o', path, 'fp8_e4m3_sat')
    assert run_json('calc', path, 'exp', '9')['result']['value'] == 448
    assert run_json('calc', path, 'max', '1', '2')['result']['value'] == 2
    assert run('show', path, 'exp', '9').stdout == run('show', 'fp8_e4m3_sat', 'exp', '9').stdout
    path.write_bytes(path.read_bytes()[:-1])
    assert 'ends too early' in complaint('calc', path, 'exp', '9')


@pytest.mark.parametrize('name', ['fp32', 'fp32_exact', 'fp17'])
@pytest.mark.parametrize('words', [['sqrt', '2'], ['min', '1', '2'], ['fma', '1', '2', '3']])
def test_a_format_without_functions(name, words):
    """binary32 has add, sub, mul and div only."""
    text = complaint('calc', name, *words)
    assert f"'{name}' is not a format of {words[0]}; its formats are fp16," in text
    assert text.endswith('fp8_e4m3, fp8_e5m2\n')


def test_known_formats_are_those_of_the_function():
    """binary32 has conversions alone; what no format has is not blamed on the format."""
    assert complaint('calc', 'fp17', 'to_bf16', '1').endswith('fp8_e4m3, fp8_e5m2, fp32\n')
    assert run('calc', 'fp32', 'to_bf16', '1').stdout.startswith('fp32: to_bf16 1 = 1\n')
    assert 'calc: add needs a table set, such as fp32_exact' in complaint('calc', 'fp32', 'add', '1', '2')
    assert "no function or operation 'cbrt'" in complaint('calc', 'fp32', 'cbrt', '1')


@pytest.mark.parametrize('function, x, value, flags', [
    ('sqrt', '-0', '0x8000', []), ('sqrt', '-1', '0x7e00', ['invalid']),
    ('rsqrt', '-0', '0xfc00', ['division by zero']), ('ln', '0', '0xfc00', ['division by zero']),
    ('ln', '-inf', '0x7e00', ['invalid']), ('reciprocal', '-inf', '0x8000', []),
    ('reciprocal', '0x0001', '0x7c00', ['overflow']), ('exp', '-20', '0x0000', ['underflow']),
    ('exp', '-inf', '0x0000', []), ('sin', 'inf', '0x7e00', ['invalid']),
    ('tanh', '-inf', '0xbc00', []), ('gelu', '-inf', '0x8000', []),
    ('round', '2.5', '0x4000', []), ('round', '-0.25', '0x8000', []),
    ('floor', '-0.25', '0xbc00', []), ('neg', 'nan', '0x7e00', []),
    ('to_posit16', 'inf', '0x8000', ['invalid']), ('to_posit16', 'nan', '0x8000', []),
    ('to_int16', 'nan', '0x0000', ['invalid']), ('to_int16', '40000', '0x7fff', ['invalid']),
    ('to_int16', '-inf', '0x8000', ['invalid']), ('to_int16', '-32768', '0x8000', [])])
def test_special_values(function, x, value, flags):
    result = run_json('calc', 'fp16', function, x)['result']
    assert (result['bits'], result['flags']) == (value, flags)


def test_two_and_three_operands():
    def bits(*operation):
        return run_json('calc', *operation)['result']['bits']

    assert bits('fp16', 'min', '-0', '0') == '0x8000' and bits('fp16', 'min', '1', 'nan') == '0x7e00'
    assert bits('fp16', 'compare', '1', '2') == '0xbc00'
    assert bits('fp16', 'compare', 'nan', 'nan') == '0x7e00'
    assert bits('posit16', 'compare', 'nar', '-1') == '0xc000'
    # (1 + 2^-10)^2 - (1 + 2^-9) = 2^-20, which a product rounded first would lose
    one = Fraction(1, 1024)
    fused = run_json('calc', 'fp16', 'fma', str(float(1 + one)), str(float(1 + one)),
                     str(float(-1 - 2 * one)))
    assert fused['result']['value'] == float(one ** 2) and fused['z']['bits'] == '0xbc02'


def test_show_some_entries():
    assert run('show', 'fp16', 'ln', '0', '1', '-2').stdout.splitlines() == [
        '0x0000  0                -> 0xfc00  -inf, division by zero',
        '0x3c00  1                -> 0x0000  0',
        '0xc000  -2               -> 0x7e00  NaN, invalid']
    assert len(run('show', 'bf16', 'cos').stdout.splitlines()) == ENTRIES
    assert run('show', 'fp32', 'to_fp8_e4m3', '1', '1000').stdout.splitlines() == [
        '0x3f800000  1                -> 0x38  1', '0x447a0000  1000             -> 0x7f  NaN, overflow']
    assert run('calc', 'fp8_e4m3_sat', 'exp', '9').stdout.startswith('fp8_e4m3_sat: exp 9 = 448\n')
    # A set that has no table of the name: in its format, saturated where that is.
    assert run('show', 'fp8_e4m3_sat', 'exp', '9').stdout == '0x51  9                -> 0x7e  448, overflow\n'
    assert run('show', 'fp16_exact', 'ln', '0').stdout == run('show', 'fp16', 'ln', '0').stdout
    assert run('show', 'fp16_k8', 'exp', '3').stdout.startswith('KEY ')
    assert 'round' in complaint('show', 'fp8_e4m3_sat', 'min', '1')
    assert 'name some X' in complaint('show', 'fp32', 'to_bf16')
    assert "'fp32' is not a format of sqrt" in complaint('show', 'fp32', 'sqrt', '1')
    [entry] = run_json('show', 'fp16', 'from_int16', '-3')
    assert entry == {'x': {'bits': '0xfffd', 'value': -3},
                     'result': {'bits': '0xc200', 'value': -3, 'flags': []}}


@pytest.mark.parametrize('name', FORMATS)
def test_fixed_point_by_exact_fractions(name):
    for (x_bits, x), (_, q) in values_of(name, 'to_q4'):
        if isinstance(x, float | int) and abs(x) < 2047:
            scaled = Fraction(x) * 16
            assert abs(Fraction(q) * 16 - scaled) <= Fraction(1, 2), x_bits
            assert Fraction(q) * 16 == round(scaled), x_bits


def test_bad_input():
    assert 'its formats are fp16' in complaint('calc', 'fp17', 'sqrt', '1')
    assert 'sqrt needs X;' in complaint('calc', 'fp16', 'sqrt', '1', '2')
    assert 'fma needs X, Y and Z;' in complaint('calc', 'fp16', 'fma', '1', '2')
    assert "'cbrt'" in complaint('calc', 'fp16', 'cbrt', '1')
    assert 'list --functions' in complaint('calc', 'fp16', 'cbrt', '1')
    assert 'fp16_exact' in complaint('calc', 'fp16', 'add', '1', '2')
    assert "'fma' is not a function" in complaint('show', 'fp16', 'fma')
    assert 'list --functions' in complaint('show', 'fp16', 'cbrt')
    for operand in ('', 'nan', '40000', '1.5x', '0x12345', '-32769'):
        assert 'that fits' in complaint('calc', 'fp16', 'from_int16', operand)
        assert 'that fits' in complaint('show', 'fp16', 'from_int16', operand)
    assert "'x'" in complaint('calc', 'fp16', 'exp', 'x')
