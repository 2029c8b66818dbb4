# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one number, and powers: errors, exact results, memory."""

from evaluation.measure.functions import ENCODINGS, ENTRY_BYTES, POW_RANGES
from evaluation.report.document import Bullets, Heading, Paragraph, Table
from evaluation.report.words import headings, kilobytes, number, percent

WAYS = {"tables": "tables", "steps": "log2, ×, exp2"}


def _functions_table(functions):
    forms = list(next(iter(functions.values())))
    rows = [
        [
            f"`{name}`",
            *(number(100 * facts[form]["error"]) for form in forms),
            *(percent(100 * facts[form]["exact"]) for form in forms),
            kilobytes(len(ENCODINGS) * ENTRY_BYTES),
        ]
        for name, facts in functions.items()
    ]
    return Table(["", *headings("greatest error", forms), *headings("exact", forms), "KB"], rows)


def _pow_table(powers):
    ranges = [f"{low} to {high}" for low, high in POW_RANGES]
    rows = [
        [
            f"{form}, {text}" + (f", k = {facts['scale']}" if way == "tables" else ""),
            *(number(100 * found["average"]) for found in facts[way]),
            *(number(100 * found["error"]) for found in facts[way]),
            *(percent(100 * found["exact"], 1) for found in facts[way]),
        ]
        for form, facts in powers.items()
        for way, text in WAYS.items()
    ]
    head = [cell for what in ("average", "greatest", "exact") for cell in headings(what, ranges)]
    return Table(["", *head], rows)


def blocks(results):
    """The section."""
    found = results["functions"]
    return [
        Heading(2, "Functions"),
        Paragraph(
            "Each [function of one number](functions.md) is a table of 65,536 entries of 16 bits. *Greatest error*:"
            " relative, in percent, of results that are normal numbers; of posits, which have their digits near 1,"
            " of those from 1/16 to 16. *Exact*: the share of entries, in percent, that are the correctly rounded"
            " result as far as double precision tells. Which of two neighbours it is where that does not, the unit"
            " tests decide by MPFR: none is wrong."
        ),
        _functions_table(found["functions"]),
        Heading(3, "Powers"),
        Paragraph(
            "x^y has two operands, so that no table has it. Two ways give it nearly, here for 2^22 random pairs"
            " of x > 0 and y, uniform over encodings, but for those whose power rounds to 1; by the range of"
            " |log2 x^y|. Errors are relative, in percent; *exact*: the share of correctly rounded results, in percent."
        ),
        Bullets([
            "*Tables*: x^y = 2^(±2^(log2|log2 x| + log2|y|)), three look-ups and one addition, as in the paper's"
            " product, of tables of 64, 64 and 256 KB. What rounding the two words loses is a relative"
            " error of log2 x^y, and so counts the more the larger that is.",
            "*log2, ×, exp2*: three operations, each correctly rounded, of a switch that has loaded `log2` and"
            " `exp2`: three requests. Rounding the logarithm and the product loses as"
            " much, or less.",
        ]),
        _pow_table(found["pow"]),
    ]


def markdown(results):
    """The section alone."""
    return "\n\n".join(block.markdown() for block in blocks(results)) + "\n"
