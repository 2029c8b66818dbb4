# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-netfc on an emulated NIC: a guest of QEMU without KVM, behind an emulated IOMMU.

Each NIC of the guest is joined to eth0 of a host, a TAP interface in that host's network namespace.
"""

import contextlib
import fcntl
import json
import os
import shlex
import socket
import struct
import subprocess

import hosts
import switch
from nic import image

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI, IFF_VNET_HDR, IFF_MULTI_QUEUE = 0x0002, 0x1000, 0x4000, 0x0100
BOOT_S = 600
MEMORY_MB = 2200
# A device's name in QEMU, its properties, and the queues that DPDK's driver can have there.
DEVICES = {
    'e1000e': ('e1000e', {}, 2),
    'virtio-net': ('virtio-net-pci', {'iommu_platform': True, 'disable-legacy': 'on', 'mq': True, 'vectors': 6}, 2),
    'vmxnet3': ('vmxnet3', {}, 2),
    'igb': ('igb', {}, 2),
}


def known_devices():
    """Those that this QEMU has."""
    said = image.said('qemu-system-x86_64', '-device', 'help')
    return [name for name, (device, _, _) in DEVICES.items() if f'name "{device}"' in said]


def open_tap(host, queues):
    """Descriptors of a host's new eth0, one a queue."""
    flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR | (IFF_MULTI_QUEUE if queues > 1 else 0)
    taps = []
    with host.entered():
        for _ in range(queues):
            tap = os.open('/dev/net/tun', os.O_RDWR)
            fcntl.ioctl(tap, TUNSETIFF, struct.pack('16sH22x', b'eth0', flags))
            taps.append(tap)
    return taps


class Monitor:
    """QEMU's monitor: pulls cables and devices."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._socket.settimeout(BOOT_S)
        self._lines = self._socket.makefile('r', encoding='utf-8')
        self._lines.readline()
        self.do('qmp_capabilities')

    def do(self, command, **arguments):
        """A command and what it returns; events in between are kept for nobody."""
        request = {'execute': command, 'arguments': arguments}
        self._socket.sendall(json.dumps(request).encode() + b'\n')
        while True:
            reply = json.loads(self._lines.readline())
            assert 'error' not in reply, (command, arguments, reply)
            if 'return' in reply:
                return reply['return']

    def wait_for(self, event, device):
        """Until QEMU tells of it, which happened after the last command."""
        while True:
            said = json.loads(self._lines.readline())
            if said.get('event') == event and said['data'].get('device') == device:
                return

    def close(self):
        self._lines.close()
        self._socket.close()


class Guest:
    """A machine with NICs of one kind, one for each host. A context manager; killed at the end."""

    def __init__(self, folder, archive, device, joined, processors=2):
        """joined: the hosts. archive: what image.build() made."""
        self.folder, self.device = folder, device
        name, _, queues = DEVICES[device]
        self.queues = queues
        words = ['qemu-system-x86_64', '-M', 'q35', '-accel', 'tcg,thread=multi', '-cpu', 'max',
                 '-smp', str(processors), '-m', str(MEMORY_MB), '-display', 'none', '-no-reboot',
                 '-nodefaults', '-kernel', str(image.vmlinuz()), '-initrd', str(archive),
                 # The kernel's test of the timer is one of time, and fails where QEMU has to wait for a core.
                 '-append', 'console=ttyS0 panic=-1 quiet intel_iommu=on tsc=unstable no_timer_check',
                 '-device', 'intel-iommu,intremap=off,caching-mode=on',
                 '-serial', f'file:{folder}/console', '-serial', f'unix:{folder}/serial,server=on,wait=off',
                 '-qmp', f'unix:{folder}/qmp,server=on,wait=off']
        taps = []
        several = name.startswith('virtio')
        for number, host in enumerate(joined):
            opened = open_tap(host, queues if several else 1)
            taps += opened
            net = f'fds={":".join(map(str, opened))}' if several else f'fd={opened[0]}'
            words += ['-netdev', f'tap,id=net{number},vhost=off,{net}',
                      '-device', f'pcie-root-port,id=slot{number},chassis={number + 1}',
                      '-device', json.dumps(self._nic(number))]
        self._log = (folder / 'qemu').open('w')
        self._process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=self._log,
                                         stderr=subprocess.STDOUT, pass_fds=taps)
        for tap in taps:
            os.close(tap)

    def _nic(self, number):
        """A NIC, as QEMU makes it."""
        name, properties, _ = DEVICES[self.device]
        return {'driver': name, 'id': f'nic{number}', 'netdev': f'net{number}', 'bus': f'slot{number}',
                'mac': self.mac(number), **properties}

    def pull(self, number):
        """Takes a NIC out of its slot: the guest is asked to give it back, and has done so."""
        self.monitor.do('device_del', id=f'nic{number}')
        self.monitor.wait_for('DEVICE_DELETED', f'nic{number}')

    def plug(self, number):
        """Puts it in again, and gives it to vfio-pci."""
        self.monitor.do('device_add', **self._nic(number))
        self.run(f'until [ -e {self.slot(number)} ]; do sleep 0.1; done; take_nics')

    @staticmethod
    def slot(number):
        """The folder of a NIC's device, as long as it is there."""
        return f'/sys/bus/pci/devices/0000:0{number + 1}:00.0'

    @staticmethod
    def mac(number):
        """Of a NIC."""
        return f'02:00:00:00:01:{number:02x}'

    def __enter__(self):
        try:
            self._serial = self._connected('serial')
            self._said = self._serial.makefile('r', encoding='utf-8', errors='replace')
            self._until('=ready')
            self.monitor = Monitor(self.folder / 'qmp')
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(self, *_):
        self.monitor.close()
        self._said.close()
        self._serial.close()
        self._kill()

    def _kill(self):
        self._process.kill()
        self._process.wait()
        self._log.close()

    def _connected(self, name):
        """To a socket of QEMU's, which may not be there yet."""
        made = socket.socket(socket.AF_UNIX)
        made.settimeout(BOOT_S)

        def tried():
            assert self._process.poll() is None, (self.folder / 'qemu').read_text()
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                made.connect(str(self.folder / name))
                return True
            return False

        hosts.wait_until(tried, f"QEMU's {name}")
        return made

    def _until(self, mark):
        """Lines up to one that begins with a mark; that one is the last."""
        lines = []
        for line in self._said:
            lines.append(line.rstrip('\r\n'))
            if lines[-1].startswith(mark):
                return lines
        raise AssertionError('\n'.join([*lines, self.console]))

    @property
    def console(self):
        """What the kernel has said."""
        return (self.folder / 'console').read_text(errors='replace')

    def run(self, line, status=0):
        """A line of the guest's shell, and what it printed."""
        self._serial.sendall(line.encode() + b'\n')
        *lines, last = self._until('=')
        assert status is None or last == f'={status}', '\n'.join([line, *lines, last, self.console])
        return '\n'.join(lines)


