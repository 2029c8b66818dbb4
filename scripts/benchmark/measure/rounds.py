# SPDX-License-Identifier: BSD-3-Clause
"""Rounds: every contender in turn, again and again, on the same core and the same packets."""

import contextlib
import statistics

from benchmark.measure import traffic
from benchmark.peers.contenders import SETS, Switch

# What an Ethernet link carries besides the frame: preamble, check sequence, the gap behind it.
LINK_BYTES = 8 + 4 + 12


def summary(values):
    """Median, least and greatest."""
    return {
        "median": statistics.median(values),
        "least": min(values),
        "greatest": max(values),
        "rounds": len(values),
    }


def measure(bench, contenders, capture, cell, settings):
    """Samples of all contenders by name, a list with one of each round."""
    samples = {contender.name: [] for contender in contenders}
    with contextlib.ExitStack() as running:
        programs = []
        for contender in contenders:
            programs.append(bench.start(contender, [capture], SETS[cell.format]))
            running.enter_context(programs[-1])
        for _ in range(settings.rounds):
            for program in programs:
                samples[program.name].append(program.sample(settings.seconds))
        for program in programs:
            if isinstance(program, Switch):
                program.finish(cell.lanes)
    return samples


def derive(samples, cell, tsc_hz):
    """What samples of one contender say.

    packets: per second of the core; cycles: TSC cycles per packet; lane_cycles: per lane; lanes:
    per second; gbit: Gbit/s on an Ethernet link; share: of the core it had, the least of all
    rounds.
    """
    rates = summary([sample.rate for sample in samples])
    median = rates["median"]
    link_bits = 8 * (traffic.frame_bytes(cell.format, cell.lanes) + LINK_BYTES)
    return {
        "packets": rates,
        "cycles": tsc_hz / median,
        "lane_cycles": tsc_hz / median / cell.lanes,
        "lanes": median * cell.lanes,
        "gbit": median * link_bits / 1e9,
        "share": min(sample.processor / sample.wall for sample in samples),
    }


def add_ratios(results):
    """To each contender of a comparison, its ratio to the others: the median over rounds.

    results: by name, with "samples" as measure() gives them.
    """
    for mine in results.values():
        mine["ratio"] = {
            name: statistics.median(
                a.rate / b.rate for a, b in zip(mine["samples"], other["samples"])
            )
            for name, other in results.items()
            if other is not mine
        }


def run(bench, contenders, capture, cell, settings, tsc_hz):
    """Measure a cell of the matrix, and return by name what derive() says, with the ratios."""
    samples = measure(bench, contenders, capture, cell, settings)
    results = {
        name: {**derive(mine, cell, tsc_hz), "samples": mine} for name, mine in samples.items()
    }
    add_ratios(results)
    for result in results.values():
        del result["samples"]
    return results
