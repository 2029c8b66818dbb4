# SPDX-License-Identifier: BSD-3-Clause
"""The report's beginning: what came out, and how it was measured."""

from evaluation import paper
from evaluation.measure import datasets, pairs, training
from evaluation.report.document import compare, listing, percent


def averages(results, format_name):
    """Averages of the plain set in the cells that the paper has, and the paper's."""
    ours, theirs = [], []
    for (name, group, data_set), figures in paper.ACCURACY.items():
        if name == format_name:
            cell = results["accuracy"]["plain"][f"{name} {group} {data_set}"]
            ours.append(cell["average"])
            theirs.append(figures[0])
    return ours, theirs


def minima(results):
    """How many minima are above, equal to and below the paper's."""
    cells = results["accuracy"]["plain"]
    ours = [cells[" ".join(key)]["minimum"] for key in paper.ACCURACY]
    return verdicts(ours, [figures[2] for figures in paper.ACCURACY.values()])


def verdicts(ours, theirs):
    """How many are above, equal to and below the paper's, to the digits that it prints."""
    found = [compare(*pair) for pair in zip(ours, theirs)]
    words = {"above": "above", "equal": "equal to", "below": "below"}
    return listing(f"{found.count(how)} {text}" for how, text in words.items() if how in found)


def spread(values, digits):
    """From the least to the greatest."""
    return f"{percent(min(values), digits)} to {percent(max(values), digits)} %"


def exact_pairs(results, sets):
    """What all pairs of fp16 say: shares that are exact, and the least share within a unit."""
    tallies = [results["pairs"][f"fp16 {op}"][sets["fp16"][0]]["all"] for op in pairs.OPS]
    exact = listing(
        f"{percent(pairs.ulp_share(tally, 0), 1)} % of {pairs.OP_SYMBOLS[op]}"
        for op, tally in zip(pairs.OPS, tallies)
    )
    return exact, percent(min(pairs.ulp_share(tally, 1) for tally in tallies), 1)


def correct(results, choices):
    """Correctly rounded sets: their names, their least accuracy, and how many results differ."""
    cells = [cell for cell in results["accuracy"]["correct"].values() if "minimum" in cell]
    names = [(format_name, name) for format_name, sets in choices.items() for name in sets[1:]]
    tallies = [
        results["pairs"][f"{format_name} {op}"][name]["all"]
        for format_name, name in names
        for op in pairs.OPS
    ]
    wrong = sum(tally["counted"] - dict(tally["ulps"]).get(0, 0) for tally in tallies)
    wrong += sum(tally["left_out_wrong"] for tally in tallies)
    least = percent(min(cell["minimum"] for cell in cells))
    return listing(f"`{name}`" for _, name in names), least, wrong


def population(results):
    """What the pairs of operands are."""
    if results["step"] == 1:
        return "all 2^32 pairs of operands"
    return f"a sample of the pairs of operands (every {results['step']}th x)"


def data_rows():
    """A row for each data set."""
    for name in datasets.NAMES:
        count = training.PAIRS if name == "III" else datasets.PAIRS
        yield [datasets.TITLES[name], f"{count:,}", datasets.MEANINGS[name]]
