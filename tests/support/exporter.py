# SPDX-License-Identifier: BSD-3-Clause
"""Runs netfc-exporter."""

import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import project_scripts


def free_port():
    with socket.socket() as some:
        some.bind(('127.0.0.1', 0))
        return some.getsockname()[1]


class Exporter:
    """The exporter at work. A context manager. url: of its page; ends with a slash."""

    def __init__(self, telemetry, *options, listen='127.0.0.1', environment=None):
        port = free_port()
        self.url = f'http://127.0.0.1:{port}/'
        self._process = subprocess.Popen(
            [project_scripts.PROGRAMS / 'netfc-exporter', '--telemetry', telemetry,
             '--listen', f'{listen}:{port}', *options], stderr=subprocess.PIPE, text=True,
            env={**os.environ, **(environment or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.terminate()
        _, stderr = self._process.communicate(timeout=200)
        assert self._process.returncode == 0, stderr

    def hang_up(self):
        """Its terminal goes, and it with it."""
        self._process.send_signal(signal.SIGHUP)
        self._process.wait(200)

    def first_line(self):
        """What it says first on stderr."""
        return self._process.stderr.readline()

    def scrape(self):
        """What Prometheus is told."""
        return self.get('metrics')

    def get(self, path):
        """What it answers to a path, as text; waits until it listens."""
        limit = time.monotonic() + 200
        while True:
            try:
                with urllib.request.urlopen(self.url + path, timeout=200) as answer:
                    return answer.read().decode()
            except urllib.error.HTTPError:
                raise
            except OSError:
                assert self._process.poll() is None and time.monotonic() < limit
                time.sleep(0.05)
