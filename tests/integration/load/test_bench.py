# SPDX-License-Identifier: BSD-3-Clause
"""netfc-bench: against the switch in its own process, in another, and against one that errs."""

import contextlib
import itertools
import json
import math
import os
import signal
import socket
import statistics
import struct
import subprocess
import threading
import time

import pytest

import oracle
import switch
from needs import needs_tap

PROGRAM = switch.BUILD / 'app' / 'netfc-bench'
OP_NAMES = {'add': oracle.ADD, 'sub': oracle.SUB, 'mul': oracle.MUL, 'div': oracle.DIV}
LPM_MEMORY = 512
WAIT_S = 20


# ---- running ---------------------------------------------------------------------------------


def arguments(options, vdevs=(), memory=256, lcores=1):
    return [*switch.eal_options(vdevs, memory, lcores), '--', '--progress', '0', *map(str, options)]


def bench(folder, *options, status=0, **eal):
    """Runs the bench to its end; returns its report, checked for what every one must fulfil."""
    path = folder / 'report.json'
    done = switch.execute(arguments([*options, '--json', path], **eal), PROGRAM)
    assert done.returncode == status, f'exit status {done.returncode}:\n{done.stdout}{done.stderr}'
    report = json.loads(path.read_text())
    assert report['exit_status'] == status
    assert_consistent(report)
    return report


def inline(folder, *options, match='direct', status=0):
    """Runs the bench with the switch in its process."""
    return bench(folder, '--inline', '--match', match, *options, status=status, lcores=2,
                 memory=LPM_MEMORY if match == 'lpm' else 256)


def refused(*options, **eal):
    """Runs the bench, which must not start; returns what it says."""
    done = switch.execute(arguments(options, **eal), PROGRAM)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stderr


