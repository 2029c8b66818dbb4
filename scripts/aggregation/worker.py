# SPDX-License-Identifier: BSD-3-Clause
"""One worker of the demonstration, a process of its own: worker.py OPTIONS, a JSON object.

Says what happens in lines of JSON: its first result, kept in a file; whether the second has the
same bits; then it reduces small vectors, as training goes on, until that fails, and says why.
"""

import json
import sys
import time

import numpy

from aggregation import sums
from netfc import allreduce

STEP_VALUES = 1000
PAUSE = 0.01  # seconds that a step of training computes


def log(event, **more):
    """A line for the demonstration."""
    print(json.dumps({"event": event, **more}), flush=True)


def reduce_twice(comm, values, path):
    """The same values again have to give the same bits, in whatever order their packets come."""
    results = []
    began = time.monotonic()
    for _ in range(2):
        results.append(values.copy())
        comm.allreduce(results[-1])
    seconds = (time.monotonic() - began) / 2
    numpy.save(path, results[0])
    log("sums", seconds=seconds, same=sums.count_same(*results))


def train(comm):
    """Goes on until something fails."""
    step = numpy.ones(STEP_VALUES, numpy.float32)
    latest = time.monotonic()
    try:
        while True:
            comm.allreduce(step, "mean")
            latest = time.monotonic()
            time.sleep(PAUSE)
    except allreduce.AllreduceError as error:
        say_failed(error, time.monotonic() - latest)


def say_failed(error, seconds):
    """seconds: since the latest result."""
    log("failed", text=str(error), status=error.status, worker=error.worker, leaf=error.leaf,
        seconds=seconds)


def place_of(options):
    """Where the switch is in a tree, if it is in one."""
    if "tree" not in options:
        return None
    return allreduce.Place(path=tuple(map(tuple, options["tree"]["path"])),
                           workers=options["tree"]["workers"])


def main():
    """The command line."""
    options = json.loads(sys.argv[1])
    number = options["worker"]
    try:
        with allreduce.Communicator(
                options["switch"], worker=number, workers=options["workers"],
                token=options["token"], build=options["build"], place=place_of(options)) as comm:
            reduce_twice(comm, sums.gradients(options["rank"], options["values"]), options["path"])
            train(comm)
    except allreduce.AllreduceError as error:
        say_failed(error, 0)


if __name__ == "__main__":
    main()
