# SPDX-License-Identifier: BSD-3-Clause
"""The control channel: what changes while the switch runs, and what cannot."""

import os
import subprocess
import threading

import numpy as np
import pytest

import frames
import oracle
import switch
import tcp_frames
from controlled import connection, controlled, running_switch  # fixtures, too

from netfc import ControlError

SWAPS = 100
LANES, REQUESTS = 8, 256  # of the load under which tables are swapped
RECORD_HEADER, CAPTURE_HEADER = 16, 24


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
    ('bf16_k1,/proc/nonexistent.netfc', 'No such file'), ('/dev/null', 'not a table-set file')])
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
    """Old and new tables are there at once for a while; where memory is short, the old stay."""
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
    ('idle-exit', '1', 'a number'), ('idle-exit', 10**12, 'from 0 to'), ('idle-exit', 2**63, 'from 0 to'), ('speed', 1, 'ageing'),
    ('speed', 1, 'slowloris-threshold'), ('slowloris-time', 10, 'no Slowloris detector'),
    ('slowloris-table', 10, "unknown setting 'slowloris-table'")])
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
