# SPDX-License-Identifier: BSD-3-Clause
"""Count the instructions of the switch's data path, and compare them with the recorded figures.

Instructions are the same on an idle and on a busy machine, so that they show a slow-down of a few
per cent where a clock cannot. valgrind's callgrind counts those between a burst's arrival and its
departure, the device's own not among them.
"""

import json
import os
import pathlib
import re
import sys
import tempfile

import programs
from benchmark.matrix import full_lanes
from benchmark.measure import mixes, tables
from benchmark.measure.traffic import Traffic
from benchmark.peers import contenders
from command import ROOT, CommandLine, write_json
from netfc import capture

FIGURES = ROOT / "tests" / "golden" / "instructions.json"
BURST = contenders.BURST
FUNCTION = "handle_burst"
TOLERANCE = 0.03
NOT_COMPARABLE = 77  # exit status; Meson and Automake take it for a skipped test
LANES = (1, 243)
BETWEEN = (4, 40)  # gathered with others; in place, not a multiple of a vector
OPS = ("add", "sub", "mul", "div")
# An rte_lpm of few rules is made quickly, even by valgrind; looking up takes the same instructions.
SETS = {"lpm": "fp16_k8"}
USUAL_SET, BYTE_SET = contenders.SETS["fp16"], contenders.SETS["fp8_e4m3"]
FUNCTIONS = ("rsqrt",)
CASES = [
    *(("fp16", op, "random", lanes) for lanes in LANES for op in OPS),
    *(("fp16", "add", "random", lanes) for lanes in BETWEEN),
    ("fp16", "add", "gradients", LANES[-1]),
    *(("fp16", op, "random", lanes) for lanes in LANES for op in (*FUNCTIONS, "min", "fma")),
    *(("fp8_e4m3", op, "random", lanes) for lanes in (1, full_lanes("fp8_e4m3"))
      for op in ("add", "mul", "min", "fma")),
]


# Packets that differ; by their names in measure/mixes.py.
MIXES = (
    "random operation",
    "IPv6 in a VLAN, random operation",
    "random operation, 1 to 8 lanes",
    "half TCP, half add",
)


def case_name(form, op, operands, lanes):
    """For people and for the file; fp16 goes without saying."""
    what = op if form == "fp16" else f"{form} {op}"
    return f"{what}, {operands}, {lanes} lane{'' if lanes == 1 else 's'}"


MIXED = [mix for mix in mixes.MIXES if mix.name in MIXES]
NAMES = [*(case_name(*case) for case in CASES), *(mix.name for mix in MIXED)]  # of what is counted


def write_bursts(path, kept):
    """A capture of two equal bursts per case: the first, which does not count, warms up."""
    maker = Traffic(path.parent, kept)
    bursts = [list(maker.frames(*case, BURST)) for case in CASES]
    bursts += [mixes.frames(mix, BURST) for mix in MIXED]
    capture.write(path, [frame for burst in bursts for frame in 2 * burst])


def run_switch(build, engine, bursts, folder):
    """The switch in callgrind, which writes a file of counts after each burst."""
    programs.command(
        *("valgrind", "--vgdb=no", "--tool=callgrind", f"--callgrind-out-file={folder}/counts"),
        *(f"--toggle-collect={FUNCTION}", f"--dump-after={FUNCTION}", build / "app" / "dpdk-netfc"),
        *programs.eal(f"count-{engine}", programs.no_huge(768), f"0@{min(os.sched_getaffinity(0))}",
                      f"--vdev=net_pcap0,rx_pcap={bursts}"),
        *("--", "--match", engine, "--tables", ",".join((SETS.get(engine, USUAL_SET), BYTE_SET))),
        *("--functions", ",".join(FUNCTIONS), "--tables-dir", build / "tables"),
        *("--idle-exit", "1"),
        # What the dynamic linker does at the first call of a function is not the data path's.
        env={**os.environ, "LD_BIND_NOW": "1", "XDG_RUNTIME_DIR": str(folder)}, patience=None,
    )


