# SPDX-License-Identifier: BSD-3-Clause
"""Where the examples are, and how their commands run beside a switch."""

import os
import pathlib
import subprocess

import hosts
import sanitized

PROJECT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
EXAMPLES = PROJECT / 'examples'
TIMEOUT_S = 600


def environment():
    """The package of this source tree, and libnetfc of the build under test."""
    paths = [str(PROJECT / 'python'), *filter(None, [os.environ.get('PYTHONPATH')])]
    return {**sanitized.environment(), 'PYTHONPATH': os.pathsep.join(paths)}


class Loopback:
    """A switch that is a socket on loopback."""

    def __init__(self, server):
        self.address, self.port = server.address, server.port

    @staticmethod
    def run(*words, cwd=None, check=True):
        """Runs a command beside the switch. Returns what it printed."""
        return subprocess.run(list(map(str, words)), cwd=cwd, env=environment(), text=True,
                              capture_output=True, timeout=TIMEOUT_S, check=check).stdout


class Tap(Loopback):
    """dpdk-netfc with an address, behind a TAP interface of a host in a network namespace."""

    def __init__(self, host):
        self._within = ['ip', 'netns', 'exec', host.name]
        self.address, self.port = hosts.SWITCH_IP, 20038

    def run(self, *words, cwd=None, check=True):
        return super().run(*self._within, *words, cwd=cwd, check=check)
