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
from dataclasses import asdict, dataclass, replace

from benchmark import machine, matrix
from benchmark.measure import alone, latency, lcores, mixes, rounds, startup, tables
from benchmark.measure.traffic import Traffic
from benchmark.peers import bmv2, contenders
from benchmark.report import page
from benchmark.results import Results, identity
from programs import ProgramError

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("dpdk-netfc", "netfc-bench")


@dataclass(frozen=True)
class Settings:
    """How it is measured."""

    rounds: int  # of each comparison
    seconds: float  # of each sample
    passes: int  # of netfc-bench --time
    latency_s: float


SETTINGS = {
    "quick": Settings(rounds=3, seconds=0.1, passes=5, latency_s=1),
    "mixes": Settings(rounds=5, seconds=0.1, passes=31, latency_s=1),
    "usual": Settings(rounds=5, seconds=0.1, passes=31, latency_s=1),
    "full": Settings(rounds=5, seconds=0.2, passes=31, latency_s=1),
}
CELLS = {"quick": matrix.quick, "usual": matrix.usual, "full": matrix.full}


def positive(text):
    """A number of at least 1."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


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
        help="1 and 243 lanes of one format and operation, three traffic mixes, few rounds: under a minute",
    )
    size.add_argument(
        "--full",
        dest="extent",
        action="store_const",
        const="full",
        help="every format, operation, kind of operands and number of lanes: half an hour",
    )
    size.add_argument(
        "--mixes",
        dest="extent",
        action="store_const",
        const="mixes",
        help="traffic mixes alone; with --document they are added to what is there: three minutes",
    )
    parser.add_argument("--rounds", type=positive, metavar="N", help="rounds of each comparison (default 5)")
    parser.add_argument(
        "--no-huge", action="store_true", help="no hugepages, even if there are free ones"
    )
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all results")
    parser.add_argument(
        "--document",
        type=pathlib.Path,
        nargs="?",
        const=ROOT / "docs",
        metavar="FOLDER",
        help="write performance.md and its figures there (default docs/)",
    )
    parser.add_argument(
        "--numbers",
        type=pathlib.Path,
        metavar="FILE",
        help="measure nothing: make the document of what --json, or the document, has kept",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on where the last run with the same programs and settings was stopped",
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="build folder")
    arguments = parser.parse_args()
    if arguments.numbers and not arguments.document:
        parser.error("--numbers: only with --document")
    if arguments.document and arguments.extent == "quick":
        parser.error("--document: --quick does not measure enough for it")
    if arguments.document and arguments.extent == "mixes" and not page.numbers(arguments.document).exists():
        parser.error(
            f"--mixes --document: no {page.numbers(arguments.document)} to add to:"
            " scripts/bench --document makes it"
        )
    return arguments


def print_table(title, head, rows):
    """A table, as soon as it is there."""
    print(f"\n{title}")
    for line in tables.aligned(head, rows):
        print(f"  {line}")
    sys.stdout.flush()


class Run:
    """One run of the benchmark: measures what results do not have yet, and prints it."""

    def __init__(self, extent, results, bench, traffic, settings):
        self._extent, self._results, self._settings = extent, results, settings
        self._bench, self._traffic = bench, traffic
        self._contenders = contenders.find(bench.build)

    @property
    def engines(self):
        """Names of the match engines."""
        return [item.mode for item in self._contenders if item.family == "netfc"]

    def _capture(self, lanes):
        """That of fp16 additions of random operands."""
        return self._traffic.make("fp16", "add", "random", lanes)

    def alone(self):
        """The match engines alone. Returns the TSC's frequency."""

        def measure(engine, lanes):
            return alone.run(
                self._bench, self._capture(lanes), "fp16", engine, self._settings.passes
            )

        found = self._by_engine_and_lanes("alone", measure)
        print_table(
            "Least cycles per lane of fp16 additions without ports", tables.ALONE,
            tables.alone(found),
        )
        return next(iter(found.values()))["tsc_hz"]

    def instruction_sets(self):
        """The direct engine as on processors with shorter vectors."""
        capture = self._capture(matrix.ENDS[-1])
        found = {}
        for bits in (128, 256, 512):
            for table in (contenders.TABLES["fp16"], matrix.SMALL_TABLE):
                found[f"{bits}, {table}"] = self._results.get(
                    "isas", f"{bits}, {table}",
                    lambda bits=bits, table=table: alone.instruction_set(
                        self._bench, capture, bits, table, self._settings.passes
                    ),
                )
        print_table(
            "Least cycles per lane of the direct engine by length of vectors", tables.ISAS,
            tables.isas(found),
        )

    def compare(self, cell, tsc_hz):
        """One comparison."""
        taking_part = [
            item for item in self._contenders if cell.peers or item.family == "netfc"
        ]
        capture = self._traffic.make(cell.format, cell.op, cell.operands, cell.lanes)

        def measure():
            results = rounds.run(
                self._bench, taking_part, capture, cell, self._settings, tsc_hz
            )
            return {"cell": cell.facts(), "results": results}

        done = self._results.get("switch", cell.title, measure)
        print_table(cell.title, tables.COMPARISON, tables.comparison(done["results"]))

    def traffic_mixes(self):
        """Packets that differ, in random order."""
        found = {
            mix.name: self._results.get(
                "mixes", mix.name,
                lambda mix=mix: mixes.run(self._bench, self._contenders, mix, self._settings),
            )
            for mix in mixes.MIXES
            if mix.quick or self._extent != "quick"
        }
        head = tables.mixes_head([contender.name for contender in self._contenders])
        print_table("Traffic mixes, the worst for direct first", head, tables.mixes(found))
        parts = {
            mix.name: self._results.get(
                "mixes_alone", mix.name, lambda mix=mix: self._mix_alone(mix),
            )
            for mix in mixes.MIXES
            if mix.name in found and not mix.bridge
        }
        print_table(
            "Cycles per packet of direct by part of the work", tables.PARTS,
            tables.parts(found, parts),
        )

    def _mix_alone(self, mix):
        """A mix through the direct engine's pipeline, without ports."""
        capture = mixes.captures(mix, self._bench.folder)[0]
        return alone.traffic_mix(
            self._bench, capture, "direct", self._settings.passes, mix.loaded()
        )

    def beside_bmv2(self):
        """The other software switch that runs P4 programs, where there is one."""
        packets = self._results.get(
            "bmv2",
            "forward",
            lambda: bmv2.run(
                self._bench,
                self._traffic.frames("fp16", "add", "random", 1, contenders.BURST),
                self._settings.rounds,
            ),
        )
        print(f"\n{bmv2.sentence(packets, page.direct_rate(self._results.data))}.")

    def _by_engine_and_lanes(self, section, measure):
        """What measure(engine, lanes) returns, by "engine, lanes"."""
        return {
            f"{engine}, {lanes}": self._results.get(
                section, f"{engine}, {lanes}", lambda engine=engine, lanes=lanes: measure(engine, lanes)
            )
            for lanes in matrix.ENDS
            for engine in self.engines
        }

    def more_lcores(self):
        """What a second lcore adds, and a fourth."""

        def measure(engine, lanes):
            return lcores.run(self._bench, self._capture(lanes), "fp16", engine, self._settings)

        found = self._by_engine_and_lanes("lcores", measure)
        print_table("More lcores, a receive queue each", tables.LCORES, tables.lcores(found))

    def latencies(self):
        """How long packets take."""

        def measure(engine, lanes):
            seconds, capture = self._settings.latency_s, self._capture(lanes)
            return latency.run(self._bench, capture, lanes, "fp16", engine, seconds)

        found = self._by_engine_and_lanes("latency", measure)
        print_table(
            "Latency from receive to transmit burst, us", tables.LATENCY, tables.latency(found)
        )

    def start_ups(self):
        """How long the switch takes to start."""
        found = {
            engine: self._results.get(
                "startup",
                engine,
                lambda engine=engine: startup.run(self._bench, engine, self._settings.rounds),
            )
            for engine in self.engines
        }
        print_table(
            "Start and end with four table sets, s", tables.STARTUP, tables.startup(found)
        )

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


