# SPDX-License-Identifier: BSD-3-Clause
"""Ports of every kind, their queues and lcores, and links that go down."""

import contextlib
import itertools
import json
import os
import pathlib
import re
import socket

import pytest

import frames
import hosts
import oracle
import switch
from hosts import SWITCH_IP
from namespaces import CommandError
from processes import MESSAGES, OTHER_PORT, Feeder, exchange, replies, requests, vhost_connected

AF_XDP = 44  # from linux/socket.h
ALL_USERS = ['0', '0', '4294967295']  # user_namespaces(7): of the first namespace
SO_NO_CHECK = 11  # from asm-generic/socket.h: send without UDP checksum


# ---- from process to process -----------------------------------------------------------------


def test_vhost(tmp_path):
    """The switch is the backend; a second sender comes when the first has gone."""
    path, sent, queues = switch.RUNTIME / f'vhost-{next(hosts.numbers)}', requests(), 2
    port = f'net_vhost0,iface={path},queues={queues}'
    peer = f'net_virtio_user0,path={path},queue_size=1024,queues={queues}'
    with hosts.LiveSwitch(tmp_path, [port], ['--forward', 'reflect'], lcores=queues,
                          eal=MESSAGES) as live:
        live.wait_for_message('binding succeeded')
        for times in (1, 2):
            came = exchange(tmp_path, peer, sent, lambda _: vhost_connected(live, times))
            switch.assert_same(came, replies(sent, 'reflect'))
        assert live.stop()['netfc_packets'] == 2 * len(sent)
        served, _ = live.plan()
    assert sorted(served) == [(0, queue) for queue in range(queues)]


def test_virtio_user(tmp_path):
    """The switch is the front end of somebody else's vhost, and serves the socket."""
    path, sent = switch.RUNTIME / f'vhost-{next(hosts.numbers)}', requests()
    port = f'net_virtio_user0,path={path},queue_size=1024,server=1'

    def connected(sender):
        vhost_connected(sender)
        live.wait_for_message('Notified backend at initialization')

    with hosts.LiveSwitch(tmp_path, [port], ['--forward', 'reflect'], memory=512,
                          eal=MESSAGES) as live:
        live.wait_for_message('waiting for client connection')
        came = exchange(tmp_path, f'net_vhost0,iface={path},client=1', sent, connected)
        switch.assert_same(came, replies(sent, 'reflect'))
        assert live.stop()['netfc_packets'] == len(sent)


def test_jumbo_frames_over_vhost(tmp_path):
    path = switch.RUNTIME / f'vhost-{next(hosts.numbers)}'
    sent = [frames.plain_frame(frames.lanes(count)) for count in (1, 300, 400, 1000, 1480)] * 10
    options = ['--mtu', 9000]
    with hosts.LiveSwitch(tmp_path, [f'net_vhost0,iface={path}'], options, eal=MESSAGES) as live:
        live.wait_for_message('binding succeeded')
        came = exchange(tmp_path, f'net_virtio_user0,path={path},queue_size=1024', sent,
                        lambda _: vhost_connected(live), options)
        switch.assert_same(came, replies(sent, 'reflect'))
        assert live.stop()['netfc_packets'] == len(sent)


def test_memif(tmp_path):
    """Two processes, one of which leaves before the other."""
    path, sent = switch.RUNTIME / f'memif-{next(hosts.numbers)}', requests()
    with hosts.LiveSwitch(tmp_path, [f'net_memif0,role=server,socket={path}'],
                          ['--forward', 'reflect'], eal=MESSAGES) as live:
        live.wait_for_message('Initialize MEMIF')

        def connected(sender):
            for side in (live, sender):
                side.wait_for_message('Connected.')

        came = exchange(tmp_path, f'net_memif0,role=client,socket={path}', sent, connected)
        switch.assert_same(came, replies(sent, 'reflect'))
        assert live.stop()['netfc_packets'] == len(sent)


