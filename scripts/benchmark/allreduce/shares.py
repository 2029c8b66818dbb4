# SPDX-License-Identifier: BSD-3-Clause
"""How jobs share slow links: each has a worker on every host, and all reduce as they can.

A job's share is what it has reduced, of what all have, while all of them ran. Equal ones are 1/jobs.
With a TCP stream from the first host to the last one beside them, its share is what the first host
sends of it, of that and of the jobs' values. Needs root.
"""

import contextlib
import json
import secrets
import socket
import threading
import time
from concurrent import futures

import numpy as np

from background import Background
from benchmark.allreduce.links import QUEUE, Switched
from command import CommandLine, head, row, write_json
from netfc import allreduce
from switched import SWITCH_ADDRESS

PATIENCE_S = 120
PORT = 5001
PIECE = 65536


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
        mine, over = np.ones(self._values, "f4"), np.zeros(1, "i4")
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


class Stream(Background):
    """A TCP stream from a host to another, as fast as it goes. A context manager."""

    def __init__(self, source, sink):
        super().__init__(2)
        self._listening = sink.socket()
        self._listening.bind((sink.ipv4, PORT))
        self._listening.listen()
        self._out = source.socket()
        self._out.connect((sink.ipv4, PORT))
        self._in, _ = self._listening.accept()
        self._in.settimeout(PATIENCE_S)
        self.bytes = 0  # received

    def __exit__(self, *_):
        self._out.shutdown(socket.SHUT_RDWR)
        super().__exit__()
        for each in (self._out, self._in, self._listening):
            each.close()

    def run(self, number):
        """One thread sends, the other receives."""
        with contextlib.suppress(OSError):
            while number == 0:
                self._out.sendall(bytes(PIECE))
            while received := self._in.recv(PIECE):
                self.bytes += len(received)


def queued(net):
    """Packets that the links' queues have taken, and those that they have dropped."""
    places = [*net.hosts.values(), net.lines]
    queues = [queue for place in places
              for queue in json.loads(place.run("tc", "-s", "-j", "qdisc", "show"))
              if queue["kind"] == "tbf"]
    return np.array([sum(queue[what] for queue in queues) for what in ("packets", "drops")])


def measure(net, jobs, options):
    """Values of each job, and of a stream, while all of them ran, and packets as queued()."""
    hosts = net.hosts
    with futures.ThreadPoolExecutor(len(jobs) * len(hosts)) as pool, \
            contextlib.ExitStack() as stack:
        streams, working = [], []
        if options.stream:
            streams.append(stack.enter_context(Stream(hosts[0], hosts[len(hosts) - 1])))

        def counts():
            return np.array([*(job.done * options.values for job in jobs),
                             *(stream.bytes / 4 for stream in streams)])

        try:
            for job in jobs:
                working += [pool.submit(job.work, rank, host) for rank, host in hosts.items()]
                if not job.begun.wait(PATIENCE_S):
                    break
                time.sleep(options.apart)
            before = counts(), queued(net)
            time.sleep(options.seconds)
            after = counts(), queued(net)
        finally:
            for job in jobs:
                job.over.set()
        for worker in working:
            worker.result()
    return after[0] - before[0], after[1] - before[1]


def show(options):
    """Measures and prints a row for each run; yields how many values each job had."""
    names = [f"job {job}" for job in range(options.jobs)] + ["stream"] * options.stream
    print(head("run", *names, "least / equal share", "M values/s", "dropped", "sent again"))
    with Switched(options.build / "app" / "dpdk-netfc", options.hosts, options.mbit, 0.0,
                  queue=options.queue) as net:
        for run in range(options.runs):
            jobs = [Job(100 * run + number, options.hosts, options.values,
                        dict(enumerate(options.slots)).get(number, 128), options.build)
                    for number in range(options.jobs)]
            done, (packets, drops) = measure(net, jobs, options)
            total = max(1, sum(done))
            again = sum(job.stats["retransmitted"] for job in jobs)
            sent = sum(job.stats["sent"] for job in jobs)
            print(row(run + 1, *(f"{100 * each / total:.1f} %" for each in done),
                      f"{min(done) * len(names) / total:.2f}",
                      f"{total / options.seconds / 1e6:.2f}",
                      f"{100 * drops / (packets + drops):.1f} %", f"{100 * again / sent:.1f} %"),
                  flush=True)
            yield [float(each) for each in done]


def main():
    """The command line."""
    parser = CommandLine("bench shares", __doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--hosts", type=int, least=2, default=2, help="and workers of each job")
    parser.add_argument("--mbit", type=int, default=100, help="of each host's link, each way")
    parser.add_argument("--queue", default=QUEUE, help="of a link, each way, as tc-tbf(8) has it")
    parser.add_argument("--values", type=int, default=25_000, help="binary32 of an allreduce")
    parser.add_argument("--slots", type=int, nargs="+", default=[], help="of each job")
    parser.add_argument("--apart", type=float, least=0, default=0, help="seconds from a job to the next")
    parser.add_argument("--stream", action="store_true", help="a TCP stream beside the jobs")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with parser.in_namespaces():
        figures = list(show(options))
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
