# SPDX-License-Identifier: BSD-3-Clause
"""A worker of the soak of a tree: tree_worker.py OPTIONS, a JSON object.

It joins each job that is named to it, number and token in a line, and adds up vectors, another one
each time, until something fails. It says what, and how long after its latest result.
"""

import json
import pathlib
import sys
import time

import numpy

from aggregation import sums
from netfc import allreduce

SLOTS = 32


def log(event, **more):
    """A line for the soak."""
    print(json.dumps({"event": event, **more}), flush=True)


def play(options, job, token, values, exact):
    """Takes part in a job until it fails."""
    right = wrong = 0
    latest = time.monotonic()
    try:
        with allreduce.Communicator(
                options["switch"], worker=options["worker"], workers=options["workers"], job=job,
                token=token, slots=SLOTS, silence=options["silence"], build=options["build"],
                place=allreduce.Place(tuple(map(tuple, options["place"]["path"])),
                                      options["place"]["workers"])) as comm:
            log("joined")
            while True:
                mine = numpy.roll(values, right + wrong)
                expected = numpy.roll(exact, right + wrong)
                comm.allreduce(mine)
                latest = time.monotonic()
                same = sums.count_same(mine, expected) == len(mine)
                right, wrong = right + same, wrong + (not same)
    except allreduce.AllreduceError as error:
        log("failed", text=str(error), seconds=time.monotonic() - latest, sums=right + wrong,
            wrong=wrong)


def main():
    """The command line."""
    options = json.loads(sys.argv[1])
    text = pathlib.Path(options["values"]).read_text(encoding="ascii")
    values = numpy.array(json.loads(text), numpy.float32)
    exact = sums.exact_sums(values)
    for line in sys.stdin:
        job, token = map(int, line.split())
        play(options, job, token, values[options["rank"]], exact)


if __name__ == "__main__":
    main()
