# SPDX-License-Identifier: BSD-3-Clause
"""A plain parameter server over TCP: adds up all workers' vectors and sends each the sum.

server.py OPTIONS, a JSON object. It adds what has come of all and sends it on, piece by piece,
while the rest comes in, so that its link is busy both ways. A message is its number of values, then
these.
"""

import json
import queue
import socket
import struct
import sys
import threading

import numpy

PORT = 29600
LENGTH = struct.Struct("=Q")
PIECE = 16384  # values


def receive_into(connection, memory):
    """All of it. False where the other side has hung up."""
    view = memoryview(memory).cast("B")
    while len(view) > 0:
        got = connection.recv_into(view)
        if got == 0:
            return False
        view = view[got:]
    return True


class Connection:
    """A worker's side."""

    def __init__(self, made):
        self._socket = made
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def reduce(self, values):
        """In place. The sum's beginning comes back while the end is being sent."""
        sent = values.copy()
        sender = threading.Thread(
            target=lambda: self._socket.sendall(LENGTH.pack(sent.size) + sent.tobytes()))
        sender.start()
        done = receive_into(self._socket, values)
        sender.join()
        if not done:
            raise ConnectionError("the server has hung up")

    def close(self):
        """Hangs up."""
        self._socket.close()


def connect(address):
    """A connection to the server, which may be about to start."""
    for _ in range(1000):
        try:
            return Connection(socket.create_connection((address, PORT), 20))
        except ConnectionRefusedError:
            threading.Event().wait(0.02)
    raise ConnectionError("the server does not start")


def send_sums(connection, pieces):
    """A worker's sums, as they come; None ends them."""
    for piece in iter(pieces.get, None):
        connection.sendall(piece)


def serve(connections):
    """Until the first hangs up."""
    queues = [queue.SimpleQueue() for _ in connections]
    senders = [threading.Thread(target=send_sums, args=pair, daemon=True)
               for pair in zip(connections, queues)]
    for sender in senders:
        sender.start()
    lengths = bytearray(LENGTH.size)
    while all(receive_into(connection, lengths) for connection in connections):
        left = LENGTH.unpack(lengths)[0]
        while left > 0:
            count = min(left, PIECE)
            piece = numpy.empty((len(connections), count), numpy.float32)
            for connection, row in zip(connections, piece):
                if not receive_into(connection, row):
                    return
            total = piece.sum(axis=0).tobytes()
            for pieces in queues:
                pieces.put(total)
            left -= count
    for pieces in queues:
        pieces.put(None)
    for sender in senders:
        sender.join()


def main():
    """The command line."""
    options = json.loads(sys.argv[1])
    with socket.create_server((options["address"], PORT)) as listening:
        connections = [listening.accept()[0] for _ in range(options["workers"])]
    for connection in connections:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    serve(connections)


if __name__ == "__main__":
    main()
