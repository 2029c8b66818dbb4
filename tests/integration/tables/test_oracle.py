# SPDX-License-Identifier: BSD-3-Clause
"""The oracle against numpy, and against arithmetic of 60 digits: who watches the watchman."""

import decimal
import math
import random
from decimal import Decimal

import numpy as np
import pytest

import oracle

decimal.getcontext().prec = 60
LN2 = Decimal(2).ln()


def log_word(k, real):
    """k log2(real) to 60 digits."""
    return k * real.ln() / LN2


def rounded(tables, word):
    """R of a decimal."""
    offset = Decimal(0) if tables.floor else Decimal('0.5')
    return int((word + offset).to_integral_value(decimal.ROUND_FLOOR))


def test_every_fp16_value_is_numpys():
    values = np.arange(0x10000, dtype=np.uint16).view(np.float16).astype(float)
    form = oracle.FORMATS[1]
    decoded = [form.decode(slot) for slot in range(0x10000)]
    np.testing.assert_array_equal(decoded, values)
    np.testing.assert_array_equal(np.signbit(decoded), np.signbit(values))


def test_every_bf16_value_is_the_top_of_a_float():
    with np.errstate(invalid='ignore'):  # signaling NaNs
        values = (np.arange(0x10000, dtype=np.uint32) << 16).view(np.float32).astype(float)
    np.testing.assert_array_equal([oracle.FORMATS[3].decode(s) for s in range(0x10000)], values)


def test_fp16_rounds_as_numpy():
    draw = random.Random(1)
    form = oracle.FORMATS[1]
    reals = [math.ldexp(draw.uniform(-1, 1), draw.randint(-27, 17)) for _ in range(20000)]
    reals += [(form.decode(m) + form.decode(m + 1)) / 2 for m in range(0, 0x7BFF, 7)]
    reals += [65504, 65519.99, 65520, 2.0 ** -25, 2.0 ** -24, -0.0, math.inf, -math.inf]
    with np.errstate(over='ignore'):
        expected = np.array(reals).astype(np.float16).view(np.uint16)
    assert [form.encode(real) for real in reals] == expected.tolist()


@pytest.mark.parametrize('form', oracle.FORMATS.values(), ids=lambda form: form.name)
def test_every_slot_survives_decode_and_encode(form):
    for slot in range(0x10000):
        value = form.decode(slot)
        assert form.encode(value) == slot or (math.isnan(value) and form.encode(value) == form.nan)


@pytest.mark.parametrize('number, slot, value', [
    (2, 0x4000, 1), (2, 0x5000, 2), (2, 0x6000, 4), (2, 0x3000, 0.5), (2, 0x4800, 1.5),
    (2, 0x0001, 2.0 ** -28), (2, 0x7FFF, 2.0 ** 28), (2, 0x7FFE, 2.0 ** 26), (2, 0xC000, -1),
    (4, 0x4000, 1), (4, 0x4800, 2), (4, 0x5000, 4), (4, 0x6000, 16), (4, 0x3800, 0.5),
    (4, 0x0001, 2.0 ** -56), (4, 0x7FFF, 2.0 ** 56), (4, 0x7FFE, 2.0 ** 52), (4, 0xB800, -2),
])
def test_posits_known_by_hand(number, slot, value):
    assert oracle.FORMATS[number].decode(slot) == value
    assert oracle.FORMATS[number].encode(value) == slot


@pytest.mark.parametrize('number, real, slot', [
    (2, 1e-30, 0x0001), (2, -1e-30, 0xFFFF), (2, 1e30, 0x7FFF), (2, 2.0 ** -29, 0x0001),
    (2, 2.0 ** 27, 0x7FFE), (2, 2.0 ** 27 * 1.001, 0x7FFF),  # the boundary is 2^27, even wins
    (2, 2.0 ** -27, 0x0002), (2, 2.0 ** -27 * 0.999, 0x0001),
    (4, 2.0 ** 54, 0x7FFE), (4, 2.0 ** 54 * 1.001, 0x7FFF),
])
def test_posits_round_on_the_encoding(number, real, slot):
    assert oracle.FORMATS[number].encode(real) == slot


@pytest.mark.parametrize('form', oracle.FORMATS.values(), ids=lambda form: form.name)
@pytest.mark.parametrize('suffix', ['', '_floor'])
def test_tables_against_decimals(form, suffix):
    draw = random.Random(form.name + suffix)
    for k in (1, 8, form.largest_k):
        tables = oracle.table_set(f'{form.name}_k{k}{suffix}')
        check_log(tables, draw)
        check_mi(tables, draw)
        check_exp(tables, draw)


