# SPDX-License-Identifier: BSD-3-Clause
"""Captures of traffic mixes: packets that differ, in random order.

A capture of packets that are all alike shows what a switch does on its best day. These have so many
different packets, drawn at random, that no branch predictor learns their order.
"""

import functools
import ipaddress
import struct
from dataclasses import dataclass

import numpy

from benchmark.measure import rounds
from benchmark.peers.contenders import TABLES, Switch
from evaluation.measure import datasets
from netfc import FORMATS, OPS, capture, protocol

SEED = 15
PACKETS = 4096
MIN_FRAME = 60
ETHER_IPV4, ETHER_ARP, ETHER_VLAN, ETHER_IPV6, ETHER_QINQ = 0x0800, 0x0806, 0x8100, 0x86DD, 0x88A8
TCP, UDP = 6, 17
STATIONS = 1000
ANY_OP = tuple(OPS)
ANY_FORMAT = tuple(FORMATS)
SOURCE, DESTINATION = ipaddress.ip_address("10.0.0.1"), ipaddress.ip_address("10.0.0.2")
SOURCE_6, DESTINATION_6 = ipaddress.ip_address("fd00::1"), ipaddress.ip_address("fd00::2")
MACS = bytes.fromhex("020000000002" "020000000001")


def _checksum(data):
    """The Internet checksum (RFC 1071)."""
    words = numpy.frombuffer(data + b"\0" * (len(data) % 2), dtype=">u2")
    total = int(words.sum(dtype=numpy.uint64))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF ^ total


