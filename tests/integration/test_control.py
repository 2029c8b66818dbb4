# SPDX-License-Identifier: BSD-3-Clause
"""The control channel: what changes while the switch runs, and what cannot."""

import contextlib
import itertools
import json
import os
import pathlib
import resource
import socket
import stat
import subprocess
import threading
import time

import numpy as np
import pytest

import frames
import hosts
import oracle
import project_scripts
import switch
import tcp_frames

from netfc_control import Control, ControlError  # found through project_scripts

MANUAL = project_scripts.PROJECT / 'docs' / 'man' / 'netfc-ctl.1'
SWAPS = 100
LANES, REQUESTS = 8, 256  # of the load under which tables are swapped
RECORD_HEADER, CAPTURE_HEADER = 16, 24
LINE_BYTES = 4096


def connected(path):
    """A connection to the control channel, or None while nobody listens yet."""
    try:
        return Control(path)
    except ControlError:
        return None


@contextlib.contextmanager
def controlled(folder, vdevs=('net_null0,no-rx=1',), options=('--match', 'direct'), **more):
    """A switch with a control channel, and a connection to it."""
    path = switch.RUNTIME / f'control-{next(hosts.numbers)}'
    with hosts.LiveSwitch(folder, vdevs, [*options, '--control', path], **more) as live:
        with hosts.wait_until(lambda: connected(path), 'the socket') as control:
            yield live, control, path


@pytest.fixture(name='running', scope='module')
def running_switch(tmp_path_factory):
    with controlled(tmp_path_factory.mktemp('control')) as (live, control, path):
        yield live, control, path
        live.stop()
    assert not path.exists()


@pytest.fixture(name='control')
def connection(running):
    return running[1]


def sets(control):
    """Names of the table sets in use."""
    return sorted(table['set'] for table in control.do('show')['tables'].values())


# ---- table sets ------------------------------------------------------------------------------


def test_tables_are_replaced_and_added(control):
    control.do('tables', sets='fp16_k512')
    assert sets(control) == ['fp16_k512']
    control.do('add', sets='bf16_k128,posit16_k512')
    assert sets(control) == ['bf16_k128', 'fp16_k512', 'posit16_k512']
    answer = control.do('add', sets='bf16_k1_floor')
    assert answer['tables']['bf16']['set'] == 'bf16_k1_floor'
    assert sets(control) == ['bf16_k1_floor', 'fp16_k512', 'posit16_k512']
    control.do('tables', sets='fp16_k1024')
    assert sets(control) == ['fp16_k1024']


@pytest.mark.parametrize('command', ['tables', 'add'])
@pytest.mark.parametrize('names, said', [
    ('fp17_k1', 'fp17_k1'), ('', "''"), ('fp16_k2048', '1024'), ('fp16_k1,fp16_k2', 'one set per'),
    ('bf16_k1,/nonexistent.netfc', 'No such file'), ('/dev/null', 'not a table-set file')])
def test_what_cannot_be_loaded_changes_nothing(control, command, names, said):
    before = control.do('show')
    with pytest.raises(ControlError) as refused:
        control.do(command, sets=names)
    assert said in str(refused.value)
    assert control.do('show') == before


def test_a_folder_whose_name_is_no_utf8(tmp_path):
    """A command, which is JSON, cannot name it; the option can, and what is said of it is JSON."""
    folder = tmp_path / os.fsdecode(b'caf\xe9')
    folder.mkdir()
    subprocess.run([switch.TABLE_BUILDER, 'build', 'fp16_k4', '--dir', folder], check=True,
                   capture_output=True)
    options = ['--match', 'direct', '--tables-dir', folder, '--tables', 'fp16_k4']
    with controlled(tmp_path, options=options) as (live, control, _):
        assert control.do('show')['tables']['fp16']['origin'] == f'{tmp_path}/caf?/fp16_k4.netfc'
        live.stop()


