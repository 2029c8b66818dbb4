# SPDX-License-Identifier: BSD-3-Clause
"""Wrong usage: told clearly on stderr, with exit status 1, and before any port starts."""

import os
import pathlib
import struct
import zlib

import pytest

import frames
import sanitized
import switch
from refusal import message, nothing_was_sent, refuse

VERSION_AT, ENTRIES_AT = 8, 2000  # offsets in a table-set file


# ---- options ---------------------------------------------------------------------------------


@pytest.mark.parametrize('name', ['fp17_k4', 'float16_k1024', 'k1024', 'x', 'FP16_K1024'])
def test_unknown_sets_list_the_known_ones(tmp_path, name):
    said = refuse(tmp_path, ['--tables', name])
    assert name.lower() in said
    for known in ('fp16', 'posit16', 'bf16', 'posit16_es2'):
        assert known in said


@pytest.mark.parametrize('name', [
    '', ',', 'fp16', 'fp16_', 'fp16_k', 'fp16_kx', 'fp16_k-4', 'fp16_k01024', 'fp16_k1024_',
    'fp16_k1024_ceil', 'fp16_k1024_floor_', 'fp16_k1024 ', 'fp16_k1024,', ',fp16_k1024',
    'fp16_k1024,,posit16_k512', 'fp16_k99999999999999999999', 'x' * 1000])
def test_malformed_names_of_sets(tmp_path, name):
    said = refuse(tmp_path, ['--tables', name])
    assert 'table' in said or 'set' in said


@pytest.mark.parametrize('name, largest', [
    ('fp16_k2048', '1024'), ('fp16_k0', '1024'), ('fp16_k3', '1024'), ('posit16_k1024', '512'),
    ('bf16_k256', '128'), ('bf16_k256_floor', '128'), ('posit16_es2_k512', '256')])
def test_scales_out_of_range_name_the_range(tmp_path, name, largest):
    said = refuse(tmp_path, ['--tables', name])
    assert name in said and largest in said.replace(name, '')


@pytest.mark.parametrize('names', ['fp16_k1024,fp16_k512', 'fp16_k1024,bf16_k128,fp16_k1024',
                                   'fp32_exact,fp32_exact',
                                   'posit16_k4,posit16_k4_floor'])
def test_two_sets_of_one_format(tmp_path, names):
    said = refuse(tmp_path, ['--tables', names])
    assert names.split('_')[0] in said and 'format' in said


@pytest.mark.parametrize('options, words', [
    (['--tabels', 'fp16_k1024'], ['tabels']),
    (['--bogus'], ['bogus']),
    (['-Z'], ['z']),
    (['stray'], ['stray']),
    (['--tables'], ['tables']),
    (['--match', 'trie'], ['trie', 'lpm', 'hash', 'direct', 'fpu']),
    (['--match', ''], ['match', 'lpm', 'hash', 'direct', 'fpu']),
    (['--forward', 'flood'], ['flood', 'pair', 'reflect']),
    (['--port', '0'], ['port', '65535']),
    (['--port', '65536'], ['65536', '65535']),
    (['--port', '-1'], ['-1', '65535']),
    (['--port', '4294987334'], ['4294987334']),
    (['--port', 'http'], ['http']),
    (['--port', '20038x'], ['20038x']),
    (['--port', ''], ['port']),
    (['--idle-exit', '-1'], ['idle-exit', '-1']),
    (['--idle-exit', 'soon'], ['soon']),
    (['--idle-exit', '1e3'], ['1e3']),
    (['--rx-burst', '0'], ['rx-burst', '1 to 64']),
    (['--rx-burst', '65'], ['65', '1 to 64']),
    (['--config', '0,0,0'], ['0,0,0', '(port,queue,lcore)']),
    (['--config', '(0,0,0),(0,0,0)'], ['queue 0 of port 0', 'twice']),
    (['--config', '(0,0,0),(2,0,0)'], ['(2,0,0)', 'there is no port 2']),
    (['--config', '(0,0,0),(1,0,9)'], ['(1,0,9)', 'no lcore 9', '-l']),
    (['--config', '(0,0,0),(0,1,0),(1,0,0)'], ['(0,1,0)', '1 receive queue']),
    (['--config', '(0,0,0)'], ['no lcore polls queue 0 of port 1']),
    (['--address', '10.0.0.1@0:'], ['10.0.0.1@0:', 'port:queue']),
    (['--address', '10.0.0.1@0:1'], ['10.0.0.1@0:1', 'port 0 has 1 receive queue']),
    (['--slowloris-time', '5'], ['slowloris-time', 'not given']),
    (['--slowloris', '--slowloris-threshold', '0'], ['threshold', '6e-8 to 1']),
    (['--slowloris', '--slowloris-threshold', '1e-9'], ['1e-9', '6e-8 to 1']),
    (['--slowloris', '--slowloris-threshold', 'nan'], ['nan', '6e-8 to 1']),
    (['--slowloris', '--slowloris-connections', '0'], ['connections', '16777216']),
    (['--slowloris', '--slowloris-time', '3600001'], ['3600001', '3600000']),
    (['--slowloris', '--slowloris-release', '101'], ['release', '100']),
    (['--slowloris', '--slowloris-policy', 'source'], ['source', 'destination', 'connection']),
    (['--slowloris', '--slowloris-bytes', '-1'], ['bytes', '4294967295']),
    (['--slowloris', '--slowloris-grace', ''], ['grace', '3600000']),
    (['--slowloris', '--slowloris-timeout', '0'], ['timeout', '21600']),
    (['--slowloris', '--slowloris-table', '1e6'], ['1e6', '16777216']),
    (['--slowloris', '--slowloris-table', '50'], ['100', '50', 'slowloris-table']),
    (['--slowloris', '--slowloris-destinations', '0'], ['destinations', '16777216']),
    (['--idle-exit', '99999999999999999999'], ['99999999999999999999']),
], ids=' '.join)
def test_unknown_options_and_values(tmp_path, options, words):
    said = refuse(tmp_path, options)
    assert [word for word in words if word not in said] == [], said


