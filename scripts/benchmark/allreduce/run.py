# SPDX-License-Identifier: BSD-3-Clause
"""Times of summing vectors of float32 over workers whose links are limited, three ways.

netfc: dpdk-netfc adds up; gloo: PyTorch's ring; server: a parameter server on a link as fast as
a worker's. Each worker is a process in a network namespace of its own; the same links for all.
"""

import contextlib
import statistics
import sys
import time

from benchmark.allreduce import lengths, paths
from benchmark.allreduce.links import Switched, bridged
from benchmark.allreduce.team import Workers, total
from benchmark.allreduce.units import size_text, time_text
from children import Child
from command import CommandLine, head, row, write_json

WAYS = ("netfc", "gloo", "server")
MBIT = 100
LOST = 0.01
SMALL, LARGE, HUGE = 1024, 10_000_000, 100_000_000  # bytes
COLLECTIVES = ("reduce", "reduce_scatter", "all_gather", "broadcast", "barrier")
MBITS = (100, 1000)
LIMITS = {"all_gather": 0.75, "broadcast": 0.6, "reduce_scatter": 0.75, "barrier": 0.5}


@contextlib.contextmanager
def workers_on_links(build, by, count, lost=0.0, mbit=MBIT):
    """Workers that sum one way. Raises CommandError."""
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(
            Switched(build / "app" / "dpdk-netfc", count, mbit, lost) if by == "netfc" else
            bridged(count + (by == "server"), mbit, lost))
        if by == "server":
            server = network.hosts[count]
            network.address = server.ipv4
            stack.enter_context(Child(server, "benchmark.allreduce.server",
                                      {"workers": count, "address": server.ipv4}))
        yield Workers(stack, build, by, network, count)


def measure(build, by, count, tasks, lost=0.0):
    """Seconds, by bytes: (bytes, times) each; the first time warms up and is left out."""
    with workers_on_links(build, by, count, lost) as team:
        took = {str(size): team.seconds(size, times + 1)[1:] for size, times in tasks}
        counters = team.counters()
    return {"workers": count, "by": by, "lost": lost, "seconds": took,
            "sent": total(counters, "sent"), "retransmitted": total(counters, "retransmitted")}


def plan(quick):
    """What is measured: keyword arguments of measure()."""
    small = (SMALL, 100 if quick else 300)
    for count in (4,) if quick else (4, 8):
        for by in WAYS:
            yield {"by": by, "count": count, "tasks": [small, large(by, quick)]}
    for by in ("netfc",) if quick else ("netfc", "gloo"):
        yield {"by": by, "count": 4, "tasks": [large(by, quick)], "lost": LOST}
    if not quick:
        for by in ("netfc", "gloo"):
            yield {"by": by, "count": 4, "tasks": [(HUGE, 1)]}


