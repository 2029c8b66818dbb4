# SPDX-License-Identifier: BSD-3-Clause
"""Measure aggregation on this machine, without a NIC: million values a second."""

import contextlib
import json
import pathlib
import statistics
import sys
import tempfile
from dataclasses import dataclass

import programs
from benchmark import machine
from benchmark.measure.tables import aligned
from command import ROOT, CommandLine, write_json
from programs import any_cpu

MEGABYTES = 768
TIMEOUT_S = 120
FORMATS = ("fp32", "fp16", "bf16")
PARTS = ("memory", "switch", "shards", "flood", "tree")
TREE_FORMATS = ("fp32", "fp64")
ROOT_IP, ROOT_MEGABYTES = "198.18.0.3", 384
KINDS = ("gradients", "finite", "any")
CALCULATED = "all but adding (calculated)"
MOSTLY_REPEATS = "*"
BUSY = ("* More than half of the packets were sent again, since threads waited for CPUs: that is the "
        "speed of this machine, not of the switch. Measure on an idle one.")


@dataclass(frozen=True)
class Case:
    """One way to run netfc-bench --inline. keys: of --aggregate; eal: options of the EAL; root: the
    switch is a leaf of another one, in a process of its own."""

    name: str
    keys: tuple = ()
    lcores: int = 1
    eal: tuple = ()
    root: bool = False


def switch_cases():
    """Gradients, any exponents, and without vector instructions."""
    for form in FORMATS:
        yield Case(f"{form}", (f"format={form}",))
        yield Case(f"{form}, any exponents", (f"format={form}", "data=any"))
        yield Case(f"{form}, plain C", (f"format={form}",), eal=("--force-max-simd-bitwidth=64",))


def tree_cases():
    """One switch; a leaf whose root has another core; a root with the exact sums of 8 leaves."""
    for form in TREE_FORMATS:
        yield Case(form, (f"format={form}",))
        keys = (f"format={form}", "place=0of1", f"parent={ROOT_IP}")
        yield Case(f"{form}, a leaf", keys, root=True)
        yield Case(f"{form}, a root of 8 leaves", (f"format={form}", "behind=8"))


CASES = {
    "switch": list(switch_cases()),
    # One and two lcores; packets on their shard's lcore, and on the other one.
    "shards": [Case("1 shard"), Case("2 shards", (), 2),
               Case("2 shards, all handed over", ("queue=other",), 2)],
    # Bad packets beside each good one.
    "flood": [Case(f"{flood} bad packets a good one", (f"flood={100 * flood}",))
              for flood in (0, 1, 3, 7)],
    "tree": list(tree_cases()),
}


class Bench:
    """The program, and how long it runs."""

    def __init__(self, build, memory, seconds, rounds):
        self._build, self._memory = build, memory
        self._seconds, self._rounds = seconds, rounds

    def _execute(self, program, *options):
        return programs.command(self._build / program, *options, patience=TIMEOUT_S)

    @contextlib.contextmanager
    def _root(self):
        """A root that runs; what the EAL of a leaf needs to reach it."""
        with tempfile.TemporaryDirectory(prefix="netfc-root-") as folder:
            log = pathlib.Path(folder, "log")
            device = f"net_memif0,socket={folder}/root,socket-abstract=no"
            with programs.running(
                    self._build / "app" / "dpdk-netfc",
                    *programs.eal("root", self._memory.options(ROOT_MEGABYTES), any_cpu(1),
                                  f"--vdev={device},role=server"),
                    "--", "--forward", "reflect", "--match", "direct", "--address", f"{ROOT_IP}/24",
                    f"--aggregate=slots=128,formats={'+'.join(TREE_FORMATS)},"
                    f"digits={'+'.join(TREE_FORMATS)}",
                    log=log, begun=lambda: "\nReady" in log.read_text(encoding="utf-8")):
                yield (f"--vdev={device},role=client",)

    def _run(self, case):
        with self._root() if case.root else contextlib.nullcontext(()) as eal:
            return json.loads(self._execute(
                "app/netfc-bench", *programs.eal("aggregation", self._memory.options(MEGABYTES),
                              any_cpu(case.lcores + 1), *case.eal, *eal), "--",
                f"--inline={case.lcores}", f"--aggregate={','.join(('slots=128', *case.keys))}",
                "--seconds", self._seconds, "--progress", 0, "--json", "-"))

    def rounds(self, cases):
        """Reports by case: each case once in every round, so that all have the same machine."""
        found = {case.name: [] for case in cases}
        for _ in range(self._rounds):
            for case in cases:
                found[case.name].append(self._run(case))
        return found

    def memory(self, formats="all"):
        """What netfc-timing prints of sums: head and rows."""
        keys = f"slots=1,format={formats},op=sum,data={'+'.join(KINDS)}"
        lines = self._execute(programs.TIMING, "--", "--time", "sums", f"--aggregate={keys}", "--seconds",
                              max(0.001, self._seconds / 20)).splitlines()
        rows = [line.replace("plain C", "plain-C").split() for line in lines[1:]]
        return rows[0], rows[1:]


