# SPDX-License-Identifier: BSD-3-Clause
"""Workers as processes, each in its host's network namespace, and tasks for them."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import namespaces
from namespaces import CommandError
from netfc import allreduce

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'python'}:{ROOT / 'scripts'}",
               "OMP_NUM_THREADS": "1"}


class Workers(namespaces.Built):
    """A context manager whose _build() starts them; raises CommandError."""

    def __init__(self, build, by):
        """by: a way, of worker.WAYS."""
        super().__init__()
        self._folder, self._by, self._workers = build, by, []

    def _start(self, host, module, *words):
        process = subprocess.Popen(
            ["ip", "netns", "exec", host.name, sys.executable, "-P", "-m", module,
             *map(str, words)], text=True, env=ENVIRONMENT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self._stack.callback(end, process)
        return process

    def _start_on(self, network, count=None, arguments=()):
        """A worker on each of a network's hosts, or on so many of them.

        arguments: more of each worker's Communicator.
        """
        folder = self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix="netfc-"))  # pylint: disable=consider-using-with
        hosts = list(network.hosts.values())[:count]
        arguments = arguments or [{}] * len(hosts)
        options = {"by": self._by, "workers": len(hosts), "address": network.address,
                   "token": allreduce.draw_token(), "build": str(self._folder),
                   "rendezvous": f"{folder}/rendezvous", "cores": worker_cores(self._by)}
        self._workers = [self._start(host, "benchmark.allreduce.worker",
                                     json.dumps({**options, "worker": number, "way": more}))
                         for number, (host, more) in enumerate(zip(hosts, arguments))]
        self._answers()

    def _answers(self):
        lines = [worker.stdout.readline() for worker in self._workers]
        if not all(lines):
            raise CommandError(f"{self._by}: worker {lines.index('')} has ended")
        return list(map(json.loads, lines))

    def seconds(self, size, times, kind="all_reduce"):
        """Of the slowest worker, each time."""
        task = json.dumps({"kind": kind, "bytes": size, "times": times})
        for worker in self._workers:
            print(task, file=worker.stdin, flush=True)
        return [max(each) for each in zip(*self._answers())]

    def counters(self):
        """Of each worker; these end with it."""
        for worker in self._workers:
            worker.stdin.close()
        return self._answers()


def worker_cores(by):
    """Cores for workers: not the switch's, which is another machine elsewhere."""
    cores = os.sched_getaffinity(0)
    return sorted(cores - {0} if by == "netfc" and len(cores) > 1 else cores)


def end(process):
    """It may have ended already."""
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        with contextlib.suppress(BrokenPipeError):
            stream.close()
