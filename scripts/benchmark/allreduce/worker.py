# SPDX-License-Identifier: BSD-3-Clause
"""A worker of the benchmark: reduces vectors of float32 as it is told, and says how long it took.

worker.py OPTIONS, a JSON object. Then, for each line of JSON on standard input with the keys
`kind` (of a collective), `bytes` (of the whole vector, all parts together) and `times`, it prints
a line: the list of seconds, one for each time. With `filled` and `block`, an all_reduce is of vectors
whose other blocks are zeros. Values are drawn once, with exponents that differ widely: sums that need not
be rounded take less time. Each sum is checked: those that depend on the order, to so many units in the last
place of the greatest value as there are workers.
"""

import contextlib
import functools
import json
import os
import sys
import time

import numpy

DIFFERENT = 65537  # values
GREATEST = 2**13  # of a sum
ROUNDED_ONCE = ("netfc", "local")


class ByNetfc:
    """The switch, or memory that workers share."""

    def __init__(self, options):
        from netfc import allreduce  # pylint: disable=import-outside-toplevel
        self._comm = allreduce.Communicator(
            options["address"], worker=options["worker"], workers=options["workers"],
            token=options["token"], build=options["build"], deadline=600.0, **options["way"])
        self.close = self._comm.leave

    def run(self, kind, values, own):
        """A collective, in place; `own` is this worker's part of the vector."""
        comm = self._comm
        {"all_reduce": lambda: comm.allreduce(values),
         "reduce": lambda: comm.reduce(values),
         "reduce_scatter": lambda: comm.reduce_scatter(values, own),
         "all_gather": lambda: comm.allgather(own, values),
         "broadcast": lambda: comm.broadcast(values),
         "barrier": comm.barrier}[kind]()

    def counters(self):
        """What was counted."""
        return {**self._comm.stats, **self._comm.info}


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
        self.close = dist.destroy_process_group

    def run(self, kind, values, own):
        """As ByNetfc's; tensors have the arrays' memory."""
        dist, whole, part = self._dist, *map(self._torch.from_numpy, (values, own))
        {"all_reduce": lambda: dist.all_reduce(whole),
         "reduce": lambda: dist.reduce(whole, 0),
         "reduce_scatter": lambda: self._reduce_scatter(whole, part),
         "all_gather": lambda: dist.all_gather(list(whole.chunk(dist.get_world_size())), part),
         "broadcast": lambda: dist.broadcast(whole, 0),
         "barrier": dist.barrier}[kind]()

    def _reduce_scatter(self, whole, part):
        """PyTorch's gloo has none, or does this."""
        self._dist.all_reduce(whole)
        part.copy_(whole.chunk(self._dist.get_world_size())[self._dist.get_rank()])

    def counters(self):
        """Nothing is counted."""
        return {}


class ByServer:
    """A parameter server: server.py."""

    def __init__(self, options):
        from benchmark.allreduce import server  # pylint: disable=import-outside-toplevel
        self._connection = server.connect(options["address"])
        self.close = self._connection.close

    def run(self, kind, values, _):
        """all_reduce alone, in place."""
        assert kind == "all_reduce"
        self._connection.reduce(values)

    def counters(self):
        """Nothing is counted."""
        return {}


WAYS = {"netfc": ByNetfc, "local": ByNetfc, "gloo": ByGloo, "server": ByServer}


@functools.cache
def drawn(worker):
    """What a worker gives, again and again."""
    draw = numpy.random.default_rng(worker)
    values = draw.standard_normal(DIFFERENT) * numpy.exp2(draw.integers(-8, 9, DIFFERENT))
    return values.astype(numpy.float32)


@functools.cache
def summed(workers):
    """The sums of these, exact: of numbers that differ by less than 2^40."""
    return sum(drawn(worker).astype(numpy.longdouble) for worker in range(workers))


def given(worker, count):
    """What a worker gives."""
    return numpy.resize(drawn(worker), count)


def are_filled(worker, count, filled, block):
    """Which of a worker's values are not 0: blocks of so many, each with that probability."""
    drawn = numpy.random.default_rng(worker).random(-(-count // block)) < filled
    return numpy.repeat(drawn, block)[:count]


def sparse(worker, count, filled, block):
    """What a worker gives whose other values are 0."""
    return numpy.where(are_filled(worker, count, filled, block), given(worker, count), numpy.float32(0))


def are_sums(options, values, exact):
    """Whether values are these sums: to the last bit, if they are rounded once."""
    rounded = exact.astype(numpy.float32)
    if options["by"] in ROUNDED_ONCE:
        return numpy.array_equal(values, rounded)
    return bool(numpy.all(numpy.abs(values - rounded) <=
                          options["workers"] * GREATEST * numpy.finfo(numpy.float32).eps))


def is_sparse_right(options, values, filled, block):
    """Whether that is the sum of what they give."""
    return are_sums(options, values, sum(
        sparse(worker, len(values), filled, block).astype(numpy.longdouble)
        for worker in range(options["workers"])))


def is_right(kind, options, values, own):
    """Whether that came of it."""
    worker, workers, part = options["worker"], options["workers"], len(own)
    if kind in ("all_gather", "broadcast", "barrier"):
        right = numpy.concatenate([given(each, part) for each in range(workers)]) \
            if kind == "all_gather" else given(0, len(values))
        return kind == "barrier" or numpy.array_equal(values, right)
    sums = numpy.resize(summed(workers).astype(numpy.float32), len(values))
    if kind == "reduce_scatter":
        return are_sums(options, own, sums[worker * part:][:part])
    return kind == "reduce" and worker != 0 or are_sums(options, values, sums)


def timed(way, options, task):
    """Seconds for one vector; a reduction of one value before lets all begin at once."""
    kind, whole = task["kind"], task["bytes"] // 4
    part = whole // options["workers"]
    zeros = (task["filled"], task["block"]) if "filled" in task else None
    count = whole if kind == "all_reduce" else part * options["workers"]
    values = sparse(options["worker"], count, *zeros) if zeros else given(options["worker"], count)
    own = given(options["worker"], part)
    way.run("all_reduce", numpy.zeros(1, numpy.float32), own)
    began, cpu = time.monotonic(), time.process_time()
    way.run(kind, values, own)
    seconds = time.monotonic() - began
    options["cpu"] = options.get("cpu", 0.0) + time.process_time() - cpu
    if not (is_sparse_right(options, values, *zeros) if zeros
            else is_right(kind, options, values, own)):
        sys.exit(f"{kind}: a result is wrong")
    return seconds


def measure(way, options, task):
    """Seconds for a task, by times."""
    return [timed(way, options, task) for _ in range(task["times"])]


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