@contextlib.contextmanager
def running_switch(folder, vdev, *options):
    """The switch, reflecting; gives a dict that holds its statistics after the `with`."""
    stats = {}
    command = [switch.PROGRAM, *switch.eal_options([vdev], 256), '--', '--forward', 'reflect',
               '--match', 'direct', '--stats-json', str(folder / 'stats'), *options]
    with subprocess.Popen(command, env=switch.ENVIRONMENT, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield stats
        finally:
            process.terminate()
            _, stderr = process.communicate(timeout=switch.TIMEOUT_S)
    assert process.returncode == 0, stderr
    switch.assert_sane(stderr)
    stats.update(switch.read_stats(folder / 'stats'))


def wait_for(what, condition):
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, f'{what} did not appear in {WAIT_S} s'
        time.sleep(0.005)


# ---- checking --------------------------------------------------------------------------------


def assert_consistent(report):
    """What must hold of every report, whatever became of the packets."""
    sent, answered, lanes = report['sent'], report['answered'], report['configuration']['lanes']
    assert sent['packets'] == answered['packets'] + report['lost']
    assert report['loss'] == pytest.approx(report['lost'] / max(sent['packets'], 1))
    assert report['received'] == (answered['packets'] + report['late'] + report['duplicates'] +
                                  report['mismatches']['id'] + report['others'])
    assert report['right'] <= answered['packets']
    assert report['mbufs_leaked'] == 0
    for traffic in (sent, answered):
        assert traffic['lanes'] == traffic['packets'] * lanes
        assert traffic['lanes_per_second'] == pytest.approx(traffic['packets_per_second'] * lanes)
        assert (traffic['packets_per_second'] > 0) == (traffic['packets'] > 0)
    assert_latency(report['latency_us'], answered['packets'])
    assert_accuracy(report['accuracy'], report['right'] * lanes)


def assert_latency(latency, answered):
    bounds, counts = zip(*latency['histogram']) if latency['histogram'] else ((), ())
    assert list(bounds) == sorted(bounds)
    assert sum(counts) == answered
    if answered == 0:
        return
    sums = list(itertools.accumulate(counts))
    for name, share in (('p50', 0.5), ('p99', 0.99), ('p99_9', 0.999)):
        bound = next(b for b, seen in zip(bounds, sums) if seen >= share * answered)
        assert latency[name] == pytest.approx(min(bound, latency['max']))
    assert 0 < latency['min'] <= latency['p50'] <= latency['p99'] <= latency['p99_9']
    assert latency['p99_9'] <= latency['max'] <= bounds[-1]
    assert latency['min'] <= latency['mean'] <= latency['max']


def assert_accuracy(accuracy, lanes):
    for of in accuracy.values():
        assert 0 <= of['minimum'] <= min(of['average'], of['median'])
        assert max(of['average'], of['median']) <= 1
        assert 0 <= of['exact'] <= of['within_1_ulp'] <= 1
    total = accuracy['all']
    assert total['lanes'] + total['left_out'] == lanes
    for field in ('lanes', 'left_out', 'infinite'):
        assert total[field] == sum(accuracy[op][field] for op in accuracy if op != 'all')


def assert_all_right(report, packets=None):
    """Every packet answered, every reply right."""
    assert report['right'] == report['answered']['packets'] == report['sent']['packets']
    assert report['wrong'] == report['lost'] == report['wrong_lanes'] == 0
    assert not any(report['mismatches'].values()) and not report['examples']
    if packets is not None:
        assert report['sent']['packets'] == packets


# ---- the switch in the same process ----------------------------------------------------------


@pytest.mark.parametrize('lanes', [1, 243])
@pytest.mark.parametrize('match', ['lpm', 'hash', 'direct'])
def test_every_match_room(tmp_path, match, lanes):
    report = inline(tmp_path, '--packets', 5000, '--op', 'all', '--lanes', lanes, match=match)
    assert_all_right(report, 5000)
    assert set(report['accuracy']) == {*OP_NAMES, 'all'}
    assert report['accuracy']['all']['average'] > 0.999
    assert report['configuration']['inline_match'] == match
    assert report['configuration']['frame_bytes'] == 54 + 6 * lanes
    assert report['ended_by'] == 'packets'


@pytest.mark.parametrize('name', ['posit16_k512', 'bf16_k128_floor', 'posit16_es2_k256'])
def test_every_format(tmp_path, name):
    report = inline(tmp_path, '--packets', 2000, '--op', 'all', '--lanes', 20, '--set', name,
                    '--operands', 'values', '--ip6', '--flows', 7, '--seed', 3)
    assert_all_right(report, 2000)
    assert name.startswith(report['configuration']['format'] + '_k')
    assert report['configuration']['ip6']


def test_jumbo_frames(tmp_path):
    assert_all_right(inline(tmp_path, '--packets', 200, '--lanes', 1400, '--mtu', 9000), 200)


def test_a_rate_is_kept(tmp_path):
    report = inline(tmp_path, '--rate', 20000, '--seconds', 0.5)
    assert report['ended_by'] == 'seconds'
    assert report['configuration']['window'] is None
    wanted = 10000 - report['held_back']
    assert wanted - 1100 <= report['sent']['packets'] <= wanted + 1


def test_what_comes_too_late_is_lost(tmp_path):
    """More packets in its queue than the switch computes in the time allowed."""
    options = ['--rate', '1e7', '--seconds', 0.6, '--lanes', 243, '--timeout', 1]
    report = inline(tmp_path, *options, match='hash')
    assert report['lost'] > 0 and report['late'] > 0
    assert report['wrong'] == 0
    assert inline(tmp_path, *options, '--strict', match='hash', status=2)['lost'] > 0


def accuracy_by_oracle(pairs, name, op):
    """The report's accuracy fields, worked out a second time."""
    tables, form = oracle.table_set(name), oracle.table_set(name).format
    accuracies, squares, apart = [], [], []
    for x, y in pairs:
        exact = form.encode(oracle.exact_result(op, form.decode(x), form.decode(y)))
        z = oracle.calc(tables, op, x, y)[0]
        right, got = form.decode(exact), form.decode(z)
        if not math.isfinite(right) or right == 0:
            continue
        accuracies.append(math.exp(-abs(right - got) / abs(right)))
        squares.append((right - got) ** 2)
        ranks = [math.copysign(form.magnitude(slot), form.decode(slot)) for slot in (exact, z)]
        apart.append(abs(ranks[0] - ranks[1]))
    return {'lanes': len(apart), 'left_out': len(pairs) - len(apart), 'infinite': 0,
            'average': statistics.fmean(accuracies), 'minimum': min(accuracies),
            'median': statistics.median_low(accuracies), 'mse': statistics.fmean(squares),
            'exact': apart.count(0) / len(apart),
            'within_1_ulp': sum(a <= 1 for a in apart) / len(apart)}


@pytest.mark.parametrize('name', ['fp16_k64', 'posit16_k32_floor'])
def test_accuracy_is_the_papers(tmp_path, name):
    """Operands from files, text and binary; every field against the oracle."""
    form = oracle.table_set(name).format
    reals = [(1.5 * 1.01 ** n, -0.3 * 1.02 ** (n * 7 % 100)) for n in range(299)] + [(2, 0)]
    pairs = [tuple(map(form.encode, pair)) for pair in reals]
    text, binary = tmp_path / 'operands.txt', tmp_path / 'operands.bin'
    text.write_text('# x y\n' + ''.join(f'{x!r} {y!r}\n' for x, y in reals))
    binary.write_bytes(b''.join(struct.pack('>HH', *pair) for pair in pairs))
    for path in (text, binary):
        report = inline(tmp_path, '--set', name, '--operands', path, '--op', 'all', '--lanes', 3,
                        '--packets', 400)
        assert_all_right(report, 400)
        for op, number in OP_NAMES.items():
            assert report['accuracy'][op] == pytest.approx(
                accuracy_by_oracle(pairs, name, number), rel=1e-3, abs=1e-9)


def test_json_on_standard_output_stands_alone():
    done = switch.execute(arguments(['--inline', '--match', 'direct', '--packets', 100, '--json',
                                     '-'], lcores=2), PROGRAM)
    assert done.returncode == 0
    assert json.loads(done.stdout)['right'] == 100
    assert 'right to the bit' in done.stderr


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
def test_signals_end_it_with_the_report(tmp_path, number):
    path = tmp_path / 'report.json'
    command = [PROGRAM, *arguments(['--inline', '--match', 'direct', '--seconds', 60, '--json',
                                    path, '--progress', 0.1], lcores=2)]
    with subprocess.Popen(command, env=switch.ENVIRONMENT, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        line = next(line for line in process.stderr if ' answered ' in line)
        process.send_signal(number)
        process.communicate(timeout=switch.TIMEOUT_S)
    assert process.returncode == 0
    assert 'Mlanes/s' in line
    report = json.loads(path.read_text())
    assert_consistent(report)
    assert_all_right(report)
    assert report['ended_by'] == 'signal'


# ---- the switch in another process -----------------------------------------------------------


def memif(path, role):
    return f'net_memif0,role={role},socket={path},socket-abstract=no'


def test_vhost(tmp_path):
    path = tmp_path / 'socket'
    with running_switch(tmp_path, f'net_vhost0,iface={path}') as stats:
        wait_for(path, path.exists)
        report = bench(tmp_path, '--packets', 20000, '--op', 'all', '--lanes', 16,
                       vdevs=[f'net_virtio_user0,path={path},queue_size=1024'])
    assert report['sent']['packets'] == 20000
    assert report['wrong'] == 0
    assert report['right'] + report['late'] + report['duplicates'] == stats['tx_packets']
    assert report['sent']['packets'] - stats['rx_packets'] + sum(stats['drops'].values()) <= \
        report['lost']
    assert stats['lanes'] == 16 * stats['netfc_packets']


def test_vhost_in_the_bench(tmp_path):
    """The other way round: the bench waits for the switch to connect."""
    path = tmp_path / 'socket'
    reports = []
    thread = threading.Thread(target=lambda: reports.append(bench(
        tmp_path, '--packets', 5000, '--wait', WAIT_S, vdevs=[f'net_vhost0,iface={path}'])))
    thread.start()
    wait_for(path, path.exists)
    with running_switch(tmp_path, f'net_virtio_user0,path={path},queue_size=1024'):
        thread.join()
    assert_all_right(reports[0], 5000)


def test_memif(tmp_path):
    path = tmp_path / 'socket'
    with running_switch(tmp_path, memif(path, 'server')):
        wait_for(path, path.exists)
        report = bench(tmp_path, '--packets', 20000, '--op', 'all', '--lanes', 243,
                       vdevs=[memif(path, 'client')])
    assert report['wrong'] == 0
    assert report['right'] == report['answered']['packets']


def test_another_table_set_is_found_out(tmp_path):
    path = tmp_path / 'socket'
    vdevs = [f'net_virtio_user0,path={path},queue_size=1024']
    with running_switch(tmp_path, f'net_vhost0,iface={path}', '--tables', 'fp16_k1024_floor'):
        wait_for(path, path.exists)
        options = ['--packets', 1000, '--lanes', 50]
        report = bench(tmp_path, *options, status=2, vdevs=vdevs)
        other = bench(tmp_path, *options, '--set', 'bf16_k128', status=2, vdevs=vdevs)
        right = bench(tmp_path, *options, '--set', 'fp16_k1024_floor', vdevs=vdevs)
    assert report['mismatches']['results'] == report['wrong'] > 900
    assert report['wrong_lanes'] >= report['wrong']
    assert_examples(report['examples'])
    assert other['mismatches']['refused'] == other['refusals']['format'] == 1000
    assert right['right'] == right['answered']['packets'] > 0


def assert_examples(examples):
    """Wrong results are told with their operands, expected and got."""
    rounded, floored = oracle.table_set('fp16_k1024'), oracle.table_set('fp16_k1024_floor')
    examples = [example for example in examples if example['kind'] == 'results']
    assert examples
    for example in examples:
        lane = OP_NAMES[example['op']], int(example['x'], 16), int(example['y'], 16)
        assert example['expected'] == oracle.calc(rounded, *lane)[0]
        assert example['got'] == oracle.calc(floored, *lane)[0]


def test_no_switch_at_all(tmp_path):
    report = bench(tmp_path, '--packets', 600, '--timeout', 50, status=2,
                   vdevs=['net_null0,no-rx=1'])
    assert report['lost'] == 600
    done = switch.execute(arguments(['--wait', 0.1], [memif(tmp_path / 'socket', 'server')]),
                          PROGRAM)
    assert done.returncode == 2
    assert 'the link did not come up' in done.stderr


# ---- a switch that errs ----------------------------------------------------------------------

IP, UDP, PAYLOAD, LANES = 14, 34, 42, 4
Z = PAYLOAD + 12 + 4 * LANES


def flipped(reply, at, bits=1):
    return reply[:at] + bytes([reply[at] ^ bits]) + reply[at + 1:]


def checksum(data):
    total = oracle.word_sum(data)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack('>H', ~total & 0xFFFF or 0xFFFF)


def resummed(reply):
    """The reply with right checksums."""
    ip = reply[IP:IP + 10] + b'\0\0' + reply[IP + 12:UDP]
    udp = reply[UDP:UDP + 6] + b'\0\0' + reply[UDP + 8:]
    pseudo = ip[12:] + bytes([0, 17]) + udp[4:6]
    return (reply[:IP] + ip[:10] + checksum(ip) + ip[12:] +
            udp[:6] + checksum(pseudo + udp) + udp[8:])


def shortened(reply):
    """Less a lane's z, with all lengths right."""
    return resummed(reply[:16] + struct.pack('>H', len(reply) - 16) + reply[18:UDP + 4] +
                    struct.pack('>H', len(reply) - 36) + reply[UDP + 6:-2])


# What the erring switch answers, and how each reply must be counted.
FAULTS = {
    'id': lambda r: [resummed(flipped(r, PAYLOAD + 8, 0x40))],
    'addresses': lambda r: [resummed(flipped(r, IP + 19))],
    'length': lambda r: [shortened(r)],
    'header': lambda r: [resummed(flipped(r, PAYLOAD + 3, 7))],
    'count': lambda r: [resummed(flipped(r, PAYLOAD + 7, 2))],
    'uncomputed': lambda r: [resummed(flipped(r, PAYLOAD + 5, 0x80))],
    'refused': lambda r: [resummed(flipped(r, PAYLOAD + 5, 0x10))],
    'flags': lambda r: [resummed(flipped(r, PAYLOAD + 5, 8))],
    'operands': lambda r: [resummed(flipped(r, PAYLOAD + 12))],
    'results': lambda r: [resummed(flipped(r, Z))],
    'udp_checksum': lambda r: [flipped(r, UDP + 7)],
    'ip_checksum': lambda r: [flipped(r, IP + 11)],
    'duplicates': lambda r: [r, r],
    'lost': lambda r: [],
}


def serve(interface, stop, answer):
    """Sends answer(the right reply) for each request that comes in at an interface."""
    sets = oracle.table_sets('fp16_k1024')
    wait_for(interface, lambda: os.path.exists(f'/sys/class/net/{interface}'))
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800)) as raw:
        raw.bind((interface, 0))
        raw.settimeout(0.1)
        while not stop.is_set():
            try:
                request, sender = raw.recvfrom(2048)
            except OSError:  # nothing yet, or the interface is not up yet
                continue
            if sender[2] == socket.PACKET_OUTGOING or request[UDP + 2:UDP + 4] != b'\x4e\x46':
                continue
            for frame in answer(oracle.switch(request, sets, forward='reflect')):
                raw.send(frame)


