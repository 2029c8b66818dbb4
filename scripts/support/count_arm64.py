# SPDX-License-Identifier: BSD-3-Clause
"""Count the instructions per lane of kernels for arm64, NEON beside plain C, in QEMU.

Debian's QEMU has no plug-ins. It can run one instruction at a time and log each one whose address
is in given ranges, though: the functions of the kernels, and a mark between two operations. Fails
where NEON gains too little.
"""

import argparse
import pathlib
import re
import subprocess
import sys

LANES = 243
TIMES, WORKERS = 2, 8  # as in tests/packet/run_kernel.c
MARK = "mark"
# How many times fewer instructions NEON has to need. What is not written by hand, the compiler makes
# of plain C, too.
MIN_GAIN = 2
MIN_GAINS = {
    f"{op}, {values}": 0.9
    for op in ("sum", "mean")
    for values in ("posit16_es2", "int32", "fp64", "fp8_e4m3", "fp8_e5m2", "int64")
} | {"sum, fp16": 1.8}  # compilers have made 7.0 of 13.5
PLAIN, NEON, NEON_FP16 = range(3)
NAMES = ("plain C", "NEON", "NEON FP16")

OPS = ("add", "sub", "mul", "div")
VALUES = ("fp16", "posit16", "bf16", "posit16_es2", "fp32", "int32", "fp64", "fp8_e4m3", "fp8_e5m2",
          "int64",
          "bf16 alike", "fp32 alike")
# What is run in one go: instruction sets, names, and values that each result is made of.
KERNELS = {
    "log": ((PLAIN, NEON), [f"log, {op}" for op in OPS], 1),
    "fpu": ((PLAIN, NEON, NEON_FP16), [f"fpu, {op}" for op in OPS], 1),
    "sum": ((PLAIN, NEON), [f"sum, {values}" for values in VALUES], WORKERS),
    "mean": ((PLAIN, NEON), [f"mean, {values}" for values in VALUES], WORKERS),
}

# The objects of a build whose functions are counted.
OBJECTS = {
    "log": (
        "lib/match/**/direct.c.o",
        "lib/vector/**/log_log_stages.c.o",
        "lib/vector/**/log_log_registers_neon.c.o",
    ),
    "fpu": ("lib/netfc/**/*exact_exact.c.o", "lib/vector/**/fpu_fpu*.c.o"),
    "sum": ("lib/aggregate/**/*kernels_[np]*.c.o",),
    "mean": ("lib/aggregate/**/*kernels_[np]*.c.o",),
}


class Counter:
    """Of a build for arm64."""

    def __init__(self, folder):
        self._build = folder / "gcc"
        self._program = self._build / "tests" / "packet" / "run_kernel"
        self._qemu = ["qemu-aarch64-static", "-L", str(folder / "tree")]
        self._step = self._step_option()
        self._base = self._find_base()

    def per_value(self, kernel, isa):
        """Instructions per value of each of a kernel's operations."""
        values = LANES * KERNELS[kernel][2] * TIMES
        return [count / values for count in self._run(kernel, isa)]

    def _step_option(self):
        """One instruction at a time has another name since QEMU 8.1."""
        new = "-one-insn-per-tb"
        return new if new in said(self._qemu[0], "--help").stdout else "-singlestep"

    def _ranges(self, kernel):
        """Addresses of the functions that count, where QEMU loads them, as it takes them."""
        names = {MARK}
        for pattern in OBJECTS[kernel]:
            for path in self._build.glob(pattern):
                names |= {name for _, _, name in symbols(path)}
        found = [f"{self._base + at:#x}+{size:#x}" for at, size, name in symbols(self._program)
                 if name in names]
        if len(found) < 2:
            sys.exit(f"count_arm64: no function of a kernel in {self._program}")
        return ",".join(found)

    def _find_base(self):
        """Where QEMU loads a program whose addresses begin with 0."""
        done = said(*self._qemu, "-d", "page", self._program)
        # The program comes first of all that it lists.
        first = re.search(r"^([0-9a-f]{16})-[0-9a-f]{16} ", done.stderr, re.MULTILINE)
        if first:
            return int(first[1], 16)
        return sys.exit(f"count_arm64: QEMU does not say where it loads a program:\n{done.stderr}")

    def _run(self, kernel, isa):
        """Instructions between each two marks."""
        command = [
            *(*self._qemu, self._step, "-d", "exec,nochain", "-dfilter", self._ranges(kernel)),
            *(str(self._program), kernel, str(isa), str(LANES)),
        ]
        counts, is_mark = [0], False
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            for line in run.stderr:
                if not line.startswith(b"Trace "):
                    continue
                if not line.rstrip().endswith(MARK.encode()):
                    counts[-1] += 1
                    is_mark = False
                elif not is_mark:
                    counts.append(0)
                    is_mark = True
        names = KERNELS[kernel][1]
        if run.returncode != 0 or len(counts) != len(names) + 2:
            sys.exit(f"count_arm64: {self._program.name} {kernel} {isa}: exit status {run.returncode},"
                     f" {len(counts) - 1} marks")
        return counts[1:-1]


def said(*words, **options):
    """A command, when it has ended."""
    return subprocess.run(list(map(str, words)), text=True, capture_output=True,
                          **{"check": False, **options})


def symbols(path):
    """Address, size and name of each function in a file."""
    listed = said("aarch64-linux-gnu-nm", "--print-size", path, check=True).stdout
    return [(int(at, 16), int(size, 16), name) for at, size, name in re.findall(
        r"^(\w+) (\w+) [tT] (\S+)$", listed, re.MULTILINE)]


def main():
    """Shows a table; fails where NEON gains too little."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, help="of the builds and the tree for arm64")
    counter = Counter(parser.parse_args().folder.resolve())
    print(f"instructions per value, {LANES} lanes; sums of {WORKERS} workers")
    print(f"{'kernel':18}" + "".join(f"{name:>12}" for name in NAMES) + f"{'gain':>8}", flush=True)
    too_little = []
    for kernel, (isas, names, _) in KERNELS.items():
        counts = [counter.per_value(kernel, isa) for isa in isas]
        for name, row in zip(names, zip(*counts)):
            gain = row[PLAIN] / row[NEON]
            cells = [f"{count:12.2f}" for count in row] + [" " * 12] * (len(NAMES) - len(row))
            print(f"{name:18}" + "".join(cells) + f"{gain:8.1f}", flush=True)
            if gain < MIN_GAINS.get(name, MIN_GAIN):
                too_little.append(name)
    if too_little:
        sys.exit(f"NEON needs too many of plain C's instructions: {', '.join(too_little)}")


if __name__ == "__main__":
    main()
