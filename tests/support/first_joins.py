# SPDX-License-Identifier: BSD-3-Clause
"""A switch that restarts while workers make their first join."""

import contextlib
import select
import socket
import subprocess
import threading

import hosts
from allreduce_server import SERVER

SEEN = 3  # replies, or requests, that show that a worker has come as far as it can


class Restarting:
    """Passes datagrams on between workers and a server, but one worker gets only so many replies
    until restart(). A context manager.

    passed: how many; 0: the job stays incomplete; 1, the cookie: it is complete, and that worker
    does not hear of it.
    """

    def __init__(self, workers, passed, inside=()):
        """inside: a command that runs the one after it in this thread's network namespace."""
        self._workers, self._passed, self._inside = workers, passed, list(inside)
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind(('127.0.0.1', 0))
        self.address = '127.0.0.1:{}'.format(self._front.getsockname()[1])
        self._backs = {}  # by a worker's address
        self._requests, self._replies = {}, {}
        self._new_back = self._backs_here()
        self._is_over = self._holds = True
        self._server = self._port = None
        self._thread = threading.Thread(target=self._run)

    def _backs_here(self):
        """Sockets for all workers, made in this thread's namespace."""
        return [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(4 * self._workers)]

    def __enter__(self):
        self._start(0)
        self._is_over = False
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_over = True
        self._thread.join()
        self._end()
        for one in (self._front, *self._new_back, *self._backs.values()):
            one.close()

    def _start(self, port):
        self._server = subprocess.Popen(
            [*self._inside, SERVER, '--port', str(port)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        self._port = int(self._server.stdout.readline())

    def _end(self):
        self._server.kill()
        self._server.communicate()

    def restart(self):
        """Once all workers have come as far as they can."""
        hosts.wait_until(self._are_far, 'the workers to come as far as they can')
        self._end()
        self._start(self._port)
        self._holds = False

    def _are_far(self):
        if len(self._backs) < self._workers:
            return False
        held, *others = list(self._backs)
        return (self._requests[held] > SEEN + self._passed
                and all(self._replies[worker] > SEEN for worker in others))

    def _run(self):
        while not self._is_over:
            back_of = {back: worker for worker, back in self._backs.items()}
            for ready in select.select([self._front, *back_of], [], [], 0.1)[0]:
                with contextlib.suppress(ConnectionError):  # nobody listens there now
                    if ready is self._front:
                        self._ask(*ready.recvfrom(65536))
                    else:
                        self._answer(ready.recv(65536), back_of[ready])

    def _ask(self, message, worker):
        if worker not in self._backs:
            self._requests[worker] = self._replies[worker] = 0
            self._backs[worker] = self._new_back.pop()
        self._requests[worker] += 1
        self._backs[worker].sendto(message, ('127.0.0.1', self._port))

    def _answer(self, message, worker):
        self._replies[worker] += 1
        is_held = self._holds and worker == next(iter(self._backs))
        if not is_held or self._replies[worker] <= self._passed:
            self._front.sendto(message, worker)