def count_engine(build, engine, bursts):
    """Instructions by case."""
    with tempfile.TemporaryDirectory(prefix="netfc-") as folder:
        run_switch(build, engine, bursts, folder)
        counts = []
        for number in range(1, 2 * len(NAMES) + 1):
            path = pathlib.Path(folder) / f"counts.{number}"
            if not path.exists():
                raise programs.CommandError(f"{engine}: callgrind has seen {number - 1} calls of {FUNCTION}")
            counts.append(int(re.search(r"^totals: (\d+)", path.read_text(), re.MULTILINE)[1]))
    return dict(zip(NAMES, counts[1::2]))


def count(build, kept):
    """Instructions of a burst by engine and case."""
    with tempfile.TemporaryDirectory(prefix="netfc-") as folder:
        bursts = pathlib.Path(folder) / "bursts"
        write_bursts(bursts, kept)
        return {engine: count_engine(build, engine, bursts) for engine in contenders.engines(build)}


def compare(recorded, counted):
    """Sentences about what has become slower, what has become faster, and what is not recorded."""
    slower, faster, unknown = [], [], []
    for engine, cases in counted.items():
        for case, new in cases.items():
            old = recorded.get(engine, {}).get(case)
            if old is None:
                unknown.append(f"{engine}, {case}: {new} instructions a burst, nothing recorded")
                continue
            change = new / old - 1
            text = f"{engine}, {case}: {old} -> {new} instructions a burst ({change:+.1%})"
            if change > TOLERANCE:
                slower.append(text)
            elif change < -TOLERANCE:
                faster.append(text)
    return slower, faster, unknown


def compiler():
    """What the figures depend on besides the code."""
    return programs.command("gcc", "--version").split("\n", maxsplit=1)[0]


def table(counted):
    """One line a case: instructions per packet and per lane of each engine."""
    lanes_of = {case_name(*case): case[-1] for case in CASES}
    rows = []
    for name in NAMES:
        packets, lanes = [cases[name] / BURST for cases in counted.values()], lanes_of.get(name)
        rows.append([name, *(cell for packet in packets for cell in (
            f"{packet:,.1f}", f"{packet / lanes:,.2f}" if lanes else ""))])
    return ["",
            *(f"{engine} per {what}" for engine in counted for what in ("packet", "lane"))], rows


def update(counted):
    """Record what was counted."""
    figures = {"compiler": compiler(), "packets": BURST, "instructions": counted}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="ascii")
    print(f"{FIGURES.relative_to(ROOT)} written")


def check(counted):
    """Compare, and say what differs. Returns the exit status."""
    figures = json.loads(FIGURES.read_text(encoding="ascii"))
    slower, faster, unknown = compare(figures["instructions"], counted)
    for title, sentences in (("Fewer instructions than recorded; record them", faster),
                             ("More instructions than recorded", slower),
                             ("Not recorded", unknown)):
        for sentence in sentences:
            print(f"{title}: {sentence}")
    if not slower and not unknown:
        print(f"No more instructions than recorded, but for {TOLERANCE:.0%}.")
        return 0
    print("If it is meant to be: scripts/count-instructions --update")
    return 1


def why_not_comparable():
    """Why the recorded figures say nothing here; empty if they do."""
    recorded = json.loads(FIGURES.read_text(encoding="ascii"))["compiler"]
    if compiler() != recorded:
        return f"recorded with {recorded}, counted with {compiler()}"
    if not re.search(r"^flags.*\bavx2\b", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE):
        return "recorded with AVX2, which this processor does not have"
    return ""


def main():
    """Count, and compare or record."""
    parser = CommandLine("count-instructions", __doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--update", action="store_true", help="record what is counted")
    arguments = parser.parse_args()
    parser.programs(arguments.build, "dpdk-netfc")
    kept = parser.kept(arguments.build)
    with parser.told():
        counted = count(arguments.build, kept)
    write_json(arguments.json, counted)
    for line in tables.aligned(*table(counted)):
        print(line)
    if arguments.update:
        update(counted)
    elif why_not_comparable():
        print(why_not_comparable())
        sys.exit(NOT_COMPARABLE)
    else:
        sys.exit(check(counted))


if __name__ == "__main__":
    main()
