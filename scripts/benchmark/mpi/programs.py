# SPDX-License-Identifier: BSD-3-Clause
"""Programs of others, unchanged, by MPI alone and with their reductions through the switch.

For each way: a checksum of the digits that the program printed, or whether its own checks pass; how
many reductions of the first rank went where; and the time. Programs whose Debian packages are not
installed are left out, and named.
"""

import collections.abc
import dataclasses
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

from benchmark.mpi.demo import SETTINGS
from benchmark.mpi.run import AGENT, mpirun
from command import CommandLine, head, row, write_json
from programs import errors_apart
from switched import SWITCH_ADDRESS, Network

RANKS = 4
PATIENCE = 3600  # seconds
COUNTED = re.compile(r"^netfc-mpi: .* (switch|node|MPI) +(\d+) +\d+$", re.MULTILINE)
# A job for each communicator that a test suite may have at a time.
AGGREGATE = "digits=fp32+fp64,formats=fp32+fp64+int32+int64,jobs=128,slots=5120"
MELT = pathlib.Path("/usr/share/lammps/examples/melt/in.melt")
HPCC = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
HYDROGEN = pathlib.Path("/usr/share/doc/quantum-espresso/examples/CPV/EXX-wf-example/"
                        "H_HSCV_PBE-1.0.UPF.gz")
POISSON = "petsc/*/share/petsc/examples/src/ksp/ksp/tutorials/ex2.c"
# A molecule of hydrogen in a small cell.
CELL = """\
&control
  pseudo_dir = '.', outdir = '.'
/
&system
  ibrav = 1, celldm(1) = 8.0, nat = 2, ntyp = 1, ecutwfc = 30.0
/
&electrons
  conv_thr = 1.0d-10
/
ATOMIC_SPECIES
  H 1.008 H.UPF
ATOMIC_POSITIONS angstrom
  H 0.0 0.0 0.0
  H 0.0 0.0 0.74
K_POINTS automatic
  2 2 2 1 1 1
"""


class TestNetwork(Network):
    """Exact sums of doubles need memory."""

    _memory = 2600


@dataclasses.dataclass(frozen=True)
class Way:
    """Of reducing: by MPI, or by the switch, whose workers they are.

    order: in which mpirun fills two nodes with ranks, by slot or by node; None: all are on one.
    """

    name: str
    environment: dict
    order: str | None = None


ALONE = Way("MPI alone", {})
WAYS = (ALONE, Way("a node", {}), Way("ranks", {"NETFC_MPI_SHARED_MEMORY": "0"}),
        Way("nodes of ranks 0, 1 and 2, 3", {}, "slot"),
        Way("nodes of ranks 0, 2 and 1, 3", {}, "node"))


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


def checksum(text):
    """Eight digits."""
    return f"{zlib.crc32(text.encode()):08x}"


def thermo(_folder, printed):
    """A checksum of the table that LAMMPS prints."""
    found = re.search(r"\nStep .*?\nLoop time", printed, re.DOTALL)
    return checksum(found[0]) if found else None


def hpcc_checks(folder, _printed):
    """Whether all of its own checks have passed."""
    text = (folder / "hpccoutf.txt").read_text(encoding="ascii")
    return "passed" if "Success=1" in text and "FAILED" not in text else None


def energies(_folder, printed):
    """A checksum of the energies and their accuracies in each step of pw.x."""
    found = re.findall(r"^.*(?:total energy|scf accuracy).*= .*$", printed, re.MULTILINE)
    return checksum("\n".join(found)) if "JOB DONE" in printed else None


def prepare_cell(folder):
    """What pw.x reads."""
    (folder / "H.UPF").write_bytes(gzip.decompress(HYDROGEN.read_bytes()))
    (folder / "cell.in").write_text(CELL, encoding="ascii")


def compile_poisson(folder):
    """PETSc's example, as its users compile it."""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "petsc"], check=True, text=True,
                           capture_output=True).stdout.split()
    subprocess.run(["mpicc.openmpi", "-o", folder / "ex2", *pathlib.Path("/usr/share").glob(POISSON),
                    *flags], check=True)


def poisson(what):
    """A checksum of the lines of PETSc's example that have a word."""
    def result(_folder, printed):
        lines = [line for line in printed.splitlines() if what in line]
        return checksum("\n".join(lines)) if lines else None

    return result


