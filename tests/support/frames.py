# SPDX-License-Identifier: BSD-3-Clause
"""Test frames: NetFC requests in every wrapping that the switch knows, and in many it must not.

zoo() names and builds them all, with scapy; bulk() packs many lanes into plain requests, faster.
Everything is the same in every run.
"""

import itertools
import random
import struct

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_NOP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Padding, Raw

import oracle

MAX_LANES = 243  # that fit a 1,500-byte MTU over IPv4
MIN_FRAME = 60
CLIENT_MAC, SERVER_MAC = '02:00:00:00:00:01', '02:00:00:00:00:02'
CLIENT_IP, SERVER_IP = '10.0.0.1', '10.0.0.2'
CLIENT_IP6, SERVER_IP6 = '2001:db8::1', '2001:db8::2'
CLIENT_PORT = 40000

ONE = {1: 0x3C00, 2: 0x4000, 3: 0x3F80, 4: 0x4000, 5: 0x3F800000, 8: 0x38, 9: 0x3C}  # 1 by format
TWO = {1: 0x4000, 2: 0x5000, 3: 0x4000, 4: 0x4800, 5: 0x40000000, 8: 0x40, 9: 0x40}
UNTOUCHED_Z = 0xA5A5  # what z holds in a request, to see whether it was written


# ---- building blocks -------------------------------------------------------------------------


def request(op=oracle.ADD, form=1, x=None, y=None, *, magic=oracle.MAGIC, version=oracle.VERSION,
            status=0, count=None, identity=0xC0FFEE01, z=None, tail=b''):
    """A NetFC payload: header, x, y and z slots, then `tail`. One lane of 1 and 2 by default."""
    x = [ONE.get(form, 0x3C00)] if x is None else x
    y = [TWO.get(form, 0x4000)] if y is None else y
    z = [UNTOUCHED_Z] * len(x) if z is None else z
    count = len(x) if count is None else count
    header = struct.pack('>HBBBBHI', magic, version, op, form, status, count, identity)
    slot, fill = ('I', 0) if form == oracle.FP32 else ('H', 0)
    if form in oracle.NARROW:
        # What fills up to an even number of bytes is not looked at, whatever it is.
        slot, fill, z = 'B', len(x) % 2, [word & 0xFF for word in z]
    slots = (struct.pack(f'>{len(x)}{slot}', *operand) + b'\xa5' * fill for operand in (x, y, z))
    return header + b''.join(slots) + tail


def lanes(count, /, form=1, op=oracle.ADD, **fields):
    """A request of `count` lanes of random operands."""
    draw = random.Random(f'{count} {form} {op}')
    end = 0x100000000 if form == oracle.FP32 else 0x100 if form in oracle.NARROW else 0x10000
    x, y = ([draw.randrange(end) for _ in range(count)] for _ in 'xy')
    return request(op, form, x, y, **fields)


def ethernet():
    return Ether(src=CLIENT_MAC, dst=SERVER_MAC)


def ipv4(**fields):
    return IP(src=CLIENT_IP, dst=SERVER_IP, **fields)


def ipv6(**fields):
    return IPv6(src=CLIENT_IP6, dst=SERVER_IP6, **fields)


def udp(payload, **fields):
    return UDP(**{'sport': CLIENT_PORT, 'dport': oracle.UDP_PORT, **fields}) / Raw(payload)


def right_checksum(payload):
    """The UDP checksum over IPv4, which scapy gets wrong where it is told the IP length."""
    return oracle.u16(plain_frame(payload), 40)


def tag(tpid, vlan):
    return (Dot1AD if tpid == 0x88A8 else Dot1Q)(vlan=vlan)


def build(packet, pad=True):
    """The bytes of a scapy packet, filled up to the least size of a frame."""
    data = bytes(packet)
    return data.ljust(MIN_FRAME, b'\0') if pad else data


def tagged(tpids, packet):
    """A packet after VLAN tags of these TPIDs, outermost first."""
    layers = ethernet()
    for vlan, tpid in enumerate(tpids, 5):
        layers /= tag(tpid, vlan)
    return build(layers / packet)


def patched(frame, at, data):
    """A copy of a frame with the bytes from `at` on replaced by data."""
    return frame[:at] + data + frame[at + len(data):]


# ---- the zoo ---------------------------------------------------------------------------------