def settings_of(arguments):
    """How to measure."""
    settings = SETTINGS[arguments.extent]
    if arguments.rounds is None:
        return settings
    return replace(settings, rounds=arguments.rounds)


def check_programs(build):
    """Fails where something to measure is missing."""
    if not contenders.peers_installed():
        sys.exit("scripts/bench: dpdk-testpmd is not there: install Debian's dpdk-dev")
    missing = [name for name in PROGRAMS if not (build / "app" / name).exists()]
    if missing:
        sys.exit(f"scripts/bench: no {' or '.join(missing)} in {build}/app: build it first")


def command_line(words):
    """What a reader would type: scripts/bench itself adds the build folder."""
    if "--build" in words:
        at = words.index("--build")
        words = words[:at] + words[at + 2 :]
    return shlex.join(["scripts/bench", *words])


def choose_memory(arguments):
    """Where all that run at the same time take their memory from."""
    if arguments.no_huge:
        return machine.Memory(False, "pages of 4 KB, as asked for")
    together = contenders.megabytes(contenders.find(arguments.build))
    memory = machine.choose_memory(max(together, alone.MEGABYTES, startup.MEGABYTES))
    if arguments.document and not memory.huge:
        sys.exit(
            "scripts/bench: --document wants hugepages, without which peers have other memory:"
            f" {memory.sentence}; or give --no-huge"
        )
    return memory


