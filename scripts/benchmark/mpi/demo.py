# SPDX-License-Identifier: BSD-3-Clause
"""One solver, one set of numbers: how many different results, by the order of additions.

examples/mpi/cg.c, unchanged, by each of Open MPI's algorithms of MPI_Allreduce and through the
switch, with the ranks in each of some orders; and with dot products that are exact over all ranks,
which have the same bits for any number of ranks.
"""

import re

from benchmark.mpi.run import ALGORITHMS, mpirun
from command import ROOT, CommandLine, head, row, write_json
from programs import command
from switched import SWITCH_ADDRESS, Network

EXAMPLE = ROOT / "examples" / "mpi" / "cg.c"
RESULT = re.compile(r"residual (\S+) ([0-9a-f]{16})")
STEPS = 150
SHIFTS = 3  # orders of ranks
SETTINGS = {"btl": "self,vader", "pml": "ob1", "mpi_yield_when_idle": 1,
            "coll_tuned_use_dynamic_rules": 1}


def solve(host, program, ranks, shift, algorithm=0, **exported):
    """The bits of the residual. exported: further environment variables of the ranks."""
    settings = {**SETTINGS, "coll_tuned_allreduce_algorithm": algorithm}
    said = host.run(*mpirun(ranks, settings, {**exported, "NETFC_SHIFT": shift}, "--oversubscribe"),
                    program, STEPS)
    return int(RESULT.search(said)[2], 16)


def row_of(name, ranks, results):
    """A line of Markdown: how many results, and how far apart in units in the last place."""
    spread = max(results) - min(results)
    return row(ranks, name, len(results), len(set(results)), spread)


def show(host, program, ranks, library):
    """Prints the rows for so many ranks; the switch's results."""
    shifts = range(min(SHIFTS, ranks))
    own = [solve(host, program, ranks, shift, algorithm)
           for algorithm in range(1, len(ALGORITHMS)) for shift in shifts]
    print(row_of("Open MPI's 6 algorithms", ranks, own), flush=True)
    through_switch = [solve(host, program, ranks, shift, LD_PRELOAD=library,
                            NETFC_SWITCH=SWITCH_ADDRESS) for shift in shifts]
    print(row_of("the switch", ranks, through_switch), flush=True)
    return through_switch


def show_exact(host, program, numbers):
    """Prints the row of exact dot products over all ranks, whatever their number; the results."""
    results = [solve(host, program, ranks, shift, NETFC_SWITCH=SWITCH_ADDRESS)
               for ranks in numbers for shift in range(min(SHIFTS, ranks))]
    print(row_of("netfc_allreduce_dot()", ", ".join(map(str, numbers)), results), flush=True)
    return results


def show_all(options):
    """Prints the table; the switch's results by the number of ranks."""
    print(head("ranks", "sums by", "runs", "different results",
               "units in the last place between them"), flush=True)
    allreduce = options.build / "lib" / "allreduce"
    library = options.build / "lib" / "mpi" / "libnetfc-mpi-openmpi.so"
    numbers = options.ranks or (2, 4, 8)
    with Network(options.build / "app" / "dpdk-netfc", ["ranks", "nobody"],
                 ["--aggregate", "digits=fp32+fp64"]) as network:
        program, exact = network.folder / "cg", network.folder / "cg-exact"
        command("mpicc.openmpi", "-O2", "-o", program, EXAMPLE, "-lm")
        command("mpicc.openmpi", "-O2", "-DEXACT", "-o", exact, EXAMPLE, "-lm",
                f"-I{ROOT}/lib/allreduce", f"-L{allreduce}", f"-Wl,-rpath,{allreduce}",
                "-lnetfc-allreduce")
        host = network.hosts["ranks"]
        host.ip("link", "set", "lo", "up")
        results = {ranks: show(host, program, ranks, library) for ranks in numbers}
        return {**results, "any": show_exact(host, exact, numbers)}


def main():
    """The command line."""
    parser = CommandLine("demo mpi", __doc__)
    parser.add_argument("--ranks", type=int, most=64, action="append", help="2, 4 and 8")
    options = parser.parse_args()
    with parser.in_namespaces():
        results = show_all(options)
    write_json(options.json, results)
    if any(len(set(some)) > 1 for some in results.values()):
        parser.fail("results through the switch differ")


if __name__ == "__main__":
    main()
