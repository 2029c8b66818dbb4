# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be written, or read, is said, by every program, with status 2."""

import contextlib
import os
import re
import subprocess

import pytest

import project_scripts
import sanitized
import switch

from controlled import controlled, netfc_ctl, running_switch  # a fixture, too
from fake_switch import FakeSwitch, TableSet
from programs import TIMING


def python(name):
    return project_scripts.PROGRAMS / f'netfc-{name}'


APP = switch.BUILD / 'app'
PYTHONS = [python(name) for name in ('client', 'ctl', 'demo', 'exporter', 'p4', 'top', 'conform')]
PROGRAMS = [APP / name for name in ('dpdk-netfc', 'netfc-bench', 'netfc-tables')] + PYTHONS
RESULTS = [
    [APP / 'netfc-tables', 'list'], [APP / 'netfc-tables', 'show', 'fp16_k4'],
    [APP / 'netfc-tables', 'calc', '--json', 'fp16_exact', 'add', '1', '2'], [APP / 'netfc-tables', '--version'],
    [project_scripts.SCRIPTS / 'netfc-errors', '--step', '65536', '--check', '65536', '--threads', '1', 'add', 'fp16_k4'],
    [switch.BUILD / TIMING, '--', '--time', 'tags', '--seconds', '0.001'], [APP / 'dpdk-netfc', '--version'],
]


def into(redirection, words, **options):
    """What the program ends with, and says on standard error."""
    line = f'exec "$@" {redirection}'
    done = subprocess.run(['bash', '-c', line, 'bash', *map(str, words)], stderr=subprocess.PIPE, text=True,
                          timeout=600, check=False, **options)
    return done.returncode, done.stderr


def closed_pipe():
    """A pipe that nobody reads."""
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def expect_lost(words, what='standard output', **options):
    program = os.path.basename(words[0])
    writer = closed_pipe()
    try:
        for status, said in (into('>/dev/full', words, **options), into('>&-', words, **options),
                             into('', words, stdout=writer, **options)):
            assert status == 2, (words, said)
            line, = said.splitlines()
            assert line.startswith(f'{program}: ') and what in line, said
    finally:
        os.close(writer)


@pytest.mark.parametrize('program', PROGRAMS, ids=[path.name for path in PROGRAMS])
@pytest.mark.parametrize('buffered', ['', '1'])
def test_help_that_is_lost(program, buffered):
    if program in PYTHONS or not buffered:
        expect_lost([program, '--help'], env=os.environ | {'PYTHONUNBUFFERED': buffered})


@pytest.mark.parametrize('words', RESULTS, ids=[' '.join(map(str, [words[0].name, *words[1:]])) for words in RESULTS])
def test_results_that_are_lost(words):
    expect_lost(words, env=sanitized.environment() if words[0].parent == project_scripts.SCRIPTS else None)


def test_results_of_a_capture_that_are_lost(tmp_path):
    from netfc import capture, protocol  # pylint: disable=import-outside-toplevel
    capture.write(tmp_path / 'requests.pcap', [capture.udp_frame(protocol.request(1, 1, [0x3C00] * 9))] * 9)
    words = [switch.BUILD / TIMING, *switch.eal_options(), '--', '--time', tmp_path / 'requests.pcap']
    status, said = into('>/dev/full', words, env=switch.ENVIRONMENT)
    assert status == 2 and 'No space left' in said.splitlines()[-1]


def test_results_of_clients_that_are_lost():
    with contextlib.closing(TableSet('fp16_exact')) as tables, FakeSwitch({1: tables}) as fake:
        server = ['--server', fake.address, '--port', fake.port]
        expect_lost([python('client'), 'add', '1', '2', *server])
        expect_lost([python('client'), 'add', '1', '2', '--json', *server])
        assert into('<&-', [python('client'), 'add', *server]) == (
            2, 'netfc-client: cannot read standard input: Bad file descriptor\n')


def test_what_a_running_switch_says_is_lost(tmp_path):
    with controlled(tmp_path, telemetry=True) as (live, _, control):
        expect_lost([python('ctl'), '--socket', control, 'show'])
        expect_lost([python('top'), '--telemetry', live.telemetry_path, '--once', '--interval', '0.1'])
        live.stop()


def test_a_file_name_that_is_no_utf8(running):
    done = netfc_ctl('--socket', running[2], 'capture', 'start', os.fsdecode(b'/tmp/caf\xe9'))
    assert done.returncode == 1 and 'not UTF-8' in done.stderr and 'caf\\xe9' in done.stderr


@pytest.mark.parametrize('name, shown', [(b'\xc3\xa9', '\\xe9'), (b'\xff', '\\udcff')])
def test_what_standard_output_has_no_letters_for(tmp_path, name, shown):
    done = subprocess.run([python('p4'), '-t', 'bmv2', '-o', os.fsdecode(name), 'fp16_k4'], cwd=tmp_path, text=True, check=False,
                          capture_output=True, timeout=600, env=os.environ | {'PYTHONIOENCODING': 'ascii'})
    assert (done.returncode, done.stderr) == (0, '') and f'wrote {shown}, ' in done.stdout
    assert os.listdir(os.fsencode(tmp_path)) == [name]


@pytest.mark.parametrize('words', [('ctl', 'capture', 'start', 'file'), ('demo', '--build', '.')], ids=' '.join)
def test_the_current_folder_is_gone(words):
    done = subprocess.run(['sh', '-c', 'cd "$(mktemp -d)" && rmdir "$PWD" && exec "$@"', 'sh', python(words[0]), *words[1:]],
                          text=True, check=False, capture_output=True, timeout=600)
    assert (done.returncode, done.stderr) == (2, f'netfc-{words[0]}: the current folder: No such file or directory\n')


@pytest.mark.parametrize('words', [
    ('ctl', '--socket', '', 'show'),
    ('top', '--telemetry', ''), ('top', '--file-prefix='), ('exporter', '--telemetry', ''), ('demo', '--build', ''),
    ('conform', '--pcap', '', '127.0.0.1'), ('p4', '--target', 'bmv2', '--output', '', 'fp16_k4')], ids=' '.join)
def test_a_value_that_is_empty_is_wrong_usage(words):
    """As of a variable of the shell that is not set: it must not mean another switch, or folder."""
    status, said = into('', [python(words[0]), *words[1:]])
    assert status == 1 and 'expected a value' in said


@pytest.mark.parametrize('words', [
    ('client', 'add', '1', '2', '--server', '::1', '--port', '1_000'), ('conform', '::1', '--token', '0b1'),
    ('conform', '::1', '--timeout', '1_0'), ('ctl', '--timeout', ' 5', 'show'), ('ctl', '--timeout', 'inf', 'show'),
    ('client', 'add', '1', '2', '--server', '::1', '--timeout', '1e999'),
    ('ctl', 'capture', 'start', '--snaplen', '1_000', 'file'), ('p4', '-t', 'bmv2', '-n', '\u0664', 'fp16_k4'),
    ('top', '--interval', '5 ')], ids=' '.join)
def test_a_number_is_made_of_digits(words):
    """Alone, as in the other programs: not of all that Python has for one."""
    status, said = into('', [python(words[0]), *words[1:]])
    assert status == 1 and re.search("': expected a (whole )?number\\b", said), said