def test_both_ends_of_a_memif(tmp_path):
    """From a capture over a memif into a capture, all in one process."""
    path, sent = switch.RUNTIME / f'memif-{next(hosts.numbers)}', requests()
    switch.write_capture(tmp_path / 'none', [])
    with Feeder(tmp_path / 'pipe') as feeder:
        vdevs = [f'net_pcap0,rx_pcap={tmp_path}/none,tx_pcap={tmp_path}/out',
                 f'net_memif0,role=server,socket={path}', f'net_memif1,role=client,socket={path}',
                 f'net_pcap1,rx_pcap={feeder.path},tx_pcap={tmp_path}/back']
        with hosts.LiveSwitch(tmp_path, vdevs, ['--idle-exit', 100], eal=MESSAGES) as live:
            live.wait_for_message('Connected.', times=2)
            feeder.fill(sent)
            stats = live.wait()
    switch.assert_same(switch.read_capture(tmp_path / 'out'), replies(sent, 'pair'))
    assert stats['netfc_packets'] == len(sent) and stats['tx_packets'] == 2 * len(sent)


@pytest.mark.parametrize('forward', ['pair', 'bridge'])
def test_ring(tmp_path, forward):
    """What goes into a ring comes out of it again, and back to where it came from."""
    sent = requests()
    vdevs = [switch.capture_port(tmp_path, 0, sent), 'net_ring0']
    with hosts.LiveSwitch(tmp_path, vdevs, ['--forward', forward, '--idle-exit', 50]) as live:
        stats = live.wait()
    switch.assert_same(switch.read_capture(tmp_path / 'out0'), replies(sent, 'pair'))
    assert stats['rx_packets'] == 2 * len(sent) and stats['netfc_packets'] == len(sent)


# ---- hosts on both sides ---------------------------------------------------------------------


@contextlib.contextmanager
def tap_hosts(folder, options, lcores=1):
    """Two hosts; the interface eth0 of each is a TAP port of the switch."""
    with contextlib.ExitStack() as stack:
        middle = stack.enter_context(hosts.Namespace())
        pair = [stack.enter_context(hosts.Host(number)) for number in range(2)]
        live = stack.enter_context(hosts.LiveSwitch(
            folder, [f'net_tap{n},iface=p{n}' for n in range(2)], options, namespace=middle,
            lcores=lcores))
        live.wait_until_ready()
        for number, host in enumerate(pair):
            middle.ip('link', 'set', f'p{number}', 'netns', host.name, 'name', 'eth0')
            host.configure()
        yield live, pair


@contextlib.contextmanager
def veth_hosts(folder, options, lcores=1, kind='net_af_packet{n},iface=p{n}', **network):
    """Two hosts at veth ports of the switch."""
    with hosts.veth_network(2, **network) as (middle, pair), hosts.LiveSwitch(
            folder, [kind.format(n=n) for n in range(2)], options, namespace=middle,
            lcores=lcores) as live:
        live.wait_until_ready()
        yield live, pair


def pcap_hosts(folder, options, lcores=1):
    """Two hosts at veth ports of the switch, which uses them through libpcap."""
    return veth_hosts(folder, options, lcores, 'net_pcap{n},rx_iface_in=p{n},tx_iface=p{n}')


