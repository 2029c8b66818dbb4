# SPDX-License-Identifier: BSD-3-Clause
"""The switch under an address of its own: plain kernel sockets over TAP and AF_PACKET."""

import contextlib
import functools
import ipaddress
import itertools
import random
import socket
from collections import Counter

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import (
    ICMPv6EchoReply, ICMPv6EchoRequest, ICMPv6ND_NA, ICMPv6ND_NS, ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr, IPv6, IPv6ExtHdrHopByHop)
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

import frames
import hosts
import oracle
import switch
from hosts import SWITCH_IP, SWITCH_IP6
from refusal import refuse

TABLES = ('fp16_k1024', 'bf16_k128')
ADDRESSES = ['--address', f'{SWITCH_IP}/24', '--address', f'{SWITCH_IP6}/64']
OPTIONS = ['--tables', ','.join(TABLES), *ADDRESSES]
FAMILIES = {'IPv4': (socket.AF_INET, SWITCH_IP), 'IPv6': (socket.AF_INET6, SWITCH_IP6)}
BROADCAST = 'ff:ff:ff:ff:ff:ff'


# ---- networks of one host and a switch -------------------------------------------------------


def tap(folder, options=OPTIONS, configured=True):
    """A host whose interface eth0 is the switch's TAP port."""
    return hosts.at_tap(folder, options, configured=configured)


@contextlib.contextmanager
def veth(folder, options=OPTIONS):
    """A host at a veth port of the switch; its kernel leaves checksums to the interface."""
    with hosts.veth_network(1, checksums=False) as (middle, (host,)), \
            hosts.LiveSwitch(folder, hosts.veth_ports(1), options, namespace=middle) as live:
        live.wait_until_ready()
        yield host, live


NETWORKS = {'TAP': tap, 'AF_PACKET': veth}


@pytest.fixture(name='transport', params=NETWORKS)
def each_network(request):
    """A context manager for a network of each kind."""
    return NETWORKS[request.param]


def reply_to(payload):
    """What the switch must answer to the payload of a datagram."""
    frame = oracle.switch(frames.plain_frame(payload), oracle.table_sets(*TABLES))
    return frame[42:42 + len(payload)]


@functools.lru_cache(maxsize=None)
def requests():
    """Requests of all operations, two formats and 1 to 240 lanes, and every wrong one."""
    draw = random.Random(1)
    good = [frames.lanes(draw.randint(1, 240), form=draw.choice((1, 3)),
                         op=draw.choice(oracle.OPERATIONS), identity=n) for n in range(200)]
    return good + list(frames.bad_requests().values())


# ---- what it answers -------------------------------------------------------------------------


def test_requests_from_kernel_sockets(tmp_path, transport):
    """All replies come, right in every byte, with checksums that the kernel takes."""
    expected = [reply_to(payload) for payload in requests()]
    with transport(tmp_path) as (host, live):
        for family, address in FAMILIES.values():
            with host.udp(family) as client:
                client.connect((address, oracle.UDP_PORT))
                replies = [ask(client, payload) for payload in requests()]
            assert replies == expected
        assert host.checksum_errors() == {}
        stats = live.stop()
    assert stats['netfc_packets'] == 2 * len(requests())
    assert all(count > 0 for name, count in stats['errors'].items() if name != 'lanes')
    assert stats['answers'] >= stats['netfc_packets']
    assert not any(stats['drops'].values())


def ask(client, payload):
    """One request, one reply. A busy machine may lose a datagram, but not five in a row."""
    for timeout in (0.5, 1, 2, 4):
        client.settimeout(timeout)
        client.send(payload)
        with contextlib.suppress(TimeoutError):
            return client.recv(65536)
    raise AssertionError(f'no reply to {payload[:64].hex()}')


def test_many_requests_at_once(tmp_path, transport):
    """A window of 64 datagrams, as a client keeps it."""
    payloads = [frames.lanes(1 + n % 240, identity=n) for n in range(64)]
    with transport(tmp_path) as (host, live), host.udp() as client:
        client.connect((SWITCH_IP, oracle.UDP_PORT))
        ask(client, payloads[0])
        for _ in range(20):
            for payload in payloads:
                client.send(payload)
            assert [client.recv(65536) for _ in payloads] == list(map(reply_to, payloads))
        assert live.stop()['netfc_packets'] >= 20 * len(payloads) + 1


