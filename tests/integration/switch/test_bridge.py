# SPDX-License-Identifier: BSD-3-Clause
"""The bridge: where frames go, frame by frame over veth pairs and in bulk over captures."""

import contextlib
import itertools
import json
import subprocess
import time
from collections import Counter
from concurrent import futures

import pytest

import frames
import hosts
import oracle
import switch
from refusal import refuse

PORTS = 4
BROADCAST = bytes.fromhex('ffffffffffff')
MULTICAST = bytes.fromhex('01005e000001')
NOBODY = bytes(6)  # a source that no bridge learns
A, B, C, D = (bytes.fromhex(f'0200000000a{n}') for n in range(1, 5))
LINK_LOCAL = [bytes.fromhex(f'0180c200000{n:x}') for n in range(16)]
MEGABYTES = 64  # over TCP

markers = itertools.count()


def frame_of(destination, source, vlan=None, text=b'anything'):
    """A frame between two MAC addresses; equal ones have equal arguments."""
    tag = b'' if vlan is None else b'\x81\x00' + vlan.to_bytes(2, 'big')
    return (destination + source + tag + b'\x88\xb5' + text).ljust(frames.MIN_FRAME, b'\0')


# ---- frame by frame --------------------------------------------------------------------------


class Bridge:
    """A bridge with a host that sees whole frames at each port."""

    def __init__(self, live, wires, middle):
        self.live = live
        self.wires = wires
        self.middle = middle

    def send(self, port, *sent):
        """Sends frames into a port. Returns what each port sends for them, by port.

        A marker follows the frames, and one goes to the port itself: what came before is all.
        """
        last = frame_of(BROADCAST, NOBODY, text=b'marker %d' % next(markers))
        for frame in (*sent, last):
            self.wires[port].send(frame)
        other = (port + 1) % len(self.wires)
        got = {out: self.wires[out].receive_until(last)
               for out in range(len(self.wires)) if out != port}
        self.wires[other].send(last)
        for out in range(len(self.wires)):
            if out != other:
                late = self.wires[out].receive_until(last)
                assert out == port or late == []
                got.setdefault(out, late)
        return got

    def where(self, port, frame):
        """The ports that a frame leaves by; each sends it once, in every byte as it came."""
        got = self.send(port, frame)
        assert all(sent in ([], [frame]) for sent in got.values()), got
        return {out for out, sent in got.items() if sent}

    def learn(self, port, mac, vlan=None):
        """Lets a station speak at a port until the bridge knows it there."""
        other = (port + 1) % len(self.wires)

        def known():
            self.where(port, frame_of(BROADCAST, mac, vlan))
            return self.where(other, frame_of(mac, NOBODY, vlan)) == {port}

        hosts.wait_until(known, 'the bridge to learn')

    def others(self, port):
        return set(range(len(self.wires))) - {port}


@contextlib.contextmanager
def bridge(folder, *options, ports=PORTS):
    """A bridge with hosts at veth ports that say nothing by themselves."""
    with contextlib.ExitStack() as stack:
        middle, at_ports = stack.enter_context(hosts.veth_network(ports, configured=False))
        live = stack.enter_context(hosts.LiveSwitch(
            folder, hosts.veth_ports(ports), ['--forward', 'bridge', *options], namespace=middle))
        live.wait_until_ready()
        yield Bridge(live, [stack.enter_context(hosts.Wire(host)) for host in at_ports],
                     middle)


def test_learning(tmp_path):
    """Unknown: everywhere else. Known: there. Moved: there. Everybody: everywhere else."""
    with bridge(tmp_path) as made:
        assert made.where(0, frame_of(B, A)) == made.others(0)
        made.learn(1, B)
        assert made.where(0, frame_of(B, A)) == {1}
        assert made.where(3, frame_of(B, D)) == {1}
        for group in (BROADCAST, MULTICAST):
            assert made.where(0, frame_of(group, A)) == made.others(0)
        assert made.where(2, frame_of(A, B)) == {0}  # B is at port 2 now
        assert made.where(0, frame_of(B, A)) == {2}
        made.learn(1, C)
        assert made.where(3, frame_of(C, D)) == {1}
        stats = made.live.stop()
    assert stats['copies'] > 0 and not any(stats['drops'].values())
    assert stats['stations']['known'] == stats['stations']['learned'] == 4


