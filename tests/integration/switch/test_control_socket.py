# SPDX-License-Identifier: BSD-3-Clause
"""The control channel's socket, and netfc-ctl."""

import contextlib
import itertools
import json
import os
import pathlib
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time

import pytest

import hosts
import project_scripts
import switch
from controlled import connected, connection, controlled, netfc_ctl, running_switch  # fixtures, too
from needs import EMULATOR

from netfc import ControlError
from netfc.control import Control

MANUAL = project_scripts.PROJECT / 'docs' / 'man' / 'netfc-ctl.1'
LINE_BYTES = 4096
POLLED = 10  # descriptors: what ends the thread, what listens, eight clients


# ---- the socket ------------------------------------------------------------------------------


@pytest.mark.parametrize('line, said', [
    (b'', 'not valid JSON'), (b'{', 'not valid JSON'), (b'[]', 'an object'), (b'null', 'not valid JSON'),
    (b'{}', "'command' is missing"), (b'{"command": 1}', "'command' is missing"),
    (b'{"command": "fly"}', 'known commands: tables add functions add-functions set'), (b'{"command": "tables"}', "'sets'"),
    (b'{"command": "tables", "sets": ["fp16_k1"]}', "'sets'"), (b'\xff\xfe', 'not valid JSON'),
    (b'{"command": "show", "command": "stop"}', 'not valid JSON'), (b'[' * 4000, 'not valid JSON'),
    (b'\0' * 10, 'not valid JSON'), (b'{"command":"a\\\xcf\xb0"}', 'invalid escape')])
def test_lines_that_are_no_command(control, line, said):
    answer = control.exchange(line)
    assert answer['ok'] is False
    assert said in answer['error'] or said == 'an object' and 'object' in answer['error']
    assert control.do('show')


def test_a_line_that_is_too_long(running):
    with Control(running[2]) as control:
        assert control.exchange(b'x' * LINE_BYTES)['error'].startswith('not valid JSON')
        assert 'too long' in control.exchange(b'x' * (LINE_BYTES + 1))['error']
        with pytest.raises(ControlError):
            control.do('show')


def test_only_the_owner_may_open_it(running):
    assert stat.S_IMODE(os.stat(running[2]).st_mode) == 0o600


def test_clients_that_stall_or_leave_hold_up_nobody(running):
    """One asks and never reads, one sends half a line, one leaves in the middle of an answer."""
    with contextlib.ExitStack() as stack:
        stalled = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(6)]
        for client in stalled:
            client.connect(str(running[2]))
        with contextlib.suppress(OSError):
            for _ in range(10000):
                stalled[0].send(b'{"command":"show"}\n', socket.MSG_DONTWAIT)
        stalled[1].send(b'{"command":')
        stalled[2].send(b'{"command":"show"}\n')
        stalled[2].close()
        assert running[1].do('show')


def test_more_clients_than_it_serves(running):
    with contextlib.ExitStack() as stack:
        with pytest.raises(ControlError, match='too many clients'):
            for _ in range(10):
                stack.enter_context(Control(running[2])).do('show')
    assert running[1].do('show')


def test_clients_that_give_no_command_make_room(running):
    """After some seconds, for one that comes; who has given one may wait as long as he likes."""
    assert running[1].do('show')
    with contextlib.ExitStack() as stack:
        for _ in range(POLLED):
            client = stack.enter_context(socket.socket(socket.AF_UNIX))
            client.connect(str(running[2]))
            with contextlib.suppress(BrokenPipeError):
                client.sendall(b'{"command":')

        def served():
            with contextlib.suppress(ControlError), Control(running[2]) as control:
                return control.do('show')

        hosts.wait_until(served, 'a place')
        assert running[1].do('show')


def thread_of(pid, name):
    """The folder of the thread of that name in /proc; None as long as it has not got the name."""
    tasks = pathlib.Path(f'/proc/{pid}/task').iterdir()
    return next((task for task in tasks if (task / 'comm').read_text() == f'{name}\n'), None)


def cpu_seconds(task):
    """CPU time of a thread."""
    fields = (task / 'stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def next_descriptor(pid):
    """The one that the process would get next."""
    used = {int(name) for name in os.listdir(f'/proc/{pid}/fd')}
    return next(number for number in itertools.count() if number not in used)


def test_no_descriptor_left_for_a_client(tmp_path):
    """It waits for one, which takes no CPU time, and is served when there is one."""
    with controlled(tmp_path) as (live, control, path), contextlib.ExitStack() as stack:
        pid = live.process.pid
        thread = hosts.wait_until(lambda: thread_of(pid, 'netfc-control'), 'the thread')
        assert control.do('show')  # it has been accepted
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        while next_descriptor(pid) < POLLED:  # poll() wants to be allowed so many
            stack.enter_context(Control(path)).do('show')
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (next_descriptor(pid), limits[1]))
        waiting = [stack.enter_context(Control(path)) for _ in range(2)]
        before = cpu_seconds(thread)
        time.sleep(1)
        assert cpu_seconds(thread) - before < 0.3
        assert control.do('show')
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
        assert all(client.do('show') for client in waiting)
        assert live.stop()['mbufs_leaked'] == 0


