# SPDX-License-Identifier: BSD-3-Clause
"""Sums of several lengths by each path, and by MPI programs, beside gloo's: one table.

In each round every path has its turn with all lengths, so that whatever else the machine does hits
all alike. Open MPI's ranks are on one node, or joined by the bridge that gloo has; those whose
reductions libnetfc-mpi does are on one node, with a switch that shares memory with them or without.
"""

import argparse
import collections.abc
import contextlib
import dataclasses
import os
import pathlib
import re
import statistics
import tempfile

from benchmark.allreduce import paths
from benchmark.allreduce.links import bridged
from benchmark.allreduce.team import Workers
from benchmark.mpi import run as mpi
from command import head, row
from namespaces import CommandError
from programs import command

VALUES = (1, 1000, 1_000_000, 25_000_000)
QUICK_VALUES = (1, 1000)
RANKS = (2, 4)
ROUNDS = 3
REPETITIONS = 100  # of vectors that take no time
MOST = 10_000_000  # values in a round, in all repetitions of a length
GLOO = paths.PATHS[0]
NAMES = (GLOO.name, "TAP", "AF_PACKET on veth", "AF_PACKET on veth, MTU 9000", "AF_XDP on veth",
         paths.MEMIF.name, "no switch, shared memory")


@dataclasses.dataclass(frozen=True)
class Turn:
    """A row of the table. seconds: of a build, how many ranks, and tasks, (values, times) each, the
    times by values. Raises CommandError."""

    name: str
    seconds: collections.abc.Callable


def lengths(text):
    """Of the command line: numbers of values, between commas."""
    values = [int(word) for word in text.split(",")] if re.fullmatch("[0-9]+(,[0-9]+)*", text) else [0]
    if min(values) < 1:
        raise argparse.ArgumentTypeError(f"{text}: numbers of values, as 1,1000, are meant")
    return values


def by_workers(path):
    """What netfc's workers need, or gloo's ranks."""
    def seconds(build, ranks, tasks):
        with contextlib.ExitStack() as stack:
            network = stack.enter_context(paths.network_of(build, path, ranks))
            workers = Workers(stack, build, path.by, network, arguments=paths.arguments(network))
            return {values: workers.seconds(4 * values, times + 1)[1:] for values, times in tasks}

    return Turn(path.name, seconds)


def by_mpi(name, program, network, words):
    """What an MPI program needs: the medians that it prints. words: before it, of a build and a
    network."""
    def seconds(build, ranks, tasks):
        with network(build, ranks) as place, tempfile.TemporaryDirectory(prefix="netfc-") as folder:
            hosts = place.hosts
            for host in hosts.values():
                host.ip("link", "set", "lo", "up")
            environment = {**os.environ, "TMPDIR": folder, "NETFC_NAMESPACES": " ".join(
                f"{host.ipv4}={host.name}" for host in hosts.values())}
            said = hosts[0].run(*words(build, place, ranks), program, "float",
                                *(word for values, times in tasks for word in (4 * values, times)),
                                env=environment, patience=mpi.PATIENCE)
            return {int(size) // 4: [float(median)] for size, median, *_ in mpi.LINE.findall(said)}

    return Turn(name, seconds)


def with_memif(build, ranks):
    """A switch that the node's ranks share memory with."""
    return paths.Wired(build / "app" / "dpdk-netfc", ranks, paths.MEMIF, "digits=fp32+fp64",
                       "slots=128")


def turns(program):
    """All rows; program: examples/mpi/allreduce.c, None where there is no Open MPI."""
    for path in paths.PATHS:
        if path.name in NAMES:
            yield by_workers(path)
    if program is None:
        return
    yield by_mpi("Open MPI, veth", program, lambda build, ranks: bridged(ranks),
                 lambda build, place, ranks: mpi.launched(
                     build, mpi.ALONE, list(place.hosts.values()), 0))
    for name, way in (("Open MPI, one node", "Open MPI alone"),
                      ("MPI program, one node, no switch", "no switch"),
                      ("MPI program, one node, memif", "the node is a worker")):
        yield by_mpi(name, program, with_memif,
                     lambda build, place, ranks, way=way: mpi.launched_on_node(
                         build, place, ranks, mpi.NODE_WAYS[way], 0))


def tasks_of(values, quick):
    """How often each length is summed in a round."""
    most = 10 if quick else REPETITIONS
    return [(each, max(1, min(most, MOST // each))) for each in values]


def measure(build, options):
    """Yields (ranks, name, times by values or None, why not)."""
    tasks = tasks_of(options.values or (QUICK_VALUES if options.quick else VALUES), options.quick)
    with tempfile.TemporaryDirectory(prefix="netfc-") as folder:
        program = pathlib.Path(folder) / "allreduce"
        try:
            command("mpicc.openmpi", "-O2", "-o", program, mpi.EXAMPLE, "-lm")
        except CommandError:
            program = None
        for _ in range(1 if options.quick else ROUNDS):
            for ranks in (options.workers,) if options.workers else RANKS:
                for turn in turns(program):
                    try:
                        yield ranks, turn.name, turn.seconds(build, ranks, tasks), None
                    except CommandError as error:
                        yield ranks, turn.name, None, str(error).strip().splitlines()[-1]


def merged(figures):
    """Of all rounds, by ranks and name: the medians of each round, by values."""
    found = {}
    for ranks, name, seconds, _ in figures:
        for values, took in (seconds or {}).items():
            rounds = found.setdefault((ranks, name), {}).setdefault(values, [])
            rounds.append(statistics.median_high(took))
    return dict(sorted(found.items(), key=lambda item: item[0][0]))


def cell(rounds, gloo):
    """The median of the rounds, the least and the most, and the share of gloo's median."""
    middle = statistics.median_high(rounds)
    text = milliseconds(middle)
    if len(rounds) > 1:
        text += f" ({milliseconds(min(rounds))} to {milliseconds(max(rounds))})"
    return text + (f"; {middle / statistics.median_high(gloo):.2f}" if gloo else "")


def milliseconds(seconds):
    """Three digits, but no more than tenths of a microsecond."""
    number = 1e3 * seconds
    return f"{number:.{sum(number < limit for limit in (100, 10, 1, 0.1))}f}"


def table(figures):
    """Lines of Markdown."""
    found = merged(figures)
    columns = sorted({values for took in found.values() for values in took})
    lines = [head("ranks", "path", *(f"{values:,}" for values in columns))]
    for (ranks, name), took in found.items():
        gloo = found.get((ranks, GLOO.name), {})
        lines.append(row(ranks, name, *(
            cell(took[values], gloo.get(values)) if values in took else "" for values in columns)))
    return "\n".join(lines)


def run(options):
    """Measures and prints; returns what was measured."""
    before, figures = os.getloadavg()[0], []
    for ranks, name, seconds, problem in measure(options.build, options):
        figures.append((ranks, name, seconds, problem))
        if problem is not None:
            print(f"{name}, {ranks} ranks: not measured: {problem}")
    print(f"{os.cpu_count()} cores, whose load was {before:.1f} before; milliseconds of a sum of "
          "so many float32: median of the rounds (least to most); share of gloo's\n")
    print(table(figures))
    return figures