# ---- the EAL's options -----------------------------------------------------------------------


def run_eal(*eal, without=()):
    """Runs the switch with these of the EAL's options besides the usual ones."""
    usual = [option for option in switch.eal_options(['net_null0,no-rx=1'], 128)
             if option not in without]
    return switch.execute([*usual, *eal, '--', '--match', 'direct', '--idle-exit', '50'])


@pytest.mark.parametrize('eal', [['--lcores', '0@1000'], ['-l', '1000'], ['--foo'], ['-n']],
                         ids=' '.join)
def test_options_that_the_eal_refuses(eal):
    """Not the EAL's whole help, and no mere "Invalid argument"."""
    done = run_eal(*eal)
    assert done.returncode == 1
    said = message(done)
    assert said.count('\n') == 0 and 'invalid argument' not in said
    assert 'the eal does not take its options' in said
    cpus = os.sched_getaffinity(0)
    assert said.split()[-1].startswith(str(min(cpus))) and said.endswith(str(max(cpus)))
    assert done.stdout == ''


def test_another_program_has_the_file_prefix(tmp_path):
    running = switch.Running(tmp_path, [frames.plain_frame(frames.request())])
    running.wait_until_busy()
    prefix = running.telemetry_path.parent.name
    done = run_eal('--file-prefix', prefix)
    assert running.stop()[0] == 0
    assert done.returncode == 1
    said = message(done)
    assert f'process {running.process.pid}, runs with the same --file-prefix, {prefix};' in said
    assert 'success' not in said


def test_no_folder_for_the_eal_s_files(tmp_path, monkeypatch):
    """As in a container whose file system is read-only, or under another user; no option is at fault."""
    (tmp_path / 'file').touch()
    monkeypatch.setitem(switch.ENVIRONMENT, 'RUNTIME_DIRECTORY', str(tmp_path / 'file'))
    done = run_eal()
    assert done.returncode == 1
    said = message(done)
    assert f'{tmp_path}/file/dpdk: not a directory' in said and 'RUNTIME_DIRECTORY'.lower() in said
    assert 'options' not in said


def test_abbreviated_options_of_the_eal():
    assert run_eal('--no-hug', without=['--no-huge']).returncode == 0
    for option, begin in (('--hel', 'Usage: dpdk-netfc'), ('--ver', 'dpdk-netfc ')):
        done = switch.execute([option])
        assert done.returncode == 0 and done.stdout.startswith(begin)


# ---- files -----------------------------------------------------------------------------------


@pytest.fixture(scope='module')
def good_file(tmp_path_factory):
    """The bytes of a table-set file."""
    path = tmp_path_factory.mktemp('tables') / 'good.netfc'
    done = switch.execute(['build', 'fp16_k4', '-o', path], switch.TABLE_BUILDER)
    assert done.returncode == 0, done.stderr
    return path.read_bytes()


def with_checksum(data):
    """A table-set file with its CRC-32 made right."""
    return data[:-4] + struct.pack('>I', zlib.crc32(data[:-4]))