def test_vlans_learn_separately(tmp_path):
    with bridge(tmp_path) as made:
        places = {None: 0, 1: 1, 5: 2, 4094: 3}
        for vlan, port in places.items():
            made.learn(port, A, vlan)
        for vlan, port in places.items():
            assert made.where((port + 1) % PORTS, frame_of(A, B, vlan)) == {port}
        assert made.where(0, frame_of(A, B, 6)) == made.others(0)
        priority = frame_of(A, B, 7 << 13)  # VLAN 0: a priority, no VLAN
        assert made.where(1, priority) == {0}
        assert made.where(1, frame_of(A, B, 3 << 13 | 5)) == {2}
        assert made.live.stop()['stations']['known'] >= len(places)


def test_a_vlan_that_does_not_exist(tmp_path):
    """4095 is reserved (IEEE 802.1Q, table 9-2)."""
    with bridge(tmp_path, ports=2) as made:
        assert made.where(0, frame_of(B, A, 4095)) == set()
        assert made.live.stop()['drops']['bad_vlan'] == 1


def test_filtered_frames_are_counted(tmp_path):
    with bridge(tmp_path) as made:
        made.learn(0, A)
        for destination in LINK_LOCAL:
            assert made.where(1, frame_of(destination, C)) == set()
        for close in ('0180c2000010', '0180c2000100', '0180c3000000'):
            assert made.where(1, frame_of(bytes.fromhex(close), C)) == made.others(1)
        assert made.where(0, frame_of(A, B)) == set()
        drops = made.live.stop()['drops']
    assert (drops.pop('link_local'), drops.pop('same_port')) == (len(LINK_LOCAL), 1)
    assert not any(drops.values())


def test_sources_that_are_no_station(tmp_path):
    """Neither nobody nor a group is learned."""
    with bridge(tmp_path, ports=3) as made:
        for source in (NOBODY, BROADCAST, MULTICAST):
            for _ in range(3):
                assert made.where(0, frame_of(A, source)) == {1, 2}
                assert made.where(1, frame_of(source, B)) == {0, 2}
        made.learn(1, B)
        assert made.live.stop()['stations']['learned'] == 1


def test_the_ports_own_addresses(tmp_path):
    """They are the switch's (IEEE 802.1Q, clause 8.8): nothing to them goes on, whoever claims them."""
    with bridge(tmp_path, ports=3) as made:
        own = [bytes.fromhex(made.middle.mac(f'p{port}').replace(':', '')) for port in range(3)]
        for mac in own:
            assert made.where(1, frame_of(mac, A)) == set()
            for _ in range(3):
                assert made.where(2, frame_of(BROADCAST, mac)) == {0, 1}
            assert made.where(0, frame_of(mac, B, 5)) == set()
        stats = made.live.stop()
    assert stats['drops'].pop('no_service') == 2 * len(own)
    assert not any(stats['drops'].values())
    assert stats['stations']['learned'] <= 2


def test_silent_stations_are_forgotten(tmp_path):
    """After a second; whoever goes on speaking is not."""
    with bridge(tmp_path, '--ageing', 1) as made:
        made.learn(0, A)
        made.learn(1, B)
        limit = time.monotonic() + hosts.TIMEOUT_S
        while made.where(2, frame_of(A, NOBODY)) == {0}:
            made.where(1, frame_of(BROADCAST, B))
            assert made.where(2, frame_of(B, NOBODY)) == {1}
            assert time.monotonic() < limit
        assert made.where(2, frame_of(A, NOBODY)) == made.others(2)
        made.learn(3, A)
        stations = made.live.stop()['stations']
    assert stations['aged'] >= 1 and stations['learned'] >= 3


