# SPDX-License-Identifier: BSD-3-Clause
"""Workers as processes, each in its host's network namespace, and tasks for them."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys

import namespaces
from namespaces import CommandError

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'python'}:{ROOT / 'scripts'}",
               "OMP_NUM_THREADS": "1"}


class Workers(namespaces.Built):
    """A context manager whose _build() starts them; raises CommandError."""

    def __init__(self):
        super().__init__()
        self._by, self._workers = "workers", []

    def _start(self, host, module, *words):
        process = subprocess.Popen(
            ["ip", "netns", "exec", host.name, sys.executable, "-P", "-m", module,
             *map(str, words)], text=True, env=ENVIRONMENT, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        self._stack.callback(end, process)
        return process

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
