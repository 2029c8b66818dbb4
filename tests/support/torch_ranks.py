# SPDX-License-Identifier: BSD-3-Clause
"""Process groups of netfc.torch: a process for each rank, torch_rank.py."""

import importlib.util
import json
import os
import socket
import subprocess
import tempfile

import project_scripts
import switch

SUPPORT = project_scripts.PROJECT / 'tests' / 'support'
RANK = SUPPORT / 'torch_rank.py'
TIMEOUT_S = 1200
HAS_TORCH = importlib.util.find_spec('torch') is not None
NO_TORCH = '' if HAS_TORCH else 'torch is not installed (Debian: python3-torch)'


def environment(**more):
    """That of a rank or a store; Debian's torch is built without libuv."""
    return {**os.environ, 'NETFC_BUILD': str(switch.BUILD), 'OMP_NUM_THREADS': '1',
            'USE_LIBUV': '0',
            'PYTHONPATH': f'{project_scripts.PROJECT / "python"}:{SUPPORT}', **more}


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return server.getsockname()[1]


def started(folder, size, rank, words, address, more):
    """address: of the switch, or a list with each rank's."""
    if isinstance(address, list):
        address = address[rank]
    return subprocess.Popen(
        ['/usr/bin/python3', RANK, *words], text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(**{'RANK': str(rank), 'WORLD_SIZE': str(size),
                           'STORE': str(folder / 'store'),
                           **({'NETFC_SWITCH': address} if address else {}), **more}))


def ranks(folder, size, *words, address, present=None, **more):
    """What all ranks say, None for those that are killed, and their stderr."""
    present = size if present is None else present
    more |= {'MEETING': tempfile.mkdtemp(dir=folder), 'PRESENT': str(present)}
    processes = [started(folder, size, rank, words, address, more) for rank in range(present)]
    try:
        told = [process.communicate(timeout=TIMEOUT_S) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
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