def rates(reports):
    """Million values a second of the switch's own time, of each round."""
    return [report["switch"]["values_per_second"] / 1e6 for report in reports]


def mostly_repeats(reports):
    """Whether more than half of the packets of any report were sent again."""
    return any(report["retries"] > report["requests"] + report["parts"] for report in reports)


def row(name, reports, beside):
    """A line of a table: median, range and best of the rounds, and the ratio to the same round of
    another case."""
    mine, others = rates(reports), rates(beside)
    ratio = statistics.median(one / other for one, other in zip(mine, others))
    checked, wrong = (sum(report[name] for report in reports) for name in ("results", "wrong"))
    mark = MOSTLY_REPEATS if mostly_repeats(reports) else ""
    return [name + mark, f"{statistics.median(mine):.0f}", f"{min(mine):.0f}..{max(mine):.0f}",
            f"{ratio:.2f}", f"{checked:,}", f"{wrong}"]


HEAD = ["", "median", "of rounds", "ratio", "results checked", "wrong"]
BESIDE = {"switch": "gradients", "shards": "1 shard", "flood": "that without bad packets",
          "tree": "one switch with workers"}


def rest_rows(found, head, rows):
    """What the switch would do if adding took no time: its time a value less that in memory."""
    at, best = head.index("gradients"), {}
    for cells in rows:
        best[cells[0]] = max(best.get(cells[0], 0), float(cells[at]))
    for form in FORMATS:
        rate = statistics.median(rates(found[form]))
        rest = 1 / (1 / rate - 1 / best[form]) if best[form] > rate else float("inf")
        yield [f"{form}, {CALCULATED}", f"{rest:.0f}"]


def print_cases(part, found):
    """A table of cases."""
    print(f"\n{part}: million values a second; ratio to {BESIDE[part]}")
    first = next(iter(found))
    rows = [row(name, reports, found[name.split(",")[0] if part in ("switch", "tree") else first])
            for name, reports in found.items()]
    for line in aligned(HEAD, rows):
        print(f"  {line}")
    if any(map(mostly_repeats, found.values())):
        print(f"  {BUSY}")
    sys.stdout.flush()


def parsed():
    """The command line."""
    parser = CommandLine("bench aggregation", __doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of each comparison (default 5)")
    parser.add_argument("--seconds", type=float, default=1, help="of each sample (default 1)")
    parser.add_argument("--only", choices=PARTS, action="append", help="one part alone, or some")
    parser.add_argument("--no-huge", action="store_true", help="no hugepages, even if free")
    return parser, parser.parse_args()


def measure(arguments):
    """Measure and print."""
    memory = machine.choose_memory(MEGABYTES, arguments.no_huge)
    facts = machine.facts(ROOT, arguments.build)
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
        cases = [case for case in CASES[part] if case.lcores <= machine.cpu_count()]
        results[part] = bench.rounds(cases)
        print_cases(part, results[part])
        if part == "switch":
            rest = rest_rows(results[part], *bench.memory("+".join(FORMATS)))
            print("\n".join(f"  {line}" for line in aligned(["", "median"], list(rest))))
    write_json(arguments.json, results, indent=1)


def main():
    """The command line."""
    parser, arguments = parsed()
    with parser.told():
        measure(arguments)


if __name__ == "__main__":
    main()
