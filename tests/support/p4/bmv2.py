# SPDX-License-Identifier: BSD-3-Clause
"""BMv2's simple_switch at work on p4/netfc_v1model.p4, in a network namespace of its own."""

import contextlib
import shutil
import socket
import subprocess
import time

import pytest

import hosts
import oracle
import p4_entries
import project_scripts

TOOLS = ('p4c-bm2-ss', 'simple_switch', 'simple_switch_CLI')
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
needs_bmv2 = pytest.mark.skipif(bool(MISSING), reason=f'not on the PATH: {", ".join(MISSING)}')

PROGRAM = project_scripts.PROJECT / 'p4' / 'netfc_v1model.p4'
LOAD = PROGRAM.with_name('load')
THRIFT_PORT = 9090  # of this namespace
MTU = 2000  # above that of any frame of the tests
WINDOW = 24  # frames on their way at the same time: its receive ring holds 32
PAUSE_S = 0.02  # between frames that are not waited for
LOAD_TIMEOUT_S = 600
FORWARD = {'pair': 'table_add IngressPipe.forward IngressPipe.pair 0 => 1\n'
                   'table_add IngressPipe.forward IngressPipe.pair 1 => 0\n',
           'reflect': 'table_add IngressPipe.forward IngressPipe.reflect 0 =>\n'}


def compile_program(folder, *options, program=PROGRAM):
    """Compiles a program without a warning. Returns the paths of its JSON and its P4Info."""
    json, p4info = folder / 'netfc.json', folder / 'netfc.p4info.txtpb'
    done = subprocess.run(['p4c-bm2-ss', *options, '--p4runtime-files', p4info, '-o', json, program],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0 and 'warning' not in done.stderr, done.stderr
    return json, p4info


@contextlib.contextmanager
def running(folder, options, commands):
    """The switch with ports 0 and 1, its tables filled. Yields hosts.Wire for both ports."""
    with hosts.veth_network(2, configured=False) as (middle, ends):
        for number, end in enumerate(ends):
            end.ip('link', 'set', 'eth0', 'mtu', MTU)
            middle.ip('link', 'set', f'p{number}', 'mtu', MTU)
        with started(folder, middle, 2, options, commands):
            with hosts.Wire(ends[0]) as first, hosts.Wire(ends[1]) as second:
                yield first, second


@contextlib.contextmanager
def started(folder, middle, count, options, commands, program=PROGRAM):
    """A switch in its namespace of a hosts.veth_network() of so many hosts, its tables filled."""
    json, _ = compile_program(folder, *options, program=program)
    middle.ip('link', 'set', 'lo', 'up')
    interfaces = []
    for port, name in enumerate(hosts.veth_names(count)):
        middle.run('ethtool', '-K', name, 'rxvlan', 'off', 'txvlan', 'off')
        interfaces += ['-i', f'{port}@{name}']
    process = middle.start('simple_switch', *interfaces, '--thrift-port', THRIFT_PORT,
                           '--notifications-addr', f'ipc://{folder}/notifications.ipc',
                           '--log-level', 'off', json, stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE)
    try:
        wait_for_thrift(middle, process)
        load(middle, commands)
        yield
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def wait_for_thrift(namespace, process):
    def answers():
        assert process.poll() is None, process.stderr.read()
        with namespace.socket(socket.AF_INET, socket.SOCK_STREAM) as server:
            return server.connect_ex(('127.0.0.1', THRIFT_PORT)) == 0

    hosts.wait_until(answers, 'simple_switch')


def load(namespace, commands):
    """Fills the tables."""
    done = subprocess.run(['ip', 'netns', 'exec', namespace.name, LOAD, '--thrift-port',
                           str(THRIFT_PORT)], input=commands, text=True, capture_output=True,
                          timeout=LOAD_TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stderr


def can_be_sent(frame):
    """Linux passes on no frame without a whole Ethernet header, tag and type included."""
    return len(frame) >= (20 if frame[12:14] in (b'\x81\x00', b'\x88\xA8') else 14)


def is_whole(frame):
    """Whether a frame is as long as its IP header says, or has none."""
    at = 12
    while at < 20 and frame[at:at + 2] in (b'\x81\x00', b'\x88\xA8'):
        at += 4
    kind, ip = frame[at:at + 2], at + 2
    if len(frame) < ip + 40 or kind not in (b'\x08\x00', b'\x86\xDD'):
        return True
    ends = ip + oracle.u16(frame, ip + 2) if kind == b'\x08\x00' else \
        ip + 40 + oracle.u16(frame, ip + 4)
    return ends <= len(frame)


def send(wire, arrival, frames, expected=None):
    """Sends frames, a window at a time, and returns what arrives, in order.

    expected: how many that shall be, where the switch drops some; those that are sent at a time are
    then no window any more, and must be few.
    """
    arrived = []
    window = WINDOW if expected in (None, len(frames)) else len(frames)
    for at in range(0, len(frames), window):
        sent = frames[at:at + window]
        for frame in sent:
            wire.send(frame)
            time.sleep(0 if window == WINDOW else PAUSE_S)
        for _ in range(len(sent) if window == WINDOW else expected):
            try:
                arrived.append(arrival.receive())
            except TimeoutError:
                raise AssertionError(
                    f'{len(arrived)} of {at + len(sent)} frames came back') from None
    return arrived


def exported(name, *options):
    """The entries of a table set as simple_switch_CLI's commands."""
    return p4_entries.run('--target', 'bmv2', *options, name).stdout


def as_computed_by(sent, reply, lanes):
    """What a switch that computes so many lanes replies where dpdk-netfc, which computes any
    number, replies `reply`."""
    layout = oracle.parse(sent)
    if layout.udp is None or sent == reply:
        return reply
    start = layout.payload
    count = oracle.u16(sent, start + 6) if layout.end - start >= 8 else 0
    if reply[start + 5] & 0xF0 != oracle.REPLY_BIT or count <= lanes or reply == sent:
        return reply
    swapped = bytearray(sent)
    before = bytes(swapped[start:layout.end])
    swapped[start + 5] = oracle.REPLY_BIT | 6 << 4
    oracle.update_checksum(swapped, layout, before)
    return bytes(swapped)
