# SPDX-License-Identifier: BSD-3-Clause
"""Sums over paths without a limit: what each way from a worker to the switch costs.

The switch's ports are AF_PACKET or AF_XDP on a veth pair, TAP interfaces, or memory shared with the
workers (memif); gloo's ring has veth pairs at a bridge, with segmentation offload. `responder` is tests/allreduce/reflect.c: one
worker, and next to nothing behind it.
"""

import dataclasses
import subprocess

from benchmark.allreduce import team
from benchmark.allreduce.links import Bridged
from namespaces import Built, CommandError, Host
from switched import Network

SIZE = 25_000_000  # bytes
JUMBO, JUMBO_BYTES = 9000, 8948
FRAMES = 1024


@dataclasses.dataclass(frozen=True)
class Path:
    """One way. by: "netfc" or "gloo"; device: the switch's driver, or "responder".

    xdp: the workers have AF_XDP.
    """

    name: str
    by: str
    device: str
    mtu: int = 1500
    xdp: bool = False


PATHS = (
    Path("gloo, veth, TCP segmentation", "gloo", ""),
    Path("TAP", "netfc", "tap"),
    Path("AF_PACKET on veth", "netfc", "af_packet"),
    Path("AF_PACKET on veth, MTU 9000", "netfc", "af_packet", JUMBO),
    Path("AF_PACKET on veth, workers by AF_XDP", "netfc", "af_packet", xdp=True),
    Path("AF_PACKET on veth, MTU 9000, workers by AF_XDP", "netfc", "af_packet", JUMBO, True),
    Path("AF_XDP on veth", "netfc", "af_xdp"),
    Path("AF_XDP on veth, workers by AF_XDP", "netfc", "af_xdp", xdp=True),
    Path("memif", "netfc", "memif", JUMBO),
    Path("responder on veth, one worker", "netfc", "responder"),
    Path("responder on veth, MTU 9000, one worker", "netfc", "responder", JUMBO),
)


class Wired(Network):
    """Hosts at a switch that aggregates, by any driver, without a limit."""

    _memory = 1024

    def __init__(self, program, count, path):
        options = [f"--aggregate=bytes={JUMBO_BYTES}" if path.mtu == JUMBO else "--aggregate"]
        super().__init__(program, range(count), options, FRAMES)
        self._path = path

    def _device(self, number, interface):
        if self._path.device == "af_packet":
            jumbo = ",framesz=9216,blocksz=36864" if self._path.mtu == JUMBO else ""
            return super()._device(number, interface) + jumbo
        if self._path.device == "memif":
            return (f"net_memif{number},role=server,id={number},socket={self.folder}/memif,"
                    "socket-abstract=no")
        return f"net_{self._path.device}{number},iface={interface}"

    def arguments(self):
        """What workers have to be told of their way to the switch."""
        if self._path.xdp:
            return [{"interface": "xdp:eth0"}] * len(self.hosts)
        if self._path.device != "memif":
            return ()
        return [{"interface": f"memif:{self.folder}/memif,id={number}", "bind_address": host.ipv4}
                for number, host in self.hosts.items()]

    def _connect(self, middle):
        if self._path.device == "memif":
            self.hosts = {number: self._stack.enter_context(Host(number)) for number in self._names}
        elif self._path.device != "tap":
            super()._connect(middle)
            for number, host in enumerate(self.hosts.values()):
                set_mtu(self._path.mtu, (middle, f"p{number}"), (host, "eth0"))

    def _start_switch(self, middle):
        super()._start_switch(middle)
        if self._path.device == "tap":
            for number, name in enumerate(self._names):
                host = self.hosts[name] = self._stack.enter_context(Host(number))
                middle.ip("link", "set", f"p{number}", "netns", host.name, "name", "eth0")
                host.configure()


