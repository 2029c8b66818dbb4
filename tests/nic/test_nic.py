# SPDX-License-Identifier: BSD-3-Clause
"""dpdk-netfc on emulated PCI devices: the same bytes as on files, sums, cables and devices that are pulled."""

import collections
import contextlib
import random
import re
import socket
import threading
import time

import numpy as np
import pytest

import frames
import hosts
import switch
from netfc import allreduce
from nic import guest
from side_by_side import beside, together

SETS = ('fp16_k1024', 'posit16_k512', 'bf16_k128', 'posit16_es2_k256')
BATCH = 32  # frames on their way: less than a ring of the guest's
ADDRESS = ['--address', f'{hosts.SWITCH_IP}/24']
MOMENT_S = 0.3  # up to
PAUSE_S = 0.002
WAKINGS = 5
CHECKED = 20  # once in so many


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


def test_lines_come_whole_while_processes_end(machine):
    """What all that follows relies on: the guest's shell, while what earlier lines have started ends."""
    started, _ = machine
    for number in range(100):
        started.run(f'sleep 0.0{number % 10} &')
        assert started.run('echo ' + 'x' * 900) == 'x' * 900


def test_every_frame_as_over_a_file(machine, found):
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
    found('frames of all formats and wrappings, byte for byte as over a capture')
    found('frames to any MAC address (promiscuous)')  # no NIC of the guest has that of these frames


def test_bridge(machine, found):
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
    found('bridge between two NICs')


def test_jumbo_frames(machine, found):
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
    found('frames of 9,000 bytes',
          'up to 2,000 bytes; longer ones are counted as lost at the device' if lost else 'yes')


def test_frames_longer_than_the_mtu(machine, found):
    """Dropped by the switch as oversize where the device delivers them, else counted as lost at the device."""
    started, joined = machine
    long, fits = (frames.plain_frame(frames.lanes(count)) for count in (200, 190))  # IP packets of 1,240 and 1,180 bytes
    words, more = first_port('--forward', 'reflect', '--mtu', '1200')
    with guest.GuestSwitch(started, words, **more) as live:
        with hosts.Wire(joined[0]) as wire:
            for each in (long, fits, long, fits):
                wire.send(each)
            came = [wire.receive(timeout=hosts.TIMEOUT_S) for _ in range(2)]
        stats = live.stop()
    assert {len(each) for each in came} == {len(fits)}
    dropped, lost = stats['drops']['oversize'], stats['devices']['rx_errors']
    assert sorted((dropped, lost)) == [0, 2]
    found('frames longer than `--mtu`', 'dropped as `oversize`' if dropped else 'counted as lost at the device')


def sums(host, values):
    """What two workers get, in the host's namespace."""
    def work(rank):
        with host.entered(), allreduce.Communicator(
                hosts.SWITCH_IP, worker=rank, workers=len(values), token=0x5eed, build=switch.BUILD) as comm:
            mine = values[rank].copy()
            comm.allreduce(mine)
            return mine

    return together(len(values), work)


def test_sums_in_two_shards(machine, found):
    """Both queues of a NIC have a shard each where it has two."""
    started, joined = machine
    draw = np.random.default_rng(1)
    values = (draw.standard_normal((2, 50_000)) * 10.0 ** draw.integers(-6, 6, 50_000)).astype('f4')
    words, more = first_port(*ADDRESS, '--aggregate', lcores=2)
    with configured(joined[:1]), guest.GuestSwitch(started, words, **more) as live:
        results = sums(joined[0], values)
        live.stop()
        steered = 'steering  port 0: by the device' in live.stdout
        queues = re.search(r'port 0 +\S+, (\d+) receive', live.stdout)[1]
    assert steered == (started.device == 'igb')
    exact = (values[0].astype('f8') + values[1]).astype('f4')
    for result in results:
        np.testing.assert_array_equal(result.view('u4'), exact.view('u4'))
    found('receive queues', queues)
    found('sums of two workers, on two lcores')
    found('steering by the device (`rte_flow`)', 'yes' if steered else 'no')


def test_receive_interrupts(machine, found):
    """An lcore that sleeps is woken; where the driver routes none, it says so and stays on the ramp."""
    started, joined = machine
    silent = started.device == 'e1000e'  # its driver does not route causes to the vectors of MSI-X
    with configured(joined[:1]):
        for options in [['--vfio-intr=msi'], []] if silent else [[]]:
            words, more = first_port(*ADDRESS)
            more['eal'] += options
            with guest.GuestSwitch(started, words, **more) as live:
                for _ in range(WAKINGS):
                    started.run('sleep 1')
                    joined[0].ping(hosts.SWITCH_IP, count=1)
                stats = live.stop()
                missing = 'no longer waits for receive interrupts: packets came without' in live.stderr
            assert missing == (silent and not options)
            assert (stats['interrupts'] > 0) != missing
    found('receive interrupts', 'with `--vfio-intr=msi`' if silent else 'yes')


