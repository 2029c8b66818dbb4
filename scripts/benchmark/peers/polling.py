# SPDX-License-Identifier: BSD-3-Clause
"""A DPDK program that polls, halted while others are measured.

All programs of a comparison are there at the same time, each stopped by SIGSTOP but for the one
that is measured: rounds are short, alternate, and contain no start-up. Packets are counted by
DPDK's own telemetry command for a port's statistics, which every DPDK program has, and time is the
processor time of the program: what others do on the machine does not count as ours.
"""

import os
import signal
import subprocess
import time
from dataclasses import dataclass

from netfc import TelemetryError
from netfc.telemetry import Telemetry
from programs import CommandError, Process, wait_until

# Whatever becomes of the benchmark, no halted program stays behind.
ENDS_WITH_US = ("setpriv", "--pdeathsig", "KILL")
START_TIMEOUT_S = 300
STOP_TIMEOUT_S = 120
WARM_UP_S = 0.03
POLL_S = 0.01
# A reading that took longer than this share of the sample, as its thread had to wait, is repeated.
READING_SHARE = 0.01
TRIES = 5


@dataclass
class Sample:
    """Packets, processor time and time of day, in seconds: so far, or between two such readings."""

    packets: int
    processor: float
    wall: float
    uncertain: float  # seconds between which it was

    def since(self, earlier):
        """The difference to an earlier reading."""
        return Sample(self.packets - earlier.packets, self.processor - earlier.processor,
                      self.wall - earlier.wall, max(self.uncertain, earlier.uncertain))

    @property
    def rate(self):
        """Packets per second of processor time."""
        return self.packets / self.processor


def processor_clock(pid):
    """The clock of a process' processor time (clock_getcpuclockid(3)), exact while it runs."""
    return (~pid << 3) | 2


class Polling:
    """A running program; a context manager that ends it."""

    def __init__(self, name, command, folder, ports=1):
        """Start a program, in a folder of its own, and halt it as soon as it receives."""
        self.name, self._folder, self._ports = name, folder, ports
        folder.mkdir()
        self._log = folder / "log"
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(folder),
                       "RUNTIME_DIRECTORY": str(folder)}
        with open(self._log, "w", encoding="utf-8") as log:
            self._process = Process(
                [*ENDS_WITH_US, *map(str, command)], env=environment, stdin=subprocess.PIPE,
                stdout=log, stderr=subprocess.STDOUT)
        self._telemetry = None
        try:
            wait_until(self._receives, f"{name} does not start", self._process, self._log,
                       START_TIMEOUT_S)
        except CommandError:
            self._process.kill()
            self._process.wait()
            raise
        self.halt()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    @property
    def pid(self):
        """The process."""
        return self._process.pid

    def halt(self):
        """Stop it until go()."""
        os.kill(self.pid, signal.SIGSTOP)

    def go(self):
        """Let it run on."""
        os.kill(self.pid, signal.SIGCONT)

    def read(self):
        """A reading."""
        clock = processor_clock(self.pid)
        before, wall_before = time.clock_gettime(clock), time.monotonic()
        packets = sum(
            self._telemetry.ask(f"/ethdev/stats,{port}")["ipackets"] for port in range(self._ports)
        )
        after, wall_after = time.clock_gettime(clock), time.monotonic()
        return Sample(packets, (before + after) / 2, (wall_before + wall_after) / 2, after - before)

    def _run_for(self, seconds):
        """Let time pass until it has had so much of a processor."""
        clock = processor_clock(self.pid)
        end = time.clock_gettime(clock) + seconds
        deadline = time.monotonic() + START_TIMEOUT_S
        left = seconds
        while left > 0:
            if time.monotonic() > deadline:
                raise CommandError(f"{self.name} hardly gets a processor")
            time.sleep(max(left, POLL_S))
            left = end - time.clock_gettime(clock)

    def sample(self, seconds):
        """Let it run for so much processor time. Returns the least uncertain sample of a few."""
        self.go()
        self._run_for(WARM_UP_S)
        samples = []
        for _ in range(TRIES):
            before = self.read()
            self._run_for(seconds)
            samples.append(self.read().since(before))
            if samples[-1].uncertain <= READING_SHARE * samples[-1].processor:
                break
        self.halt()
        return min(samples, key=lambda sample: sample.uncertain)

    def end(self):
        """End it in good order. Returns its exit status."""
        if self._process.poll() is None:
            self.go()
            self._process.send_signal(signal.SIGINT)
        try:
            self._process.communicate(timeout=STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
        if self._telemetry is not None:
            self._telemetry.close()
        return self._process.returncode

    def _receives(self):
        try:
            if self._telemetry is None:
                (path,) = self._folder.glob("dpdk/*/dpdk_telemetry.v2*")
                self._telemetry = Telemetry(path)
            return self._telemetry.ask("/ethdev/stats,0")["ipackets"] > 0
        except (ValueError, TelemetryError, TypeError, KeyError):  # no socket, no such port yet
            return False