def carriers():
    """Wrappings that NetFC may come in: name -> function from payload to frame."""
    wrap = {
        'ipv4': lambda p: build(ethernet() / ipv4() / udp(p)),
        'ipv4, zero checksum': lambda p: build(ethernet() / ipv4() / udp(p, chksum=0)),
        'ipv4, wrong checksum': lambda p: build(ethernet() / ipv4() / udp(p, chksum=0x1234)),
        'ipv4, checksum FFFF': lambda p: build(ethernet() / ipv4() / udp(p, chksum=0xFFFF)),
        "ipv4, don't fragment": lambda p: build(ethernet() / ipv4(flags='DF') / udp(p)),
        'ipv4, evil bit': lambda p: build(ethernet() / ipv4(flags='evil') / udp(p)),
        'ipv4, padded': lambda p: build(ethernet() / ipv4() / udp(p)) + b'\xEE' * 7,
        'ipv4, short datagram': lambda p: build(
            ethernet() / ipv4(len=34 + len(p)) / udp(p, chksum=right_checksum(p))
            / Padding(b'\xDD' * 6)),
        'ipv6': lambda p: build(ethernet() / ipv6() / udp(p)),
        'ipv6, zero checksum': lambda p: build(ethernet() / ipv6() / udp(p, chksum=0)),
        'ipv6, wrong checksum': lambda p: build(ethernet() / ipv6() / udp(p, chksum=0x1234)),
        'ipv6, flow': lambda p: build(ethernet() / ipv6(tc=0xFF, fl=0xFFFFF) / udp(p)),
        'ipv6, padded': lambda p: build(ethernet() / ipv6() / udp(p)) + b'\xEE' * 7,
        'ipv6, short datagram': lambda p: build(
            ethernet() / ipv6(plen=14 + len(p)) / udp(p) / Padding(b'\xDD' * 6)),
    }
    for words in (1, 2, 5, 10):
        wrap[f'ipv4, {words} words of options'] = lambda p, words=words: build(
            ethernet() / ipv4(options=[IPOption_NOP()] * 4 * words) / udp(p))
    for count in (1, 2):
        for tpids in itertools.product((0x8100, 0x88A8), repeat=count):
            name = ' '.join(f'{tpid:04X}' for tpid in tpids)
            wrap[f'vlan {name}, ipv4'] = lambda p, t=tpids: tagged(t, ipv4() / udp(p))
            wrap[f'vlan {name}, ipv6'] = lambda p, t=tpids: tagged(t, ipv6() / udp(p))
    wrap['vlan 88A8 8100, ipv4 with options'] = lambda p: tagged(
        (0x88A8, 0x8100), ipv4(options=[IPOption_NOP()] * 40) / udp(p))
    return wrap


def payloads():
    """UDP payloads, good requests and bad: name -> bytes."""
    made = {f'op {op}, format {form}': lanes(3, form, op)
            for op, form in itertools.product(oracle.OPERATIONS, oracle.FORMATS)}
    made.update({f'{count} lanes': lanes(count, op=oracle.MUL) for count in (1, 2, 31, 32, 33, 64)})
    for fill in range(1, 7):
        made[f'{fill} bytes over'] = lanes(2, tail=b'\xBB' * fill)
    made.update(bad_requests())
    made.update(other_payloads())
    return made


def bad_requests():
    """Requests that are answered with an error, alone and where two compete for the code."""
    made = {f'version {v}': request(version=v) for v in (0, 2, 0x81, 255)}
    made.update({f'op {op}': request(op) for op in (0, 9, 15, 17, 63, 0x81, 255)})
    made.update({f'format {form}': request(form=form) for form in (0, 5, 0x81, 255)})
    made.update({f'query, format {form}': request(oracle.QUERY, form) for form in range(6)})
    for count in (0, 2, 3, 255, 256, 0x7FFF, 0x8000, 0xFFFF):
        made[f'count {count} for one lane'] = request(count=count)
        made[f'query, count {count} for one lane'] = request(oracle.QUERY, count=count)
    for size in range(6, 18):
        made[f'{size} bytes of a request'] = request()[:size]
    made.update({
        'query with counters': request(oracle.QUERY, tail=bytes(12)),
        'version before op': request(9, version=2),
        'version before all': request(9, 9, version=2, count=0),
        'op before format': request(9, 9),
        'op before length': request(9, count=0),
        'format before length': request(form=11, count=0),
        'format before query': request(oracle.QUERY, 9),
        'format before length, query': request(oracle.QUERY, 2, count=0),
        'version of a short one': request(version=2)[:7],
        'op of a short one': request(9)[:6],
        'format of a short one': request(form=11)[:11],
    })
    return made


