# SPDX-License-Identifier: BSD-3-Clause
"""Float-to-integer and MSE, and the heatmaps."""

from evaluation import paper
from evaluation.measure import datasets, measures
from evaluation.report.document import Figure, Heading, Paragraph, Table
from evaluation.report.words import listing, number, triple


def factor(facts):
    """A scaling factor."""
    return f"{facts['factor']:,.0f}"


def accuracy_table(results):
    """Float-to-integer with its factors, and NetFC."""
    rows = []
    for data_set in datasets.NAMES:
        facts = results["baseline"][data_set]
        theirs = paper.BASELINE.get(data_set)
        plain = results["accuracy"]["plain"][f"fp16 +,- {data_set}"]
        row = [datasets.TITLES[data_set], "-" if theirs is None else triple(theirs)]
        row += [triple(facts["text"]), triple(facts["figures"])]
        correct = results["accuracy"]["correct"][f"fp16 +,- {data_set}"]
        row.append(f"{triple(facts['best'])} ({factor(facts['best'])})")
        rows.append([*row, triple(plain), triple(correct)])
    text, figures = (f"factor {f:,}" for f in (paper.FACTOR, paper.FACTOR_OF_FIGURES))
    head = ["data set", "paper", text, figures, "best factor", "NetFC, plain", "NetFC, correct"]
    return Table(head, rows)


def better_sets(results):
    """Data sets on which the best factor's average is above NetFC's."""
    plain = results["accuracy"]["plain"]
    found = [
        datasets.TITLES[name]
        for name in datasets.NAMES
        if results["baseline"][name]["best"]["average"] > plain[f"fp16 +,- {name}"]["average"]
    ]
    return listing(found or ["no data set"])


def mse_row(title, values):
    """A row of the MSE table; None where there is no figure."""
    return [title, *("-" if value is None else number(value) for value in values)]


def netfc_mse(results, kind, name, group):
    """MSE of a format's sets on all data sets."""
    cells = results["accuracy"][kind]
    return [cells[f"{name} {group} {data_set}"].get("mse") for data_set in datasets.NAMES]


def netfc_rows(results, name, group):
    """Rows of the MSE table: NetFC, an operation."""
    symbol = measures.SYMBOLS[group]
    if name in paper.FORMATS[:1]:
        theirs = [paper.MSE.get((group, data_set)) for data_set in datasets.NAMES]
        yield mse_row(f"{symbol}, the paper", theirs)
    for kind in ("floor", "plain", "correct"):
        yield mse_row(f"{symbol}, {name} {kind}", netfc_mse(results, kind, name, group))


def baseline_rows(results):
    """Rows of the MSE table: float-to-integer."""
    facts = [results["baseline"][data_set] for data_set in datasets.NAMES]
    theirs = [paper.BASELINE_MSE.get(data_set) for data_set in datasets.NAMES]
    yield mse_row("+, - float-to-integer, the paper", theirs)
    for kind, title in (("text", paper.FACTOR), ("figures", paper.FACTOR_OF_FIGURES)):
        yield mse_row(f"+, - float-to-integer, factor {title:,}", [f[kind]["mse"] for f in facts])
    best = [f"{number(f['least_mse']['mse'])} ({factor(f['least_mse'])})" for f in facts]
    yield ["+, - float-to-integer, best factor", *best]
    yield mse_row("+, - if every result were 0", [f["mean_square"] for f in facts])


def mse_table(results):
    """The paper's MSE table: fp16."""
    rows = [*netfc_rows(results, "fp16", "+,-"), *baseline_rows(results)]
    for group in ("x", "/"):
        rows += netfc_rows(results, "fp16", group)
    return Table(["fp16", *(datasets.TITLES[name] for name in datasets.NAMES)], rows)


def below_paper(results):
    """In how many of the paper's rows of I and II the plain set's MSE is smaller."""
    cells = results["accuracy"]["plain"]
    rows = [(key, theirs) for key, theirs in paper.MSE.items() if key[1] != "III"]
    less = sum(cells[f"fp16 {group} {data}"]["mse"] < theirs for (group, data), theirs in rows)
    return f"{less} of {len(rows)}"


def other_mse_table(results, sets):
    """MSE of the other formats."""
    rows = [
        row
        for name in list(sets)[1:]
        for group in measures.OPERATIONS
        for row in netfc_rows(results, name, group)
    ]
    return Table(["", *(datasets.TITLES[name] for name in datasets.NAMES)], rows)


def heatmaps():
    """Baseline beside NetFC, plain and correctly rounded, for each data set."""
    for name in datasets.NAMES:
        images = [
            (f"evaluation/heatmap-{name}-{kind}.svg", f"Heatmap of {text}, data set {name}")
            for kind, text in (
                ("baseline", "float-to-integer"),
                ("netfc", "NetFC"),
                ("correct", "NetFC, correctly rounded"),
            )
        ]
        yield Figure(
            images,
            f"Data set {datasets.TITLES[name]}, + and -, fp16: float-to-integer with factor"
            f" {paper.FACTOR:,}, NetFC, and NetFC correctly rounded: one cell.",
        )


def blocks(results, sets):
    """Float-to-integer and MSE."""
    return [
        Heading(2, "Float-to-integer"),
        Paragraph(
            "The baseline multiplies by a factor, cuts off, adds in 16 bits that wrap, and divides;"
            " its error is taken from the exact sum of the same fp16 numbers. The best factor (of"
            " eight to each power of two) is the one with the greatest average accuracy."
            " Average / median / minimum in percent (factor):"
        ),
        accuracy_table(results),
        Paragraph(
            f"With its best factor, its average is above NetFC's for {better_sets(results)}: where"
            " the range of the data is narrow and known in advance, 16 bits of integer are more"
            " than the 11 of an fp16 significand. Data of different sizes have no good factor, and"
            " data that are not known beforehand have none."
        ),
        Heading(2, "MSE"),
        Paragraph(
            "Over the lanes of the accuracy tables with finite results. MSE grows with the square"
            " of the numbers, so that III, other gradients than the paper's, cannot be compared; in"
            f" I and II plain sets are below the paper in {below_paper(results)} rows. Where a row"
            " is as large as that of zeros, nothing of the result is left."
        ),
        mse_table(results),
        Paragraph("The other formats:"),
        other_mse_table(results, sets),
        Heading(2, "Heatmaps"),
        Paragraph(
            "As in the paper: a cell in row i and column j has log2 of the number of results with"
            " an accuracy from 0.1 i + 0.01 j to 0.01 more; an accuracy of 1 is in (9, 9)."
            " Empty cells have none. NetFC is the plain set; of the correctly rounded one all"
            " results are in (9, 9)."
        ),
        *heatmaps(),
        Figure(
            [
                ("evaluation/heatmap-II-mul.svg", "Heatmap of multiplication, data set II"),
                ("evaluation/heatmap-II-div.svg", "Heatmap of division, data set II"),
            ],
            "Data set II, × and ÷, fp16.",
        ),
    ]
