# SPDX-License-Identifier: BSD-3-Clause
"""Clients of an anycast address, while one of its two switches is killed and comes back."""

import contextlib
import threading
import time

import numpy

from anycast.network import ANYCAST, Anycast, has_frr
from background import Background
from command import CommandLine, narrator, write_json
from netfc import Client, ClientError

CLIENTS = 16  # flows: that all go to one switch happens once in 32,768 times
LANES = 100
PAUSE = 0.005  # seconds between a client's requests
RETRIES = 40


class Load(Background):
    """Clients that add numbers, each with a socket, which is a flow, of its own. A context manager."""

    def __init__(self, host):
        super().__init__(CLIENTS)
        self._host, self._lock = host, threading.Lock()
        self.requests = self.lanes = self.wrong = self.failed = self.sent_again = 0
        self.longest = 0.0  # seconds for an answer

    def run(self, number):
        draw = numpy.random.default_rng(number)
        with self._host.entered(), Client(ANYCAST, retries=RETRIES) as client:
            while not self.stop.is_set():
                self._ask(client, draw)
                time.sleep(PAUSE)
            with self._lock:
                self.sent_again += client.counters.sent_again

    def _ask(self, client, draw):
        x, y = draw.uniform(-100, 100, (2, LANES)).astype(numpy.float16)
        began = time.monotonic()
        try:
            wrong = int(numpy.sum(client.add(x, y) != x + y))
        except ClientError:
            with self._lock:
                self.failed += 1
            return
        with self._lock:
            self.requests += 1
            self.lanes += LANES
            self.wrong += wrong
            self.longest = max(self.longest, time.monotonic() - began)


def run(program, seconds, log):
    """A third of the time each with both switches, with one, with both again. Returns figures."""
    log("network namespaces, two switches, FRR: BGP with BFD through each switch")
    with contextlib.ExitStack() as stack:
        network = Anycast(stack, program)
        killed, other = network.sites
        with Load(network.client) as load:
            log(f"{CLIENTS} clients ask {ANYCAST}")
            time.sleep(seconds / 3)
            figures = {"both": [site.requests() for site in network.sites]}
            log(f"requests computed by the switches: {figures['both']}; now one is killed")
            killed.kill()
            figures["withdrawn_s"] = network.wait_for_routes(1)
            log(f"its route is withdrawn after {figures['withdrawn_s']:.2f} s")
            time.sleep(seconds / 3)
            figures["one"] = other.requests() - figures["both"][1]
            log(f"requests computed by the other since: {figures['one']}; the first is started again")
            killed.start_again()
            figures["announced_s"] = network.wait_for_routes(2)
            before = other.requests()
            time.sleep(seconds / 3)
            figures["both_again"] = [killed.requests(), other.requests() - before]
            log(f"requests computed by the switches: {figures['both_again']}")
    return {**figures, "requests": load.requests, "lanes": load.lanes, "wrong": load.wrong,
            "failed": load.failed, "sent_again": load.sent_again, "longest_s": load.longest}


def describe(figures):
    """Human-readable lines."""
    return "\n".join((
        f"Requests answered                {figures['requests']:,} ({figures['lanes']:,} lanes)",
        f"Lanes with a wrong result        {figures['wrong']}",
        f"Requests without an answer       {figures['failed']}",
        f"Datagrams sent again             {figures['sent_again']:,}",
        f"Longest wait for an answer       {figures['longest_s']:.2f} s",
        f"Route withdrawn after the kill   {figures['withdrawn_s']:.2f} s",
    ))


def main():
    """The command line."""
    parser = CommandLine("demo anycast", __doc__)
    parser.add_argument("--seconds", type=float, default=15, help="of load (default 15)")
    options = parser.parse_args()
    if not has_frr():
        parser.fail("FRR is not installed (Debian: frr)")
    with parser.in_namespaces():
        figures = run(options.build / "app" / "dpdk-netfc", options.seconds, narrator())
    print(describe(figures))
    write_json(options.json, figures)
    if figures["wrong"] or figures["failed"]:
        parser.fail("clients did not get all of their results")


if __name__ == "__main__":
    main()