def test_a_socket_that_was_left_behind_is_replaced(tmp_path):
    path = switch.RUNTIME / f'control-{next(hosts.numbers)}'
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    options = ['--match', 'direct', '--control', path]
    with hosts.LiveSwitch(tmp_path, ['net_null0,no-rx=1'], options) as live:
        hosts.wait_until(lambda: 'lcore' in live.stdout, 'the start')
        with Control(path) as control:
            assert control.do('show')
        live.stop()


def test_many_that_start_at_once_do_not_take_the_socket_from_each_other(tmp_path):
    """One of them serves, the others say that it is in use; an old socket is in nobody's way."""
    path = switch.RUNTIME / f'control-{next(hosts.numbers)}'
    # Each waits a second for those before it, in which an emulator starts few.
    many = 3 if EMULATOR else 12
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with contextlib.ExitStack() as stack:
        lives = [stack.enter_context(hosts.LiveSwitch(tmp_path, ['net_null0,no-rx=1'],
                                                      ['--control', path])) for _ in range(many)]
        hosts.wait_until(lambda: sum(live.process.poll() is None for live in lives) == 1,
                         'all but one to end')
        for live in lives:
            assert live.process.poll() in (None, 1) and 'Sanitizer' not in live.stderr
            assert (live.process.poll() is None) != ('in use' in live.stderr), live.stderr
        with hosts.wait_until(lambda: connected(path), 'the socket') as control:
            assert control.do('show')


@pytest.mark.parametrize('kind, said', [('file', 'in use'), ('served', 'in use'),
                                        ('missing folder', 'No such file'),
                                        ('long', 'too long')])
def test_paths_that_cannot_be_used(tmp_path, running, kind, said):
    """Told before anything starts; what is there stays."""
    path = {'file': tmp_path / 'file', 'served': running[2],
            'missing folder': tmp_path / 'missing' / 'control',
            'long': tmp_path / ('x' * 120)}[kind]
    if kind == 'file':
        path.write_text('mine')
    done = switch.execute([*switch.eal_options(['net_null0']), '--', '--control', path])
    assert done.returncode == 1 and said in done.stderr and '--control' in done.stderr
    if kind == 'file':
        assert path.read_text() == 'mine'
    assert running[1].do('show')


def test_a_path_that_is_served_by_one_that_takes_no_clients(tmp_path):
    """As one that is stopped: the second ends at once, and does not wait for it."""
    path = tmp_path / 'control'
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as waiting:
        listener.bind(str(path))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                client = waiting.enter_context(socket.socket(socket.AF_UNIX))
                client.setblocking(False)
                client.connect(str(path))
        done = switch.execute([*switch.eal_options(['net_null0']), '--', '--control', path])
        assert done.returncode == 1 and 'in use' in done.stderr


# ---- the command -----------------------------------------------------------------------------


def test_netfc_ctl(running):
    path = str(running[2])
    done = netfc_ctl('show', NETFC_CONTROL=path)
    assert done.returncode == 0 and json.loads(done.stdout)['tables']['fp16']
    assert netfc_ctl('--socket', path, 'tables', 'fp16_k1024').returncode == 0
    refused = netfc_ctl('--socket', path, 'tables', 'x')
    assert refused.returncode == 2
    assert 'Known table sets' in refused.stderr and 'fp16_exact_small' in refused.stderr
    assert netfc_ctl('--socket', path, 'fly').returncode == 1
    refused = netfc_ctl('--socket', path, 'set', 'slowloris-threshold', '0.001')
    assert refused.returncode == 2 and '--slowloris' in refused.stderr
    assert netfc_ctl('--socket', '/proc/nonexistent', 'show').returncode == 2


@pytest.mark.parametrize('command', ['capture start', 'tables', 'add', 'functions', 'add-functions'])
def test_a_name_that_is_empty(command):
    """That of an unset variable does not mean none: it took all functions away."""
    done = netfc_ctl('--socket', '/proc/nonexistent', *command.split(), '')
    assert done.returncode == 1 and "'': expected a name" in done.stderr, done.stderr


@pytest.mark.parametrize('seconds', ['0', '-1', 'nan', 'inf', '1e30', 'soon'])
def test_timeouts_that_cannot_be(seconds):
    done = netfc_ctl(f'--timeout={seconds}', '--socket', '/proc/nonexistent', 'show')
    assert done.returncode == 1 and '--timeout' in done.stderr, done.stderr


