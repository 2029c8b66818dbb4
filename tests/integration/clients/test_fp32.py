# SPDX-License-Identifier: BSD-3-Clause
"""binary32 in Python: fp32_exact and netfc.Fp32 give what numpy's float32 gives."""


import numpy as np
import pytest

import netfc
import sanitized
import table_builder

pytestmark = sanitized.without_sanitizers

OPERATIONS = {'add': np.add, 'sub': np.subtract, 'mul': np.multiply, 'div': np.divide}
SPECIAL = np.array([0, 1, 0x7FFFFF, 0x800000, 0x3F800000, 0x3F800001, 0x7F7FFFFF, 0x7F800000,
                    0x7FC00000], np.uint32)


@pytest.fixture(name='library', scope='module')
def load_library():
    return netfc.Library(table_builder.PROGRAM.parent.parent)


@pytest.fixture(name='fp32', scope='module')
def build(library):
    return netfc.TableSet('fp32_exact', library)


def encodings():
    """All pairs of special values, and random ones; as float32 too."""
    special = np.concatenate([SPECIAL, SPECIAL | np.uint32(1 << 31)])
    x, y = (grid.ravel() for grid in np.meshgrid(special, special))
    draw = np.random.default_rng(22)
    random = draw.integers(0, 2**32, (2, 100_000), np.uint32)
    return np.concatenate([x, random[0]]), np.concatenate([y, random[1]])


def numpys(op, x, y):
    """numpy's result as encodings, all NaN the same."""
    with np.errstate(all='ignore'):
        z = OPERATIONS[op](x.view(np.float32), y.view(np.float32))
    return np.where(np.isnan(z), np.uint32(0x7FC00000), z.view(np.uint32))


@pytest.mark.parametrize('op', OPERATIONS)
def test_results_are_numpys(fp32, library, op):
    x, y = encodings()
    expected = numpys(op, x, y)
    for z in (fp32.compute(op, x, y), netfc.Fp32().exact(op, x, y, library)):
        assert z.dtype == np.uint32
        np.testing.assert_array_equal(z, expected)
    np.testing.assert_array_equal(fp32.flags(op, x, y),
                                  netfc.Fp32().exact_flags(op, x, y, library))


def test_numbers_are_float32(fp32, library):
    z = fp32.div(np.array([[1], [2]], np.float32), [3, 7, 0.1])
    assert z.dtype == np.float32 and z.shape == (2, 3)
    np.testing.assert_array_equal(
        z, np.float32([[1], [2]]) / np.array([3, 7, 0.1], np.float32))
    assert netfc.Fp32().exact('add', 0.1, 0.2, library) == np.float32(0.1) + np.float32(0.2)
    assert fp32.mul(1e39, 1) == np.inf and fp32.sub([], []).shape == (0,)


def test_flags(fp32):
    flags = fp32.flags('div', [0, 1, 3e38, 1e-38, 1], [0, 0, 1e-9, 3e38, 3])
    assert [netfc.Flag(int(flag)) for flag in flags] == [
        netfc.Flag.INVALID, netfc.Flag.DIVBYZERO, netfc.Flag.OVERFLOW,
        netfc.Flag.UNDERFLOW, netfc.Flag(0)]


def test_what_the_set_says_of_itself(fp32):
    assert (fp32.name, fp32.family, fp32.scale) == ('fp32_exact', 'exact', 0)
    assert fp32.format == netfc.Fp32() and (fp32.format.id, fp32.format.name) == (5, 'fp32')
    assert fp32.tables['square'].copies == 4
    assert fp32.tables['square'].entries[0, 4095] == 4095 * 4095 // 4
    assert 'fp32' not in netfc.FORMATS


def test_encodings_and_values():
    fp32 = netfc.Fp32()
    bits, _ = encodings()
    np.testing.assert_array_equal(fp32.decode(bits), bits.view(np.float32))
    np.testing.assert_array_equal(fp32.encode([1, 0.1, -1e40]), [0x3F800000, 0x3DCCCCCD, 0xFF800000])
    assert (fp32.text(0x3DCCCCCD), fp32.text(fp32.nan), fp32.text(1)) == (
        '0.100000001', 'NaN', '1.40129846e-45')
    for wrong in (-1, 2**32, 1.5):
        with pytest.raises(ValueError, match='4294967295'):
            fp32.decode(wrong)


@pytest.mark.parametrize('op', OPERATIONS)
def test_walks_are_those_of_netfc_tables(fp32, op):
    walk = fp32.walk(op, 1.5, -2.25)
    shown = table_builder.run_json('show', '--walk', 'fp32_exact', op, '1.5', '-2.25')
    assert [list(step.fields.items()) for step in walk.steps] == [
        [(field['name'], int(field['bits'], 16)) for field in step['fields']]
        for step in shown['steps']]
    assert np.uint32(walk.z).view(np.float32) == OPERATIONS[op](np.float32(1.5), np.float32(-2.25))


def test_wrong_operands(fp32):
    with pytest.raises(TypeError, match='encodings'):
        fp32.add(np.uint32(1), 1.5)
    with pytest.raises(TypeError, match='real numbers'):
        fp32.add('one', 1.5)
    with pytest.raises(ValueError, match='differ in shape'):
        fp32.add([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match='pow'):
        fp32.compute('pow', 1, 2)
    with pytest.raises(ValueError, match='one lane'):
        fp32.walk('add', [1, 2], 3)
