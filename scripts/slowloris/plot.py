# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration as a figure: the register, the alarm, and how the server fared."""

import matplotlib

matplotlib.use("svg")
# pylint: disable=wrong-import-position
from matplotlib import pyplot

BIN = 0.5  # seconds
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"


def success_bins(requests):
    """Times and success rates, in per cent, of requests by when they were begun."""
    bins = {}
    for when, good in requests:
        bins.setdefault(when // BIN, []).append(good)
    return ([(number + 0.5) * BIN for number in sorted(bins)],
            [100 * sum(bins[number]) / len(bins[number]) for number in sorted(bins)])


def alarm_spans(figures):
    """When the alarm was on, as (begin, end)."""
    begin, last = None, figures["samples"][-1][0]
    for when, alarm in figures["changes"]:
        if alarm:
            begin = when
        elif begin is not None:
            yield begin, when
            begin = None
    if begin is not None:
        yield begin, last


def draw(figures, path):
    """Writes the figure as an SVG file."""
    pyplot.rcParams["svg.hashsalt"] = "netfc"
    figure, (register, counts, success) = pyplot.subplots(
        3, 1, sharex=True, figsize=(8, 7), layout="constrained")
    times = [sample[0] for sample in figures["samples"]]
    register.semilogy(times, [sample[1] or float("nan") for sample in figures["samples"]],
                      color=BLUE)
    register.axhline(figures["threshold"], color=ORANGE, linestyle="--", label="threshold")
    register.set_ylabel("connections per byte")
    register.legend(loc="upper left")
    counts.plot(times, [sample[2] for sample in figures["samples"]], color=BLUE)
    counts.set_ylabel("open connections")
    success.step(*success_bins(figures["requests"]), where="mid", color=BLUE)
    success.set_ylabel("honest requests\nthat succeed, %")
    success.set_ylim(-5, 105)
    success.set_xlabel("seconds since the attack's first packet")
    for axes in (register, counts, success):
        axes.axvspan(0, figures["attack_s"], color=GREY, alpha=0.15, linewidth=0)
        for begin, end in alarm_spans(figures):
            axes.axvspan(begin, end, color=ORANGE, alpha=0.15, linewidth=0)
        if figures["detected_s"] is not None:
            axes.axvline(figures["detected_s"], color=ORANGE)
    register.set_title(f"Slow bodies against nginx, policy {figures['policy']}: "
                       "grey: attack, orange: alarm")
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
