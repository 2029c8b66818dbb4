# SPDX-License-Identifier: BSD-3-Clause
"""binary32, beside the journal version of the paper."""

from evaluation import paper
from evaluation.measure import binary32, datasets, measures
from evaluation.report.document import kilobytes, percent, table, triple

SET = binary32.SET
CHIPS = ("Tofino 1", "Tofino 2")
OPERATIONS = {"sums": "+, -", "products": "+, -, ×", "all": "+, -, ×, ÷"}


def least(results, measure):
    """The least of a measure of accuracy in all cells that have it, in percent."""
    cells = results["binary32"]["accuracy"].values()
    return min(facts[measure] for facts in cells if measure in facts)


def counted(results):
    """How many results there are, and how many of them are not the processor's."""
    cells = results["binary32"]["accuracy"].values()
    return sum(facts["all"] for facts in cells), sum(facts["differing"] for facts in cells)


def differing_text(results):
    """What became of them."""
    lanes, wrong = counted(results)
    return f"{lanes:,} results, {f'{wrong:,} of them' if wrong else 'none'} other than the processor's"


def summary_line(results):
    """The section in a sentence."""
    sizes, minimum = results["binary32"]["bytes"], percent(least(results, "minimum"))
    return (
        f"binary32, `{binary32.SET}`: minimum {minimum} % in every cell, in"
        f" {kilobytes(sizes['products'])} KB for +, - and ×, {kilobytes(sizes['all'])} KB with ÷;"
        f" the paper's journal version has {paper.JOURNAL_ACCURACY} % in"
        f" {kilobytes(paper.JOURNAL_BYTES)} KB. [More](#binary32)."
    )


def choice_line(results):
    """What to know when choosing a set."""
    facts = results["binary32"]
    return (
        f"*For 32 bits* there is one set, `{binary32.SET}`, and it is right:"
        f" {differing_text(results)}. All slots hold {kilobytes(facts['bytes']['all'])} KB, one copy"
        f" of each table {kilobytes(facts['single_bytes'])} KB; it needs more"
        " [stages](p4.md#binary32) than sets of 16 bits."
    )


def journal_table(results):
    """Accuracy, memory and stages beside the journal version's."""
    facts = results["binary32"]
    theirs = ["journal version", "", paper.JOURNAL_ACCURACY, kilobytes(paper.JOURNAL_BYTES)]
    rows = [[*theirs, "-", "-"]]
    for what, symbols in OPERATIONS.items():
        counts = [facts["stages"].get(f"{chip} {what}", "-") for chip in CHIPS]
        row = [f"`{binary32.SET}`", symbols, percent(least(results, "average"))]
        row.append(kilobytes(facts["bytes"][what]))
        rows.append(row + [str(count) for count in counts])
    head = ["", "", "average accuracy, %", "KB", *(f"stages of {chip}" for chip in CHIPS)]
    return table(head, rows, left=2)


def accuracy_table(results):
    """A row for each operation and data set."""
    rows = []
    for group, symbols in measures.SYMBOLS.items():
        for name in datasets.NAMES:
            facts = results["binary32"]["accuracy"][f"{group} {name}"]
            row = [symbols, datasets.TITLES[name]]
            if facts["lanes"] > 0:
                row += [triple(facts), percent(facts["exact"], 1)]
            else:
                row += ["-", "-"]
            rows.append([*row, f"{facts['lanes']:,}", f"{facts['all'] - facts['lanes']:,}"])
    head = [f"`{binary32.SET}`", "data set", "average / median / minimum", "exact", "lanes", "left out"]
    return table(head, rows, left=2)


def baseline_table(results):
    """Float-to-integer with its best factor, and the table set."""
    rows = []
    for name in datasets.NAMES:
        facts = results["binary32"]["baseline"][name]
        best = f"{triple(facts)} (2^{percent(facts['log2_factor'], 1)})"
        ours = results["binary32"]["accuracy"][f"+,- {name}"]
        rows.append([datasets.TITLES[name], best, triple(ours)])
    return table(["data set", "best factor", f"`{binary32.SET}`"], rows)
