# SPDX-License-Identifier: BSD-3-Clause
"""A web server, honest clients, an attack, and the switch between them, watched.

Prints what happens and, with --out, writes figures.json and demo.svg.
"""

import itertools
import json
import time

from background import Background
from command import CommandLine, folder_to_write, narrator, write_json
from netfc import Client
from netfc.telemetry import Telemetry
from slowloris import actors
from switched import SWITCH_ADDRESS, Network

HOSTS = ("server", "honest", "attacker", "inquirer")
BEFORE, AFTER = 3, 3  # seconds
SERVER_CONNECTIONS = 96
BODY_TIMEOUT = 2  # seconds
ATTACKERS, RATE = 300, 100
SAMPLE = 0.05  # seconds between queries
THRESHOLD, LEAST = 0.0005, 40
# An attacking connection sends less than this in its grace.
SLOW_BYTES, GRACE_MS = 2000, 2000
RECOVERED = 5  # requests in a row that succeed


def detector_options(policy):
    """Options of the switch; policy "none" is a dry run."""
    options = ["--slowloris", "--slowloris-threshold", THRESHOLD, "--slowloris-connections", LEAST,
               "--slowloris-bytes", SLOW_BYTES, "--slowloris-grace", GRACE_MS]
    return options + (["--slowloris-dry-run"] if policy == "none"
                      else ["--slowloris-policy", policy])


class Inquirer(Background):
    """Asks the switch about the server all the time, through the data path. A context manager.

    samples: (when, connections per byte, connections, bytes).
    """

    def __init__(self, host, address):
        super().__init__()
        self.samples = []
        self._host, self._address = host, address

    def run(self, _):
        with self._host.entered(), Client(SWITCH_ADDRESS) as client:
            while not self.stop.wait(SAMPLE):
                answer = client.query(self._address)
                self.samples.append((time.monotonic(), *answer))


class Watch(Background):
    """Looks at the alarm, over telemetry, so that its beginning and end are known."""

    def __init__(self, network, address):
        super().__init__()
        self.changes = []  # (when, under attack)
        self._path, self._address = network.telemetry, address

    def run(self, _):
        before = 0
        with Telemetry(self._path) as telemetry:
            while not self.stop.wait(SAMPLE / 5):
                now = telemetry.ask(f"/netfc/slowloris,{self._address}")["under_attack"]
                if now != before:
                    self.changes.append((time.monotonic(), bool(now)))
                before = now


def success_rate(results, begin, end):
    """The part of requests begun in a time that succeeded; None if there was none."""
    some = [good for when, good in results if begin <= when < end]
    return sum(some) / len(some) if some else None


def recovery(results, begin):
    """When the first of RECOVERED requests in a row was begun that succeeded, after a failure."""
    goods = [(when, good) for when, good in sorted(results) if when >= begin]
    after = list(itertools.dropwhile(lambda result: result[1], goods))
    for at, (when, _) in enumerate(after):
        if [good for _, good in after[at:at + RECOVERED]] == [True] * RECOVERED:
            return when
    return None


def run(program, policy, seconds, log):
    """Runs it all. Returns figures: times in seconds from the attack's first packet on."""
    with Network(program, HOSTS, detector_options(policy)) as network:
        hosts = network.hosts
        server = hosts["server"].ipv4
        url = f"http://{server}/"
        with actors.server(hosts["server"], network.folder, SERVER_CONNECTIONS, BODY_TIMEOUT), \
                actors.PacketCounter(hosts["server"]) as arrived, \
                actors.PacketCounter(hosts["honest"]) as left, \
                actors.PacketCounter(hosts["attacker"]) as attacked, \
                Inquirer(hosts["inquirer"], server) as inquirer, \
                Watch(network, server) as watch:
            time.sleep(1)
            with actors.HonestClients(hosts["honest"], url) as honest:
                log(f"honest clients ask {url}")
                time.sleep(BEFORE)
                process = actors.attack(hosts["attacker"], url + "form", ATTACKERS, RATE, seconds)
                log(f"slowhttptest opens {ATTACKERS} connections, {RATE} a second")
                time.sleep(seconds)
                process.terminate()
                process.wait()
                ended = time.monotonic()
                log("the attack is over")
                time.sleep(AFTER)
            time.sleep(1)  # until the last packets have come
        stats = json.loads(network.stop())
    start = attacked.first
    way = (hosts["honest"].ipv4, server)
    detected = next((when for when, alarm in watch.changes if alarm), None)
    recovered = recovery(honest.results, start)
    return {
        "policy": policy,
        "attack_s": ended - start,
        "detected_s": detected and detected - start,
        "recovered_s": recovered and recovered - start,
        "changes": [(when - start, alarm) for when, alarm in watch.changes],
        "success": {
            "before": success_rate(honest.results, 0, start),
            "during": success_rate(honest.results, start, ended),
            "last_third": success_rate(honest.results, ended - (ended - start) / 3, ended),
            "after": success_rate(honest.results, ended, float("inf")),
        },
        "honest_packets": {"sent": left.sent[way], "received": arrived.received[way]},
        "requests": [(when - start, good) for when, good in sorted(honest.results)],
        "samples": [(when - start, *rest) for when, *rest in inquirer.samples],
        "drops": stats["drops"],
        "detector": stats["slowloris"],
        "threshold": THRESHOLD,
        "least": LEAST,
    }


def seconds_text(value):
    """For people."""
    return "never" if value is None else f"{value:.2f} s"


def recovery_text(figures):
    """When the server served again, if it ever did not."""
    if figures["recovered_s"] is None and figures["success"]["during"] == 1:
        return "it always did"
    return seconds_text(figures["recovered_s"])


def describe(figures):
    """Human-readable lines."""
    percent = {name: "-" if rate is None else f"{rate:.0%}"
               for name, rate in figures["success"].items()}
    packets = figures["honest_packets"]
    drops = {name: count for name, count in figures["drops"].items() if count}
    return "\n".join((
        f"Policy: {figures['policy']}",
        f"Attack detected after its first packet   {seconds_text(figures['detected_s'])}",
        f"Server serves again after it             {recovery_text(figures)}",
        f"Honest requests that succeeded           before {percent['before']}, during the attack "
        f"{percent['during']} (its last third {percent['last_third']}), after {percent['after']}",
        f"Honest clients' packets                  {packets['sent']} sent, "
        f"{packets['received']} came to the server",
        f"Dropped                                  {drops or 'nothing'}",
    ))


def main():
    """The command line."""
    parser = CommandLine("demo slowloris", __doc__)
    parser.add_argument("--policy", choices=("destination", "connection", "none"),
                        default="connection", help="none: a dry run (default: connection)")
    parser.add_argument("--seconds", type=int, default=20, help="of the attack (default 20)")
    parser.add_argument("--out", type=folder_to_write, help="a folder for figures.json and demo.svg")
    options = parser.parse_args()
    with parser.in_namespaces():
        figures = run(options.build / "app" / "dpdk-netfc", options.policy, options.seconds,
                      narrator())
    print(describe(figures))
    write_json(options.json, figures)
    if options.out:
        from slowloris import plot  # pylint: disable=import-outside-toplevel
        options.out.mkdir(parents=True, exist_ok=True)
        write_json(options.out / "figures.json", figures)
        plot.draw(figures, options.out / "demo.svg")
        print(f"Written: {options.out}/figures.json, {options.out}/demo.svg")


if __name__ == "__main__":
    main()
