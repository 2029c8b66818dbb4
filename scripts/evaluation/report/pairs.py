# SPDX-License-Identifier: BSD-3-Clause
"""All pairs of operands, and where NetFC loses."""

from evaluation.measure import pairs
from evaluation.report.accuracy import KINDS
from evaluation.report.document import headings, percent, small, table
from netfc import FORMATS

ULPS = {0: "exact", 1: "1 ulp", 2: "2-3", 3: "4-7", 4: "8-15", 5: "16-31", 6: "32 or more"}
WORST_SHOWN = 4


def tallies(results, sets):
    """(format, symbol, counts of the floor, the plain and the correct set) of all pairs."""
    for name, (plain, floor, correct) in sets.items():
        for op in pairs.OPS:
            counted = results["pairs"][f"{name} {op}"]
            yield name, pairs.OP_SYMBOLS[op], *(counted[one]["all"]
                                                for one in (floor, plain, correct))


def accuracy_table(results, sets):
    """Averages over all pairs."""
    rows = [[name, symbol, f"{ordered[1]['counted']:,}", f"{pairs.left_out(ordered[1]):,}",
             *(percent(pairs.average(tally), 3) for tally in ordered),
             *(percent(pairs.ulp_share(tally, most), 1) for most in (0, 1) for tally in ordered),
             *(f"{tally['left_out_wrong']:,}" for tally in ordered)]
            for name, symbol, *ordered in tallies(results, sets)]
    whats = ("average", "exact", "within 1 ulp", "left out, and other")
    head = ["", "", "counted", "left out",
            *(cell for what in whats for cell in headings(what, KINDS))]
    return table(head, rows, left=2)


def ulp_table(results, sets):
    """How far plain and correctly rounded results are off, in units in the last place."""
    rows, last = [], max(ULPS)
    for name, symbol, _, plain, correct in tallies(results, sets):
        for kind, tally in (("plain", plain), ("correct", correct)):
            bins = dict(tally["ulps"])
            bins[last] = sum(count for at, count in bins.items() if at >= last)
            rows.append([name, symbol, kind,
                         *(small(bins.get(at, 0) / tally["counted"]) for at in ULPS)])
    return table(["", "", "", *ULPS.values()], rows, left=3)


def worst_table(results, sets):
    """The worst pairs of the plain sets."""
    rows = []
    for name, symbol, _, plain, _ in tallies(results, sets):
        for worst in plain["worst"][:WORST_SHOWN]:
            error = worst["error"]
            rows.append([name, symbol, *(
                f"{FORMATS[name].text(worst[key])} (0x{worst[key]:04x})"
                for key in ("x", "y", "expected", "z")),
                "infinite" if error is None else f"{100 * error:,.4g} %", f"{worst['pairs']:,}"])
    return table(["", "", "x", "y", "expected", "result", "error", "pairs"], rows, left=2)


def cancel_table(results, sets):
    """Sums by how many bits cancel, fp16."""
    _, _, *found = next(tallies(results, sets))
    bins = list(zip(*(tally["cancellation"] for tally in found)))
    everything = sum(one["pairs"] for one, *_ in bins)
    rows = [[f"{of_all[0]['bits']}", small(of_all[0]["pairs"] / everything),
             *(percent(100 * (1 - one["loss"] / one["pairs"]), 3) for one in of_all),
             *(percent(100 * one["exact"] / one["pairs"], 1) for one in of_all)]
            for of_all in bins if of_all[0]["pairs"]]
    head = ["bits", "of all sums", *headings("average", KINDS), *headings("exact", KINDS)]
    return table(head, rows)
