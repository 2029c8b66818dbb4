# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of operands, and where NetFC loses."""

from evaluation.measure import pairs
from evaluation.report.document import Bullets, Figure, Heading, Paragraph, Table
from evaluation.report.intro import population
from evaluation.report.words import headings, percent, small
from netfc import FORMATS

KINDS = ("floor", "plain", "correct")
ULPS = {0: "exact", 1: "1 ulp", 2: "2-3", 3: "4-7", 4: "8-15", 5: "16-31", 6: "32 or more"}
WORST_SHOWN = 4


def tallies(results, sets):
    """(format, operation, counts of the plain, the floor and the correct set) of all pairs."""
    for name, table_sets in sets.items():
        for op in pairs.OPS:
            counted = results["pairs"][f"{name} {op}"]
            yield name, op, *(counted[table_set]["all"] for table_set in table_sets)


def accuracy_table(results, sets):
    """Averages over all pairs."""
    rows = []
    for name, op, plain, floor, correct in tallies(results, sets):
        ordered = (floor, plain, correct)
        row = [name, pairs.OP_SYMBOLS[op], f"{plain['counted']:,}", f"{pairs.left_out(plain):,}"]
        row += [percent(pairs.average(tally), 3) for tally in ordered]
        row += [percent(pairs.ulp_share(tally, 0), 1) for tally in ordered]
        row += [percent(pairs.ulp_share(tally, 1), 1) for tally in ordered]
        wrong = [f"{tally['left_out_wrong']:,}" for tally in ordered]
        rows.append(row + wrong)
    head = ["", "", "counted", "left out"]
    for what in ("average", "exact", "within 1 ulp", "left out, and other"):
        head += headings(what, KINDS)
    return Table(head, rows, left=2)


def ulp_table(results, sets):
    """How far plain and correctly rounded results are off, in units in the last place."""
    rows = []
    for name, op, plain, _, correct in tallies(results, sets):
        for kind, tally in (("plain", plain), ("correct", correct)):
            bins = dict(tally["ulps"])
            last = max(ULPS)
            bins[last] = sum(count for at, count in bins.items() if at >= last)
            shares = [small(bins.get(at, 0) / tally["counted"]) for at in ULPS]
            rows.append([name, pairs.OP_SYMBOLS[op], kind, *shares])
    return Table(["", "", "", *ULPS.values()], rows, left=3)


def operand(number_format, bits):
    """A number, and its encoding."""
    return f"{number_format.text(bits)} (0x{bits:04x})"


def worst_rows(results, sets):
    """The worst pairs of the plain sets."""
    for name, op, plain, _, _ in tallies(results, sets):
        for worst in plain["worst"][:WORST_SHOWN]:
            texts = [operand(FORMATS[name], worst[key]) for key in ("x", "y", "expected", "z")]
            error = worst["error"]
            shown = "infinite" if error is None else f"{100 * error:,.4g} %"
            yield [name, pairs.OP_SYMBOLS[op], *texts, shown, f"{worst['pairs']:,}"]


def pairs_blocks(results, sets):
    """The section on all pairs."""
    head = ["", "", "x", "y", "expected", "result", "error", "pairs"]
    images = [(f"evaluation/pairs-{op}.svg", f"Errors of {op}") for op in pairs.OPS]
    return [
        Heading(2, "All pairs of operands"),
        Paragraph(
            f"Not a sample but the whole truth: {population(results)}, every result computed from"
            " the tables, by libnetfc, and compared with the correctly rounded one. That one is"
            " the CPU's binary64 result rounded once more, to the format"
            f" (`netfc_exact()` agrees for every {pairs.CHECK}th pair). x - y is x + -y"
            f" (compared for all y of every {pairs.CHECK}th x), so that over all pairs + and - are"
            " the same. Counted and left out as above; *left out, and other* are those of the"
            " latter (expected zero or infinite, for example) whose result has other bits all the"
            " same."
            if results["step"] == 1
            else f"The quick variant counts {population(results)}, with every y."
        ),
        accuracy_table(results, sets),
        Figure(
            images,
            "Pairs with at least that relative error; solid plain, dotted floor. Correctly rounded"
            " sets have none.",
        ),
        Paragraph("How far results are off, in units in the last place:"),
        ulp_table(results, sets),
        Paragraph(
            "The worst pairs of the plain sets: the greatest errors, one of the pairs that have"
            " each, and how many do. An infinite error is a result that is infinite next to the"
            " largest number. Correctly rounded sets have no pair to list."
        ),
        Table(head, list(worst_rows(results, sets)), left=2),
    ]


# ---- cancellation ----------------------------------------------------------------------------


def cancel_rows(results, sets):
    """Sums by how many bits cancel, fp16."""
    counted = results["pairs"]["fp16 add"]
    plain, floor, correct = (counted[name]["all"]["cancellation"] for name in sets["fp16"])
    everything = sum(item["pairs"] for item in plain)
    for row_of_all in zip(floor, plain, correct):
        if row_of_all[0]["pairs"]:
            row = [f"{row_of_all[0]['bits']}", small(row_of_all[0]["pairs"] / everything)]
            row += [percent(100 * (1 - f["loss"] / f["pairs"]), 3) for f in row_of_all]
            yield row + [percent(100 * f["exact"] / f["pairs"], 1) for f in row_of_all]


def loss_blocks(results, sets):
    """The section on what NetFC is bad at."""
    head = ["bits", "of all sums", *headings("average", KINDS), *headings("exact", KINDS)]
    return [
        Heading(2, "Where logarithms lose"),
        Paragraph(
            "x + y with opposite signs and nearly the same size. The difference of two rounded"
            " logarithms is off by up to 1/k, whichever way they are rounded, and the slope of"
            " log2(1 - 2^t) grows as 1/|t| towards t = 0: each leading bit that cancels doubles"
            " the error. Operands that differ but share a logarithm have a fixed guess as their"
            " difference (plain), or 0 (floor). An FPU does the opposite: such sums are exact, and"
            " so they are with the correctly rounded sets."
            f" fp16, {population(results)}, by how many leading bits cancel (the larger operand's"
            " exponent less the sum's):"
        ),
        Table(head, list(cancel_rows(results, sets))),
        Figure(
            [("evaluation/cancellation.svg", "Average error by bits cancelled")],
            "What sums lose by cancellation; solid plain, dotted floor. Correctly rounded sets lose"
            " nothing.",
        ),
        Paragraph("Smaller losses, none of which correctly rounded sets have:"),
        Bullets(
            [
                "*Subnormal results* of IEEE formats have few bits, and an error that is small"
                " beside a unit of the logarithm may still decide between two of them.",
                "*Next to overflow*, a result may be infinite where the largest number is right,"
                " or the other way round.",
                "*Near 1*, posits have more bits than their logarithms: with k = 512 and 12 bits"
                " of fraction, the exact result cannot be expected.",
            ]
        ),
        Heading(2, "What this does not show"),
        Bullets(
            [
                "A hardware switch: its tables and arithmetic are the same, its speed is not.",
                "The paper's own gradients, which are not public.",
                "Sums of more than two numbers, whose errors add up.",
            ]
        ),
    ]


def blocks(results, sets):
    """Both sections."""
    return pairs_blocks(results, sets) + loss_blocks(results, sets)