@pytest.mark.parametrize('capacity', [1, 2])
def test_a_full_table(tmp_path, capacity):
    """Further stations are flooded to, and counted; they are learned when one is forgotten."""
    with bridge(tmp_path, '--stations', capacity, '--ageing', 1, ports=3) as made:
        known, refused = (A, B)[:capacity], (C, D)
        for mac in known:
            made.learn(0, mac)
        for mac in refused:
            assert made.where(1, frame_of(known[0], mac)) == {0}
            assert made.where(0, frame_of(mac, known[0])) == {1, 2}
        made.learn(1, C)  # in the end, as the others are silent
        stations = made.live.stop()['stations']
    assert stations['refused'] >= len(refused)
    assert stations['aged'] >= 1 and stations['known'] <= capacity


def test_requests_are_computed_once_for_all_ports(tmp_path):
    """Copies share the packet's bytes: each port sends the same reply."""
    requests = [frames.plain_frame(frames.lanes(n)) for n in range(1, 60)]
    sets = oracle.table_sets('fp16_k1024')
    expected = [oracle.switch(frame, sets) for frame in requests]
    with bridge(tmp_path) as made:
        got = made.send(0, *requests)
        for port in made.others(0):
            switch.assert_same(got[port], expected)
        stats = made.live.stop()
    assert stats['netfc_packets'] == len(requests)
    assert stats['copies'] >= 2 * len(requests)


# ---- in bulk ---------------------------------------------------------------------------------


def run_captures(folder, inputs, *options, lcores=1):
    """Sends captures through a bridge; returns the frames that each port sent, and statistics."""
    for port, sent in enumerate(inputs):
        switch.write_capture(folder / f'in{port}', sent)
    outputs = {port: [folder / f'out{port}-{queue}' for queue in range(lcores)]
               for port in range(len(inputs))}
    vdevs = [','.join([f'net_pcap{port},rx_pcap={folder}/in{port}',
                       *(f'tx_pcap={path}' for path in paths)]) for port, paths in outputs.items()]
    idle = switch.IDLE_MS if lcores == 1 else switch.SHARED_IDLE_MS
    with hosts.LiveSwitch(folder, vdevs, ['--forward', 'bridge', '--idle-exit', idle, *options],
                          lcores=lcores) as live:
        stats = live.wait()
    sent = [list(itertools.chain(*map(switch.read_capture, paths))) for paths in outputs.values()]
    assert stats['rx_packets'] == sum(map(len, inputs))
    assert stats['tx_packets'] == sum(map(len, sent))
    return sent, stats


def test_every_kind_of_frame_is_flooded(tmp_path):
    """Requests in every wrapping and all that is none, each byte as the oracle says."""
    names, inputs = zip(*frames.zoo())
    long = [frames.plain_frame(frames.lanes(count)) for count in (500, 1491, 2600)]
    counters = Counter()
    sets = oracle.table_sets('fp16_k1024')
    expected = [oracle.switch(frame, sets, counters=counters)
                for frame in (*inputs, *long) if len(frame) >= 14]
    names = [name for name, frame in zip(names, inputs) if len(frame) >= 14] + ['long'] * len(long)
    sent, stats = run_captures(tmp_path, [[*inputs, *long], [], [], []])
    assert sent[0] == []
    for output in sent[1:]:
        switch.assert_same(output, expected, names)
    switch.assert_counted(stats, counters)
    assert stats['drops']['runt'] == len(inputs) + len(long) - len(expected)
    assert stats['copies'] == 2 * len(expected)


def crowd(port, count):
    """Frames of many stations at a port to one that is never heard of."""
    return [frame_of(D, bytes([2, 1, port]) + n.to_bytes(3, 'big'), text=b'%d of %d' % (n, port))
            for n in range(count)]


@pytest.mark.parametrize('lcores', [1, 2])
def test_a_crowd_talks_at_once(tmp_path, lcores):
    """From all ports, on one lcore and on several: everybody else gets everything, in order."""
    inputs = [crowd(port, 3000) for port in range(PORTS)]
    sent, stats = run_captures(tmp_path, inputs, '--stations', 8192, lcores=lcores)
    for port, output in enumerate(sent):
        for other in range(PORTS):
            from_other = [frame for frame in output if frame[8] == other]
            assert from_other == (inputs[other] if other != port else [])
    stations = stats['stations']
    assert 0 < stations['learned'] <= 8192


