# SPDX-License-Identifier: BSD-3-Clause
"""The accuracy tables."""

import itertools

from evaluation import paper
from evaluation.measure import datasets, measures
from evaluation.report.document import headings, percent, table

KINDS = ("floor", "plain", "correct")
# What is measured, its title, its digits; the paper has the first three.
MEASURES = (("average", "average", 3), ("median", "median", 2), ("minimum", "minimum", 2),
            ("exact", "exact", 1), ("within_one", "within 1 ulp", 1))
FIGURES = [head for measure, title, _ in MEASURES
           for head in headings(title, (*["paper"] * (measure in paper.MEASURES), *KINDS))]
HEAD = ["", "data set", *(f"**{head}**" if "plain" in head else head for head in FIGURES)]
SHORT = ["", "data set", "average: paper", "**average: plain**", "**exact: plain**", "exact: correct"]
FEW = 100  # lanes, whose share of exact results says little
CELLS = list(itertools.product(measures.OPERATIONS, datasets.NAMES))


def of_kinds(results, *key):
    """What the floor, the plain and the correct set of a cell reach."""
    return [results["accuracy"][kind][" ".join(key)] for kind in KINDS]


def accuracy_row(results, name, group, data_set):
    """A row of a format's table."""
    facts = of_kinds(results, name, group, data_set)
    lanes = facts[1]["lanes"]
    few = f" ({lanes} lanes)" if 0 < lanes < FEW else ""
    row = [measures.SYMBOLS[group], datasets.TITLES[data_set] + few]
    if "average" not in facts[1]:
        return row + ["no lane counts"] + [""] * (len(HEAD) - 3)
    theirs = dict(zip(paper.MEASURES, paper.ACCURACY.get(
        (name, group, data_set.split("-", maxsplit=1)[0]), ())))
    for measure, _, digits in MEASURES:
        if measure in paper.MEASURES:
            row.append(percent(theirs[measure]) if theirs else "-")
        floor, plain, correct = (one[measure] for one in facts)
        row += [percent(floor, digits), f"**{percent(plain, digits)}**",
                percent(correct, min(digits, 2))]
    return row


def accuracy_table(results, name, head=HEAD):
    """A format's table, or some columns of it."""
    columns = [HEAD.index(title) for title in head]
    rows = (accuracy_row(results, name, *where) for where in CELLS)
    return table(head, [[row[column] for column in columns] for row in rows], left=2)


def left_out_text(facts):
    """How many lanes of a cell are left out, and why."""
    return ", ".join(f"{count:,} {why}" for why, count in zip(
        ("zero", "infinite", "NaN"), facts["left_out"].values()) if count) or "none"


def left_out_table(results, sets):
    """Lanes left out, of all cells."""
    rows = []
    for group, data_set in CELLS:
        cells = [results["accuracy"]["plain"][f"{name} {group} {data_set}"] for name in sets]
        lanes = cells[0]["lanes"] + sum(cells[0]["left_out"].values())
        rows.append([measures.SYMBOLS[group], datasets.TITLES[data_set], f"{lanes:,}",
                     *map(left_out_text, cells)])
    return table(["", "data set", "lanes", *sets], rows, left=2)


def overflow_text(results):
    """Which cells have results that are infinite where they should not be."""
    found = []
    for kind, cells in results["accuracy"].items():
        for key, cell in cells.items():
            if cell.get("overflowed"):
                name, group, data_set = key.split(" ")
                found.append(f"{cell['overflowed']} of {name} {measures.SYMBOLS[group]} on"
                             f" {datasets.TITLES[data_set]}, {kind}")
    return "; ".join(found) or "none"
