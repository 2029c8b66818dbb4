# SPDX-License-Identifier: BSD-3-Clause
"""Formats of 8 bits in Python: all pairs of operands against rational numbers, and all encodings."""

import math

import numpy as np
import pytest

import netfc
import oracle
import sanitized
import table_builder
import tiers

pytestmark = sanitized.without_sanitizers

FORMATS = ('fp8_e4m3', 'fp8_e5m2')
SETS = tuple(f'{name}{way}' for name in FORMATS for way in ('_exact', '_sat'))
ALL = np.arange(256, dtype=np.uint8)
X, Y = np.repeat(ALL, 256), np.tile(ALL, 256)


@pytest.fixture(name='library', scope='module')
def load_library():
    return netfc.Library(table_builder.PROGRAM.parent.parent)


@pytest.mark.parametrize('name', ['fp8_e4m3_sat', 'fp8_e5m2_exact', *tiers.later('slow', 'fp8_e4m3_exact', 'fp8_e5m2_sat')])
def test_all_pairs(library, name):
    tables, by_rationals = netfc.TableSet(name, library), oracle.NarrowSet(name)
    for op, number in netfc.OPS.items():
        expected = np.array([by_rationals.result(number, int(x), int(y)) for x, y in zip(X, Y)])
        z = tables.compute(op, X, Y)
        assert z.dtype == np.uint8
        np.testing.assert_array_equal(z, expected[:, 0])
        np.testing.assert_array_equal(tables.flags(op, X, Y), expected[:, 1])


@pytest.mark.parametrize('name', SETS)
def test_all_pairs_by_gfloat(library, name):
    """Debian 13 has it as python3-gfloat. NaNs are not compared bit by bit."""
    gfloat = pytest.importorskip('gfloat', reason='python3-gfloat is not installed')
    formats = pytest.importorskip('gfloat.formats')
    ocp = formats.format_info_ocp_e4m3 if 'e4m3' in name else formats.format_info_ocp_e5m2
    tables, values = netfc.TableSet(name, library), np.array(
        [gfloat.decode_float(ocp, bits).fval for bits in range(256)])
    is_nan = np.isnan(values)
    for op, compute in (('add', np.add), ('sub', np.subtract), ('mul', np.multiply), ('div', np.divide)):
        with np.errstate(all='ignore'):
            exact = compute(values[X], values[Y])
        distinct, places = np.unique(exact.view('u8'), return_inverse=True)
        rounded = [gfloat.round_float(ocp, value, gfloat.RoundMode.TiesToEven, name.endswith('_sat'))
                   for value in distinct.view('f8').tolist()]
        expected = np.array([gfloat.encode_float(ocp, value) for value in rounded])[places]
        z = tables.compute(op, X, Y)
        np.testing.assert_array_equal(np.where(is_nan[expected], -1, expected), np.where(is_nan[z], -1, z))


@pytest.mark.parametrize('name', FORMATS)
def test_encodings(name):
    form = netfc.Format(name)
    by_rationals = oracle.NarrowFormat(form.id)
    values = form.decode(ALL)
    for bits, value in zip(ALL, values):
        expected = float(by_rationals.decode(int(bits)))
        assert math.isnan(value) if math.isnan(expected) else value == expected
    draw = np.random.default_rng(8)
    drawn = np.ldexp(draw.uniform(-2, 2, 20_000), draw.integers(-20, 18, 20_000))
    halves = (values[:-1] + values[1:]) / 2
    for numbers in (values, drawn, halves, [math.inf, -math.inf, 464, 464.01, -1e300]):
        assert [by_rationals.encode(float(number))[0] for number in numbers] == list(
            form.encode(numbers))


@pytest.mark.parametrize('name', FORMATS)
def test_functions(library, name):
    form = netfc.Format(name)
    to_fp16 = netfc.Function('to_fp16', name, library)
    assert (to_fp16.entries.shape, to_fp16.entries.dtype) == ((256,), np.uint16)
    np.testing.assert_array_equal(
        to_fp16.entries, netfc.Format('fp16').encode(form.decode(ALL)))
    back = netfc.Function(f'to_{name}', 'fp16', library)
    assert (back.entries.shape, back.entries.dtype) == ((65536,), np.uint8)
    fp16 = netfc.Format('fp16').decode(np.arange(65536))
    np.testing.assert_array_equal(back.entries, form.encode(fp16))
    greatest = 448 if name == 'fp8_e4m3' else 57344
    saturating = netfc.Function(f'to_{name}_sat', 'bf16', library)
    np.testing.assert_array_equal(
        saturating([1e9, -1e9, math.inf, 2.0]), [greatest, -greatest, greatest, 2])
    root = netfc.Function('sqrt', name, library)
    np.testing.assert_array_equal(root([4.0, 2.0]), form.decode(form.encode([2, math.sqrt(2)])))


@pytest.mark.parametrize('name', FORMATS)
def test_conversions_of_binary32(library, name):
    form, fp32 = netfc.Format(name), netfc.Format('fp32')
    widen = netfc.Function('to_fp32', name, library)
    assert (widen.entries.shape, widen.entries.dtype) == ((256,), np.uint32)
    np.testing.assert_array_equal(widen(ALL), fp32.encode(form.decode(ALL)))
    draw = np.random.default_rng(32).integers(0, 1 << 32, 20_000).astype(np.uint32)
    with np.errstate(invalid='ignore'):
        numbers = fp32.decode(draw).astype(float)
    by_rationals = oracle.NarrowFormat(form.id)
    narrow = netfc.Function(f'to_{name}', 'fp32', library)
    assert narrow(draw).tolist() == [by_rationals.encode(number)[0] for number in numbers]
    greatest = 448.0 if name == 'fp8_e4m3' else 57344.0
    saturating = netfc.Function(f'to_{name}_sat', 'fp32', library)
    np.testing.assert_array_equal(saturating([1e30, -math.inf, 2.0]), [greatest, -greatest, 2])
    assert saturating.flags([1e30, 1e-30, 2.0]).tolist() == [netfc.Flag.OVERFLOW, netfc.Flag.UNDERFLOW, 0]
    with pytest.raises(ValueError, match="fp32 has no function 'sqrt'"):
        netfc.Function('sqrt', 'fp32', library)


def test_fma_is_rounded_once(library):
    form = netfc.Format('fp8_e4m3')
    assert form.exact('fma', 1.125, 1.125, library, z=-1.25) == 0.015625
    assert form.exact('fma', 20, 20, library, z=48) == 448
    assert math.isnan(form.exact('fma', 20, 20, library, z=80))
