# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed's own test cases, as installed with torch, with the back end "netfc": minutes, not
part of the quick suite."""

import importlib.util
import json
import os
import subprocess

import pytest

import project_scripts
import sanitized
import switch

PROGRAM = project_scripts.PROJECT / 'tests' / 'support' / 'torch_collectives.py'
SERVER = switch.BUILD / 'tests' / 'allreduce' / 'allreduce_serve'
TIMEOUT_S = 3600
SLOTS = 8192  # cases of several groups join as many jobs
LEAST = 60  # cases that are to run, or something is wrong with how they are chosen

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec('torch') is None,
                       reason='torch is not installed (Debian: python3-torch)'),
    pytest.mark.skipif(sanitized.is_sanitized(), reason='torch does not load with the sanitizers'),
]


def test_cases_of_torch(tmp_path):
    with subprocess.Popen([SERVER, '--slots', str(SLOTS)], text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as server:
        address = '127.0.0.1:' + server.stdout.readline().strip()
        done = subprocess.run(
            ['/usr/bin/python3', PROGRAM, '--json', tmp_path / 'told'], text=True,
            env={**os.environ, 'NETFC_SWITCH': address, 'NETFC_BUILD': str(switch.BUILD),
                 'PYTHONPATH': str(project_scripts.PROJECT / 'python')},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=TIMEOUT_S, check=False)
        server.stdin.close()
    print(done.stdout)
    told = json.loads((tmp_path / 'told').read_text())
    assert not told['failed'] and done.returncode == 0
    assert len(told['passed']) >= LEAST