def versioned(data, version):
    return with_checksum(frames.patched(data, VERSION_AT, struct.pack('>I', version)))


DAMAGES = {
    'damaged': (lambda data: frames.patched(data, ENTRIES_AT, bytes([data[ENTRIES_AT] ^ 1])),
                ['checksum', 'damaged']),
    'truncated': (lambda data: data[:-1000], ['truncated', 'too early']),
    'truncated header': (lambda data: data[:20], ['truncated', 'too early']),
    'empty': (lambda data: b'', ['truncated', 'too early', 'empty', 'not a', 'no ']),
    'older': (lambda data: versioned(data, 0), ['old', 'version']),
    'newer': (lambda data: versioned(data, 99), ['new', 'version']),
    'trailing': (lambda data: data + b'\0' * 16, ['trailing', 'after its end']),
    'foreign': (lambda data: b'\x7fELF' + data[4:], ['not a', 'no ', 'foreign']),
    'text': (lambda data: b'This is no table set, whatever its name says.\n' * 99,
             ['not a', 'no ', 'foreign']),
    'unordered': (lambda data: with_checksum(frames.patched(data, ENTRIES_AT + 2 * 0x3c00, b'\x7f')), ['order']),
    'other contents': (lambda data: with_checksum(
        frames.patched(data, 16, b'fp16_k8'.ljust(32, b'\0'))), ['content', 'do not fit']),
}


@pytest.mark.parametrize('damage', DAMAGES)
def test_bad_table_files(tmp_path, good_file, damage):
    change, words = DAMAGES[damage]
    path = tmp_path / 'bad.netfc'
    path.write_bytes(change(good_file))
    said = refuse(tmp_path, ['--tables', path])
    assert str(path).lower() in said
    assert any(word in said.replace(str(path).lower(), '') for word in words), said


def test_a_good_table_file_is_taken(tmp_path, good_file):
    path = tmp_path / 'any-name.netfc'
    path.write_bytes(good_file)
    switch.run([[frames.plain_frame(frames.lanes(3))]], tables=[str(path)])


@pytest.mark.parametrize('match', ['lpm', 'hash', 'direct'])
def test_a_table_file_may_hold_nothing(tmp_path, good_file, match):
    """Even where no entry needs a place, there is a stage to look it up in."""
    path = tmp_path / 'zero.netfc'
    path.write_bytes(with_checksum(good_file[:ENTRIES_AT] + bytes(len(good_file) - ENTRIES_AT)))
    stats = switch.run([[frames.plain_frame(frames.lanes(3))]], [str(path)], match).stats
    assert stats['netfc_packets'] == 1 and sum(stats['errors'].values()) == 0


@pytest.mark.parametrize('name', ['missing.netfc', './missing', 'missing/fp16_k4.netfc', './'])
def test_unreadable_table_files(tmp_path, name):
    said = refuse(tmp_path, ['--tables', f'{tmp_path}/{name}'])
    assert name in said
    assert 'no such file' in said or 'directory' in said


def test_a_file_and_a_name_of_one_format(tmp_path, good_file):
    path = tmp_path / 'good.netfc'
    path.write_bytes(good_file)
    assert 'fp16' in refuse(tmp_path, ['--tables', f'fp16_k1024,{path}'])


@pytest.mark.parametrize('where', ['missing/stats.json', '.'])
def test_statistics_that_cannot_be_written(tmp_path, where):
    said = refuse(tmp_path, ['--stats-json', tmp_path / where])
    assert str(tmp_path).lower() in said
    assert 'no such file' in said or 'directory' in said


def test_statistics_onto_a_full_disk(tmp_path):
    """This shows only at the end, when the frames have been sent: a failure while running."""
    said = refuse(tmp_path, ['--stats-json', '/dev/full'], status=2)
    assert '/dev/full' in said and 'no space' in said


def test_refused_runs_leave_no_statistics(tmp_path):
    stats = tmp_path / 'stats.json'
    refuse(tmp_path, ['--stats-json', stats, '--match', 'trie'])
    refuse(tmp_path, ['--stats-json', stats], ports=0)
    refuse(tmp_path, ['--stats-json', stats, '--forward', 'pair'], ports=1)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith('stats')]


def test_refused_runs_leave_older_statistics_alone(tmp_path):
    stats = tmp_path / 'stats.json'
    stats.write_text('of an earlier run')
    refuse(tmp_path, ['--stats-json', stats, '--forward', 'pair'], ports=1)
    assert stats.read_text() == 'of an earlier run'


