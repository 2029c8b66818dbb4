# SPDX-License-Identifier: BSD-3-Clause
"""Times of MPI_Allreduce over links of limited speed: by the switch, by Open MPI's algorithms.

Each rank is in a network namespace of its own. Open MPI's ranks are joined by a bridge of the
kernel's, those whose reductions go through the switch by the switch. All share this machine's cores.
With --one-node, all ranks are on one node, without links, and share memory with the switch (memif).
"""

import dataclasses
import os
import pathlib
import re
import tempfile

from benchmark.allreduce.links import Switched, bridged
from benchmark.allreduce.paths import MEMIF, Wired
from benchmark.allreduce.team import worker_cores
from benchmark.allreduce.units import size_text, time_text
from command import ROOT, CommandLine, file_to_write, head, row, write_json
from programs import command
from switched import SWITCH_ADDRESS

AGENT = pathlib.Path(__file__).with_name("agent")
EXAMPLE = ROOT / "examples" / "mpi" / "allreduce.c"
LINE = re.compile(r"(\d+) bytes: median ([\d.]+) s, least ([\d.]+) s, results (\w+)")
PATIENCE = 600  # seconds
# Bytes, and how often.
TASKS = ((8, 300), (1024, 100), (16_384, 50), (131_072, 20), (1_000_000, 5), (10_000_000, 3))
QUICK_TASKS = ((8, 50), (1_000_000, 2))
SHOWN = (8, 1_000_000, 10_000_000)  # in tables
NODE_TASKS = ((8, 300), (4096, 300), (1_000_000, 20), (100_000_000, 5))
NODE_ROUNDS = 3
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
ALONE, *OTHERS = (Way(f"Open MPI, {name}", number) for number, name in enumerate(ALGORITHMS))
WAYS = (SWITCH, ALONE, *OTHERS)

# Of the ranks of one node: what each way sets.
NODE_WAYS = {"no switch": {"NETFC_SWITCH": ""}, "the node is a worker": {},
             "each rank is a worker": {"NETFC_MPI_SHARED_MEMORY": 0}, "Open MPI alone": None}


