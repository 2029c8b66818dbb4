# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of operands, and where NetFC loses."""

from evaluation.measure import pairs
from evaluation.report.document import headings, percent, small, table
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
    return table(head, rows, left=2)


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
    return table(["", "", "", *ULPS.values()], rows, left=3)


def operand(number_format, bits):
    """A number, and its encoding."""
    return f"{number_format.text(bits)} (0x{bits:04x})"


def _worst_rows(results, sets):
    """The worst pairs of the plain sets."""
    for name, op, plain, _, _ in tallies(results, sets):
        for worst in plain["worst"][:WORST_SHOWN]:
            texts = [operand(FORMATS[name], worst[key]) for key in ("x", "y", "expected", "z")]
            error = worst["error"]
            shown = "infinite" if error is None else f"{100 * error:,.4g} %"
            yield [name, pairs.OP_SYMBOLS[op], *texts, shown, f"{worst['pairs']:,}"]


def worst_table(results, sets):
    """The same as a table."""
    head = ["", "", "x", "y", "expected", "result", "error", "pairs"]
    return table(head, _worst_rows(results, sets), left=2)


# ---- cancellation ----------------------------------------------------------------------------


def _cancel_rows(results, sets):
    """Sums by how many bits cancel, fp16."""
    counted = results["pairs"]["fp16 add"]
    plain, floor, correct = (counted[name]["all"]["cancellation"] for name in sets["fp16"])
    everything = sum(item["pairs"] for item in plain)
    for row_of_all in zip(floor, plain, correct):
        if row_of_all[0]["pairs"]:
            row = [f"{row_of_all[0]['bits']}", small(row_of_all[0]["pairs"] / everything)]
            row += [percent(100 * (1 - f["loss"] / f["pairs"]), 3) for f in row_of_all]
            yield row + [percent(100 * f["exact"] / f["pairs"], 1) for f in row_of_all]


def cancel_table(results, sets):
    """The same as a table."""
    head = ["bits", "of all sums", *headings("average", KINDS), *headings("exact", KINDS)]
    return table(head, _cancel_rows(results, sets))
