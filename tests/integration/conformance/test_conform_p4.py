# SPDX-License-Identifier: BSD-3-Clause
"""netfc-conform asks the P4 program, which runs as Python behind a UDP socket."""

import contextlib
import json
import socket
import subprocess
import sys
import threading

import pytest

import bmv2
import frames
import oracle
import p4_python
import project_scripts
import sanitized
import switch
import tiers

PROGRAM = project_scripts.PROGRAMS / 'netfc-conform'
REFLECT = bmv2.FORWARD['reflect']


class Bridge:
    """The program behind a socket: a datagram becomes a frame, and what comes back a datagram."""

    def __init__(self, options, commands):
        self.program = p4_python.Switch(bmv2.PROGRAM, *options)
        for command in commands.splitlines():
            self.program.command(command)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(('127.0.0.1', 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._serve)
        self.thread.start()

    def _serve(self):
        while True:
            payload, client = self.socket.recvfrom(65536)
            if not payload:
                return
            for _, reply in self.program.receive(frames.plain_frame(payload)):
                at = oracle.parse(reply)
                self.socket.sendto(reply[at.payload:at.end], client)

    def close(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as waker:
            waker.sendto(b'', ('127.0.0.1', self.port))
        self.thread.join()
        self.socket.close()


@pytest.mark.parametrize('name, options, export, only', [
    ('fp16_k1024', ['-DNETFC_COMPACT', '-DNETFC_LANES=8'], ['--layout', 'compact', '--lanes', '8'],
     '2001-2018,1101'),
    *tiers.later('long', ('bf16_exact', ['-DNETFC_FORMAT=3', '-DNETFC_EXACT', '-DNETFC_LANES=4'],
                          ['--layout', 'direct', '--lanes', '4'], '2009,1033')),
])
def test_what_it_offers_passes(name, options, export, only):
    with contextlib.closing(Bridge(options, REFLECT + bmv2.exported(name, *export))) as bridge:
        done = subprocess.run(
            [sys.executable, PROGRAM, '127.0.0.1', '--port', str(bridge.port), '--aggregate-port',
             str(bridge.port), '--tables', name, '--json', '--timeout', '60', '--only', only],
            text=True, capture_output=True, check=False, timeout=switch.TIMEOUT_S,
            env=switch.ENVIRONMENT | sanitized.environment())
    assert 'Traceback' not in done.stderr, done.stderr
    checks = json.loads(done.stdout)['checks']
    wrong = [(check['number'], check['verdict'], check['detail'], check.get('decoded')) for check in checks
             if check['verdict'] not in ('passed', 'not offered')]
    assert not wrong and done.returncode == 0
    computed = [check['verdict'] for check in checks if check['number'] < 2000]
    assert set(computed) == {'passed'}
    assert 'passed' in [check['verdict'] for check in checks if check['number'] == 2009]  # lanes
