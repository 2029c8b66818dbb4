# SPDX-License-Identifier: BSD-3-Clause
"""Captures of the running switch: what is in them, how they end, and that packets do not care."""

import pathlib
import subprocess
import time

import pytest

import frames
import hosts
import pcapng
import project_scripts
import switch
from controlled import controlled, netfc_ctl
from disks import small_disk
from needs import needs_mounts
from pcapng import IN, OUT
from processes import replies, requests

from netfc import ControlError

pytestmark = pytest.mark.xdist_group('capture')  # one process starts the switch


def read(path):
    """The packets of a capture."""
    return pcapng.read(path).packets


def of_port(packets, number, direction):
    """Frames of one port and direction."""
    return [packet.frame for packet in packets
            if packet.interface == number and packet.direction == direction]


def wait_for_end(control):
    """What a capture says that has ended by itself."""
    def ended():
        shown = control.do('capture', action='show')['capture']
        return not shown['running'] and shown

    return hosts.wait_until(ended, 'the end of the capture')


@pytest.fixture(name='flooded', scope='module')
def flooded_switch(tmp_path_factory):
    """Two lcores that forward between two captures without end."""
    folder = tmp_path_factory.mktemp('flood')
    frame = frames.plain_frame(frames.lanes(9))
    switch.write_capture(folder / 'in', [frame] * 64)
    vdevs = [f'net_pcap{port},rx_pcap={folder}/in,infinite_rx=1' for port in range(2)]
    with controlled(folder, vdevs, lcores=2) as (live, control, path):
        yield control, path, frame
        live.stop()


@pytest.fixture(name='flood')
def flooded_switch_without_a_capture(flooded):
    """Whatever becomes of the test, no capture goes on."""
    yield flooded
    if flooded[0].do('capture', action='show')['capture']['running']:
        flooded[0].do('capture', action='stop')


# ---- what is in it ---------------------------------------------------------------------------


@hosts.needs_namespaces
def test_what_came_in_and_what_went_out(tmp_path):
    """Every frame as it came and as it left, on its port, with its direction and its time."""
    sent = requests(50)
    path = tmp_path / 'x.pcapng'
    with hosts.veth_network(2, configured=False) as (middle, pair), controlled(
            tmp_path, hosts.veth_ports(2), namespace=middle) as (live, control, _):
        live.wait_until_ready()
        began = time.time_ns()
        control.do('capture', action='start', file=str(path))
        with hosts.Wire(pair[0]) as left, hosts.Wire(pair[1]) as right:
            for frame in sent:
                left.send(frame)
            came = [right.receive() for _ in sent]
        shown = control.do('capture', action='stop')['capture']
        ended = time.time_ns()
        live.stop()
    switch.assert_same(came, replies(sent, 'pair'))
    packets = read(path)
    switch.assert_same(of_port(packets, 0, IN), sent)
    switch.assert_same(of_port(packets, 1, OUT), came)
    assert len(packets) == 2 * len(sent)
    assert shown == {'running': False, 'file': str(path), 'snaplen': 2048, 'missed': 0,
                     'packets': len(packets), 'bytes': path.stat().st_size,
                     'ended': 'stopped'}
    times = [packet.ns for packet in packets]
    assert began < times[0] and times == sorted(times) and times[-1] < ended
    assert path.stat().st_mode & 0o777 == 0o600


def test_other_readers_understand_it(flood, tmp_path):
    """Wireshark's tools read it, and find the counters of each interface."""
    control, path, _ = flood
    file = tmp_path / 'x.pcapng'
    netfc_ctl('--socket', str(path), 'capture', 'start', str(file), '--packets', '5000')
    wait_for_end(control)
    said = subprocess.run(['capinfos', '-M', file], text=True, capture_output=True, check=True,
                          timeout=600).stdout
    assert 'Number of packets:   5000' in said and 'Number of interfaces in file: 2' in said
    assert 'dpdk-netfc' in said and 'Number of stat entries = 1' in said, said


@hosts.needs_namespaces
def test_only_what_a_port_has_taken(tmp_path):
    """An interface that is down refuses packets: they are dropped, and not in the capture."""
    switch.write_capture(tmp_path / 'in', requests(64))
    vdevs = [f'net_pcap0,rx_pcap={tmp_path}/in,infinite_rx=1', 'net_tap0,iface=t0']
    with hosts.Namespace() as inside, controlled(tmp_path, vdevs, namespace=inside) as (
            live, control, _):
        assert control.do('show')  # it is served: ports, which set their links up, have started
        for state, directions in (('down', {IN}), ('up', {IN, OUT})):
            inside.ip('link', 'set', 't0', state)
            path = tmp_path / state
            control.do('capture', action='start', file=str(path), packets=1000)
            assert wait_for_end(control)['packets'] == 1000
            assert {packet.direction for packet in read(path)} == directions
        assert live.stop()['drops']['tx_full'] > 0


def test_snaplen_cuts(flood, tmp_path):
    control, _, frame = flood
    for snaplen in (14, 33, len(frame), 65000):
        path = tmp_path / str(snaplen)
        control.do('capture', action='start', file=str(path), snaplen=snaplen, packets=200)
        wait_for_end(control)
        for packet in read(path):
            assert len(packet.frame) == min(snaplen, len(frame)) and packet.length == len(frame)
            if packet.direction == IN:
                assert packet.frame == frame[:snaplen]


# ---- how it ends -----------------------------------------------------------------------------