def bench_over_tap(folder, answer, *options, status):
    """Runs the bench against a switch that errs."""
    interface, stop = f'nfb{os.getpid() % 100000}', threading.Event()
    oracle.table_set('fp16_k1024').result(oracle.ADD, 0x3C00, 0x3C01)  # built before the hurry
    thread = threading.Thread(target=serve, args=(interface, stop, answer))
    thread.start()
    try:
        return bench(folder, *options, '--timeout', 300, '--lanes', LANES, status=status,
                     vdevs=[f'net_tap0,iface={interface}'])
    finally:
        stop.set()
        thread.join()


@needs_tap
def test_every_fault_is_found(tmp_path):
    faults = iter(FAULTS.values())
    report = bench_over_tap(tmp_path, lambda reply: next(faults, lambda r: [r])(reply),
                            '--packets', len(FAULTS) + 6, '--window', 1, status=2)
    faults = {kind: count for kind, count in report['mismatches'].items() if count}
    assert faults == {kind: 1 for kind in FAULTS if kind not in ('duplicates', 'lost')}
    assert report['duplicates'] == 1
    assert report['wrong'] == len(faults)
    assert report['refusals']['version'] == 1
    assert report['wrong_lanes'] == 1
    assert len(report['examples']) == len(faults)
    assert report['lost'] >= 2  # the one with another id, and the one without a reply


