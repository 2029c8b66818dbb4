#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A switch in a hundred lines: a UDP socket that adds numbers of fp16, and nothing else.

Written from docs/protocol.md alone, to see how little a switch needs to be one; it shares nothing
with the package or with libnetfc. By itself it listens on a port until it is ended:

    tests/support/small_switch.py 127.0.0.1 20038
"""

import socket
import struct
import sys
import threading

import numpy as np

HEADER = struct.Struct('>HBBBBHI')
MAGIC, VERSION, ADD, QUERY, FP16, REPLY = 0x4E46, 1, 1, 16, 1, 0x80
BAD_VERSION, BAD_OP, BAD_FORMAT, BAD_LENGTH, NO_QUERIES = 1, 2, 3, 4, 5
INVALID, OVERFLOW = 1, 4
QUIET_NAN = 0x7E00


def answer(request):
    """The reply to a datagram; None: it is no request."""
    if len(request) < 6 or request[:2] != MAGIC.to_bytes(2, 'big') or request[5] & REPLY:
        return None
    error = code(request)
    if error:
        return with_status(request, error << 4)
    count = HEADER.unpack_from(request)[5]
    x, y = (np.frombuffer(request, '>u2', count, 12 + 2 * count * operand) for operand in (0, 1))
    z, flags = add(x, y)
    at = 12 + 4 * count
    return with_status(request[:at] + z.astype('>u2').tobytes() + request[at + 2 * count:], flags)


def code(request):
    """What is wrong with a request, 0 for nothing; the first of them."""
    version, op, form = request[2:5]
    if version != VERSION:
        return BAD_VERSION
    if op not in (ADD, QUERY):
        return BAD_OP
    if form != FP16:
        return BAD_FORMAT
    if len(request) < HEADER.size:
        return BAD_LENGTH
    count = HEADER.unpack_from(request)[5]
    if count == 0 or len(request) < 12 + 6 * count:
        return BAD_LENGTH
    return NO_QUERIES if op == QUERY else 0


def with_status(request, status):
    """A request with the status of a reply."""
    return request[:5] + bytes([REPLY | status]) + request[6:]


def add(x, y):
    """Sums of encodings, and the flags of all lanes together."""
    with np.errstate(all='ignore'):
        a, b = (each.astype('u2').view(np.float16).astype('f8') for each in (x, y))
        z = (a + b).astype(np.float16)
    nan = np.isnan(z)
    was_nan = np.isnan(a) | np.isnan(b)
    overflow = np.isinf(z) & np.isfinite(a) & np.isfinite(b)
    flags = (INVALID if (nan & ~was_nan).any() else 0) | (OVERFLOW if overflow.any() else 0)
    return np.where(nan, QUIET_NAN, z.view('u2')).astype('u2'), flags


def serve(server, send=None):
    """Answers until an empty datagram comes. send: what sends a reply (to whom, and what)."""
    while True:
        request, client = server.recvfrom(65535)
        if not request:
            return
        reply = answer(request)
        if send is not None:
            send(request, reply, client)
        elif reply is not None:
            server.sendto(reply, client)


class SmallSwitch:
    """It in a thread, on a port of loopback's. A context manager. send: as of serve()."""

    def __init__(self, send=None):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(('127.0.0.1', 0))
        self.address, self.port = self.socket.getsockname()
        self._thread = threading.Thread(target=serve, args=(self.socket, send), daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b'', (self.address, self.port))
        self._thread.join()
        self.socket.close()


if __name__ == '__main__':
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind((sys.argv[1], int(sys.argv[2])))
        serve(listener)
