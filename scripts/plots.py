# SPDX-License-Identifier: BSD-3-Clause
"""Plots as SVG files whose bytes depend on the numbers alone."""

import matplotlib

matplotlib.use("svg")

from matplotlib import pyplot  # noqa: E402  (the back end comes first)

PLAIN = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
    "svg.fonttype": "path",
}
STYLE = {**PLAIN, "font.size": 10, "axes.grid": True, "grid.alpha": 0.3}


def styled(**more):
    """A context in which figures have the style of documents; more: settings of matplotlib."""
    return pyplot.rc_context({**STYLE, **more})


def save(figure, folder, name, **metadata):
    """Writes a figure, and is done with it."""
    with pyplot.rc_context({"svg.hashsalt": "dpdk-netfc"}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None, **metadata})
    pyplot.close(figure)