@pytest.mark.parametrize('port', [
    'rx_pcap={folder}/missing,tx_pcap={folder}/out1', 'rx_pcap={folder}/text,tx_pcap={folder}/out1',
    'rx_pcap={folder},tx_pcap={folder}/out1', 'rx_pcap={folder}/in0,tx_pcap={folder}/missing/out1',
], ids=['missing', 'no capture', 'a folder', 'output in no folder'])
def test_one_of_two_captures_cannot_be_opened(tmp_path, port):
    """The switch must not run on with the other port alone, reflecting instead of pairing."""
    (tmp_path / 'text').write_text('no capture')
    vdevs = [switch.capture_port(tmp_path, 0, [frames.plain_frame(frames.request())]),
             'net_pcap1,' + port.format(folder=tmp_path)]
    done = switch.execute([*switch.eal_options(vdevs), '--', '--idle-exit', '100'])
    assert done.returncode == 1, done.stdout
    assert 'net_pcap1' in message(done)
    assert nothing_was_sent(tmp_path, 2)


# ---- ports and memory ------------------------------------------------------------------------


def test_no_port_prints_an_example(tmp_path):
    assert '--vdev' in refuse(tmp_path, [], ports=0)


def test_a_pci_device_that_is_not_there():
    options = [option for option in switch.eal_options(['net_null0,no-rx=1']) if option != '--no-pci']
    done = switch.execute([*options, '-a', 'ffff:ff:1f.7', '--', '--idle-exit', '100'])
    assert done.returncode == 1
    assert '-a ffff:ff:1f.7: there is no such port; there is no such pci device' in message(done)


@pytest.mark.skipif(sanitized.is_sanitized(), reason='net_bonding does not free its arguments')
def test_a_bond_of_ports(tmp_path):
    """Its members would be ports of the switch, too: packets came twice, and the end was a crash."""
    vdevs = [switch.capture_port(tmp_path, 0, [frames.plain_frame(frames.request())]), 'net_bonding0,mode=1']
    done = switch.execute([*switch.eal_options(vdevs), '--', '--forward', 'bridge', '--idle-exit', '100'])
    assert done.returncode == 1
    assert 'port 1 is a bond of ports, which is not supported' in message(done)


@pytest.mark.parametrize('ports', [1, 3])
def test_pair_needs_an_even_number_of_ports(tmp_path, ports):
    said = refuse(tmp_path, ['--forward', 'pair'], ports=ports)
    assert 'pair' in said and str(ports) in said


def test_three_ports_have_no_default(tmp_path):
    assert '--forward reflect' in refuse(tmp_path, [], ports=3)


def free_hugepages():
    """How many hugepages of any size are free."""
    pools = pathlib.Path('/sys/kernel/mm/hugepages').glob('*/free_hugepages')
    return sum(int(pool.read_text()) for pool in pools)


@pytest.mark.skipif(free_hugepages() > 0, reason='this machine has hugepages')
def test_no_hugepages_prints_what_mends_it():
    options = [option for option in switch.eal_options(['net_null0']) if option != '--no-huge']
    done = switch.execute([*options, '--', '--idle-exit', '100'])
    assert done.returncode == 1
    assert 'EAL:' not in done.stderr
    assert '--no-huge' in message(done) and 'nr_hugepages' in message(done)


# ---- without the EAL -------------------------------------------------------------------------


@pytest.mark.parametrize('arguments', [['--help'], ['-h'], ['--', '--help']], ids=' '.join)
def test_help_needs_no_eal(arguments):
    done = switch.execute(arguments)
    assert done.returncode == 0 and done.stderr == ''
    for option in ('--tables', '--tables-dir', '--match', '--forward', '--port', '--idle-exit',
                   '--stats-json', '--help', '--version'):
        assert option in done.stdout


@pytest.mark.parametrize('arguments', [['--version'], ['--', '--version']], ids=' '.join)
def test_version_needs_no_eal(arguments):
    done = switch.execute(arguments)
    assert done.returncode == 0 and done.stderr == ''
    assert done.stdout.startswith('dpdk-netfc')


def test_tables_come_from_another_folder(tmp_path, good_file):
    (tmp_path / 'fp16_k4.netfc').write_bytes(good_file)
    requests = [frames.plain_frame(frames.lanes(3))]
    switch.run([requests], tables=['fp16_k4'], options=['--tables-dir', str(tmp_path)])


def test_a_bad_file_in_another_folder_is_no_set(tmp_path, good_file):
    (tmp_path / 'fp16_k4.netfc').write_bytes(good_file[:-4])
    said = refuse(tmp_path, ['--tables-dir', tmp_path, '--tables', 'fp16_k4'])
    assert 'fp16_k4.netfc' in said
