# SPDX-License-Identifier: BSD-3-Clause
"""Builds with the address sanitizer, whose library a process must load before all others."""

import os
import subprocess

import switch

LIBRARY = switch.BUILD / 'lib' / 'netfc' / 'libnetfc.so.1'


def is_sanitized():
    """Whether the build under test is one."""
    return b'__asan_init' in LIBRARY.read_bytes()


def environment():
    """What a process needs that loads libnetfc of the build under test."""
    variables = {**os.environ, 'NETFC_BUILD': str(switch.BUILD)}
    if is_sanitized():
        found = subprocess.run(['gcc', '-print-file-name=libasan.so'], text=True, check=True,
                               capture_output=True)
        variables['LD_PRELOAD'] = found.stdout.strip()
        variables['ASAN_OPTIONS'] = 'detect_leaks=0'
    return variables
