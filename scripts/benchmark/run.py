# SPDX-License-Identifier: BSD-3-Clause
"""Measure the switch beside its peers, on this machine and without a NIC."""

import json
import os
import pathlib
import shlex
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, replace

from benchmark import machine, matrix
from benchmark.measure import alone, latency, lcores, mixes, rounds, startup, tables
from benchmark.measure.traffic import Traffic
from benchmark.peers import bmv2, contenders
from benchmark.report import page
from benchmark.results import Results, identity
from command import ROOT, CommandLine, file_to_read, folder_to_write, write_json

PROGRAMS = ("dpdk-netfc", "netfc-bench")
EXTENTS = {
    "quick": "1 and 243 lanes of one format and operation, three traffic mixes, few rounds: under a minute",
    "full": "every format, operation, kind of operands and number of lanes: half an hour",
    "mixes": "traffic mixes alone; with --document they are added to what is there: three minutes",
}


@dataclass(frozen=True)
class Settings:
    """How it is measured."""

    rounds: int = 5  # of each comparison
    seconds: float = 0.1  # of each sample
    passes: int = 31  # of netfc-timing
    latency_s: float = 1


SETTINGS = {"quick": Settings(rounds=3, passes=5), "mixes": Settings(), "usual": Settings(),
            "full": Settings(seconds=0.2)}
CELLS = {"quick": matrix.quick, "usual": matrix.usual, "full": matrix.full}


def parsed():
    """The command line."""
    parser = CommandLine("bench", __doc__, check)
    parser.set_defaults(extent="usual")
    size = parser.add_mutually_exclusive_group()
    for extent, meaning in EXTENTS.items():
        size.add_argument(f"--{extent}", dest="extent", action="store_const", const=extent,
                          help=meaning)
    parser.add_argument("--poll", action="store_true",
                        help="with --mixes: also the direct engine that never sleeps, in turns")
    parser.add_argument("--rounds", type=int, metavar="N", help="rounds of each comparison (default 5)")
    parser.add_argument("--no-huge", action="store_true",
                        help="no hugepages, even if there are free ones")
    parser.add_argument("--document", type=folder_to_write, nargs="?", const=str(ROOT / "docs"),
                        metavar="FOLDER",
                        help="write performance.md and its figures there (default docs/)")
    parser.add_argument("--numbers", type=file_to_read, metavar="FILE",
                        help="measure nothing: make the "
                        "document of what --json, or the document, has kept")
    parser.add_argument("--resume", action="store_true",
                        help="go on where the last run with the same programs and settings was stopped")
    return parser, parser.parse_args()


def check(parser, arguments):
    """What does not go together."""
    if arguments.numbers and not arguments.document:
        parser.error("--numbers: only with --document")
    if arguments.poll and (arguments.extent != "mixes" or arguments.document):
        parser.error("--poll: only with --mixes, and not with --document")
    if arguments.document and arguments.extent == "quick":
        parser.error("--document: --quick does not measure enough for it")
    if arguments.document and arguments.extent == "mixes" and not page.numbers(arguments.document).exists():
        parser.error(f"--mixes --document: no {page.numbers(arguments.document)} to add to:"
                     " scripts/bench --document makes it")


def print_table(title, head, rows):
    """A table, as soon as it is there."""
    print(f"\n{title}")
    for line in tables.aligned(head, rows):
        print(f"  {line}")
    sys.stdout.flush()


