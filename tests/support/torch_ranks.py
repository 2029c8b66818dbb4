# SPDX-License-Identifier: BSD-3-Clause
"""Process groups of netfc.torch: a process for each rank, torch_rank.py."""

import atexit
import contextlib
import functools
import importlib.util
import json
import os
import select
import signal
import socket
import subprocess
import tempfile

import needs
import project_scripts
import pytest
import sanitized
import switch
from allreduce_server import serving

SUPPORT = project_scripts.PROJECT / 'tests' / 'support'
RANK = SUPPORT / 'torch_rank.py'
TIMEOUT_S = 1200
HAS_TORCH = importlib.util.find_spec('torch') is not None
NO_TORCH = '' if HAS_TORCH else 'torch is not installed (Debian: python3-torch)'

marks = [
    needs.skip_where(NO_TORCH),
    pytest.mark.skipif(sanitized.is_sanitized(), reason='torch does not load with the sanitizers'),
]


def environment(**more):
    """That of a rank or a store; Debian's torch is built without libuv."""
    return {**os.environ, 'NETFC_BUILD': str(switch.BUILD), 'OMP_NUM_THREADS': '1',
            'USE_LIBUV': '0',
            'PYTHONPATH': f'{project_scripts.PROJECT / "python"}:{SUPPORT}', **more}


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return server.getsockname()[1]


@functools.cache
def loaded():
    """The socket of torch_rank.py, which has loaded torch when it answers."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(['/usr/bin/python3', RANK], stdin=theirs, env=environment())
    atexit.register(lambda: (ours.close(), process.wait()))
    return ours


class Rank:
    """A process of torch_rank.py."""

    def __init__(self, words, variables):
        reading, writing = os.pipe()
        self.stdout = open(reading, encoding='utf-8')
        self._stderr = tempfile.TemporaryFile('r+')
        socket.send_fds(loaded(), [json.dumps([words, variables]).encode()],
                        [writing, self._stderr.fileno()])
        os.close(writing)
        _, (self._process,), *_ = socket.recv_fds(loaded(), 1, 1)

    def has_ended(self, timeout_s=None):
        return select.select([self._process], [], [], timeout_s)[0] != []

    def communicate(self):
        """The rest of stdout, and stderr."""
        said = self.stdout.read()
        self.has_ended()
        self._stderr.seek(0)
        return said, self._stderr.read()

    def end(self):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, signal.SIGKILL)
        self.has_ended()
        os.close(self._process)
        self.stdout.close()
        self._stderr.close()


@contextlib.contextmanager
def running(folder, size, words, address, present=None, **more):
    """The processes of all ranks, or of the first ones; killed in the end. address: of the switch, or a list with
    each rank's."""
    with contextlib.ExitStack() as stack:
        processes = []
        for rank in range(size if present is None else present):
            own = address[rank] if isinstance(address, list) else address
            processes.append(Rank(words, environment(**{
                'RANK': str(rank), 'WORLD_SIZE': str(size), 'STORE': str(folder / 'store'),
                **({'NETFC_SWITCH': own} if own else {}), **more})))
            stack.callback(processes[-1].end)
        yield processes


def ranks(folder, size, *words, present=None, server=None, **more):
    """What all ranks say, None for those that are killed, and their stderr.

    address: as running() has it, or else that of a server of their own with the options of `server`.
    """
    present = size if present is None else present
    more |= {'MEETING': tempfile.mkdtemp(dir=folder), 'PRESENT': str(present)}
    with contextlib.ExitStack() as stack:
        if 'address' not in more:
            more['address'] = stack.enter_context(serving(**server or {}))
        processes = stack.enter_context(running(folder, size, words, present=present, **more))
        told = [process.communicate() for process in processes]
    return [json.loads(out) if out else None for out, _ in told], [err for _, err in told]


def results(folder, size, *words, **options):
    said, errors = ranks(folder, size, *words, **options)
    for one, error in zip(said, errors):
        assert one is not None and 'result' in one, (one, error)
    return [one['result'] for one in said]


def failures(folder, size, *words, **options):
    """The errors' texts; all of them are told within the group's time-out."""
    said, errors = ranks(folder, size, *words, **options)
    for one, error in zip(said, errors):
        assert one is None or 'error' in one and one['seconds'] < 25, (one, error)
    return [one and one['error'] for one in said]
