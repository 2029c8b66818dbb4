# SPDX-License-Identifier: BSD-3-Clause
"""The correctly rounded family in P4 (fp16, bf16).

Hardware cannot make all keys of the library's program in time. Its tables do more instead: exps
gives the effective sign of y, subn gives the corrected base itself, and ternary entries recognise
the ties of products.
"""

import itertools

import numpy

from netfc.p4.decide import decide_table
from netfc.p4.source import Impossible, Source
from netfc.p4.table import Table, Words, bits_of, copy, low_bits, prefixes, runs
from netfc.protocol import Flag
from netfc.tables import TableSet

_MAX_EXPS_BITS = 16  # "exps" has the signs in its key unless the key would be wider than this
_CODE_BITS = 5  # of a shift count with the significand's hidden bit
_CLASS_BITS = 4  # of a rounding class (lib/netfc/exact/exact_family.h)
# Classes up to F + 1 are subnormal; those of a base that is 0 or infinity, of a normal base and of
# the greatest follow.
_CLASS_NOTHING, _CLASS_GREATEST = 12, 14


class _Widths(Source):
    """A set, and the widths of fields in its tables.

    top_bits: upper bits of a product, which are rounded; below_bits: its other bits
    greatest_base: the base of the greatest exponent
    exactly, more: rounding offsets of products whose bits below the top bits are all 0, and others
    """

    def __init__(self, tables: TableSet):
        super().__init__(tables)
        self.exponent_bits = tables.tables["exps"].key_bits // 2
        self.fraction_bits = 15 - self.exponent_bits
        self.sum_bits = tables.tables["norm"].key_bits
        self.product_bits = tables.tables["part"].value_bits
        self.top_bits = tables.tables["round"].key_bits - _CLASS_BITS
        self.below_bits = self.product_bits - self.top_bits
        self.greatest_base = self.inf - (2 << self.fraction_bits)
        self.exactly, self.more = tables.tables["round"].entries.astype(numpy.int64)[:2]


def exact_tables(tables: TableSet) -> list[Table]:
    """The tables of a lane. Raises Impossible where the set has no program."""
    if "exps" not in tables.tables:
        raise Impossible(
            "it has no P4 program; of the correctly rounded sets, fp16_exact, bf16_exact, "
            "fp32_exact and those of fp8 have one"
        )
    source = _Widths(tables)
    return [*_sum_tables(source), *_product_tables(source), decide_table(source)]


# ---- sums and differences ------------------------------------------------------------------------


def _sum_tables(source: _Widths) -> list[Table]:
    align = Table("align_x.align align_y.align", "shift negative fraction", "set(word)")
    norm = Table("norm", "overflow sum", "set_norm(word)")
    return [
        _exps(source),
        copy(source.tables, "align", align, (_CODE_BITS, 1, source.fraction_bits)),
        copy(source.tables, "norm", norm, (1, source.sum_bits)),
        _subn(source),
        _sum_limits(source),
    ]


def _exps(source: _Widths) -> Table:
    """A word of the library's table has, from bit 0 on, base, small, overflow, codes."""
    width = source.exponent_bits
    overflow_at = width + 4
    index = numpy.flatnonzero(source.occurs("exps"))
    words = source.words("exps")[index].astype(numpy.int64)
    keys = [index >> width, bits_of(index, 0, width)]
    codes = [bits_of(words, overflow_at + 1 + at, _CODE_BITS) for at in (_CODE_BITS, 0)]
    base = bits_of(words, 0, width) << source.fraction_bits
    rest = [bits_of(words, overflow_at, 1), base]
    if 2 + 2 * width > _MAX_EXPS_BITS:
        action = "set_exps(code_x, code_y, overflow, base)"
        table = Table("exps", "exponent_x exponent_y", action)
        table.fill(keys, [*codes, *rest])
        return table
    action = "set_exps(code_x, code_y, effective_sign_y, overflow, base)"
    table = Table("exps", "sub sign_y exponent_x exponent_y", action)
    for sub, sign_y in itertools.product((0, 1), repeat=2):
        table.fill([sub, sign_y, *keys], [*codes, sub ^ sign_y, *rest])
    return table


def _subn(source: _Widths) -> Table:
    """A sum of zero is zero for every base; in the library the decision table has that case.
    Significands of the least exponent are not shifted and so are multiples of 8, as are their sums.
    """
    bits = source.sum_bits
    table = Table("subn", "exponent sum", "set_base(base)")
    exponents = numpy.arange((source.greatest_base >> source.fraction_bits) + 1)
    table.fill([exponents, 0], [-int(source.words("norm")[0]) & 0xFFFF])
    index = numpy.arange(len(source.words("subn")))
    corrections = source.words("subn").astype(numpy.int64)
    small, sums = index >> (bits - 2), bits_of(index, 0, bits - 2) << 2
    chosen = source.occurs("subn") & (corrections != 0) & (sums != 0)
    chosen &= (small != 1) | (sums % 8 == 0)
    exponents = small[chosen] - 1
    base = (exponents << source.fraction_bits) + corrections[chosen]
    table.fill([exponents, sums[chosen]], [base & 0xFFFF])
    return table


