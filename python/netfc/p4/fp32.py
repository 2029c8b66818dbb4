# SPDX-License-Identifier: BSD-3-Clause
"""binary32 in P4.

Hardware finds leading ones by ternary entries, and a table's entries tell actions that shift by
constants how far; what the library's programs do in several steps is one there.
"""

import numpy

from netfc.p4.decide import decide_table
from netfc.p4.source import Source
from netfc.p4.table import Table, Words, bits_of, copy, low_bits
from netfc.protocol import OPS
from netfc.tables import TableSet

_FRACTION_BITS, _EXPONENT_BITS = 23, 8
_EXPONENT_SUM_BITS = 10  # of products and quotients, two's complement
_PLACES_BITS = 5  # how far a word is shifted


def fp32_tables(tables: TableSet, last_op: str) -> list[Table]:
    """The tables of a lane for fp32_exact. last_op: the last operation that the program has."""
    source, last = Source(tables), OPS[last_op]
    filled = _sum_tables(source)
    if last >= OPS["mul"]:
        filled += [_exponents(), _scale(source, last >= OPS["div"]), *_digits(source)]
    if last >= OPS["div"]:
        filled += _quotient_tables()
    return [*filled, decide_table(source)]


# ---- sums ----------------------------------------------------------------------------------------

_SUM_BITS = 28  # of a sum's magnitude
# The library finds the leading one in two steps, the first of which is so wide.
_COARSE_PLACES = 14


def _sum_tables(source: Source) -> list[Table]:
    exps = Table("sum.exps", "exponent_x exponent_y", "set_exps(align_x, align_y, greater)")
    slices = (8, _PLACES_BITS), (13, _PLACES_BITS), (0, _EXPONENT_BITS)
    widths = _EXPONENT_BITS, _EXPONENT_BITS
    return [copy(source.tables, "exps", exps, widths, slices), _lead(), _norm(source)]


def _lead() -> Table:
    """Sums with the same bits down to the leading one. A negative sum has the complement of its
    magnitude's leading bits, but for powers of two, which come first."""
    table = Table("sum.lead", "sum&", "positive(zeros)", "negative(zeros)")
    every = low_bits(32)
    entries = [("negative", lead, -1 << lead & every, every) for lead in range(_SUM_BITS)]
    for lead in range(_SUM_BITS):
        mask = every & ~low_bits(lead)
        entries.append(("positive", lead, 1 << lead, mask))
        entries.append(("negative", lead, ~(1 << lead) & mask, mask))
    for priority, (action, lead, value, mask) in enumerate(entries):
        table.add(action, {"sum": (value, mask)}, (_SUM_BITS - 1 - lead,), priority)
    return table


def _norm(source: Source) -> Table:
    """The library's places are 0 or 14, a bit of the key, and others."""
    table = Table("sum.norm", "negative places exponent", "set_norm(left, base)")
    key = numpy.flatnonzero(source.occurs("norm"))
    words = source.words("norm")[key].astype(numpy.int64)
    places = bits_of(key, 8, 4) + bits_of(key, 12, 1) * _COARSE_PLACES
    base = words >> _PLACES_BITS << _FRACTION_BITS
    keys = [bits_of(key, 13, 1), places, bits_of(key, 0, _EXPONENT_BITS)]
    table.fill(keys, [bits_of(words, 0, _PLACES_BITS), base])
    return table


# ---- products, and what quotients share with them ------------------------------------------------

_LEADING_ONE = 1 << 11  # of a significand, in its high digit
_SQUARE_BITS = 13  # sums and differences of two digits
# Places that leave nothing to round by, and more: the program has a code for all of them.
_MAX_PLACES = 25
# Codes besides places: see ShiftProduct in p4/include/product_fp32.p4.
_CODE_NORMAL, _CODE_OVERFLOW, _CODE_CLEAR = 0, 26, 31


def _exponents() -> Table:
    """The exponent that a field stands for: subnormal numbers have that of the least normal."""
    paths = "factors.factor_x.exponent_of factors.factor_y.exponent_of"
    table = Table(paths, "field", "set_exponent(word)")
    field = numpy.arange(1 << _EXPONENT_BITS)
    table.fill([field], [numpy.maximum(field, 1)])
    return table


