# SPDX-License-Identifier: BSD-3-Clause
"""Results as tables of texts: for the terminal, and for the document."""

SWITCH = "netfc"
SWAP, SUM = "testpmd 5tswap", "testpmd csum"


def aligned(head, rows, left=1):
    """Lines of a table for the terminal; the first `left` columns are aligned left."""
    widths = [max(map(len, column)) for column in zip(head, *rows)]

    def line(cells):
        return "  ".join(
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths))
        ).rstrip()

    return [line(head), *(line(row) for row in rows)]


def rate(packets):
    """The median, in millions."""
    return f"{packets['median'] / 1e6:.2f}"


def spread(packets):
    """The least and the greatest of all rounds, in millions."""
    return f"{packets['least'] / 1e6:.2f}..{packets['greatest'] / 1e6:.2f}"


def ratio(result, other):
    """The ratio to another contender, where that took part."""
    value = result["ratio"].get(other)
    return "" if value is None else f"{value:.2f}"


def mixes_head(names):
    """Of mixes(): packets per second of each contender, then ratios."""
    ratios = [f"{name.split()[1]} of 5tswap" for name in names if name.startswith(SWITCH)]
    return ["", *(f"{name}: Mpps" for name in names), *ratios, "direct of csum"]


def worst_first(found):
    """Names of traffic mixes, the worst for the direct engine first."""
    return sorted(found, key=lambda name: found[name]["netfc direct"]["ratio"][SWAP])


def reached(found, peer):
    """Of a peer's packets, what the direct engine forwards: the least and the greatest of all mixes."""
    ratios = [results["netfc direct"]["ratio"][peer] for results in found.values()]
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


MIXES_IN_SHORT = ["traffic", "dpdk-netfc: Mpps", "5tswap: Mpps", "of 5tswap", "of csum"]


def mixes_in_short(found):
    """Rows of MIXES_IN_SHORT: the direct engine beside testpmd."""
    rows = []
    for name in worst_first(found):
        direct, swap = found[name]["netfc direct"], found[name][SWAP]
        rows.append([name, rate(direct["packets"]), rate(swap["packets"]), ratio(direct, SWAP),
                     ratio(direct, SUM)])
    return rows


def mixes(found):
    """Traffic mixes by name, all contenders."""
    order = worst_first(found)
    rows = []
    for name in order:
        results = found[name]
        rows.append([
            name,
            *(rate(result["packets"]) for result in results.values()),
            *(ratio(result, SWAP) for title, result in results.items()
              if title.startswith(SWITCH)),
            ratio(results["netfc direct"], SUM),
        ])
    return rows


PARTS = [
    *("", "whole switch", "receive and send", "classify", "compute and reply", "swap addresses"),
    *("rest", "5tswap", "of 5tswap", "were computing free"),
]


def parts(found, alone):
    """Rows of PARTS: TSC cycles per packet of traffic mixes, the worst for the direct engine first.

    found: the whole switch and its peers, by mix; alone: its parts without ports.
    """
    order = [name for name in worst_first(found) if name in alone]
    rows = []
    for name in order:
        one = alone[name]
        whole, device, swap = (
            one["tsc_hz"] / found[name][peer]["packets"]["median"]
            for peer in ("netfc direct", "testpmd io", SWAP)
        )
        classify, reflect = one["classify"]["least"], one["reflect"]["least"]
        compute = max(one["pipeline"]["least"] - classify, 0.0)
        rest = whole - device - classify - compute - reflect
        cycles = (whole, device, classify, compute, reflect, rest, swap)
        rows.append([
            name,
            *(f"{count:.1f}" for count in cycles),
            ratio(found[name]["netfc direct"], SWAP),
            f"{found[name]['netfc direct']['ratio'][SWAP] * whole / max(whole - compute, device):.2f}",
        ])
    return rows


COMPARISON = [
    *("", "Mpps", "least..greatest", "cycles/packet", "cycles/lane", "Mlanes/s", "Gbit/s"),
    *("of 5tswap", "of csum"),
]


def comparison(results):
    """Rows of COMPARISON, one a contender."""
    rows = []
    for name, result in results.items():
        lanes = name.startswith(SWITCH)
        rows.append(
            [
                name,
                rate(result["packets"]),
                spread(result["packets"]),
                f"{result['cycles']:.0f}",
                f"{result['lane_cycles']:.2f}" if lanes else "",
                f"{result['lanes'] / 1e6:,.1f}" if lanes else "",
                f"{result['gbit']:.1f}",
                ratio(result, SWAP),
                ratio(result, SUM),
            ]
        )
    return rows


ALONE = ["engine, lanes per packet", "bare look-ups", "through the engine", "whole packets", "bare/engine", "bare/whole"]


def _cycles(value):
    return "" if value is None else f"{value['least']:.2f}"


def alone(results):
    """Rows of ALONE, cycles per lane, one for each engine."""
    return [
        [
            engine,
            *(_cycles(result[kind]) for kind in ("bare", "look_ups", "packets")),
            *(f"{result['ratio'][kind]:.2f}" if kind in result["ratio"] else ""
              for kind in ("look_ups", "packets")),
        ]
        for engine, result in results.items()
    ]


ISAS = ["most bits of a vector, set", "kernel", "look-ups through the engine", "whole packets"]


def isas(results):
    """Rows of ISAS, cycles per lane."""
    return [
        [title, result["kernel"] or "", _cycles(result["look_ups"]), _cycles(result["packets"])]
        for title, result in results.items()
    ]


LCORES = [
    *("engine, lanes", "lcores", "Mpps", "to one", "by the clock", "to one", "least share of CPU"),
    "quiet rounds",
]


def lcores(results):
    """Rows of LCORES."""
    return [
        [
            title,
            str(one["lcores"]),
            rate(one["packets"]),
            f"{one['ratio']:.2f}",
            rate(one["wall"]),
            f"{one['wall_ratio']:.2f}",
            f"{one['share']:.0%}",
            f"{result['quiet']} of {result['rounds']}",
        ]
        for title, result in results.items()
        for one in result["lcores"]
    ]


LATENCY = [
    *("engine, lanes", "bursts of 64: p50", "p99", "p99.9"),
    *("one packet: p50", "p99", "p99.9", "packets a burst"),
]
PERCENTILES = ("p50", "p99", "p99_9")


def latency(results):
    """Rows of LATENCY."""
    rows = []
    for title, result in results.items():
        row = [title]
        for kind in ("full", "alone"):
            one = result[kind]
            row += [f"{one[name] / one['tsc_hz'] * 1e6:.3f}" for name in PERCENTILES]
        rows.append([*row, f"{result['packets_per_burst']:.2f}"])
    return rows


STARTUP = ["engine", "by the clock", "least..greatest", "processor time", "program", "kernel"]


def startup(results):
    """Rows of STARTUP."""
    return [
        [
            engine,
            f"{result['seconds']['median']:.2f}",
            f"{result['seconds']['least']:.2f}..{result['seconds']['greatest']:.2f}",
            *(f"{result[kind]['median']:.2f}" for kind in ("processor", "user", "system")),
        ]
        for engine, result in results.items()
    ]
