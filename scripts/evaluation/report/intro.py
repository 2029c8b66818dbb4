# SPDX-License-Identifier: BSD-3-Clause
"""The report's beginning: what came out, and how it was measured."""

from evaluation import paper
from evaluation.measure import datasets, measures, pairs, training
from evaluation.report import binary32
from evaluation.report.document import Bullets, Code, Heading, Paragraph, Table
from evaluation.report.words import compare, kilobytes, listing, percent


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


def pairs_line(results, sets):
    """What all pairs of fp16 say."""
    tallies = [results["pairs"][f"fp16 {op}"][sets["fp16"][0]]["all"] for op in pairs.OPS]
    exact = listing(
        f"{percent(pairs.ulp_share(t, 0), 1)} % of {pairs.OP_SYMBOLS[op]}"
        for op, t in zip(pairs.OPS, tallies)
    )
    near = min(pairs.ulp_share(tally, 1) for tally in tallies)
    return (
        f"`{sets['fp16'][0]}` over {population(results)}: {exact} are exact, and at least"
        f" {percent(near, 1)} % of each within one unit in the last place."
    )


def correct_line(results, choice):
    """What the correctly rounded sets give."""
    cells = [cell for cell in results["accuracy"]["correct"].values() if "minimum" in cell]
    names = [(format_name, name) for format_name, sets in choice.items() for name in sets[1:]]
    tallies = [
        results["pairs"][f"{format_name} {op}"][name]["all"]
        for format_name, name in names
        for op in pairs.OPS
    ]
    wrong = sum(tally["counted"] - dict(tally["ulps"]).get(0, 0) for tally in tallies)
    wrong += sum(tally["left_out_wrong"] for tally in tallies)
    differing = f"{wrong:,} results differ" if wrong else "not one result differs"
    return (
        f"Correctly rounded sets ({listing(f'`{name}`' for _, name in names)}): minimum"
        f" {percent(min(cell['minimum'] for cell in cells))} % in every cell; over"
        f" {population(results)}, {differing}"
        " from the exact one, rounded once. [Which set to choose](#choosing-a-table-set)."
    )


def population(results):
    """What the pairs of operands are."""
    if results["step"] == 1:
        return "all 2^32 pairs of operands"
    return f"a sample of the pairs of operands (every {results['step']}th x)"


def summary(results, sets, choice):
    """The results in short."""
    items = []
    for name in paper.FORMATS:
        ours, theirs = averages(results, name)
        items.append(
            f"{name}, `{sets[name][0]}`: averages of {spread(ours, 3)} in the"
            f" {len(ours)} cells that the paper has, {verdicts(ours, theirs)} its own"
            f" ({spread(theirs, 2)})."
        )
    items.append(
        f"Minima: {minima(results)} the paper's; a minimum is"
        " [one pair's](#what-a-minimum-says)."
    )
    items += [correct_line(results, choice), binary32.summary_line(results)]
    folded = results["memory"]["fp16_k1024"]["folded"]
    items += [
        pairs_line(results, sets),
        f"The paper's 448 KB of tables hold what {kilobytes(2 * folded['entries'])} KB can hold"
        " without loss, [folded](#memory).",
        "Sums that cancel are the weak spot of the paper's method, not of its tables' rounding:"
        " [below](#where-logarithms-lose).",
        f"{results['sent']['lanes']:,} lanes went through the running switch; libnetfc gave the"
        " same bits for each of them.",
    ]
    return items


def data_rows():
    """A row for each data set."""
    for name in datasets.NAMES:
        count = training.PAIRS if name == "III" else datasets.PAIRS
        yield [datasets.TITLES[name], f"{count:,}", datasets.MEANINGS[name]]


def training_text(facts):
    """Where data set III comes from."""
    neurons = "-".join(map(str, training.NEURONS))
    return (
        f"*Data set III* is recorded from a network ({neurons} neurons, ReLU) that two workers"
        " train on the handwritten digits of scikit-learn, each on its half, with averaged"
        f" gradients ({percent(100 * facts['known'], 1)} % of the digits known at the end). x and y"
        " are both workers' gradients of the same weight. Of"
        f" {facts['recorded']:,} pairs recorded, {facts['usable']:,} lie in (-0.01, 0.01) without"
        f" a zero (pixels that are always dark); {training.PAIRS:,} of these are used."
    )


def method(results):
    """How it was measured."""
    expected = results["expected"]
    return [
        Heading(2, "Method"),
        Paragraph(
            "*Words*: a lane is a pair of operands and its result. fp16 is IEEE 754's binary16,"
            " bf16 is bfloat16, posit16 the paper's posit with one exponent bit, posit16_es2 the"
            " 2022 standard's with two. *plain* and *floor* sets are the paper's method, through"
            " logarithms that are scaled by k: plain ones round table entries to the nearest,"
            " floor ones down, which is the paper to the letter. Memory and pipeline of both are"
            " the same. *correct* sets round every result correctly, by [another"
            " method](exact.md); k means nothing to them."
        ),
        Table(["data set", "pairs", "x and y"], list(data_rows()), left=3),
        Paragraph(
            "The paper says of I and II only that they are random; both readings are here, and"
            " [below](#which-data-the-paper-used) is what tells that the paper's are uniform over"
            " encodings. Random numbers have fixed seeds, and every file of operands is compared"
            " with `data/sha256sums`."
        ),
        Paragraph(training_text(results["training"])),
        Paragraph(
            "*Accuracy* is the paper's, exp(-|expected - result| / |expected|), in percent;"
            " expected is the correctly rounded result, computed by numpy and, for comparison,"
            f" by `netfc_exact()` ({expected:,} results, no difference). `+, -` is both operations"
            " on all pairs. A result that is infinite though a finite one is expected counts"
            " with accuracy 0. Lanes whose expected result is zero, infinite or NaN (NaR) are"
            " left out; [how many](#lanes-left-out)."
        ),
        Paragraph(
            "*The switch*: every result of a data set comes from `dpdk-netfc`, which read requests"
            f" from a capture and wrote replies to one ({results['sent']['packets']:,} packets for"
            " the accuracy tables)."
        ),
        Code(
            "scripts/evaluate          # all of this, under half an hour on two cores\n"
            "scripts/evaluate --quick  # under two minutes"
        ),
    ]


def blocks(results, sets, choice):
    """The beginning: what came out."""
    variant = "the quick variant" if results["quick"] else "the full variant"
    operations = listing(measures.SYMBOLS.values())
    return [
        Heading(1, "Evaluation"),
        Paragraph(
            f"The NetFC paper's evaluation, rerun: {operations} on its kinds of data, in its two"
            " formats and two more. Everything here was written by"
            f" `scripts/evaluate` ({variant})."
        ),
        Heading(2, "In short"),
        Bullets(summary(results, sets, choice)),
    ]
