# SPDX-License-Identifier: BSD-3-Clause
"""Rounds: every contender in turn, again and again, on the same core and the same packets."""

import contextlib
import functools
import statistics

from benchmark.measure import traffic
from benchmark.peers.contenders import SETS, Switch

# What an Ethernet link carries besides the frame: preamble, check sequence, the gap after it.
LINK_BYTES = 8 + 4 + 12


def summary(values):
    """Median, least and greatest."""
    return {"median": statistics.median(values), "least": min(values), "greatest": max(values),
            "rounds": len(values)}


def alternate(starts, settings, finish):
    """Samples of all programs by name, a list with one of each round.

    starts: makes each program; finish: what to ask the switches in the end.
    """
    with contextlib.ExitStack() as running:
        programs = [running.enter_context(start()) for start in starts]
        samples = {program.name: [] for program in programs}
        for _ in range(settings.rounds):
            for program in programs:
                samples[program.name].append(program.sample(settings.seconds))
        for program in programs:
            if isinstance(program, Switch):
                finish(program)
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
    return {"packets": rates, "cycles": tsc_hz / median,
            "lane_cycles": tsc_hz / median / cell.lanes,
            "lanes": median * cell.lanes, "gbit": median * link_bits / 1e9,
            "share": min(sample.processor / sample.wall for sample in samples)}


def ratios(samples):
    """Of each contender of a comparison, its ratio to the others: the median over rounds."""
    return {mine: {other: statistics.median(a.rate / b.rate for a, b in zip(ours, theirs))
                   for other, theirs in samples.items() if other != mine}
            for mine, ours in samples.items()}


def run(bench, contenders, capture, cell, settings, tsc_hz):
    """Measure a cell of the matrix, and return by name what derive() says, with the ratios."""
    samples = alternate(
        [functools.partial(bench.start, contender, [capture], SETS[cell.format])
         for contender in contenders], settings, lambda switch: switch.finish(cell.lanes))
    found = ratios(samples)
    return {name: {**derive(mine, cell, tsc_hz), "ratio": found[name]}
            for name, mine in samples.items()}
