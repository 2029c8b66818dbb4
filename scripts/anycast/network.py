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
import pathlib
import shutil
import subprocess
import tempfile
import time

from namespaces import Namespace, join
from netfc import TelemetryError
from netfc.telemetry import Telemetry
from programs import wait_until
from switched import Network

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


@contextlib.contextmanager
def routing(host, folder, bgp):
    """FRR's daemons in a namespace, with a folder of their own."""
    folder.mkdir()
    shutil.chown(folder, "frr", "frr")  # whom the daemons become
    processes = []

    def start(name, config, *options):
        base = folder / name
        base.with_suffix(".conf").write_text(config, encoding="ascii")
        with base.with_suffix(".log").open("w") as log:
            processes.append(host.start(
                FRR / name, "-f", base.with_suffix(".conf"), "-i", base.with_suffix(".pid"),
                "-z", folder / "zserv.api", "--vty_socket", folder, "-P", 0,
                "--log", "stdout", *options, stdout=log, stderr=subprocess.STDOUT))

    try:
        start("zebra", "")
        wait_until((folder / "zserv.api").exists, "FRR's zebra does not start", patience=PATIENCE)
        start("bfdd", BFD, "--bfdctl", folder / "bfdd.sock")
        start("bgpd", bgp)
        yield
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            process.kill()


def link(one, other, addresses, **names):
    """Joins two namespaces; addresses: of those that have one. names: as join() has them."""
    join(one, 0, other, checksums=False, **names)
    for host, interface, address in addresses:
        host.ip("address", "add", f"{address}/24", "dev", interface)
        host.ip("link", "set", interface, "up")


class Site(Network):
    """A switch, number 1 or more, between the router and a speaker. A context manager."""

    _memory = 256

    def __init__(self, program, number, router):
        super().__init__(program, ("router", "speaker"), ["--tables", "fp16_exact"])
        self.number, self._router = number, router

    def _connect(self, middle):
        speaker = self._stack.enter_context(Namespace())
        self.folder.chmod(0o711)
        ends = ((self._router, f"s{self.number}"), (speaker, "eth0"))
        for port, (host, interface) in enumerate(ends):
            link(middle, host, [(host, interface, link_address(self.number, 3 if port else 1))],
                 name=f"p{port}", interface=interface)
            # Checksums are to be whole where the switch sees them.
            host.run("ethtool", "-K", interface, "tx", "off")
        self.hosts["speaker"] = speaker

    def _forwarding(self):
        return ["--forward", "pair", f"--address={link_address(self.number, 2)}/24@0",
                f"--address={ANYCAST}@0"]

    def _start_switch(self, middle):
        super()._start_switch(middle)
        wait_until(lambda: self.requests() is not None, f"switch {self.number} does not answer")

    def speak(self):
        """Announces the switch. A context manager."""
        return routing(self.hosts["speaker"], self.folder / "speaker", speaker_config(self.number))

    def requests(self):
        """Requests that it has computed since its start; None: it does not run."""
        try:
            with Telemetry(self.telemetry) as telemetry:
                stats = telemetry.ask("/netfc/stats")
        except TelemetryError:
            return None
        return stats and stats["netfc_packets"]


class Anycast:
    """The network, while the stack is not closed. Raises CommandError.

    client: the clients' Namespace; sites: the switches.
    """

    def __init__(self, stack, program, count=2):
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="netfc-")))
        folder.chmod(0o711)
        self.client, self._router = (stack.enter_context(Namespace()) for _ in range(2))
        link(self._router, self.client,
             [(self._router, "c0", GATEWAY), (self.client, "eth0", CLIENT)], name="c0")
        self.client.ip("route", "add", "default", "via", GATEWAY)
        with self._router.entered():
            # Flows, ports included, are what is spread.
            for setting in ("ip_forward", "fib_multipath_hash_policy"):
                pathlib.Path(f"/proc/sys/net/ipv4/{setting}").write_text("1\n", encoding="ascii")
        self.sites = [stack.enter_context(Site(program, number, self._router))
                      for number in range(1, count + 1)]
        for site in self.sites:
            stack.enter_context(site.speak())
        stack.enter_context(routing(self._router, folder / "router", router_config(count)))
        self.wait_for_routes(count)

    def routes(self):
        """How many switches the router knows a way to."""
        routes = json.loads(self._router.ip("-json", "route", "show", f"{ANYCAST}/32"))
        return sum(len(route.get("nexthops", [route])) for route in routes)

    def wait_for_routes(self, count):
        """Waits until the router knows that many; the seconds that it took."""
        began = time.monotonic()
        wait_until(lambda: self.routes() == count, f"no routes to {count} of the switches",
                   patience=PATIENCE)
        return time.monotonic() - began