class Run:
    """One run of the benchmark: measures what results do not have yet, and prints it."""

    def __init__(self, extent, results, bench, traffic, settings, polling=False):
        self._extent, self._results, self._settings = extent, results, settings
        self._bench, self._traffic = bench, traffic
        self._contenders = contenders.find(bench.build)
        self._polling = [contenders.Contender("netfc", "direct", "--poll")] if polling else []
        self._engines = [item.mode for item in self._contenders if item.family == "netfc"]

    def _capture(self, lanes):
        """That of fp16 additions of random operands."""
        return self._traffic.make("fp16", "add", "random", lanes)

    def _measured(self, section, cases, measure):
        """What measure(case) returns, by the cases' names."""
        return {name: self._results.get(section, name, lambda case=case: measure(case))
                for name, case in cases.items()}

    def _by_engine_and_lanes(self, section, measure):
        """What measure(capture, lanes, engine) returns, by "engine, lanes"."""
        cases = {f"{engine}, {lanes}": (engine, lanes) for lanes in matrix.ENDS
                 for engine in self._engines}
        return self._measured(section, cases,
                              lambda case: measure(self._capture(case[1]), case[1], case[0]))

    def alone(self):
        """The match engines alone. Returns the TSC's frequency."""
        found = self._by_engine_and_lanes("alone", lambda capture, _, engine: alone.run(
            self._bench, capture, "fp16", engine, self._settings.passes))
        print_table("Least cycles per lane of fp16 additions without ports",
                    *tables.of(tables.ALONE, found))
        return next(iter(found.values()))["tsc_hz"]

    def compare(self, cell, tsc_hz):
        """One comparison."""
        taking_part = [item for item in self._contenders if cell.peers or item.family == "netfc"]
        capture = self._traffic.make(cell.format, cell.op, cell.operands, cell.lanes)
        done = self._results.get("switch", cell.title, lambda: {
            "cell": asdict(cell),
            "results": rounds.run(self._bench, taking_part, capture, cell, self._settings, tsc_hz)})
        print_table(cell.title, *tables.of(tables.COMPARISON, done["results"]))

    def traffic_mixes(self):
        """Packets that differ, in random order."""
        wanted = {mix.name: mix for mix in mixes.MIXES if mix.quick or self._extent != "quick"}
        found = self._measured("mixes", wanted, lambda mix: mixes.run(
            self._bench, self._contenders + self._polling, mix, self._settings))
        print_table("Traffic mixes, the worst for direct first",
                    *tables.of(tables.mixes_columns(found), tables.worst_first(found)))
        without_ports = {name: mix for name, mix in wanted.items() if not mix.bridge}
        parts = self._measured("mixes_alone", without_ports, lambda mix: alone.traffic_mix(
            self._bench, mixes.captures(mix, self._bench.folder)[0], "direct",
            self._settings.passes,
            mix.loaded()))
        print_table("Cycles per packet of direct by part of the work", *tables.parts(found, parts))

    def beside_bmv2(self):
        """The other software switch that runs P4 programs, where there is one."""
        packets = self._results.get("bmv2", "forward", lambda: bmv2.run(
            self._bench, self._traffic.frames("fp16", "add", "random", 1, contenders.BURST),
            self._settings.rounds))
        print(f"\n{bmv2.sentence(packets, page.direct_rate(self._results.data))}.")

    def instruction_sets(self):
        """The direct engine as on processors with shorter vectors."""
        cases = {f"{bits}, {table}": (bits, table) for bits in (128, 256, 512)
                 for table in (contenders.TABLES["fp16"], matrix.SMALL_TABLE)}
        found = self._measured("isas", cases, lambda case: alone.instruction_set(
            self._bench, self._capture(matrix.ENDS[-1]), *case, self._settings.passes))
        print_table("Least cycles per lane of the direct engine by length of vectors",
                    *tables.of(tables.ISAS, found))

    def more_lcores(self):
        """What a second lcore adds, and a fourth."""
        found = self._by_engine_and_lanes("lcores", lambda capture, _, engine: lcores.run(
            self._bench, capture, "fp16", engine, self._settings))
        print_table("More lcores, a receive queue each",
                    *tables.of(tables.LCORES, tables.by_lcores(found)))

    def latencies(self):
        """How long packets take."""
        found = self._by_engine_and_lanes("latency", lambda capture, lanes, engine: latency.run(
            self._bench, capture, lanes, "fp16", engine, self._settings.latency_s))
        print_table("Latency from receive to transmit burst, us", *tables.of(tables.LATENCY, found))

    def start_ups(self):
        """How long the switch takes to start."""
        found = self._measured("startup", dict(zip(self._engines, self._engines)),
                               lambda engine: startup.run(
            self._bench, engine, self._settings.rounds))
        print_table("Start and end with four table sets, s", *tables.of(tables.STARTUP, found))

    def all(self):
        """Everything that belongs to the extent."""
        if self._extent == "mixes":
            self.traffic_mixes()
            return
        tsc_hz = self.alone()
        for cell in CELLS[self._extent]():
            self.compare(cell, tsc_hz)
        self.traffic_mixes()
        self.beside_bmv2()
        if self._extent != "quick":
            self.instruction_sets()
            self.more_lcores()
            self.latencies()
            self.start_ups()