def _scale(source: Source, has_quotients: bool) -> Table:
    """How products and quotients are shifted, by their exponents.

    The library has words for both places of the leading one: places, and above them the exponent's
    field. With its first bit leading, a normal result is shifted by a place more, and its exponent
    is one more; a subnormal one is the same number of units of the least place.
    """
    keys = "sign_x sign_y exponent"
    keys = f"div {keys}" if has_quotients else keys
    table = Table("factors.scale", keys, "set_scale(code, base)")
    shape = -1, 2, 1 << _EXPONENT_SUM_BITS
    pages = source.words("scale").astype(numpy.int64).reshape(shape)
    found = source.occurs("scale").reshape(shape)
    for div in range(1 + has_quotients):
        exponents = numpy.flatnonzero(found[div].any(axis=0))
        words, occurs = pages[div][:, exponents], found[div][:, exponents]
        # Where only one of the two occurs, the other one may be the same.
        other, first = numpy.where(occurs, words, words[::-1])
        base = other >> _PLACES_BITS << _FRACTION_BITS
        codes = _codes(bits_of(other, 0, _PLACES_BITS), bits_of(first, 0, _PLACES_BITS))
        # Of each exponent, all signs.
        signs = numpy.tile(numpy.arange(4), len(exponents))
        x, y = signs >> 1, signs & 1
        every = numpy.repeat(exponents, 4), numpy.repeat(codes, 4), numpy.repeat(base, 4)
        table.fill(
            [*([div] if has_quotients else []), x, y, every[0]],
            [every[1], every[2] | (x ^ y) << 31],
        )
    return table


def _codes(other: Words, first: Words) -> Words:
    """The codes of places where the second or the first bit is the leading one."""
    normal = numpy.where(first > _MAX_PLACES, _CODE_OVERFLOW, _CODE_NORMAL)
    codes = numpy.where(other == first, other, normal)
    return numpy.where(other > _MAX_PLACES, _CODE_CLEAR, codes)


def _digits(source: Source) -> list[Table]:
    """a * b = square[a + b] - differ[a - b], digits of 12 bits.

    Significands' high digits come without their leading one, which the entries add. Where both lack
    it, their difference does not.
    """
    filled = []
    for name, key, first, paths in (
        ("square", "sum", 2 * _LEADING_ONE, "product.high.square"),
        ("square", "sum", _LEADING_ONE, "product.cross_x.square product.cross_y.square"),
        ("square", "sum", 0, "product.low.square"),
        ("differ", "difference", _LEADING_ONE, "product.cross_x.differ product.cross_y.differ"),
        ("differ", "difference", 0, "product.high.differ product.low.differ"),
    ):
        words = source.words(name)
        keys = numpy.arange(len(words))
        digits = bits_of(keys + first, 0, _SQUARE_BITS)
        occurs = source.occurs(name)[digits]
        if name == "square":  # sums that would begin again at 0 do not occur
            occurs &= digits == keys + first
        table = Table(paths, key, f"set_{name}(word)")
        table.fill([keys[occurs]], [words[digits[occurs]]])
        filled.append(table)
    return filled


# ---- quotients: two digits of 13 bits (docs/p4.md), which the library has in other pieces --------

# The bits after a leading one, of a dividend and, for its reciprocal, a divisor.
_UPPER_KEY_BITS = 15
_RECIP_PLACES = 10  # how many places up reciprocals stand
_RECIP_LEAD = 1 << 14  # its leading one, which words lack
_ESTIMATE_PLACES = 17  # how many places up estimates are
# What is taken off a digit of the quotient; their least and greatest values, so reduced.
_FIRST_OFFSET, _SECOND_OFFSET = 2, -8192
_FIRST = range(4095 - _FIRST_OFFSET, 16385 + 1 - _FIRST_OFFSET)
_SECOND = range(-5121 - _SECOND_OFFSET, 5121 + 1 - _SECOND_OFFSET)
# The second remainder's upper bits are so many, either side of 0.
_REMAINDERS = 20480
# A divisor's digits: the leading one, which the high one lacks; the greatest values.
_HIGH_LEAD, _HIGH_MOST, _LOW_MOST = 1 << 11, (1 << 11) - 1, 4095
_HIGH_PLACES = 12