@pytest.mark.parametrize('kind, lcores, forward', [
    (tap_hosts, 1, 'pair'), (tap_hosts, 4, 'bridge'), (pcap_hosts, 1, 'pair'),
    (veth_hosts, 1, 'pair'), (veth_hosts, 1, 'bridge'),
], ids=['TAP', 'TAP, 4 lcores', 'libpcap', 'AF_PACKET', 'AF_PACKET, bridge'])
@hosts.needs_namespaces
def test_hosts_on_both_sides(tmp_path, kind, lcores, forward):
    """Ping, in fragments too, and requests from socket to socket, computed on the way."""
    payloads = [frames.lanes(7 * n, identity=n) for n in range(1, 31)]
    with kind(tmp_path, ['--forward', forward], lcores) as (live, (near, far)):
        for size in (56, 4000) if kind is not veth_hosts else (56,):  # see docs/operations.md
            near.ping(far.ipv4, size=size)
            far.ping(near.ipv6, size=size)
        for family in (socket.AF_INET, socket.AF_INET6):
            assert computed_on_the_way(near, far, family, payloads) == len(payloads)
        assert near.checksum_errors() == far.checksum_errors() == {}
        stats = live.stop()
    assert stats['netfc_packets'] >= 2 * len(payloads)
    assert stats['lanes'] >= 2 * sum(oracle.u16(payload, 6) for payload in payloads)


def computed_on_the_way(near, far, family, payloads):
    """Sends requests to another host's socket, which sends back what it gets; counts the replies.

    A busy machine may lose a few.
    """
    address = far.ipv4 if family == socket.AF_INET else far.ipv6
    came = 0
    with near.udp(family) as client, far.udp(family, oracle.UDP_PORT) as server:
        client.connect((address, oracle.UDP_PORT))
        client.settimeout(2)
        server.settimeout(2)
        for payload in payloads:
            client.send(payload)
            with contextlib.suppress(TimeoutError):
                got, sender = server.recvfrom(65536)
                server.sendto(got, sender)
                assert got == client.recv(65536) == computed(payload)
                came += 1
    return came


def computed(payload):
    """What the switch makes of the payload of a datagram."""
    return replies([frames.plain_frame(payload)], 'pair')[0][42:42 + len(payload)]


@hosts.needs_namespaces
def test_partial_checksums(tmp_path):
    """Where kernels leave checksums to the interface, an update cannot mend what is forwarded: it
    arrives damaged. It does not without a checksum, and with one that the kernel fills in."""
    payload = frames.lanes(7)
    with veth_hosts(tmp_path, ['--forward', 'pair'], checksums=False) as (live, (near, far)), \
            near.udp() as client, far.udp(port=oracle.UDP_PORT) as server:
        near.ping(far.ipv4)
        client.connect((far.ipv4, oracle.UDP_PORT))
        client.send(payload)
        errors = hosts.wait_until(far.checksum_errors, 'the request to arrive')
        assert errors['UdpInCsumErrors'] == 1
        client.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 1)
        client.send(payload)
        assert server.recv(65536) == computed(payload)
        client.setsockopt(socket.SOL_SOCKET, SO_NO_CHECK, 0)
        near.run('ethtool', '-K', 'eth0', 'tx', 'off')
        client.send(payload)
        assert server.recv(65536) == computed(payload)
        assert far.checksum_errors() == errors
        assert live.stop()['netfc_packets'] == 3


def answers(host):
    """Whether the switch answers a ping, within a short time."""
    try:
        host.run('ping', '-q', '-c', 1, '-W', 1, SWITCH_IP)
    except CommandError:
        return False
    return True


@pytest.mark.parametrize('kind', [tap_hosts, veth_hosts], ids=['TAP', 'AF_PACKET'])
@hosts.needs_namespaces
def test_a_link_goes_down_and_up(tmp_path, kind):
    """What should leave by it meanwhile is lost; all else goes on, and so does it afterwards."""
    options = ['--forward', 'bridge', '--address', SWITCH_IP]
    with kind(tmp_path, options) as (live, (near, far)):
        near.ping(far.ipv4)
        far.ping(SWITCH_IP)
        for _ in range(2):
            far.ip('link', 'set', 'eth0', 'down')
            with near.udp() as client:
                for _ in range(2000):
                    client.sendto(b'into the dark', (far.ipv4, OTHER_PORT))
            hosts.wait_until(lambda: answers(near), 'the other link to go on')
            far.ip('link', 'set', 'eth0', 'up')
            hosts.wait_until(lambda: answers(far), 'the link to work again')
            near.ping(far.ipv4)
        stats = live.stop()
    if kind is tap_hosts:  # AF_PACKET takes frames for a link that is down
        assert stats['drops']['tx_full'] > 0


