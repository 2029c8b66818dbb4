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


def saved(less, plain):
    """What is saved, in percent."""
    return f"{percent(100 * (1 - less / plain), 1)} %"


# ---- scaling factor --------------------------------------------------------------------------


def scaling_table(results):
    """Accuracy and memory by k."""
    rows = []
    for scale in results["scales"]:
        plain, floor = (results["scaling"][scaling.set_name(scale, s)] for s in ("", "_floor"))
        row = [f"{scale}"]
        for measure in ("average", "median"):
            row += [percent(facts[measure], 3) for facts in (floor, plain)]
        rows.append(row + [kilobytes(total(results, scale)["plain"]["bytes"])])
    for name, facts in results["memory_correct"].items():
        if name.startswith(scaling.FORMAT):
            row = [f"`{name}`"]
            for measure in ("average", "median"):
                row += ["", percent(correct_accuracy(results)[measure], 3)]
            rows.append(row + [kilobytes(facts["sizes"]["total"]["plain"]["bytes"])])
    kinds = ("floor", "plain")
    head = ["k", *headings("average", kinds), *headings("median", kinds), "KB, keys that occur"]
    return table(head, rows)


def correct_accuracy(results):
    """What the correctly rounded set gives on the same data."""
    return results["accuracy"]["correct"][f"{scaling.FORMAT} {scaling.GROUP} {scaling.DATA_SET}"]


def doublings(results):
    """For how many k the plain set is better than the floor set of twice k."""
    facts = results["scaling"]
    pairs = [(k, 2 * k) for k in results["scales"] if 2 * k in results["scales"]]
    pairs = [[scaling.set_name(*p) for p in ((k, ""), (twice, "_floor"))] for k, twice in pairs]
    better = sum(facts[a]["average"] > facts[b]["average"] for a, b in pairs)
    return f"{better} of {len(pairs)} k"


def total(results, scale):
    """Sizes of the fp16 set of a scale."""
    return results["memory"][scaling.set_name(scale)]["sizes"]["total"]


# ---- memory ----------------------------------------------------------------------------------


def paper_table(results):
    """The paper's 448 KB line by line."""
    sizes = results["memory"][paper.SETS["fp16"]]["sizes"]
    rows = []
    for part in sizes["tables"]:
        for copy in range(part["copies"]):
            name = part["table"] + (f", copy {copy + 1}" if part["copies"] > 1 else "")
            cells = [part["paper_bytes"], part["slot_bytes"], part["plain"]["bytes"]]
            cells += [part["merged"]["bytes"], part["optimal"]["bytes"]]
            rows.append([name, *map(kilobytes, cells)])
    everything = sizes["total"]
    cells = [paper.TABLE_BYTES, everything["slot_bytes"]]
    cells += [everything[kind]["bytes"] for kind in ("plain", "merged", "optimal")]
    rows.append(["**all**", *(f"**{kilobytes(size)}**" for size in cells)])
    head = ["KB", "paper", "all slots", "keys that occur", "merged prefixes", "optimal prefixes"]
    return table(head, rows)


def folding_row(name, facts):
    """Entries of a set in all forms."""
    sizes, folded = facts["sizes"]["total"], facts["folded"]
    plain = sizes["plain"]["entries"]
    row = [f"`{name}`", f"{plain:,}"]
    row += [saved(sizes[kind]["entries"], plain) for kind in ("merged", "optimal")]
    row += [saved(folded[kind], plain) for kind in ("entries", "merged")]
    return row + [kilobytes(2 * folded["entries"])]


def folding_table(results):
    """What each form saves, of all sets."""
    head = ["", "keys that occur", "merged", "optimal", "folded", "folded, merged", "folded, KB"]
    rows = [folding_row(name, facts) for name, facts in results["memory"].items()]
    return table(head, rows)


def bits_table(results, sets):
    """SRAM and TCAM bits of the largest plain sets, and of those that are correctly rounded."""
    facts = {table_sets[0]: results["memory"][table_sets[0]] for table_sets in sets.values()}
    facts.update(results["memory_correct"])
    rows = [
        [title, *(bits_text(item["bits"].get(form)) for item in facts.values())]
        for form, title in FORMS.items()
    ]
    return table(["kbit", *(f"`{name}`" for name in facts)], rows)


def bits_text(bits):
    """SRAM and TCAM bits of a set in a form; None where it has none."""
    if bits is None:
        return "-"
    tcam = f" + {bits['tcam'] / 1e3:,.0f} TCAM" if bits["tcam"] else ""
    return f"{bits['sram'] / 1e3:,.0f}{tcam}"


def correct_row(name, sizes):
    """A correctly rounded set's bytes in all forms."""
    everything = sizes["total"]
    cells = [everything["slot_bytes"], sizes["single_bytes"]]
    cells += [everything[kind]["bytes"] for kind in ("plain", "merged", "optimal")]
    share = 100 * everything["slot_bytes"] / paper.TABLE_BYTES
    return [f"`{name}`", *map(kilobytes, cells), f"{percent(share, 0)} %"]


def correct_table(results):
    """The correctly rounded sets beside the paper's 448 KB."""
    rows = [correct_row(name, facts["sizes"]) for name, facts in results["memory_correct"].items()]
    head = ["KB", "all slots", "one copy of each table", "keys that occur", "merged prefixes"]
    return table([*head, "optimal prefixes", "slots, of 448 KB"], rows)