def test_pings(tmp_path, transport):
    with transport(tmp_path) as (host, live):
        for size, address in itertools.product((0, 1, 56, 1400), (SWITCH_IP, SWITCH_IP6)):
            host.ping(address, size=size)
        assert host.checksum_errors() == {}
        assert live.stop()['answers'] >= 24


# ---- frame by frame --------------------------------------------------------------------------


def question(packet, source=frames.CLIENT_IP, target=SWITCH_IP, tags=(), **fields):
    """An IPv4 packet to the switch."""
    return frames.build(stacked(Ether(src=frames.CLIENT_MAC, dst=frames.SERVER_MAC), tags)
                        / IP(src=source, dst=target, **fields) / packet)


def question6(packet, target=SWITCH_IP6, tags=(), **fields):
    """An IPv6 packet to the switch."""
    return frames.build(stacked(Ether(src=frames.CLIENT_MAC, dst=frames.SERVER_MAC), tags)
                        / IPv6(src=frames.CLIENT_IP6, dst=target, **fields) / packet)


def stacked(layers, tags):
    for vlan in tags:
        layers /= Dot1Q(vlan=vlan)
    return layers


def answer(mac, packet, tags=(), **fields):
    """The switch's answer to question()."""
    return frames.build(stacked(Ether(src=mac, dst=frames.CLIENT_MAC), tags)
                        / IP(src=SWITCH_IP, dst=frames.CLIENT_IP, ttl=64, **fields) / packet)


def answer6(mac, packet, tags=(), hlim=64):
    """The switch's answer to question6()."""
    return frames.build(stacked(Ether(src=mac, dst=frames.CLIENT_MAC), tags)
                        / IPv6(src=SWITCH_IP6, dst=frames.CLIENT_IP6, hlim=hlim) / packet)


def arp(target=SWITCH_IP, tags=(), **fields):
    return frames.build(stacked(Ether(src=frames.CLIENT_MAC, dst=BROADCAST), tags)
                        / ARP(hwsrc=frames.CLIENT_MAC, psrc=frames.CLIENT_IP, pdst=target,
                              **fields))


def arp_reply(mac, tags=(), asker=frames.CLIENT_IP):
    return frames.build(stacked(Ether(src=mac, dst=frames.CLIENT_MAC), tags)
                        / ARP(op='is-at', hwsrc=mac, psrc=SWITCH_IP,
                              hwdst=frames.CLIENT_MAC, pdst=asker))


def solicitation(target=SWITCH_IP6, source=frames.CLIENT_IP6, tags=(), hlim=255, option=True,
                 **fields):
    """Who has that IPv6 address? As a host asks that has an address, or none yet."""
    group = '33:33:ff:00:' + ':'.join(f'{byte:02x}' for byte in packed6(target)[-2:])
    packet = IPv6(src=source, dst='ff02::1:ff00:' + target.split(':')[-1], hlim=hlim) \
        / ICMPv6ND_NS(tgt=target, **fields)
    if option:
        packet /= ICMPv6NDOptSrcLLAddr(lladdr=frames.CLIENT_MAC)
    return bytes(stacked(Ether(src=frames.CLIENT_MAC, dst=group), tags) / packet)


def advertisement(mac, tags=()):
    return answer6(mac, ICMPv6ND_NA(R=0, S=1, O=1, tgt=SWITCH_IP6)
                   / ICMPv6NDOptDstLLAddr(lladdr=mac), tags, hlim=255)


def packed6(address):
    return socket.inet_pton(socket.AF_INET6, address)


def udp(payload, sport=frames.CLIENT_PORT, dport=oracle.UDP_PORT, **fields):
    return UDP(sport=sport, dport=dport, **fields) / Raw(payload)


def udp_back(payload):
    return udp(reply_to(payload), sport=oracle.UDP_PORT, dport=frames.CLIENT_PORT)


