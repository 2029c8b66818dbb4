# SPDX-License-Identifier: BSD-3-Clause
"""Times of MPI_Allreduce over links of limited speed: by the switch, by Open MPI's algorithms.

Each rank is in a network namespace of its own. Open MPI's ranks are joined by a bridge of the
kernel's, those whose reductions go through the switch by the switch. All share this machine's cores.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import namespaces
from benchmark.allreduce.links import Bridged, Switched
from benchmark.allreduce.run import worker_cores
from namespaces import CommandError
from switched import SWITCH_ADDRESS

ROOT = pathlib.Path(__file__).resolve().parents[3]
AGENT = pathlib.Path(__file__).with_name("agent")
EXAMPLE = ROOT / "examples" / "mpi" / "allreduce.c"
LINE = re.compile(r"(\d+) bytes: median ([\d.]+) s, least ([\d.]+) s, results (\w+)")
PATIENCE = 600  # seconds
# Bytes, and how often.
TASKS = ((8, 300), (1000, 100), (10_000, 50), (100_000, 20), (1_000_000, 5), (10_000_000, 3))
SHOWN = (8, 1_000_000, 10_000_000)  # in tables
SHIFTS = (0, 1)  # of what ranks give: the exact sums are the same
# coll_tuned_allreduce_algorithm; 0: Open MPI chooses, by the length.
ALGORITHMS = ("as it chooses", "linear", "non-overlapping", "recursive doubling", "ring",
              "segmented ring", "Rabenseifner")


@dataclasses.dataclass(frozen=True)
class Way:
    """Of reducing: by the switch, or by an algorithm of Open MPI's."""

    name: str
    algorithm: int | None = None


SWITCH = Way("the switch")
WAYS = (SWITCH, *(Way(f"Open MPI, {name}", number) for number, name in enumerate(ALGORITHMS)))


def compile_example(folder):
    """Makes the example's program."""
    namespaces.command("mpicc.openmpi", "-O2", "-o", folder / "allreduce", EXAMPLE, "-lm")


def network(build, way, ranks, mbit):
    """The hosts' network: a context manager."""
    if way is SWITCH:
        return Switched(build / "app" / "dpdk-netfc", ranks, mbit, 0.0)
    return Bridged(ranks, mbit, 0.0)


def mpirun(build, folder, way, hosts, shift):
    """The words of the command line before the program, and the environment."""
    environment = {**os.environ, "TMPDIR": str(folder), "NETFC_NAMESPACES": " ".join(
        f"{host.ipv4}={host.name}" for host in hosts)}
    settings = {"plm_rsh_agent": AGENT, "btl": "tcp,self", "pml": "ob1",
                "mpi_yield_when_idle": 1}
    exported = {"NETFC_SHIFT": shift}
    if way is SWITCH:
        exported["LD_PRELOAD"] = build / "lib" / "mpi" / "libnetfc-mpi-openmpi.so"
        exported["NETFC_SWITCH"] = SWITCH_ADDRESS
    else:
        settings["coll_tuned_use_dynamic_rules"] = 1
        settings["coll_tuned_allreduce_algorithm"] = way.algorithm
    cores = ",".join(map(str, worker_cores("netfc" if way is SWITCH else "openmpi")))
    words = ["taskset", "-c", cores, "mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none",
             "-n", len(hosts),
             "-H", ",".join(host.ipv4 for host in hosts)]
    for name, value in settings.items():
        words += ["--mca", name, value]
    for name, value in exported.items():
        words += ["-x", f"{name}={value}"]
    return [str(word) for word in words], environment


def run(build, folder, way, options, mbit):
    """Results of all shifts: for each length (median, least, checksum)."""
    tasks = [str(word) for task in options.tasks for word in task]
    results = {size: [] for size, _ in options.tasks}
    with network(build, way, options.ranks, mbit) as links:
        hosts = links.hosts if way is not SWITCH else list(links.hosts.values())
        for host in hosts:
            host.ip("link", "set", "lo", "up")
        for shift in SHIFTS:
            words, environment = mpirun(build, folder, way, hosts, shift)
            done = subprocess.run(
                ["ip", "netns", "exec", hosts[0].name, *words, folder / "allreduce", options.type,
                 *tasks],
                env=environment, text=True, capture_output=True, timeout=PATIENCE, check=False)
            if done.returncode != 0:
                raise CommandError(f"{way.name}: {done.stderr}")
            for size, median, least, bits in LINE.findall(done.stdout):
                results[int(size)].append((float(median), float(least), bits))
    return results


def figure(size, results):
    """Of short ones the median of a run, of long ones the least: other work only adds."""
    return min(median if size < 100_000 else least for median, least, _ in results)


def time_text(seconds):
    """For people."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.2f} ms"


def size_text(size):
    """For people."""
    for unit, name in ((1_000_000, "MB"), (1000, "kB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} bytes"


def table(measured, sizes):
    """Lines of Markdown: a row for each way."""
    lines = ["| | " + " | ".join(map(size_text, sizes)) + " | same bits if ranks change places |",
             "|---" * (len(sizes) + 2) + "|"]
    for name, results in measured.items():
        cells = [time_text(figure(size, results[size])) for size in sizes]
        same = all(len({bits for *_, bits in results[size]}) == 1 for size in sizes)
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {'yes' if same else 'no'} |")
    return "\n".join(lines)


def shares(measured, sizes):
    """The switch's time over that of the best other way, for each length."""
    for size in sizes:
        others = [figure(size, results[size]) for name, results in measured.items()
                  if name != SWITCH.name]
        if others and SWITCH.name in measured:
            yield size, figure(size, measured[SWITCH.name][size]) / min(others)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(prog="mpi-bench", description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--type", choices=("float", "double"), default="double")
    parser.add_argument("--mbit", type=int, action="append", help="of links: 100 and 1000")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--plot", type=pathlib.Path, metavar="FILE.svg", help="draw all lengths")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args()
    options.tasks = TASKS if not options.quick else ((8, 50), (1_000_000, 2))
    reason = namespaces.why_not()
    if reason:
        sys.exit(f"mpi-bench: {reason}")
    sizes = [size for size, _ in options.tasks if size in SHOWN]
    figures = {}
    try:
        with tempfile.TemporaryDirectory(prefix="netfc-") as folder:
            compile_example(pathlib.Path(folder))
            for mbit in options.mbit or (100, 1000):
                measured = {way.name: run(options.build.resolve(), pathlib.Path(folder), way,
                                              options, mbit)
                            for way in (WAYS[:2] if options.quick else WAYS)}
                figures[mbit] = measured
                print(f"\nLinks of {mbit} Mbit/s, {options.ranks} ranks, {options.type}\n")
                print(table(measured, sizes) + "\n")
                for size, share in shares(measured, sizes):
                    print(f"{size_text(size)}: {share:.2f} of the best other time")
    except (CommandError, subprocess.TimeoutExpired) as error:
        sys.exit(f"mpi-bench: {error}")
    if options.plot:
        from benchmark.mpi.plot import plot  # the rest needs no matplotlib
        plot(figures, [size for size, _ in options.tasks], options.plot)
    if options.json:
        options.json.write_text(json.dumps(figures) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
