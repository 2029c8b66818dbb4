# SPDX-License-Identifier: BSD-3-Clause
"""binary32, beside the journal version of the paper."""

from evaluation import paper
from evaluation.measure import binary32, datasets, measures
from evaluation.report.document import kilobytes, percent, table, triple

SET = binary32.SET
CHIPS = ("Tofino 1", "Tofino 2")
OPERATIONS = {"sums": "+, -", "products": "+, -, ×", "all": "+, -, ×, ÷"}


def least(facts, measure):
    """The least of a measure of accuracy in all cells that have it, in percent."""
    return percent(min(cell[measure] for cell in facts["accuracy"].values() if measure in cell))


def differing_text(facts):
    """How many results there are, and how many of them are not the processor's."""
    lanes, wrong = (sum(cell[what] for cell in facts["accuracy"].values())
                    for what in ("all", "differing"))
    return f"{lanes:,} results, {f'{wrong:,} of them' if wrong else 'none'} other than the processor's"


def journal_table(facts):
    """Accuracy, memory and stages beside the journal version's."""
    rows = [["journal version", "", paper.JOURNAL_ACCURACY, kilobytes(paper.JOURNAL_BYTES), "-",
             "-"]]
    for what, symbols in OPERATIONS.items():
        rows.append([f"`{SET}`", symbols, least(facts, "average"), kilobytes(facts["bytes"][what]),
                     *(str(facts["stages"].get(f"{chip} {what}", "-")) for chip in CHIPS)])
    head = ["", "", "average accuracy, %", "KB", *(f"stages of {chip}" for chip in CHIPS)]
    return table(head, rows, left=2)


def accuracy_table(facts):
    """A row for each operation and data set."""
    rows = []
    for group, symbols in measures.SYMBOLS.items():
        for name in datasets.NAMES:
            cell = facts["accuracy"][f"{group} {name}"]
            counted = [triple(cell), percent(cell["exact"], 1)] if cell["lanes"] else ["-", "-"]
            rows.append([symbols, datasets.TITLES[name], *counted, f"{cell['lanes']:,}",
                         f"{cell['all'] - cell['lanes']:,}"])
    head = [f"`{SET}`", "data set", "average / median / minimum", "exact", "lanes", "left out"]
    return table(head, rows, left=2)


def baseline_table(facts):
    """Float-to-integer with its best factor, and the table set."""
    rows = []
    for name in datasets.NAMES:
        best = facts["baseline"][name]
        rows.append([datasets.TITLES[name], f"{triple(best)} (2^{percent(best['log2_factor'], 1)})",
                     triple(facts["accuracy"][f"+,- {name}"])])
    return table(["data set", "best factor", f"`{SET}`"], rows)
