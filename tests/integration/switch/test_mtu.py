# SPDX-License-Identifier: BSD-3-Clause
"""--mtu, and frames that are too long for it or for a port."""

import re

import pytest

import frames
import hosts
import switch
from processes import Feeder, replies
from refusal import refuse

LAYER2_BYTES = 22  # an Ethernet header and two VLAN tags


def of_sizes(*sizes):
    """A request in a frame of each size."""
    return [frames.plain_frame(frames.lanes(9)).ljust(size, b'\xEE') for size in sizes]


@pytest.mark.parametrize('mtu', [68, 1500, 9000])
def test_longer_frames_are_dropped(tmp_path, mtu):
    longest = mtu + LAYER2_BYTES
    sizes = [60, mtu, longest - 1, longest, longest + 1, longest + 2, 12000]
    sent = [frame for frame in of_sizes(*sizes) if len(frame) >= 60]
    fit = [frame for frame in sent if len(frame) <= longest]
    result = switch.run([sent, []], options=['--mtu', str(mtu)])
    switch.assert_same(result.outputs[1], replies(fit, 'pair'))
    assert result.stats['drops']['oversize'] == len(sent) - len(fit)


def test_without_mtu_any_length_will_do():
    sent = of_sizes(60, 1514, 1600, 9000, 16000)
    result = switch.run([sent, []])
    switch.assert_same(result.outputs[1], replies(sent, 'pair'))


def test_the_bridge_drops_each_copy(tmp_path):
    sent = of_sizes(100, 1522, 1523, 4000, 200)
    vdevs = [switch.capture_port(tmp_path, port, sent if port == 0 else []) for port in range(3)]
    with hosts.LiveSwitch(tmp_path, vdevs, ['--forward', 'bridge', '--mtu', 1500, '--idle-exit',
                                            50]) as live:
        stats = live.wait()
    for port in (1, 2):
        came = switch.read_capture(tmp_path / f'out{port}')
        switch.assert_same(came, replies([sent[0], sent[1], sent[4]], 'pair'))
    assert (stats['copies'], stats['drops']['oversize']) == (len(sent), 4)


@hosts.needs_namespaces
def test_what_a_port_refuses_is_lost_once(tmp_path):
    """However often a TAP was offered a frame: it is dropped once, the device lost none, and what comes
    after it in the burst is sent."""
    sent = of_sizes(*[100, 4000, 200, 300, 400] * 4)
    short = replies([frame for frame in sent if len(frame) < 1500], 'pair')
    with Feeder(tmp_path / 'pipe') as feeder, hosts.Host(0) as host, hosts.LiveSwitch(
            tmp_path, [f'net_pcap0,rx_pcap={feeder.path}', 'net_tap0,iface=eth0'],
            ['--forward', 'pair'], namespace=host) as live:
        live.wait_until_ready()
        with hosts.Wire(host) as wire:
            feeder.fill(sent)
            switch.assert_same([wire.receive() for _ in short], short)
        stats = live.stop()
    assert stats['drops']['tx_full'] == sum(stats['drops'].values()) == len(sent) - len(short)
    assert stats['devices']['tx_errors'] == 0 and 'packets lost at devices' not in live.stdout


@pytest.mark.parametrize('mtu', ['0', '67', '65536', '-1', 'jumbo', '', '1500x'])
def test_mtu_out_of_range(tmp_path, mtu):
    said = refuse(tmp_path, ['--mtu', mtu])
    assert '--mtu' in said and '68 to 65535' in said


@pytest.mark.parametrize('port, mtu, most', [
    ('net_tap0,iface=tap', 20000, '(1504|16110)'),  # DPDK 22.11, 24.11
    ('net_memif0,role=server,socket={path}', 1501, '1500'),
    ('net_af_packet0,iface=p0', 1501, '1500')], ids=['TAP', 'memif', 'AF_PACKET'])
@hosts.needs_namespaces
def test_mtu_that_a_port_cannot_have(tmp_path, port, mtu, most):
    """Told before any port starts, with what the port can have."""
    path = switch.RUNTIME / f'memif-{next(hosts.numbers)}'
    with hosts.veth_network(1) as (middle, _), hosts.LiveSwitch(
            tmp_path, [port.format(path=path)], ['--mtu', mtu], namespace=middle) as live:
        assert live.process.wait(switch.TIMEOUT_S) == 1, live.stderr
        said = rf'^dpdk-netfc: --mtu {mtu}: port 0 takes \d+ to {most}$'
        assert re.search(said, live.stderr, re.MULTILINE), live.stderr


@hosts.needs_namespaces
def test_every_packet_is_cut(tmp_path):
    """Frames that have no room for a header of Ethernet."""
    ports = hosts.veth_ports(1, ',framecnt=512,framesz=64,blocksz=4096')
    with hosts.veth_network(1, configured=False) as (middle, _):
        with hosts.LiveSwitch(tmp_path, ports, [], namespace=middle, memory=512) as live:
            live.wait_until_ready()
            assert 'interface has MTU 1500, and of packets longer than 0 bytes the end is lost' in live.stderr
            live.stop()


@hosts.needs_namespaces
@pytest.mark.parametrize('framesz, more, options', [
    (2048, '', []),
    # With buffers that are large enough.
    (9216, ',framecnt=64,framesz=9216,blocksz=36864',  # few: an ordinary user may lock 8 MB
     ['--address', hosts.SWITCH_IP, '--aggregate=slots=16,bytes=8948'])])
def test_packets_that_are_cut(tmp_path, framesz, more, options):
    """By net_af_packet, silently: it is said at the start, with how long they may be, which is true."""
    longest = framesz - 80

    def started(mtu):
        middle.ip('link', 'set', 'p0', 'mtu', mtu)
        return hosts.LiveSwitch(tmp_path, hosts.veth_ports(1, more), options, namespace=middle, memory=512)

    with hosts.veth_network(1, configured=False) as (middle, (host,)):
        host.ip('link', 'set', 'eth0', 'mtu', longest + 1)
        for mtu, length in (longest, longest), (longest + 1, longest):
            with started(mtu) as live, hosts.Wire(host) as wire:
                live.wait_until_ready()
                assert (f'interface has MTU {mtu}, and of packets longer than {length} bytes the end is lost'
                        in live.stderr) == (mtu > length)
                for size in (length, mtu):
                    sent, = of_sizes(size + 14)
                    wire.send(sent)
                    came = wire.receive(timeout=hosts.TIMEOUT_S)
                    assert len(came) == length + 14
                live.stop()