def measure(arguments, memory, results, settings):
    """Run, with a folder for what is needed meanwhile."""
    with tempfile.TemporaryDirectory(prefix="netfc-bench-") as folder:
        folder = pathlib.Path(folder)
        bench = contenders.Bench(arguments.build, memory, folder)
        traffic = Traffic(folder, arguments.build / "benchmark")
        Run(arguments.extent, results, bench, traffic, settings).all()


def write_document(folder, numbers, extent="usual"):
    """performance.md and its figures, or only mixes added to it."""
    if extent == "mixes":
        page.add_processor(folder, numbers)
    else:
        page.write(folder, numbers)
    print(f"\n{folder}/performance.md")


def main():
    """Measure, and write what is asked for."""
    arguments = parse_arguments()
    if arguments.numbers:
        numbers = json.loads(arguments.numbers.read_text(encoding="utf-8"))
        if "startup" not in numbers.get("done", {}):
            sys.exit(f"scripts/bench: --numbers {arguments.numbers}: not of a whole run")
        write_document(arguments.document, numbers)
        return
    arguments.build = arguments.build.resolve()
    check_programs(arguments.build)
    settings, memory = settings_of(arguments), choose_memory(arguments)
    work = arguments.build / "benchmark"
    work.mkdir(exist_ok=True)
    programs = [arguments.build / "app" / name for name in PROGRAMS]
    who = identity(programs, {**asdict(settings), "hugepages": memory.huge})
    results = Results(work / f"{arguments.extent}.json", who, arguments.resume)
    facts = machine.facts(ROOT, arguments.build)
    print(f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['kernel']}, DPDK {facts['dpdk']}")
    print(f"Memory: {memory.sentence}")
    print(f"Load average: {', '.join(f'{load:.2f}' for load in os.getloadavg())}")
    try:
        measure(arguments, memory, results, settings)
    except ProgramError as error:
        sys.exit(f"scripts/bench: {error}")
    results.data.update(
        machine=facts,
        memory=memory.sentence,
        command=command_line(sys.argv[1:]),
        date=time.strftime("%Y-%m-%d", time.gmtime()),
    )
    results.save()
    if arguments.json:
        arguments.json.write_text(json.dumps(results.data, indent=1), encoding="utf-8")
    if arguments.document:
        write_document(arguments.document, results.data, arguments.extent)


if __name__ == "__main__":
    main()