def _quotient_tables() -> list[Table]:
    """The entries do not depend on a set."""
    return [
        _reciprocals(),
        _placed("begin.upper", range(1 << _UPPER_KEY_BITS), 9),
        _placed("quotient.dividend_high", range(_HIGH_MOST + 1), 25),
        _placed("quotient.dividend_low", range(_LOW_MOST + 1), 13),
        _placed("quotient.divisor_high", range(_HIGH_MOST + 1), 17),
        _placed("quotient.divisor_low", range(_LOW_MOST + 1), 17),
        _placed("quotient.first.digit", _FIRST, 18, ", cut"),
        _placed("quotient.second.digit", _SECOND, 6, ", cut"),
        *_guess("first", range(_RECIP_LEAD), _RECIP_LEAD, _FIRST_OFFSET),
        *_by_divisor("first", _FIRST, _FIRST_OFFSET),
        *_guess("second", range(-_REMAINDERS, _REMAINDERS), 0, _SECOND_OFFSET),
        *_by_divisor("second", _SECOND, _SECOND_OFFSET),
    ]


def _reciprocals() -> Table:
    """That of the middle of the divisors that have these bits: 2^38 / it, rounded."""
    rest = _FRACTION_BITS - _UPPER_KEY_BITS
    key = numpy.arange(1 << _UPPER_KEY_BITS)
    least = (1 << _UPPER_KEY_BITS | key) << rest
    recip = ((1 << 40) // (2 * least + low_bits(rest)) + 1) // 2
    recip = numpy.minimum(recip, 2 * _RECIP_LEAD - 1)
    table = Table("begin.recip.place", "digit", "add(part)")
    table.fill([key], [(recip - _RECIP_LEAD) << _RECIP_PLACES])
    return table


def _placed(path: str, digits: range, places: int, cut: str = "") -> Table:
    """Digits, of numbers and of the quotient, so many places up; those of the quotient, too, in a
    word of 16 bits, a place up."""
    digit = numpy.arange(digits.start, digits.stop)
    table = Table(f"{path}.place", "digit", f"add(part{cut})")
    table.fill([digit], [digit << places, *([digit << 1] if cut else [])])
    return table


def _guess(digit: str, numbers: range, lead: int, offset: int) -> list[Table]:
    """An estimate of a digit: the product of a number, which lacks its leading one, and a
    reciprocal, with 1/2 added to the number, twice.

    offset: what the digit lacks
    """
    path, last = f"quotient.{digit}.guess", _RECIP_LEAD - 1
    # 1/2 to round by, and the digit's offset, both where the digit stands.
    more = (1 - 2 * offset) << (_ESTIMATE_PLACES - 1)
    sums = numpy.arange(numbers[0], numbers[-1] + last + 1)
    number = sums + lead + _RECIP_LEAD
    square = Table(f"{path}.square", "sum", "add(part)")
    square.fill([sums & 0xFFFF], [number * (number + 1) // 2 + more])
    differences = numpy.arange(numbers[0] - last, numbers[-1] + 1)
    number = differences + lead - _RECIP_LEAD
    differ = Table(f"{path}.differ", "difference", "add(part)")
    differ.fill([differences & 0xFFFF], [-(number * (number + 1) // 2)])
    return [square, differ]


def _by_divisor(digit: str, values: range, offset: int) -> list[Table]:
    """A digit's products with those of the divisor, which are subtracted: quarters of squares."""
    filled = []
    for name, most, lead, places in (
        ("high", _HIGH_MOST, _HIGH_LEAD, _HIGH_PLACES),
        ("low", _LOW_MOST, 0, 0),
    ):
        path = f"quotient.{digit}.by_{name}"
        for kind, key, first, last, more, factor in (
            ("square", "sum", values[0], values[-1] + most, offset + lead, -1 << places),
            ("differ", "difference", values[0] - most, values[-1], offset - lead, 1 << places),
        ):
            number = numpy.arange(first, last + 1)
            table = Table(f"{path}.{kind}", key, "add(part)")
            table.fill([bits_of(number, 0, 15)], [factor * ((number + more) ** 2 // 4)])
            filled.append(table)
    return filled
