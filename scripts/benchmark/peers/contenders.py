# SPDX-License-Identifier: BSD-3-Clause
"""What is compared: the switch with each match engine, and its peers from DPDK."""

import json
import re
import shutil
from dataclasses import dataclass

from benchmark import machine
from benchmark.peers.polling import Polling
from programs import CommandError, command

# What the peers do with a packet: nothing; swap its addresses, as the switch does when it reflects;
# compute its checksums afresh.
PEERS = ("io", "5tswap", "csum")
BURST = 64  # packets, the switch's own
PEER_MBUFS = 16384
MEGABYTES = {"lpm": 512, "testpmd": 192}  # for a table set; 160 for others
OTHER_MEGABYTES = 160
TABLES = {
    "fp16": "fp16_k1024",
    "posit16": "posit16_k512",
    "bf16": "bf16_k128",
    "posit16_es2": "posit16_es2_k256",
}
# Those of 8 bits, too, which are compared alone.
SETS = {**TABLES, "fp8_e4m3": "fp8_e4m3_exact", "fp8_e5m2": "fp8_e5m2_exact"}


@dataclass(frozen=True)
class Contender:
    """A program to measure. family: "netfc" or "testpmd"; mode: the match engine, the peer's mode;
    option: one of the switch's that others do not have."""

    family: str
    mode: str
    option: str = ""

    @property
    def name(self):
        """For tables and files."""
        return f"{self.family} {self.mode} {self.option}".rstrip()

    @property
    def megabytes(self):
        """Memory that it needs."""
        key = self.mode if self.family == "netfc" else self.family
        return MEGABYTES.get(key, OTHER_MEGABYTES)


def engines(build):
    """The match engines that this build of the switch offers, as its --help says."""
    program = build / "app" / "dpdk-netfc"
    found = re.search(r"--match ([a-z0-9|]+)", command(program, "--help"))
    if not found:
        raise CommandError(f"{program} --help names no match engines")
    return found[1].split("|")


def peers_installed():
    """Whether there is a testpmd."""
    return shutil.which("dpdk-testpmd") is not None


def find(build):
    """All contenders that can be measured here."""
    return [
        *(Contender("netfc", engine) for engine in engines(build)),
        *(Contender("testpmd", mode) for mode in PEERS),
    ]


def megabytes(contenders):
    """Memory that they need when all are there."""
    return sum(contender.megabytes for contender in contenders)


class Bench:
    """Starts contenders on a capture."""

    def __init__(self, build, memory, folder):
        self.build, self.memory, self.folder = build, memory, folder
        self._started = 0

    def start(self, contender, captures, table, lcores=1, options=(), other_port=()):
        """A contender that receives captures, a queue each, and sends nowhere; halted.

        table: names of the table sets, with commas. options: more of the switch's.
        other_port: captures of a second port, if there is to be one.
        """
        self._started += 1
        folder = self.folder / f"{self._started}-{contender.mode}"
        ports = [captures, other_port] if other_port else [captures]
        if contender.family == "testpmd":
            return Polling(contender.name, self._testpmd(contender, ports, lcores), folder,
                           len(ports))
        words = self._netfc(contender, ports, lcores, table.count(",") + 1)
        words += ["--tables", table, "--stats-json", folder / "stats", *contender.option.split(), *options]
        return Switch(contender.name, words, folder, len(ports))

    def _eal(self, contender, ports, lcores, sets=1):
        prefix = f"netfc-bench-{self.folder.name}-{self._started}"
        return [*self.memory.options(contender.megabytes * sets),
                *("--lcores", lcores, "--no-pci", "--file-prefix", prefix),
                *(f"--vdev=net_pcap{port}," + "".join(f"rx_pcap={capture}," for capture in captures)
                  + "infinite_rx=1" for port, captures in enumerate(ports))]

    def _netfc(self, contender, ports, lcores, sets):
        cpus = machine.polling_cpus(lcores)
        placed = ",".join(f"{lcore}@{cpu}" for lcore, cpu in enumerate(cpus))
        return [self.build / "app" / "dpdk-netfc", *self._eal(contender, ports, placed, sets),
                *("--", "--match", contender.mode, "--tables-dir", self.build / "tables")]

    def _testpmd(self, contender, ports, lcores):
        """Its first lcore only waits for commands."""
        cpus = machine.polling_cpus(lcores)
        placed = [f"{lcore}@{cpu}" for lcore, cpu in enumerate(cpus, 1)]
        return [
            shutil.which("dpdk-testpmd"),
            *self._eal(contender, ports, ",".join([f"0@{machine.other_cpu()}", *placed])),
            *("--", f"--forward-mode={contender.mode}", "--auto-start"),
            f"--port-topology={'paired' if len(ports) > 1 else 'loop'}",
            *(f"--burst={BURST}", f"--total-num-mbufs={PEER_MBUFS}", f"--nb-cores={lcores}"),
            *(f"--rxq={len(ports[0])}", f"--txq={len(ports[0])}"),
        ]


class Switch(Polling):
    """dpdk-netfc, which is asked in the end whether it has computed what it received."""

    def __init__(self, name, command, folder, ports=1):
        super().__init__(name, command, folder, ports)
        self._stats = folder / "stats"

    def _ended(self, is_right, complaint):
        """Its counters, which are right; ends it."""
        status = self.end()
        stats = json.loads(self._stats.read_text(encoding="utf-8")) if status == 0 else {}
        if status != 0 or not is_right(stats):
            raise CommandError(f"{self.name} {complaint}: {status}, {stats}")
        return stats

    def finish(self, lanes):
        """End it. Returns its counters; fails unless each packet's lanes were computed."""
        return self._ended(
            lambda stats: stats["netfc_packets"] == stats["rx_packets"]
            and stats["lanes"] == lanes * stats["rx_packets"], "has not computed all requests")

    def finish_mix(self):
        """End it. Fails unless each packet was sent, taken up, or dropped for a reason."""
        self._ended(
            lambda stats: stats["rx_packets"] + stats["copies"]
            == stats["tx_packets"] + sum(stats["taken_up"].values())
            + sum(stats["drops"].values()), "has lost packets")
