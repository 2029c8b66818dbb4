#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure the switch beside its peers, on this machine and without a NIC."""

import argparse
import json
import os
import pathlib
import shlex
import sys
import tempfile
import time
from dataclasses import asdict, dataclass

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

# pylint: disable=wrong-import-position
from benchmark import alone, contenders, machine, matrix, rounds, tables
from benchmark.polling import ProgramError
from benchmark.results import Results, identity
from benchmark.traffic import Traffic

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("dpdk-netfc", "netfc-rooms")


@dataclass(frozen=True)
class Settings:
    """How it is measured."""

    rounds: int  # of each comparison
    seconds: float  # of each sample
    passes: int  # of netfc-rooms


SETTINGS = {
    "quick": Settings(rounds=3, seconds=0.1, passes=5),
    "usual": Settings(rounds=5, seconds=0.2, passes=31),
    "full": Settings(rounds=5, seconds=0.2, passes=31),
}
CELLS = {"quick": matrix.quick, "usual": matrix.usual, "full": matrix.full}


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    size = parser.add_mutually_exclusive_group()
    size.add_argument(
        "--quick",
        dest="extent",
        action="store_const",
        const="quick",
        default="usual",
        help="1 and 243 lanes of one format and operation, few rounds: under a minute",
    )
    size.add_argument(
        "--full",
        dest="extent",
        action="store_const",
        const="full",
        help="every format, operation, kind of operands and number of lanes: half an hour",
    )
    parser.add_argument("--rounds", type=int, help="rounds of each comparison (default 5)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all results")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on where the last run with the same programs and settings was stopped",
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder")
    return parser.parse_args()


def print_table(title, head, rows):
    """A table, as soon as it is there."""
    print(f"\n{title}")
    for line in tables.aligned(head, rows):
        print(f"  {line}")
    sys.stdout.flush()


class Run:
    """One run of the benchmark."""

    def __init__(self, arguments, results, bench, traffic, settings):
        self._arguments, self._results, self._settings = arguments, results, settings
        self._bench, self._traffic = bench, traffic
        self._contenders = contenders.find(bench.build)

    @property
    def rooms(self):
        """Names of the match rooms."""
        return [item.mode for item in self._contenders if item.family == "netfc"]

    def alone(self):
        """The match rooms alone."""
        capture = self._traffic.make("fp16", "add", "random", 243)
        found = {
            room: self._results.get(
                "alone",
                room,
                lambda room=room: alone.run(
                    self._bench, capture, "fp16", room, self._settings.passes
                ),
            )
            for room in self.rooms
        }
        print_table("Cycles per lane of fp16 additions, without ports", tables.ALONE,
                    tables.alone(found))
        return next(iter(found.values()))["tsc_hz"]

    def compare(self, cell, tsc_hz):
        """One comparison."""
        taking_part = [
            item for item in self._contenders if cell.peers or item.family == "netfc"
        ]
        capture = self._traffic.make(cell.format, cell.op, cell.operands, cell.lanes)

        def measure():
            results = rounds.run(
                self._bench,
                taking_part,
                capture,
                cell.lanes,
                contenders.TABLES[cell.format],
                self._settings,
                tsc_hz,
            )
            return {"cell": cell.facts(), "results": results}

        done = self._results.get("switch", cell.title, measure)
        print_table(cell.title, tables.COMPARISON, tables.comparison(done["results"]))

    def all(self):
        """Everything."""
        tsc_hz = self.alone()
        for cell in CELLS[self._arguments.extent]():
            self.compare(cell, tsc_hz)


def settings_of(arguments):
    """How to measure."""
    settings = SETTINGS[arguments.extent]
    if arguments.rounds is None:
        return settings
    return Settings(arguments.rounds, settings.seconds, settings.passes)


def check_peers():
    """Fails where the peers are missing."""
    if not contenders.peers_installed():
        sys.exit("scripts/bench: dpdk-testpmd is not there: install Debian's dpdk-dev")


def main():
    """Measure."""
    arguments = parse_arguments()
    arguments.build = arguments.build.resolve()
    check_peers()
    settings = settings_of(arguments)
    work = arguments.build / "benchmark"
    work.mkdir(exist_ok=True)
    began = time.time()
    who = identity([arguments.build / "app" / name for name in PROGRAMS], asdict(settings))
    results = Results(work / f"{arguments.extent}.json", who, arguments.resume)
    memory = machine.choose_memory(contenders.megabytes(contenders.find(arguments.build)))
    facts = machine.facts(ROOT, arguments.build)
    print(f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['kernel']}, DPDK {facts['dpdk']}")
    print(f"Memory: {memory.sentence}")
    print(f"Load average: {', '.join(f'{load:.2f}' for load in os.getloadavg())}")
    with tempfile.TemporaryDirectory(prefix="netfc-bench-") as folder:
        folder = pathlib.Path(folder)
        bench = contenders.Bench(arguments.build, memory, folder)
        traffic = Traffic(folder, work)
        try:
            Run(arguments, results, bench, traffic, settings).all()
        except ProgramError as error:
            sys.exit(f"scripts/bench: {error}")
    results.data.update(
        machine=facts,
        memory=memory.sentence,
        command=shlex.join(["scripts/bench", *sys.argv[1:]]),
        date=time.strftime("%Y-%m-%d", time.gmtime(began)),
        seconds=time.time() - began,
    )
    results.save()
    if arguments.json:
        arguments.json.write_text(json.dumps(results.data, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