def command_line(words):
    """What a reader would type: scripts/bench itself adds the build folder."""
    if "--build" in words:
        at = words.index("--build")
        words = words[:at] + words[at + 2 :]
    return shlex.join(["scripts/bench", *words])


def choose_memory(parser, arguments):
    """Where all that run at the same time take their memory from."""
    together = contenders.megabytes(contenders.find(arguments.build))
    memory = machine.choose_memory(
        max(together, alone.MEGABYTES, startup.MEGABYTES), arguments.no_huge)
    if arguments.document and not memory.huge and not arguments.no_huge:
        parser.fail("--document wants hugepages, without which peers have other memory:"
                    f" {memory.sentence}; or give --no-huge")
    return memory


def measure(arguments, memory, results, settings):
    """Run, with a folder for what is needed meanwhile."""
    with tempfile.TemporaryDirectory(prefix="netfc-bench-") as folder:
        folder = pathlib.Path(folder)
        bench = contenders.Bench(arguments.build, memory, folder)
        traffic = Traffic(folder, arguments.build / "benchmark")
        Run(arguments.extent, results, bench, traffic, settings, arguments.poll).all()


def write_document(folder, numbers, extent="usual"):
    """performance.md and its figures, or only mixes added to it."""
    (page.add_processor if extent == "mixes" else page.write)(folder, numbers)
    print(f"\n{folder}/performance.md")


def main():
    """Measure, and write what is asked for."""
    parser, arguments = parsed()
    if arguments.numbers:
        numbers = json.loads(arguments.numbers.read_text(encoding="utf-8"))
        if "startup" not in numbers.get("done", {}):
            parser.fail(f"--numbers {arguments.numbers}: not of a whole run")
        write_document(arguments.document, numbers)
        return
    if not contenders.peers_installed():
        parser.fail("dpdk-testpmd is not there: install Debian's dpdk-dev")
    programs = parser.programs(arguments.build, *PROGRAMS)
    memory, settings = choose_memory(parser, arguments), SETTINGS[arguments.extent]
    if arguments.rounds is not None:
        settings = replace(settings, rounds=arguments.rounds)
    work = parser.kept(arguments.build)
    who = identity(programs, {**asdict(settings), "hugepages": memory.huge})
    results = Results(work / f"{arguments.extent}.json", who, arguments.resume)
    facts = machine.facts(ROOT, arguments.build)
    print(f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['kernel']}, DPDK {facts['dpdk']}")
    print(f"Memory: {memory.sentence}")
    print(f"Load average: {', '.join(f'{load:.2f}' for load in os.getloadavg())}")
    with parser.told():
        measure(arguments, memory, results, settings)
    results.data.update(
        machine=facts, memory=memory.sentence, command=command_line(sys.argv[1:]),
        date=time.strftime("%Y-%m-%d", time.gmtime()))
    results.save()
    write_json(arguments.json, results.data, indent=1)
    if arguments.document:
        write_document(arguments.document, results.data, arguments.extent)


if __name__ == "__main__":
    main()
