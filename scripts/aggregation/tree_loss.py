# SPDX-License-Identifier: BSD-3-Clause
"""Trees of one, two and three levels of running switches, whose links lose, double and reorder.

Eight workers send the same values through each tree, of all formats, in sums, means, least and
greatest values. What each worker gets is compared bit by bit with the exact result, rounded once:
that is what one switch gives, which is the tree of one level.
"""

import contextlib
import itertools
import json
import math
import os
import subprocess
import time

from command import CommandLine, head, row, write_json
from namespaces import CommandError
from programs import any_cpu, killed
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


def start_bench(program, options, leaf, workers, number):
    """netfc-bench as the workers of a leaf."""
    place = "+".join(f"{index}of{members}" for members, index in leaf.path)
    chunks, share = math.ceil(options.lanes / CHUNK_LANES), options.loss
    keys = [f"workers={workers}", f"slots={SLOTS}", VALUES, f"chunks={chunks}",
            f"different={min(chunks, 100_000)}", f"retry={RETRY_MS}", f"give_up={GIVE_UP_S}",
            f"loss={share}", f"duplicate={share}", f"reorder={share}"]
    return leaf.hosts[0].start(
        program, "--no-huge", "-m", 512, "--no-pci", "--no-telemetry", "--lcores", any_cpu(1),
        "--file-prefix", "bench", f"--vdev=net_af_packet0,iface=eth0,framecnt={FRAMES}", "--",
        f"--aggregate={','.join(keys + [f'place={place}'] * bool(place))}",
        "--src-ip", f"10.1.0.{WORKER_IP + number * workers}", "--dst-ip", leaf.address,
        "--progress", 0, "--json", leaf.folder / "report",
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "RUNTIME_DIRECTORY": str(leaf.folder)})


def trial(options, levels):
    """A tree, with netfc-bench as each leaf's workers: the links' relays, the reports of all."""
    relays, seeds, share = [], itertools.count(1), options.loss / 100

    def relay():
        relays.append(Relay(share, share, share, next(seeds)))
        return relays[-1]

    programs = options.build / "app"
    with contextlib.ExitStack() as stack:
        leaves = stack.enter_context(SwitchTree(
            programs / "dpdk-netfc", FANS[levels], f"slots={SLOTS},stall=60", FRAMES,
            relays=relay)).leaves
        benches = [stack.enter_context(killed(start_bench(
            programs / "netfc-bench", options, leaf, WORKERS // len(leaves), number)))
            for number, leaf in enumerate(leaves)]
        for bench in benches:
            _, errors = bench.communicate()
            if bench.returncode != 0:
                raise CommandError(f"netfc-bench failed:\n{errors}")
        return relays, [json.loads((leaf.folder / "report").read_text(encoding="utf-8"))
                        for leaf in leaves]


def figures_of(relays, reports, seconds):
    """What has come of a tree."""
    links = [report[way] for report in reports for way in ("outward", "inward")]
    between = {"lost": sum(relay.lost for relay in relays),
               "duplicates": sum(relay.sent_twice for relay in relays),
               "reordered": sum(relay.late for relay in relays)}
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
    return row(levels, switches, f"{figures['lanes']:,}", f"{figures['results']:,}",
               figures["wrong"], *ways)


def run(options):
    """All trees, each of which has its line printed. Returns figures."""
    print(head(*HEAD), flush=True)
    found = {}
    for levels in options.levels:
        begun = time.monotonic()
        found[levels] = figures_of(*trial(options, levels), time.monotonic() - begun)
        print(row_of(levels, found[levels]), flush=True)
    return found


def parsed():
    """The command line."""
    parser = CommandLine("demo tree-loss", __doc__)
    parser.add_argument("--lanes", type=int, least=1000, most=1_000_000_000, default=2_000_000,
                        help="values of each worker, about (default %(default)s)")
    parser.add_argument("--loss", type=int, least=0, most=50, default=20, help="percent of packets on each link that "
                        "are lost, as many that come twice, as many that others overtake (default "
                        "%(default)s)")
    parser.add_argument("--levels", type=int, choices=FANS, nargs="+", default=list(FANS),
                        help="of the trees (default: each)")
    return parser, parser.parse_args()


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
