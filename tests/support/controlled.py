# SPDX-License-Identifier: BSD-3-Clause
"""A running switch with a control channel."""

import contextlib
import os
import subprocess

import pytest

import hosts
import project_scripts
import switch

from netfc import ControlError
from netfc.control import Control


def connected(path):
    """A connection to the control channel, or None while nobody listens yet."""
    try:
        return Control(path)
    except ControlError:
        return None


@contextlib.contextmanager
def controlled(folder, vdevs=('net_null0,no-rx=1',), options=('--match', 'direct'), **more):
    """A switch with a control channel, and a connection to it."""
    path = switch.RUNTIME / f'control-{next(hosts.numbers)}'
    with hosts.LiveSwitch(folder, vdevs, [*options, '--control', path], **more) as live:
        with hosts.wait_until(lambda: connected(path), 'the socket') as control:
            yield live, control, path


@pytest.fixture(name='running', scope='module')
def running_switch(tmp_path_factory):
    """A switch, a connection to its control channel, and the channel's path, for all tests of a
    file; it stops when they are done, and takes the socket away."""
    with controlled(tmp_path_factory.mktemp('control')) as (live, control, path):
        yield live, control, path
        live.stop()
    assert not path.exists()


@pytest.fixture(name='control')
def connection(running):
    """The connection to that switch."""
    return running[1]


def netfc_ctl(*arguments, cwd=None, **environment):
    """Runs netfc-ctl."""
    return subprocess.run([project_scripts.PROGRAMS / 'netfc-ctl', *arguments], text=True,
                          capture_output=True, timeout=600, check=False, cwd=cwd,
                          env={**os.environ, **environment})
