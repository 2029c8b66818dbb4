# SPDX-License-Identifier: BSD-3-Clause
"""Modules of scripts/ as processes on hosts, which are told lines and say lines of JSON."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from namespaces import CommandError
from programs import killed

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATIENCE_S = 300


class Child:
    """A process on a host that has its options, a JSON object, on the command line.

    A context manager: whatever it does in the end, it is killed. Its methods raise CommandError.
    """

    def __init__(self, host, module, options, **environment):
        self._host, self._name = host, f"{module.rpartition('.')[2]} {options.get('worker', '')}".strip()
        self._words = [sys.executable, "-P", "-m", module, json.dumps(options, default=str)]
        self._environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'python'}:{ROOT / 'scripts'}",
                             **environment}
        self._start()

    def _start(self):
        self._errors = tempfile.TemporaryFile("w+")  # pylint: disable=consider-using-with
        self._process = self._host.start(
            *self._words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            env=self._environment)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()
        self._errors.close()

    def kill(self):
        """As a crash would: without a word to anybody."""
        with contextlib.suppress(BrokenPipeError), killed(self._process):
            pass

    def replace(self):
        """Kills it, and starts another one."""
        self.__exit__()
        self._start()

    def tell(self, line):
        """A line that it reads."""
        print(line, file=self._process.stdin, flush=True)

    def end(self):
        """Nothing more is told to it."""
        self._process.stdin.close()

    def listen(self, patience=PATIENCE_S):
        """What it says next."""
        watchdog = threading.Timer(patience, self._process.kill)
        watchdog.daemon = True
        watchdog.start()
        try:
            line = self._process.stdout.readline()
        finally:
            watchdog.cancel()
        if not line:
            self._errors.seek(0)
            raise CommandError(f"{self._name} has ended, or said nothing for {patience} s\n"
                               f"{self._errors.read()}".strip())
        return json.loads(line)

    def expect(self, event):
        """What it says next, which is that."""
        said = self.listen()
        if said["event"] != event:
            raise CommandError(f"{self._name}: {said.get('text', said)}")
        return said


def say(event, **more):
    """What a child says of an event."""
    print(json.dumps({"event": event, **more}), flush=True)
