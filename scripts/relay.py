# SPDX-License-Identifier: BSD-3-Clause
"""A bad link: takes frames from one interface to another in a network namespace. Needs root."""

import contextlib
import random
import select
import socket
import threading

EVERY_PROTOCOL = 0x0003
SOL_PACKET, PACKET_IGNORE_OUTGOING = 263, 23  # from linux/if_packet.h
UDP_AT, UDP = 23, 17
LONGEST = 65536
HELD_S = 0.01  # seconds that a frame waits at most for one to overtake it


class Relay:
    """Both ways; loses and doubles UDP over IPv4 at random, and lets others overtake it."""

    def __init__(self, loss, doubled, overtaken=0.0, seed=1):
        self._loss, self._doubled, self._overtaken = loss, doubled, overtaken
        self._draw = random.Random(seed)
        self._held = []
        self.lost = self.sent_twice = self.late = 0

    @contextlib.contextmanager
    def between(self, namespace, one, other):
        """Runs while the context lasts."""
        ends = [self._open(namespace, name) for name in (one, other)]
        stop = threading.Event()
        thread = threading.Thread(target=self._run, args=(ends, stop), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
            for end in ends:
                end.close()

    @staticmethod
    def _open(namespace, interface):
        end = namespace.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
        end.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        end.bind((interface, EVERY_PROTOCOL))
        return end

    def _run(self, ends, stop):
        other = dict(zip(ends, reversed(ends)))
        while not stop.is_set():
            ready = select.select(ends, [], [], HELD_S if self._held else 0.1)[0]
            for end in ready:
                self._pass_on(end.recv(LONGEST), other[end])
            if not ready:
                self._let_go()

    def _pass_on(self, frame, end):
        udp = len(frame) > 42 and frame[12:14] == b"\x08\x00" and frame[UDP_AT] == UDP
        if not udp:
            end.send(frame)
            return
        if self._draw.random() < self._loss:
            self.lost += 1
            return
        if self._draw.random() < self._doubled:
            self.sent_twice += 1
            end.send(frame)
        if self._draw.random() < self._overtaken:
            self.late += 1
            self._held.append((end, frame))
            return
        end.send(frame)
        if self._held and self._draw.random() < self._overtaken:
            self._let_go()

    def _let_go(self):
        for end, frame in self._held:
            end.send(frame)
        self._held.clear()
