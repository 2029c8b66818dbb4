# SPDX-License-Identifier: BSD-3-Clause
"""The file of --init: commands that are done at start and again, all of them or none."""

import os
import signal

import pytest

import frames
import hosts
import switch
from controlled import controlled, netfc_ctl

from netfc import ControlError

pytestmark = pytest.mark.xdist_group('init_file')  # one process starts the switch

PORTS = ['net_null0,no-rx=1', 'net_null1,no-rx=1']
BRIDGE = ['--match', 'direct', '--forward', 'bridge', '--slowloris']
GOOD = """\
# What this switch is to compute.
tables fp16_k512,bf16_k128
  add   posit16_k512	# one more

functions none
add-functions rsqrt,exp
set ageing 60
set idle-exit 0
set slowloris-threshold 0.25
set slowloris-policy connection
set slowloris-dry-run on
log pmd.net.* debug
"""


def state(control):
    """What a file can change, as netfc-ctl shows it."""
    shown = control.do('show')
    rules = shown['config']['slowloris']
    return (sorted(table['set'] for table in shown['tables'].values()), sorted(shown['functions']),
            shown['config']['ageing_s'], shown['config']['idle_exit_ms'], rules)


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.fixture(name='ready', scope='module')
def ready_switch(tmp_path_factory):
    """A switch that has done GOOD, a connection to it, and its file, which tests replace."""
    folder = tmp_path_factory.mktemp('init')
    path = write(folder / 'init', GOOD)
    with controlled(folder, PORTS, options=[*BRIDGE, '--init', path]) as (live, control, socket):
        yield live, control, path, socket
        live.stop()


def test_a_file_is_done_at_start(ready):
    _, control, path, _ = ready
    write(path, GOOD)
    control.do('reload')
    shown = control.do('show')
    assert state(control)[:4] == (['bf16_k128', 'fp16_k512', 'posit16_k512'], ['exp', 'rsqrt'], 60, 0)
    assert shown['config']['slowloris']['threshold'] == '0.25'
    assert shown['config']['slowloris']['policy'] == 'connection'
    assert shown['config']['slowloris']['dry_run'] == 1


def test_what_was_set_since_is_set_back(ready):
    _, control, path, socket = ready
    write(path, GOOD)
    control.do('reload')
    before = state(control)
    control.do('tables', sets='fp16_k1')
    control.do('set', name='ageing', value=7)
    assert state(control) != before
    done = netfc_ctl('--socket', socket, 'reload')
    assert done.returncode == 0 and str(path) in done.stdout, done.stderr
    assert state(control) == before


WRONG = [
    ('tables fp17_k1', "table set 'fp17_k1'"), ('tables fp16_k1,fp16_k2', 'one set per'),
    ('add /proc/nonexistent.netfc', 'No such file'), ('functions tangent', "function 'tangent'"),
    ('set ageing 0', "'value' of ageing: expected a number from 1"), ('set ageing x', "'value' of ageing"),
    ('set speed 1', "unknown setting 'speed'"), ('set slowloris-threshold 2', 'slowloris-threshold'),
    ('set slowloris-connections 100000', 'slowloris-table'), ('set ageing', "'set' takes 2 words, not 1"),
    ('tables', "'tables' takes 1 word, not 0"), ('tables a b c d', 'not at least 3'),
    ('log pmd.* loud', "'level': expected one of"), ('fly away', "'fly' is no command for a file; those are: tables"),
    ('stop', "'stop' is no command for a file"), ('show', 'no command'), ('capture start /tmp/x', 'no command'),
    (b'add caf\xe9.netfc', 'not UTF-8'), (b'add bf16_k1\0', 'there is a NUL in it'),
    (b'#' * 20000, 'it is too long'),
    ('tables ' + 5000 * 'x', 'fp16_k1'),
]


