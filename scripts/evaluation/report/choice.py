# SPDX-License-Identifier: BSD-3-Clause
"""Which table set to take: accuracy, memory and speed of all of them beside each other."""

import math

from evaluation.measure import pairs
from evaluation.report.document import headings, kilobytes, listing, percent, table


COUNTED = [pairs.OP_SYMBOLS[op] for op in pairs.OPS]
SYMBOLS = {"add": "+", "mul": "×", "div": "÷"}
PROGRAMS = {"add": "+, -", "mul": "×, ÷"}  # a set has two


def least(tally):
    """The least accuracy of all pairs, in percent."""
    if not tally["worst"]:
        return 100.0
    error = tally["worst"][0]["error"]
    return 0.0 if error is None else 100 * math.exp(-error)


def sizes(results, name):
    """What netfc-tables says of a set."""
    kind = "memory_correct" if name in results["memory_correct"] else "memory"
    return results[kind][name]["sizes"]


def speed_text(results, name, op, peer):
    """Lanes a second, and how many times those of the peer."""
    ours, theirs = (results["speed"]["sets"][n][op]["lanes_per_second"] for n in (name, peer))
    text = f"{ours / 1e6:,.0f}"
    return text if name == peer else f"{text} ({ours / theirs:.2f})"


def choice_row(results, format_name, name, peer):
    """All about a set."""
    tallies = [results["pairs"][f"{format_name} {op}"][name]["all"] for op in pairs.OPS]
    size, costs = sizes(results, name), results["speed"]["sets"][name]
    row = [f"`{name}`", *(percent(pairs.average(tally), 3) for tally in tallies)]
    row += [percent(least(tally)) for tally in tallies]
    row += [percent(pairs.ulp_share(tally, 0), 1) for tally in tallies]
    row += [kilobytes(size["total"]["slot_bytes"]), kilobytes(size["single_bytes"])]
    row += [f"{costs[op]['look_ups']} of {costs[op]['steps']}" for op in PROGRAMS if op in costs]
    return row + [speed_text(results, name, op, peer) for op in costs]


def choice_head(results):
    """What the cells of choice_row() are."""
    ops = results["speed"]["ops"]
    return [
        "",
        *(cell for what in ("average", "least", "exact") for cell in headings(what, COUNTED)),
        *("KB", "KB: one copy"),
        *headings("look-ups of steps", [PROGRAMS[op] for op in ops if op in PROGRAMS]),
        *headings("Mlanes/s", [SYMBOLS[op] for op in ops]),
    ]


def choice_rows(results, choice):
    """A row for each set."""
    return [
        choice_row(results, format_name, name, names[0])
        for format_name, names in choice.items()
        for name in names
    ]


def choice_table(results, choice):
    """All about each set."""
    return table(choice_head(results), choice_rows(results, choice))


def short_table(results, choice):
    """What decides first: exact results, memory, the speed of additions."""
    head = choice_head(results)
    short = ["", *headings("exact", COUNTED), "KB", "Mlanes/s: +"]
    columns = [head.index(name) for name in short]
    rows = [[row[column] for column in columns] for row in choice_rows(results, choice)]
    return table(short, rows)


def kernel_text(results):
    """Which sets are computed by what."""
    found = {}
    for name, costs in results["speed"]["sets"].items():
        found.setdefault(costs["add"]["kernel"] or "step by step, in tables", []).append(name)
    return "; ".join(
        f"{listing(f'`{name}`' for name in names)}: {kernel}" for kernel, names in found.items()
    )
