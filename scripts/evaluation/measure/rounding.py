# SPDX-License-Identifier: BSD-3-Clause
"""A third way to round table entries, which the paper's figures point to.

Logarithms are cut off towards zero, as int() and casts do, and results are rounded to the
nearest, as numpy.float16() does. Only for that comparison: tables in doubles, no special values.
"""

import numpy

from evaluation import paper
from evaluation.measure import measures

WORDS = numpy.arange(-0x8000, 0x8000)
GUARDS = {"fp16": 15, "posit16": 64}


def make_tables(number_format, scale):
    """Logarithms by magnitude; the three miTables and results, each by word."""
    exponents = WORDS / scale
    with numpy.errstate(all="ignore"):
        logs = numpy.trunc(scale * numpy.log2(number_format.decode(numpy.arange(0x8000))))
        powers = numpy.exp2(exponents)
        tables = [numpy.log2(1 + powers), numpy.log2(1 - powers), numpy.log2(powers - 1)]
        mi = [numpy.trunc(scale * table) for table in tables]
    return logs, mi, number_format.decode(number_format.encode(powers))


def word_index(words):
    """Where words stand in WORDS, saturated; what is no number stands first."""
    words = numpy.nan_to_num(words, nan=-0x8000, posinf=0x7FFF, neginf=-0x8000)
    return numpy.clip(words, -0x8000, 0x7FFF).astype(int) + 0x8000


def add(x, y, logs, tables, reach):
    """x + y by the tables; logs: those of x and y; reach: the guard times k."""
    _, mi, powers = tables
    difference = numpy.clip(logs[1] - logs[0], -0x8000, 0x7FFF)
    choice = numpy.where((x > 0) == (y > 0), 0, numpy.where(numpy.abs(x) > numpy.abs(y), 1, 2))
    with numpy.errstate(all="ignore"):
        m = numpy.choose(choice, [table[word_index(difference)] for table in mi])
    result = numpy.where(numpy.isfinite(m), powers[word_index(logs[0] + m)], 0)
    result = numpy.copysign(result, numpy.where(choice == 2, y, x))
    result = numpy.where(difference > reach, y, result)
    return numpy.where(difference < -reach, x, result)


def compute(number_format, op, pairs, tables, reach):
    """Values of x (op) y, all of which must be finite numbers other than zero."""
    x, y = number_format.decode(pairs)
    magnitudes = number_format.encode(numpy.abs([x, y]))
    i, j = tables[0][magnitudes]
    if op in ("add", "sub"):
        return add(x, -y if op == "sub" else y, (i, j), tables, reach)
    words = i + j if op == "mul" else i - j
    return numpy.sign(x) * numpy.sign(y) * tables[2][word_index(words)]


def measure_cell(cell, tables, reach):
    """Accuracy in one cell of the accuracy table, over operands other than zero."""
    fit = numpy.all(cell.format.decode(cell.pairs) != 0, axis=0)
    pairs = cell.pairs[:, fit]
    expected = numpy.concatenate([cell.expected[op][fit] for op in cell.expected])
    result = numpy.concatenate(
        [compute(cell.format, op, pairs, tables, reach) for op in cell.expected]
    )
    lanes = measures.counted(cell.format, expected)
    values = measures.accuracy(cell.format.decode(expected[lanes]), result[lanes])
    return measures.summary(values)


def run(cells):
    """Accuracies by cell, of those that the paper has."""
    facts = {}
    for name in paper.FORMATS:
        mine = [c for c in cells if c.format.name == name]
        mine = [c for c in mine if (name, c.group, c.data_set) in paper.ACCURACY]
        scale = int(paper.SETS[name].split("_k")[1])
        tables = make_tables(mine[0].format, scale)
        for cell in mine:
            facts[cell.key] = measure_cell(cell, tables, GUARDS[name] * scale)
    return facts
