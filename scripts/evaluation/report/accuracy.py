# SPDX-License-Identifier: BSD-3-Clause
"""The accuracy tables."""

from evaluation import paper
from evaluation.measure import datasets, measures
from evaluation.report.document import headings, percent, table

KINDS = ("floor", "plain", "correct")
MEASURES = (("average", 3), ("median", 2), ("minimum", 2))
FIGURES = [
    *(head for measure, _ in MEASURES for head in headings(measure, ("paper", *KINDS))),
    *headings("exact", KINDS),
    *headings("within 1 ulp", KINDS),
]
HEAD = ["", "data set", *(f"**{head}**" if "plain" in head else head for head in FIGURES)]

SHORT = ["", "data set", "average: paper", "**average: plain**", "**exact: plain**", "exact: correct"]


def accuracy_row(results, name, group, data_set):
    """A row of a format's table."""
    key = f"{name} {group} {data_set}"
    floor, plain, correct = (
        results["accuracy"][kind][key] for kind in ("floor", "plain", "correct")
    )
    row = [measures.SYMBOLS[group], datasets.TITLES[data_set]]
    if "average" not in plain:
        return row + ["no lane counts"] + [""] * (len(HEAD) - 3)
    theirs = paper.ACCURACY.get((name, group, data_set.split("-", maxsplit=1)[0]))
    for index, (measure, digits) in enumerate(MEASURES):
        row.append("-" if theirs is None else percent(theirs[index]))
        row += [percent(floor[measure], digits), f"**{percent(plain[measure], digits)}**"]
        row.append(percent(correct[measure], 2))
    for measure in ("exact", "within_one"):
        row += [percent(floor[measure], 1), f"**{percent(plain[measure], 1)}**"]
        row.append(percent(correct[measure], 1))
    return row


def accuracy_rows(results, name):
    """The rows of a format's table."""
    return [
        accuracy_row(results, name, group, data_set)
        for group in measures.OPERATIONS
        for data_set in datasets.NAMES
    ]


def accuracy_table(results, name):
    """A format's table."""
    return table(HEAD, accuracy_rows(results, name), left=2)


def short_table(results, name):
    """The columns of it that answer first."""
    columns = [HEAD.index(head) for head in SHORT]
    rows = [[row[column] for column in columns] for row in accuracy_rows(results, name)]
    return table(SHORT, rows, left=2)


def left_out_text(facts):
    """How many lanes of a cell are left out, and why."""
    parts = [
        f"{count:,} {why}"
        for why, count in zip(("zero", "infinite", "NaN"), facts["left_out"].values())
        if count
    ]
    return ", ".join(parts) or "none"


def left_out_table(results, sets):
    """Lanes left out, of all cells."""
    rows = []
    for group in measures.OPERATIONS:
        for data_set in datasets.NAMES:
            cells = [results["accuracy"]["plain"][f"{name} {group} {data_set}"] for name in sets]
            lanes = cells[0]["lanes"] + sum(cells[0]["left_out"].values())
            row = [measures.SYMBOLS[group], datasets.TITLES[data_set], f"{lanes:,}"]
            rows.append(row + [left_out_text(cell) for cell in cells])
    return table(["", "data set", "lanes", *sets], rows, left=2)


def cell_text(key):
    """A cell's key for people."""
    name, group, data_set = key.split(" ")
    return f"{name} {measures.SYMBOLS[group]} on {datasets.TITLES[data_set]}"


def overflow_text(results):
    """Which cells have results that are infinite where they should not be."""
    found = [
        f"{cell['overflowed']} of {cell_text(key)}, {kind}"
        for kind, cells in results["accuracy"].items()
        for key, cell in cells.items()
        if cell.get("overflowed")
    ]
    return "; ".join(found) or "none"