def mpirun(ranks, settings, exported, *more):
    """The words of the command line before the program; exported: the ranks' environment variables."""
    words = ["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "-n", ranks, *more]
    for name, value in settings.items():
        words += ["--mca", name, value]
    for name, value in exported.items():
        words += ["-x", f"{name}={value}"]
    return words


def network(build, way, ranks, mbit):
    """The hosts' network: a context manager."""
    if way is SWITCH:
        return Switched(build / "app" / "dpdk-netfc", ranks, mbit, 0.0)
    return bridged(ranks, mbit)


def launched(build, way, hosts, shift):
    """The words of the command line before the program."""
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
    return ["taskset", "-c", cores, *mpirun(len(hosts), settings, exported, "-H",
                                            ",".join(host.ipv4 for host in hosts))]


def run(folder, way, options, tasks, mbit):
    """Results of all shifts: for each length (median, least, checksum)."""
    results = {size: [] for size, _ in tasks}
    with network(options.build, way, options.ranks, mbit) as links:
        hosts = list(links.hosts.values())
        environment = {**os.environ, "TMPDIR": str(folder), "NETFC_NAMESPACES": " ".join(
            f"{host.ipv4}={host.name}" for host in hosts)}
        for host in hosts:
            host.ip("link", "set", "lo", "up")
        for shift in SHIFTS:
            said = hosts[0].run(
                *launched(options.build, way, hosts, shift), folder / "allreduce", options.type,
                *(word for task in tasks for word in task), env=environment, patience=PATIENCE)
            for size, median, least, bits in LINE.findall(said):
                results[int(size)].append((float(median), float(least), bits))
    return results


def launched_on_node(build, network, ranks, environment, shift):
    """The words of the command line before the program. environment: of NODE_WAYS."""
    exported = {}
    if environment is not None:
        exported = {"LD_PRELOAD": build / "lib" / "mpi" / "libnetfc-mpi-openmpi.so",
                    "NETFC_SWITCH": network.address,
                    "NETFC_MPI_INTERFACE": f"memif:{network.folder}/memif,id=0-{ranks - 1}",
                    "NETFC_MPI_BIND_ADDRESS": network.hosts[0].ipv4, **environment}
    return mpirun(ranks, {"btl": "self,vader", "pml": "ob1"}, {**exported, "NETFC_SHIFT": shift},
                  "--oversubscribe")


def run_on_node(network, program, environment, options, tasks):
    """Results of all shifts, as of run(). environment: of NODE_WAYS."""
    results = {size: [] for size, _ in tasks}
    for shift in SHIFTS:
        said = network.hosts[0].run(
            *launched_on_node(options.build, network, options.ranks, environment, shift),
            program, options.type, *(word for task in tasks for word in task), patience=PATIENCE)
        for size, median, least, bits in LINE.findall(said):
            results[int(size)].append((float(median), float(least), bits))
    return results


def show_node(options, program):
    """Measures all ways in turns, and prints; figures by the way."""
    tasks = NODE_TASKS[:2] if options.quick else NODE_TASKS
    sizes = [size for size, _ in tasks]
    measured = {name: {size: [] for size in sizes} for name in NODE_WAYS}
    with Wired(options.build / "app" / "dpdk-netfc", options.ranks, MEMIF, "digits=fp32+fp64",
               "slots=128") as network:
        for name in list(NODE_WAYS) * (1 if options.quick else NODE_ROUNDS):
            results = run_on_node(network, program, NODE_WAYS[name], options, tasks)
            for size in sizes:
                measured[name][size] += results[size]
    print(f"\nOne node, {options.ranks} ranks, {options.type}\n")
    print(table(measured, sizes))
    return measured


def figure(size, results):
    """Of short ones the median of a run, of long ones the least: other work only adds."""
    return min(median if size < 100_000 else least for median, least, _ in results)


def table(measured, sizes):
    """Lines of Markdown: a row for each way."""
    lines = [head("", *map(size_text, sizes), "same bits if ranks change places")]
    for name, results in measured.items():
        cells = [time_text(figure(size, results[size])) for size in sizes]
        same = all(len({bits for *_, bits in results[size]}) == 1 for size in sizes)
        lines.append(row(name, *cells, "yes" if same else "no"))
    return "\n".join(lines)


def shares(measured, sizes):
    """The switch's time over that of the best other way, for each length."""
    for size in sizes:
        others = [figure(size, results[size]) for name, results in measured.items()
                  if name != SWITCH.name]
        if others and SWITCH.name in measured:
            yield size, figure(size, measured[SWITCH.name][size]) / min(others)


def show(options):
    """Measures and prints; figures by the links' speed and the way."""
    tasks = QUICK_TASKS if options.quick else TASKS
    sizes, figures = [size for size, _ in tasks if size in SHOWN], {}
    with tempfile.TemporaryDirectory(prefix="netfc-") as folder:
        folder = pathlib.Path(folder)
        command("mpicc.openmpi", "-O2", "-o", folder / "allreduce", EXAMPLE, "-lm")
        if options.one_node:
            return show_node(options, folder / "allreduce")
        for mbit in options.mbit or (100, 1000):
            measured = {way.name: run(folder, way, options, tasks, mbit)
                        for way in (WAYS[:2] if options.quick else WAYS)}
            figures[mbit] = measured
            print(f"\nLinks of {mbit} Mbit/s, {options.ranks} ranks, {options.type}\n")
            print(table(measured, sizes) + "\n")
            for size, share in shares(measured, sizes):
                print(f"{size_text(size)}: {share:.2f} of the best other time")
    return figures


def check(parser, options):
    """What does not go together."""
    if options.ranks < 2 and not options.one_node:
        parser.error(f"--ranks {options.ranks}: 2 or more, one on each node")


def main():
    """The command line."""
    parser = CommandLine("bench mpi", __doc__, check)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--type", choices=("float", "double"), default="double")
    parser.add_argument("--mbit", type=int, action="append", help="of links: 100 and 1000")
    parser.add_argument("--one-node", action="store_true",
                        help="all ranks on one node, with a switch there and without")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--plot", type=file_to_write, metavar="FILE.svg", help="draw all lengths")
    options = parser.parse_args()
    with parser.in_namespaces():
        figures = show(options)
    write_json(options.json, figures)
    if options.plot and not options.one_node:
        from benchmark.mpi.plot import plot  # the rest needs no matplotlib
        plot(figures, options.plot)


if __name__ == "__main__":
    main()
