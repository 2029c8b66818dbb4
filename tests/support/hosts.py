# SPDX-License-Identifier: BSD-3-Clause
"""The switch on live ports, and hosts beside it in network namespaces of their own.

Nothing leaves the machine: hosts and switch are joined by veth pairs or TAP interfaces, and all
of them go with the namespaces, whatever happens in a test.
"""

import contextlib
import itertools
import json
import pathlib
import re
import signal
import socket
import struct
import subprocess
import time

import pytest

import switch
from needs import NO_NAMESPACES, PATIENCE, needs_namespaces, why_no_port  # noqa: F401

import namespaces

# From linux/if_packet.h; Python's socket module does not have them.
SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
AUXDATA = struct.Struct('=IIIHHHH')  # status, two lengths, two offsets, VLAN TCI and TPID
STATUS_VLAN_VALID = 1 << 4
EVERY_PROTOCOL = 0x0003

TIMEOUT_S = 200 * PATIENCE
POLL_S = 0.01
SWITCH_IP, SWITCH_IP6 = '10.1.0.100', 'fd00::100'

numbers = itertools.count()


def wait_until(happened, what):
    """Polls until `happened` returns something true, and returns that."""
    limit = time.monotonic() + TIMEOUT_S
    while time.monotonic() < limit:
        result = happened()
        if result:
            return result
        time.sleep(POLL_S)
    raise AssertionError(f'waited {TIMEOUT_S} s in vain for {what}')


# ---- namespaces ------------------------------------------------------------------------------


class Namespace(namespaces.Namespace):
    """A network namespace whose interfaces can be asked about. Skips the test where none can be."""

    def __init__(self, *arguments):
        if NO_NAMESPACES:
            pytest.skip(NO_NAMESPACES)
        super().__init__(*arguments)

    def mac(self, interface):
        """The MAC address of an interface."""
        return json.loads(self.ip('-json', 'link', 'show', interface))[0]['address']

    def is_watched(self, interface):
        """Whether somebody takes all frames of an interface, which may not be there yet."""
        links = json.loads(self.ip('-json', '-details', 'link', 'show'))
        return any(link['ifname'] == interface and link['promiscuity'] for link in links)

    def checksum_errors(self):
        """Packets that the kernel found damaged, by the name of its counter."""
        with self.entered():
            folder = pathlib.Path('/proc/thread-self/net')
            lines = [line.split() for line in (folder / 'snmp').read_text().splitlines()]
            pairs = [line.split() for line in (folder / 'snmp6').read_text().splitlines()]
        for (group, *names), (_, *values) in zip(lines[::2], lines[1::2]):
            pairs += [(group[:-1] + name, value) for name, value in zip(names, values)]
        return {name: int(value) for name, value in pairs if 'Csum' in name and value != '0'}


class Host(Namespace, namespaces.Host):
    """A host with an IPv6 address, too, by its number."""

    def __init__(self, number):
        super().__init__(number)
        self.ipv6 = f'fd00::{number + 1}'

    def configure(self, interface='eth0'):
        """Gives the interface the addresses and turns it on."""
        self.set_ipv6(f'{interface}/disable_ipv6', 0)
        self.ip('address', 'add', f'{self.ipv6}/64', 'dev', interface, 'nodad')
        super().configure(interface)

    def udp(self, family=socket.AF_INET, port=0):
        """A UDP socket on the host's address."""
        made = self.socket(family, socket.SOCK_DGRAM)
        made.bind((self.ipv4 if family == socket.AF_INET else self.ipv6, port))
        return made

    def ping(self, address, count=3, size=56):
        """Pings until so many replies have come, each right in every byte and none twice."""
        said = self.run('ping', '-q', '-c', count, '-w', 10, '-i', '0.02', '-s', size, address)
        assert 'duplicate' not in said and 'wrong data' not in said, said


# ---- networks --------------------------------------------------------------------------------


@contextlib.contextmanager
def veth_network(count, configured=True, checksums=True):
    """Hosts at veth ports of a switch. Yields the switch's namespace and a list of hosts.

    Host n has eth0, whose other end is the switch's interface pn. configured: with addresses.
    checksums: the hosts' kernels fill in checksums, instead of leaving that to a device.
    """
    with contextlib.ExitStack() as stack:
        middle = stack.enter_context(Namespace())
        hosts = [stack.enter_context(Host(number)) for number in range(count)]
        for number, host in enumerate(hosts):
            namespaces.join(middle, number, host, checksums)
            if configured:
                host.configure()
            else:
                host.ip('link', 'set', 'eth0', 'up')
        yield middle, hosts


def veth_ports(count, more=''):
    """--vdev options for the switch's ends of veth pairs."""
    return [f'net_af_packet{number},iface=p{number}{more}' for number in range(count)]


def veth_names(count):
    return [f'p{number}' for number in range(count)]