@pytest.mark.parametrize('answer', [b'', b'{"ok":tr', b'{"ok":true}'])
def test_an_answer_that_is_cut_short(tmp_path, answer):
    """What a client that was too slow to read gets of its answer, before it is left."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / 'socket'))
        listener.listen()
        with Control(tmp_path / 'socket') as control:
            client, _ = listener.accept()
            client.sendall(answer)
            client.close()
            with pytest.raises(ControlError, match='closed the connection'):
                control.do('show')


@contextlib.contextmanager
def answering(path, answer=b''):
    """A socket that says this to a command, and no more."""
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as clients:
        listener.bind(str(path))
        listener.listen()

        def serve():
            client = clients.enter_context(listener.accept()[0])
            client.recv(LINE_BYTES)
            client.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield
        thread.join()


@pytest.mark.parametrize('answer', [b'HTTP/1.1 400 Bad Request\r\n', b'\xff\n', b'[]\n', b'null\n', b'{}\n',
                                    b'{"ok":false}\n', b'{"error":""}\n'])
def test_what_answers_is_no_switch(tmp_path, answer):
    """The socket of another service."""
    with answering(tmp_path / 'socket', answer):
        done = netfc_ctl('--socket', str(tmp_path / 'socket'), 'show')
    assert done.returncode == 2
    assert done.stderr.startswith(f'netfc-ctl: {tmp_path}/socket: this is no answer of a switch: b')


def test_no_answer_in_time(tmp_path):
    """It may come later: the switch has taken the command."""
    with answering(tmp_path / 'socket'):
        done = netfc_ctl('--timeout', '0.5', '--socket', tmp_path / 'socket', 'tables', 'fp16_k1')
    assert done.returncode == 2
    assert done.stderr == f'netfc-ctl: {tmp_path}/socket: no answer within 0.5 s; the switch may do it all the same\n'


DRAINED = '''
import pathlib, socket, sys, time
path = pathlib.Path(sys.argv[1])
with socket.socket(socket.AF_UNIX) as listener:
    listener.bind(str(path))
    listener.listen()
    print('Ready', flush=True)
    client, _ = listener.accept()
    client.recv(4096)
    client.sendall(b'{"ok":true,"jobs":0}\\n')
    client.close()
time.sleep(1)
path.with_name('ended').touch()
'''


def test_a_drain_ends_after_the_switch(tmp_path):
    """It frees what the next one needs after it has left its clients."""
    with subprocess.Popen([sys.executable, '-c', DRAINED, tmp_path / 'socket'], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        assert netfc_ctl('--socket', str(tmp_path / 'socket'), 'drain').returncode == 0
        assert (tmp_path / 'ended').exists()


@pytest.mark.parametrize('is_seen', [True, False])
def test_a_drain_through_what_passes_it_on(tmp_path, monkeypatch, is_seen):
    """Such as ssh, which has the socket here, and stays; and where Python cannot wait for processes."""
    if is_seen:
        monkeypatch.setattr('netfc.control.END_S', 0.1)
    else:
        monkeypatch.delattr(os, 'pidfd_open')
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / 'socket'))
        listener.listen()
        with Control(tmp_path / 'socket') as control:
            listener.accept()[0].close()
            control.wait_for_end()


def test_a_drain_that_nobody_waits_for_any_more(tmp_path):
    with answering(tmp_path / 'socket', b'{"ok":true,"jobs":1}\n'):
        waits = subprocess.Popen(  # pylint: disable=consider-using-with
            [project_scripts.PROGRAMS / 'netfc-ctl', '--socket', tmp_path / 'socket', 'drain'], stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))  # pylint: disable=subprocess-popen-preexec-fn
        assert 'jobs to end: 1' in waits.stderr.readline()
        waits.send_signal(signal.SIGINT)
        assert waits.communicate(timeout=600)[1] == 'netfc-ctl: the switch goes on to drain\n'
    assert waits.returncode == 128 + signal.SIGINT


@pytest.mark.parametrize('command', ['tables', 'add'])
def test_paths_are_those_of_the_caller(running, tmp_path, command):
    """Whose folder is not that of the switch."""
    assert switch.execute(['build', '--output', tmp_path / 'x.netfc', 'fp16_k16'], switch.TABLE_BUILDER).returncode == 0
    done = netfc_ctl('--socket', running[2], command, 'bf16_k16,x.netfc', cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert running[1].do('show')['tables']['fp16']['origin'] == str(tmp_path / 'x.netfc')
    running[1].do('tables', sets='fp16_k1024')


def test_the_manual_page_has_all_of_netfc_ctl():
    manual = pathlib.Path(MANUAL).read_text().replace('\\-', '-')
    usage = ''.join(netfc_ctl(*words, '--help').stdout
                    for words in ([], ['set'], ['capture'], ['capture', 'start']))
    for word in ('--socket', '--timeout', 'tables', 'add', 'set', 'log', 'show', 'stop', 'ageing',
                 'idle-exit', 'slowloris-', 'capture', '--snaplen', '--packets', '--bytes',
                 'NETFC_CONTROL'):
        assert word in usage and word in manual, word
