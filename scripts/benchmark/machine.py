# SPDX-License-Identifier: BSD-3-Clause
"""The machine: what a measurement depends on, and where its memory comes from."""

import os
import pathlib
import platform
import re
import subprocess
from dataclasses import dataclass

HUGEPAGES = pathlib.Path("/sys/kernel/mm/hugepages")


@dataclass
class Memory:
    """Where programs take their memory from. sentence: human-readable."""

    huge: bool
    sentence: str

    def options(self, megabytes):
        """EAL options of a program that needs so many MB."""
        return ["--in-memory"] if self.huge else ["--no-huge", "-m", str(megabytes)]


def free_hugepages():
    """MB in free hugepages, by their size in MB."""
    found = {}
    for folder in sorted(HUGEPAGES.glob("hugepages-*kB")):
        size = int(re.search(r"(\d+)kB", folder.name)[1]) // 1024
        found[size] = size * int((folder / "free_hugepages").read_text(encoding="ascii"))
    return found


def choose_memory(megabytes, no_huge=False):
    """Hugepages if as many MB of them are free; ordinary pages if not, or if asked for."""
    if no_huge:
        return Memory(False, "pages of 4 KB, as asked for")
    free = max(free_hugepages().values(), default=0)
    if free >= megabytes:
        return Memory(True, f"hugepages, {free:,} MB of them free")
    return Memory(False, f"pages of 4 KB, as {free:,} of {megabytes:,} MB are free in hugepages;"
                         f" with them: sysctl -w vm.nr_hugepages={(megabytes + 1) // 2}")


def polling_cpus(count):
    """The CPUs that poll: the last of those we may use, as interrupts prefer the first."""
    return sorted(os.sched_getaffinity(0))[-count:]


def cpu_count():
    """How many CPUs we may use."""
    return len(os.sched_getaffinity(0))


def other_cpu():
    """The CPU for what does not poll: another one than the last, if there is one."""
    return min(os.sched_getaffinity(0))


def cpu_field(name):
    """What the kernel says of the CPU."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    match = re.search(rf"^{name}\s*: (.+)$", text, re.MULTILINE)
    return match[1].strip() if match else "unknown"


def _vector_units():
    flags = set(cpu_field("flags").split())
    names = {"avx2": "AVX2", "avx512f": "AVX-512", "avx512vbmi": "AVX-512 VBMI"}
    return [text for flag, text in names.items() if flag in flags] or ["none"]


def _first_line(command):
    try:
        done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=20)
    except OSError:
        return "not installed"
    return (done.stdout or done.stderr).strip().split("\n")[0]


def _revision(root):
    text = _first_line(["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"])
    return text if re.fullmatch(r"[\w.-]+", text) else "unknown"


def facts(root, build):
    """What to say about the machine and the programs."""
    return {
        "cpu": cpu_field("model name"),
        "cpu_family_model_stepping": "/".join(
            map(cpu_field, ("cpu family", "model\\t", "stepping"))),
        "cpus": len(os.sched_getaffinity(0)),
        "vector_units": _vector_units(),
        "hypervisor": "hypervisor" in cpu_field("flags").split(),
        "kernel": f"{platform.system()} {platform.release()}",
        "system": _system_name(),
        "compiler": _first_line(["gcc", "--version"]),
        "dpdk": _first_line(["pkg-config", "--modversion", "libdpdk"]),
        "netfc": _first_line([str(build / "app" / "dpdk-netfc"), "--version"]),
        "revision": _revision(root),
    }


def _system_name():
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        return "unknown"