def why_no_af_xdp():
    """Why no AF_XDP port can be had; empty if one can."""
    if pathlib.Path('/proc/self/uid_map').read_text(encoding='ascii').split() != ALL_USERS:
        return 'only root of the machine may load XDP programs, not that of a user namespace'
    try:
        socket.socket(AF_XDP, socket.SOCK_RAW, 0).close()
    except OSError as error:
        return f'no AF_XDP socket: {error}'
    return ''


@contextlib.contextmanager
def af_xdp_hosts(folder, count, vdevs=(), options=(), **network):
    """So many hosts at ports of the switch, further ports come first."""
    if reason := why_no_af_xdp():
        pytest.skip(reason)
    with hosts.veth_network(count, **network) as (middle, ends), hosts.LiveSwitch(
            folder, [*vdevs, *(f'net_af_xdp{port},iface=p{port}' for port in range(count))],
            ['--forward', 'bridge', *options], namespace=middle) as live:
        live.wait_until_ready()
        yield live, ends


@hosts.needs_namespaces
def test_af_xdp(tmp_path):
    """Forwards and answers at each port, and what its driver keeps of buffers is not taken for a leak."""
    with af_xdp_hosts(tmp_path, 5, options=['--address', SWITCH_IP]) as (live, ends):
        ends[0].ping(ends[1].ipv4)
        for end in ends:
            end.ping(SWITCH_IP)
        stats = live.stop()
    assert 'packet buffers kept by drivers' in live.stdout
    assert stats['mbufs_leaked'] == 0 and stats['answers'] >= 6


@hosts.needs_namespaces
def test_frames_for_all_leave_by_af_xdp_whole(tmp_path):
    """Copies for several ports, each in every byte; nothing of what does not fit into a buffer."""
    ethernet = b'\xff' * 6 + b'\2\0\0\0\0\1\x88\xb5'
    sent = [ethernet + bytes([n]) * (46 + 7 * n) for n in range(1, 200)]
    with Feeder(tmp_path / 'pipe') as feeder, contextlib.ExitStack() as stack:
        source = f'net_pcap0,rx_pcap={feeder.path},tx_pcap={tmp_path}/came'
        live, ends = stack.enter_context(af_xdp_hosts(tmp_path, 3, [source], configured=False))
        wires = [stack.enter_context(hosts.Wire(end)) for end in ends]
        feeder.fill([*sent[:100], ethernet + bytes(8000), *sent[100:]])
        for wire in wires:
            came = [frame for frame in wire.receive_until(sent[-1]) if frame[:14] == ethernet]
            switch.assert_same(came, sent[:-1])
        stats = live.stop()
    assert stats['drops']['tx_full'] == len(ends)


@hosts.needs_namespaces
def test_what_af_xdp_takes_it_sends(tmp_path):
    """Where most buffers of the pool are in use: the kernel knows the last ones, too."""
    with af_xdp_hosts(tmp_path, 4, options=['--mbufs', 10_000]) as (live, ends):
        for end, other in zip(ends, [*ends[1:], ends[0]]):
            end.ping(other.ipv4)
            with end.udp() as client:
                for n in range(3000):
                    client.sendto(bytes(1400), (other.ipv4, OTHER_PORT))
        hosts.wait_until(lambda: left(live.namespace, len(ends)) >= 3000, 'what was sent')
        stats = live.stop()
        assert left(live.namespace, len(ends)) == stats['tx_packets'] >= 3000


