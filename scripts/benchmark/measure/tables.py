# SPDX-License-Identifier: BSD-3-Clause
"""Results as tables of texts: for the terminal, and for the document.

A table is its columns: heads, and what makes a row's cell of a name and of what was found of it.
"""

SWITCH = "netfc"
DIRECT, SWAP, SUM = "netfc direct", "testpmd 5tswap", "testpmd csum"


def of(columns, found):
    """A table's head, and a row for each name."""
    return ([head for head, _ in columns],
            [[cell(name, one) for _, cell in columns] for name, one in found.items()])


def aligned(head, rows, left=1):
    """Lines of a table for the terminal; the first `left` columns are aligned left."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    return ["  ".join(cell.ljust(width) if at < left else cell.rjust(width)
                      for at, (cell, width) in enumerate(zip(line, widths))).rstrip()
            for line in lines]


def named(name, _):
    """The first column's cell."""
    return name


def rate(packets):
    """The median, in millions."""
    return f"{packets['median'] / 1e6:.2f}"


def spread(values, unit=1.0):
    """The least and the greatest of all rounds."""
    return f"{values['least'] / unit:.2f}..{values['greatest'] / unit:.2f}"


def ratio(result, other):
    """The ratio to another contender, where that took part."""
    value = result["ratio"].get(other)
    return "" if value is None else f"{value:.2f}"


def _least(value):
    return "" if value is None else f"{value['least']:.2f}"


# ---- traffic mixes ---------------------------------------------------------------------------


def worst_first(found):
    """Traffic mixes, the worst for the direct engine first."""
    return dict(sorted(found.items(), key=lambda item: item[1][DIRECT]["ratio"][SWAP]))


def reached(found, peer):
    """Of a peer's packets, what the direct engine forwards: the least and the greatest of all mixes."""
    ratios = [results[DIRECT]["ratio"][peer] for results in found.values()]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


def mpps(name):
    """A column: a contender's packets."""
    return lambda _, results: rate(results[name]["packets"])


def of_peer(name, peer):
    """A column: one contender's ratio to another."""
    return lambda _, results: ratio(results[name], peer)


# The direct engine beside testpmd.
MIXES_IN_SHORT = (
    ("traffic", named), ("dpdk-netfc: Mpps", mpps(DIRECT)), ("5tswap: Mpps", mpps(SWAP)),
    ("of 5tswap", of_peer(DIRECT, SWAP)), ("of csum", of_peer(DIRECT, SUM)),
)


def mixes_columns(found):
    """Packets per second of each contender, then ratios."""
    names = next(iter(found.values()))
    return [("", named), *((f"{name}: Mpps", mpps(name)) for name in names),
            *((f"{name.split(maxsplit=1)[1]} of 5tswap", of_peer(name, SWAP))
              for name in names if name.startswith(SWITCH)),
            ("direct of csum", of_peer(DIRECT, SUM)),
            *((f"direct of {name.split(maxsplit=1)[1]}", of_peer(DIRECT, name))
              for name in names if name.startswith(DIRECT) and name != DIRECT)]


def parts(found, alone):
    """TSC cycles per packet of traffic mixes, the worst for the direct engine first: head and rows.

    found: the whole switch and its peers, by mix; alone: its parts without ports.
    """
    made = []
    for name, results in worst_first(found).items():
        if name not in alone:
            continue
        one = alone[name]
        whole, device, swap = (one["tsc_hz"] / results[peer]["packets"]["median"]
                               for peer in (DIRECT, "testpmd io", SWAP))
        classify, reflect = one["classify"]["least"], one["reflect"]["least"]
        compute = max(one["pipeline"]["least"] - classify, 0.0)
        rest = whole - device - classify - compute - reflect
        free = results[DIRECT]["ratio"][SWAP] * whole / max(whole - compute, device)
        cycles = (whole, device, classify, compute, reflect, rest, swap)
        made.append([name, *(f"{count:.1f}" for count in cycles), ratio(results[DIRECT], SWAP),
                     f"{free:.2f}"])
    return PARTS, made


