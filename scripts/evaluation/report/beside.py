# SPDX-License-Identifier: BSD-3-Clause
"""Where figures are below the paper's, and why: its data, its rounding, its samples."""

from evaluation import paper
from evaluation.measure import datasets, measures, pairs, rounding
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


def _count_text(results, measure):
    """How many cells of the comparable reading are above, equal and below."""
    found = [
        compare(ours, theirs)
        for what, _, _, _, theirs, ours in comparisons(results, "")
        if what == measure
    ]
    counts = [f"{found.count(how)} {how}" for how in ("above", "equal", "below") if how in found]
    return f"{PLURALS[measure]}: {listing(counts)}"


def count_texts(results):
    """The same of all measures."""
    return "; ".join(_count_text(results, measure) for measure in PLURALS)


def below_table(results):
    """All figures that are not above or equal to the paper's."""
    rows = []
    for readings in ("", "-values"):
        for measure, name, group, data_set, theirs, ours in comparisons(results, readings):
            if compare(ours, theirs) == "below":
                cell = results["accuracy"]["correct"][f"{name} {group} {data_set}"]
                where = [name, measures.SYMBOLS[group], datasets.TITLES[data_set], measure]
                figures = [percent(theirs), percent(ours, 3), percent(cell[measure])]
                rows.append([*where, *figures, f"{cell['lanes']:,}"])
    return table(["", "", "data set", "", "paper", "plain", "correct", "lanes"], rows, left=4)


# ---- data ------------------------------------------------------------------------------------


def reading_table(results):
    """Float-to-integer on both readings, with both factors, beside the paper's."""
    rows = []
    for data_set in ("I", "II"):
        figures = triple(paper.BASELINE[data_set])
        rows.append([f"**{data_set}, the paper**", "", figures, paper_mse(data_set)])
        for reading in (data_set, f"{data_set}-values"):
            for factor in ("text", "figures"):
                facts = results["baseline"][reading][factor]
                kind = "values" if reading != data_set else "encodings"
                what = [f"{data_set}, uniform over {kind}", f"{facts['factor']:,.0f}"]
                rows.append([*what, triple(facts), number(facts["mse"])])
    return table(["data set", "factor", "average / median / minimum", "MSE"], rows)


def paper_mse(data_set):
    """The paper's MSE of float-to-integer."""
    return f"**{number(paper.BASELINE_MSE[data_set])}**"


def cancelled_text(results):
    """How often sums cancel in both readings of II."""
    shares = [
        f"{percent(100 * results['cancelled'][f'{name} II'], 1)} % over encodings and"
        f" {percent(100 * results['cancelled'][f'{name} II-values'], 1)} % over values ({name})"
        for name in paper.FORMATS
    ]
    return listing(shares)


# ---- rounding --------------------------------------------------------------------------------


def rounding_table(results):
    """Averages and medians of the paper, of floor sets and of the third rounding."""
    rows = []
    for key, cut in results["rounding"].items():
        name, group, data_set = key.split(" ")
        theirs = paper.ACCURACY[name, group, data_set]
        floor, plain, correct = (
            results["accuracy"][kind][key] for kind in ("floor", "plain", "correct")
        )
        row = [name, measures.SYMBOLS[group], data_set]
        row += [f"{percent(theirs[0])} / {percent(theirs[1])}"]
        for facts in (floor, cut, plain, correct):
            row.append(f"{percent(facts['average'])} / {percent(facts['median'])}")
        rows.append(row)
    head = ["", "", "data set", "paper", "floor", "towards zero", "plain", "correct"]
    return table(head, rows, left=3)


def largest_distance(results, facts):
    """How far averages are from the paper's at the most."""
    return max(
        abs(facts[key]["average"] - paper.ACCURACY[tuple(key.split(" "))][0])
        for key in results["rounding"]
        if not key.endswith("III")
    )


# ---- minima ----------------------------------------------------------------------------------


def _minimum_rows(results, sets):
    """Minima, and how likely a sample is to stay above the paper's."""
    for (name, group, data_set), figures in paper.ACCURACY.items():
        if data_set not in POPULATIONS:
            continue
        counted = results["pairs"][f"{name} {PAIR_OPS[group]}"][sets[name][0]]
        share = pairs.share_below(counted[POPULATIONS[data_set]], figures[2])
        ours, correct = (
            percent(results["accuracy"][kind][f"{name} {group} {data_set}"]["minimum"])
            for kind in ("plain", "correct")
        )
        chance = (1 - share) ** datasets.PAIRS
        what = [name, measures.SYMBOLS[group], data_set]
        yield [*what, percent(figures[2]), ours, correct, small(share), small(chance)]


def minimum_table(results, sets):
    """What minima are worth."""
    head = ["", "", "data set", "paper", "plain", "correct", "pairs below the paper's", "chance"]
    return table(head, _minimum_rows(results, sets), left=3)


def guards():
    """Those of the third rounding."""
    return listing(f"{guard} for {name}" for name, guard in rounding.GUARDS.items())


def gradient_averages(results):
    """Of sums and of differences of III."""
    by_op = results["accuracy"]["plain"]["fp16 +,- III"]["by_op"]
    return listing(
        f"{percent(by_op[op], 3)} for {symbol}" for op, symbol in (("add", "+"), ("sub", "-"))
    )
