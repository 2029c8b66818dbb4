# SPDX-License-Identifier: BSD-3-Clause
"""Builds with the address sanitizer, whose library a process must load before all others."""

import os
import subprocess

import pytest

import switch

LIBRARY = switch.BUILD / 'lib' / 'netfc' / 'libnetfc.so.1'


def is_sanitized():
    """Whether the build under test is one."""
    return LIBRARY.exists() and b'__asan_init' in LIBRARY.read_bytes()


def environment():
    """What a process needs that loads libnetfc of the build under test."""
    variables = {**os.environ, 'NETFC_BUILD': str(switch.BUILD)}
    if is_sanitized():
        found = subprocess.run(['gcc', '-print-file-name=libasan.so'], text=True, check=True,
                               capture_output=True)
        variables['LD_PRELOAD'] = found.stdout.strip()
        variables['ASAN_OPTIONS'] = 'detect_leaks=0'
    return variables


# Of tests that load a library of the project into the test's own process. test_package.py runs some where the
# sanitizer comes first.
without_sanitizers = pytest.mark.skipif(
    is_sanitized() and 'LD_PRELOAD' not in os.environ, reason='libnetfc in a process without the sanitizer')
