# SPDX-License-Identifier: BSD-3-Clause
"""Priorities of what the switch says, where systemd's journal reads it."""

import os
import re
import socket
import subprocess

import pytest

import switch


def run_with(arguments, journal):
    """The lines on stderr of a switch whose stderr is a socket, which is the journal's, or is not."""
    ours, its = socket.socketpair()
    status = os.fstat(its.fileno())
    inode = status.st_ino if journal else status.st_ino + 1
    with ours, subprocess.Popen(
            [switch.PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=its, env={**switch.ENVIRONMENT, 'JOURNAL_STREAM': f'{status.st_dev}:{inode}'}) as process:
        its.close()
        ours.settimeout(switch.TIMEOUT_S)
        with ours.makefile('r') as said:
            lines = said.read().splitlines()
        process.wait(switch.TIMEOUT_S)
    return lines


DPDK = [int(number) for number in subprocess.run(
    ['pkg-config', '--modversion', 'libdpdk'], text=True, capture_output=True, check=True,
    timeout=600).stdout.strip().split('.')[:2]]
RING = [*switch.eal_options(['net_ring0']), '--', '--match', 'direct', '--idle-exit', '1']
WRONG = [*RING, '--tables', 'fp17_k1']  # a message of many lines
LATE = [*RING, '--forward', 'bridge']  # one after the EAL's


@pytest.mark.parametrize('arguments, said', [
    (WRONG, "dpdk-netfc: table set 'fp17_k1'"), (LATE, 'dpdk-netfc: --forward bridge'),
    (['--bogus'], 'dpdk-netfc')], ids=['wrong', 'late', 'usage'])
def test_errors_have_the_priority_of_errors(arguments, said):
    lines = run_with(arguments, True)
    assert any(line.startswith(f'<3>{said}') for line in lines), lines
    own = [line for line in lines if not re.match('<[0-7]>[A-Z_]+: |[A-Z_]+: ', line)]
    assert all(line.startswith('<3>') and not line.startswith('<3><') for line in own), own


@pytest.mark.skipif(DPDK >= [24, 11], reason='this DPDK speaks to the journal itself')
def test_the_log_s_lines_have_their_own():
    lines = [line for line in run_with(LATE, True) if 'EAL: ' in line]
    assert lines and all(re.match('<[4-7]>EAL: ', line) for line in lines), lines


def test_nobody_else_sees_priorities():
    for lines in (run_with(WRONG, False), switch.execute(WRONG).stderr.splitlines()):
        assert lines and not any(line.startswith('<') for line in lines)
