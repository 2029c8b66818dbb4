# SPDX-License-Identifier: BSD-3-Clause
"""The report's beginning: what came out, and how it was measured."""

from evaluation import paper
from evaluation.measure import pairs
from evaluation.report.document import compare, listing, percent


def averages(results, format_name):
    """Averages of the plain set in the cells that the paper has, and the paper's."""
    cells = results["accuracy"]["plain"]
    return zip(*((cells[" ".join(key)]["average"], figures[0])
                 for key, figures in paper.ACCURACY.items() if key[0] == format_name))


def minima(results):
    """How many minima are above, equal to and below the paper's."""
    cells = results["accuracy"]["plain"]
    return verdicts([cells[" ".join(key)]["minimum"] for key in paper.ACCURACY],
                    [figures[2] for figures in paper.ACCURACY.values()])


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
    tallies = {op: results["pairs"][f"fp16 {op}"][sets["fp16"][0]]["all"] for op in pairs.OPS}
    exact = listing(f"{percent(pairs.ulp_share(tally, 0), 1)} % of {pairs.OP_SYMBOLS[op]}"
                    for op, tally in tallies.items())
    return exact, percent(min(pairs.ulp_share(tally, 1) for tally in tallies.values()), 1)


def correct(results, choices):
    """Correctly rounded sets: their names, their least accuracy, and how many results differ."""
    names = [(form, name) for form, sets in choices.items() for name in sets[1:]]
    tallies = [results["pairs"][f"{form} {op}"][name]["all"] for form, name in names
               for op in pairs.OPS]
    wrong = sum(tally["counted"] - dict(tally["ulps"]).get(0, 0) + tally["left_out_wrong"]
                for tally in tallies)
    least = min(cell["minimum"] for cell in results["accuracy"]["correct"].values()
                if "minimum" in cell)
    return listing(f"`{name}`" for _, name in names), percent(least), wrong
