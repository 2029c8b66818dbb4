# SPDX-License-Identifier: BSD-3-Clause
"""A switch for tests of clients: a UDP socket on loopback that computes with libnetfc.

It can be told to lose, double, change and reorder what it answers.
"""

import socket
import subprocess
import threading

import numpy as np

import oracle
import switch
import table_builder

from netfc import protocol

FLAGS = ('invalid', 'division by zero', 'overflow', 'underflow')
CHUNK = 2000  # lanes whose lines fit into a pipe, whichever end reads first


class TableSet:
    """A table set of libnetfc, in a process of its own: a build with sanitizers needs one."""

    def __init__(self, name):
        self._process = subprocess.Popen(
            [switch.TABLE_BUILDER, 'calc', '--stream', '--hex', name], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def close(self):
        self._process.stdin.close()
        assert self._process.wait(switch.TIMEOUT_S) == 0
        self._process.stdout.close()

    def compute(self, op, x, y):
        """z of arrays of encodings and the flags of all lanes together; op by name."""
        z, flags = np.empty(len(x), dtype=x.dtype.newbyteorder('=')), 0
        for at in range(0, len(x), CHUNK):
            part = slice(at, at + CHUNK)
            answers = self._ask(op, x[part], y[part])
            z[part] = [int(words[3], 16) for words in answers]
            flags |= np.bitwise_or.reduce([int(words[4], 16) for words in answers])
        return z, int(flags)

    def _ask(self, op, x, y):
        self._process.stdin.writelines(f'{op} {a:x} {b:x}\n' for a, b in zip(x, y))
        self._process.stdin.flush()
        return [self._process.stdout.readline().split() for _ in x]


def slot_type(form):
    """How a slot of a format stands in a datagram."""
    return np.dtype('>u4' if form == oracle.FP32 else 'u1' if form in oracle.NARROW else '>u2')


def operands(request):
    """x, y and z of a request, as arrays; behind each may be a byte that fills up."""
    _, _, _, form, _, count, _ = protocol.HEADER.unpack_from(request)
    size = slot_type(form).itemsize * count
    size += size % 2
    starts = (protocol.HEADER.size + operand * size for operand in range(3))
    return [np.frombuffer(request, slot_type(form), count, start) for start in starts]


def with_status(request, code=0, flags=0):
    """The reply of a switch that computes nothing."""
    reply = bytearray(request)
    reply[protocol.STATUS_OFFSET] = protocol.REPLY | code << protocol.CODE_SHIFT | flags
    return bytes(reply)


def with_z(reply, z):
    """A reply with these results."""
    new = np.asarray(z, dtype=slot_type(reply[4])).tobytes()
    at = protocol.HEADER.size + 2 * (len(new) + len(new) % 2)
    return reply[:at] + new + reply[at + len(new):]


class Function:
    """A function that a fake switch has loaded: number, and entries by format number."""

    def __init__(self, number, *operands):
        """operands: a format and a function, or a file, as netfc-tables show takes them."""
        self.number = number
        entries = table_builder.run_json('show', *operands)
        z = [int(entry['result']['bits'], 16) for entry in entries]
        flags = [sum(1 << FLAGS.index(flag) for flag in entry['result']['flags'])
                 for entry in entries]
        self.entries = np.array(z, np.uint16), np.array(flags, np.uint8)

    def compute(self, x):
        """z and the flags of all lanes together."""
        z, flags = (entries[x] for entries in self.entries)
        return z, int(np.bitwise_or.reduce(flags))


class FakeSwitch:
    """Answers on a port of its own until the end of a with statement.

    tables: TableSet by format number. functions: Function by name, of fp16. mangle: what to send instead of a reply, a function from a
    request and its reply to a list of datagrams. requests: all that came.
    """

    def __init__(self, tables, mangle=None, address='127.0.0.1', functions=None):
        self.tables = tables
        self.mangle = mangle or (lambda request, reply: [reply])
        self.functions = functions or {}
        self.requests = []
        family = socket.AF_INET6 if ':' in address else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self._socket.bind((address, 0))
        self.address, self.port = self._socket.getsockname()[:2]
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        with socket.socket(self._socket.family, socket.SOCK_DGRAM) as waker:
            waker.sendto(b'', (self.address, self.port))
        self._thread.join()
        self._socket.close()

    def _serve(self):
        while True:
            request, client = self._socket.recvfrom(65535)
            if not request:
                return
            self.requests.append(request)
            for datagram in self.mangle(request, self.answer(request)):
                self._socket.sendto(datagram, client)

    def answer(self, request):
        """The reply to a request without mistakes."""
        _, _, op, form, *_ = protocol.HEADER.unpack_from(request)
        slots = operands(request)
        if op == protocol.NAME:
            name = slots[0].tobytes() + slots[1].tobytes()
            return self.answer_name(request, name.rstrip(b'\0').decode())
        if op in oracle.EXTENDED:
            results = [oracle.calc_extended(form, op, *map(int, lane)) for lane in zip(*slots)]
            z, flags = (np.array(part) for part in zip(*results))
            return with_z(with_status(request, flags=int(np.bitwise_or.reduce(flags))), z)
        if op > protocol.QUERY:
            return self.answer_function(request, op, form, slots[0])
        if form not in self.tables:
            return with_status(request, protocol.Code.FORMAT)
        if op == protocol.QUERY:
            return with_status(request, protocol.Code.QUERY)
        z, flags = self.tables[form].compute(protocol.OP_NAMES[op], slots[0], slots[1])
        return with_z(with_status(request, flags=flags), z)

    def answer_name(self, request, name):
        """The number of a function by its name."""
        if name not in self.functions:
            return with_status(request, protocol.Code.OP)
        z = np.zeros(protocol.NAME_LANES, np.uint16)
        z[0] = self.functions[name].number
        return with_z(with_status(request), z)

    def answer_function(self, request, op, form, x):
        """f(x) of every lane."""
        found = [function for function in self.functions.values() if function.number == op]
        if not found or form != protocol.FORMAT_IDS['fp16']:
            return with_status(request, protocol.Code.FORMAT if found else protocol.Code.OP)
        z, flags = found[0].compute(x)
        return with_z(with_status(request, flags=flags), z)