class Responder(Built):
    """A host at the responder's."""

    def __init__(self, build, mtu):
        super().__init__()
        self._program, self._mtu = build / "tests" / "allreduce" / "allreduce_reflect", mtu
        self.hosts, self.address = {}, ""

    def _build(self):
        near, far = (self._stack.enter_context(Host(number)) for number in range(2))
        near.ip("link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", far.name)
        for host in near, far:
            host.configure()
            set_mtu(self._mtu, (host, "eth0"))
        process = far.start(self._program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._stack.callback(team.end, process)
        self.address = f"{far.ipv4}:{process.stdout.readline().strip()}"
        self.hosts = {0: near}


def set_mtu(mtu, *places):
    """Of interfaces: (namespace, name) each."""
    for namespace, name in places:
        namespace.ip("link", "set", name, "mtu", mtu)


class PathTeam(team.Workers):
    """Workers on a path. A context manager; raises CommandError."""

    def __init__(self, build, path, count):
        super().__init__(build, path.by)
        self._path, self._count = path, count

    def _network(self):
        if self._path.by == "gloo":
            return Bridged(self._count)
        if self._path.device == "responder":
            return Responder(self._folder, self._path.mtu)
        return Wired(self._folder / "app" / "dpdk-netfc", self._count, self._path)

    def _build(self):
        network = self._stack.enter_context(self._network())
        self._start_on(network, arguments=network.arguments() if isinstance(network, Wired) else ())


def measure(build, path, count, times):
    """Seconds of each sum, and what workers counted; the first sum warms up."""
    with PathTeam(build, path, count) as workers:
        took = workers.seconds(SIZE, times + 1)[1:]
        counters = workers.counters()
    return {"path": path.name, "workers": len(counters), "seconds": took,
            "cpu": sum(each["cpu"] for each in counters) / len(counters),
            "bytes": SIZE * (times + 1),
            "chunk": counters[0].get("bytes", 0),
            "offload": "".join(" " + name for name in ("gso", "gro") if counters[0].get(name)),
            "sent": sum(each.get("sent", 0) for each in counters),
            "retransmitted": sum(each.get("retransmitted", 0) for each in counters)}


def rounds(build, count, times, number):
    """Measures all paths in turn, so many times; yields figures, None where a path can't be had."""
    for _ in range(number):
        for path in PATHS:
            try:
                yield path.name, measure(build, path, count, times), None
            except CommandError as error:
                yield path.name, None, str(error).strip().splitlines()[-1]


def merged(figures):
    """Of all rounds together, by path: what table() takes."""
    by_path = {}
    for name, figure, _ in figures:
        if figure is not None:
            by_path.setdefault(name, []).append(figure)
    return by_path


def row(name, figures, gloo):
    """A line of Markdown."""
    seconds = sorted(took for figure in figures for took in figure["seconds"])
    middle = seconds[len(seconds) // 2]
    cpu = min(figure["cpu"] / (figure["bytes"] / 1e9) for figure in figures)
    sent = sum(figure["sent"] for figure in figures)
    again = sum(figure["retransmitted"] for figure in figures)
    last = figures[-1]
    cells = [name, str(last["chunk"] or ""), last["offload"].strip().replace(" ", ", "),
             f"{1e3 * middle:.0f} ({1e3 * seconds[0]:.0f} to {1e3 * seconds[-1]:.0f})",
             f"{SIZE / 4e6 / middle:.0f}", f"{middle / gloo:.2f}" if gloo else "", f"{cpu:.1f}",
             f"{100 * again / sent:.1f} %" if sent else ""]
    return "| " + " | ".join(cells) + " |"


def table(by_path):
    """Lines of Markdown."""
    ring = sorted(took for figure in by_path.get(PATHS[0].name, []) for took in figure["seconds"])
    gloo = ring[len(ring) // 2] if ring else None
    lines = ["| path | bytes in a chunk | offload | ms: median (all) | million values/s | time / gloo's "
             "| a worker's CPU seconds per GB | sent again |", "|---|---|---|---|---|---|---|---|"]
    return "\n".join(lines + [row(name, figures, gloo) for name, figures in by_path.items()])


def run(build, count, quick):
    """Measures and prints; returns what was measured."""
    figures = []
    for name, figure, problem in rounds(build, count, 1 if quick else 5, 1 if quick else 3):
        figures.append((name, figure, problem))
        if problem is not None:
            print(f"{name}: not measured: {problem}")
    print(f"{count} workers, vectors of {SIZE // 1_000_000} MB of float32, no limit\n")
    print(table(merged(figures)))
    return figures