@hosts.needs_namespaces
def test_fewer_buffers_than_af_xdp_takes(tmp_path):
    """It says how many it takes, and starts with so many."""
    if reason := why_no_af_xdp():
        pytest.skip(reason)
    with hosts.veth_network(1) as (middle, _):
        def start(mbufs):
            return hosts.LiveSwitch(tmp_path, ['net_af_xdp0,iface=p0'], ['--mbufs', mbufs], namespace=middle)

        with start(1000) as live:
            assert live.process.wait() == 1
            least = int(re.search(r'--mbufs 1000: the receive queues take (\d+) at the start', live.stderr)[1])
        with start(least) as live:
            live.wait_until_ready()
            live.stop()


@hosts.needs_namespaces
def test_chunks_longer_than_af_xdp_takes(tmp_path):
    """It says how long they may be, which is true."""
    if reason := why_no_af_xdp():
        pytest.skip(reason)
    with hosts.veth_network(1) as (middle, _):
        def start(length):
            return hosts.LiveSwitch(tmp_path, ['net_af_xdp0,iface=p0', 'net_null0,no-rx=1'],
                                    ['--address', SWITCH_IP, f'--aggregate=slots=16,bytes={length}'],
                                    namespace=middle, memory=512)

        with start(8948) as live:
            assert live.process.wait() == 1
            most = int(re.search(r'bytes=8948.* give at most bytes=(\d+),', live.stderr)[1])
        with start(most) as live:
            live.wait_until_ready()
            live.stop()


def left(namespace, ports):
    """Packets that the kernel has taken from the switch: a busy machine may drop some on a link."""
    counted = [json.loads(namespace.ip('-json', '-stats', 'link', 'show', f'p{port}'))[0]['stats64']['tx']
               for port in range(ports)]
    return sum(each['packets'] + each['dropped'] for each in counted)


# ---- lcores and queues -----------------------------------------------------------------------


def assert_plan(live, queues, lcores):
    """Every queue is served by one lcore, as many lcores work as can, the others are named."""
    served, idle = live.plan()
    assert sorted(served) == [(0, queue) for queue in range(queues)]
    assert all(len(by) == 1 for by in served.values()), served
    busy = set(itertools.chain(*served.values()))
    assert len(busy) == min(queues, lcores)
    assert len(idle) == lcores - len(busy) and not busy & set(idle)


def two_cores():
    """Two of the cores that may be used, as -l takes them."""
    return ','.join(map(str, sorted(os.sched_getaffinity(0))[:2]))


@pytest.mark.parametrize('lcores, cores', [(4, None), pytest.param(
    2, two_cores(), marks=pytest.mark.skipif(',' not in two_cores(), reason='there is one core'))],
    ids=['4 lcores on any cores', '2 lcores on 2 cores'])
