# SPDX-License-Identifier: BSD-3-Clause
"""Where figures are below the paper's, and why: its data, its rounding, its samples."""

from evaluation import paper
from evaluation.measure import datasets, measures, pairs, rounding
from evaluation.report.accuracy import of_kinds
from evaluation.report.document import compare, listing, number, percent, small, table, triple

PLURALS = {"average": "averages", "median": "medians", "minimum": "minima"}
PAIR_OPS = {"+,-": "add", "x": "mul", "/": "div"}
POPULATIONS = {"I": "all", "II": "decimals"}


def comparisons(results, readings):
    """(measure, format, group, data set, the paper's, the plain set's) of cells in a reading."""
    for (name, group, data_set), figures in paper.ACCURACY.items():
        reading = data_set + readings if data_set != "III" else data_set
        cell = results["accuracy"]["plain"].get(f"{name} {group} {reading}", {})
        for measure, theirs in zip(PLURALS, figures):
            if measure in cell and (data_set != "III" or readings == ""):
                yield measure, name, group, reading, theirs, cell[measure]


def count_texts(results):
    """How many cells of the comparable reading are above, equal and below, of all measures."""
    texts = []
    for measure, plural in PLURALS.items():
        found = [compare(ours, theirs) for what, _, _, _, theirs, ours in comparisons(results, "")
                 if what == measure]
        counts = [f"{found.count(how)} {how}" for how in ("above", "equal", "below")
                  if how in found]
        texts.append(f"{plural}: {listing(counts)}")
    return "; ".join(texts)


def below_table(results):
    """All figures that are not above or equal to the paper's."""
    rows = []
    for readings in ("", "-values"):
        for measure, name, group, data_set, theirs, ours in comparisons(results, readings):
            if compare(ours, theirs) == "below":
                *_, cell = of_kinds(results, name, group, data_set)
                rows.append([
                    name, measures.SYMBOLS[group], datasets.TITLES[data_set], measure,
                    percent(theirs),
                    percent(ours, 3), percent(cell[measure]), f"{cell['lanes']:,}"])
    return table(["", "", "data set", "", "paper", "plain", "correct", "lanes"], rows, left=4)


# ---- data ------------------------------------------------------------------------------------


def reading_table(results):
    """Float-to-integer on both readings, with both factors, beside the paper's."""
    rows = []
    for data_set in ("I", "II"):
        rows.append([f"**{data_set}, the paper**", "", triple(paper.BASELINE[data_set]),
                     f"**{number(paper.BASELINE_MSE[data_set])}**"])
        for reading, kind in ((data_set, "encodings"), (f"{data_set}-values", "values")):
            for factor in ("text", "figures"):
                facts = results["baseline"][reading][factor]
                rows.append([f"{data_set}, uniform over {kind}", f"{facts['factor']:,.0f}",
                             triple(facts), number(facts["mse"])])
    return table(["data set", "factor", "average / median / minimum", "MSE"], rows)


def cancelled_text(results):
    """How often sums cancel in both readings of II."""
    return listing(
        f"{percent(100 * results['cancelled'][f'{name} II'], 1)} % over encodings and"
        f" {percent(100 * results['cancelled'][f'{name} II-values'], 1)} % over values ({name})"
        for name in paper.FORMATS)


# ---- rounding --------------------------------------------------------------------------------


def rounding_table(results):
    """Averages and medians of the paper, of floor sets and of the third rounding."""
    rows = []
    for key, cut in results["rounding"].items():
        name, group, data_set = key.split(" ")
        theirs = dict(zip(PLURALS, paper.ACCURACY[name, group, data_set]))
        floor, plain, correct = of_kinds(results, key)
        rows.append([name, measures.SYMBOLS[group], data_set, *(
            f"{percent(facts['average'])} / {percent(facts['median'])}"
            for facts in (theirs, floor, cut, plain, correct))])
    head = ["", "", "data set", "paper", "floor", "towards zero", "plain", "correct"]
    return table(head, rows, left=3)


def largest_distance(results, facts):
    """How far averages are from the paper's at most."""
    return max(abs(facts[key]["average"] - paper.ACCURACY[tuple(key.split(" "))][0])
               for key in results["rounding"] if not key.endswith("III"))


# ---- minima ----------------------------------------------------------------------------------


def minimum_table(results, sets):
    """Minima, and how likely a sample is to stay above the paper's."""
    rows = []
    for (name, group, data_set), (*_, theirs) in paper.ACCURACY.items():
        if data_set in POPULATIONS:
            counted = results["pairs"][f"{name} {PAIR_OPS[group]}"][sets[name][0]]
            share = pairs.share_below(counted[POPULATIONS[data_set]], theirs)
            _, plain, correct = of_kinds(results, name, group, data_set)
            rows.append([name, measures.SYMBOLS[group], data_set, percent(theirs),
                         percent(plain["minimum"]), percent(correct["minimum"]), small(share),
                         small((1 - share) ** datasets.PAIRS)])
    head = ["", "", "data set", "paper", "plain", "correct", "pairs below the paper's", "chance"]
    return table(head, rows, left=3)


def guards():
    """Those of the third rounding."""
    return listing(f"{guard} for {name}" for name, guard in rounding.GUARDS.items())


def gradient_averages(results):
    """Of sums and of differences of III."""
    by_op = results["accuracy"]["plain"]["fp16 +,- III"]["by_op"]
    return listing(f"{percent(by_op[op], 3)} for {sign}"
                   for op, sign in (("add", "+"), ("sub", "-")))