def test_a_file_that_is_damaged_changes_nothing(control, tmp_path):
    path = tmp_path / 'set.netfc'
    subprocess.run([switch.TABLE_BUILDER, 'build', 'bf16_k1', '--output', path], check=True,
                   capture_output=True)
    control.do('add', sets=str(path))
    data = bytearray(path.read_bytes())
    data[1000] ^= 1
    path.write_bytes(data)
    with pytest.raises(ControlError, match='checksum'):
        control.do('tables', sets=str(path))
    assert 'bf16_k1' in sets(control)
    control.do('tables', sets='fp16_k1024')


def test_too_little_memory_changes_nothing(tmp_path):
    """Old and new tables are there at once for a while; where there is no room, the old stay."""
    with controlled(tmp_path, options=('--match', 'lpm'), memory=330) as (live, control, _):
        with pytest.raises(ControlError, match='more memory'):
            for _ in range(4):
                control.do('add', sets='bf16_k128')
                control.do('add', sets='posit16_k512')
                control.do('add', sets='posit16_es2_k256')
        assert 'fp16_k1024' in sets(control)
        live.stop()


class Reader(threading.Thread):
    """Reads the capture that the switch writes into a pipe, and compares every record.

    expected: records of the two answers that may come to each request; the requests come in turn.
    """

    def __init__(self, path, expected):
        super().__init__()
        os.mkfifo(path)
        self._path, self._expected = path, expected
        self.frames = self.wrong = 0
        self.seen = [0, 0]  # that can only have come from the one, and from the other
        self.start()

    def run(self):
        size = self._expected[0].shape[1]
        with open(self._path, 'rb', buffering=1 << 20) as pipe:
            assert len(pipe.read(CAPTURE_HEADER)) == CAPTURE_HEADER
            while data := pipe.read(REQUESTS * size):
                records = np.frombuffer(data, np.uint8).reshape(-1, size)[:, RECORD_HEADER:]
                count = len(records)
                assert count == REQUESTS or self.frames % REQUESTS == 0
                first, second = (
                    (records == expected[:count, RECORD_HEADER:]).all(axis=1)
                    for expected in self._expected)
                self.frames += count
                self.wrong += int((~(first | second)).sum())
                self.seen[0] += int((first & ~second).sum())
                self.seen[1] += int((second & ~first).sum())


def records(sent, tables):
    """The records of a capture of what the switch makes of requests, a row each."""
    table_sets = oracle.table_sets(tables)
    replies = [oracle.switch(frame, table_sets, forward='reflect') for frame in sent]
    return np.array([list(bytes(RECORD_HEADER) + reply) for reply in replies], np.uint8)


@pytest.mark.parametrize('match', ['direct', 'lpm'])
def test_swaps_under_full_load(tmp_path, match):
    """Table sets change a hundred times while requests come as fast as they are answered: every
    packet is answered by the old set or the new one, and none is lost."""
    sent = [frames.plain_frame(frames.lanes(LANES, identity=n, op=1 + n % 4))
            for n in range(REQUESTS)]
    switch.write_capture(tmp_path / 'in', sent)
    names = ['fp16_k1024', 'fp16_k16']
    reader = Reader(tmp_path / 'out', [records(sent, name) for name in names])
    vdevs = [f'net_pcap0,rx_pcap={tmp_path}/in,infinite_rx=1,tx_pcap={tmp_path}/out']
    swaps = SWAPS if match == 'direct' else SWAPS // 10
    for name in names:
        subprocess.run([switch.TABLE_BUILDER, 'build', name, '--dir', tmp_path], check=True,
                       capture_output=True)
    with controlled(tmp_path, vdevs, ['--match', match, '--tables-dir', tmp_path],
                    memory=768) as (live, control, _):
        for number in range(swaps):
            control.do('tables', sets=names[(number + 1) % 2])
        stats = live.stop()
    reader.join()
    assert reader.wrong == 0
    assert reader.frames == stats['tx_packets'] == stats['rx_packets']
    assert not any(stats['drops'].values())
    assert stats['netfc_packets'] == stats['rx_packets']
    assert stats['lanes'] == LANES * stats['rx_packets']
    assert min(reader.seen) > REQUESTS, reader.seen


