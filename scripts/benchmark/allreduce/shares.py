# SPDX-License-Identifier: BSD-3-Clause
"""How two jobs share slow links: each has a worker on every host, and all reduce as they can.

A job's share is what it has reduced, of what all have, while all of them ran. Equal ones are 1/jobs.
Needs root.
"""

import secrets
import threading
import time
from concurrent import futures

import numpy as np

from benchmark.allreduce.links import Switched
from command import CommandLine, head, row, write_json
from netfc import allreduce
from switched import SWITCH_ADDRESS

PATIENCE_S = 120


class Job:
    """Workers on all hosts, which reduce until they are told to end, all at once."""

    def __init__(self, number, count, values, slots, build):
        self._number, self._count, self._values, self._slots = number, count, values, slots
        self._build, self._token = build, secrets.randbits(64)
        self.begun, self.over = threading.Event(), threading.Event()
        self.done = 0  # allreduces
        self.stats = {}

    def work(self, rank, host):
        """What a thread on a host does."""
        mine, over = np.zeros(self._values, "f4"), np.zeros(1, "i4")
        with host.entered(), allreduce.Communicator(
                SWITCH_ADDRESS, worker=rank, workers=self._count, job=self._number, token=self._token,
                slots=self._slots, deadline=PATIENCE_S, patience=PATIENCE_S,
                build=self._build) as comm:
            while not over[0]:
                comm.allreduce(mine)
                self.begun.set()
                over[0] = rank == 0 and self.over.is_set()
                comm.allreduce(over)
                self.done += rank == 0
            if rank == 0:
                self.stats = comm.stats


def measure(hosts, jobs, seconds):
    """Allreduces of each job within the time that all of them ran."""
    with futures.ThreadPoolExecutor(len(jobs) * len(hosts)) as pool:
        working = [pool.submit(job.work, rank, host)
                   for job in jobs for rank, host in hosts.items()]
        try:
            for job in jobs:
                if not job.begun.wait(PATIENCE_S):
                    break
            before = [job.done for job in jobs]
            time.sleep(seconds)
            after = [job.done for job in jobs]
        finally:
            for job in jobs:
                job.over.set()
        for worker in working:
            worker.result()
    return [end - begin for begin, end in zip(before, after)]


def show(options):
    """Measures and prints a row for each run; yields how many reductions each job had."""
    print(head("run", *(f"job {job}" for job in range(options.jobs)), "least / equal share",
               "Mbit/s of values", "sent again"))
    with Switched(options.build / "app" / "dpdk-netfc", options.hosts, options.mbit, 0.0) as net:
        for run in range(options.runs):
            jobs = [Job(100 * run + number, options.hosts, options.values,
                        dict(enumerate(options.slots)).get(number, 128), options.build)
                    for number in range(options.jobs)]
            done = measure(net.hosts, jobs, options.seconds)
            total = max(1, sum(done))
            again = sum(job.stats["retransmitted"] for job in jobs)
            sent = sum(job.stats["sent"] for job in jobs)
            rate = total * options.values * 32 / options.seconds / 1e6
            print(row(run + 1, *(f"{100 * each / total:.1f} %" for each in done),
                      f"{min(done) * options.jobs / total:.2f}", f"{rate:.1f}",
                      f"{100 * again / sent:.1f} %"), flush=True)
            yield done


def main():
    """The command line."""
    parser = CommandLine("bench shares", __doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--hosts", type=int, default=2, help="and workers of each job")
    parser.add_argument("--mbit", type=int, default=100, help="of each host's link, each way")
    parser.add_argument("--values", type=int, default=25_000, help="binary32 of an allreduce")
    parser.add_argument("--slots", type=int, nargs="*", default=[], help="of each job")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with parser.in_namespaces():
        figures = list(show(options))
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