def check_log(tables, draw):
    for magnitude in [1, 2, 3] + draw.sample(range(1, len(tables.log)), 60):
        word = log_word(tables.k, Decimal(tables.format.decode(magnitude)))
        nearest = word.to_integral_value()
        if abs(word - nearest) < Decimal('1e-50'):
            word = nearest  # a power of two
        assert tables.log[magnitude] == rounded(tables, word)


def check_mi(tables, draw):
    for theta in [-32768, -20000, -tables.k - 1, -max(tables.k - 1, 1), -2, -1] + draw.sample(
            range(-20 * tables.k, 0), 20):
        power = Decimal(2) ** (Decimal(theta) / tables.k)
        if power < Decimal('1e-50'):  # too small for 60 digits: only the side of 0 counts
            total, difference = Decimal('1e-50'), Decimal('-1e-50')
        else:
            total, difference = log_word(tables.k, 1 + power), log_word(tables.k, 1 - power)
        assert tables.mi[0][theta + 32768] == rounded(tables, total)
        if theta != -tables.k:
            assert tables.mi[1][theta + 32768] == rounded(tables, difference)
        if theta != -32768:
            assert tables.mi[0][32768 - theta] == rounded(tables, total - theta)
            assert tables.mi[2][32768 - theta] == rounded(tables, difference - theta)


def check_exp(tables, draw):
    form = tables.format
    for n in draw.sample(range(-30 * tables.k, 30 * tables.k), 60):
        real = Decimal(2) ** (Decimal(n) / tables.k)
        magnitude = tables.exp[n + 32768]
        value = Decimal(form.decode(magnitude))
        if tables.floor and value.is_finite():
            following = form.decode(magnitude + 1) if magnitude + 1 < 0x8000 else math.inf
            assert value <= real or (magnitude == 1 and isinstance(form, oracle.Posit))
            assert real < Decimal(following) or n % tables.k == 0
        elif not tables.floor:
            assert magnitude == form.encode(float(real))


@pytest.mark.parametrize('name, n, slot', [
    ('fp16_k1024', 16384, 0x7C00), ('fp16_k1024', 16383, 0x7BFF), ('fp16_k1024', 0, 0x3C00),
    ('fp16_k1024', -24576, 0x0001), ('fp16_k1024', -25600, 0x0000), ('fp16_k1024', -25599, 0x0001),
    ('fp16_k1024_floor', -24577, 0x0000), ('fp16_k1024_floor', -24576, 0x0001),
    ('fp16_k1_floor', 15, 0x7800), ('fp16_k1_floor', 16, 0x7C00), ('fp16_k1_floor', 32767, 0x7C00),
    ('bf16_k128', 16384, 0x7F80), ('bf16_k128', -17024, 0x0001), ('bf16_k128', -17152, 0x0000),
    ('posit16_k512', 32767, 0x7FFF), ('posit16_k512', -32768, 0x0001),
    ('posit16_k512_floor', -32768, 0x0001), ('posit16_k512_floor', 27 * 512, 0x7FFE),
    ('posit16_es2_k256', 54 * 256, 0x7FFE), ('posit16_es2_k256', 54 * 256 + 1, 0x7FFF),
])
def test_ends_of_the_exp_table(name, n, slot):
    assert oracle.table_set(name).exp[n + 32768] == slot


@pytest.mark.parametrize('name, word', [
    ('fp16_k1', -1), ('fp16_k1024', -10782), ('posit16_k512', -5903),
    ('fp16_k1024_floor', oracle.NO_RESULT), ('posit16_k512_floor', oracle.NO_RESULT)])
def test_mi_where_operands_share_a_log_word(name, word):
    tables = oracle.table_set(name)
    if word is not oracle.NO_RESULT:
        q = Decimal(tables.format.near_one)
        assert rounded(tables, log_word(tables.k, 1 - Decimal(2) ** (-q / tables.k))) == word
    for table, thetas in ((1, (0, 1, 32767)), (2, (0, -1, -32768))):
        assert [tables.mi[table][theta + 32768] for theta in thetas] == [word] * 3


