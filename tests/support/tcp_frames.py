# SPDX-License-Identifier: BSD-3-Clause
"""TCP segments over IPv4 as frames, made fast."""

import random
import struct

import frames
import oracle
from slowloris_model import ACK, FIN, RST, SYN

SERVER = bytes((10, 0, 0, 2))
SERVER_ISN = 0x12345678


def address(number):
    """A client's address by its number."""
    return struct.pack('>I', 0x0A010000 + number)


def segment(source, destination, ports, flags, *, seq=1, ack=0, payload=0, options=0, fragment=0,
            tags=0, proto=6):
    """A frame; payload: bytes of data; options: words of IPv4 options; fragment: that field."""
    header = 20 + 4 * options
    tcp = struct.pack('>HHIIBBHHH', *ports, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, 8192,
                      0, 0)
    body = (tcp if fragment & 0x1FFF == 0 else b'') + bytes(payload)
    ip = struct.pack('>BBHHHBBH', 0x40 | header // 4, 0, header + len(body), 7, fragment, 64, proto,
                     0) + source + destination + b'\x01' * 4 * options
    ethernet = bytes.fromhex('020000000002020000000001') + b'\x81\0\0\x05' * tags + b'\x08\0'
    return (ethernet + ip + body).ljust(60, b'\0')


def handshake(client, port, server=SERVER, isn=SERVER_ISN):
    """SYN, its answer, and what completes it."""
    there, back = (port, 80), (80, port)
    return [segment(client, server, there, SYN),
            segment(server, client, back, SYN | ACK, seq=isn, ack=2),
            segment(client, server, there, ACK, seq=2, ack=isn + 1)]


def query(destination, identity=0):
    """A query for an address, with space for the counters."""
    x, y = struct.unpack('>HH', destination)
    return frames.plain_frame(frames.request(oracle.QUERY, 1, [x], [y], identity=identity,
                                             tail=bytes(12)))


def answer(frame):
    """ratio, connections and bytes out of the reply to query(); its status is 0."""
    payload = frame[42:]
    assert payload[5] == 0x80, f'status {payload[5]:#x}'
    return struct.unpack_from('>HIQ', payload, 16)


def mixed(seed, count, clients=30, servers=3):
    """Segments of every kind, in an order that makes sense now and then."""
    draw = random.Random(seed)
    for _ in range(count):
        client = address(draw.randrange(clients))
        server = bytes((10, 0, 0, 2 + draw.randrange(servers)))
        ports = (40000 + draw.randrange(4), 80)
        flags = draw.choices([SYN, SYN | ACK, ACK, ACK | 8, ACK | FIN, RST, RST | ACK, SYN | RST,
                              SYN | FIN, 0], [8, 4, 8, 10, 2, 1, 1, 1, 1, 1])[0]
        shape = {'payload': draw.choice([0, 0, 1, 100, 1400]), 'options': draw.choice([0, 0, 1]),
                 'tags': draw.choice([0, 0, 0, 1, 2]),
                 'fragment': draw.choices([0, 0x4000, 0x2000, 0x2003], [8, 2, 1, 1])[0],
                 'proto': draw.choices([6, 17, 1], [18, 1, 1])[0]}
        if flags == SYN | ACK or draw.random() < 0.3:
            client, server, ports = server, client, ports[::-1]
        frame = segment(client, server, ports, flags, **shape)
        if draw.random() < 0.02:
            frame = frame[:draw.randrange(14, 60)]  # damaged
        yield frame, (client, server)