# ---- the switch ------------------------------------------------------------------------------


class LiveSwitch:
    """The switch at work. A context manager: what was not stopped in the end is killed."""

    def __init__(self, folder, vdevs, options=(), *, namespace=None, lcores=1, cores=None,
                 eal=(), memory=256, within=(), telemetry=False):
        """cores: a core for each lcore, as -l takes them, instead of that many lcores on any.

        within: a command that runs the one behind it. telemetry: with a socket, at telemetry_path.
        Skips the test where there can be no such port.
        """
        for why_not in filter(None, map(why_no_port, vdevs)):
            pytest.skip(why_not)
        self.namespace = namespace
        self.files = {name: folder / f'{name}-{next(numbers)}' for name in ('out', 'err', 'stats')}
        inside = ['ip', 'netns', 'exec', namespace.name] if namespace else within
        arguments = [*switch.eal_options(vdevs, memory, lcores, telemetry), *eal, '--', '--match',
                     'direct', *map(str, options), '--stats-json', str(self.files['stats'])]
        prefix = arguments[arguments.index('--file-prefix') + 1]
        self.telemetry_path = switch.RUNTIME / 'dpdk' / prefix / 'dpdk_telemetry.v2'
        if cores:
            arguments[:2] = ['-l', cores]
        with self.files['out'].open('w') as out, self.files['err'].open('w') as err:
            self.process = subprocess.Popen([*inside, switch.PROGRAM, *arguments], text=True,
                                            env=switch.ENVIRONMENT, stdin=subprocess.DEVNULL,
                                            stdout=out, stderr=err)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    @property
    def stdout(self):
        """What it has printed so far."""
        return self.files['out'].read_text()

    @property
    def stderr(self):
        """What it has said on stderr so far, the EAL's lines included."""
        return self.files['err'].read_text()

    def check_alive(self):
        """Fails if it has ended."""
        assert self.process.poll() is None, f'it ended: {self.process.returncode}\n{self.stderr}'

    def wait_until_ready(self):
        """Packets sent from then on are received, and telemetry answers. Fails if it ends before."""
        def ready():
            self.check_alive()
            return 'Ready' in self.stdout

        wait_until(ready, 'the switch to be ready')

    def wait_for_message(self, text, times=1):
        """Waits until it has said something on stderr, so many times since its start."""
        def said():
            self.check_alive()
            return self.stderr.count(text) >= times

        wait_until(said, f'"{text}"')

    def stop(self):
        """Stops it. Returns its statistics, checked for what must always hold."""
        self.check_alive()
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self):
        """Waits for its end. Returns its statistics, checked for what must always hold."""
        self.process.wait(switch.TIMEOUT_S)
        switch.assert_sane(self.stderr)
        assert self.process.returncode == 0, f'{self.process.returncode}:\n{self.stderr}'
        return switch.read_stats(self.files['stats'])

    def plan(self):
        """What it printed about lcores: those of each (port, queue), and the idle ones."""
        served = {}
        for lcore, port, queue in re.findall(r'lcore (\d+) +port (\d+) queue (\d+)', self.stdout):
            served.setdefault((int(port), int(queue)), []).append(int(lcore))
        return served, [int(lcore) for lcore in re.findall(r'lcore (\d+) +idle', self.stdout)]


@contextlib.contextmanager
def at_tap(folder, options=(), *, configured=True, **more):
    """A host whose interface eth0 is a TAP port of a switch; and that. more: what LiveSwitch takes."""
    with Host(0) as host, LiveSwitch(folder, ['net_tap0,iface=eth0'], options, namespace=host,
                                     **more) as live:
        live.wait_until_ready()
        if configured:
            host.configure()
        yield host, live


# ---- frames on the wire ----------------------------------------------------------------------


class Wire:
    """Sends and receives whole frames at a host's interface."""

    def __init__(self, host, interface='eth0'):
        self._socket = host.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
        self._socket.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self._socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._socket.bind((interface, EVERY_PROTOCOL))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._socket.close()

    def fileno(self):
        return self._socket.fileno()

    def send(self, frame):
        self._socket.send(frame)

    def receive(self, timeout=None):
        """The next frame that comes, with the VLAN tag that the kernel takes out.

        timeout: seconds, from now on.
        """
        if timeout is not None:
            self._socket.settimeout(timeout)
        frame, extra, _, _ = self._socket.recvmsg(65536, socket.CMSG_SPACE(AUXDATA.size))
        for level, kind, data in extra:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, *_, tci, tpid = AUXDATA.unpack(data[:AUXDATA.size])
                if status & STATUS_VLAN_VALID:
                    frame = frame[:12] + struct.pack('>HH', tpid, tci) + frame[12:]
        return frame

    def receive_until(self, last):
        """All frames that come before the frame `last`."""
        return list(iter(self.receive, last))