def dialogues(mac):
    """Names, questions and the answer to each, the switch having that MAC address."""
    payload, text = frames.lanes(5), Raw(b'echo this')
    unspecified = ICMPv6ND_NA(R=0, S=0, O=1, tgt=SWITCH_IP6) / ICMPv6NDOptDstLLAddr(lladdr=mac)
    all_nodes = Ether(src=mac, dst='33:33:00:00:00:01') / IPv6(
        src=SWITCH_IP6, dst='ff02::1', hlim=255) / unspecified
    options = [IPOption_NOP()] * 8
    yield 'ARP', arp(), arp_reply(mac)
    yield 'ARP, tagged', arp(tags=[5]), arp_reply(mac, [5])
    yield 'ARP probe', arp(hwdst='00:00:00:00:00:00') , arp_reply(mac)
    yield 'solicitation', solicitation(), advertisement(mac)
    yield 'solicitation, tagged', solicitation(tags=[4094]), advertisement(mac, [4094])
    yield 'solicitation without option', solicitation(option=False), advertisement(mac)
    yield 'duplicate address detection', solicitation(source='::', option=False), bytes(all_nodes)
    nonce = IPv6(src='::', dst='ff02::1:ff00:100', hlim=255) / ICMPv6ND_NS(tgt=SWITCH_IP6) \
        / Raw(bytes((14, 1, 1, 2, 3, 4, 5, 6)))
    yield ('duplicate address detection, with a nonce',
           bytes(Ether(src=frames.CLIENT_MAC, dst='33:33:ff:00:01:00') / nonce), bytes(all_nodes))
    for tags in ([], [7], [7, 8]):
        yield (f'request, tags {tags}', question(udp(payload), tags=tags),
               answer(mac, udp_back(payload), tags))
        yield (f'request over IPv6, tags {tags}', question6(udp(payload), tags=tags),
               answer6(mac, udp_back(payload), tags))
    yield ('request without checksum', question(udp(payload, chksum=0)),
           answer(mac, udp_back(payload)))
    yield ('request with options', question(udp(payload), options=options, ttl=1),
           answer(mac, udp_back(payload), options=options))
    yield ('padded request', question(udp(payload)) + b'\xEE' * 9,
           answer(mac, udp_back(payload)) + b'\xEE' * 9)
    echo = {'id': 77, 'seq': 5}
    yield ('ping', question(ICMP(type=8, **echo) / text),
           answer(mac, ICMP(type=0, **echo) / text))
    yield ('ping with options', question(ICMP(type=8, **echo) / text, options=options),
           answer(mac, ICMP(type=0, **echo) / text, options=options))
    yield ('ping over IPv6', question6(ICMPv6EchoRequest(data=b'echo this', **echo)),
           answer6(mac, ICMPv6EchoReply(data=b'echo this', **echo)))


def test_every_byte_of_an_answer(tmp_path):
    with tap(tmp_path, configured=False) as (host, live), hosts.Wire(host) as wire:
        names, questions, answers = zip(*dialogues(host.mac('eth0')))
        for frame in questions:
            wire.send(frame)
        switch.assert_same([wire.receive() for _ in answers], answers, names)
        stats = live.stop()
    assert stats['answers'] == stats['tx_packets'] == len(answers)


# ---- what it drops ---------------------------------------------------------------------------


def unwanted():
    """Frames to the switch that it has no answer to, by the reason why it drops them."""
    request = frames.lanes(3)
    yield 'no_service', question(udp(request, dport=oracle.UDP_PORT + 1))
    yield 'no_service', question6(udp(request, dport=53))
    yield 'no_service', question(TCP(dport=oracle.UDP_PORT, flags='S'))
    yield 'no_service', question6(TCP(dport=80, flags='S'))
    yield 'no_service', question(ICMP(type=13, ts_ori=1, ts_rx=2, ts_tx=3))
    yield 'no_service', question(ICMP(type=0))
    yield 'no_service', question(ICMP(type=3, code=3) / Raw(bytes(28)))
    yield 'no_service', question6(ICMPv6EchoReply())
    yield 'no_service', question(udp(request), flags='MF')
    yield 'no_service', question(udp(request), frag=5)
    yield 'no_service', question6(IPv6ExtHdrHopByHop() / udp(request))
    yield 'no_service', arp(op='is-at')
    for status in (0x80, 0x8F, 0xF0):
        yield 'stray_reply', question(udp(frames.lanes(3, status=status)))
        yield 'stray_reply', question6(udp(frames.lanes(3, status=status)))
    yield 'not_netfc', question(udp(b'any other datagram'))
    yield 'not_netfc', question(udp(frames.request(magic=0x464E)))
    yield 'not_netfc', question(udp(request[:5]))
    yield 'not_netfc', question6(udp(b''))


