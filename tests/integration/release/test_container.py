# SPDX-License-Identifier: BSD-3-Clause
"""What the container image starts, in network namespaces in place of containers."""

import contextlib
import os
import pathlib
import pwd
import re
import shutil
import signal
import struct
import subprocess
import tempfile

import pytest

import sanitized
import switch
from hosts import Host, wait_until
from needs import AS_NOBODY, needs_namespaces, needs_nobody
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


def start(middle, *options, within=(), **more):
    prefix = f'netfc-container-{os.getpid()}'
    return middle.start(*within, FOLDER / 'netfc-on-interface', *options, stderr=subprocess.STDOUT,
                        stdout=subprocess.PIPE, env=environment(
                            NETFC_EAL_OPTIONS=f'--no-huge -m 512 --file-prefix {prefix}', **more))


@needs_namespaces
def test_switch_takes_the_addresses_of_the_interface(network, tmp_path):
    middle, host = network
    secret = tmp_path / 'token'
    secret.write_text(f'{TOKEN}\n')
    with ended(start(middle, '--aggregate')):
        wait_until(lambda: middle.is_watched('eth0'), 'the switch')
        for address in (middle.ipv4, middle.ipv6):
            answers(host, address)
        workers = [host.start(FOLDER / 'netfc-add-up', middle.ipv4, worker, 2, token,
                              stdout=subprocess.PIPE, env=environment()) for worker, token in enumerate((TOKEN, f'@{secret}'))]
        for number, worker in enumerate(workers):
            said = worker.communicate(timeout=TIMEOUT_S)[0]
            assert said == f'worker {number}: 100000 sums: 0.3 0.3 ...\n'


def answers(host, address):
    """The switch, under an address."""
    client = host.start(PROGRAMS / 'netfc-client', 'add', '1.5', '2.25', '--server', address,
                        '--timeout', '10', stdout=subprocess.PIPE, env=environment())
    assert client.communicate(timeout=TIMEOUT_S)[0] == '3.75\n'


def kernel_has(middle):
    """Addresses and routes beyond those that come with them."""
    shown = middle.ip('-oneline', 'address', 'show', 'dev', 'eth0')
    routes = [line for family in ('-4', '-6') for line in
              middle.ip(family, 'route', 'show', 'dev', 'eth0').splitlines() if 'kernel' not in line]
    return sorted(line.split()[3] for line in shown.splitlines()), routes


def all_that(middle):
    """What the kernel has, once that is three addresses, one of which it makes itself."""
    shown = kernel_has(middle)
    return len(shown[0]) == 3 and shown


@needs_namespaces
def test_killed_and_started_again_it_has_its_addresses(network):
    """As a pod's container; once it ends, the kernel has them again."""
    middle, host = network
    before = kernel_has(middle)
    container = ['unshare', '--pid', '--mount-proc', '--fork', '--kill-child']
    killed = start(middle, within=container)
    wait_until(lambda: middle.is_watched('eth0'), 'the switch')
    answers(host, middle.ipv4)
    assert kernel_has(middle)[0] == []
    killed.kill()
    killed.communicate(timeout=TIMEOUT_S)
    with ended(start(middle)) as again:
        assert any(line.startswith('Ready') for line in again.stdout)
        for address in (middle.ipv4, middle.ipv6):
            answers(host, address)
    assert set(kernel_has(middle)[0]) == {address for address in before[0] if not address.startswith('fe80:')}
    assert 'alias' not in middle.ip('link', 'show', 'eth0')


@needs_namespaces
@pytest.mark.parametrize('alias', ['', 'of somebody else'])
def test_a_start_that_fails_gives_addresses_and_routes_back(network, alias):
    middle, host = network
    middle.ip('link', 'set', 'eth0', 'alias', alias)
    middle.ip('route', 'add', 'default', 'via', host.ipv4)
    middle.ip('-6', 'route', 'add', 'default', 'via', host.ipv6)
    before = wait_until(lambda: all_that(middle), 'the address of the link')
    assert len(before[1]) == 2
    process = start(middle, '--match', 'nothing')
    said = process.communicate(timeout=TIMEOUT_S)[0]
    assert process.returncode == 1 and '--match' in said
    assert kernel_has(middle) == before
    assert ('alias' in middle.ip('link', 'show', 'eth0')) == bool(alias)


