# SPDX-License-Identifier: BSD-3-Clause
"""Sums over paths without a limit: what each way from a worker to the switch costs.

The switch's ports are AF_PACKET or AF_XDP on a veth pair, TAP interfaces, or memory shared with the
workers (memif); gloo's ring has veth pairs at a bridge, with segmentation offload. `responder` is
tests/allreduce/reflect.c: one worker, and next to nothing behind it. Without a switch, workers
share memory with each other.
"""

import contextlib
import dataclasses
import os
import statistics
import subprocess
import types

from benchmark.allreduce.links import bridged
from benchmark.allreduce.team import Workers, total
from command import head, row
from namespaces import CommandError, Host, join
from programs import killed
from switched import Network

SIZE = 25_000_000  # bytes
JUMBO, JUMBO_BYTES = 9000, 8948
FRAMES = 1024


@dataclasses.dataclass(frozen=True)
class Path:
    """One way. by: "netfc", "gloo" or "local"; device: the switch's driver, or "responder".

    xdp: the workers have AF_XDP.
    """

    name: str
    by: str
    device: str
    mtu: int = 1500
    xdp: bool = False


MEMIF = Path("memif", "netfc", "memif", JUMBO)
PATHS = (
    Path("gloo, veth, TCP segmentation", "gloo", ""),
    Path("TAP", "netfc", "tap"),
    Path("AF_PACKET on veth", "netfc", "af_packet"),
    Path("AF_PACKET on veth, MTU 9000", "netfc", "af_packet", JUMBO),
    Path("AF_PACKET on veth, workers by AF_XDP", "netfc", "af_packet", xdp=True),
    Path("AF_PACKET on veth, MTU 9000, workers by AF_XDP", "netfc", "af_packet", JUMBO, True),
    Path("AF_XDP on veth", "netfc", "af_xdp"),
    Path("AF_XDP on veth, workers by AF_XDP", "netfc", "af_xdp", xdp=True),
    MEMIF,
    Path("no switch, shared memory", "local", ""),
    Path("responder on veth, one worker", "netfc", "responder"),
    Path("responder on veth, MTU 9000, one worker", "netfc", "responder", JUMBO),
)


class Wired(Network):
    """Hosts at a switch that aggregates, by any driver, without a limit."""

    _memory = 1024

    def __init__(self, program, count, path, *words):
        words = [f"bytes={JUMBO_BYTES}"] * (path.mtu == JUMBO) + list(words)
        options = ["--aggregate" + "=" * bool(words) + ",".join(words)]
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
            for host in self.hosts.values():
                host.ip("link", "set", "lo", "up")
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


@contextlib.contextmanager
def responder(build, mtu):
    """A host at the responder's."""
    with Host(0) as near, Host(1) as far:
        join(near, 0, far, checksums=False, name="eth0")
        for host in near, far:
            host.configure()
            set_mtu(mtu, (host, "eth0"))
        with killed(far.start(build / "tests" / "allreduce" / "allreduce_reflect",
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)) as process:
            address = f"{far.ipv4}:{process.stdout.readline().strip()}"
            yield types.SimpleNamespace(hosts={0: near}, address=address)


@contextlib.contextmanager
def one_machine(count):
    """Hosts without a network, whose workers share memory."""
    file = os.memfd_create("netfc-bench")
    memory = {"memory": f"/proc/{os.getpid()}/fd/{file}"}
    try:
        with contextlib.ExitStack() as stack:
            hosts = {number: stack.enter_context(Host(number)) for number in range(count)}
            yield types.SimpleNamespace(hosts=hosts, address=(), arguments=lambda: [memory] * count)
    finally:
        os.close(file)


def set_mtu(mtu, *places):
    """Of interfaces: (namespace, name) each."""
    for namespace, name in places:
        namespace.ip("link", "set", name, "mtu", mtu)


def network_of(build, path, count):
    """The hosts on a path. A context manager; raises CommandError."""
    if path.by == "gloo":
        return bridged(count)
    if path.by == "local":
        return one_machine(count)
    if path.device == "responder":
        return responder(build, path.mtu)
    return Wired(build / "app" / "dpdk-netfc", count, path)


def arguments(network):
    """What the workers of a network have to be told."""
    return getattr(network, "arguments", tuple)()


def measure(build, path, count, times):
    """Seconds of each sum, and what workers counted; the first sum warms up."""
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(network_of(build, path, count))
        workers = Workers(stack, build, path.by, network, arguments=arguments(network))
        took = workers.seconds(SIZE, times + 1)[1:]
        counters = workers.counters()
    return {"path": path.name, "workers": len(counters), "seconds": took,
            "cpu": total(counters, "cpu") / len(counters), "bytes": SIZE * (times + 1),
            "chunk": counters[0].get("bytes", 0),
            "offload": "".join(" " + name for name in ("gso", "gro") if counters[0].get(name)),
            "sent": total(counters, "sent"), "retransmitted": total(counters, "retransmitted")}


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


def median_of(figures):
    """Of all rounds' seconds."""
    return statistics.median_high(took for figure in figures for took in figure["seconds"])


def row_of(name, figures, gloo):
    """A line of Markdown."""
    seconds = [took for figure in figures for took in figure["seconds"]]
    cpu = min(figure["cpu"] / (figure["bytes"] / 1e9) for figure in figures)
    sent, again = total(figures, "sent"), total(figures, "retransmitted")
    return row(name, figures[-1]["chunk"] or "", figures[-1]["offload"].strip().replace(" ", ", "),
               f"{1e3 * median_of(figures):.0f} ({1e3 * min(seconds):.0f} to {1e3 * max(seconds):.0f})",
               f"{SIZE / 4e6 / median_of(figures):.0f}",
               f"{median_of(figures) / gloo:.2f}" if gloo else "", f"{cpu:.1f}",
               f"{100 * again / sent:.1f} %" if sent else "")


def table(by_path):
    """Lines of Markdown."""
    gloo = median_of(by_path[PATHS[0].name]) if PATHS[0].name in by_path else None
    lines = [head("path", "bytes in a chunk", "offload", "ms: median (all)", "million values/s",
                  "time / gloo's", "a worker's CPU seconds per GB", "sent again")]
    return "\n".join(lines + [row_of(name, figures, gloo) for name, figures in by_path.items()])


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