def damaged():
    """Questions with a checksum that does not fit: nothing in them can be relied upon."""
    request = frames.lanes(3)
    yield question(udp(request, chksum=0x1234))
    yield question6(udp(request, chksum=0x1234))
    yield question(udp(request), chksum=0x1234)
    yield question(ICMP(type=8), chksum=0x1234)
    yield question(ICMP(type=8, chksum=0x1234))
    yield question6(ICMPv6EchoRequest(cksum=0x1234))
    yield solicitation(cksum=0x1234)
    yield from invalid_solicitations()


def from_no_host():
    """Questions whose answer would not go to one host, which is another."""
    request = frames.lanes(3)
    link = ipaddress.ip_network(f'{SWITCH_IP}/24', strict=False)
    for source in ('255.255.255.255', '224.0.0.1', '127.0.0.1', '0.0.0.0', SWITCH_IP, str(link.broadcast_address),
                   str(link.network_address)):
        for packet in (udp(request), udp(b'to nobody', dport=20040), ICMP(type=8)):
            yield frames.build(Ether(src=frames.CLIENT_MAC, dst=frames.SERVER_MAC)
                               / IP(src=source, dst=SWITCH_IP) / packet)
    for source in ('ff02::1', '::1', '::', '::ffff:10.0.0.1', SWITCH_IP6):
        for packet in (udp(request), ICMPv6EchoRequest()):
            yield frames.build(Ether(src=frames.CLIENT_MAC, dst=frames.SERVER_MAC)
                               / IPv6(src=source, dst=SWITCH_IP6) / packet)
    yield solicitation(source='ff02::1')
    for group in ('ff:ff:ff:ff:ff:ff', '33:33:00:00:00:01'):
        yield frames.build(Ether(src=group, dst='ff:ff:ff:ff:ff:ff')
                           / ARP(hwsrc=frames.CLIENT_MAC, psrc=frames.CLIENT_IP, pdst=SWITCH_IP))
        yield group_sends(question(udp(request)), group)
        yield group_sends(question6(ICMPv6EchoRequest()), group)
        yield group_sends(solicitation(), group)


def group_sends(frame, group):
    """The frame from that MAC address."""
    return frame[:6] + bytes.fromhex(group.replace(':', '')) + frame[12:]


def invalid_solicitations():
    """That section 7.1.1 of RFC 4861 wants discarded, all else being right."""
    def ask(*options, source=frames.CLIENT_IP6, group=f'ff02::1:ff00:{SWITCH_IP6.split(":")[-1]}',
            padding=b''):
        packet = IPv6(src=source, dst=group, hlim=255) / ICMPv6ND_NS(tgt=SWITCH_IP6)
        for option in options:
            packet /= option
        return frames.build(Ether(src=frames.CLIENT_MAC, dst='33:33:ff:00:00:01') / packet
                            / Raw(padding))

    own_mac = ICMPv6NDOptSrcLLAddr(lladdr=frames.CLIENT_MAC)
    yield ask(padding=bytes((1, 0)) + bytes(6))
    yield ask(own_mac, padding=bytes((14, 0)) + bytes(6))
    yield ask(padding=bytes((1, 2)) + bytes(6))
    yield ask(padding=b'\1')
    yield ask(own_mac, source='::')
    yield ask(source='::', group='ff02::1')
    yield ask(source='::', group=SWITCH_IP6)
    yield ask(source='::', group='ff02::1:ff00:99')


def send_unwanted(folder, unwanted_frames):
    """Sends frames that nobody may answer, and a ping. Returns what was dropped, by reason."""
    with tap(folder, configured=False) as (host, live), hosts.Wire(host) as wire:
        for frame in unwanted_frames:
            wire.send(frame)
        wire.send(question(ICMP(type=8, seq=99)))
        pong = answer(host.mac('eth0'), ICMP(type=0, seq=99))
        assert wire.receive_until(pong) == []
        drops = live.stop()['drops']
    return {reason: count for reason, count in drops.items() if count}


def test_drops_are_counted_by_name(tmp_path):
    reasons, unwanted_frames = zip(*unwanted())
    assert send_unwanted(tmp_path, unwanted_frames) == Counter(reasons)


def test_damaged_questions_have_no_answer(tmp_path):
    damaged_frames = list(damaged())
    assert send_unwanted(tmp_path, damaged_frames) == {'malformed': len(damaged_frames)}