PARTS = ("", "whole switch", "receive and send", "classify", "compute and reply", "swap addresses",
         "rest", "5tswap", "of 5tswap", "were computing free")


# ---- the others ------------------------------------------------------------------------------


def _of_switch(text):
    return lambda name, result: text(result) if name.startswith(SWITCH) else ""


COMPARISON = (
    ("", named),
    ("Mpps", lambda _, one: rate(one["packets"])),
    ("least..greatest", lambda _, one: spread(one["packets"], 1e6)),
    ("cycles/packet", lambda _, one: f"{one['cycles']:.0f}"),
    ("cycles/lane", _of_switch(lambda one: f"{one['lane_cycles']:.2f}")),
    ("Mlanes/s", _of_switch(lambda one: f"{one['lanes'] / 1e6:,.1f}")),
    ("Gbit/s", lambda _, one: f"{one['gbit']:.1f}"),
    ("of 5tswap", lambda _, one: ratio(one, SWAP)),
    ("of csum", lambda _, one: ratio(one, SUM)),
)


def _of_bare(kind):
    return lambda _, one: f"{one['ratio'][kind]:.2f}" if kind in one["ratio"] else ""


# Cycles per lane, as in ISAS.
ALONE = (
    ("engine, lanes per packet", named),
    ("bare look-ups", lambda _, one: _least(one["bare"])),
    ("through the engine", lambda _, one: _least(one["look_ups"])),
    ("whole packets", lambda _, one: _least(one["packets"])),
    ("bare/engine", _of_bare("look_ups")),
    ("bare/whole", _of_bare("packets")),
)
ISAS = (
    ("most bits of a vector, set", named),
    ("kernel", lambda _, one: one["kernel"] or ""),
    ("look-ups through the engine", lambda _, one: _least(one["look_ups"])),
    ("whole packets", lambda _, one: _least(one["packets"])),
)
LCORES = (
    ("engine, lanes", lambda name, _: name[0]),
    ("lcores", lambda _, one: str(one["lcores"])),
    ("Mpps", lambda _, one: rate(one["packets"])),
    ("to one", lambda _, one: f"{one['ratio']:.2f}"),
    ("by the clock", lambda _, one: rate(one["wall"])),
    ("to one", lambda _, one: f"{one['wall_ratio']:.2f}"),
    ("least share of CPU", lambda _, one: f"{one['share']:.0%}"),
    ("quiet rounds", lambda _, one: f"{one['quiet']} of {one['rounds']}"),
)


def by_lcores(results):
    """What LCORES shows."""
    return {(name, number): {**result, **one} for name, result in results.items()
            for number, one in enumerate(result["lcores"])}


def _microseconds(kind, percentile):
    return lambda _, one: f"{one[kind][percentile] / one[kind]['tsc_hz'] * 1e6:.3f}"


LATENCY = (
    ("engine, lanes", named),
    ("bursts of 64: p50", _microseconds("full", "p50")),
    ("p99", _microseconds("full", "p99")),
    ("p99.9", _microseconds("full", "p99_9")),
    ("one packet: p50", _microseconds("alone", "p50")),
    ("p99", _microseconds("alone", "p99")),
    ("p99.9", _microseconds("alone", "p99_9")),
    ("packets a burst", lambda _, one: f"{one['packets_per_burst']:.2f}"),
)
STARTUP = (
    ("engine", named),
    ("by the clock", lambda _, one: f"{one['seconds']['median']:.2f}"),
    ("least..greatest", lambda _, one: spread(one["seconds"])),
    ("processor time", lambda _, one: f"{one['processor']['median']:.2f}"),
    ("program", lambda _, one: f"{one['user']['median']:.2f}"),
    ("kernel", lambda _, one: f"{one['system']['median']:.2f}"),
)
