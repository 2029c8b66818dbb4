# SPDX-License-Identifier: BSD-3-Clause
"""Programs of others, unchanged, by MPI alone and with their reductions through the switch.

For each way: whether the program's own checks pass, or a checksum of what it printed; how many
reductions went where; and the time.
"""

import collections.abc
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import zlib

from benchmark.mpi.demo import SETTINGS
from benchmark.mpi.run import mpirun
from command import CommandLine, head, row, write_json
from switched import SWITCH_ADDRESS, Network

RANKS = 4
PATIENCE = 3600  # seconds
COUNTED = re.compile(r"(\d+) reductions through the switch, (\d+) left to MPI")
# A job for each communicator that a test suite may have at a time.
AGGREGATE = "digits=fp32+fp64,formats=fp32+fp64+int32+int64,jobs=40,slots=5120"
WAYS = {"MPI alone": {"NETFC_SWITCH": ""}, "the switch, nodes": {},
        "the switch, ranks": {"NETFC_MPI_SHARED_MEMORY": "0"}}
MELT = pathlib.Path("/usr/share/lammps/examples/melt/in.melt")
HPCC = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")


class TestNetwork(Network):
    """Exact sums of doubles need memory."""

    _memory = 2600


@dataclasses.dataclass(frozen=True)
class Program:
    """prepare: files into a folder.

    result: a word, of the folder and what was printed; None: it has failed.
    """

    name: str
    words: list[str]
    prepare: collections.abc.Callable
    result: collections.abc.Callable


def copied(path, name, edit=lambda text: text):
    """Puts an example into a folder, changed."""
    return lambda folder: (folder / name).write_text(edit(path.read_text(encoding="ascii")),
                                                     encoding="ascii")


def with_all_digits(text):
    """LAMMPS' example, with all digits of what it prints."""
    return text.replace("\nrun", "\nthermo_modify format float %.17g\nrun")


def thermo(_folder, printed):
    """A checksum of the table that LAMMPS prints."""
    found = re.search(r"\nStep .*?\nLoop time", printed, re.DOTALL)
    return f"{zlib.crc32(found[0].encode()):08x}" if found else None


def hpcc_checks(folder, _printed):
    """Whether all of its own checks have passed."""
    text = (folder / "hpccoutf.txt").read_text(encoding="ascii")
    return "passed" if "Success=1" in text and "FAILED" not in text else None


def programs(mpi4py):
    """All that are installed. mpi4py: the folder of its source, or None."""
    if MELT.exists():
        words = ["lmp", "-in", "in.melt", "-log", "none"]
        exact = copied(MELT, "in.melt", with_all_digits)
        yield Program("LAMMPS, melt, as printed", words, copied(MELT, "in.melt"), thermo)
        yield Program("LAMMPS, melt, 17 digits", words, exact, thermo)
        yield Program("LAMMPS, melt, 17 digits, ranks in another order",
                      [*words, "-reorder", "nth", "2"], exact, thermo)
    if HPCC.exists():
        yield Program("HPCC", ["hpcc"], copied(HPCC, "hpccinf.txt"), hpcc_checks)
    if mpi4py:
        # Started processes would need a network of their own.
        words = [sys.executable, str(mpi4py / "test" / "runtests.py"), "-q", "-e", "spawn", "-e",
                 "dynproc"]
        yield Program("mpi4py's tests", words, lambda folder: None,
                      lambda folder, printed: "passed")


def run(host, library, program, folder, environment):
    """Its result, how many reductions went where, seconds, and what went wrong."""
    program.prepare(folder)
    exported = {"NETFC_SWITCH": SWITCH_ADDRESS, "NETFC_MPI_VERBOSE": 1, "LD_PRELOAD": library,
                **environment}
    words = mpirun(RANKS, SETTINGS, exported, "--oversubscribe")
    begin = time.monotonic()
    done = subprocess.run(host.inside(*words, *program.words), cwd=folder, text=True,
                          capture_output=True, timeout=PATIENCE, check=False)
    seconds = time.monotonic() - begin
    counts = [sum(map(int, column)) for column in zip(*COUNTED.findall(done.stderr))] or [0, 0]
    result = program.result(folder, done.stdout) if done.returncode == 0 else None
    return result, counts, seconds, done.stderr


def show(options):
    """Prints the table; its cells, and what failed and why."""
    library = options.build / "lib" / "mpi" / "libnetfc-mpi-openmpi.so"
    print(head("program", "reductions by", "results", "through the switch", "left to MPI", "time"),
          flush=True)
    cells, failed = [], []
    with TestNetwork(options.build / "app" / "dpdk-netfc", ["ranks", "nobody"],
                     ["--aggregate", AGGREGATE]) as network:
        host = network.hosts["ranks"]
        host.ip("link", "set", "lo", "up")
        for program in programs(options.mpi4py and options.mpi4py.resolve()):
            for way, environment in WAYS.items():
                with tempfile.TemporaryDirectory(prefix="netfc-") as folder:
                    result, counts, seconds, errors = run(
                        host, library, program, pathlib.Path(folder), environment)
                cells.append((program.name, way, result, *counts, seconds))
                print(row(program.name, way, result or "failed", *counts, f"{seconds:.1f} s"),
                      flush=True)
                if result is None:
                    failed.append(f"{program.name}, {way}: {errors[-2000:]}")
    return cells, failed


def main():
    """The command line."""
    parser = CommandLine("bench mpi-programs", __doc__)
    parser.add_argument("--mpi4py", type=pathlib.Path, metavar="FOLDER",
                        help="the source of the installed release, which has its tests")
    options = parser.parse_args()
    with parser.in_namespaces():
        cells, failed = show(options)
    write_json(options.json, cells)
    if failed:
        parser.fail("\n".join(failed))


if __name__ == "__main__":
    main()