@pytest.mark.parametrize('limit', [1, 2, 63, 64, 65, 1000])
def test_as_many_packets_as_asked_for(flood, tmp_path, limit):
    control = flood[0]
    control.do('capture', action='start', file=str(tmp_path / 'x'), packets=limit)
    shown = wait_for_end(control)
    assert shown['ended'] == 'as many packets as asked for' and shown['packets'] == limit
    assert len(read(tmp_path / 'x')) == limit


@pytest.mark.parametrize('limit', [1, 2000, 10000])
def test_as_many_bytes_as_asked_for(flood, tmp_path, limit):
    control, _, frame = flood
    control.do('capture', action='start', file=str(tmp_path / 'x'), bytes=limit)
    shown = wait_for_end(control)
    packets = read(tmp_path / 'x')
    assert shown['ended'] == 'as many bytes as asked for' and shown['packets'] == len(packets)
    assert shown['bytes'] == (tmp_path / 'x').stat().st_size
    assert shown['bytes'] <= limit or not packets
    assert len(packets) * (pcapng.HEAD_BYTES + len(frame)) < limit


def test_a_capture_at_full_rate_misses_packets_and_the_switch_none(flood, tmp_path):
    """What the file has no time for is counted; another one follows at once."""
    control, _, frame = flood
    for number in range(3):
        path = tmp_path / str(number)
        control.do('capture', action='start', file=str(path), bytes=0, snaplen=64)
        with pytest.raises(ControlError, match='already'):
            control.do('capture', action='start', file=str(tmp_path / 'other'))
        time.sleep(0.02)
        assert control.do('capture', action='show')['capture']['running']
        shown = control.do('capture', action='stop')['capture']
        interfaces, packets, seen, missed = pcapng.read(path)
        assert len(packets) == shown['packets'] > 100 and shown['missed'] == sum(missed.values())
        assert sum(seen.values()) == shown['packets'] + shown['missed'] and len(interfaces) == 2
        assert {packet.direction for packet in packets} == {IN, OUT}
        assert {packet.frame for packet in packets if packet.direction == IN} == {frame[:64]}
    assert not (tmp_path / 'other').exists()


def test_the_switch_stops_meanwhile(tmp_path):
    """The capture is whole, and no packet buffer is missing."""
    switch.write_capture(tmp_path / 'in', requests(64))
    with controlled(tmp_path, [f'net_pcap0,rx_pcap={tmp_path}/in,infinite_rx=1']) as (
            live, control, _):
        control.do('capture', action='start', file=str(tmp_path / 'x'), bytes=0)
        hosts.wait_until(
            lambda: control.do('capture', action='show')['capture']['packets'] > 100, 'packets')
        live.stop()
    assert len(read(tmp_path / 'x')) > 100


@needs_mounts
def test_a_full_disk(tmp_path):
    """The capture ends, its file is whole as far as it goes, the switch goes on."""
    disk = tmp_path / 'disk'
    switch.write_capture(tmp_path / 'in', requests(64))
    vdevs = [f'net_pcap0,rx_pcap={tmp_path}/in,infinite_rx=1']
    with small_disk(disk) as inside, controlled(tmp_path, vdevs, within=inside) as (
            live, control, _):
        control.do('capture', action='start', file=f'{disk}/x')
        shown = wait_for_end(control)
        assert shown['ended'] == 'cannot write: No space left on device', shown
        whole = pathlib.Path(f'/proc/{live.process.pid}/root{disk}/x').read_bytes()
        with pytest.raises(ControlError, match='No space left'):
            control.do('capture', action='start', file=f'{disk}/y')
        control.do('capture', action='start', file=str(tmp_path / 'z'), packets=10)
        assert wait_for_end(control)['packets'] == 10
        live.stop()
    (tmp_path / 'x').write_bytes(whole)
    assert len(read(tmp_path / 'x')) == shown['packets'] > 10
    assert len(whole) == shown['bytes']


# ---- what cannot be --------------------------------------------------------------------------


@pytest.mark.parametrize('wanted, said', [
    ({'file': '/proc/nonexistent/x'}, 'No such file'), ({'file': '/tmp'}, 'File exists'),
    ({'file': '/dev/full'}, 'never replaces'), ({}, "'file' is missing"),
    ({'file': '/proc/x'}, 'cannot make'), ({'file': '/proc/x', 'snaplen': 13}, 'from 14 to 65000'),
    ({'file': '/proc/x', 'snaplen': 65001}, 'from 14 to 65000'),
    ({'file': '/proc/x', 'packets': -1}, 'packets'), ({'file': '/proc/x', 'bytes': 'x'}, 'bytes')])
def test_captures_that_cannot_be(flood, wanted, said):
    control = flood[0]
    with pytest.raises(ControlError, match=said):
        control.do('capture', action='start', **wanted)
    with pytest.raises(ControlError, match='there is no capture'):
        control.do('capture', action='stop')
    with pytest.raises(ControlError, match='start stop show'):
        control.do('capture', action='pause')


def test_no_memory_for_copies(tmp_path):
    options = ['--mbufs', 4000]
    with controlled(tmp_path, options=options, memory=22) as (live, control, _):
        with pytest.raises(ControlError, match='-m MB'):
            control.do('capture', action='start', file=str(tmp_path / 'x'))
        assert not (tmp_path / 'x').exists()
        live.stop()


def test_netfc_ctl_takes_paths_from_where_it_is(flood, tmp_path):
    done = subprocess.run([project_scripts.PROGRAMS / 'netfc-ctl',
                           '--socket', flood[1], 'capture', 'start', 'x', '--packets', '1'],
                          cwd=tmp_path, text=True, capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    wait_for_end(flood[0])
    assert len(read(tmp_path / 'x')) == 1
    assert netfc_ctl('capture').returncode == netfc_ctl('capture', 'start').returncode == 1
