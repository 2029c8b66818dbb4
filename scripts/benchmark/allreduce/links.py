# SPDX-License-Identifier: BSD-3-Clause
"""Hosts on links, of limited speed where asked for, with a switch or a bridge of the kernel's in the middle.

    host n: eth0 --- wn, a bridge, sn --- pn: dpdk-netfc
            eth0 --- wn, the same bridge for all

The namespace between has what limits a link: a token bucket (tc tbf) each way, and, where asked
for, packets that are lost at random at the end of a link (nft). Needs root.
"""

import contextlib
import types

from namespaces import Host, Namespace, join
from switched import FRAMES, Network

BURST, QUEUE = "16kb", "300kb"  # of a token bucket; 300 KB are 24 ms at 100 Mbit/s


class Lines(Namespace):
    """The namespace with the far ends of the hosts' links. A context manager."""

    def __init__(self, mbit, lost, queue=QUEUE):
        """mbit: of each link, each way, None: unlimited; lost: share of the packets, at its end."""
        super().__init__()
        self._queue = queue
        self._mbit, self._lost = mbit, lost

    def attach(self, number, host):
        """A host's link, wn."""
        name = f"w{number}"
        join(self, number, host, checksums=False, name="w{}")
        host.configure()
        if self._mbit is not None:
            for place, interface in ((host, "eth0"), (self, name)):
                # One packet is one packet from here on: links count packets, not pieces of 64 KB.
                place.run("ethtool", "-K", interface, "tx", "off", "tso", "off", "gso", "off")
                place.run("tc", "qdisc", "add", "dev", interface, "root", "tbf", "rate",
                          f"{self._mbit}mbit", "burst", BURST, "limit", self._queue)
        self.lose(name)

    def bridge(self, name, interfaces):
        """Joins interfaces."""
        self.ip("link", "add", name, "type", "bridge", "mcast_snooping", 0)
        for interface in interfaces:
            self.ip("link", "set", interface, "master", name)
        self.ip("link", "set", name, "up")

    def lose(self, interface):
        """Some of what an interface receives is lost from now on."""
        if self._lost == 0:
            return
        rule = (f"table netdev loss {{ chain {interface} {{ type filter hook ingress device "
                f"{interface} priority 0; numgen random mod 10000 < {round(self._lost * 10000)} "
                "drop; }; }")
        self.run("nft", rule)


@contextlib.contextmanager
def bridged(count, mbit=None, lost=0.0):
    """Hosts at one bridge. Raises CommandError."""
    with Lines(mbit, lost) as lines, contextlib.ExitStack() as stack:
        hosts = {number: stack.enter_context(Host(number)) for number in range(count)}
        for number, host in hosts.items():
            lines.attach(number, host)
        lines.bridge("bridge", [f"w{number}" for number in hosts])
        yield types.SimpleNamespace(hosts=hosts, address="")


class Switched(Network):
    """Hosts at a switch that aggregates. A context manager; raises CommandError."""

    def __init__(self, program, count, mbit, lost, frames=FRAMES, keys=(), queue=QUEUE):
        """keys: of --aggregate. queue: of each link, as tc has it."""
        super().__init__(program, range(count), ["--aggregate", *keys], frames)
        self._mbit, self._lost, self._queue = mbit, lost, queue
        self.lines = None

    def _connect(self, middle):
        lines = self.lines = self._stack.enter_context(
            Lines(self._mbit, self._lost, self._queue))
        for number in self._names:
            host = self._stack.enter_context(Host(number))
            lines.attach(number, host)
            join(lines, number, middle, checksums=False, name="s{}", interface=f"p{number}")
            middle.ip("link", "set", f"p{number}", "up")
            lines.lose(f"s{number}")
            lines.bridge(f"b{number}", [f"w{number}", f"s{number}"])
            self.hosts[number] = host
