# SPDX-License-Identifier: BSD-3-Clause
"""Switches for the examples to talk to."""

import pytest

import hosts
from example_runs import Loopback, Tap
from fake_switch import FakeSwitch, TableSet

FP16 = 1


@pytest.fixture(name='loopback')
def loopback_switch():
    """fp16_k1024 on loopback."""
    tables = TableSet('fp16_k1024')
    with FakeSwitch({FP16: tables}) as server:
        yield Loopback(server)
    tables.close()


@pytest.fixture(name='tap')
def tap_switch(tmp_path):
    """fp16_k1024 in a running switch."""
    options = ['--tables', 'fp16_k1024', '--address', f'{hosts.SWITCH_IP}/24']
    with hosts.at_tap(tmp_path, options) as (host, live):
        yield Tap(host)
        live.stop()


@pytest.fixture(name='answering', params=[
    'loopback', pytest.param('tap', marks=hosts.needs_namespaces)])
def either_switch(request):
    """A switch that answers: address, port and run() of a command that reaches it."""
    return request.getfixturevalue(request.param)
