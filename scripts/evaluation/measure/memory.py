# SPDX-License-Identifier: BSD-3-Clause
"""The memory of table sets: as netfc-tables counts it, folded, and in bits of a switch.

Folding keeps one period of a table and gets the rest by integer additions. It is lossless; that
is checked here for every entry.
"""

import json
import pathlib

import numpy

import programs
from netfc import FORMATS, TableSet

VALUE_BITS = 16  # of a folded table
FRACTION_BITS = {"fp16": 10, "bf16": 7, "posit16": 12, "posit16_es2": 11}  # the longest
GUARDS = {"fp16": 15, "bf16": 15, "posit16": 64, "posit16_es2": 64}


class FoldError(Exception):
    """A folded table does not give its entries back."""


def sizes(build, name):
    """What `netfc-tables size --json` says of a set."""
    return json.loads(programs.command(pathlib.Path(build, "app", "netfc-tables"), "size", "--json",
                                       name))


# ---- table entries ---------------------------------------------------------------------------


def read_tables(library, name):
    """The entries of log, the three mi and exp as signed integers, those by word from -32768."""
    tables = {table.name: table.entries.astype(numpy.int64)
              for table in TableSet(name, library).tables.values()}
    return {"log": signed(tables["log"][0]), "mi": [signed(by_word(page)) for page in tables["mi"]],
            "exp": by_word(tables["exp"][0])}


def signed(words):
    """Words as two's complement."""
    return numpy.where(words < 0x8000, words, words - 0x10000)


def by_word(entries):
    """Entries keyed by a signed word, the least word first."""
    return numpy.roll(entries, 0x8000)


# ---- folding ---------------------------------------------------------------------------------


def expect(what, folded, entries):
    """Fail unless what a folded table gives are the entries."""
    if not numpy.array_equal(folded, entries):
        raise FoldError(f"{what}: {numpy.sum(folded != entries)} entries differ")


def fold_log(number_format, scale, log):
    """log(2^e * 1.f) = e * k + log(1.f): the fractions, and the subnormals as they are."""
    values = number_format.decode(numpy.arange(1, 0x8000))
    magnitudes = numpy.flatnonzero(numpy.isfinite(values)) + 1
    significand, exponent = numpy.frexp(values[magnitudes - 1])
    bits = FRACTION_BITS[number_format.name]
    fraction = ((2 * significand - 1) * 2**bits).astype(int)
    is_one = exponent == 1  # in [1, 2)
    table = numpy.zeros(2**bits, dtype=numpy.int64)
    table[fraction[is_one]] = log[magnitudes[is_one]]
    subnormals = 0 if number_format.nan == 0x8000 else 2**bits - 1
    normal = magnitudes > subnormals
    folded = (exponent - 1) * scale + table[fraction]
    expect("log", folded[normal], log[magnitudes[normal]])
    return [table, log[1 : subnormals + 1]]


def fold_mi(reach, pages):
    """mi0(t) = t + mi0(-t) and mi2(t) = t + mi1(-t): those of mi0 and mi1 by -t, t <= 0."""
    theta = numpy.arange(1, reach + 1)
    above, below = 0x8000 + theta, 0x8000 - theta
    expect("mi0", theta + pages[0][below], pages[0][above])
    expect("mi2", theta + pages[1][below], pages[2][above])
    if pages[1][0x8000] != pages[2][0x8000]:
        raise FoldError("mi2, theta = 0")
    return [page[0x8000 - numpy.arange(reach + 1)] for page in pages[:2]]