# ---- numbers and the rest --------------------------------------------------------------------


@pytest.mark.parametrize('name, value, said', [
    ('ageing', 10, 'no bridge'), ('idle-exit', -1, 'from 0 to'), ('idle-exit', 1e3, 'a number'),
    ('idle-exit', '1', 'a number'), ('idle-exit', 10**12, 'from 0 to'), ('speed', 1, 'ageing'),
    ('speed', 1, 'slowloris-threshold'), ('slowloris-time', 10, 'no Slowloris detector'),
    ('slowloris-table', 10, "no 'slowloris-table' to set")])
def test_numbers_that_cannot_be_set(control, name, value, said):
    with pytest.raises(ControlError, match=said):
        control.do('set', name=name, value=value)


def test_idle_exit_begins_with_the_command(tmp_path):
    with controlled(tmp_path) as (live, control, _):
        assert control.do('set', name='idle-exit', value=100) == {'idle-exit': 100}
        live.wait()


def test_ageing_of_a_bridge(tmp_path):
    with controlled(tmp_path, ['net_null0,no-rx=1', 'net_null1,no-rx=1'],
                    ['--match', 'direct', '--forward', 'bridge']) as (live, control, _):
        control.do('set', name='ageing', value=7)
        assert control.do('show')['config']['ageing_s'] == 7
        live.stop()


def test_rules_of_the_slowloris_detector(tmp_path):
    """An attack that is none by the rules of the start, then is, then is none any more."""
    attack = [frame for client in range(20)
              for frame in tcp_frames.handshake(tcp_frames.address(client), 2000)]
    vdevs = [switch.capture_port(tmp_path, 0, attack)]
    options = ['--match', 'direct', '--slowloris', '--slowloris-dry-run', '--slowloris-time', 50]
    with controlled(tmp_path, vdevs, options) as (live, control, _):
        control.do('set', name='slowloris-threshold', value='0.005')
        control.do('set', name='slowloris-connections', value=20)
        live.wait_for_message('10.0.0.2 is under attack (dry run)')
        control.do('set', name='slowloris-dry-run', value='off')
        control.do('set', name='slowloris-policy', value='connection')
        rules = control.do('show')['config']['slowloris']
        assert (rules['threshold'], rules['connections'], rules['time_ms']) == ('0.005', 20, 50)
        assert (rules['dry_run'], rules['policy']) == (0, 'connection')
        assert control.do('set', name='slowloris-threshold', value=0.5) \
            == {'slowloris-threshold': 0.5}
        live.wait_for_message('10.0.0.2 has recovered after')
        for name, value, said in (
                ('threshold', 2, 'from 6e-8 to 1'), ('threshold', 'x', 'from 6e-8 to 1'),
                ('policy', 'none', 'destination or connection'), ('dry-run', 1, 'on or off'),
                ('connections', 10**9, 'from 1 to'), ('connections', 65537, '--slowloris-table'),
                ('time', -1, 'from 0 to'), ('time', 1.5, 'from 0 to'), ('grace', None, 'missing')):
            with pytest.raises(ControlError, match=said):
                control.do('set', name=f'slowloris-{name}', value=value)
        assert control.do('show')['config']['slowloris'] == {**rules, 'threshold': '0.5'}
        live.stop()


def test_logs(tmp_path):
    with controlled(tmp_path) as (live, control, _):
        control.do('log', pattern='lib.*', level='debug')
        for fields in ({'pattern': 'lib.*', 'level': 'loud'}, {'pattern': 'lib.*'}, {'level': 'info'}):
            with pytest.raises(ControlError):
                control.do('log', **fields)
        live.stop()


def test_stop(tmp_path):
    with controlled(tmp_path) as (live, control, _):
        control.do('stop')
        live.wait()


