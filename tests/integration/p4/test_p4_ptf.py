# SPDX-License-Identifier: BSD-3-Clause
"""p4/ptf: the test for PTF, with a stand-in for PTF, as it is not installed."""

import os
import subprocess
import sys

import pytest

import project_scripts
import switch
from small_switch import SmallSwitch

TEST = project_scripts.PROJECT / 'p4' / 'ptf' / 'netfc_conform.py'
PTF = {'__init__.py': '', 'base_tests.py': 'from unittest import TestCase as BaseTest',
       'testutils.py': 'import os\ntest_param_get = os.environ.get'}


@pytest.mark.parametrize('spoilt', [False, True])
def test_it_fails_if_a_check_does(spoilt, tmp_path):
    def send(_, reply, client):
        if reply is not None:
            small.socket.sendto(reply[:2] + b'\7' + reply[3:] if spoilt else reply, client)

    (tmp_path / 'ptf').mkdir()
    for name, text in PTF.items():
        (tmp_path / 'ptf' / name).write_text(text)
    with SmallSwitch(send) as small:
        environment = {**switch.ENVIRONMENT, 'PYTHONPATH': str(tmp_path),
                       'PATH': f"{project_scripts.PROGRAMS}:{os.environ['PATH']}",
                       'conform': f'{small.address} --port {small.port} --aggregate-port {small.port}'
                                  ' --only 2002'}
        done = subprocess.run([sys.executable, '-m', 'unittest', TEST.stem], cwd=TEST.parent, text=True,
                              env=environment, capture_output=True, check=False)
    assert done.returncode == int(spoilt), done.stderr
    assert ('2002 unknown operations: failed' in done.stdout) == spoilt
