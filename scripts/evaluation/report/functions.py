# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one number, and powers: errors, exact results, memory."""

from evaluation.measure.functions import ENCODINGS, ENTRY_BYTES, POW_RANGES
from evaluation.report.document import headings, kilobytes, number, percent, table

WAYS = {"tables": "tables", "steps": "log2, ×, exp2"}


def functions_table(functions):
    """A row for each function."""
    forms = list(next(iter(functions.values())))
    rows = [[f"`{name}`", *(number(100 * facts[form]["error"]) for form in forms),
             *(percent(100 * facts[form]["exact"]) for form in forms),
             kilobytes(len(ENCODINGS) * ENTRY_BYTES)] for name, facts in functions.items()]
    return table(["", *headings("greatest error", forms), *headings("exact", forms), "KB"], rows)


def pow_table(powers):
    """A row for each format and way."""
    ranges = [f"{low} to {high}" for low, high in POW_RANGES]
    rows = [[f"{form}, {text}" + (f", k = {facts['scale']}" if way == "tables" else ""),
             *(number(100 * found[what]) for what in ("average", "error") for found in facts[way]),
             *(percent(100 * found["exact"], 1) for found in facts[way])]
            for form, facts in powers.items() for way, text in WAYS.items()]
    head = [cell for what in ("average", "greatest", "exact") for cell in headings(what, ranges)]
    return table(["", *head], rows)
