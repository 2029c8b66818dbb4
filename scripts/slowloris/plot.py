# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration as a figure: the register, the alarm, and how the server fared."""

import itertools

from plots import pyplot, save

BIN = 0.5  # seconds
POLICIES = {"destination": "policy: all to the destination is dropped",
            "connection": "policy: slow connections are dropped",
            "none": "dry run: nothing is dropped"}
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
    changes = [*figures["changes"], (figures["samples"][-1][0], False)]
    return [(begin, end) for (begin, alarm), (end, _) in itertools.pairwise(changes) if alarm]


def draw_register(axes, figures, times):
    """Connections per byte, and the moment of detection."""
    # A logarithmic axis has no zero, which the register is at without a connection.
    axes.semilogy(times, [sample[1] or float("nan") for sample in figures["samples"]], ".",
                  markersize=3, color=BLUE)
    axes.axhline(figures["threshold"], color=ORANGE, linestyle="--")
    axes.text(figures["attack_s"], figures["threshold"],
              f"threshold, from {figures['least']} connections on", color=ORANGE, ha="right",
              va="bottom")
    axes.set_ylabel("connections per byte")
    if figures["detected_s"] is not None:
        axes.annotate(f" detected after {figures['detected_s']:.2f} s",
                      (figures["detected_s"], 0.96), xycoords=("data", "axes fraction"),
                      va="top", color=ORANGE)


def draw_success(axes, figures):
    """How the server fared, with its rates before, during and after the attack."""
    axes.step(*success_bins(figures["requests"]), where="mid", color=BLUE)
    axes.set_ylabel("honest requests\nthat succeed, %")
    axes.set_ylim(-5, 130)
    axes.set_yticks(range(0, 101, 25))
    axes.set_xlabel("seconds since the attack's first packet")
    ends = axes.get_xlim()
    for name, begin, end in (("before", ends[0], 0), ("during", 0, figures["attack_s"]),
                             ("after", figures["attack_s"], ends[1])):
        rate = figures["success"][name]
        if rate is not None:
            axes.text((begin + end) / 2, 113, f"{name}: {rate:.0%}", ha="center", va="center")
    if figures["recovered_s"] is not None:
        axes.annotate(f"serves again after {figures['recovered_s']:.2f} s ",
                      (figures["recovered_s"], 50), xytext=(10, 0), textcoords="offset points",
                      va="center", color=BLUE)


def draw(figures, path):
    """Writes the figure as an SVG file."""
    figure, (register, counts, success) = pyplot.subplots(
        3, 1, sharex=True, figsize=(8, 7), layout="constrained")
    times = [sample[0] for sample in figures["samples"]]
    draw_register(register, figures, times)
    counts.plot(times, [sample[2] for sample in figures["samples"]], color=BLUE)
    counts.set_ylabel("open connections")
    draw_success(success, figures)
    for axes in (register, counts, success):
        attack = axes.axvspan(0, figures["attack_s"], color=GREY, alpha=0.15, linewidth=0)
        alarm = [axes.axvspan(begin, end, color=ORANGE, alpha=0.15, linewidth=0)
                 for begin, end in alarm_spans(figures)]
        if figures["detected_s"] is not None:
            axes.axvline(figures["detected_s"], color=ORANGE)
    counts.legend([attack, *alarm[:1]], ["attack", "alarm"], loc="upper right")
    register.set_title(f"Slow bodies against nginx, {POLICIES[figures['policy']]}")
    save(figure, path.parent, path.stem)
