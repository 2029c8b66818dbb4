# SPDX-License-Identifier: BSD-3-Clause
"""The scaling factor and memory."""

from evaluation import paper
from evaluation.measure import scaling
from evaluation.report.document import headings, kilobytes, percent, table

FORMS = {
    "slots": "all slots, indexed by the key",
    "exact": "keys that occur, exact match",
    "merged": "merged prefixes, ternary",
    "optimal": "optimal prefixes, longest match",
    "folded": "folded, indexed by the key",
    "folded_merged": "folded, merged prefixes, ternary",
}
SIZES = {"plain": "keys that occur", "merged": "merged prefixes", "optimal": "optimal prefixes"}


def sizes_of(part):
    """Bytes of the forms that SIZES has."""
    return [part[kind]["bytes"] for kind in SIZES]


# ---- scaling factor --------------------------------------------------------------------------


def scaling_table(results):
    """Accuracy and memory by k."""
    measured = ("average", "median")
    rows = []
    for scale in results["scales"]:
        plain, floor = (results["scaling"][scaling.set_name(scale, s)] for s in ("", "_floor"))
        size = results["memory"][scaling.set_name(scale)]["sizes"]["total"]["plain"]["bytes"]
        rows.append([f"{scale}", *(percent(facts[measure], 3) for measure in measured
                                   for facts in (floor, plain)), kilobytes(size)])
    # The correctly rounded sets on the same data.
    correct = results["accuracy"]["correct"][f"{scaling.FORMAT} {scaling.GROUP} {scaling.DATA_SET}"]
    for name, facts in results["memory_correct"].items():
        if name.startswith(scaling.FORMAT):
            rows.append([f"`{name}`", *(cell for measure in measured for cell in (
                "", percent(correct[measure], 3))),
                kilobytes(facts["sizes"]["total"]["plain"]["bytes"])])
    kinds = ("floor", "plain")
    head = ["k", *headings("average", kinds), *headings("median", kinds), "KB, keys that occur"]
    return table(head, rows)


def doublings(results):
    """For how many k the plain set is better than the floor set of twice k."""
    facts, scales = results["scaling"], results["scales"]
    better = [facts[scaling.set_name(k)]["average"] > facts[scaling.set_name(2 * k,
                                                                             "_floor")]["average"]
              for k in scales if 2 * k in scales]
    return f"{sum(better)} of {len(better)} k"


# ---- memory ----------------------------------------------------------------------------------


def paper_table(results):
    """The paper's 448 KB line by line."""
    sizes = results["memory"][paper.SETS["fp16"]]["sizes"]
    rows = []
    for part in sizes["tables"]:
        for copy in range(part["copies"]):
            name = part["table"] + (f", copy {copy + 1}" if part["copies"] > 1 else "")
            rows.append([name, *map(kilobytes, (
                part["paper_bytes"], part["slot_bytes"], *sizes_of(part)))])
    everything = (paper.TABLE_BYTES, sizes["total"]["slot_bytes"], *sizes_of(sizes["total"]))
    rows.append(["**all**", *(f"**{kilobytes(size)}**" for size in everything)])
    return table(["KB", "paper", "all slots", *SIZES.values()], rows)


def folding_table(results):
    """Entries of all sets in all forms, and what each form saves."""
    rows = []
    for name, facts in results["memory"].items():
        sizes, folded = facts["sizes"]["total"], facts["folded"]
        plain = sizes["plain"]["entries"]
        fewer = (sizes["merged"]["entries"], sizes["optimal"]["entries"], folded["entries"],
                 folded["merged"])
        rows.append([f"`{name}`", f"{plain:,}", *(f"{percent(100 * (1 - less / plain), 1)} %"
                                                  for less in fewer),
                                                  kilobytes(2 * folded["entries"])])
    head = ["", "keys that occur", "merged", "optimal", "folded", "folded, merged", "folded, KB"]
    return table(head, rows)


def bits_table(results, sets):
    """SRAM and TCAM bits of the largest plain sets, and of those that are correctly rounded."""
    facts = {plain: results["memory"][plain] for plain, *_ in sets.values()}
    facts |= results["memory_correct"]
    rows = [[title, *(bits_text(item["bits"].get(form)) for item in facts.values())]
            for form, title in FORMS.items()]
    return table(["kbit", *(f"`{name}`" for name in facts)], rows)


def bits_text(bits):
    """SRAM and TCAM bits of a set in a form; None where it has none."""
    if bits is None:
        return "-"
    tcam = f" + {bits['tcam'] / 1e3:,.0f} TCAM" if bits["tcam"] else ""
    return f"{bits['sram'] / 1e3:,.0f}{tcam}"


def correct_table(results):
    """The correctly rounded sets in all forms, beside the paper's 448 KB."""
    rows = []
    for name, facts in results["memory_correct"].items():
        total = facts["sizes"]["total"]
        rows.append([f"`{name}`", *map(kilobytes, (
            total["slot_bytes"], facts["sizes"]["single_bytes"], *sizes_of(total))),
            f"{percent(100 * total['slot_bytes'] / paper.TABLE_BYTES, 0)} %"])
    head = ["KB", "all slots", "one copy of each table", *SIZES.values(), "slots, of 448 KB"]
    return table(head, rows)
