# SPDX-License-Identifier: BSD-3-Clause
"""Times of PyTorch's all_reduce of short vectors: by the switch, without one, and by gloo in turns.

Ranks and switch are on one machine; the switch has one port, AF_PACKET on a veth pair, and gloo
the loopback interface.
"""

import contextlib
import json
import os
import statistics

from benchmark.allreduce.paths import PATHS, Wired
from children import Child
from command import CommandLine, head, row, write_json

VALUES = (1, 16, 256, 1024)
RANKS = (2, 4)
LIMIT = 1.5  # of gloo's time
PORT = 29517
MAX_BYTES = 4096


def measure(build, ranks, rounds, times, is_async):
    """Of each length: by back end, for each round the seconds of a sum at the slowest rank."""
    path = next(path for path in PATHS if path.name == "AF_PACKET on veth")
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(Wired(build / "app" / "dpdk-netfc", 2, path))
        host = next(iter(network.hosts.values()))
        host.ip("link", "set", "lo", "up")
        options = {"address": network.address, "ranks": ranks, "store": f"tcp://127.0.0.1:{PORT}",
                   "async": is_async}
        children = [stack.enter_context(Child(
            host, "benchmark.allreduce.rank", {**options, "rank": rank}, OMP_NUM_THREADS="1",
            USE_LIBUV="0", GLOO_SOCKET_IFNAME="lo", NETFC_BUILD=str(build)))
            for rank in range(ranks)]
        answers = [child.listen(patience=3600) for child in children]
        took = {}
        for values in VALUES:
            for child in children:
                child.tell(json.dumps({"values": values, "times": times, "rounds": rounds}))
            answers = [child.listen(patience=3600) for child in children]
            took[values] = {by: [max(each) for each in zip(*(one[by] for one in answers))]
                            for by in answers[0]}
        for child in children:
            child.end()
    return took


def main():
    """The command line."""
    parser = CommandLine("bench short-sums", __doc__)
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--async", action="store_true", dest="is_async",
                        help="with async_op=True, and wait()")
    options = parser.parse_args()
    before, results = os.getloadavg()[0], []
    with parser.in_namespaces():
        for ranks in RANKS:
            rounds, times = (5, 50) if options.quick else (15, 200)
            results.append({"ranks": ranks, "seconds": measure(
                options.build, ranks, rounds, times, options.is_async)})
    write_json(options.json, {"results": results, "load": before})
    print(f"all_reduce of float32, medians over rounds; {os.cpu_count()} cores, whose load was "
          f"{before:.1f} before\n")
    print(head("ranks", "values", "netfc", "netfc, no switch", "gloo", "netfc / gloo"))
    worst = 0.0
    for result in results:
        for values, took in result["seconds"].items():
            netfc, local, gloo = (
                statistics.median(took[by]) for by in ("netfc", "no switch", "gloo"))
            worst = max(worst, netfc / gloo)
            print(row(result["ranks"], values,
                      *(f"{1e3 * seconds:.3f} ms" for seconds in (netfc, local, gloo)),
                      f"{netfc / gloo:.2f}"))
    print(f"\nup to {MAX_BYTES} bytes: {worst:.2f} of gloo's time (at most {LIMIT}"
          f"{'' if worst <= LIMIT else ': MISSED'})")


if __name__ == "__main__":
    main()
