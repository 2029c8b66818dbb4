# SPDX-License-Identifier: BSD-3-Clause
"""What some tests need, and a container, a chroot or an ordinary user may not have.

Each is tried, once: that a program is there, or that its first step works, does not say that the
rest of it will be allowed.
"""

import fcntl
import mmap
import os
import pty
import shutil
import socket
import struct
import subprocess

import pytest

from namespaces import why_not as why_no_namespaces

# From linux/if_tun.h.
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
MAP_LOCKED = 0x2000  # from linux/mman.h
LONG_RINGS = 128 << 20  # bytes that AF_PACKET ports with as many frames as benchmarks take may lock
# Runs a command as somebody who owns nothing.
AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
# Runs a command as an ordinary user, to whom permissions apply.
WITHOUT_RIGHTS = ['setpriv', '--inh-caps=-all', '--bounding-set=-all'] if os.geteuid() == 0 else []


def why_no_tap():
    """Why no TAP interface can be made; empty if it can."""
    try:
        with open('/dev/net/tun', 'r+b', buffering=0) as device:
            request = struct.pack('16sH22x', b'netfc%d', IFF_TAP | IFF_NO_PI)
            fcntl.ioctl(device, TUNSETIFF, request)
    except OSError as error:
        return f'no TAP interface can be made: {error}'
    return ''


def why_no_packet_socket():
    """Why no AF_PACKET socket can be opened here, outside namespaces of the test's; empty if one can."""
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()
    except OSError as error:
        return f'no AF_PACKET socket: {error}'
    return ''


def why_no_mounts():
    """Why no file system can be mounted in a mount namespace; empty if it can."""
    done = subprocess.run(['unshare', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'],
                          capture_output=True, text=True, check=False)
    return f'mounts cannot be made: {done.stderr.strip()}' if done.returncode != 0 else ''


def why_nobody():
    """Why a process cannot become another user; empty if it can. Root of user namespaces cannot."""
    done = subprocess.run([*AS_NOBODY, 'true'], capture_output=True, text=True, check=False)
    return 'only root of the machine can become somebody else' if done.returncode != 0 else ''


def why_no_long_rings():
    """Why AF_PACKET ports cannot lock their rings; empty if they can. Root of user namespaces is a user here."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_LOCKED
    try:
        mmap.mmap(-1, LONG_RINGS, flags=flags).close()
    except OSError as error:
        return f'no {LONG_RINGS >> 20} MB of memory can be locked (ulimit -l): {error}'
    return ''


def why_no_terminal():
    """Why there is no pseudo-terminal; empty if there is."""
    try:
        for descriptor in pty.openpty():
            os.close(descriptor)
    except OSError as error:
        return f'no pseudo-terminal can be opened: {error}'
    return ''


def why_no_port(vdev):
    """Why there can be no such port, given as --vdev takes it; empty if there can."""
    driver, *arguments = vdev.split(',')
    if driver.startswith('net_tap'):
        return NO_TAP
    on_interface = any('iface' in argument for argument in arguments)
    if EMULATOR and on_interface and driver.startswith(('net_af_packet', 'net_pcap')):
        return f'{EMULATOR} does not pass all on that {driver} asks of an interface'
    return ''


def skip_where(reason):
    """A mark for tests that are skipped for a reason, if there is any."""
    return pytest.mark.skipif(reason != '', reason=reason)


NO_NAMESPACES = why_no_namespaces()
NO_TAP = why_no_tap()
NO_NOBODY = why_nobody()
# Set where the programs of the build run in an emulator: its name.
EMULATOR = os.environ.get('NETFC_EMULATOR', '')
# What waits for a program waits so many times as long.
PATIENCE = 10 if EMULATOR else 1

needs_namespaces = skip_where(NO_NAMESPACES)
needs_tap = skip_where(NO_TAP)
needs_packet_socket = skip_where(why_no_packet_socket())
needs_mounts = skip_where(why_no_mounts())
needs_long_rings = skip_where(why_no_long_rings())
needs_terminal = skip_where(why_no_terminal())
needs_nobody = skip_where(NO_NOBODY)


def libuv_of_torch(said):
    """Skips the test where torch's launcher has said that it cannot start for want of libuv."""
    if 'use_libuv was requested but PyTorch was build without' in said:
        pytest.skip("torch's launcher wants libuv, which this torch is built without")


def needs_program(name, what=''):
    """A mark for tests of a program that may not be installed. what: to say about it."""
    return skip_where('' if shutil.which(name) else f'{name} is not installed{what}')
