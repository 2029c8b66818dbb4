# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one number, min, max, compare and fma on numpy arrays."""

import copy
import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest

import oracle
import sanitized
import switch
import table_builder

import netfc
from netfc.functions import slots_of

pytestmark = sanitized.without_sanitizers

NAMES = tuple(netfc.FORMATS)
ALL_BITS = np.arange(0x10000, dtype=np.uint16)
# numpy's double precision is right to some units of its last place, far below 2^-40 of a result.
NEAR = 2.0 ** -40


@pytest.fixture(name='library', scope='module')
def build_library():
    return netfc.Library(switch.BUILD)


def gelu(x):
    return x * np.vectorize(lambda v: math.erfc(-v / math.sqrt(2)) / 2)(x)


IN_DOUBLE = {
    'sqrt': np.sqrt, 'rsqrt': lambda x: 1 / np.sqrt(x), 'reciprocal': lambda x: 1 / x,
    'exp': np.exp, 'exp2': np.exp2, 'ln': np.log, 'log2': np.log2, 'tanh': np.tanh,
    'sin': np.sin, 'cos': np.cos, 'sigmoid': lambda x: 1 / (1 + np.exp(-x)),
    'silu': lambda x: x / (1 + np.exp(-x)), 'erf': np.vectorize(math.erf), 'gelu': gelu,
    'abs': np.abs, 'neg': np.negative, 'floor': np.floor, 'ceil': np.ceil, 'trunc': np.trunc,
    'round': np.rint,
}


@pytest.mark.parametrize('name, number_format', [('sqrt', 'bf16'), ('to_int16', 'fp16'), ('exp', 'fp8_e4m3')])
def test_a_pickle_makes_a_function_anew(library, name, number_format):
    function = netfc.Function(name, number_format, library)
    made = pickle.loads(pickle.dumps(copy.deepcopy(function)))
    assert repr(made) == repr(function) and made is not function
    np.testing.assert_array_equal(made.entries, function.entries)


def test_a_pickle_has_all_of_a_function_of_a_file(library, tmp_path):
    path = tmp_path / 'square.netfcf'
    table_builder.run('build', '--function', 'square', '--format', 'fp8_e4m3', '--expression', 'x*x', '-o', path)
    function = netfc.Function.load(path, library)
    path.unlink()
    made = pickle.loads(pickle.dumps([function, copy.copy(function)]))
    assert made[0] is made[1] and made[0].name == 'square' and made[0](3.0) == 9
    np.testing.assert_array_equal(made[0].entries, function.entries)


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('function', IN_DOUBLE)
def test_as_in_double_precision(library, name, function):
    """Where double precision, a hair more or less, rounds to one encoding, it is that one."""
    number_format = netfc.Format(name)
    x = number_format.decode(ALL_BITS)
    with np.errstate(all='ignore'):
        exact = IN_DOUBLE[function](x)
        low, high = (number_format.encode(exact * (1 + sign * NEAR)) for sign in (-1, 1))
    certain = (low == high) & np.isfinite(x) & (x != 0) & np.isfinite(exact)
    # Zero is where double precision ends, not the result.
    certain &= (np.abs(exact) > 1e-300) | (x == np.rint(x))
    certain &= (exact != 0) | np.isin(function, ('ln', 'log2'))
    got = netfc.Function(function, name, library)(ALL_BITS)
    assert certain.sum() > 10000
    np.testing.assert_array_equal(got[certain], low[certain])


def test_numbers_and_encodings(library):
    sqrt = netfc.Function('sqrt', library=library)
    assert sqrt([4, 2.25]).tolist() == [2, 1.5] and sqrt(4.0) == 2
    assert sqrt(np.uint16(0x4400)) == 0x4000
    assert sqrt(np.ones((2, 3))).shape == (2, 3) and sqrt([]).size == 0
    assert sqrt.flags([4, -1]).tolist() == [0, netfc.Flag.INVALID]
    assert sqrt.meaning == 'square root' and 'fp16' in repr(sqrt)
    assert not sqrt.entries.flags.writeable and sqrt.entries.shape == (65536,)
    with pytest.raises(TypeError, match='x is'):
        sqrt(['one'])


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('other', NAMES)
def test_conversions(library, name, other):
    convert = netfc.Function(f'to_{other}', name, library)
    source, target = netfc.Format(name), netfc.Format(other)
    assert (convert.argument, convert.result) == (source, target)
    expected = target.encode(source.decode(ALL_BITS))
    np.testing.assert_array_equal(convert(ALL_BITS), expected)
    np.testing.assert_array_equal(convert([1.5, -2]), [1.5, -2])


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('point', [0, 1, 8, 15])
def test_fixed_point(library, name, point):
    suffix = f'q{point}' if point else 'int16'
    to, back = (netfc.Function(f'{way}_{suffix}', name, library) for way in ('to', 'from'))
    assert to.result == back.argument == netfc.FixedPoint(point)
    number_format = netfc.Format(name)
    values = number_format.decode(ALL_BITS)
    fits = np.isfinite(values) & (np.abs(values) < 2.0 ** (15 - point) - 1)
    multiples = np.array([round(Fraction(v) * 2 ** point) for v in values[fits]])
    np.testing.assert_array_equal(to(ALL_BITS)[fits].astype(np.int16), multiples)
    words = np.delete(ALL_BITS, 0x8000)
    fixed = words.astype(np.int16).astype(float) / 2 ** point
    np.testing.assert_array_equal(back(words), number_format.encode(fixed))
    assert back(0.5).tolist() == (0.5 if point else 0)
    with pytest.raises(ValueError, match='is outside -'):
        back(2.0 ** (15 - point))
    for too_large in (math.nan, math.inf, 10 ** 400):
        with warnings.catch_warnings(), pytest.raises(ValueError, match='is outside'):
            warnings.simplefilter('error')
            back(too_large)
    with pytest.raises(ValueError, match='is outside -'):
        back(math.nan)


