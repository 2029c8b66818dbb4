# SPDX-License-Identifier: BSD-3-Clause
"""More lcores: as many receive queues, and what each of them adds."""

import contextlib
import statistics

from benchmark import machine
from benchmark.contenders import TABLES, Contender
from benchmark.rounds import summary

# A round counts if its lcores had this share of their CPUs.
QUIET = 0.97
TRIES = 8  # rounds tried for each that is wanted


def _rate(sample, lcores):
    """Packets per second of time of day that all lcores had their CPUs."""
    return sample.packets * lcores / sample.processor


def _share(sample, lcores):
    return sample.processor / sample.wall / lcores


def _summary(samples, alone, lcores):
    return {
        "lcores": lcores,
        "packets": summary([_rate(sample, lcores) for sample in samples]),
        "wall": summary([sample.packets / sample.wall for sample in samples]),
        "share": min(_share(sample, lcores) for sample in samples),
        "ratio": statistics.median(
            _rate(many, lcores) / _rate(one, 1) for many, one in zip(samples, alone)
        ),
        "wall_ratio": statistics.median(
            (many.packets / many.wall) / (one.packets / one.wall)
            for many, one in zip(samples, alone)
        ),
    }


def _sample_quietly(running, counts, settings):
    """Rounds in which every lcore had its CPU; if there are too few, all rounds. And how many."""
    rounds, quiet = [], []
    while len(quiet) < settings.rounds and len(rounds) < TRIES * settings.rounds:
        rounds.append([program.sample(settings.seconds) for program in running])
        if all(_share(sample, count) >= QUIET for sample, count in zip(rounds[-1], counts)):
            quiet.append(rounds[-1])
    return (quiet if len(quiet) == settings.rounds else rounds), len(quiet)


def counts():
    """Numbers of lcores to try: powers of two, up to the CPUs."""
    cpus = machine.cpu_count()
    return [1 << power for power in range(cpus.bit_length()) if 1 << power <= cpus]


def run(bench, capture, format_name, room, settings):
    """The switch on 1, 2, ... lcores, a receive queue each, in alternating rounds.

    packets: per second, as if no other process had been there; wall: as it was; ratio and
    wall_ratio: to one lcore; quiet: rounds in which no lcore had to wait for its CPU.
    """
    numbers = counts()
    with contextlib.ExitStack() as stack:
        running = [
            stack.enter_context(
                bench.start(
                    Contender("netfc", room), [capture] * count, TABLES[format_name], count
                )
            )
            for count in numbers
        ]
        rounds, quiet = _sample_quietly(running, numbers, settings)
    columns = list(zip(*rounds))
    return {
        "quiet": quiet,
        "rounds": len(rounds),
        "lcores": [
            _summary(column, columns[0], count) for column, count in zip(columns, numbers)
        ],
    }
