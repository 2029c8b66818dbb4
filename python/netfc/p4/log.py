# SPDX-License-Identifier: BSD-3-Clause
"""The paper's family of table sets in P4.

In the compact layout the miTable is folded: theta <= 0 only, as the larger operand comes first. For
IEEE formats, logarithms and powers are split by exponent and fraction there.
"""

import numpy

from netfc.p4.decide import decide_table
from netfc.p4.source import Impossible, Source
from netfc.p4.table import Table, bits_of, low_bits, prefixes, runs
from netfc.protocol import Flag
from netfc.tables import TableSet

_WORD = 1 << 16  # log words and their sums, two's complement
_SIGN = 0x8000
_KINDS = "normal", "small", "fixed"  # powers of an exponent: all normal, some subnormal, all equal


def log_tables(tables: TableSet, layout: str) -> list[Table]:
    """The tables of a lane. Raises Impossible where the set has no such layout."""
    source = Source(tables)
    is_compact = layout == "compact"
    is_split = is_compact and not source.is_posit
    if is_split and tables.scale == 1:
        raise Impossible("the compact layout needs k to be 2 at least")
    return [
        *(_log_split(source) if is_split else _log_direct(source)),
        _mi_folded(source) if is_compact else _mi_direct(source),
        decide_table(source, is_compact),
        *(_exp_split(source) if is_split else _exp_direct(source)),
        *([] if source.is_posit else [_limits(source)]),
    ]


def _log_direct(source: Source) -> list[Table]:
    """Posits are looked up with their sign, so that no absolute value is needed."""
    bits = numpy.arange(_WORD if source.is_posit else _SIGN)
    magnitudes = numpy.where(bits & _SIGN, -bits, bits) & (_SIGN - 1)
    occurs = source.occurs("log")[magnitudes]
    table = Table("log_x.log log_y.log", "operand", "set(word)")
    table.fill([bits[occurs]], [source.words("log")[magnitudes[occurs]]])
    return [table]


def _mi_direct(source: Source) -> Table:
    """If the signs differ, the sign of theta selects mi1 or mi2. For theta = 0 these are equal."""
    bits = 16 if source.is_posit else 15  # of theta that matter within the guard
    table = Table("mi.mi", "differ theta", "set(word)")
    theta = numpy.arange(-_SIGN, _SIGN)
    for differ, page in ((0, numpy.zeros_like(theta)), (1, numpy.where(theta <= 0, 1, 2))):
        index = page * _WORD | theta & (_WORD - 1)
        occurs = source.occurs("mi")[index]
        word = source.words("mi")[index[occurs]]
        table.fill([differ, theta[occurs] & low_bits(bits)], [word])
    return table


def _exp_direct(source: Source) -> list[Table]:
    """As the key has the sign, the entry is z itself, for posits as well."""
    table = Table("power.exp", "negative n", "set(word)")
    powers = source.words("exp")[:_WORD].astype(numpy.int64)
    table.fill([0, numpy.arange(_WORD)], [powers])
    negative = -powers & (_WORD - 1) if source.is_posit else powers | _SIGN
    table.fill([1, numpy.arange(_WORD)], [negative])
    return [table]


def _log_split(source: Source) -> list[Table]:
    """log(2^e * 1.f) = e * k + log(1.f), and the logarithms of subnormal numbers."""
    bias = low_bits(source.exponent_bits - 1)
    words, fractions = source.words("log"), numpy.arange(1 << source.fraction_bits)
    exponents = numpy.arange(1, low_bits(source.exponent_bits))
    normal = Table("log_x.fraction log_y.fraction", "fraction", "set(word)")
    normal.fill([fractions], [words[bias << source.fraction_bits | fractions]])
    subnormal = Table("log_x.subnormal log_y.subnormal", "fraction", "set(word)")
    subnormal.fill([fractions[1:]], [words[fractions[1:]]])
    exponent = Table("log_x.exponent log_y.exponent", "exponent", "set_exponent(word)")
    exponent.fill([exponents], [(exponents - bias) * source.tables.scale & (_WORD - 1)])
    return [normal, subnormal, exponent]


def _mi_folded(source: Source) -> Table:
    """The prefixes of two pages that some theta <= 0 can match."""
    table = Table("mi.mi", "differ theta/", "set(word)")
    for page in range(2):
        keys, words, lengths = source.tables.prefixes("mi", page).T.astype(numpy.int64)
        matches = (lengths == 0) | (keys & _SIGN != 0)
        table.fill([page, keys[matches]], [words[matches]], lengths[matches])
        zero = numpy.flatnonzero(keys == 0)[-1:]  # shorter ones come first
        if lengths[zero].any():
            table.fill([page, [0]], [words[zero]], 16)
    return table


def _exp_split(source: Source) -> list[Table]:
    """2^(n/k) = 2^q * 2^(r/k), n = q * k + r; subnormal results have a table of their own."""
    scale, fraction_bits = source.tables.scale, source.fraction_bits
    powers = source.words("exp")[:_WORD].astype(numpy.int64)
    first, last = powers[::scale], powers[scale - 1 :: scale]
    is_fixed = (first == last) & ((last == 0) | (last == source.inf))
    kinds = numpy.where(is_fixed, 2, numpy.where(first >> fraction_bits, 0, 1))

    fraction = Table("power.fraction", "remainder", "set_fraction(word)")
    fraction.fill([numpy.arange(scale)], [powers[:scale] & low_bits(fraction_bits)])

    numbers = numpy.flatnonzero(numpy.repeat(kinds == 1, scale))
    count = max(1, int((kinds == 1).sum())) * scale
    subnormal = Table("power.subnormal", "n", "set_subnormal(word)")
    subnormal.fill([numbers & low_bits((count - 1).bit_length())], [powers[numbers]])

    # The part of z that the exponent gives: exponent field and sign.
    bases = numpy.where(kinds == 1, 0, first & ~low_bits(fraction_bits))
    actions = [f"{kind}(base)" for kind in _KINDS]
    exponent = Table("power.scale", "negative& exponent&", *actions)
    bits = (len(first) - 1).bit_length()
    for negative in range(2):
        for start, end in runs(numpy.column_stack((kinds, bases))):
            args = (negative << 15 | int(bases[start]),)
            for match in prefixes(start, end, bits):
                matches = {"negative": (negative, 1), "exponent": match}
                exponent.add(_KINDS[kinds[start]], matches, args)
    return [fraction, subnormal, exponent]


def _limits(source: Source) -> Table:
    """The ends of the range: the n that raise a flag. Posits saturate without a flag."""
    powers = source.words("exp")[:_WORD]
    is_inf = numpy.where(powers == source.inf, Flag.OVERFLOW, 0)
    flags = bits_of(numpy.where(powers == 0, Flag.UNDERFLOW, is_inf), 0, 4)
    table = Table("limits", "n&", "raise(flags)")
    for start, end in runs(flags):
        if flags[start]:
            for match in prefixes(start, end, 16):
                table.add("raise", {"n": match}, (int(flags[start]),))
    return table