class Packets:
    """Draws packets at random. Each method gives the bytes of a frame, without its check sequence."""

    def __init__(self, seed=SEED):
        self._random = numpy.random.default_rng(seed)
        self._numbers = {
            name: datasets.finite_encodings(number_format).astype(numpy.uint16)
            for name, number_format in FORMATS.items()
        }

    def one_of(self, choices):
        """A choice, each equally likely."""
        return choices[self._random.integers(len(choices))]

    def bytes(self, count):
        """Random bytes."""
        return self._random.bytes(count)

    def ethernet(self, ether_type, payload, tags=0, macs=MACS):
        """A frame, padded. tags: VLAN tags, the outer one of two a service tag (IEEE 802.1ad)."""
        types = {0: [], 1: [ETHER_VLAN], 2: [ETHER_QINQ, ETHER_VLAN]}[tags]
        header = macs
        for tag in types:
            header += struct.pack(">HH", tag, int(self._random.integers(1, 4095)))
        frame = header + struct.pack(">H", ether_type) + payload
        return frame + bytes(max(0, MIN_FRAME - len(frame)))

    def ipv4(self, protocol_number, payload):
        """An IPv4 datagram without options."""
        header = struct.pack(
            ">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol_number, 0
        )
        header += SOURCE.packed + DESTINATION.packed
        return header[:10] + struct.pack(">H", _checksum(header)) + header[12:] + payload

    def ipv6(self, protocol_number, payload):
        """An IPv6 datagram without extension headers."""
        header = struct.pack(">IHBB", 6 << 28, len(payload), protocol_number, 64)
        return header + SOURCE_6.packed + DESTINATION_6.packed + payload

    def udp(self, payload, port, version=4, checksum=True):
        """A UDP datagram."""
        length = 8 + len(payload)
        ends = (SOURCE, DESTINATION) if version == 4 else (SOURCE_6, DESTINATION_6)
        pseudo = ends[0].packed + ends[1].packed + struct.pack(">HH", UDP, length)
        header = struct.pack(">HHH", int(self._random.integers(1024, 65536)), port, length)
        total = _checksum(pseudo + header + payload) or 0xFFFF
        return header + struct.pack(">H", total if checksum else 0) + payload

    def request(self, ops=("add",), formats=("fp16",), lanes=(1,), tags=0, version=4, **options):
        """A NetFC request; ops, formats, lanes: drawn from these. options: of udp(), ethernet()."""
        op, name, count = self.one_of(ops), self.one_of(formats), self.one_of(lanes)
        x, y = self._random.choice(self._numbers[name], (2, count))
        number = int(self._random.integers(1 << 32))
        z = self._random.choice(self._numbers[name], count) if op == "fma" else None
        payload = protocol.request(
            protocol.number_of(op), FORMATS[name].id, x, y, number, z
        )
        datagram = self.udp(
            payload, protocol.UDP_PORT, version, checksum=options.get("checksum", True)
        )
        macs = options.get("macs", MACS)
        if version == 4:
            return self.ethernet(ETHER_IPV4, self.ipv4(UDP, datagram), tags, macs)
        return self.ethernet(ETHER_IPV6, self.ipv6(UDP, datagram), tags, macs)

    def tcp(self):
        """A TCP segment over IPv4, without data."""
        ports = self._random.integers(1024, 65536, 2)
        words = self._random.integers(1 << 32, size=2)
        segment = struct.pack(">HHIIHHHH", *map(int, ports), *map(int, words), 0x5010, 8192, 0, 0)
        return self.ethernet(ETHER_IPV4, self.ipv4(TCP, segment))

    def other_udp(self):
        """A UDP datagram over IPv4 to another port than NetFC's."""
        port = int(self._random.integers(1024, 20000))
        return self.ethernet(ETHER_IPV4, self.ipv4(UDP, self.udp(self.bytes(18), port)))

    def arp(self):
        """A request of ARP for some address."""
        body = struct.pack(">HHBBH", 1, ETHER_IPV4, 6, 4, 1) + MACS[6:] + SOURCE.packed
        return self.ethernet(ETHER_ARP, body + bytes(6) + b"\x0a" + self.bytes(3))

    def garbage(self):
        """Random bytes between two known stations."""
        return MACS + self.bytes(MIN_FRAME - len(MACS))

    def between_stations(self, port):
        """A request from one of many stations behind a port to one behind the other."""
        ends = self._random.integers(STATIONS // 2, size=2)
        macs = b"".join(
            bytes((2, 0, 0, side)) + struct.pack(">H", end)
            for side, end in zip((1 - port, port), ends)
        )
        return self.request(ops=ANY_OP, macs=macs)

    def anything(self):
        """All of these, 1 to 16 lanes."""
        lanes = tuple(range(1, 17))
        kind = self.one_of(range(9))
        if kind < 5:
            tags, version = ((0, 4), (1, 4), (2, 4), (0, 6), (1, 6))[kind]
            return self.request(ANY_OP, ANY_FORMAT, lanes, tags, version)
        return (self.tcp, self.other_udp, self.arp, self.garbage)[kind - 5]()


@dataclass(frozen=True)
class Mix:
    """Traffic. draw: makes a packet that comes in by a port; quick: part of the short table, too;
    functions: names of those that the switch has to load."""

    name: str
    draw: object
    packets: int = PACKETS
    bridge: bool = False
    quick: bool = False
    functions: tuple = ()

    @property
    def ports(self):
        """How many: a bridge has two, others send back what they receive."""
        return 2 if self.bridge else 1

    def loaded(self):
        """The option that loads its functions."""
        return ("--functions", ",".join(self.functions)) if self.functions else ()


def _requests(**options):
    return lambda packets, port: packets.request(**options)


def _other(draw):
    return lambda packets, port: draw(packets)


def _half(packets, _):
    return packets.one_of((packets.tcp, packets.request))()


FEW = tuple(range(1, 9))
MANY = (capture.MAX_LANES,)
MANY_PACKETS = 1024
ANY = {"ops": ANY_OP, "formats": ANY_FORMAT}
MIXES = (
    Mix("fp16 add, all alike", _requests(), quick=True),
    Mix("random operation", _requests(ops=ANY_OP), quick=True),
    Mix("random operation, no UDP checksum", _requests(ops=ANY_OP, checksum=False)),
    Mix("random operation and format", _requests(**ANY)),
    Mix("VLAN, all alike", _requests(tags=1)),
    Mix("VLAN, random operation", _requests(ops=ANY_OP, tags=1)),
    Mix("QinQ, random operation", _requests(ops=ANY_OP, tags=2)),
    Mix("IPv6, all alike", _requests(version=6)),
    Mix("IPv6, random operation", _requests(ops=ANY_OP, version=6)),
    Mix("IPv6 in a VLAN, random operation", _requests(ops=ANY_OP, tags=1, version=6)),
    Mix("TCP", _other(Packets.tcp)),
    Mix("other UDP", _other(Packets.other_udp)),
    Mix("ARP", _other(Packets.arp)),
    Mix("random bytes", _other(Packets.garbage)),
    Mix("half TCP, half add", _half),
    Mix("random operation, 1 to 8 lanes", _requests(ops=ANY_OP, lanes=FEW)),
    Mix("all of these, 1 to 16 lanes", _other(Packets.anything), quick=True),
    Mix("bridge, 1,000 stations", Packets.between_stations, PACKETS // 2, bridge=True),
    Mix("243 lanes, fp16 add", _requests(lanes=MANY), MANY_PACKETS),
    Mix("243 lanes, random operation", _requests(ops=ANY_OP, lanes=MANY), MANY_PACKETS),
    Mix("243 lanes, random operation and format", _requests(**ANY, lanes=MANY), MANY_PACKETS),
    Mix("fp16 rsqrt", _requests(ops=("rsqrt",)), functions=("rsqrt",)),
    Mix("243 lanes, fp16 rsqrt", _requests(ops=("rsqrt",), lanes=MANY), MANY_PACKETS,
        functions=("rsqrt",)),
    Mix("243 lanes, fp16 fma", _requests(ops=("fma",), lanes=MANY), MANY_PACKETS),
    Mix("243 lanes, posit16 fma", _requests(ops=("fma",), formats=("posit16",), lanes=MANY),
        MANY_PACKETS),
)


def frames(mix, count, port=0):
    """Frames that come in by a port, always the same."""
    packets = Packets(SEED + port)
    return [mix.draw(packets, port) for _ in range(count)]


def captures(mix, folder):
    """Captures of what comes in by each port; made where they are not there yet."""
    paths = []
    for port in range(mix.ports):
        paths.append(folder / f"mix-{MIXES.index(mix)}-{port}.pcap")
        if not paths[-1].exists():
            capture.write(paths[-1], frames(mix, mix.packets, port))
    return paths


def run(bench, contenders, mix, settings):
    """Packets per second of each contender, by name, and their ratios, round by round."""
    paths = captures(mix, bench.folder)
    options = ("--forward", "bridge" if mix.bridge else "reflect", *mix.loaded())
    samples = rounds.alternate(
        [functools.partial(bench.start, contender, paths[:1], ",".join(TABLES.values()),
                           options=options, other_port=paths[1:]) for contender in contenders],
        settings, Switch.finish_mix)
    ratios = rounds.ratios(samples)
    return {name: {"ratio": ratios[name],
                   "packets": rounds.summary([sample.rate for sample in mine])}
            for name, mine in samples.items()}
