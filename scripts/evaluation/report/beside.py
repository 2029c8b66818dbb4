# SPDX-License-Identifier: BSD-3-Clause
"""Where figures are below the paper's, and why: its data, its rounding, its samples."""

from evaluation import paper
from evaluation.measure import datasets, measures, pairs, rounding
from evaluation.report.document import Heading, Paragraph, Table
from evaluation.report.words import compare, listing, number, percent, small, triple

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


def count_text(results, measure):
    """How many cells of the comparable reading are above, equal and below."""
    found = [
        compare(ours, theirs)
        for what, _, _, _, theirs, ours in comparisons(results, "")
        if what == measure
    ]
    counts = [f"{found.count(how)} {how}" for how in ("above", "equal", "below") if how in found]
    return f"{PLURALS[measure]}: {listing(counts)}"


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
    return Table(["", "", "data set", "", "paper", "plain", "correct", "lanes"], rows, left=4)


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
    return Table(["data set", "factor", "average / median / minimum", "MSE"], rows)


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


def data_blocks(results):
    """Which data the paper used."""
    return [
        Heading(3, "Which data the paper used"),
        Paragraph(
            "Float-to-integer has no tables to argue about, so that its figures tell the data."
            " Numbers drawn evenly from the encodings and a factor of"
            f" {paper.FACTOR_OF_FIGURES:,} give what the paper prints; the factor in its text,"
            f" {paper.FACTOR:,}, and numbers drawn evenly by value do not:"
        ),
        reading_table(results),
        Paragraph(
            "So I and II are the rows to compare. Over values, sums are less accurate, with the"
            " same tables: operands of the same size are more frequent, and more of them cancel."
            f" Of the sums in II, {cancelled_text(results)} lose three leading bits or more."
        ),
    ]


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
    return Table(head, rows, left=3)


def largest_distance(results, facts):
    """How far averages are from the paper's at the most."""
    return max(
        abs(facts[key]["average"] - paper.ACCURACY[tuple(key.split(" "))][0])
        for key in results["rounding"]
        if not key.endswith("III")
    )


def rounding_blocks(results):
    """How the paper rounded."""
    floor = largest_distance(results, results["accuracy"]["floor"])
    cut = largest_distance(results, results["rounding"])
    guards = listing(f"{guard} for {name}" for name, guard in rounding.GUARDS.items())
    return [
        Heading(3, "How the paper rounded"),
        Paragraph(
            "The paper's text rounds everything down. Its figures do not: rounding results down"
            " makes subnormal products vanish and puts medians of 100 % out of reach. Logarithms"
            " cut off towards zero, as a cast to an integer does, and results rounded to the"
            f" nearest, as `numpy.float16()` does, come within {percent(cut)} of all its averages"
            f" for I and II; the floor sets are up to {percent(floor)} away. Average / median:"
        ),
        rounding_table(results),
        Paragraph(
            "(towards zero: the same algorithm in numpy, not a table set of this project; guards"
            f" {guards}.) The plain sets round logarithms to the nearest as well, which halves"
            " their error at no cost."
        ),
    ]


# ---- minima ----------------------------------------------------------------------------------


def minimum_rows(results, sets):
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


def minimum_blocks(results, sets):
    """What minima are worth."""
    head = ["", "", "data set", "paper", "plain", "correct", "pairs below the paper's", "chance"]
    return [
        Heading(3, "What a minimum says"),
        Paragraph(
            "The least of 10,000 accuracies is one pair's, and another draw has another. All"
            " pairs are [counted](#all-pairs-of-operands), so that the chance is known of 10,000"
            " random pairs that all stay at or above the paper's minimum with the plain set:"
        ),
        Table(head, list(minimum_rows(results, sets)), left=3),
        Paragraph(
            "Minima of sums come from cancellation. Those of products and quotients come from the"
            " ends of the range, where encodings lie far apart. In fp16, 36.79 % is 0 or 2 units of"
            " the least subnormal number where 1 is expected, 60.65 % is 1 or 3 for 2, and a"
            " fraction of a unit decides. Where the chance is small (÷ in II), the paper's numbers"
            " may have lacked subnormal ones, whose quotients are the least accurate."
        ),
    ]


def gradient_text(results):
    """Why sums of III are less accurate than the paper's."""
    key = "fp16 +,- III"
    plain, cut = results["accuracy"]["plain"][key], results["rounding"][key]
    by_op = listing(
        f"{percent(plain['by_op'][op], 3)} for {symbol}"
        for op, symbol in (("add", "+"), ("sub", "-"))
    )
    return (
        "III differs by its gradients, which the paper took from a model that is not public. Both"
        " of our workers' gradients of a weight are alike (their correlation is"
        f" {results['training']['correlation']:.2f}), so that differences cancel: averages are"
        f" {by_op}. It is not the tables: with the rounding that gives the paper's figures"
        f" ([below](#how-the-paper-rounded)) the average is {percent(cut['average'], 3)}, with the"
        f" plain set {percent(plain['average'], 3)}."
    )


def blocks(results, sets):
    """The comparison."""
    counts = "; ".join(count_text(results, measure) for measure in PLURALS)
    return [
        Heading(2, "Beside the paper"),
        Paragraph(
            f"Plain sets beside the paper's {len(paper.ACCURACY)} cells (I, II and III; to the two"
            f" digits that it prints): {counts}. All that are below, in either reading:"
        ),
        below_table(results),
        Paragraph(gradient_text(results)),
        *data_blocks(results),
        *rounding_blocks(results),
        *minimum_blocks(results, sets),
    ]