def _sum_limits(source: _Widths) -> Table:
    norm_inf = source.words("norm")[1 << source.sum_bits :][: 1 << source.sum_bits]
    results = (source.greatest_base + norm_inf.astype(numpy.int64)) & 0x7FFF
    overflows = results == source.inf
    table = Table("sum_limits", "overflow& sum&", "raise(flags)")
    for first, last in runs(overflows):
        if overflows[first]:
            for match in prefixes(first, last, source.sum_bits):
                table.add("raise", {"overflow": (1, 1), "sum": match}, (int(Flag.OVERFLOW),))
    table.minimise()
    return table


# ---- products and quotients ----------------------------------------------------------------------


def _product_tables(source: _Widths) -> list[Table]:
    tables, bits = source.tables, source.fraction_bits
    prenorm = Table("prenorm_x.prenorm prenorm_y.prenorm", "magnitude", "set(significand, power)")
    classes = Table("class", "div sign_x sign_y exponent", "set_class(class, base)")
    part = Table("part", "div fraction_x fraction_y", "set_product(word)")
    if tables.tables["part"].entries.shape[0] == 2:
        parts = [_half(source, page) for page in range(2)]
    else:
        parts = [copy(tables, "part", part, (1, bits, bits))]
    widths = 1, 1, 1, tables.tables["class"].key_bits - 3
    return [
        copy(tables, "prenorm", prenorm, (15,), ((0, bits), (bits, 16))),
        *parts,
        copy(tables, "class", classes, widths, ((16, _CLASS_BITS), (0, 16))),
        _round(source),
        _ties(source),
        _product_limits(source),
    ]


def _half(source: _Widths, page: int) -> Table:
    """A page of the library's table, for the high or the low half of x's fraction."""
    name, bits = ("high", "low")[page], source.fraction_bits
    half = bits // 2
    words = source.tables.tables["part"].entries[page]
    index = numpy.arange(len(words))
    table = Table(f"part_{name}", "div half fraction", f"set_{name}(word)")
    keys = [index >> (half + bits), bits_of(index, bits, half), bits_of(index, 0, bits)]
    table.fill(keys, [words])
    return table


def _round(source: _Widths) -> Table:
    index = numpy.flatnonzero(source.tables.occurs("round")[0])
    table = Table("round", "class top", "set_round(word)")
    keys = [index >> source.top_bits, bits_of(index, 0, source.top_bits)]
    table.fill(keys, [source.more[index]])
    return table


def _ties(source: _Widths) -> Table:
    """One entry for all ties of a class and binade, if any: they differ only in some bits."""
    below, top_bits = source.below_bits, source.top_bits
    table = Table("tie", "class& product&", "lower()")
    ties = (source.exactly != source.more).reshape(1 << _CLASS_BITS, 1 << top_bits)
    for number, binade in itertools.product(range(1 << _CLASS_BITS), (2, 1)):
        first = 1 << (top_bits - binade)
        tops = numpy.flatnonzero(ties[number, first : 2 * first]) + first
        if tops.size == 0:
            continue
        always = int(numpy.bitwise_and.reduce(tops))
        differ = always ^ int(numpy.bitwise_or.reduce(tops))
        mask = (low_bits(top_bits) & ~differ) << below | low_bits(below)
        matches = {"class": (number, low_bits(_CLASS_BITS)), "product": (always << below, mask)}
        table.add("lower", matches)
    table.minimise()
    return table


def _product_limits(source: _Widths) -> Table:
    table = Table("product_limits", "class& large& product&", "raise(flags)")
    end, step = 1 << source.product_bits, 1 << (source.below_bits - 1)
    # For each value of the top bits: all bits below are 0, then any is set.
    products: Words = numpy.arange(end // 4, end, step)
    products = numpy.where(products % (2 * step), products - step + 1, products)
    ends = [*map(int, products[1:]), end]
    kinds = [(number, 0) for number in (*range(source.fraction_bits + 2), _CLASS_NOTHING)]
    for number, large in (*kinds, (_CLASS_NOTHING, 1), (_CLASS_GREATEST, 1)):
        flags = _product_flags(source, number, bool(large), products)
        for first, last in runs(flags):
            if flags[first]:
                covered = int(products[first]), ends[last] - 1, source.product_bits
                for match in prefixes(*covered):
                    matches = {"class": (number, low_bits(_CLASS_BITS)), "large": (large, 1)}
                    table.add("raise", matches | {"product": match}, (int(flags[first]),))
    table.minimise()
    return table


def _product_flags(source: _Widths, number: int, is_large: bool, products: Words) -> Words:
    """The flags of products of a class, with a large base or another one."""
    index = number << source.top_bits | products >> source.below_bits
    is_exact = bits_of(products, 0, source.below_bits) == 0
    offsets = numpy.where(is_exact, source.exactly[index], source.more[index])
    if not is_large:
        return numpy.where(offsets == 0, Flag.UNDERFLOW, 0)
    is_greatest = (source.greatest_base + offsets) & low_bits(32) == source.inf
    return numpy.where((offsets == 0) | is_greatest, Flag.OVERFLOW, 0)
