# SPDX-License-Identifier: BSD-3-Clause
"""A guest with two NICs of a kind, started once for all tests of the kind; --nic says which kinds."""

import shutil

import pytest

import hosts
import switch
from nic import guest, image
from table import Table, write


def why_not():
    """What is missing for a guest here; empty if nothing."""
    missing = [name for name in image.TOOLS if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)}: not installed; scripts/test-nic installs them"
    return hosts.NO_NAMESPACES


def pytest_addoption(parser):
    parser.addoption('--nic', default='all', help='kinds of NICs, separated by commas, or all (the default)')
    parser.addoption('--cables', type=int, default=20, help='how often a cable is pulled')
    parser.addoption('--pulls', type=int, default=2, help='how often a NIC is taken away, an even number')
    parser.addoption('--write', action='store_true', help='write the table into the document')


def pytest_configure(config):
    config.nic_table = Table()


def pytest_terminal_summary(terminalreporter, config):
    if config.nic_table.devices:
        terminalreporter.section('what was found')
        terminalreporter.write_line(config.nic_table.text())
    if config.getoption('--write'):
        write(config.nic_table.text())


def pytest_generate_tests(metafunc):
    if 'device' in metafunc.fixturenames:
        asked = metafunc.config.getoption('--nic')
        names = list(guest.DEVICES) if asked == 'all' else asked.split(',')
        metafunc.parametrize('device', names, indirect=True, scope='session')


@pytest.fixture(scope='session', name='device')
def device_(request):
    """The kind of NIC."""
    return request.param


@pytest.fixture(name='found')
def found_(request, device):
    """found(feature, cell) notes what the device has of a feature."""
    return lambda feature, cell='yes': request.config.nic_table.add(feature, device, cell)


@pytest.fixture(scope='session', name='archive')
def archive_(tmp_path_factory):
    """What a guest boots."""
    if why_not():
        pytest.skip(why_not())
    assert switch.PROGRAM.is_file(), f'{switch.PROGRAM} is missing: build it'
    return image.build(tmp_path_factory.mktemp('image'))


@pytest.fixture(scope='session', name='machine')
def machine_(archive, device, tmp_path_factory):
    """A guest, and the two hosts that its NICs are joined to."""
    if device not in guest.known_devices():
        pytest.skip(f'this QEMU has no {device}: QEMU 8 and newer have')
    with hosts.Host(0) as first, hosts.Host(1) as second:
        joined = [first, second]
        with guest.Guest(tmp_path_factory.mktemp('guest'), archive, device, joined) as started:
            for host in joined:
                host.ip('link', 'set', 'eth0', 'up')
            yield started, joined
