# SPDX-License-Identifier: BSD-3-Clause
"""Sums of float32 vectors that are mostly zeros, over links of limited speed: times and bytes.

Which values of a worker are not 0 is drawn for each worker by itself, in blocks of 4096 or one by
one (scattered). gloo sends all of them, whatever they are. Every sum is checked, bit for bit.
Needs root.
"""

import json
import os
import sys

from benchmark.allreduce.run import typical, workers_on_links
from benchmark.allreduce.units import size_text, time_text
from command import CommandLine, head, row, write_json

BLOCK = 4096
SIZES = (1_000_000, 10_000_000, 100_000_000)
SHARES = (0.1, 0.01, 0.001)  # that are not 0
LAYOUTS = {"blocks": BLOCK, "scattered": 1}
DENSE = "none"


def cases():
    """What is not 0: (layout, share)."""
    yield DENSE, 1.0
    yield from ((layout, share) for layout in LAYOUTS for share in SHARES)


def link_bytes(host):
    """That a host has sent and received."""
    (link,) = json.loads(host.run("ip", "-j", "-s", "link", "show", "eth0"))
    return [link["stats64"][way]["bytes"] for way in ("tx", "rx")]


def measure(team, size, times, layout, share):
    """Seconds, and the bytes that a worker sends and receives for a vector, on average."""
    more = {} if layout == DENSE else {"filled": share, "block": LAYOUTS[layout]}
    team.seconds(size, 1, **more)
    before = [link_bytes(host) for host in team.hosts]
    took = team.seconds(size, times, **more)
    after = [link_bytes(host) for host in team.hosts]
    moved = [sum(now[way] - then[way] for now, then in zip(after, before)) / len(team.hosts) / times
             for way in range(2)]
    return {"bytes": size, "layout": layout, "share": share, "seconds": took,
            "sent": moved[0], "received": moved[1]}


def results(options):
    """All measurements, one after the other."""
    for by in ("netfc", "gloo"):
        with workers_on_links(options.build, by, options.workers, mbit=options.mbit) as team:
            for size in options.sizes:
                for layout, share in cases():
                    if by == "netfc" or layout == DENSE:
                        yield {"by": by, **measure(team, size, options.times, layout, share)}


def table(found):
    """Lines of Markdown."""
    yield head("vector", "zeros", "time", "longest", "of gloo's", "sent", "received")
    gloo = {each["bytes"]: each for each in found if each["by"] == "gloo"}
    for each in found:
        zeros = f"{100 * (1 - each['share']):.3g} % in {each['layout']}"
        took, other = typical(each["seconds"]), typical(gloo[each["bytes"]]["seconds"])
        what = {"gloo": "gloo", "netfc": "none" if each["layout"] == DENSE else zeros}[each["by"]]
        yield row(size_text(each["bytes"]), what.replace("in scattered", "scattered"), time_text(took),
                  time_text(max(each["seconds"])), f"{took / other:.2f}", *(f"{each[way] / 1e6:.3g} MB" for way in ("sent", "received")))


def main():
    """The command line."""
    parser = CommandLine("bench sparse", __doc__)
    parser.add_argument("--quick", action="store_true", help="vectors of 1 MB alone")
    parser.add_argument("--sizes", type=int, least=4, nargs="+", default=SIZES,
                        help="bytes of a vector")
    parser.add_argument("--workers", type=int, least=2, most=64, default=4)
    parser.add_argument("--mbit", type=int, default=100, help="of each link, each way")
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    if options.quick:
        options.sizes = SIZES[:1]
    found = []
    with parser.in_namespaces():
        for each in results(options):
            found.append(each)
            write_json(options.json, found)
            print(f"{each['by']}, {size_text(each['bytes'])}, {each['layout']}, {each['share']}: "
                  f"{time_text(typical(each['seconds']))}", file=sys.stderr)
    print(f"{options.workers} workers, links of {options.mbit} Mbit/s, least of {options.times} times;"
          f" load average {os.getloadavg()[0]:.0f}\n")
    for line in table(sorted(found, key=lambda each: each["bytes"])):
        print(line)


if __name__ == "__main__":
    main()
