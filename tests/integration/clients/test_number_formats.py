# SPDX-License-Identifier: BSD-3-Clause
"""The number formats in Python: every encoding as libnetfc and as the oracle have it."""

import json
import math
import struct
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import decimals
import oracle
import switch

from netfc import formats

NAMES = list(formats.FORMATS)
ALL_BITS = np.arange(0x10000, dtype=np.uint16)
SAMPLE = 8000


def library(name, operands):
    """(encoding, value) of each operand, a text, as libnetfc has it."""
    pairs = '\n'.join(map(' '.join, zip(operands[::2], operands[1::2], strict=True)))
    done = subprocess.run([switch.TABLE_BUILDER, 'calc', '--stream', '--json', f'{name}_k1', 'add'],
                          input=pairs, text=True, capture_output=True, check=True)
    for line in done.stdout.splitlines():
        answer = json.loads(line)
        for operand in (answer['x'], answer['y']):
            value = operand['value']
            yield int(operand['bits'], 16), float('nan' if value == 'nar' else value)


@pytest.mark.parametrize('name', NAMES)
def test_decode_as_the_library(name):
    bits, values = zip(*library(name, [f'0x{bits:04x}' for bits in ALL_BITS]))
    assert list(bits) == ALL_BITS.tolist()
    decoded = formats.FORMATS[name].decode(ALL_BITS)
    np.testing.assert_array_equal(decoded, values)
    signed = ~np.isnan(decoded)
    np.testing.assert_array_equal(np.signbit(decoded[signed]), np.signbit(values)[signed])


def boundary_values(name):
    """Values at, just above and just below every boundary of rounding, of both signs."""
    edges = oracle.FORMATS_BY_NAME[name].edges
    sizes = np.concatenate((edges, np.nextafter(edges, math.inf), np.nextafter(edges, 0)))
    extremes = [0, 5e-324, 1e300, 1.7e308]
    values = np.concatenate((sizes, extremes))
    return np.concatenate((values, -values))


@pytest.mark.parametrize('name', NAMES)
def test_encode_as_the_library(name):
    values = np.random.default_rng(1).choice(boundary_values(name), SAMPLE)
    bits, _ = zip(*library(name, [str(Decimal(value)) for value in values.tolist()]))
    np.testing.assert_array_equal(formats.FORMATS[name].encode(values), bits)


@pytest.mark.parametrize('name', NAMES)
def test_encode_as_the_oracle(name):
    form, values = oracle.FORMATS_BY_NAME[name], boundary_values(name)
    magnitudes = form.round_magnitude(np.abs(values)).tolist()
    expected = [form.negate(magnitude) if negative else magnitude
                for magnitude, negative in zip(magnitudes, np.signbit(values))]
    np.testing.assert_array_equal(formats.FORMATS[name].encode(values), expected)


@pytest.mark.parametrize('name', NAMES)
def test_encode_what_was_decoded(name):
    number_format = formats.FORMATS[name]
    values = number_format.decode(ALL_BITS)
    bits = number_format.encode(values)
    expected = np.where(np.isnan(values), number_format.nan, ALL_BITS)
    np.testing.assert_array_equal(bits, expected)
    assert bits.dtype == np.uint16
    assert number_format.encode(-math.nan) == number_format.nan


def test_infinities():
    for name, expected in (('fp16', 0xFC00), ('bf16', 0xFF80), ('posit16', 0x8000)):
        assert formats.FORMATS[name].encode(-math.inf) == expected


def test_shapes_are_kept():
    fp16 = formats.FORMATS['fp16']
    assert fp16.encode([[1, 2, 3]]).shape == (1, 3)
    assert fp16.encode(1.5).shape == ()
    assert fp16.decode([]).shape == (0,)


@pytest.mark.parametrize('name, bits', [
    ('fp8_e4m3', 256), ('fp8_e5m2', -1), ('fp16', 65536), ('posit16', 1.5), ('fp32', 1 << 32)])
def test_what_is_no_encoding_is_refused(name, bits):
    with pytest.raises(ValueError, match='encodings are integers from 0 to '):
        formats.NUMBER_FORMATS[name].decode([0, bits])


def test_text():
    texts = {
        'fp16': {0x3E00: '1.5', 0x0001: '5.9604645e-08', 0x8000: '-0', 0xFC00: '-inf',
                 0x7E00: 'NaN', 0xFFFF: 'NaN'},
        'posit16': {0x8000: 'NaR', 0: '0', 0x4800: '1.5', 0x7FFF: '2.6843546e+08'},
    }
    for name, expected in texts.items():
        for bits, text in expected.items():
            assert formats.FORMATS[name].text(bits) == text


@pytest.mark.parametrize('text, value', [
    ('1', 1), ('-1.5', -1.5), ('+.5e1', 5), ('5.', 5), ('125E-3', 0.125), ('inf', math.inf),
    ('-Infinity', -math.inf), ('1e999', sys.float_info.max), ('-1e999', -sys.float_info.max),
    ('1e-999', 5e-324), ('-0.0001e-999', -5e-324), ('0e-999', 0), ('0.0', 0),
])
def test_numbers(text, value):
    assert formats.parse_number(text) == value


@pytest.mark.parametrize('text, nearest', [
    ('0.1', 0.1), ('-1e-3', -0.001), ('1e23', 1e23), ('9007199254740993', 2.0 ** 53),
    ('1e-310', 1e-310)])
def test_numbers_between_two_floats(text, nearest):
    """The odd one of the two: only what is even is a number itself."""
    value = formats.parse_number(text)
    assert struct.unpack('<Q', struct.pack('<d', value))[0] % 2 == 1
    assert value in (nearest, math.nextafter(nearest, math.inf), math.nextafter(nearest, -math.inf))
    assert abs(Fraction(text) - Fraction(value)) < Fraction(math.ulp(value))


@pytest.mark.parametrize('name', formats.NUMBER_FORMATS)
def test_decimal_numbers_are_rounded_once(name):
    texts, expected = zip(*decimals.cases(name, step=29))
    encode = formats.NUMBER_FORMATS[name].encode
    read = encode([formats.parse_number(text) for text in texts])
    assert read.tolist() == list(expected)


def test_names_of_nan():
    assert all(math.isnan(formats.parse_number(text)) for text in ('nan', '-NaN', 'NaR'))


@pytest.mark.parametrize('text', ['', '-', '.', 'e5', '1e', '1_0', '0x1', '1 ', '1,5', 'one', '١'])
def test_no_numbers(text):
    assert formats.parse_number(text) is None


def test_encodings():
    assert formats.parse_bits('0x3C00') == 0x3C00
    assert formats.parse_bits('0Xf') == 0xF
    for text in ('3c00', '0x', '0x10000', '0x00001', '0x-1', '0xg'):
        assert formats.parse_bits(text) is None