class GuestSwitch:
    """dpdk-netfc at work in a guest. A context manager."""

    def __init__(self, guest, options=(), eal=(), lcores=1, memory=256):
        """memory: in MB."""
        self.guest = guest
        words = ['dpdk-netfc', '-l', ','.join(map(str, range(lcores))), '-m', str(memory), '--no-telemetry', *eal, '--',
                 '--match', 'direct', *map(str, options), '--stats-json', '/tmp/stats']
        guest.run('rm -f /tmp/out /tmp/err /tmp/stats /tmp/status')
        started = f"sh -c 'echo $$ >/tmp/pid; exec \"$@\"' sh {shlex.join(words)}"
        guest.run(f'({started} >/tmp/out 2>/tmp/err; echo $? >/tmp/status) &')
        guest.run('until grep -qs ^Ready /tmp/out; do [ ! -e /tmp/status ] || { cat /tmp/err; exit 1; }; '
                  'sleep 0.2; done')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.guest.run('kill -9 $(cat /tmp/pid)', status=None)

    @property
    def stdout(self):
        return self.guest.run('cat /tmp/out')

    @property
    def stderr(self):
        return self.guest.run('cat /tmp/err')

    def stop(self):
        """Stops it. Returns its statistics, checked for what must always hold."""
        self.guest.run('kill $(cat /tmp/pid)')
        return self.ended()

    def ended(self, status=0):
        """Likewise, when it ends by itself."""
        self.guest.run('until [ -s /tmp/status ]; do sleep 0.1; done')
        assert self.guest.run('cat /tmp/status').strip() == str(status), self.stderr
        stats = json.loads(self.guest.run('cat /tmp/stats'))
        assert stats['rx_packets'] + stats['copies'] == switch.accounted(stats), stats
        assert stats['mbufs_leaked'] == 0, stats
        return stats