def large(by, quick):
    """The task that loads the links; the server takes several times as long as the others."""
    return (LARGE // 10 if quick else LARGE, 1 if quick else 2 if by == "server" else 5)


def typical(took):
    """Of short times the median; of long ones the least: the machine's other work only adds."""
    middle = statistics.median(took)
    return middle if middle < 0.05 else min(took)


def find(results, by, count, lost, size):
    """The time for that, in seconds; None: not measured."""
    for result in results:
        if (result["by"], result["workers"], result["lost"]) == (by, count, lost):
            if str(size) in result["seconds"]:
                return typical(result["seconds"][str(size)])
    return None


def table(results):
    """Lines of Markdown."""
    cases = sorted({(int(size), result["workers"], result["lost"])
                    for result in results for size in result["seconds"]})
    lines = [head("values of each worker", "workers", "packets lost", "switch", "gloo's ring",
                  "parameter server", "switch / ring")]
    for size, count, lost in cases:
        times = [find(results, by, count, lost, size) for by in WAYS]
        ratio = f"{times[0] / times[1]:.2f}" if times[0] and times[1] else ""
        lines.append(row(size_text(size), count, f"{100 * lost:.0f} %",
                         *(time_text(each) if each else "" for each in times), ratio))
    return "\n".join(lines)


def promises(results):
    """What is to hold: (text, figure, limit); figures are None where nothing was measured."""
    def ratio(size, count):
        netfc, gloo = (find(results, by, count, 0.0, size) for by in ("netfc", "gloo"))
        return netfc / gloo if netfc and gloo else None

    whole, with_loss = (find(results, "netfc", 4, lost, LARGE) for lost in (0.0, LOST))
    yield "10 MB, 4 workers: share of gloo's time", ratio(LARGE, 4), 0.75
    yield "10 MB, 8 workers: share of gloo's time", ratio(LARGE, 8), 0.65
    yield "1 KB, 4 workers: share of gloo's latency", ratio(SMALL, 4), 0.5
    yield "1 KB, 8 workers: share of gloo's latency", ratio(SMALL, 8), 0.5
    yield ("10 MB, 4 workers: time with 1 % of packets lost, over without",
           with_loss / whole if with_loss and whole else None, 1.2)


def measure_collectives(build, by, mbit, quick):
    """Seconds of each, by name; the first time warms up and is left out."""
    times = 1 if quick else 5
    with workers_on_links(build, by, 4, mbit=mbit) as team:
        return {kind: team.seconds(LARGE // 10 if quick else LARGE, times + 1, kind)[1:]
                for kind in COLLECTIVES[:-1]} | {
                    "barrier": team.seconds(0, 20 * times + 1, "barrier")[1:]}


def collective_ratio(took, mbit, kind):
    """The switch's time over gloo's, and both."""
    switch, gloo = (typical(took[by, mbit][kind]) for by in ("netfc", "gloo"))
    return switch / gloo, switch, gloo


def collectives(options):
    """Measures and prints all but all_reduce with four workers."""
    took = {(by, mbit): measure_collectives(options.build, by, mbit, options.quick)
            for mbit in MBITS for by in ("netfc", "gloo")}
    write_json(options.json, [{"by": by, "mbit": mbit, "workers": 4, "seconds": seconds}
                              for (by, mbit), seconds in took.items()])
    size = "1 MB" if options.quick else "10 MB"
    print(f"4 workers, vectors of {size} of float32, all parts together; the least of several\n")
    print(head("", "link", "switch", "gloo", "switch / gloo"))
    for kind in COLLECTIVES:
        for mbit in MBITS:
            ratio, switch, gloo = collective_ratio(took, mbit, kind)
            print(row(kind, f"{mbit} Mbit/s", time_text(switch), time_text(gloo), f"{ratio:.2f}"))
    print()
    for kind, limit in LIMITS.items():
        print(promise_text(f"{kind}: share of gloo's time", collective_ratio(took, MBIT, kind)[0],
                           limit))


def promise_text(text, figure, limit):
    """Whether it is kept."""
    return f"{text} {figure:.2f} (at most {limit}{'' if figure <= limit else ': MISSED'})"


def sums(options):
    """Measures and prints all_reduce, each way."""
    results = []
    for task in plan(options.quick):
        if task["by"] not in (options.only or WAYS) or \
                task["count"] != (options.workers or task["count"]):
            continue
        began = time.monotonic()
        results.append(measure(options.build, **task))
        write_json(options.json, {"mbit": MBIT, "results": results})
        print(f"{task['by']}, {task['count']} workers, {100 * task.get('lost', 0):.0f} % lost: "
              f"{time.monotonic() - began:.0f} s", file=sys.stderr)
    print(f"Links of {MBIT} Mbit/s each way; float32; 1 KB: medians, else the least of several\n")
    print(table(results) + "\n")
    for text, figure, limit in promises(results):
        if figure is not None:
            print(promise_text(f"{text}:", figure, limit))


def main():
    """The command line."""
    parser = CommandLine("bench allreduce", __doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--only", choices=WAYS, action="append", help="these ways")
    parser.add_argument("--workers", type=int, choices=(2, 4, 8),
                        help="so many only; with --paths 2 unless told")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--collectives", action="store_true",
                      help="the other collectives, at 100 Mbit/s and 1 Gbit/s, beside gloo")
    what.add_argument("--paths", action="store_true",
                      help="each way to the switch without a limit, beside gloo on veth")
    parser.add_argument("--values", type=lengths.lengths, metavar="N,...", nargs="?", const=[],
                        help="with --paths: lengths of the vectors, by the paths and by Open MPI, with "
                        f"{' and '.join(map(str, lengths.RANKS))} ranks unless told; "
                        f"{','.join(map(str, lengths.VALUES))} if none is given")
    options = parser.parse_args()
    with parser.in_namespaces():
        if options.collectives:
            collectives(options)
        elif options.values is not None:
            write_json(options.json, lengths.run(options))
        elif options.paths:
            write_json(options.json, paths.run(options.build, options.workers or 2, options.quick))
        else:
            sums(options)


if __name__ == "__main__":
    main()
