# SPDX-License-Identifier: BSD-3-Clause
"""Which table set to take: accuracy, memory and speed of all of them beside each other."""

import math

from evaluation.measure import pairs
from evaluation.report.document import headings, kilobytes, listing, percent, table

COUNTED = [pairs.OP_SYMBOLS[op] for op in pairs.OPS]
SYMBOLS = {"add": "+", "mul": "×", "div": "÷"}
PROGRAMS = {"add": "+, -", "mul": "×, ÷"}  # a set has two
# What decides first: exact results, memory, the speed of additions.
SHORT = ["", *headings("exact", COUNTED), "KB", "Mlanes/s: +"]


def least(tally):
    """The least accuracy of all pairs, in percent."""
    if not tally["worst"]:
        return 100.0
    error = tally["worst"][0]["error"]
    return 0.0 if error is None else 100 * math.exp(-error)


def speed_text(results, name, op, peer):
    """Lanes a second, and how many times those of the peer."""
    ours, theirs = (results["speed"]["sets"][n][op]["lanes_per_second"] for n in (name, peer))
    text = f"{ours / 1e6:,.0f}"
    return text if name == peer else f"{text} ({ours / theirs:.2f})"


def choice_row(results, format_name, name, peer):
    """All about a set."""
    tallies = [results["pairs"][f"{format_name} {op}"][name]["all"] for op in pairs.OPS]
    size = {**results["memory"], **results["memory_correct"]}[name]["sizes"]
    costs = results["speed"]["sets"][name]
    return [f"`{name}`", *(percent(pairs.average(tally), 3) for tally in tallies),
            *(percent(least(tally)) for tally in tallies),
            *(percent(pairs.ulp_share(tally, 0), 1) for tally in tallies),
            kilobytes(size["total"]["slot_bytes"]), kilobytes(size["single_bytes"]),
            *(f"{costs[op]['look_ups']} of {costs[op]['steps']}" for op in PROGRAMS if op in costs),
            *(speed_text(results, name, op, peer) for op in costs)]


def choice_table(results, choice, short=False):
    """A row for each set: all about it, or what decides first."""
    ops = results["speed"]["ops"]
    head = ["",
            *(cell for what in ("average", "least", "exact") for cell in headings(what, COUNTED)),
            "KB", "KB: one copy",
            *headings("look-ups of steps", [PROGRAMS[op] for op in ops if op in PROGRAMS]),
            *headings("Mlanes/s", [SYMBOLS[op] for op in ops])]
    columns = [head.index(title) for title in (SHORT if short else head)]
    rows = [choice_row(results, form, name, names[0]) for form, names in choice.items()
            for name in names]
    return table(SHORT if short else head, [[row[column] for column in columns] for row in rows])


def kernel_text(results):
    """Which sets are computed by what."""
    found = {}
    for name, costs in results["speed"]["sets"].items():
        found.setdefault(costs["add"]["kernel"] or "step by step, in tables",
                         []).append(f"`{name}`")
    return "; ".join(f"{listing(names)}: {kernel}" for kernel, names in found.items())