def fold_exp(number_format, scale, exp):
    """2^(e + r/k) = 2^e * 2^(r/k): the fractions, and results below the least normal as they are.

    Posits round at a place that depends on the exponent: their expTable does not fold.
    """
    values = number_format.decode(exp)
    inside = numpy.isfinite(values) & (values != 0)
    if number_format.nan == 0x8000:
        changing = numpy.flatnonzero(numpy.diff(exp))
        return [exp[changing[0] : changing[-1] + 2]]
    bits = FRACTION_BITS[number_format.name]
    bias = number_format.encode(numpy.array([1.0]))[0] >> bits
    words = numpy.arange(-0x8000, 0x8000)
    normal = inside & (words >= (1 - int(bias)) * scale)
    table = exp[0x8000 : 0x8000 + scale] - (int(bias) << bits)
    folded = ((words // scale + int(bias)) << bits) + table[words % scale]
    expect("exp", folded[normal], exp[normal])
    return [table, exp[inside & ~normal]]


def merged_prefixes(values):
    """How many prefixes are left of a table once equal neighbours share an aligned one."""
    width = max(len(values) - 1, 1).bit_length()
    free = numpy.iinfo(numpy.int64).min  # after the table: may match anything
    mixed = free + 1
    row = numpy.full(2**width, free)
    row[: len(values)] = values
    count = 0
    while len(row) > 1:
        left, right = row[::2], row[1::2]
        joined = numpy.where(left == free, right, left)
        equal = (left == right) | (left == free) | (right == free)
        split = ~equal | (joined == mixed)
        for side in (left, right):
            count += int(numpy.sum(split & (side != mixed) & (side != free)))
        row = numpy.where(split, mixed, joined)
    return count + int(row[0] != mixed)


def fold(number_format, library, name):
    """Entries of a folded set, plain and with equal neighbours merged; log tables count twice."""
    scale = int(name.split("_k")[1].split("_")[0])
    tables = read_tables(library, name)
    reach = min(GUARDS[number_format.name] * scale, 0x7FFF)
    log = fold_log(number_format, scale, tables["log"])
    parts = {"log": log + log, "mi": fold_mi(reach, tables["mi"]),
             "exp": fold_exp(number_format, scale, tables["exp"])}
    arrays = [{"table": table, "entries": len(array), "merged": merged_prefixes(array),
               "key_bits": max(len(array) - 1, 1).bit_length()}
              for table, some in parts.items() for array in some if len(array) > 0]
    return {"arrays": arrays, **{what: sum(array[what] for array in arrays)
                                 for what in ("entries", "merged")}}


# ---- bits of a switch ------------------------------------------------------------------------


def hardware_bits(counted):
    """SRAM and TCAM bits of a set in four forms.

    An entry has a key, in TCAM a mask, and a value.
    """

    def keys(kind):
        rows = counted["tables"]
        return sum(row["copies"] * row[kind]["entries"] * row["key_bits"] for row in rows)

    values = {kind: 8 * counted["total"][kind]["bytes"] for kind in ("plain", "merged", "optimal")}
    return {
        "slots": {"sram": 8 * counted["total"]["slot_bytes"], "tcam": 0},
        "exact": {"sram": values["plain"] + keys("plain"), "tcam": 0},
        "merged": {"sram": values["merged"], "tcam": 2 * keys("merged")},
        "optimal": {"sram": values["optimal"], "tcam": 2 * keys("optimal")},
    }


def folded_bits(folded):
    """The same of a folded set, in two forms."""
    tcam = sum(2 * array["key_bits"] * array["merged"] for array in folded["arrays"])
    return {"folded": {"sram": VALUE_BITS * folded["entries"], "tcam": 0},
            "folded_merged": {"sram": VALUE_BITS * folded["merged"], "tcam": tcam}}


def run(build, library, names):
    """Sizes and bits by set name, folded ones, too, of sets that fold: those that have a k."""
    facts = {}
    for name in names:
        counted = sizes(build, name)
        facts[name] = {"sizes": counted, "bits": hardware_bits(counted)}
        if "_k" in name:
            folded = fold(FORMATS[name[: name.index("_k")]], library, name)
            facts[name] |= {"folded": folded, "bits": facts[name]["bits"] | folded_bits(folded)}
    return facts
