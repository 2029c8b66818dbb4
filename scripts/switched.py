# SPDX-License-Identifier: BSD-3-Clause
"""Hosts in network namespaces of their own, and the switch between them. Needs root."""

import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from namespaces import CommandError, Host, Namespace, join
from programs import any_cpu, wait_until

PATIENCE = 20  # seconds
PREFIX = "switched"  # of the files in the folder of its own
SWITCH_ADDRESS = "10.1.0.100"
FRAMES = 4096


class Network:
    """Hosts at the ports of a bridging switch. A context manager; raises CommandError.

    names: of the hosts, each a key of `hosts`, with addresses 10.1.0.1, 10.1.0.2 and so on.
    frames: that a port has space for each way; 4 KB each, locked, of which users may have 8 MB.
    lcores: of the switch, on all CPUs that there are. environment: what netfc.torch has to know of
    the job, beside the switch's address. address: the switch's; first: number of the first host.
    """

    environment: dict[str, str] = {}
    path = ()  # of a tree, from this switch to the root
    _memory = 512  # MB

    def __init__(self, program, names, options, frames=FRAMES, lcores=1, *,
                 address=SWITCH_ADDRESS, first=0):
        self.address, self._first = address, first
        self._frames, self._lcores = frames, lcores
        self._names, self._program, self._options = names, program, options
        self.middle = self.switch = self.folder = None
        self.hosts = {}
        self._stack = contextlib.ExitStack()

    def __enter__(self):
        with contextlib.ExitStack() as self._stack:
            self.folder = pathlib.Path(self._stack.enter_context(
                tempfile.TemporaryDirectory(prefix="netfc-")))
            self.middle = self._stack.enter_context(Namespace())
            self._connect(self.middle)
            self._start_switch(self.middle)
            self._stack = self._stack.pop_all()  # nothing has failed: it lasts until the end
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _connect(self, middle):
        """Makes the hosts, and the switch's interfaces p0, p1 and so on, in its namespace."""
        for number, name in enumerate(self._names):
            host = self._stack.enter_context(Host(self._first + number))
            join(middle, number, host)
            host.configure()
            self.hosts[name] = host

    def _interfaces(self):
        """The switch's."""
        return [f"p{number}" for number in range(len(self._names))]

    def _device(self, number, interface):
        """The switch's port at an interface, as --vdev has it."""
        return (f"net_af_packet{number},iface={interface},framecnt={self._frames},"
                f"qpairs={self._lcores}")

    def _forwarding(self):
        """Options: what the switch does, and what it answers to."""
        return ["--forward", "bridge", "--address", f"{self.address}/24"]

    def _start_switch(self, middle):
        vdevs = [f"--vdev={self._device(number, interface)}"
                 for number, interface in enumerate(self._interfaces())]
        self._launch(
            middle, self._program, "--no-huge", "-m", self._memory, "--no-pci",
            *self._lcore_words(), "--file-prefix", PREFIX, *vdevs, "--", *self._forwarding(),
            "--match", "direct", "--stats-json", self.folder / "stats", *self._options,
            env={**os.environ, "RUNTIME_DIRECTORY": str(self.folder)})
        wait_until(lambda: "lcore 0" in self.log() and self.telemetry.exists(),
                   "the switch does not start", self.switch, self.folder / "switch", PATIENCE)
        time.sleep(0.5)  # until its ports are up

    def _launch(self, middle, *words, **options):
        """Starts the switch's process, whose words go into the log."""
        log = self._stack.enter_context((self.folder / "switch").open("w+"))
        self.switch = middle.start(*words, stdout=log, stderr=subprocess.STDOUT, **options)
        self._stack.callback(self.kill)

    def _lcore_words(self):
        return ["-l", 0] if self._lcores == 1 else ["--lcores", any_cpu(self._lcores)]

    @property
    def leaves(self):
        """Switches that hosts are at."""
        return [self]

    @property
    def telemetry(self):
        """The path of the switch's telemetry socket."""
        return self.folder / "dpdk" / PREFIX / "dpdk_telemetry.v2"

    def log(self):
        """What the switch has said so far."""
        return (self.folder / "switch").read_text(encoding="utf-8")

    def stop(self):
        """Stops the switch; its final counters, as JSON. Raises CommandError where it failed."""
        self.switch.send_signal(signal.SIGTERM)
        if self.switch.wait(PATIENCE) != 0:
            raise CommandError(f"the switch failed:\n{self.log()}")
        return (self.folder / "stats").read_text(encoding="utf-8")

    def kill(self):
        """As a power failure would: without a word to anybody."""
        self.switch.kill()
        self.switch.wait()

    def start_again(self):
        """A new process, after the old one has ended."""
        self._start_switch(self.middle)
