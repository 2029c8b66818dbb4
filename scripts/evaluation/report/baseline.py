# SPDX-License-Identifier: BSD-3-Clause
"""Float-to-integer and MSE, and the heatmaps."""

from evaluation import paper
from evaluation.measure import datasets, measures
from evaluation.report.document import listing, number, table, triple

TITLES = list(datasets.TITLES.values())


def factor(facts):
    """A scaling factor."""
    return f"{facts['factor']:,.0f}"


def accuracy_table(results):
    """Float-to-integer with its factors, and NetFC."""
    rows = []
    for data_set in datasets.NAMES:
        facts, theirs = results["baseline"][data_set], paper.BASELINE.get(data_set)
        plain, correct = (results["accuracy"][kind][f"fp16 +,- {data_set}"]
                          for kind in ("plain", "correct"))
        rows.append([datasets.TITLES[data_set], "-" if theirs is None else triple(theirs),
                     triple(facts["text"]), triple(facts["figures"]),
                     f"{triple(facts['best'])} ({factor(facts['best'])})", triple(plain),
                     triple(correct)])
    text, figures = (f"factor {f:,}" for f in (paper.FACTOR, paper.FACTOR_OF_FIGURES))
    head = ["data set", "paper", text, figures, "best factor", "NetFC, plain", "NetFC, correct"]
    return table(head, rows)


def better_sets(results):
    """Data sets on which the best factor's average is above NetFC's."""
    plain = results["accuracy"]["plain"]
    return listing([
        datasets.TITLES[name] for name in datasets.NAMES
        if results["baseline"][name]["best"]["average"] > plain[f"fp16 +,- {name}"]["average"]
    ] or ["no data set"])


def mse_row(title, values):
    """A row of the MSE table; None where there is no figure."""
    return [title, *("-" if value is None else number(value) for value in values)]


def netfc_rows(results, name, group):
    """Rows of the MSE table: NetFC, an operation."""
    symbol = measures.SYMBOLS[group]
    if name in paper.FORMATS[:1]:
        yield mse_row(f"{symbol}, the paper",
                      [paper.MSE.get((group, data)) for data in datasets.NAMES])
    for kind in ("floor", "plain", "correct"):
        yield mse_row(f"{symbol}, {name} {kind}", [
            results["accuracy"][kind][f"{name} {group} {data}"].get("mse")
            for data in datasets.NAMES])


def baseline_rows(results):
    """Rows of the MSE table: float-to-integer."""
    what, facts = "+, - float-to-integer", [results["baseline"][name] for name in datasets.NAMES]
    yield mse_row(f"{what}, the paper", map(paper.BASELINE_MSE.get, datasets.NAMES))
    for kind, title in (("text", paper.FACTOR), ("figures", paper.FACTOR_OF_FIGURES)):
        yield mse_row(f"{what}, factor {title:,}", [f[kind]["mse"] for f in facts])
    yield [f"{what}, best factor",
           *(f"{number(f['least_mse']['mse'])} ({factor(f['least_mse'])})" for f in facts)]
    yield mse_row("+, - if every result were 0", [f["mean_square"] for f in facts])


def mse_table(results):
    """The paper's MSE table: fp16."""
    rows = [*netfc_rows(results, "fp16", "+,-"), *baseline_rows(results)]
    return table(["fp16", *TITLES], [*rows, *(
        row for group in ("x", "/") for row in netfc_rows(results, "fp16", group))])


def below_paper(results):
    """In how many of the paper's rows of I and II the plain set's MSE is smaller."""
    cells = results["accuracy"]["plain"]
    less = [cells[f"fp16 {group} {data}"]["mse"] < theirs
            for (group, data), theirs in paper.MSE.items() if data != "III"]
    return f"{sum(less)} of {len(less)}"


def other_mse_table(results, sets):
    """MSE of the other formats."""
    return table(["", *TITLES], [row for name in list(sets)[1:] for group in measures.OPERATIONS
                                 for row in netfc_rows(results, name, group)])