def other_payloads():
    """What no switch may touch, and statuses that are no reply."""
    made = {f'magic {magic:04X}': request(magic=magic) for magic in (0, 0x464E, 0x4E47, 0x4F46)}
    made.update({f'{size} bytes of magic': request()[:size] for size in range(6)})
    made.update({f'status {status:02X}': request(status=status)
                 for status in (1, 0x0F, 0x10, 0x70, 0x7F, 0x80, 0x81, 0x90, 0xFF)})
    made['reply with a wrong version'] = request(version=2, status=0x80)
    made['short reply'] = request(status=0x80)[:6]
    made['not NetFC'] = b'any other datagram that comes to the port'
    return made


def wrapped():
    """Every payload over IPv4 and IPv6, and a few in every carrier."""
    everywhere = ('op 2, format 1', 'op 4, format 2', 'op 1, format 3', '64 lanes', '3 bytes over',
                  'version 2', 'count 0 for one lane', 'magic 464E', 'status 80', 'status 7F')
    for (carrier, wrap), (name, payload) in itertools.product(
            carriers().items(), payloads().items()):
        if carrier in ('ipv4', 'ipv6') or name in everywhere:
            yield f'{carrier}: {name}', wrap(payload)


def truncated():
    """Frames cut off after every byte, the headers telling of more."""
    for carrier in ('ipv4', 'ipv6', 'ipv4, 2 words of options', 'vlan 8100, ipv4',
                    'vlan 88A8 8100, ipv4', 'vlan 8100 8100, ipv6'):
        whole = carriers()[carrier](lanes(2))
        for size in range(len(whole)):
            yield f'{carrier}, cut to {size} of {len(whole)}', whole[:size]


def contradicting():
    """Lengths in IP and UDP headers that fit neither each other nor the frame."""
    payload = lanes(2, tail=b'\xBB' * 5)
    size = len(payload)
    for wrong in (0, 1, 7, 8, 9, 13, 14, 19, 20, 8 + size - 1, 8 + size + 1, 0x8000, 0xFFFF):
        for name, ip in (('ipv4', ipv4()), ('ipv6', ipv6())):
            yield f'{name}, udp length {wrong}', build(ethernet() / ip / udp(payload, len=wrong))
    for wrong in (0, 1, 19, 20, 27, 28, 29, 39, 40, 28 + size - 1, 28 + size + 1, 0xFFFF):
        packet = ipv4(len=wrong) / udp(payload)
        yield f'ipv4, total length {wrong}', build(ethernet() / packet)
        packet = ipv4(len=wrong) / udp(payload, len=max(wrong - 20, 0))
        yield f'ipv4, total and udp length {wrong}', build(ethernet() / packet)
    for wrong in (0, 1, 7, 8, 9, 19, 20, 8 + size - 1, 8 + size + 1, 0xFFFF):
        packet = ipv6(plen=wrong) / udp(payload)
        yield f'ipv6, payload length {wrong}', build(ethernet() / packet)
        packet = ipv6(plen=wrong) / udp(payload, len=wrong)
        yield f'ipv6, payload and udp length {wrong}', build(ethernet() / packet)
    for ihl in range(16):
        yield f'ipv4, header of {ihl} words', build(ethernet() / ipv4(ihl=ihl) / udp(payload))
    for version in (0, 5, 6, 15):
        yield f'ipv4, version {version}', build(ethernet() / ipv4(version=version) / udp(payload))
    for version in (0, 4, 7, 15):
        yield f'ipv6, version {version}', build(ethernet() / ipv6(version=version) / udp(payload))


