# SPDX-License-Identifier: BSD-3-Clause
"""What the container image starts, in network namespaces in place of containers."""

import contextlib
import os
import signal
import subprocess

import pytest

import sanitized
import switch
from hosts import Host, wait_until
from needs import needs_namespaces
from project_scripts import PROGRAMS, PROJECT

FOLDER = PROJECT / 'packaging' / 'container'
TIMEOUT_S = 1200
TOKEN = 1234567890123456789


def environment(**more):
    return {**sanitized.environment(), 'PYTHONPATH': str(PROJECT / 'python'),
            'PATH': f"{switch.BUILD / 'app'}:{os.environ['PATH']}", **more}


@contextlib.contextmanager
def ended(process):
    """A process that is told to end, and does so without an error."""
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 0, 'the switch has failed'
    finally:
        process.kill()
        process.wait()


@pytest.fixture(name='network')
def two_hosts():
    """One with what is to be the switch's address, and one beside it."""
    with Host(99) as middle, Host(0) as host:
        host.ip('link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', middle.name)
        for each in (middle, host):
            each.configure()
        yield middle, host


def start(middle, *options, **more):
    prefix = f'netfc-container-{os.getpid()}'
    return middle.start(FOLDER / 'netfc-on-interface', *options, stderr=subprocess.STDOUT,
                        stdout=subprocess.PIPE, env=environment(
                            NETFC_EAL_OPTIONS=f'--no-huge -m 512 --file-prefix {prefix}', **more))


@needs_namespaces
def test_switch_takes_the_addresses_of_the_interface(network):
    middle, host = network
    with ended(start(middle, '--aggregate')):
        wait_until(lambda: middle.is_watched('eth0'), 'the switch')
        for address in (middle.ipv4, middle.ipv6):
            client = host.start(PROGRAMS / 'netfc-client', 'add', '1.5', '2.25', '--server', address,
                                '--timeout', '10', stdout=subprocess.PIPE, env=environment())
            assert client.communicate(timeout=TIMEOUT_S)[0] == '3.75\n'
        workers = [host.start(FOLDER / 'netfc-add-up', middle.ipv4, worker, 2, TOKEN,
                              stdout=subprocess.PIPE, env=environment()) for worker in range(2)]
        for number, worker in enumerate(workers):
            said = worker.communicate(timeout=TIMEOUT_S)[0]
            assert said == f'worker {number}: 100000 sums: 0.3 0.3 ...\n'


@needs_namespaces
def test_interface_without_an_address(network):
    middle, _ = network
    process = start(middle, NETFC_INTERFACE='lo')
    said = process.communicate(timeout=TIMEOUT_S)[0]
    assert process.returncode == 1 and 'lo has no address; NETFC_INTERFACE names' in said
