# SPDX-License-Identifier: BSD-3-Clause
"""A worker of a demonstration, or of the soak of a tree: worker.py OPTIONS, a JSON object.

It joins each job that is named to it, number and token in a line. With `count` it adds up that many
values twice, and keeps the result in the folder. Then it adds up the vectors that the file of the
option `values` has, or a small one, another one each time, until something fails. It says so in
lines of JSON: what, and how long after its latest result.
"""

import json
import pathlib
import sys
import time

import numpy

from aggregation import sums
from children import say
from netfc import allreduce

STEP_VALUES = 1000
PAUSE = 0.01  # seconds that a step of training computes


def reduce_twice(comm, values, path):
    """The same values again have to give the same bits, in whatever order their packets come."""
    results = []
    began = time.monotonic()
    for _ in range(2):
        results.append(values.copy())
        comm.allreduce(results[-1])
    seconds = (time.monotonic() - began) / 2
    numpy.save(path, results[0])
    say("sums", seconds=seconds, same=sums.count_same(*results))


def play(options, job, token, values, exact):
    """Takes part in a job until it fails."""
    right = wrong = 0
    latest = time.monotonic()
    rank, place = options["rank"], options["place"] or None
    if place:
        place = allreduce.Place(tuple(map(tuple, place[0])), place[1])
    try:
        with allreduce.Communicator(
                options["switch"], worker=options["worker"], workers=options["workers"], job=job,
                token=token, build=options["build"], place=place,
                **options.get("ways", {})) as comm:
            say("joined")
            if "count" in options:
                reduce_twice(comm, sums.gradients(rank, options["count"]),
                             f"{options['folder']}/worker{rank}.npy")
            while True:
                mine = numpy.roll(values[rank], right + wrong)
                comm.allreduce(mine)
                latest = time.monotonic()
                same = sums.count_same(mine, numpy.roll(exact, right + wrong)) == len(mine)
                right, wrong = right + same, wrong + (not same)
                time.sleep(options.get("pause", PAUSE))
    except allreduce.AllreduceError as error:
        say("failed", text=str(error), status=error.status, worker=error.worker, leaf=error.leaf,
            seconds=time.monotonic() - latest, sums=right + wrong, wrong=wrong)


def main():
    """The command line."""
    options = json.loads(sys.argv[1])
    if "values" in options:
        values = json.loads(pathlib.Path(options["values"]).read_text(encoding="ascii"))
    else:
        ranks = options["place"][1] if options["place"] else options["workers"]
        values = [[1] * STEP_VALUES] * ranks
    values = numpy.array(values, numpy.float32)
    exact = sums.exact_sums(values)
    for line in sys.stdin:
        play(options, *map(int, line.split()), values, exact)


if __name__ == "__main__":
    main()
