# SPDX-License-Identifier: BSD-3-Clause
"""What the demonstrations in network namespaces need of the machine."""

import os
import pathlib
import signal
import subprocess
import threading
from unittest import mock

import pytest

import children
import hosts
import namespaces
import programs
from command import CommandLine
from needs import needs_namespaces


@needs_namespaces
def test_system_programs_are_found_by_users_who_have_none_in_their_path(monkeypatch):
    """As on Debian, where /usr/sbin is in the PATH of root alone."""
    monkeypatch.setenv('PATH', '/usr/local/bin:/usr/bin:/bin')
    with namespaces.Namespace() as namespace:
        assert namespace.run('ethtool', '--version').startswith('ethtool ')
        process = namespace.start('ethtool', '--version', stdout=subprocess.PIPE, env={})
        assert process.communicate()[0].startswith('ethtool ')


@needs_namespaces
@pytest.mark.parametrize('how', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize('when', ['tried', 'used'])
def test_a_namespace_that_a_signal_comes_after_is_deleted(monkeypatch, how, when):
    """Before anything else can have it in a context, and also where namespaces are only tried."""
    made = []

    def make():
        made.append(namespaces.Namespace())
        os.kill(os.getpid(), how)

    if when == 'tried':
        monkeypatch.setattr(namespaces, 'why_not', make)
    with pytest.raises(SystemExit) as ended, CommandLine('demo', 'A test.').in_namespaces():
        make()
    assert ended.value.code == 128 + how
    assert len(made) == 1 and not pathlib.Path('/run/netns', made[0].name).exists()


def test_nothing_waits_on_for_a_child_after_a_signal():
    """The program would not end before its patience has."""
    host = mock.MagicMock()
    host.start.return_value.stdout.readline.side_effect = KeyboardInterrupt
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        children.Child(host, 'module', {}).listen()
    hosts.wait_until(lambda: set(threading.enumerate()) <= before, 'the end of the watchdog')


def test_a_command_that_a_signal_interrupts_can_end_what_it_has_started(tmp_path):
    """As mpirun and strace do: it is asked to end, not killed."""
    def interrupt():
        hosts.wait_until((tmp_path / 'begun').exists, 'the command')
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=interrupt).start()
    with pytest.raises(SystemExit), CommandLine('demo', 'A test.').told():
        programs.command('sh', '-c', 'trap "touch ended; exit" TERM; read it; touch begun; while :; do sleep 0.1; done',
                         given='started\n', cwd=tmp_path)
    assert (tmp_path / 'ended').exists()


@pytest.mark.parametrize('how', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_process_that_a_signal_comes_while_it_starts_is_not_left(monkeypatch, how):
    """Nobody has it then who could end it: while Popen() reads whether it has begun."""
    process = programs.Process.__new__(programs.Process)
    monkeypatch.setattr(os, 'read', lambda *_: os.kill(os.getpid(), how))
    with pytest.raises(SystemExit), CommandLine('demo', 'A test.').told():
        process.__init__(['sleep', '1000'])
    monkeypatch.undo()
    assert process.returncode == -signal.SIGKILL


def test_a_program_that_there_is_not_is_said():
    with pytest.raises(FileNotFoundError):
        programs.Process(['/nonexistent/program'])


def test_a_command_that_takes_too_long_is_ended_though_it_does_not_want_to(monkeypatch):
    monkeypatch.setattr(programs, 'END_S', 0.2)
    with pytest.raises(programs.CommandError, match='not done after 0.5 s'):
        programs.command('sh', '-c', 'trap "" TERM; exec sleep 1000', patience=0.5)


def test_a_signal_leaves_no_command_that_does_not_want_to_end(tmp_path):
    """It comes while the command is waited for, which has been asked to end."""
    def interrupt():
        hosts.wait_until((tmp_path / 'asked').exists, 'the end of the block')
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=interrupt).start()
    words = 'sh', '-c', 'trap "touch asked" TERM; echo; while :; do sleep 0.1; done'
    with pytest.raises(SystemExit), CommandLine('demo', 'A test.').told():
        with programs.ended(subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE)) as process:
            process.stdout.readline()
    assert process.returncode == -signal.SIGKILL


def test_a_namespace_that_cannot_be_deleted_is_told_in_words(monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    monkeypatch.setattr(namespaces, 'delete_rest', mock.Mock(side_effect=programs.CommandError('it is in use')))
    with pytest.raises(SystemExit, match='scripts/demo: it is in use'), CommandLine('demo', 'A test.').told():
        pass
    assert signal.getsignal(signal.SIGTERM) == before