@pytest.mark.parametrize('op, x, y, z, flags', [
    (oracle.ADD, 0x3C00, 0x4000, 0x4200, 0),
    (oracle.ADD, 0x8000, 0x8000, 0x8000, 0),
    (oracle.ADD, 0x8000, 0x0000, 0x0000, 0),
    (oracle.ADD, 0x0000, 0x8001, 0x8001, 0),
    (oracle.ADD, 0x3C00, 0xBC00, 0x0000, 0),
    (oracle.ADD, 0x7BFF, 0x7BFF, 0x7C00, oracle.OVERFLOW),
    (oracle.ADD, 0x7C00, 0xFC00, 0x7E00, oracle.INVALID),
    (oracle.ADD, 0x7C00, 0x7C00, 0x7C00, 0),
    (oracle.ADD, 0xFC01, 0x3C00, 0x7E00, 0),
    (oracle.SUB, 0x8000, 0x0000, 0x8000, 0),
    (oracle.SUB, 0x0000, 0x0000, 0x0000, 0),
    (oracle.SUB, 0x3C00, 0xBC00, 0x4000, 0),
    (oracle.SUB, 0x7C00, 0x7C00, 0x7E00, oracle.INVALID),
    (oracle.MUL, 0x7C00, 0x8000, 0x7E00, oracle.INVALID),
    (oracle.MUL, 0xBC00, 0x0000, 0x8000, 0),
    (oracle.MUL, 0x0001, 0x8001, 0x8000, oracle.UNDERFLOW),
    (oracle.MUL, 0x7BFF, 0xFBFF, 0xFC00, oracle.OVERFLOW),
    (oracle.DIV, 0x0000, 0x0000, 0x7E00, oracle.INVALID),
    (oracle.DIV, 0x3C00, 0x8000, 0xFC00, oracle.DIVISION_BY_ZERO),
    (oracle.DIV, 0x7C00, 0x8000, 0xFC00, 0),
    (oracle.DIV, 0x7C00, 0xFC00, 0x7E00, oracle.INVALID),
    (oracle.DIV, 0x3C00, 0xFC00, 0x8000, 0),
    (oracle.DIV, 0x7E00, 0x0000, 0x7E00, 0),
])
@pytest.mark.parametrize('name', ['fp16_k1024', 'fp16_k1_floor', 'fp16_exact'])
def test_special_values_of_fp16(name, op, x, y, z, flags):
    if name == 'fp16_k1_floor' and (x, y) == (0x3C00, 0x4000):
        z = 0x4000  # log2 3 is 1 there
    assert oracle.calc(oracle.table_set(name), op, x, y) == (z, flags)


@pytest.mark.parametrize('op, x, y, z, flags', [
    (oracle.ADD, 0x8000, 0x4000, 0x8000, 0),
    (oracle.ADD, 0x4000, 0xC000, 0x0000, 0),
    (oracle.SUB, 0x0000, 0x4000, 0xC000, 0),
    (oracle.SUB, 0x4000, 0x4000, 0x0000, 0),
    (oracle.MUL, 0x0000, 0xC000, 0x0000, 0),
    (oracle.MUL, 0x0000, 0x8000, 0x8000, 0),
    (oracle.MUL, 0x0001, 0xFFFF, 0xFFFF, 0),
    (oracle.MUL, 0x7FFF, 0x7FFF, 0x7FFF, 0),
    (oracle.DIV, 0xC000, 0x0000, 0x8000, oracle.DIVISION_BY_ZERO),
    (oracle.DIV, 0x0000, 0x0000, 0x8000, oracle.INVALID),
    (oracle.DIV, 0x8000, 0x0000, 0x8000, 0),
])
@pytest.mark.parametrize('name', ['posit16_k512', 'posit16_es2_k256_floor', 'posit16_exact'])
def test_special_values_of_posits(name, op, x, y, z, flags):
    assert oracle.calc(oracle.table_set(name), op, x, y) == (z, flags)


def test_two_that_share_a_log_word_underflow_in_the_floor_set():
    tables = oracle.table_set('fp16_k1_floor')
    assert oracle.calc(tables, oracle.SUB, 0x3C01, 0x3C00) == (0, oracle.UNDERFLOW)


def test_exact_fp16_is_numpys():
    tables = oracle.table_set('fp16_exact')
    draw = np.random.default_rng(7)
    x, y = (draw.integers(0x10000, size=5000, dtype=np.uint16) for _ in 'xy')
    operations = {oracle.ADD: np.add, oracle.SUB: np.subtract, oracle.MUL: np.multiply,
                  oracle.DIV: np.divide}
    for op, ufunc in operations.items():
        with np.errstate(all='ignore'):
            z = ufunc(x.view(np.float16), y.view(np.float16))
        expected = np.where(np.isnan(z), 0x7E00, z.view(np.uint16))
        results = [oracle.calc(tables, op, int(a), int(b))[0] for a, b in zip(x, y)]
        assert results == expected.tolist()


@pytest.mark.parametrize('name', ['fp16_k3', 'fp16_k2048', 'bf16_k256', 'fp16', 'fp8_k4', 'k4'])
def test_names_of_no_table_set(name):
    with pytest.raises(ValueError):
        oracle.table_set(name)
