# SPDX-License-Identifier: BSD-3-Clause
"""Workers of an aggregation on UDP sockets, written from docs/protocol.md alone."""

import dataclasses
import fractions
import struct

import numpy as np

from netfc import aggregation, protocol

TIMEOUT_S = 100


@dataclasses.dataclass
class Reply:
    """A message from the switch."""

    op: int
    format: int
    status: int
    count: int
    id: int
    job: int
    worker: int
    reason: int
    secret: int  # a join's: the token; else the session
    rest: bytes

    @property
    def code(self):
        return self.status >> protocol.CODE_SHIFT & 7

    @property
    def granted(self):
        """Workers, shards, slots, bytes, least and cookie (code 0: session) of a join."""
        return aggregation.JOIN.unpack_from(self.rest)

    @property
    def name(self):
        """The reason by its name: "waiting", "late 3"."""
        if self.reason < aggregation.MISSING:
            return aggregation.reason_name(self.reason)
        # Of a header alone it is in count.
        return aggregation.reason_name(
            self.reason, self.rest[0] if self.rest else self.count >> 8)


def read(payload):
    """A reply, checked for what every reply has."""
    magic, version, *fields = aggregation.HEADER.unpack_from(payload)
    assert (magic, version) == (protocol.MAGIC, protocol.VERSION)
    reply = Reply(*fields, payload[aggregation.HEADER.size:])
    assert reply.status & protocol.REPLY
    return reply


class Worker:
    """One worker with a socket of its own."""

    def __init__(self, socket, switch_ip, number, job=1, token=0x0123456789abcdef, port=None):
        self.place = aggregation.Worker(job, token, number)
        self.socket, self.ip = socket, switch_ip
        self.port = port or aggregation.UDP_PORT
        self.slots, self.shards = 1, 1
        self.cookie = 0
        socket.settimeout(TIMEOUT_S)

    def send(self, payload, shard=0):
        self.socket.sendto(payload, (self.ip, self.port + shard))

    def receive(self):
        return read(self.socket.recv(65536))

    def ask(self, payload, shard=0):
        self.send(payload, shard)
        return self.receive()

    def join(self, workers, slots=8, chunk_bytes=1448):
        """Joins once, with the cookie that the switch asks for. Returns the last reply.

        What is granted is kept, the session with it.
        """
        reply = self.ask(aggregation.join(self.place, workers, slots, chunk_bytes, self.cookie))
        if reply.reason == 8:
            self.cookie = reply.granted[5]
            reply = self.ask(aggregation.join(self.place, workers, slots, chunk_bytes, self.cookie))
        _, self.shards, self.slots, *_ = reply.granted
        if reply.code == 0:
            self.place = dataclasses.replace(self.place, session=reply.granted[5])
        return reply

    def shard(self, number):
        return number % self.slots % self.shards

    def send_chunk(self, number, values, op='sum', form='fp32'):
        """values: bytes, big-endian."""
        self.send(aggregation.chunk(self.place, aggregation.OPS[op], aggregation.FORMAT_IDS[form],
                                    number, values), self.shard(number))

    def leave(self, reason=0):
        return self.ask(aggregation.leave(self.place, reason=reason))


def join_all(workers):
    """Joins until all are there."""
    for worker in workers:
        worker.join(len(workers))
    for worker in workers:
        assert worker.join(len(workers)).code == 0


def vectors(workers, count):
    """Numbers of any size, as binary32, the same ones for so many workers."""
    draw = np.random.default_rng(workers)
    return (draw.standard_normal((workers, count)) * 10.0 ** draw.integers(-6, 6, count)).astype('f4')


def exact_sum(values):
    """The sum of binary32 arrays of shape (workers, count), rounded once, big-endian bytes."""
    sums = []
    for column in values.T:
        total = sum(fractions.Fraction(float(value)) for value in column)
        sums.append(nearest_binary32(total))
    return np.array(sums, '>f4').tobytes()


def nearest_binary32(exact):
    """The binary32 nearest to a fraction, ties to even; the fraction is no overflow."""
    if exact == 0:
        return 0.0
    # A binary64 that is rounded to odd rounds to binary32 as the exact value does.
    near = float(exact)
    if fractions.Fraction(near) != exact:
        bits = struct.unpack('>q', struct.pack('>d', near))[0]
        if bits & 1 == 0:
            towards_zero = abs(fractions.Fraction(near)) > abs(exact)
            bits += -1 if towards_zero else 1
        near = struct.unpack('>d', struct.pack('>q', bits))[0]
    return float(np.float32(near))
