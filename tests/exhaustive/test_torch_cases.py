# SPDX-License-Identifier: BSD-3-Clause
"""torch.distributed's own test cases, as installed with torch, with the back end "netfc": minutes, not
part of the quick suite."""

import json
import os
import subprocess

import project_scripts
import switch
from allreduce_server import serving
from torch_ranks import marks

PROGRAM = project_scripts.PROJECT / 'tests' / 'support' / 'torch_collectives.py'
TIMEOUT_S = 3600
SLOTS = 8192  # cases of several groups join as many jobs
LEAST = 60  # cases that are to run, or something is wrong with how they are chosen

pytestmark = marks


def test_cases_of_torch(tmp_path):
    with serving(slots=SLOTS) as address:
        done = subprocess.run(
            ['/usr/bin/python3', PROGRAM, '--json', tmp_path / 'told'], text=True,
            env={**os.environ, 'NETFC_SWITCH': address, 'NETFC_BUILD': str(switch.BUILD),
                 'PYTHONPATH': str(project_scripts.PROJECT / 'python')},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=TIMEOUT_S, check=False)
    print(done.stdout)
    told = json.loads((tmp_path / 'told').read_text())
    assert not told['failed'] and done.returncode == 0
    assert len(told['passed']) >= LEAST