def programs(mpi4py):
    """All that there are, or the names of packages that are missing.

    mpi4py: the folder of its source, or None."""
    if MELT.exists() and shutil.which("lmp"):
        words = ["lmp", "-in", "in.melt", "-log", "none"]
        exact = copied(MELT, "in.melt", with_all_digits)
        yield Program("LAMMPS, melt, as printed", words, copied(MELT, "in.melt"), thermo)
        yield Program("LAMMPS, melt, 17 digits", words, exact, thermo)
        yield Program("LAMMPS, melt, 17 digits, ranks in another order",
                      [*words, "-reorder", "nth", "2"], exact, thermo)
    else:
        yield "lammps and lammps-examples"
    if HYDROGEN.exists() and shutil.which("pw.x"):
        yield Program("Quantum ESPRESSO, hydrogen, as printed",
                      ["pw.x", "-ndiag", "1", "-in", "cell.in"], prepare_cell, energies)
    else:
        yield "quantum-espresso and quantum-espresso-data"
    if list(pathlib.Path("/usr/share").glob(POISSON)) and subprocess.run(
            ["pkg-config", "--exists", "petsc"], check=False).returncode == 0:
        words = ["./ex2", "-m", "60", "-n", "60"]
        yield Program("PETSc, ex2, as printed", words, compile_poisson, poisson("Norm"))
        yield Program("PETSc, ex2, residuals with 13 digits",
                      [*words, "-ksp_rtol", "1e-12", "-ksp_monitor"], compile_poisson,
                      poisson("Residual"))
    else:
        yield "petsc-dev and libpetsc*-dev-examples"
    if HPCC.exists() and shutil.which("hpcc"):
        yield Program("HPCC", ["hpcc"], copied(HPCC, "hpccinf.txt"), hpcc_checks)
    else:
        yield "hpcc"
    if mpi4py:
        # Started processes would need a network of their own.
        words = [sys.executable, str(mpi4py / "test" / "runtests.py"), "-q", "-e", "spawn", "-e",
                 "dynproc"]
        yield Program("mpi4py's tests", words, lambda folder: None,
                      lambda folder, printed: "passed")


def launched(hosts, library, way):
    """The words of the command line before the program."""
    exported = {"OMP_NUM_THREADS": 1}
    if way is not ALONE:
        exported |= {"NETFC_SWITCH": SWITCH_ADDRESS, "NETFC_MPI_VERBOSE": 1,
                     "LD_PRELOAD": library, **way.environment}
    if way.order is None:
        return mpirun(RANKS, SETTINGS, exported, "--oversubscribe")
    settings = {**SETTINGS, "btl": "tcp,self", "plm_rsh_agent": AGENT}
    return mpirun(RANKS, settings, exported, "--map-by", way.order, "-H",
                  ",".join(f"{host.ipv4}:{RANKS // 2}" for host in hosts))


def run(hosts, library, program, folder, way):
    """Its result, how many reductions of rank 0 went where, seconds, and what went wrong."""
    program.prepare(folder)
    errors = folder / "errors"
    errors.mkdir()
    environment = {**os.environ, "TMPDIR": str(folder), "NETFC_NAMESPACES": " ".join(
        f"{host.ipv4}={host.name}" for host in hosts)}
    begin = time.monotonic()
    done = subprocess.run(hosts[0].inside(*launched(hosts, library, way), *errors_apart(errors), *program.words),
                          cwd=folder, text=True, env=environment, capture_output=True,
                          timeout=PATIENCE, check=False)
    seconds = time.monotonic() - begin
    said = "".join(path.read_text(errors="replace") for path in errors.iterdir()) + done.stderr
    counts = {"switch": 0, "node": 0, "MPI": 0}
    for by, calls in COUNTED.findall(said):
        counts[by] += int(calls)
    result = program.result(folder, done.stdout) if done.returncode == 0 else None
    return result, list(counts.values()), seconds, done.stdout[-1000:] + said[-2000:]


def summary(cells):
    """A row of the table, of a program by all ways; what differs between ways is told of each."""
    def each(values):
        return ", ".join(dict.fromkeys(map(str, values)))

    (name, _, alone, *_), *others = cells
    return row(name, alone or "failed", each(cell[2] or "failed" for cell in others),
               each(cell[3] + cell[4] for cell in others), each(cell[5] for cell in others),
               *(f"{cell[6]:.1f} s" for cell in cells))


def show(options):
    """Prints the table; its cells, and what failed and why."""
    library = options.build / "lib" / "mpi" / "libnetfc-mpi-openmpi.so"
    cells, failed = [], []
    found = list(programs(options.mpi4py and options.mpi4py.resolve()))
    for packages in filter(lambda one: isinstance(one, str), found):
        print(f"Left out, since they are not installed: {packages}.\n")
    print(head("program", "results by MPI alone", "by the switch", "reductions there", "left to MPI",
               "time by MPI alone", *(way.name for way in WAYS[1:])), flush=True)
    with TestNetwork(options.build / "app" / "dpdk-netfc", ["first", "second"],
                     ["--aggregate", AGGREGATE]) as network:
        hosts = list(network.hosts.values())
        for host in hosts:
            host.ip("link", "set", "lo", "up")
        for program in found:
            if isinstance(program, str) or options.program not in program.name:
                continue
            for way in WAYS:
                with tempfile.TemporaryDirectory(prefix="netfc-") as folder:
                    result, counts, seconds, said = run(
                        hosts, library, program, pathlib.Path(folder), way)
                cells.append((program.name, way.name, result, *counts, seconds))
                if result is None:
                    failed.append(f"{program.name}, {way.name}: {said}")
            print(summary(cells[-len(WAYS):]), flush=True)
    print(f"\n{RANKS} ranks, {os.cpu_count()} CPUs, load average {os.getloadavg()[1]:.1f}.")
    return cells, failed


def main():
    """The command line."""
    parser = CommandLine("bench mpi-programs", __doc__)
    parser.add_argument("--mpi4py", type=pathlib.Path, metavar="FOLDER",
                        help="the source of the installed release, which has its tests")
    parser.add_argument("--program", default="", metavar="WORD",
                        help="only those with this in their names")
    options = parser.parse_args()
    with parser.in_namespaces():
        cells, failed = show(options)
    write_json(options.json, cells)
    if failed:
        parser.fail("\n".join(failed))


if __name__ == "__main__":
    main()