def test_after_learning_nobody_else_gets_it(tmp_path):
    """A long talk: flooded at first, from some frame on to its destination alone."""
    talk = [frame_of(B, A, text=b'%d' % n) for n in range(20000)]
    answers = [frame_of(A, B, text=b'%d' % n) for n in range(20000)]
    sent, stats = run_captures(tmp_path, [talk, answers, []])
    assert sent[0] == answers and sent[1] == talk
    overheard = sent[2]
    assert overheard and len(overheard) < len(talk)
    for side in (talk, answers):
        heard = [frame for frame in overheard if frame[:12] == side[0][:12]]
        assert heard == side[:len(heard)]
    assert stats['stations']['known'] == 2


# ---- hosts -----------------------------------------------------------------------------------


def compute(client, server, number):
    """Sends a request to a host's socket, which gets it computed; again where a kernel lost it."""
    payload = frames.lanes(1 + number % 240, identity=number)
    expected = oracle.switch(frames.plain_frame(payload), oracle.table_sets('fp16_k1024'))
    for _ in range(20):
        client.send(payload)
        with contextlib.suppress(TimeoutError):
            while (got := server.recv(65536))[8:12] != payload[8:12]:
                pass  # one that was sent twice
            assert got == expected[42:42 + len(payload)]
            return
    raise AssertionError(f'request {number} never came')


def iperf3(host, server, megabytes):
    """Sends over TCP from one host to another. Returns the bytes that came."""
    listening = server.start('iperf3', '--server', '--one-off', '--forceflush',
                             stdout=subprocess.PIPE)
    with listening:
        while 'listening' not in listening.stdout.readline():
            assert listening.poll() is None
        report = json.loads(host.run('iperf3', '--json', '--client', server.ipv4,
                                     '--bytes', f'{megabytes}M'))
        listening.communicate(timeout=hosts.TIMEOUT_S)
    return report['end']['sum_received']['bytes']


def test_ping_and_tcp_beside_requests(tmp_path):
    """Nothing is lost inside the switch, nothing is damaged."""
    with contextlib.ExitStack() as stack:
        middle, (first, second, third) = stack.enter_context(hosts.veth_network(3))
        live = stack.enter_context(hosts.LiveSwitch(
            tmp_path, hosts.veth_ports(3),
            ['--forward', 'bridge', '--address', f'{hosts.SWITCH_IP}/24'], namespace=middle))
        live.wait_until_ready()
        client, server = stack.enter_context(third.udp()), stack.enter_context(
            first.udp(port=oracle.UDP_PORT))
        client.connect((first.ipv4, oracle.UDP_PORT))
        server.settimeout(0.5)
        pool = stack.enter_context(futures.ThreadPoolExecutor())
        transfer = pool.submit(iperf3, first, second, MEGABYTES)
        computed = 0
        while not transfer.done():
            compute(client, server, computed)
            computed += 1
            if computed % 50 == 0:
                second.ping(third.ipv6)
                third.ping(hosts.SWITCH_IP)
        assert transfer.result() > MEGABYTES << 19  # iperf3 may stop counting before the end
        assert [host.checksum_errors() for host in (first, second, third)] == [{}] * 3
        stats = live.stop()
    assert computed > 0 and stats['netfc_packets'] >= computed
    assert stats['answers'] > 0 and not any(stats['drops'].values())


@pytest.mark.parametrize('option', ['stations', 'ageing'])
@pytest.mark.parametrize('value', ['0', '-1', '1048577000', 'many', '', '1.5'])
def test_wrong_numbers_for_the_bridge(tmp_path, option, value):
    said = refuse(tmp_path, ['--forward', 'bridge', f'--{option}', value])
    assert f'--{option}' in said and 'a number from 1 to' in said


def test_a_bridge_of_one_port(tmp_path):
    said = refuse(tmp_path, ['--forward', 'bridge'], ports=1)
    assert 'bridge' in said and 'two ports' in said
