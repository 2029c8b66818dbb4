# SPDX-License-Identifier: BSD-3-Clause
"""Hosts in network namespaces of their own, and the switch between them. Needs root."""

import os
import pathlib
import signal
import subprocess
import tempfile
import time

from namespaces import Built, CommandError, Host, Namespace, join

PATIENCE = 20  # seconds
SWITCH_ADDRESS = "10.1.0.100"
AF_PACKET_FRAMES = 4096


class Network(Built):
    """Hosts at the ports of a bridging switch. A context manager; raises CommandError.

    names: of the hosts, each a key of `hosts`, with addresses 10.1.0.1, 10.1.0.2 and so on.
    """

    def __init__(self, program, names, options):
        super().__init__()
        self._names = names
        self._program = program
        self._options = options
        self.hosts = {}
        self.switch = None
        self.folder = None

    def _build(self):
        folder = tempfile.TemporaryDirectory(prefix="netfc-")  # pylint: disable=consider-using-with
        self.folder = pathlib.Path(self._stack.enter_context(folder))
        middle = self._stack.enter_context(Namespace())
        for number, name in enumerate(self._names):
            host = self._stack.enter_context(Host(number))
            join(middle, number, host)
            host.configure()
            self.hosts[name] = host
        self._start_switch(middle)

    def _start_switch(self, middle):
        vdevs = [f"--vdev=net_af_packet{n},iface=p{n},framecnt={AF_PACKET_FRAMES}"
                 for n in range(len(self._names))]
        self._log = self._stack.enter_context((self.folder / "switch").open("w+"))
        self.switch = middle.start(
            self._program, "--no-huge", "-m", 512, "--no-pci", "-l", 0,
            "--file-prefix", "slowloris", *vdevs, "--", "--forward", "bridge", "--match", "direct",
            "--address", f"{SWITCH_ADDRESS}/24", "--stats-json", self.folder / "stats",
            *self._options, stdout=self._log, stderr=subprocess.STDOUT,
            env={**os.environ, "RUNTIME_DIRECTORY": str(self.folder)})
        self._stack.callback(self._end_switch)
        limit = time.monotonic() + PATIENCE
        while "lcore 0" not in self.log() or not self.telemetry.exists():
            if self.switch.poll() is not None or time.monotonic() > limit:
                raise CommandError(f"the switch does not start:\n{self.log()}")
            time.sleep(0.05)
        time.sleep(0.5)  # until its ports are up

    @property
    def telemetry(self):
        """The path of the switch's telemetry socket."""
        return self.folder / "dpdk" / "slowloris" / "dpdk_telemetry.v2"

    def log(self):
        """What the switch has said so far."""
        return (self.folder / "switch").read_text(encoding="utf-8")

    def stop(self):
        """Stops the switch; its final counters, as JSON. Raises CommandError where it failed."""
        self.switch.send_signal(signal.SIGTERM)
        if self.switch.wait(PATIENCE) != 0:
            raise CommandError(f"the switch failed:\n{self.log()}")
        return (self.folder / "stats").read_text(encoding="utf-8")

    def _end_switch(self):
        if self.switch.poll() is None:
            self.switch.kill()
            self.switch.wait()
