# SPDX-License-Identifier: BSD-3-Clause
"""Trees of one, two and three levels of running switches, whose links lose, double and reorder.

Eight workers send the same values through each tree, of all formats, in sums, means, least and
greatest values. What each worker gets is compared bit by bit with the exact result, rounded once:
that is what one switch gives, which is the tree of one level.
"""

import itertools
import json
import math
import os
import subprocess
import time

from command import CommandLine, write_json
from namespaces import Built, CommandError
from relay import Relay
from switch_tree import SwitchTree

FANS = {1: (2,), 2: (2, 1), 3: (2, 2, 1)}  # a host at each leaf has all its workers
WORKERS = 8
SLOTS, FRAMES = 256, 512
CHUNK_LANES = 330  # in the mean
RETRY_MS, GIVE_UP_S = 40, 300
WORKER_IP = 130  # the last byte of the first worker's
VALUES = "format=all,op=sum+mean+min+max,data=all,length=any"
COUNTS = ("lost", "duplicates", "reordered")


class Trial(Built):
    """A tree, and netfc-bench as each leaf's workers. A context manager; raises CommandError."""

    def __init__(self, options, levels):
        super().__init__()
        self._options, self._levels = options, levels
        self._seeds = itertools.count(1)
        self.relays, self.benches = [], []

    def _relay(self):
        share = self._options.loss / 100
        self.relays.append(Relay(share, share, share, next(self._seeds)))
        return self.relays[-1]

    def _build(self):
        programs = self._options.build / "app"
        tree = self._stack.enter_context(SwitchTree(
            programs / "dpdk-netfc", FANS[self._levels], f"slots={SLOTS},stall=60", FRAMES,
            relays=self._relay))
        for number, leaf in enumerate(tree.leaves):
            self.benches.append((leaf.folder / "report", self._start(
                programs / "netfc-bench", leaf, WORKERS // len(tree.leaves), number)))
            self._stack.callback(self.benches[-1][1].kill)

    def _start(self, program, leaf, workers, number):
        """The workers of a leaf."""
        place = "+".join(f"{index}of{members}" for members, index in leaf.path)
        chunks, share = math.ceil(self._options.lanes / CHUNK_LANES), self._options.loss
        keys = [f"workers={workers}", f"slots={SLOTS}", VALUES, f"chunks={chunks}",
                f"different={min(chunks, 100_000)}", f"retry={RETRY_MS}", f"give_up={GIVE_UP_S}",
                f"loss={share}", f"duplicate={share}", f"reorder={share}"]
        cpus = ",".join(map(str, sorted(os.sched_getaffinity(0))))
        return leaf.hosts[0].start(
            program, "--no-huge", "-m", 512, "--no-pci", "--no-telemetry", "--lcores",
            f"0@({cpus})", "--file-prefix", "bench",
            f"--vdev=net_af_packet0,iface=eth0,framecnt={FRAMES}", "--",
            f"--aggregate={','.join(keys + [f'place={place}'] * bool(place))}",
            "--src-ip", f"10.1.0.{WORKER_IP + number * workers}", "--dst-ip", leaf.address,
            "--progress", 0, "--json", leaf.folder / "report",
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env={**os.environ, "RUNTIME_DIRECTORY": str(leaf.folder)})

    def reports(self):
        """Of all netfc-bench, when they have ended. Raises CommandError where one failed."""
        for _, bench in self.benches:
            _, errors = bench.communicate()
            if bench.returncode != 0:
                raise CommandError(f"netfc-bench failed:\n{errors}")
        return [json.loads(path.read_text(encoding="utf-8")) for path, _ in self.benches]


def figures_of(trial, reports, seconds):
    """What has come of a tree."""
    links = [report[way] for report in reports for way in ("outward", "inward")]
    between = {"lost": sum(relay.lost for relay in trial.relays),
               "duplicates": sum(relay.sent_twice for relay in trial.relays),
               "reordered": sum(relay.late for relay in trial.relays)}
    return {
        "lanes": reports[0]["values"] // reports[0]["configuration"]["workers"],
        "results": sum(report["results"] for report in reports),
        "wrong": sum(report["wrong"] for report in reports), "seconds": seconds,
        "workers_links": {name: sum(link[name] for link in links) for name in COUNTS},
        "switches_links": between,
    }


HEAD = ("levels", "switches", "values of a worker", "results", "wrong",
        "lost, doubled, late: workers' links", "links between switches")


def row_of(levels, figures):
    """A line of the table."""
    switches = sum(math.prod(FANS[levels][:n]) for n in range(levels))
    ways = [", ".join(f"{figures[where][name]:,}" for name in COUNTS)
            for where in ("workers_links", "switches_links")]
    cells = [levels, switches, f"{figures['lanes']:,}", f"{figures['results']:,}", figures["wrong"],
             *ways]
    return f"| {' | '.join(map(str, cells))} |"


def run(options):
    """All trees, each of which has its line printed. Returns figures."""
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    found = {}
    for levels in options.levels:
        begun = time.monotonic()
        with Trial(options, levels) as trial:
            reports = trial.reports()
        found[levels] = figures_of(trial, reports, time.monotonic() - begun)
        print(row_of(levels, found[levels]), flush=True)
    return found


def parsed():
    """The command line."""
    parser = CommandLine("demo tree-loss", __doc__)
    parser.add_argument("--lanes", type=int, default=2_000_000,
                        help="values of each worker, about (default %(default)s)")
    parser.add_argument("--loss", type=int, default=20, help="percent of packets on each link that "
                        "are lost, as many that come twice, as many that others overtake (default "
                        "%(default)s)")
    parser.add_argument("--levels", type=int, choices=FANS, nargs="+", default=list(FANS),
                        help="of the trees (default: each)")
    options = parser.parse_args()
    if not 1000 <= options.lanes <= 1_000_000_000 or not 0 <= options.loss <= 50:
        parser.error("--lanes: give 1,000 to 1,000,000,000; --loss: 0 to 50")
    return parser, options


def main():
    """The command line."""
    parser, options = parsed()
    with parser.in_namespaces(as_user=True):
        found = run(options)
    write_json(options.json, found)
    if any(figures["wrong"] for figures in found.values()):
        parser.fail("that is not what was promised")


if __name__ == "__main__":
    main()