# ---- the socket ------------------------------------------------------------------------------


@pytest.mark.parametrize('line, said', [
    (b'', 'no JSON'), (b'{', 'no JSON'), (b'[]', 'an object'), (b'null', 'no JSON'),
    (b'{}', "'command' is missing"), (b'{"command": 1}', "'command' is missing"),
    (b'{"command": "fly"}', 'there is tables add set'), (b'{"command": "tables"}', "'sets'"),
    (b'{"command": "tables", "sets": ["fp16_k1"]}', "'sets'"), (b'\xff\xfe', 'no JSON'),
    (b'{"command": "show", "command": "stop"}', 'no JSON'), (b'[' * 4000, 'no JSON'),
    (b'\0' * 10, 'no JSON'), (b'{"command":"a\\\xcf\xb0"}', 'invalid escape')])
def test_lines_that_are_no_command(control, line, said):
    answer = control.exchange(line)
    assert answer['ok'] is False
    assert said in answer['error'] or said == 'an object' and 'object' in answer['error']
    assert control.do('show')


def test_a_line_that_is_too_long(running):
    with Control(running[2]) as control:
        assert control.exchange(b'x' * LINE_BYTES)['error'].startswith('no JSON')
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


def cpu_seconds(pid, thread):
    """CPU time of the thread of that name."""
    for task in pathlib.Path(f'/proc/{pid}/task').iterdir():
        if (task / 'comm').read_text() == f'{thread}\n':
            fields = (task / 'stat').read_text().rsplit(')', 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
    raise AssertionError(f'no thread {thread}')


def forbid_descriptors(pid):
    """Lets the process open no more than it has."""
    used = {int(name) for name in os.listdir(f'/proc/{pid}/fd')}
    free = next(number for number in itertools.count() if number not in used)
    hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (free, hard))


def test_no_descriptor_left_for_a_client(tmp_path):
    """It waits for one, which takes no CPU time, and is served when there is one."""
    with controlled(tmp_path) as (live, control, path), contextlib.ExitStack() as stack:
        pid = live.process.pid
        assert control.do('show')  # it serves
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        forbid_descriptors(pid)
        waiting = [stack.enter_context(Control(path)) for _ in range(2)]
        before = cpu_seconds(pid, 'netfc-control')
        time.sleep(1)
        assert cpu_seconds(pid, 'netfc-control') - before < 0.3
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
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))
    with contextlib.ExitStack() as stack:
        lives = [stack.enter_context(hosts.LiveSwitch(tmp_path, ['net_null0,no-rx=1'],
                                                      ['--control', path])) for _ in range(12)]
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


# ---- the command -----------------------------------------------------------------------------


def netfc_ctl(*arguments, **environment):
    return subprocess.run([project_scripts.SCRIPTS / 'netfc-ctl', *arguments], text=True,
                          capture_output=True, timeout=60, check=False,
                          env={**os.environ, **environment})


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
    assert netfc_ctl('--socket', '/nonexistent', 'show').returncode == 2


@pytest.mark.parametrize('seconds', ['0', '-1', 'nan', 'inf', '1e30', 'soon'])
def test_timeouts_that_cannot_be(seconds):
    done = netfc_ctl(f'--timeout={seconds}', '--socket', '/nonexistent', 'show')
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


def test_the_manual_page_has_all_of_netfc_ctl():
    manual = pathlib.Path(MANUAL).read_text().replace('\\-', '-')
    usage = ''.join(netfc_ctl(*words, '--help').stdout
                    for words in ([], ['set'], ['capture'], ['capture', 'start']))
    for word in ('--socket', '--timeout', 'tables', 'add', 'set', 'log', 'show', 'stop', 'ageing',
                 'idle-exit', 'slowloris-', 'capture', '--snaplen', '--packets', '--bytes',
                 'NETFC_CONTROL'):
        assert word in usage and word in manual, word
