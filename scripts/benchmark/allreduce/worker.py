# SPDX-License-Identifier: BSD-3-Clause
"""A worker of the benchmark: reduces vectors of float32 as it is told, and says how long it took.

worker.py OPTIONS, a JSON object. Then, for each line of JSON on standard input with the keys
`kind` (of a collective), `bytes` (of the whole vector, all parts together) and `times`, it prints
a line: the list of seconds, one for each time. Values are such that the sums are the same in every
order; each is checked.
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
            token=options["token"], build=options["build"], deadline=600.0,
            **options.get("way", {}))

    def reduce(self, values):
        """In place."""
        self._comm.allreduce(values)

    def run(self, kind, values, own):
        """One of the other collectives; `own` is this worker's part of the vector."""
        if kind == "reduce":
            self._comm.reduce(values)
        elif kind == "reduce_scatter":
            self._comm.reduce_scatter(values, own)
        elif kind == "all_gather":
            self._comm.allgather(own, values)
        elif kind == "broadcast":
            self._comm.broadcast(values)
        else:
            self._comm.barrier()

    def counters(self):
        """What was counted."""
        return {**self._comm.stats, **self._comm.info}

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

    def run(self, kind, values, own):
        """One of the other collectives; `own` is this worker's part of the vector."""
        whole, part = self._torch.from_numpy(values), self._torch.from_numpy(own)
        parts = list(whole.chunk(self._dist.get_world_size()))
        if kind == "reduce":
            self._dist.reduce(whole, 0)
        elif kind == "reduce_scatter":
            self._reduce_scatter(whole, part)
        elif kind == "all_gather":
            self._dist.all_gather(parts, part)
        elif kind == "broadcast":
            self._dist.broadcast(whole, 0)
        else:
            self._dist.barrier()

    def _reduce_scatter(self, whole, part):
        """PyTorch's gloo has none, or does this."""
        self._dist.all_reduce(whole)
        part.copy_(whole.chunk(self._dist.get_world_size())[self._dist.get_rank()])

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
    began, cpu = time.monotonic(), time.process_time()
    way.reduce(values)
    seconds = time.monotonic() - began
    options["cpu"] = options.get("cpu", 0.0) + time.process_time() - cpu
    workers = options["workers"]
    expected = numpy.arange(count) % DIFFERENT * workers + workers * (workers - 1) // 2
    if not numpy.array_equal(values, expected):
        sys.exit("a sum is wrong")
    return seconds


def given(worker, count):
    """What a worker gives."""
    return (numpy.arange(count) % DIFFERENT + worker).astype(numpy.float32)


def is_right(kind, options, values, own):
    """Whether that came of it."""
    worker, workers, part = options["worker"], options["workers"], len(own)
    sums = numpy.arange(len(values)) % DIFFERENT * workers + workers * (workers - 1) // 2
    if kind == "reduce":
        return worker != 0 or numpy.array_equal(values, sums)
    if kind == "reduce_scatter":
        return numpy.array_equal(own, sums[worker * part:][:part])
    if kind == "all_gather":
        return all(numpy.array_equal(values[each * part:][:part], given(each, part))
                   for each in range(workers))
    return kind == "barrier" or numpy.array_equal(values, given(0, len(values)))


def timed_collective(way, options, kind, count):
    """The same as timed(), of another collective."""
    part = count // options["workers"]
    values = given(options["worker"], part * options["workers"])
    own = given(options["worker"], part)
    way.reduce(numpy.zeros(1, numpy.float32))
    began = time.monotonic()
    way.run(kind, values, own)
    seconds = time.monotonic() - began
    if not is_right(kind, options, values, own):
        sys.exit(f"{kind}: a result is wrong")
    return seconds


def measure(way, options, task):
    """Seconds for a task, by times."""
    count = task["bytes"] // 4
    if task["kind"] == "all_reduce":
        return [timed(way, options, count) for _ in range(task["times"])]
    return [timed_collective(way, options, task["kind"], count) for _ in range(task["times"])]


def main():
    """The command line."""
    options = json.loads(sys.argv[1])
    os.sched_setaffinity(0, options["cores"])
    way = WAYS[options["by"]](options)
    with contextlib.closing(way):
        print(json.dumps([]), flush=True)
        for line in sys.stdin:
            print(json.dumps(measure(way, options, json.loads(line))), flush=True)
        print(json.dumps({**way.counters(), "cpu": options.get("cpu", 0.0)}), flush=True)


if __name__ == "__main__":
    main()
