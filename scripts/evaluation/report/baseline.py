# SPDX-License-Identifier: BSD-3-Clause
"""Float-to-integer and MSE, and the heatmaps."""

from evaluation import paper
from evaluation.measure import datasets, measures
from evaluation.report.document import listing, number, table, triple


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
    return table(head, rows)


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
    return table(["fp16", *(datasets.TITLES[name] for name in datasets.NAMES)], rows)


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
    return table(["", *(datasets.TITLES[name] for name in datasets.NAMES)], rows)
