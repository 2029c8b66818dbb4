# SPDX-License-Identifier: BSD-3-Clause
"""Hosts in network namespaces of their own, and the switch between them. Needs root."""

import contextlib
import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

CLONE_NEWNET = 0x40000000  # from linux/sched.h
PATIENCE = 20  # seconds
SWITCH_ADDRESS = "10.1.0.100"
AF_PACKET_FRAMES = 4096

libc = ctypes.CDLL(None, use_errno=True)


class NetworkError(Exception):
    """What could not be done, for people."""


def command(*words):
    """Runs a command to its end. Raises NetworkError."""
    done = subprocess.run(list(map(str, words)), text=True, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE, check=False)
    if done.returncode != 0:
        raise NetworkError(f"{' '.join(map(str, words))}: {done.stderr.strip()}")
    return done.stdout


class Host:
    """A network namespace. Processes and sockets can be put into it."""

    def __init__(self, name, address=None):
        self.name = f"netfc-{os.getpid()}-{name}"
        self.address = address
        command("ip", "netns", "add", self.name)
        with self.entered():
            for scope in ("all", "default"):
                path = pathlib.Path(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6")
                path.write_text("1\n", encoding="ascii")
        self.ip("link", "set", "lo", "up")

    def close(self):
        """Takes it away."""
        command("ip", "netns", "delete", self.name)

    def ip(self, *words):
        """Runs the command ip on it."""
        return command("ip", "-n", self.name, *words)

    def start(self, *words, **options):
        """Starts a command inside. Returns its subprocess.Popen."""
        return subprocess.Popen(["ip", "netns", "exec", self.name, *map(str, words)], text=True,
                                stdin=subprocess.DEVNULL, **options)

    @contextlib.contextmanager
    def entered(self):
        """Puts the calling thread inside for a while: sockets made there stay there."""
        with open("/proc/thread-self/ns/net", "rb") as home, \
                open(f"/run/netns/{self.name}", "rb") as inside:
            enter(inside)
            try:
                yield
            finally:
                enter(home)

    def socket(self, *arguments):
        """A socket inside."""
        with self.entered():
            return socket.socket(*arguments)


def enter(namespace):
    """Puts the calling thread into the network namespace of an open file."""
    if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
        raise NetworkError(f"setns: {os.strerror(ctypes.get_errno())}")


class Network:
    """Hosts at the ports of a bridging switch. A context manager.

    names: of the hosts, each a key of `hosts`, with addresses 10.1.0.1, 10.1.0.2 and so on.
    """

    def __init__(self, program, names, options):
        self._stack = contextlib.ExitStack()
        self._names = names
        self._program = program
        self._options = options
        self.hosts = {}
        self.switch = None
        self.folder = None

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_):
        self._stack.close()

    def _build(self):
        folder = tempfile.TemporaryDirectory(prefix="netfc-")  # pylint: disable=consider-using-with
        self.folder = pathlib.Path(self._stack.enter_context(folder))
        middle = Host("switch")
        self._stack.callback(middle.close)
        for number, name in enumerate(self._names):
            host = Host(name, f"10.1.0.{number + 1}")
            self._stack.callback(host.close)
            middle.ip("link", "add", f"p{number}", "type", "veth",
                      "peer", "name", "eth0", "netns", host.name)
            middle.ip("link", "set", f"p{number}", "up")
            command("ip", "netns", "exec", host.name, "ethtool", "-K", "eth0", "tx", "off")
            host.ip("address", "add", f"{host.address}/24", "dev", "eth0")
            host.ip("link", "set", "eth0", "up")
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
                raise NetworkError(f"the switch does not start:\n{self.log()}")
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
        """Stops the switch; its final counters, as JSON. Raises NetworkError where it failed."""
        self.switch.send_signal(signal.SIGTERM)
        if self.switch.wait(PATIENCE) != 0:
            raise NetworkError(f"the switch failed:\n{self.log()}")
        return (self.folder / "stats").read_text(encoding="utf-8")

    def _end_switch(self):
        if self.switch.poll() is None:
            self.switch.kill()
            self.switch.wait()