@pytest.mark.parametrize('queues', [1, 2, 4])
def test_queues_of_captures(tmp_path, queues, lcores, cores):
    """Each queue has a capture of its own; nothing is lost and each keeps its order."""
    sent = [requests(300 + 100 * queue, 30 + queue) for queue in range(queues)]
    ports = ['net_pcap0']
    for queue in range(queues):
        switch.write_capture(tmp_path / f'in{queue}', sent[queue])
        ports += [f'rx_pcap={tmp_path}/in{queue}', f'tx_pcap={tmp_path}/out{queue}']
    with hosts.LiveSwitch(tmp_path, [','.join(ports)], ['--idle-exit', switch.SHARED_IDLE_MS // 2],
                          lcores=lcores, cores=cores) as live:
        live.wait()
        assert_plan(live, queues, lcores)
    came = [switch.read_capture(tmp_path / f'out{queue}') for queue in range(queues)]
    expected = [replies(frames_of_queue, 'reflect') for frames_of_queue in sent]
    assert sorted(itertools.chain(*came)) == sorted(itertools.chain(*expected))


@pytest.mark.parametrize('lcores', [1, 2, 4])
@hosts.needs_namespaces
def test_queues_of_a_tap(tmp_path, lcores):
    """As many queues as lcores; the kernel spreads sockets over them."""
    with hosts.at_tap(tmp_path, ['--address', SWITCH_IP], lcores=lcores) as (host, live):
        assert_plan(live, lcores, lcores)
        ask_from_many_sockets(host)
        live.stop()


@pytest.mark.parametrize('queues', [1, 2, 4])
@hosts.needs_namespaces
def test_queues_of_af_packet(tmp_path, queues):
    """As many as qpairs says; the kernel spreads flows over them."""
    with hosts.veth_network(1) as (middle, (host,)), hosts.LiveSwitch(
            tmp_path, hosts.veth_ports(1, f',qpairs={queues}'), ['--address', SWITCH_IP],
            namespace=middle, lcores=4) as live:
        live.wait_until_ready()
        assert_plan(live, queues, 4)
        ask_from_many_sockets(host)
        live.stop()


@hosts.needs_namespaces
def test_queues_as_config_says(tmp_path):
    """Two queues of a TAP on the lcores that --config names, the third lcore has none."""
    options = ['--address', SWITCH_IP, '--config', '(0,1,0),(0,0,2)']
    with hosts.at_tap(tmp_path, options, lcores=3) as (host, live):
        assert live.plan() == ({(0, 0): [2], (0, 1): [0]}, [1])
        ask_from_many_sockets(host)
        live.stop()


@pytest.mark.parametrize('burst', [1, 7])
def test_rx_burst(tmp_path, burst):
    """No poll takes more; what becomes of packets is the same."""
    sent = requests(200)
    switch.write_capture(tmp_path / 'in', sent)
    with hosts.LiveSwitch(
            tmp_path, [f'net_pcap0,rx_pcap={tmp_path}/in,tx_pcap={tmp_path}/out'],
            ['--rx-burst', burst, '--idle-exit', switch.SHARED_IDLE_MS // 2]) as live:
        stats = live.wait()
    assert switch.read_capture(tmp_path / 'out') == replies(sent, 'reflect')
    assert stats['busy_polls'] == -(-len(sent) // burst)


@hosts.needs_namespaces
def test_steering_is_refused_or_taken(tmp_path):
    """A kernel without the queueing discipline refuses rules, and requests are answered as well."""
    with hosts.at_tap(tmp_path, ['--address', f'{SWITCH_IP}@0:1'], lcores=2) as (host, live):
        said = [line for line in live.stdout.splitlines() if line.startswith('  steering')]
        assert len(said) == 1
        assert 'net_tap refuses rules' in said[0] or 'rules: 1 (shards: 0, addresses: 1)' in said[0]
        ask_from_many_sockets(host)
        live.stop()


def ask_from_many_sockets(host):
    """Requests from 64 sockets at once, whose replies must all come and be right."""
    payloads = [frames.lanes(1 + n, identity=n) for n in range(64)]
    host.ping(SWITCH_IP, count=1)
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(host.udp()) for _ in payloads]
        for client, payload in zip(clients, payloads):
            client.connect((SWITCH_IP, oracle.UDP_PORT))
            client.send(payload)
        for client, payload in zip(clients, payloads):
            assert client.recv(65536) == computed(payload)


@pytest.mark.parametrize('kind', ['net_af_packet0,iface=p0',
                                  'net_memif0,role=server,socket={path}'],
                         ids=['AF_PACKET', 'memif'])
@hosts.needs_namespaces
def test_a_tap_beside_a_port_of_other_queues(tmp_path, kind):
    """A TAP port has as many transmit as receive queues, whatever the other port has."""
    path = switch.RUNTIME / f'memif-{next(hosts.numbers)}'
    with hosts.veth_network(1) as (middle, _), hosts.LiveSwitch(
            tmp_path, ['net_tap0,iface=tap', kind.format(path=path)], namespace=middle,
            lcores=2) as live:
        live.wait_until_ready()
        served, _ = live.plan()
        assert all(len(by) == 1 for by in served.values())
        live.stop()
