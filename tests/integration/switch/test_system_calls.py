# SPDX-License-Identifier: BSD-3-Clause
"""The filter of the packaged service covers the system calls that the switch makes."""

import json
import subprocess

import pytest

import project_scripts
import service_calls
from needs import needs_namespaces, needs_tap


def measured(*options):
    return project_scripts.run('system-calls', *options)


@pytest.mark.slow
@needs_namespaces
@needs_tap
def test_the_filter_covers_tap_and_af_packet(tmp_path):
    done = measured('--json', tmp_path / 'json', 'TAP', 'AF_PACKET')
    assert done.returncode == 0, done.stdout + done.stderr
    tap, packet = json.loads((tmp_path / 'json').read_text())
    assert 'writev' in tap['work'] and 'epoll_wait' in tap['work']  # it has sent, and slept
    assert 'sendto' in packet['work'] and 'epoll_wait' in packet['work']
    assert set(tap['refused']) | set(packet['refused']) <= set(service_calls.NOT_NEEDED)


@pytest.mark.parametrize('filters, allowed', [
    ('SystemCallFilter=@all read', {'read', 'write', 'bpf'}), ('SystemCallFilter=@small', {'read'}),
    ('SystemCallFilter=~@small\nSystemCallFilter=write', {'write'})])
def test_what_a_filter_allows(filters, allowed):
    groups = {'@all': {'@small', 'write', 'bpf'}, '@small': {'read'}}
    assert service_calls.allowed_by(filters, groups) == allowed


def test_groups_of_this_system():
    if subprocess.run(['systemd-analyze', '--version'], capture_output=True, check=False).returncode != 0:
        pytest.skip('systemd-analyze does not run here')
    groups = service_calls.filter_groups()
    allowed = service_calls.allowed_by('SystemCallFilter=@system-service', groups)
    assert {'read', 'epoll_wait', 'ioctl'} <= allowed and not {'iopl', 'bpf'} & allowed


def test_names_in_what_strace_writes():
    lines = ['12 read(3, "x", 1) = 1', '13 +++ exited with 0 +++', '12 <... poll resumed>) = 0', '7  iopl(3) = 0']
    assert service_calls.calls(lines) == {'read', 'iopl'}


def test_bad_options():
    done = measured('floppy')
    assert done.returncode == 1 and 'no kind of port floppy' in done.stderr
