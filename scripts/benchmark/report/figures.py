# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the report."""

from benchmark.measure.tables import SWAP, worst_first
from benchmark.report import stages
from plots import pyplot, save, styled

# Wong, Nature Methods 8 (2011): colours that the colour-blind can tell apart.
COLOURS = {
    "netfc lpm": "#0072b2", "netfc hash": "#d55e00", "netfc direct": "#009e73",
    "netfc fpu": "#cc79a7",
    "testpmd io": "#999999", "testpmd 5tswap": "#555555", "testpmd csum": "#000000",
}
OTHER_COLOUR = "#e69f00"
STAGE_COLOURS = [
    *("#999999", "#555555", "#e69f00", "#f0e442"),
    *("#56b4e9", "#0072b2", "#009e73", "#dddddd"),
]


def _line(axes, name, lanes, values):
    """Peers are dashed."""
    line = "-o" if name.startswith("netfc") else "--s"
    axes.plot(lanes, values, line, ms=4, color=COLOURS.get(name, OTHER_COLOUR), label=name)


def _legend_below(axes, columns):
    """Where it covers nothing."""
    axes.legend(fontsize=8, ncols=columns, loc="upper center", bbox_to_anchor=(0.5, -0.16),
                frameon=False)


def sweep(folder, cells, field, scale, label, name, peers):
    """A field of the results over lanes per packet, one line a contender."""
    figure, axes = pyplot.subplots(figsize=(5.2, 4.4))
    lanes = [cell["cell"]["lanes"] for cell in cells]
    for contender in [one for one in cells[0]["results"] if peers or one.startswith("netfc")]:
        values = [cell["results"][contender][field] / scale for cell in cells]
        _line(axes, contender, lanes, values)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(lanes, lanes)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xlabel="lanes per packet", ylabel=label)
    _legend_below(axes, 3)
    save(figure, folder, name)


def bars(folder, cells, alone, lanes, name):
    """Cycles per packet by stage, one bar for each engine."""
    found = stages.of_engines(cells, alone, lanes)
    figure, axes = pyplot.subplots(figsize=(5.2, 4.4))
    engines = list(found)
    bottom = [0.0] * len(engines)
    for stage, colour in zip(stages.NAMES, STAGE_COLOURS):
        values = [found[engine].get(stage, 0.0) / (lanes if lanes > 1 else 1) for engine in engines]
        axes.bar(engines, values, bottom=bottom, color=colour, label=stage, width=0.6)
        bottom = [low + value for low, value in zip(bottom, values)]
    axes.set_ylabel("TSC cycles per packet" if lanes == 1 else "TSC cycles per lane")
    axes.set_title(f"{lanes} lane{'' if lanes == 1 else 's'} per packet")
    limit = stages.readable_limit(bottom)
    axes.set_ylim(0, limit)
    for at, height in enumerate(bottom):
        if height > limit:
            axes.annotate(f"{height:.0f}", (at, limit), ha="center", va="top", color="white")
    _legend_below(axes, 3)
    save(figure, folder, name)


def mixes(folder, found):
    """Packets per second as parts of testpmd 5tswap's: a group of bars a mix, the worst on top."""
    order = list(worst_first(found))[::-1]
    names = [name for name in next(iter(found.values())) if name != SWAP]
    figure, axes = pyplot.subplots(figsize=(6.4, 0.55 * len(order) + 1.2))
    height = 0.8 / len(names)
    for index, name in enumerate(reversed(names)):
        places = [place + (index - (len(names) - 1) / 2) * height for place in range(len(order))]
        values = [found[mix][name]["ratio"][SWAP] for mix in order]
        axes.barh(places, values, height, color=COLOURS.get(name, OTHER_COLOUR), label=name)
    axes.axvline(1, color=COLOURS[SWAP], lw=0.8)
    axes.set_yticks(range(len(order)), order, fontsize=8)
    axes.set(xlabel=f"packets per second / {SWAP}'s")
    axes.legend(fontsize=8, loc="lower right")
    save(figure, folder, "mixes")


def draw(folder, cells, done):
    """All figures, into a folder that is there.

    cells: those over lanes per packet; done: all results by section.
    """
    with styled():
        sweep(folder, cells, "lanes", 1e6, "million lanes per second", "lanes", False)
        sweep(folder, cells, "gbit", 1, "Gbit/s on an Ethernet link", "gbit", True)
        for lanes in (1, cells[-1]["cell"]["lanes"]):
            bars(folder, cells, done["alone"], lanes, f"stages-{lanes}")
        if "mixes" in done:
            mixes(folder, done["mixes"])
