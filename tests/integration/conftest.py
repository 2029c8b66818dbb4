# SPDX-License-Identifier: BSD-3-Clause
"""Stops the tests with one clear message where there is nothing to test."""

import signal

import pytest

import switch

# A shell without job control ignores interrupts in what it runs in the background, nohup that a terminal closes, and
# children inherit that: the programs under test would, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope='session', autouse=True)
def build():
    """The folder of the build under test; NETFC_BUILD names another."""
    for program in (switch.PROGRAM, switch.TABLE_BUILDER):
        if not program.is_file():
            pytest.exit(f'{program} is missing: build it with "meson setup build && ninja -C build"'
                        ' or let NETFC_BUILD name the folder of a build', returncode=1)
    return switch.BUILD
