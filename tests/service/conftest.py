# SPDX-License-Identifier: BSD-3-Clause
"""A booted machine for the tests of each file, with the packages; scripts/test-service makes its tree."""

import os
import pathlib

import pytest

from machine import Machine

TREE, PACKAGES = os.environ.get('NETFC_MACHINE'), os.environ.get('NETFC_PACKAGES')
NAMES = ('dpdk-netfc', 'dpdk-netfc-common', 'libnetfc1', 'libnetfc-allreduce0', 'python3-netfc')


@pytest.fixture(name='packages', scope='session')
def built_packages():
    """The files of those that are installed, by name."""
    if TREE is None:
        pytest.skip('scripts/test-service makes the machine')
    return {name: next(pathlib.Path(PACKAGES).glob(f'{name}_*.deb')) for name in NAMES}


@pytest.fixture(name='machine', scope='module')
def booted_machine(packages, tmp_path_factory):
    """As bare as its tree, but for the packages' files under /root/packages."""
    log = tmp_path_factory.mktemp('machine') / 'log'
    made = Machine(TREE, f'netfc-service-{os.getpid()}', log)
    try:
        for package in packages.values():
            made.write(f'/root/packages/{package.name}', package.read_bytes())
        yield made
    finally:
        made.stop()