def others():
    """Packets that carry a request where the switch must not look for one."""
    payload = lanes(2)
    made = {
        'arp': ethernet() / ARP(psrc=CLIENT_IP, pdst=SERVER_IP),
        'tcp': ethernet() / ipv4() / TCP(sport=CLIENT_PORT, dport=oracle.UDP_PORT) / Raw(payload),
        'tcp, ipv6': ethernet() / ipv6() / TCP(dport=oracle.UDP_PORT) / Raw(payload),
        'icmp': ethernet() / ipv4() / ICMP() / Raw(payload),
        'udp-lite': ethernet() / ipv4(proto=136) / udp(payload),
        'first fragment': ethernet() / ipv4(flags='MF') / udp(payload),
        'middle fragment': ethernet() / ipv4(flags='MF', frag=3) / udp(payload),
        'last fragment': ethernet() / ipv4(frag=3) / udp(payload),
        'last fragment, far': ethernet() / ipv4(frag=0x1000) / udp(payload),
        'last fragment, first offset': ethernet() / ipv4(frag=1) / udp(payload),
        'fragment with all flags': ethernet() / ipv4(flags=7) / udp(payload),
        'ipv6 fragment': ethernet() / ipv6() / IPv6ExtHdrFragment(m=1) / udp(payload),
        'ipv6 lone fragment': ethernet() / ipv6() / IPv6ExtHdrFragment() / udp(payload),
        'ipv6 hop by hop': ethernet() / ipv6() / IPv6ExtHdrHopByHop() / udp(payload),
        'ipv6 destination options': ethernet() / ipv6() / IPv6ExtHdrDestOpt() / udp(payload),
        'ipv6 in ipv4': ethernet() / ipv4() / ipv6() / udp(payload),
        'next port': ethernet() / ipv4() / udp(payload, dport=oracle.UDP_PORT + 1),
        'port with its bytes swapped': ethernet() / ipv4() / udp(payload, dport=0x464E),
        'a request from the port': ethernet() / ipv4() / udp(
            payload, sport=oracle.UDP_PORT, dport=CLIENT_PORT),
        'a request on another port, ipv6': ethernet() / ipv6() / udp(payload, dport=53),
        'unknown ethertype': Ether(src=CLIENT_MAC, dst=SERVER_MAC, type=0x88B5) / ipv4() / udp(
            payload),
        'broadcast': Ether(src=CLIENT_MAC, dst='ff:ff:ff:ff:ff:ff') / ipv4() / udp(payload),
        'ipv6 under the ethertype of ipv4': Ether(
            src=CLIENT_MAC, dst=SERVER_MAC, type=0x0800) / ipv6() / udp(payload),
    }
    for name, packet in made.items():
        yield name, build(packet)
    for tpids in ((0x8100,) * 3, (0x88A8, 0x8100, 0x8100), (0x9100,), (0x8100, 0x9100)):
        name = ' '.join(f'{tpid:04X}' for tpid in tpids)
        yield f'vlan {name}', odd_tags(tpids, payload)
    yield '802.3 length', bytes.fromhex('020000000002020000000001002E') + payload.ljust(46, b'\0')
    yield 'priority tag', build(ethernet() / Dot1Q(vlan=0, prio=7, id=1) / ipv4() / udp(payload))


def odd_tags(tpids, payload):
    """An IPv4 request after any tags, built by hand: scapy would mend the TPIDs."""
    plain = build(ethernet() / ipv4() / udp(payload))
    tags = b''.join(struct.pack('>HH', tpid, 7) for tpid in tpids)
    return plain[:12] + tags + plain[12:]


def mutants():
    """Requests with one byte of their headers changed."""
    draw = random.Random(20038)
    for carrier in ('ipv4', 'ipv6', 'ipv4, 1 words of options', 'vlan 88A8 8100, ipv4',
                    'vlan 8100, ipv6', 'ipv4, padded', 'ipv6, short datagram'):
        whole = carriers()[carrier](lanes(2))
        for at in range(12, len(whole) - 12):
            for new in {0, 0xFF, whole[at] ^ 0x80, whole[at] ^ 1, draw.randrange(256)}:
                yield f'{carrier}, byte {at} = {new:02X}', patched(whole, at, bytes([new]))


def zoo():
    """All test frames that carry few lanes, as a list of (name, frame)."""
    return list(itertools.chain(wrapped(), truncated(), contradicting(), others(), mutants()))


# ---- many lanes ------------------------------------------------------------------------------


def plain_frame(payload):
    """A request over Ethernet and IPv4 with a right checksum, built without scapy."""
    addresses = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    ip = struct.pack('>BBHHHBBH', 0x45, 0, 28 + len(payload), 0, 0, 64, 17, 0) + addresses
    ip = patched(ip, 10, struct.pack('>H', internet_checksum(ip)))
    length = 8 + len(payload)
    header = struct.pack('>HHHH', CLIENT_PORT, oracle.UDP_PORT, length, 0)
    pseudo = addresses + struct.pack('>HH', 17, length)
    checksum = internet_checksum(pseudo + header + payload) or 0xFFFF
    header = patched(header, 6, struct.pack('>H', checksum))
    frame = bytes.fromhex('0200000000020200000000010800') + ip + header + payload
    return frame.ljust(MIN_FRAME, b'\0')


def internet_checksum(data):
    """The one's complement of the one's complement sum of the 16-bit words of data."""
    return -int.from_bytes(data + b'\0' * (len(data) % 2), 'big') % 0xFFFF


def bulk(op, form, pairs, sizes):
    """Requests for all pairs (x, y), sizes being an iterator over the lanes in a packet."""
    made, at = [], 0
    while at < len(pairs):
        x, y = zip(*pairs[at:at + next(sizes)])
        made.append(plain_frame(request(op, form, x, y, identity=len(made))))
        at += len(x)
    return made
