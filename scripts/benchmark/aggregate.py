# SPDX-License-Identifier: BSD-3-Clause
"""Measure aggregation on this machine, without a NIC: million values a second."""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from benchmark import machine
from benchmark.measure.tables import aligned

ROOT = pathlib.Path(__file__).resolve().parents[2]
MEGABYTES = 512
TIMEOUT_S = 120
FORMATS = ("fp32", "fp16", "bf16")
PARTS = ("memory", "switch", "shards", "flood")


@dataclass(frozen=True)
class Case:
    """One way to run netfc-aggregate-switch. name: for people."""

    name: str
    options: tuple
    lcores: int = 1


def switch_cases():
    """Adding, and receiving and replicating alone, in turns; then without vector instructions."""
    for form in FORMATS:
        yield Case(f"{form}", ("--format", form))
        yield Case(f"{form}, without adding", ("--format", form, "--no-adding"))
        yield Case(f"{form}, any exponents", ("--format", form, "--data", "any"))
        yield Case(f"{form}, plain C", ("--format", form, "--plain"))


def shard_cases():
    """One and two lcores; packets on their shard's lcore, and on the other one."""
    yield Case("1 shard", ())
    yield Case("2 shards", ("--lcores", "2"), 2)
    yield Case("2 shards, all handed over", ("--lcores", "2", "--handed-over"), 2)


def flood_cases():
    """Bad packets beside each good one."""
    for flood in (0, 1, 3, 7):
        yield Case(f"{flood} bad packets a good one", ("--flood", str(flood)))


CASES = {"switch": switch_cases, "shards": shard_cases, "flood": flood_cases}


class Bench:
    """The programs, and how long they run."""

    def __init__(self, build, memory, seconds, rounds):
        self._programs, self._memory = build / "app", memory
        self._seconds, self._rounds = seconds, rounds

    def _execute(self, name, *options):
        done = subprocess.run(
            [self._programs / name, *options], text=True, stdin=subprocess.DEVNULL,
            capture_output=True, timeout=TIMEOUT_S, check=False,
        )
        if done.returncode != 0:
            sys.exit(f"scripts/aggregate-bench: {name} {' '.join(options)}:\n{done.stderr}")
        return done.stdout

    def _run(self, case):
        with tempfile.TemporaryDirectory(prefix="netfc-bench-") as folder:
            path = pathlib.Path(folder) / "json"
            self._execute(
                "netfc-aggregate-switch", *case.options, "--slots", "128",
                "--seconds", str(self._seconds), "--json", str(path), "--",
                *self._memory.options(MEGABYTES), "--no-pci",
            )
            return json.loads(path.read_text(encoding="utf-8"))

    def rounds(self, cases):
        """Reports by case: each case once in every round, so that all have the same machine."""
        found = {case.name: [] for case in cases}
        for _ in range(self._rounds):
            for case in cases:
                found[case.name].append(self._run(case))
        return found

    def memory(self):
        """What netfc-aggregate-bench prints: head and rows."""
        milliseconds = str(max(1, round(self._seconds * 50)))
        lines = self._execute(
            "netfc-aggregate-bench", "--op", "sum", "--milliseconds", milliseconds
        ).splitlines()
        rows = [line.replace("plain C", "plain-C").split() for line in lines[1:]]
        return rows[0], rows[1:]


def rates(reports):
    """Million values a second, of each round."""
    return [report["values_per_second"] / 1e6 for report in reports]


def row(name, reports, beside):
    """A line of a table: median and range of the rounds' medians, the best of all samples, ratio
    to the same round of another case."""
    mine, others = rates(reports), rates(beside)
    ratio = statistics.median(one / other for one, other in zip(mine, others))
    checked = sum(report["results"] for report in reports)
    wrong = sum(report["wrong"] for report in reports)
    best = max(report["best"] for report in reports) / 1e6
    return [name, f"{statistics.median(mine):.0f}", f"{min(mine):.0f}..{max(mine):.0f}",
            f"{best:.0f}", f"{ratio:.2f}", f"{checked:,}", f"{wrong}"]


HEAD = ["", "median", "of rounds", "best", "ratio", "results checked", "wrong"]
BESIDE = {
    "switch": "that without adding", "shards": "1 shard", "flood": "that without bad packets",
}


def peer_of(part, name, found):
    """Beside which case one is shown."""
    if part == "switch":
        return found[f"{name.split(',')[0]}, without adding"]
    return next(iter(found.values()))


def print_cases(part, found):
    """A table of cases."""
    print(f"\n{part}: million values a second; ratio to {BESIDE[part]}")
    rows = [row(name, reports, peer_of(part, name, found)) for name, reports in found.items()]
    for line in aligned(HEAD, rows):
        print(f"  {line}")
    sys.stdout.flush()


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(prog="scripts/aggregate-bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of each comparison (default 5)")
    parser.add_argument("--seconds", type=float, default=1, help="of each sample (default 1)")
    parser.add_argument("--only", choices=PARTS, action="append", help="one part alone, or some")
    parser.add_argument("--no-huge", action="store_true", help="no hugepages, even if free")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all reports")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder")
    return parser.parse_args()


def choose_memory(arguments):
    """Where the switch takes its memory from."""
    if arguments.no_huge:
        return machine.Memory(False, "pages of 4 KB, as asked for")
    return machine.choose_memory(MEGABYTES)


def main():
    """Measure and print."""
    arguments = parse_arguments()
    memory, facts = choose_memory(arguments), machine.facts(ROOT, arguments.build)
    bench = Bench(arguments.build, memory, arguments.seconds, arguments.rounds)
    results = {"machine": facts, "memory": memory.sentence}
    print(f"{facts['cpu']}, {facts['cpus']} CPUs, DPDK {facts['dpdk']}; {memory.sentence}")
    for part in arguments.only or PARTS:
        if part == "memory":
            head, rows = bench.memory()
            results[part] = [dict(zip(head, cells)) for cells in rows]
            print("\nmemory: million values a second, 8 workers, 1,448 bytes, rounding included")
            for line in aligned(head, rows, left=3):
                print(f"  {line}")
            continue
        cases = [case for case in CASES[part]() if case.lcores <= machine.cpu_count()]
        results[part] = bench.rounds(cases)
        print_cases(part, results[part])
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
