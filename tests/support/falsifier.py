# SPDX-License-Identifier: BSD-3-Clause
"""A wire between a host and a switch that falsifies one thing of what the switch sends.

It passes whole frames on, both ways. What is falsified are UDP datagrams from the switch (or, of some
falsifications, those to it): their payload, or the frame itself.
"""

import contextlib
import dataclasses
import select
import struct
import threading

import hosts
from frames import internet_checksum


@dataclasses.dataclass
class Datagram:
    """A UDP datagram in a frame, where its parts are. payload: what it carries, to be changed."""

    frame: bytearray
    ip: int
    udp: int
    payload: bytearray
    from_switch: bool
    fix: bool = True  # whether checksum and lengths are put right in the end

    @property
    def port(self):
        """The switch's UDP port."""
        return int.from_bytes(self.frame[self.udp + (0 if self.from_switch else 2):][:2], 'big')

    def bytes(self):
        """The frame, as it is now."""
        if not self.fix:
            return bytes(self.frame)
        head = bytearray(self.frame[:self.udp + 8])
        size = 8 + len(self.payload)
        head[self.udp + 4:self.udp + 6] = size.to_bytes(2, 'big')
        is_ipv4 = head[self.ip] >> 4 == 4
        if is_ipv4:
            total = self.udp - self.ip + size
            head[self.ip + 2:self.ip + 4] = total.to_bytes(2, 'big')
            head[self.ip + 10:self.ip + 12] = bytes(2)
            header = bytes(head[self.ip:self.udp])
            head[self.ip + 10:self.ip + 12] = internet_checksum(header).to_bytes(2, 'big')
            addresses = head[self.ip + 12:self.ip + 20]
        else:
            head[self.ip + 4:self.ip + 6] = size.to_bytes(2, 'big')
            addresses = head[self.ip + 8:self.ip + 40]
        if head[self.udp + 6:self.udp + 8] != bytes(2):
            head[self.udp + 6:self.udp + 8] = bytes(2)
            pseudo = bytes(addresses) + struct.pack('>HH', 17, size)
            total = internet_checksum(pseudo + bytes(head[self.udp:]) + bytes(self.payload))
            head[self.udp + 6:self.udp + 8] = (total or 0xFFFF).to_bytes(2, 'big')
        return bytes(head + self.payload).ljust(60, b'\0')


def parse(frame, from_switch):
    """The datagram in a frame; None: there is none."""
    at = 12
    while frame[at:at + 2] in (b'\x81\x00', b'\x88\xa8'):
        at += 4
    kind, ip = frame[at:at + 2], at + 2
    if kind == b'\x08\x00' and len(frame) >= ip + 28 and frame[ip + 9] == 17:
        udp = ip + (frame[ip] & 15) * 4
    elif kind == b'\x86\xdd' and len(frame) >= ip + 48 and frame[ip + 6] == 17:
        udp = ip + 40
    else:
        return None
    end = udp + int.from_bytes(frame[udp + 4:udp + 6], 'big')
    if len(frame) < end or end < udp + 8:
        return None
    return Datagram(bytearray(frame), ip, udp, bytearray(frame[udp + 8:end]), from_switch)


class Falsifier:
    """The wire. A context manager.

    lie: what is falsified: a function of a Datagram that changes it and returns the datagrams to send in its
    place, or None: itself. It sees what comes from the switch, and what goes to it where it asks
    `from_switch`. answer: a function of a frame of the host's that gives the frame which comes back
    of it, or None: it goes on.
    """

    def __init__(self, namespace, towards_host, towards_switch):
        self.lie = self.answer = None
        self.namespace, self.names = namespace, (towards_host, towards_switch)

    def __enter__(self):
        self.ends = [hosts.Wire(self.namespace, name) for name in self.names]
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        for end in self.ends:
            end.close()

    def _run(self):
        host, switch = self.ends
        while not self.stopped.is_set():
            for end in select.select(self.ends, [], [], 0.1)[0]:
                frame = end.receive()
                back = self.answer(frame) if self.answer and end is host else None
                if back is not None:
                    host.send(back)
                    continue
                other = host if end is switch else switch
                for made in self._falsified(frame, end is switch):
                    with contextlib.suppress(OSError):
                        other.send(made)

    def _falsified(self, frame, from_switch):
        datagram = parse(frame, from_switch) if self.lie else None
        if datagram is None:
            return [frame]
        made = self.lie(datagram)
        return [datagram.bytes()] if made is None else [each.bytes() for each in made]