def test_fewer_packet_buffers_than_receive_queues_take(machine):
    """Said at once, with a number that is enough."""
    started, _ = machine
    with pytest.raises(AssertionError, match='--mbufs 512: the receive queues take') as failed:
        guest.GuestSwitch(started, ['--mbufs', 512], lcores=2)
    least = re.search(r'the receive queues take (\d+) at the start', str(failed.value))[1]
    with guest.GuestSwitch(started, ['--mbufs', least], lcores=2) as live:
        live.stop()


def test_a_nic_that_another_process_has(machine):
    """Said to the second one; the first goes on."""
    started, joined = machine
    words, more = first_port(*ADDRESS)
    with configured(joined[:1]), guest.GuestSwitch(started, words, **more) as live:
        said = started.run('dpdk-netfc -l 0 -m 128 --no-telemetry --file-prefix second -a 0000:01:00.0 --', status=1)
        assert '-a 0000:01:00.0: there is no such port; another process has the device' in said
        answered(joined[0], 1)
        live.stop()


@contextlib.contextmanager
def traffic(host, on=True):
    """Requests of a host's, without a pause for long, and whatever comes back."""
    ended = threading.Event()

    def ask():
        with host.udp() as client:
            client.setblocking(False)
            while not ended.wait(PAUSE_S):
                with contextlib.suppress(OSError):
                    client.sendto(frames.request(), (hosts.SWITCH_IP, 20038))
                    client.recv(2048)

    with beside(ask, ended.set, count=int(on)):
        yield


def test_a_cable_that_is_pulled(machine, found, request):
    """At random moments; answers come when it is back, and every packet is accounted for."""
    started, joined = machine
    times, draw = request.config.getoption('--cables'), random.Random(1)
    words, more = first_port(*ADDRESS)
    with configured(joined[:1]), guest.GuestSwitch(started, words, **more) as live:
        with traffic(joined[0]):
            for number in range(times):
                for up in (False, True):
                    time.sleep(draw.uniform(0, MOMENT_S))
                    started.monitor.do('set_link', name='nic0', up=up)
                if number % CHECKED == 0:
                    answered(joined[0], number)
        answered(joined[0], times)
        live.stop()
    found('cable pulled and back at random moments, with traffic', f'{times:,} times')


def test_a_nic_that_is_pulled(machine, found, request):
    """At random moments, also asleep. The switch goes on with the other one; without any, it ends."""
    started, joined = machine
    times, draw = request.config.getoption('--pulls'), random.Random(1)
    options = [*ADDRESS, '--forward', 'bridge']
    for number in range(times // 2):
        gone, last = draw.sample([0, 1], 2)
        with configured(joined), guest.GuestSwitch(started, options) as live:
            answered(joined[gone], number)
            busy = number % 2 == 0
            with traffic(joined[0], busy), traffic(joined[1], busy):
                time.sleep(draw.uniform(0, MOMENT_S))
                started.pull(gone)
                assert f'0000:0{gone + 1}:00.0, has gone; 1 port is left' in live.stderr
                answered(joined[last], number)
                time.sleep(draw.uniform(0, MOMENT_S))
                started.pull(last)
            assert f'0000:0{last + 1}:00.0, has gone, and no port is left: this is the end' in live.stderr
            assert live.ended(status=2)['devices']['rx_packets'] > 0
            for nic in (gone, last):
                started.plug(nic)
    found('device taken away (`device_del`) and back at random moments, with traffic or asleep',
          f'{times:,} times')


def answered(host, number):
    """Asks until there is an answer to this one."""
    with host.udp() as client:
        client.settimeout(0.2)
        ask_until(client, number)


def ask_until(client, number):
    limit = time.monotonic() + hosts.TIMEOUT_S
    while time.monotonic() < limit:
        client.sendto(frames.request(identity=number), (hosts.SWITCH_IP, 20038))
        with contextlib.suppress(socket.timeout):
            while True:
                if client.recv(2048)[8:12] == number.to_bytes(4, 'big'):
                    return
    pytest.fail(f'no answer to {number} in {hosts.TIMEOUT_S} s')
