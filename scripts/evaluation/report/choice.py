# SPDX-License-Identifier: BSD-3-Clause
"""Which table set to take: accuracy, memory and speed of all of them beside each other."""

import math

from evaluation.measure import pairs
from evaluation.report import binary32
from evaluation.report.document import Bullets, Heading, Paragraph, Table
from evaluation.report.intro import population
from evaluation.report.words import headings, kilobytes, listing, percent


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


def choice_table(results, choice):
    """A row for each set."""
    ops = results["speed"]["ops"]
    rows = [
        choice_row(results, format_name, name, names[0])
        for format_name, names in choice.items()
        for name in names
    ]
    head = [
        "",
        *(cell for what in ("average", "least", "exact") for cell in headings(what, COUNTED)),
        *("KB", "KB: one copy"),
        *headings("look-ups of steps", [PROGRAMS[op] for op in ops if op in PROGRAMS]),
        *headings("Mlanes/s", [SYMBOLS[op] for op in ops]),
    ]
    return Table(head, rows)


def kernel_text(results):
    """Which sets are computed by what."""
    found = {}
    for name, costs in results["speed"]["sets"].items():
        found.setdefault(costs["add"]["kernel"] or "step by step, in tables", []).append(name)
    return "; ".join(
        f"{listing(f'`{name}`' for name in names)}: {kernel}" for kernel, names in found.items()
    )


def blocks(results, choice):
    """The section."""
    return [
        Heading(2, "Choosing a table set"),
        Paragraph(
            f"Average and least accuracy and the share of exact results are those of"
            f" {population(results)}, in percent. KB: what all slots hold; a table that a lane needs"
            " twice has two copies, as in a switch's pipeline, and then one. Look-ups of steps: of"
            " the program that a lane goes through. Mlanes/s: million lanes a second"
            " through parser, match engine `direct` and checksum, in packets of 243 lanes, on one"
            f" core ({results['speed']['processor']}); in parentheses, as a multiple of the"
            " format's first set. These figures are timed and differ from run to run."
        ),
        choice_table(results, choice),
        Paragraph(f"Computed by: {kernel_text(results)}."),
        Bullets(
            [
                "*In software* take `_exact` for IEEE formats: where the processor has AVX2, a"
                " kernel that was compared with the tables, entry by entry, when the switch"
                " started computes with the processor's own binary32. Other match engines look"
                " everything up; [their speed](performance.md).",
                "*On a switch chip* stages and memory decide. `_exact` of IEEE formats has"
                " [as many stages](exact.md#five-stages) as the paper's method and needs more"
                " memory, `_exact_small` needs less memory than either and more stages. `_k` is"
                " not exact; the smaller k, the [less memory](#scaling-factor).",
                "*Posits*, correctly rounded, cost many look-ups in any case: `_k` sets are"
                " fast, `_exact` is right.",
                binary32.choice_line(results),
            ]
        ),
    ]
