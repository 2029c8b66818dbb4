# SPDX-License-Identifier: BSD-3-Clause
"""scripts/demo training and any-number, as its user runs it, and where its tests can run."""

import importlib.util

import needs
import pytest

import project_scripts
import sanitized

MISSING = [name for name in ('torch', 'sklearn', 'matplotlib')
           if importlib.util.find_spec(name) is None]

NEEDS = [
    needs.skip_where(f'not installed: {", ".join(MISSING)}' if MISSING else ''),
    pytest.mark.skipif(sanitized.is_sanitized(), reason='torch does not load with the sanitizers'),
]


def run(*words, name='training'):
    """The ended demonstration."""
    return project_scripts.run('demo', name, *words, **sanitized.environment())
