# SPDX-License-Identifier: BSD-3-Clause
"""Decimal numbers as operands: rounded once, from their digits to the format."""

import json

import pytest

import decimals
from table_builder import complaint, run, run_json

SETS = {'fp16': 'fp16_exact', 'bf16': 'bf16_exact', 'posit16': 'posit16_exact',
        'posit16_es2': 'posit16_es2_exact', 'fp32': 'fp32_exact'}


@pytest.mark.parametrize('name', SETS)
def test_the_nearest_encoding(name):
    texts, expected = zip(*decimals.cases(name, step=97))
    lines = ''.join(f'{text} {text}\n' for text in texts)
    answers = run('calc', '--stream', '--json', SETS[name], 'sub', stdin=lines).stdout
    read = [json.loads(line)['x']['bits'] for line in answers.splitlines()]
    assert read == [f'0x{bits:0{8 if name == "fp32" else 4}x}' for bits in expected]


def test_operands_of_any_size():
    def bits(form, text, op='max'):
        return run_json('calc', form, op, text, text)['x']['bits']

    assert bits('fp16', '65519.9999999999999999') == '0x7bff'
    assert bits('fp16', '65520') == '0x7c00'
    assert bits('posit16', '1e-999999999999999999999') == '0x0001'
    assert bits('posit16', '-1e999999999999999999999') == '0x8001'
    assert bits('fp16', '0.' + '0' * 1000 + '1') == '0x0000'
    assert bits('fp16', '1' + '0' * 1000 + 'e-1000') == '0x3c00'
    assert bits('bf16', '0e999') == '0x0000' and bits('fp16', '-0.0e-7') == '0x8000'


def test_fixed_point():
    def bits(text):
        return run_json('calc', 'fp16', 'from_q1', text)['x']['bits']

    assert bits('0.75') == '0x0002' and bits('0.25') == '0x0000'
    assert bits('0.2500000000000000000001') == '0x0001'
    assert bits('0.7499999999999999999999') == '0x0001'
    assert bits('16383.7499999999999999999') == '0x7fff'
    assert 'is not an operand' in complaint('calc', 'fp16', 'from_q1', '16383.75')


@pytest.mark.parametrize('text', ['0x1p3', '1e', 'e1', '.', '+', '1.2.3', '1 ', 'infi', '1f', '--1'])
def test_no_numbers(text):
    for form in ('fp16', 'posit16'):
        assert 'is not an operand' in complaint('calc', form, 'sqrt', '--', text)
    assert 'is not an operand' in complaint('calc', 'fp32_exact', 'add', '--', '1', text)
