# SPDX-License-Identifier: BSD-3-Clause
"""Times over lengths, as a picture."""

from benchmark.allreduce.units import size_text
from benchmark.mpi.run import SWITCH, figure
from plots import pyplot, save, styled

GREYS = ("#111111", "#999999", "#bbbbbb", "#666666", "#888888", "#aaaaaa", "#444444")
OURS = "#0072b2"


def plot(figures, path):
    """A panel for each speed of links, a line for each way of reducing."""
    sizes = list(next(iter(next(iter(figures.values())).values())))
    with styled():
        made, panels = pyplot.subplots(1, len(figures), figsize=(9, 4.2), squeeze=False, sharey=True)
        for axes, (mbit, measured) in zip(panels[0], figures.items()):
            for (name, results), grey in zip(measured.items(), (OURS, *GREYS)):
                axes.plot(sizes, [1e3 * figure(size, results[size]) for size in sizes],
                          "-o" if name == SWITCH.name else "--", ms=4, label=name, zorder=2,
                          color=OURS if name == SWITCH.name else grey)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks(sizes, [size_text(size) for size in sizes], rotation=30)
            axes.minorticks_off()
            axes.yaxis.set_major_formatter("{x:g}")
            axes.set(title=f"links of {mbit} Mbit/s", xlabel="length of the vector")
        panels[0][0].set(ylabel="time of MPI_Allreduce, ms")
        panels[0][-1].legend(fontsize=8, frameon=False)
        save(made, path.parent, path.stem)
