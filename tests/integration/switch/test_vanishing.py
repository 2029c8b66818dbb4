# SPDX-License-Identifier: BSD-3-Clause
"""Ports whose interface is deleted, or down: the switch says so, and goes on with the others."""

import contextlib
import socket

import pytest

import frames
import pcapng
import switch
from hosts import Host, LiveSwitch, SWITCH_IP, Wire, numbers, veth_network, veth_ports, wait_until

from netfc.control import Control
from netfc.telemetry import Telemetry
from test_transports import why_no_af_xdp


@contextlib.contextmanager
def on_veth(folder, count, *options, vdevs=None, **more):
    """Hosts at a switch, by AF_PACKET unless told."""
    with veth_network(count) as (middle, joined), LiveSwitch(
            folder, vdevs or veth_ports(count), options, namespace=middle, **more) as live:
        live.wait_until_ready()
        yield live, joined, lambda port: middle.ip('link', 'delete', f'p{port}')


def on_af_xdp(folder, count, *options, **more):
    """Likewise, by AF_XDP."""
    if reason := why_no_af_xdp():
        pytest.skip(reason)
    return on_veth(folder, count, *options, vdevs=[f'net_af_xdp{port},iface=p{port}' for port in range(count)],
                   **more)


@contextlib.contextmanager
def on_taps(folder, count, *options, **more):
    """Hosts at a switch, by TAP interfaces that were moved into their namespaces."""
    with Host(0) as first, contextlib.ExitStack() as stack:
        joined = [first] + [stack.enter_context(Host(number)) for number in range(1, count)]
        vdevs = [f'net_tap{number},iface=eth{number}' for number in range(count)]
        with LiveSwitch(folder, vdevs, options, namespace=first, **more) as live:
            live.wait_until_ready()
            for number, host in enumerate(joined):
                if number > 0:
                    first.ip('link', 'set', f'eth{number}', 'netns', host.name, 'name', 'eth0')
                host.configure()
            yield live, joined, lambda port: joined[port].ip('link', 'delete', 'eth0')


def wait_for_drops(telemetry, host):
    """A frame of the host's cannot leave."""
    before = telemetry.ask('/netfc/stats')['drops']['port_gone']
    with Wire(host) as wire:
        wire.send(frames.plain_frame(frames.request()))
        wait_until(lambda: telemetry.ask('/netfc/stats')['drops']['port_gone'] > before,
                   'a frame to be dropped')


@pytest.mark.parametrize('network', [on_veth, on_af_xdp, on_taps])
@pytest.mark.parametrize('options', [['--poll'], []])
def test_the_others_go_on(tmp_path, network, options):
    with network(tmp_path, 3, '--forward', 'bridge', *options, telemetry=True) as (
            live, joined, delete), Telemetry(live.telemetry_path) as telemetry:
        first, second, third = joined
        first.ping(second.ipv4)
        first.ping(third.ipv4)
        delete(1)
        live.wait_for_message('has gone; 2 ports are left')
        first.ping(third.ipv4)
        port = telemetry.ask('/netfc/port,1')
        assert (port['gone'], port['link_up']) == (1, 0) and port['counters']['rx_packets'] > 0
        assert telemetry.ask('/netfc/port,0')['gone'] == 0
        wait_until(lambda: telemetry.ask('/netfc/bridge')['aged'] > 0, 'its station to be forgotten')
        delete(0)
        live.wait_for_message('has gone; 1 port is left')
        wait_for_drops(telemetry, third)
        live.stop()
    assert 'port 1    net_' in live.stdout and 'has gone' in live.stdout


@pytest.mark.parametrize('network', [on_veth, on_af_xdp, on_taps])
def test_telemetry_tells_links_that_are_down(tmp_path, network):
    """As the kernel has them: drivers call them up, or down where a TAP interface has been moved."""
    with network(tmp_path, 2, '--forward', 'bridge', telemetry=True) as (live, joined, _), \
            Telemetry(live.telemetry_path) as telemetry:
        for port, host in enumerate(joined):
            for state, up in ('up', 1), ('down', 0), ('up', 1):
                host.ip('link', 'set', 'eth0', state)
                wait_until(lambda: telemetry.ask(f'/netfc/port,{port}')['link_up'] == up,  # pylint: disable=W0640
                           f'port {port} to be {state}')
        joined[0].ping(joined[1].ipv4)
        live.stop()


def test_what_leaves_there_is_dropped(tmp_path):
    with on_veth(tmp_path, 2, '--forward', 'pair', telemetry=True) as (live, (first, _), delete), \
            Telemetry(live.telemetry_path) as telemetry:
        delete(1)
        live.wait_for_message('has gone; 1 port is left')
        wait_for_drops(telemetry, first)
        live.stop()


@pytest.mark.parametrize('network', [on_veth, on_af_xdp, on_taps])
@pytest.mark.parametrize('managed, status', [(False, 2), (True, 75)])
def test_without_a_port_it_ends(tmp_path, monkeypatch, network, managed, status):
    """A service manager tries again, until the device is back."""
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(str(switch.RUNTIME / tmp_path.name))
    if managed:
        monkeypatch.setitem(switch.ENVIRONMENT, 'NOTIFY_SOCKET', manager.getsockname())
    with manager, network(tmp_path, 1, '--address', SWITCH_IP) as (live, (host,), delete):
        host.ping(SWITCH_IP)
        delete(0)
        assert live.process.wait(switch.TIMEOUT_S) == status
        assert 'has gone, and no port is left: this is the end' in live.stderr
        switch.assert_sane(live.stderr)
        stats = switch.read_stats(live.files['stats'])
    assert stats['mbufs_leaked'] == 0


def test_a_tap_that_is_moved_is_there(tmp_path):
    with on_taps(tmp_path, 2, '--forward', 'bridge', '--poll') as (live, (first, second), delete):
        first.ping(second.ipv4)
        delete(0)
        live.wait_for_message('port 0, net_tap0, has gone; 1 port is left')
        assert 'port 1' not in live.stderr
        live.stop()


def test_captures_while_and_after_a_port_vanishes(tmp_path):
    """DPDK knows the port no more; what it had is there."""
    path = switch.RUNTIME / f'control-{next(numbers)}'
    with on_veth(tmp_path, 2, '--forward', 'pair', '--control', path) as (live, (first, second), delete), \
            Control(path) as control, Wire(second) as wire:
        control.do('capture', action='start', file=str(tmp_path / 'during'))
        first.ping(second.ipv4)
        delete(0)
        live.wait_for_message('has gone; 1 port is left')
        during = control.do('capture', action='stop')['capture']
        control.do('capture', action='start', file=str(tmp_path / 'after'), packets=1)
        wire.send(frames.plain_frame(frames.request()))
        wait_until(lambda: not control.do('capture', action='show')['capture']['running'], 'its end')
        live.stop()
    assert 'Invalid' not in live.stderr
    whole = pcapng.read(tmp_path / 'during')
    assert during['ended'] == 'stopped' and during['packets'] == len(whole.packets)
    assert {packet.interface for packet in whole.packets} == {0, 1} and list(whole.seen) == [1]
    after = pcapng.read(tmp_path / 'after')
    assert len(after.interfaces) == len(after.packets) == 1 and after.packets[0].interface == 0
