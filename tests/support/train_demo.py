# SPDX-License-Identifier: BSD-3-Clause
"""scripts/demo training and any-number, as its user runs it, and where its tests can run."""

import importlib.util
import subprocess

import needs
import pytest

import project_scripts
import sanitized

TIMEOUT_S = 4000
MISSING = [name for name in ('torch', 'sklearn', 'matplotlib')
           if importlib.util.find_spec(name) is None]

NEEDS = [
    needs.skip_where(f'not installed: {", ".join(MISSING)}' if MISSING else ''),
    pytest.mark.skipif(sanitized.is_sanitized(), reason='torch does not load with the sanitizers'),
]


def run(*words, name='training'):
    """The ended demonstration."""
    return subprocess.run(
        [project_scripts.SCRIPTS / 'demo', name, *words], text=True,
        capture_output=True, env=sanitized.environment(), stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