@needs_tap
def test_reordering_is_seen(tmp_path):
    waiting = []

    def answer(reply):
        waiting.append(reply)
        if len(waiting) < 4:
            return []
        replies = waiting[::-1]
        waiting.clear()
        return replies

    report = bench_over_tap(tmp_path, answer, '--packets', 40, '--window', 4, status=0)
    assert report['wrong'] == 0
    assert 0 < report['reordered'] < report['answered']['packets']
    assert report['reorder_extent'] >= 3


# ---- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize('options, message', [
    (['--set', 'fp16_k3'], "--set 'fp16_k3'"),
    (['--op', 'pow'], 'expected add, sub, mul, div or all'),
    (['--lanes', '0'], 'a number from 1 to'),
    (['--lanes', '244'], 'no more than 243 fit'),
    (['--lanes', '241', '--ip6'], 'no more than 240 fit'),
    (['--packets', '1x'], 'a number from 1'),
    (['--seconds', '-1'], 'a decimal number'),
    (['--window', '0'], 'a number from 1'),
    (['--rate', '10', '--window', '5'], 'give one of them'),
    (['--timeout', '60001'], 'a number from 1 to 60000'),
    (['--src-mac', 'ff:ff:ff:ff:ff:ff'], 'of one station'),
    (['--dst-ip', '224.0.0.1'], 'the IP address of one host'),
    (['--src-ip', '::1', '--dst-ip', '10.0.0.1'], 'one is IPv4, the other IPv6'),
    (['--dst-udp', '65536'], 'a number from 1 to 65535'),
    (['--flows', '1024', '--src-udp', '65000'], 'not so many ports'),
    (['--match', 'lpm'], 'goes with --inline'),
    (['--inline', '--match', 'tcam'], 'lpm, hash or direct'),
    (['--inline', '--match', 'fpu'], 'lpm, hash or direct'),
    (['--inline', '--rx-port', '1'], 'brings its own ports'),
    (['--json', '/nonexistent/report'], 'No such file or directory'),
    (['--operands', '/nonexistent'], 'No such file or directory'),
    (['--nonsense'], 'unrecognized option'),
    (['stray'], "unexpected argument 'stray'"),
])
def test_bad_options(options, message):
    assert message in refused(*options)


@pytest.mark.parametrize('options, eal, message', [
    ([], {}, 'no port'),
    (['--tx-port', 1], {'vdevs': ['net_null0']}, '--tx-port 1: no such port'),
    ([], {'vdevs': ['net_virtio_user0,path=/nonexistent']}, 'there is no such port'),
    (['--inline'], {}, 'needs a second lcore'),
    (['--inline'], {'lcores': 2, 'memory': 64}, 'more memory'),
])
def test_bad_configurations(options, eal, message):
    assert message in refused(*options, **eal)


@pytest.mark.parametrize('name, content, message', [
    ('a.txt', b'1 2\n3\n', 'line 2: expected two operands'),
    ('a.txt', b'1 fish\n', 'line 1: expected a decimal number'),
    ('a.txt', b'# nothing\n\n', 'no operands in it'),
    ('a.bin', b'\x3c\x00\x3c', 'no multiple of 4 bytes'),
])
def test_bad_operands(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    assert message in refused('--operands', path)


def test_help_and_version_need_no_eal():
    for option, text in (('--help', 'Usage: netfc-bench'), ('--version', 'netfc-bench ')):
        done = switch.execute([option], PROGRAM)
        assert done.returncode == 0
        assert done.stdout.startswith(text)
