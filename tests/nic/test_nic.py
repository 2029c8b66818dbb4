# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-netfc on emulated PCI devices: the same bytes as on files, sums, cables and devices that are pulled."""

import collections
import concurrent.futures
import contextlib
import socket
import time

import numpy as np
import pytest

import frames
import hosts
import switch
from netfc import allreduce
from nic import guest

SETS = ('fp16_k1024', 'posit16_k512', 'bf16_k128', 'posit16_es2_k256')
BATCH = 32  # frames on their way: less than a ring of the guest's
ADDRESS = ['--address', f'{hosts.SWITCH_IP}/24']
CYCLES = 20  # of a cable


def first_port(*options, **more):
    """The switch with the first NIC alone, which reflects."""
    return [*options], {'eal': ['-a', '0000:01:00.0'], **more}


@contextlib.contextmanager
def configured(joined, mtu=1500):
    """Hosts with addresses."""
    for host in joined:
        host.ip('link', 'set', 'eth0', 'mtu', mtu)
        host.configure()
    try:
        yield
    finally:
        for host in joined:
            host.ip('address', 'flush', 'dev', 'eth0')
            host.ip('link', 'set', 'eth0', 'mtu', 1500)
            host.set_ipv6('eth0/disable_ipv6', 1)


def exchanged(host, sent):
    """What comes back for frames that are sent a few at a time."""
    came = []
    with hosts.Wire(host) as wire:
        for begin in range(0, len(sent), BATCH):
            batch = sent[begin:begin + BATCH]
            for frame in batch:
                wire.send(frame)
            came += [wire.receive(timeout=hosts.TIMEOUT_S) for _ in batch]
    return came


def test_every_frame_as_over_a_file(machine):
    """Requests of all formats and operations in all wrappings, and what is none: byte for byte."""
    started, joined = machine
    sent = [frame.ljust(frames.MIN_FRAME, b'\0') for _, frame in frames.wrapped()]
    options = ['--tables', ','.join(SETS), '--forward', 'reflect']
    expected = switch.run([sent], tables=SETS, options=['--forward', 'reflect']).outputs[0]
    words, more = first_port(*options)
    with guest.GuestSwitch(started, words, **more) as live:
        came = exchanged(joined[0], sent)
        stats = live.stop()
    assert collections.Counter(came) == collections.Counter(expected)
    assert stats['rx_packets'] == stats['tx_packets'] == len(sent)


def test_bridge(machine):
    """Hosts at two NICs reach each other, and requests between them are computed."""
    started, joined = machine
    with configured(joined), guest.GuestSwitch(started, ['--forward', 'bridge']) as live:
        first, second = joined
        first.ping(second.ipv4)
        second.ping(first.ipv6)
        with first.udp() as client, second.udp(port=20038) as server:
            client.sendto(frames.request(), (second.ipv4, 20038))
            payload, address = server.recvfrom(2048)
        assert address[0] == first.ipv4
        assert payload[5] == 0x80 and payload[16:18] == b'\x42\x00'  # fp16: 1 + 2
        live.stop()


def test_jumbo_frames(machine):
    """What does not fit into a buffer of vmxnet3's is lost there, and counted: driver's or QEMU's."""
    started, joined = machine
    lost = started.device == 'vmxnet3'
    with configured(joined, mtu=9000), \
            guest.GuestSwitch(started, ['--forward', 'bridge', '--mtu', '9000']) as live:
        joined[0].ping(joined[1].ipv4, size=1900 if lost else 8000)
        if lost:
            with joined[0].udp() as client:
                client.sendto(bytes(8000), (joined[1].ipv4, 9))
                joined[0].ping(joined[1].ipv4)
        stats = live.stop()
        assert (stats['drops']['oversize'], stats['devices']['rx_errors']) == (0, int(lost))


def sums(host, values):
    """What two workers get, in the host's namespace."""
    def work(rank):
        with host.entered(), allreduce.Communicator(
                hosts.SWITCH_IP, worker=rank, workers=len(values), token=0x5eed, build=switch.BUILD) as comm:
            mine = values[rank].copy()
            comm.allreduce(mine)
            return mine

    with concurrent.futures.ThreadPoolExecutor(len(values)) as threads:
        return list(threads.map(work, range(len(values))))


def test_sums_in_two_shards(machine):
    """Both queues of a NIC have a shard each where it has two."""
    started, joined = machine
    draw = np.random.default_rng(1)
    values = (draw.standard_normal((2, 50_000)) * 10.0 ** draw.integers(-6, 6, 50_000)).astype('f4')
    words, more = first_port(*ADDRESS, '--aggregate', lcores=2)
    with configured(joined[:1]), guest.GuestSwitch(started, words, **more) as live:
        results = sums(joined[0], values)
        live.stop()
    exact = (values[0].astype('f8') + values[1]).astype('f4')
    for result in results:
        np.testing.assert_array_equal(result.view('u4'), exact.view('u4'))


def test_a_cable_that_is_pulled(machine):
    """Traffic goes on when it is back, as often as it is pulled; every packet is accounted for."""
    started, joined = machine
    words, more = first_port(*ADDRESS)
    with configured(joined[:1]), guest.GuestSwitch(started, words, **more) as live:
        with joined[0].udp() as client:
            client.settimeout(0.2)
            for number in range(CYCLES):
                started.monitor.do('set_link', name='nic0', up=False)
                client.sendto(frames.request(identity=number), (hosts.SWITCH_IP, 20038))
                started.monitor.do('set_link', name='nic0', up=True)
                answered(client, 1000 + number)
        live.stop()


def test_a_nic_that_is_pulled(machine):
    """The switch gives it back, and goes on with the other one; without any, it ends."""
    started, joined = machine
    with configured(joined), guest.GuestSwitch(started, ['--address', f'{hosts.SWITCH_IP}/24',
                                                         '--forward', 'bridge']) as live:
        joined[0].ping(joined[1].ipv4)
        started.pull(1)
        assert '0000:02:00.0, has gone; 1 port is left' in live.stderr
        with joined[0].udp() as client:
            client.settimeout(0.2)
            answered(client, 1)
        started.plug(1)
        started.pull(0)
        assert '0000:01:00.0, has gone, and no port is left: this is the end' in live.stderr
        stats = live.ended(status=2)
        started.plug(0)
    assert stats['devices']['rx_packets'] > 0


def answered(client, number):
    """Asks until there is an answer to this one."""
    limit = time.monotonic() + hosts.TIMEOUT_S
    while time.monotonic() < limit:
        client.sendto(frames.request(identity=number), (hosts.SWITCH_IP, 20038))
        with contextlib.suppress(socket.timeout):
            while True:
                if client.recv(2048)[8:12] == number.to_bytes(4, 'big'):
                    return
    pytest.fail(f'no answer to {number} in {hosts.TIMEOUT_S} s')
