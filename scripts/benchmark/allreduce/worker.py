# SPDX-License-Identifier: BSD-3-Clause
"""A worker of the benchmark: reduces vectors of float32 as it is told, and says how long it took.

worker.py OPTIONS, a JSON object. Then, for each line of JSON on standard input with the keys
`bytes` and `times`, it prints a line: the list of seconds, one for each time. Values are such that
the sums are the same in every order; each is checked.
"""

import contextlib
import json
import os
import sys
import time

import numpy

DIFFERENT = 1000  # values, integers from 0


class ByNetfc:
    """The switch."""

    def __init__(self, options):
        from netfc import allreduce  # pylint: disable=import-outside-toplevel
        self._comm = allreduce.Communicator(
            options["switch"], worker=options["worker"], workers=options["workers"],
            token=options["token"], build=options["build"], deadline=600.0)

    def reduce(self, values):
        """In place."""
        self._comm.allreduce(values)

    def counters(self):
        """What was counted."""
        return self._comm.stats

    def close(self):
        """Leaves."""
        self._comm.leave()


class ByGloo:
    """gloo, by PyTorch: a ring."""

    def __init__(self, options):
        os.environ["GLOO_SOCKET_IFNAME"] = "eth0"
        import torch  # pylint: disable=import-outside-toplevel,import-error
        import torch.distributed as dist  # pylint: disable=import-outside-toplevel,import-error
        self._torch, self._dist = torch, dist
        torch.set_num_threads(1)
        dist.init_process_group("gloo", init_method="file://" + options["rendezvous"],
                                rank=options["worker"], world_size=options["workers"])

    def reduce(self, values):
        """In place: the tensor has the array's memory."""
        self._dist.all_reduce(self._torch.from_numpy(values))

    def counters(self):
        """Nothing is counted."""
        return {}

    def close(self):
        """Ends it."""
        self._dist.destroy_process_group()


class ByServer:
    """A parameter server: server.py."""

    def __init__(self, options):
        from benchmark.allreduce import server  # pylint: disable=import-outside-toplevel
        self._connection = server.connect(options["server"])

    def reduce(self, values):
        """In place."""
        self._connection.reduce(values)

    def counters(self):
        """Nothing is counted."""
        return {}

    def close(self):
        """Hangs up."""
        self._connection.close()


WAYS = {"netfc": ByNetfc, "gloo": ByGloo, "server": ByServer}


def timed(way, options, count):
    """Seconds for one vector; a reduction of one value before lets all begin at once."""
    values = (numpy.arange(count) % DIFFERENT + options["worker"]).astype(numpy.float32)
    way.reduce(numpy.zeros(1, numpy.float32))
    began = time.monotonic()
    way.reduce(values)
    seconds = time.monotonic() - began
    workers = options["workers"]
    expected = numpy.arange(count) % DIFFERENT * workers + workers * (workers - 1) // 2
    if not numpy.array_equal(values, expected):
        sys.exit("a sum is wrong")
    return seconds


def main():
    """The command line."""
    options = json.loads(sys.argv[1])
    os.sched_setaffinity(0, options["cores"])
    way = WAYS[options["by"]](options)
    with contextlib.closing(way):
        print(json.dumps([]), flush=True)
        for line in sys.stdin:
            task = json.loads(line)
            took = [timed(way, options, task["bytes"] // 4) for _ in range(task["times"])]
            print(json.dumps(took), flush=True)
        print(json.dumps(way.counters()), flush=True)


if __name__ == "__main__":
    main()
