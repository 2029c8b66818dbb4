# SPDX-License-Identifier: BSD-3-Clause
"""More lcores: as many receive queues, and what each of them adds."""

import contextlib
import statistics

from benchmark import machine
from benchmark.measure.rounds import summary
from benchmark.peers.contenders import TABLES, Contender

# A round is quiet if its lcores had this share of their CPUs.
QUIET = 0.97
TRIES = 8  # rounds tried for each quiet one that is wanted


def _rate(sample, lcores):
    """Packets per second of time of day that all lcores had their CPUs."""
    return sample.packets * lcores / sample.processor


def _share(sample, lcores):
    return sample.processor / sample.wall / lcores


def _wall_rate(sample):
    return sample.packets / sample.wall


def summarise(number, rounds, by_the_clock):
    """What rounds say about lcores[number]; those of by_the_clock are for the wall clock."""
    lcores, column = counts()[number], [samples[number] for samples in rounds]
    return {
        "lcores": lcores,
        "packets": summary([_rate(sample, lcores) for sample in column]),
        "wall": summary([_wall_rate(samples[number]) for samples in by_the_clock]),
        "share": min(_share(sample, lcores) for sample in column),
        "ratio": statistics.median(
            _rate(samples[number], lcores) / _rate(samples[0], 1) for samples in rounds
        ),
        "wall_ratio": statistics.median(
            _wall_rate(samples[number]) / _wall_rate(samples[0]) for samples in by_the_clock
        ),
    }


def sample_all(running, numbers, settings):
    """All rounds, and those in which every lcore had its CPU: as many as wanted, if they come."""
    rounds, quiet = [], []
    while len(quiet) < settings.rounds and len(rounds) < TRIES * settings.rounds:
        rounds.append([program.sample(settings.seconds) for program in running])
        if all(_share(sample, count) >= QUIET for sample, count in zip(rounds[-1], numbers)):
            quiet.append(rounds[-1])
    return rounds, quiet


def counts():
    """Numbers of lcores to try: powers of two, up to the CPUs."""
    cpus = machine.cpu_count()
    return [1 << power for power in range(cpus.bit_length()) if 1 << power <= cpus]


def run(bench, capture, format_name, engine, settings):
    """The switch on 1, 2, ... lcores, a receive queue each, in alternating rounds.

    packets: per second, as if no other process had been there; wall: by the clock, in quiet rounds
    if there were any; ratio and wall_ratio: to one lcore; quiet: rounds in which no lcore had to
    wait for its CPU.
    """
    numbers = counts()
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(bench.start(
            Contender("netfc", engine), [capture] * count, TABLES[format_name], count))
            for count in numbers]
        rounds, quiet = sample_all(running, numbers, settings)
    return {"quiet": len(quiet), "rounds": len(rounds), "lcores": [
        summarise(number, rounds, quiet or rounds) for number in range(len(numbers))]}