@pytest.mark.parametrize('line, said', WRONG, ids=range(len(WRONG)))
def test_a_wrong_line_names_itself_and_nothing_is_done(ready, line, said):
    """Wherever it is: what is before it and after it is not done either."""
    live, control, path, _ = ready
    good = b'tables fp16_k64\nset ageing 5\nset slowloris-time 3\nfunctions sqrt\n'
    line = line if isinstance(line, bytes) else line.encode()
    before = state(control)
    for at, text in enumerate((line + b'\n' + good, good + line, good + b'\n\n' + line + b'\n' + good)):
        write(path, text)
        with pytest.raises(ControlError) as refused:
            control.do('reload')
        assert str(refused.value).startswith(f'dpdk-netfc: {path}:{(1, 5, 7)[at]}: ')
        assert said in str(refused.value)
        assert state(control) == before
    live.check_alive()


def test_hang_up_does_the_file_again(ready):
    live, control, path, _ = ready
    write(path, 'set ageing 11\n')
    live.process.send_signal(signal.SIGHUP)
    hosts.wait_until(lambda: control.do('show')['config']['ageing_s'] == 11, 'the reload')
    hosts.wait_until(lambda: f'Did the commands of {path} again' in live.stdout, 'the word')
    write(path, 'set ageing 12\nset ageing 0\n')
    live.process.send_signal(signal.SIGHUP)
    live.wait_for_message(f'dpdk-netfc: {path}:2: ')
    live.wait_for_message('dpdk-netfc: nothing has changed')
    assert control.do('show')['config']['ageing_s'] == 11
    path.unlink()
    live.process.send_signal(signal.SIGHUP)
    live.wait_for_message(f"--init '{path}': No such file or directory")
    live.check_alive()


def test_without_a_file_hang_up_ends_the_switch_with_its_report(tmp_path):
    with controlled(tmp_path) as (live, control, _):
        with pytest.raises(ControlError, match='there is no file of commands'):
            control.do('reload')
        live.process.send_signal(signal.SIGHUP)
        live.wait()
        assert 'packets received' in live.stdout


@pytest.mark.parametrize('text, said', [
    ('tables fp16_k2\nset ageing 5', ':2: there is no bridge; --forward bridge makes one'),
    ('\n\nfly', ":3: 'fly' is no command"),
    ('set slowloris-time 1', ':1: there is no Slowloris detector'), (None, "': No such file or directory"),
    ('.', "': Is a directory")])
def test_a_switch_does_not_start_with_a_wrong_file(tmp_path, text, said):
    path = tmp_path / ('.' if text == '.' else 'init')
    if text not in (None, '.'):
        write(path, text)
    done = switch.execute([*switch.eal_options(['net_null0']), '--', '--match', 'direct', '--init', path])
    assert done.returncode == 1 and f'{path}{said}' in done.stderr and 'Ready' not in done.stdout


def test_no_packet_comes_before_the_file_is_done(tmp_path):
    """The first request is answered by the set of the file."""
    path = write(tmp_path / 'init', 'tables bf16_k128\n')
    result = switch.run([[frames.plain_frame(frames.request())]], options=['--init', path])
    assert result.stats['errors']['format'] == result.stats['netfc_packets'] == 1


@pytest.mark.parametrize('text', ['', '\n', '# nothing\n', '   \t\n', 'set idle-exit 0'])
def test_files_with_little_in_them(ready, text):
    _, control, path, _ = ready
    before = state(control)
    write(path, text)
    assert control.do('reload') == {'file': os.fspath(path)}
    assert state(control) == before


def test_a_pipe_holds_up_neither_the_channel_nor_the_end(tmp_path):
    """As long as nobody writes into it; at start it is a file like any other."""
    os.mkfifo(tmp_path / 'x.netfcfun')
    read, write_end = os.pipe()
    os.write(write_end, b'set idle-exit 0\n')
    os.close(write_end)
    path = f'/proc/{os.getpid()}/fd/{read}'
    with controlled(tmp_path, options=['--match', 'direct', '--init', path]) as (live, control, _):
        with pytest.raises(ControlError, match='x.netfcfun.: a pipe'):
            control.do('add-functions', functions=f'exp,{tmp_path}/x.netfcfun')
        with pytest.raises(ControlError, match='a pipe'):
            control.do('reload')
        live.process.send_signal(signal.SIGHUP)
        hosts.wait_until(lambda: 'nothing has changed' in live.stderr, 'the answer to SIGHUP')
        live.stop()
    os.close(read)
