# SPDX-License-Identifier: BSD-3-Clause
"""Where things are in the source tree, whose scripts can be run; tests/pytest.ini says what can be imported."""

import os
import pathlib
import subprocess

import switch

PROJECT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = PROJECT / 'scripts'
PROGRAMS = PROJECT / 'python' / 'bin'
TIMEOUT_S = 4000


def run(script, *words, **variables):
    """A script, run to its end with the build under test. variables: of its environment, too."""
    return subprocess.run([SCRIPTS / script, *map(str, words)], text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False,
                          env={**os.environ, 'NETFC_BUILD': str(switch.BUILD), **variables})