def test_questions_from_no_host_have_no_answer(tmp_path):
    questions = list(from_no_host())
    assert send_unwanted(tmp_path, questions) == {'malformed': len(questions)}


def not_for_it():
    """Frames that are for others than the switch, whose address they do not name."""
    other, other6 = '10.1.0.99', 'fd00::99'
    yield arp(other)
    yield arp(other, op='is-at')
    yield arp()[:30]
    for lengths in ((8, 4), (6, 16)):  # of the addresses in it, which then stand elsewhere
        yield arp('10.1.0.98')[:18] + bytes(lengths) + arp('10.1.0.98')[20:]
    yield solicitation(other6)
    yield question(ICMP(type=8), target=other)
    yield question(ICMP(type=8), target='10.1.0.255')
    yield question(ICMP(type=8), target='255.255.255.255')
    yield question6(ICMPv6EchoRequest(), target=other6)
    yield question6(ICMPv6EchoRequest(), target='ff02::1')
    yield question(udp(b'any datagram'), target=other)
    yield frames.build(Ether(src=frames.CLIENT_MAC, dst=frames.SERVER_MAC, type=0x88B5)
                       / Raw(packed6(SWITCH_IP6) * 4))


def test_what_is_for_others_goes_on(tmp_path):
    """And so does what is for an address of another port."""
    options = ['--address', f'{SWITCH_IP}@1', '--address', f'{SWITCH_IP6}@1',
               '--address', '10.1.0.98', '--address', 'fd00::98@0']
    others = [*not_for_it(), arp(), solicitation(), question(ICMP(type=8))]
    others = [frame.ljust(frames.MIN_FRAME, b'\0') for frame in others]
    with hosts.veth_network(2, configured=False) as (middle, pair), \
            hosts.LiveSwitch(tmp_path, hosts.veth_ports(2), options, namespace=middle) as live, \
            hosts.Wire(pair[0]) as near, hosts.Wire(pair[1]) as far:
        live.wait_until_ready()
        for frame in others:
            near.send(frame)
        switch.assert_same([far.receive() for _ in others], others)
        far.send(arp())
        assert far.receive() == arp_reply(middle.mac('p1'))
        stats = live.stop()
    assert (stats['rx_packets'], stats['answers']) == (len(others) + 1, 1)


# ---- wrong addresses -------------------------------------------------------------------------


@pytest.mark.parametrize('address, words', [
    ('', ['expected']), ('10.0.0', ['expected']), ('10.0.0.256', ['expected']),
    ('switch.example', ['expected']), ('fe80::1%eth0', ['expected']), ('x' * 1000, ['expected']),
    ('10.0.0.1/33', ['prefix']), ('2001:db8::1/129', ['prefix']), ('10.0.0.1/', ['prefix']),
    ('10.0.0.1@', ['port']), ('10.0.0.1@first', ['port']), ('10.0.0.1@-1', ['port']),
    ('10.0.0.1@65535', ['port']), ('10.0.0.1@65536', ['port']),
    ('0.0.0.0', ['no host']), ('127.0.0.1', ['no host']), ('224.0.0.1', ['no host']),
    ('255.255.255.255', ['no host']), ('10.0.0.255/24', ['no host']), ('10.0.0.0/24', ['no host']),
    ('::', ['no host']), ('::1', ['no host']), ('ff02::1', ['no host']),
    ('::ffff:10.0.0.1', ['no host']),
    ('10.0.0.1@2', ['no port 2']), ('2001:db8::1@65534', ['no port 65534']),
])
def test_wrong_addresses(tmp_path, address, words):
    said = refuse(tmp_path, ['--address', address])
    assert [word for word in ['--address', address.lower(), *words] if word not in said] == []


@pytest.mark.parametrize('first, second', [
    ('10.0.0.1', '10.0.0.1'), ('10.0.0.1/24', '10.0.0.1/16'), ('10.0.0.1', '10.0.0.1@1'),
    ('10.0.0.1@1', '10.0.0.1'), ('2001:db8::1@0', '2001:DB8:0::1@0')])
def test_addresses_that_clash(tmp_path, first, second):
    said = refuse(tmp_path, ['--address', first, '--address', second])
    assert second.lower() in said and 'already' in said


def test_too_many_addresses(tmp_path):
    options = [word for n in range(65) for word in ('--address', f'10.0.1.{n}')]
    assert 'too many' in refuse(tmp_path, options)
