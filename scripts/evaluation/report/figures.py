# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the report."""

import numpy

from evaluation.measure import scaling
from plots import pyplot, save, styled

# Wong, Nature Methods 8 (2011): colours that the colour-blind can tell apart.
COLOURS = {"fp16": "#0072b2", "posit16": "#d55e00", "bf16": "#009e73", "posit16_es2": "#cc79a7"}
SUMS = {"add": "+ and -", "mul": "×", "div": "÷"}


def heatmap(folder, name, title, counts):
    """log2 of how many results have an accuracy of 0.1 * row + 0.01 * column."""
    counts = numpy.array(counts)
    figure, axes = pyplot.subplots(figsize=(4.4, 4.2))
    with numpy.errstate(divide="ignore"):
        logs = numpy.log2(counts)
    shown = numpy.ma.masked_where(counts == 0, logs)
    axes.pcolormesh(shown, cmap="YlGnBu", vmin=-2, vmax=18, edgecolors="white", linewidth=0.5)
    for row, column in zip(*numpy.nonzero(counts)):
        value = logs[row, column]
        axes.text(column + 0.5, row + 0.5, f"{value:.0f}", ha="center", va="center", fontsize=9,
                  color="white" if value > 9 else "black")
    axes.set_xticks(numpy.arange(10) + 0.5, range(10))
    axes.set_yticks(numpy.arange(10) + 0.5, range(10))
    axes.grid(False)
    axes.set(xlabel="percentile of accuracy", ylabel="decile of accuracy", title=title)
    save(figure, folder, name)


def scaling_accuracy(folder, facts, scales):
    """Average and median error, 1 - accuracy, by scaling factor."""
    figure, axes = pyplot.subplots(figsize=(5, 3.6))
    for suffix, colour, name in (("", "#0072b2", "plain"), ("_floor", "#d55e00", "floor")):
        for measure, line in (("average", "-o"), ("median", "--s")):
            values = [facts[scaling.set_name(k, suffix)][measure] for k in scales]
            axes.plot(scales, values, line, color=colour, ms=4, label=f"{name}, {measure}")
    axes.set_xscale("log", base=2)
    axes.set(xlabel="scaling factor k", ylabel="accuracy in %", title="Accuracy")
    axes.legend()
    save(figure, folder, "scaling-accuracy")


def scaling_memory(folder, memory, scales):
    """Memory by scaling factor in several forms; plain sets, value bytes."""
    figure, axes = pyplot.subplots(figsize=(5, 3.6))
    kinds = {"plain": "keys that occur", "merged": "merged prefixes", "optimal": "optimal prefixes"}
    sets = [memory[scaling.set_name(k)] for k in scales]
    for kind, label in kinds.items():
        values = [item["sizes"]["total"][kind]["bytes"] / 1024 for item in sets]
        axes.plot(scales, values, "-o", ms=4, label=label)
    for kind, label in (("entries", "folded"), ("merged", "folded and merged")):
        values = [2 * item["folded"][kind] / 1024 for item in sets]
        axes.plot(scales, values, "--s", ms=4, label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="scaling factor k", ylabel="KB of values", title="Memory")
    axes.legend()
    save(figure, folder, "scaling-memory")


def error_shares(tally):
    """Powers of two, and the share of results with a relative error of at least that, in %."""
    errors = dict(tally["errors"])
    bins = list(range(-20, 4))
    shares = [sum(n for at, n in errors.items() if at >= b) / tally["counted"] for b in bins]
    return bins, 100 * numpy.array(shares)


def pair_errors(folder, pairs, sets, op):
    """The share of all pairs with at least that relative error, one line per format."""
    figure, axes = pyplot.subplots(figsize=(4.4, 3.6))
    for name, table_sets in sets.items():
        for table_set, line in zip(table_sets, ("-", ":")):
            bins, shares = error_shares(pairs[f"{name} {op}"][table_set]["all"])
            label = name if line == "-" else None
            axes.plot(2.0 ** numpy.array(bins), shares, line, color=COLOURS[name], label=label)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(1e-8, 200)
    axes.set(xlabel="relative error of at least", ylabel="% of all pairs", title=SUMS[op])
    axes.legend(loc="lower left")
    save(figure, folder, f"pairs-{op}")


def cancellation(folder, pairs, sets):
    """Average error of sums by how many leading bits cancel, one line per format."""
    figure, axes = pyplot.subplots(figsize=(5, 3.6))
    for name, table_sets in sets.items():
        for table_set, line in zip(table_sets, ("-o", ":s")):
            bins = pairs[f"{name} add"][table_set]["all"]["cancellation"]
            full = [b for b in bins if b["pairs"] > 0]
            loss = [100 * b["loss"] / b["pairs"] for b in full]
            label = name if line == "-o" else None
            bits = [b["bits"] for b in full]
            axes.plot(bits, loss, line, ms=4, color=COLOURS[name], label=label)
    axes.set_yscale("log")
    axes.set(xlabel="leading bits that cancel", ylabel="100 % - average accuracy",
             title="Cancellation")
    axes.legend()
    save(figure, folder, "cancellation")


def draw(folder, results, sets):
    """All figures, into a folder that is there."""
    with styled():
        draw_heatmaps(folder, results)
        scales = results["scales"]
        scaling_accuracy(folder, results["scaling"], scales)
        scaling_memory(folder, results["memory"], scales)
        for op in SUMS:
            pair_errors(folder, results["pairs"], sets, op)
        cancellation(folder, results["pairs"], sets)


def draw_heatmaps(folder, results):
    """Those of the baseline and of NetFC, and those of products and quotients."""
    plain, correct = (results["accuracy"][kind] for kind in ("plain", "correct"))
    for data_set, facts in results["baseline"].items():
        for name, title, cell in (
                ("baseline", "Float-to-integer", facts["text"]),
                ("netfc", "NetFC", plain[f"fp16 +,- {data_set}"]),
                ("correct", "NetFC, correctly rounded", correct[f"fp16 +,- {data_set}"])):
            heatmap(folder, f"heatmap-{data_set}-{name}", title, cell["heatmap"])
    for group, name, title in (("x", "mul", "Multiplication"), ("/", "div", "Division")):
        heatmap(folder, f"heatmap-II-{name}", title, plain[f"fp16 {group} II"]["heatmap"])
