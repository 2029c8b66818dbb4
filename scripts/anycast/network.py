# SPDX-License-Identifier: BSD-3-Clause
"""A client, a router, and switches behind it that share an anycast address. Needs root and FRR.

    client - router -+- switch 1 - speaker 1
                     +- switch 2 - speaker 2

Each switch answers to the anycast address, and joins the router with a speaker (FRR's bgpd), whose BGP
session goes through the switch: the speaker announces the address with the switch as the next
hop, and BFD finds out when the session, which is the switch, is gone. The router spreads flows over all switches
that are announced (ECMP).
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from namespaces import Built, CommandError, Namespace
from netfc import TelemetryError
from netfc.telemetry import Telemetry

PATIENCE = 20  # seconds
FRR = pathlib.Path("/usr/lib/frr")
ANYCAST = "198.51.100.1"  # RFC 5737
CLIENT, GATEWAY = "192.0.2.2", "192.0.2.1"
ROUTER_AS, SPEAKER_AS = 65000, 65001  # RFC 6996
BFD_MS, BFD_MISSES = 100, 5

BFD = f"""\
bfd
 profile fast
  receive-interval {BFD_MS}
  transmit-interval {BFD_MS}
  detect-multiplier {BFD_MISSES}
"""


def has_frr():
    """Whether FRR is installed."""
    return (FRR / "bgpd").exists()


def link_address(number, end):
    """On the link to a switch, numbered from 1: the router is end 1, the switch 2, its speaker 3."""
    return f"10.1.{number}.{end}"


def session(neighbour, neighbour_as):
    """What both sides of a BGP session have to say about it."""
    return "\n".join(f" neighbor {neighbour} {words}" for words in (
        f"remote-as {neighbour_as}", "timers 1 3", "timers connect 1", "bfd profile fast",
        "advertisement-interval 0"))


def router_config(count):
    """bgpd of the router: routes from all speakers, equal ones together."""
    sessions = "\n".join(session(link_address(n, 3), SPEAKER_AS) for n in range(1, count + 1))
    return f"""\
router bgp {ROUTER_AS}
 bgp router-id {GATEWAY}
 no bgp ebgp-requires-policy
{sessions}
 address-family ipv4 unicast
  maximum-paths {count}
"""


def speaker_config(number):
    """bgpd of a speaker: the anycast address, by way of its switch."""
    router = link_address(number, 1)
    return f"""\
router bgp {SPEAKER_AS}
 bgp router-id {link_address(number, 3)}
 no bgp ebgp-requires-policy
 no bgp network import-check
{session(router, ROUTER_AS)}
 address-family ipv4 unicast
  network {ANYCAST}/32
  neighbor {router} route-map by-the-switch out
route-map by-the-switch permit 10
 set ip next-hop {link_address(number, 2)}
"""


class Routing:
    """FRR's daemons in a namespace, with a folder of their own. A context manager."""

    def __init__(self, host, folder, bgp):
        self._host, self._folder, self._bgp = host, folder, bgp
        self._processes = []

    def __enter__(self):
        self._folder.mkdir()
        shutil.chown(self._folder, "frr", "frr")  # whom the daemons become
        try:
            self._start("zebra", "")
            wait_until((self._folder / "zserv.api").exists, "FRR's zebra")
            self._start("bfdd", BFD, "--bfdctl", self._folder / "bfdd.sock")
            self._start("bgpd", self._bgp)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            process.kill()

    def _start(self, name, config, *options):
        base = self._folder / name
        base.with_suffix(".conf").write_text(config, encoding="ascii")
        with base.with_suffix(".log").open("w") as log:
            self._processes.append(self._host.start(
                FRR / name, "-f", base.with_suffix(".conf"), "-i", base.with_suffix(".pid"),
                "-z", self._folder / "zserv.api", "--vty_socket", self._folder, "-P", 0,
                "--log", "stdout", *options, stdout=log, stderr=subprocess.STDOUT))


