# SPDX-License-Identifier: BSD-3-Clause
"""Workers on the hosts of a network, and tasks for them."""

import json
import os
import tempfile

from children import Child
from netfc import allreduce


class Workers:
    """As long as the stack is not closed. Raises CommandError."""

    def __init__(self, stack, build, by, network, count=None, arguments=()):
        """On each of the network's hosts, or on so many of them.

        by: a way, of worker.WAYS. arguments: more of each worker's Communicator.
        """
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="netfc-"))
        self.hosts = hosts = list(network.hosts.values())[:count]
        options = {"by": by, "workers": len(hosts), "address": network.address,
                   "token": allreduce.draw_token(), "build": build,
                   "rendezvous": f"{folder}/rendezvous", "cores": worker_cores(by)}
        self._workers = [
            stack.enter_context(Child(host, "benchmark.allreduce.worker",
                                      {**options, "worker": number, "way": more},
                                      OMP_NUM_THREADS="1"))
            for number, (host, more) in enumerate(zip(hosts, arguments or [{}] * len(hosts)))]
        self._answers()

    def _answers(self):
        return [worker.listen(patience=3600) for worker in self._workers]

    def seconds(self, size, times, kind="all_reduce", **more):
        """Of the slowest worker, each time. more: of the task."""
        for worker in self._workers:
            worker.tell(json.dumps({"kind": kind, "bytes": size, "times": times, **more}))
        return [max(each) for each in zip(*self._answers())]

    def counters(self):
        """Of each worker; these end with it."""
        for worker in self._workers:
            worker.end()
        return self._answers()


def total(counters, name):
    """Of all workers' counters of that name."""
    return sum(each.get(name, 0) for each in counters)


def worker_cores(by):
    """Cores for workers: not the switch's, which is another machine elsewhere."""
    cores = os.sched_getaffinity(0)
    return sorted(cores - {0} if by == "netfc" and len(cores) > 1 else cores)