def test_unknown_names(library):
    with pytest.raises(ValueError, match="'cbrt'.*sqrt"):
        netfc.Function('cbrt', library=library)
    with pytest.raises(ValueError, match='fp17'):
        netfc.Function('sqrt', 'fp17', library)
    known = netfc.known_functions(library)
    assert known['sqrt'] == 'square root' and len(known) == 61
    known.clear()
    assert netfc.known_functions(library)


# ---- min, max, compare, fma ------------------------------------------------------------------


def fused(name, x, y, z):
    """The encoding nearest to x * y + z, by exact fractions; operands are encodings."""
    exact = oracle_value(name, x) * oracle_value(name, y) + oracle_value(name, z)
    edges = oracle.FORMATS_BY_NAME[name].edges
    magnitude = int(np.searchsorted(edges, float(abs(exact))))
    # A double is close to the fraction; the two boundaries beside it decide.
    while magnitude > 0 and abs(exact) < Fraction(float(edges[magnitude - 1])):
        magnitude -= 1
    while magnitude < len(edges) and abs(exact) > Fraction(float(edges[magnitude])):
        magnitude += 1
    if magnitude < len(edges) and abs(exact) == Fraction(float(edges[magnitude])):
        magnitude += magnitude % 2
    return exact, magnitude


def oracle_value(name, bits):
    return Fraction(float(netfc.Format(name).decode(np.uint16(bits))))


@pytest.mark.parametrize('name', NAMES)
def test_fma_by_fractions(library, name):
    number_format = netfc.Format(name)
    draw = np.random.default_rng(19)
    x, y, z = draw.integers(0, 65536, (3, 2000), dtype=np.uint16)
    # Every other z nearly cancels the product.
    with np.errstate(all='ignore'):
        products = number_format.encode(-number_format.decode(x) * number_format.decode(y))
    z[::2] = products[::2]
    usable = np.isfinite(number_format.decode([x, y, z])).all(axis=0)
    results = number_format.exact('fma', x, y, library, z=z)
    for lane in np.flatnonzero(usable):
        exact, magnitude = fused(name, x[lane], y[lane], z[lane])
        if exact != 0:
            value = float(number_format.decode(results[lane]))
            expected = number_format.decode(np.uint16(magnitude))
            assert abs(value) == expected, lane
            assert value == 0 or (value < 0) == (exact < 0), lane


def test_least_greatest_and_comparison(library):
    fp16 = netfc.Format('fp16')
    assert fp16.exact('min', [1, -0.0, math.nan], [2, 0, 1], library).tolist()[:2] == [1, 0]
    assert fp16.exact('min', np.uint16(0x8000), np.uint16(0), library) == 0x8000
    assert np.isnan(fp16.exact('max', math.nan, 1, library))
    np.testing.assert_array_equal(
        fp16.exact('compare', [1, 2, 2, math.nan], [2, 2, 1, 0], library), [-1, 0, 1, math.nan])
    assert fp16.exact_flags('fma', math.inf, 0, library, z=1) == netfc.Flag.INVALID
    assert fp16.exact('fma', [[2, 3]], [[2], [3]], library, z=1).tolist() == [[5, 7], [7, 10]]


def test_operands_that_do_not_fit(library):
    fp16 = netfc.Format('fp16')
    with pytest.raises(TypeError, match='x, y and z'):
        fp16.exact('fma', 1, 2, library)
    with pytest.raises(TypeError, match='no z'):
        fp16.exact('min', 1, 2, library, z=3)
    with pytest.raises(ValueError, match="'pow'.*fma"):
        fp16.exact('pow', 1, 2, library)
    with pytest.raises(TypeError, match='give numbers for all'):
        fp16.exact('fma', 1, 2, library, z=np.uint16(1))
    with pytest.raises(ValueError, match='x and y and z differ in shape'):
        fp16.exact('fma', np.ones(2), np.ones(2), library, z=np.ones(3))


def test_how_slots_are_encoded_by_name(library):
    """As libnetfc says; only the names of its conversions mean one."""
    for number_format in netfc.FORMATS.values():
        for name in netfc.known_functions(library):
            function = netfc.Function(name, number_format, library)
            assert slots_of(name, number_format) == (function.argument, function.result)
        for name in ('to_q16', 'from_q99', 'from_bf16', 'to_', 'to_int32', 'own_193'):
            assert slots_of(name, number_format) == (number_format, number_format)