class Site(Built):
    """A switch, number 1 or more, between the router and a speaker. A context manager."""

    def __init__(self, program, number, router, folder):
        self.number = number
        self._program = program
        self._folder = folder
        self._router = router
        super().__init__()
        self._host = self._process = None

    def _build(self):
        number, router, folder = self.number, self._router, self._folder
        self._host, speaker = (self._stack.enter_context(Namespace()) for _ in range(2))
        for port, (host, interface) in enumerate(((router, f"s{number}"), (speaker, "eth0"))):
            self._host.ip("link", "add", f"p{port}", "type", "veth", "peer", "name", interface,
                          "netns", host.name)
            self._host.ip("link", "set", f"p{port}", "up")
            # Checksums are to be whole where the switch sees them.
            host.run("ethtool", "-K", interface, "tx", "off")
            host.ip("address", "add", f"{link_address(number, 3 if port else 1)}/24",
                    "dev", interface)
            host.ip("link", "set", interface, "up")
        self._stack.callback(self.kill)
        self.start()
        self._stack.enter_context(
            Routing(speaker, folder / f"speaker{number}", speaker_config(number)))

    def start(self):
        """Starts the switch, and waits until it answers."""
        log = self._folder / f"switch{self.number}.log"
        vdevs = [f"--vdev=net_af_packet{port},iface=p{port}" for port in (0, 1)]
        addresses = [f"--address={address}@0" for address in
                     (f"{link_address(self.number, 2)}/24", ANYCAST)]
        with log.open("w") as out:
            self._process = self._host.start(
                self._program, "--no-huge", "-m", 256, "--no-pci", "--lcores", "0@(0-1)",
                "--file-prefix", f"switch{self.number}", *vdevs, "--", "--forward", "pair",
                "--match", "direct", "--tables", "fp16_exact", *addresses, stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "RUNTIME_DIRECTORY": str(self._folder)})
        wait_until(lambda: self.requests() is not None, f"switch {self.number}: see {log}")

    def requests(self):
        """Requests that it has computed since its start; None: it does not run."""
        path = self._folder / "dpdk" / f"switch{self.number}" / "dpdk_telemetry.v2"
        try:
            with Telemetry(path) as telemetry:
                stats = telemetry.ask("/netfc/stats")
        except TelemetryError:
            return None
        return stats and stats["netfc_packets"]

    def kill(self):
        """Ends the switch as a crash would; its speaker lives on."""
        # Started by `ip netns exec`, which became it.
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()


class Anycast(Built):
    """The network. A context manager.

    client: the clients' Namespace; sites: the switches. Raises CommandError.
    """

    def __init__(self, program, count=2):
        self._program, self._count = program, count
        super().__init__()
        self.client = self._router = None
        self.sites = []

    def _build(self):
        folder = tempfile.TemporaryDirectory(prefix="netfc-")  # pylint: disable=consider-using-with
        folder = pathlib.Path(self._stack.enter_context(folder))
        folder.chmod(0o711)
        self.client, self._router = (self._stack.enter_context(Namespace()) for _ in range(2))
        self._router.ip("link", "add", "c0", "type", "veth", "peer", "name", "eth0",
                        "netns", self.client.name)
        for host, interface, address in ((self._router, "c0", GATEWAY),
                                         (self.client, "eth0", CLIENT)):
            host.ip("address", "add", f"{address}/24", "dev", interface)
            host.ip("link", "set", interface, "up")
        self.client.ip("route", "add", "default", "via", GATEWAY)
        with self._router.entered():
            # Flows, ports included, are what is spread.
            for setting in ("ip_forward", "fib_multipath_hash_policy"):
                pathlib.Path(f"/proc/sys/net/ipv4/{setting}").write_text("1\n", encoding="ascii")
        for number in range(1, self._count + 1):
            self.sites.append(self._stack.enter_context(
                Site(self._program, number, self._router, folder)))
        self._stack.enter_context(
            Routing(self._router, folder / "router", router_config(self._count)))
        self.wait_for_routes(self._count)

    def routes(self):
        """How many switches the router knows a way to."""
        routes = json.loads(self._router.ip("-json", "route", "show", f"{ANYCAST}/32"))
        return sum(len(route.get("nexthops", [route])) for route in routes)

    def wait_for_routes(self, count):
        """Waits until the router knows that many; the seconds that it took."""
        began = time.monotonic()
        wait_until(lambda: self.routes() == count, f"routes to {count} of the switches")
        return time.monotonic() - began


def wait_until(happened, what):
    """Polls. Raises CommandError where it lasts too long."""
    limit = time.monotonic() + PATIENCE
    while not happened():
        if time.monotonic() > limit:
            raise CommandError(f"waited {PATIENCE} s for {what}")
        time.sleep(0.02)
