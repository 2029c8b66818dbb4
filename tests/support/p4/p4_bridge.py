# SPDX-License-Identifier: BSD-3-Clause
"""A P4 program as Python behind a UDP socket: datagrams become frames, and frames datagrams."""

import random
import select
import socket
import threading

import p4_jobs
from netfc import protocol

HOST = '127.0.0.1'


class Bridge:
    """A context manager. program: a p4_python.Switch, which knows hosts as HOST.

    lost: which part of all datagrams is lost, of each way.
    """

    def __init__(self, program, udp_port=protocol.UDP_PORT, lost=0.0):
        self.program, self.udp_port, self.lost = program, udp_port, lost
        self.random = random.Random(1)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOST, 0))
        self.port = self.socket.getsockname()[1]
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._serve)

    @property
    def address(self):
        return f'{HOST}:{self.port}'

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        self.thread.join()
        self.socket.close()

    def _serve(self):
        while not self.stopped.is_set():
            if select.select([self.socket], [], [], 0.05)[0]:
                self._pass_on(*self.socket.recvfrom(65536))

    def _pass_on(self, payload, source):
        if self.random.random() < self.lost:
            return
        frame = p4_jobs.datagram((HOST, source[1]), (HOST, self.udp_port), payload)
        for _, reply in self.program.receive(frame):
            length = int.from_bytes(reply[38:40], 'big')
            if self.random.random() >= self.lost:
                self.socket.sendto(reply[42:34 + length], (HOST, int.from_bytes(reply[36:38], 'big')))