@pytest.fixture(name='capable')
def setpriv_with_capabilities():
    """A setpriv as the image has it: its file has NET_ADMIN and NET_RAW."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        (folder / 'run').mkdir()
        shutil.chown(folder / 'run', 'nobody')
        path = shutil.copy(shutil.which('setpriv'), folder)
        effective, net_admin, net_raw = 0x02000001, 1 << 12, 1 << 13  # linux/capability.h
        os.setxattr(path, 'security.capability', struct.pack('<5I', effective, net_admin | net_raw, 0, 0, 0))
        yield path, folder / 'run'


@needs_namespaces
@needs_nobody
def test_switch_of_another_user_than_root(network, capable):
    """With no more capabilities than the container has."""
    middle, host = network
    setpriv, runtime = capable
    unprivileged = [*AS_NOBODY, '--inh-caps=-all',
                    '--bounding-set=-all,+net_admin,+net_raw']
    more = {'NETFC_SETPRIV': setpriv, 'RUNTIME_DIRECTORY': str(runtime)}
    with ended(start(middle, within=unprivileged, **more)) as process:
        wait_until(lambda: middle.is_watched('eth0'), 'the switch')
        answers(host, middle.ipv4)
        status = pathlib.Path(f'/proc/{process.pid}/status').read_text()
        assert pwd.getpwnam('nobody').pw_uid == int(re.search(r'Uid:\s(\d+)', status)[1])
        assert int(re.search(r'CapPrm:\s(\w+)', status)[1], 16) == 1 << 12 | 1 << 13
        # As the image's HEALTHCHECK does.
        prefix = f'netfc-container-{os.getpid()}'
        asked = subprocess.run([PROGRAMS / 'netfc-top', '--once', '--interval', '0.1', '--file-prefix', prefix],
                               env=environment(**more), capture_output=True, text=True, check=False,
                               timeout=TIMEOUT_S)
        assert asked.returncode == 0 and 'packets/s' in asked.stdout, asked.stderr
        # As a liveness probe does.
        shown = subprocess.run([PROGRAMS / 'netfc-ctl', '--socket', runtime / 'control', 'show'], env=environment(),
                               capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
        assert shown.returncode == 0 and 'fp16_k1024' in shown.stdout, shown.stderr


@pytest.mark.parametrize('text, said', [('none', 'invalid token value'), (None, 'No such file or directory')])
def test_a_file_without_a_token(tmp_path, text, said):
    path = tmp_path / 'token'
    if text is not None:
        path.write_text(text)
    done = subprocess.run([FOLDER / 'netfc-add-up', '192.0.2.1', '0', '1', f'@{path}'], env=environment(),
                          capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    assert done.returncode == 2 and said in done.stderr


@pytest.mark.parametrize('words, complaint', [
    (('127.0.0.1', '2', '2', '7'), 'give 0 to 1'), (('127.0.0.1', '0', '2', '0'), 'token is 0')])
def test_a_worker_says_what_is_wrong(words, complaint):
    """In a line, not by a traceback."""
    done = subprocess.run([FOLDER / 'netfc-add-up', *words], env=environment(), capture_output=True, text=True,
                          check=False, timeout=TIMEOUT_S)
    assert done.returncode == 1 and complaint in done.stderr
    assert done.stderr.startswith('netfc-add-up: ') and done.stderr.count('\n') == 1


@needs_namespaces
def test_no_interface_or_one_without_an_address(network):
    middle, _ = network
    for interface, complaint in ('lo', 'lo has no address'), ('eth7', 'there is no interface eth7'):
        process = start(middle, NETFC_INTERFACE=interface)
        said = process.communicate(timeout=TIMEOUT_S)[0]
        assert process.returncode == 1 and said.startswith(f'netfc-on-interface: {complaint}; NETFC_INTERFACE names')


@needs_namespaces
@needs_nobody
@pytest.mark.parametrize('user, capabilities, complaint', [
    ((), '-all,+net_admin', 'lacks NET_ADMIN or NET_RAW; give it both: --cap-add'),
    (AS_NOBODY, '-all', 'lacks NET_ADMIN or NET_RAW; give it both: --cap-add'),
    ((*AS_NOBODY, '--no-new-privs'), '-all,+net_admin,+net_raw', 'no-new-privileges')])
def test_without_its_capabilities(network, capable, user, capabilities, complaint):
    """It says so, and the kernel keeps the addresses."""
    middle, _ = network
    before = wait_until(lambda: all_that(middle), 'the address of the link')
    setpriv, runtime = capable
    within = [*(user or ['setpriv']), '--inh-caps=-all', f'--bounding-set={capabilities}']
    process = start(middle, within=within, NETFC_SETPRIV=setpriv, RUNTIME_DIRECTORY=str(runtime))
    said = process.communicate(timeout=TIMEOUT_S)[0]
    assert process.returncode == 1 and complaint in said
    assert kernel_has(middle) == before


def test_compose_names_the_token_by_a_path():
    """podman-compose hands it to podman as it stands, which takes a mere name for that of a volume."""
    files = re.findall(r'^ *file: \$\{\w+:-(.*)\}$', (FOLDER / 'compose.yaml').read_text(), re.MULTILINE)
    assert files and all('/' in name for name in files)
