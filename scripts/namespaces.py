# SPDX-License-Identifier: BSD-3-Clause
"""Network namespaces, and hosts in them at the ports of a switch. Needs root, or become_root().

Nothing leaves the machine: hosts and switch are joined by veth pairs, and all of them go with the
namespaces.
"""

import contextlib
import ctypes
import itertools
import os
import pathlib
import socket
import subprocess

from programs import TIMEOUT, CommandError, Process, command, with_system_programs

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000  # from linux/sched.h
MS_REC, MS_PRIVATE = 0x4000, 0x40000  # from linux/mount.h

libc = ctypes.CDLL(None, use_errno=True)
numbers = itertools.count()
names = set()  # of those that this process has, or is about to make


class Namespace:
    """A network namespace without traffic of the kernel's own. A context manager."""

    def __init__(self):
        self.name = f"netfc-{os.getpid()}-{next(numbers)}"
        names.add(self.name)
        command("ip", "netns", "add", self.name)
        try:
            self.set_ipv6("default/disable_ipv6", 1)
        except OSError:
            delete(self.name)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        delete(self.name)

    def ip(self, *words):
        """Runs the command ip on the namespace."""
        return command("ip", "-n", self.name, *words)

    def run(self, *words, **options):
        """Runs a command inside. options: of command()."""
        return command(*self.inside(*words), **options)

    def inside(self, *words):
        """The words of a command that runs another one inside."""
        return ["ip", "netns", "exec", self.name, *map(str, words)]

    def start(self, *words, **options):
        """Starts a command inside. Returns its Process."""
        return Process(self.inside(*words), text=True, **{
            "stdin": subprocess.DEVNULL, **options,
            "env": with_system_programs(options.get("env"))})

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
            made = socket.socket(*arguments)
        made.settimeout(TIMEOUT)
        return made

    def set_ipv6(self, setting, value):
        """Writes a setting of net.ipv6.conf."""
        with self.entered():
            path = pathlib.Path("/proc/sys/net/ipv6/conf", setting)
            path.write_text(f"{value}\n", encoding="ascii")


def delete(name):
    """One that is there."""
    command("ip", "netns", "delete", name)
    names.discard(name)


def delete_rest():
    """Those that nobody has taken away, as a signal came while they were made, or deleted."""
    for name in sorted(names):
        if os.path.exists(f"/run/netns/{name}"):
            command("ip", "netns", "delete", name)
    names.clear()


def enter(namespace):
    """Puts the calling thread into the network namespace of an open file."""
    call(libc.setns, namespace.fileno(), CLONE_NEWNET)


class Host(Namespace):
    """A host with one interface, eth0, and the IPv4 address 10.1.0.1 and on, by its number."""

    def __init__(self, number):
        super().__init__()
        self.ipv4 = f"10.1.0.{number + 1}"

    def configure(self, interface="eth0"):
        """Gives the interface the address and turns it on."""
        self.ip("address", "add", f"{self.ipv4}/24", "dev", interface)
        self.ip("link", "set", interface, "up")


def join(switch, number, host, checksums=True, *, name="p{}", interface="eth0"):
    """Joins a host's eth0, or other interface, to a switch's interface p0 and on, by the number.

    checksums: the host's kernel fills in checksums, instead of leaving that to a device.
    """
    name = name.format(number)
    switch.ip("link", "add", name, "type", "veth", "peer", "name", interface, "netns", host.name)
    switch.ip("link", "set", name, "up")
    if checksums:
        host.run("ethtool", "-K", interface, "tx", "off")


def become_root():
    """For an ordinary user: makes the process root of namespaces of its own, if it may.

    For a process of one thread. Nothing else is different there but /run, which is empty, as ip keeps
    its namespaces in it, and the network, which is loopback alone.
    """
    if os.geteuid() != 0 and may_own_namespaces():
        own_namespaces()


def may_own_namespaces():
    """Tries it, in another process: one that has begun cannot go back."""
    child = os.fork()
    if child == 0:
        try:
            own_namespaces()
        except (OSError, CommandError):
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def own_namespaces():
    """Moves the process into user, mount and network namespaces, as their root."""
    user, group = os.geteuid(), os.getegid()
    call(libc.unshare, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET)
    own = pathlib.Path("/proc/self")
    (own / "setgroups").write_text("deny", encoding="ascii")
    (own / "uid_map").write_text(f"0 {user} 1", encoding="ascii")
    (own / "gid_map").write_text(f"0 {group} 1", encoding="ascii")
    call(libc.mount, b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    call(libc.mount, b"none", b"/run", b"tmpfs", 0, None)
    command("ip", "link", "set", "lo", "up")


def call(function, *arguments):
    """A system call by the C library; raises OSError."""
    if function(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{function.__name__}: {os.strerror(error)}")


def why_not():
    """Why namespaces cannot be used here; empty if they can.

    Makes two, joins them and runs a command inside: a container or a chroot may allow some of it.
    """
    if os.geteuid() != 0:
        return "this user may not make network namespaces (try sudo)"
    try:
        with Namespace() as middle, Host(0) as host:
            join(middle, 0, host)
            host.configure()
    except (CommandError, OSError) as error:
        return (f"network namespaces cannot be used: {str(error).splitlines()[-1]} "
                "(a container needs --privileged)")
    return ""
