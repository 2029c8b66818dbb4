# SPDX-License-Identifier: BSD-3-Clause
"""netfc-bench --aggregate: workers that check every result, against the switch and one that errs.

Real processes: what the load generator prints and how it ends.
"""

import contextlib
import json
import struct
import subprocess

import pytest

import bench_runs
import hosts
import oracle
import switch
from needs import needs_tap, why_no_port
from netfc import aggregation, protocol

ADDRESSES = ['--address', '198.18.0.2/24', '--address', '2001:2::2/64']
EVERYTHING = 'format=all,op=all,data=all,length=any'
REDUCTIONS = 'format=all,op=sum+mean+min+max,data=all,length=any'
BAD_LINK = 'loss=5,duplicate=5,reorder=10,retry=5'
MEMORY = 256


def run(folder, option, *options, vdev, status=0, within=()):
    """Runs the bench to its end; returns its report, checked for what every one must fulfil."""
    path = folder / 'report.json'
    arguments = bench_runs.arguments(
        [f'--aggregate={option}' if option else '--aggregate', *options, '--json', path],
        vdevs=[vdev], memory=MEMORY)
    done = subprocess.run([*within, bench_runs.PROGRAM, *map(str, arguments)], text=True,
                          env=switch.ENVIRONMENT, capture_output=True, check=False,
                          timeout=switch.TIMEOUT_S)
    switch.assert_sane(done.stderr)
    assert done.returncode == status, done.stdout + done.stderr
    report = json.loads(path.read_text())
    assert report['exit_status'] == status
    assert_adds_up(report)
    return report


def assert_adds_up(report):
    """What must hold of every report of a run that came to its end or was refused."""
    made = sum(report[name] for name in ('requests', 'parts', 'retries', 'joins', 'leaves', 'bad'))
    out, back = report['outward'], report['inward']
    assert report['sent'] <= made + out['duplicates'] - out['lost']
    taken = sum(report[name]
                for name in ('results', 'repeated', 'answers', 'refused', 'forged', 'others'))
    assert taken <= report['received'] + back['duplicates'] - back['lost']
    assert report['right'] <= report['results'] <= report['requests']
    assert sum(report['bad_packets'].values()) == report['bad']
    assert sum(report['refusals'].values()) == report['refused']
    assert report['mbufs_leaked'] == 0
    bench_runs.assert_latency(report['latency_us'], report['results'])


def assert_all_right(report, chunks):
    assert report['chunks'] == chunks
    assert report['right'] == report['requests'] == chunks * report['configuration']['workers']
    assert report['wrong'] == 0


@contextlib.contextmanager
def aggregating(folder, vdev, option='--aggregate', *options, lcores=1, namespace=None):
    """A switch that aggregates, at a device."""
    with hosts.LiveSwitch(folder, [vdev], [*ADDRESSES, option, *options], lcores=lcores,
                          namespace=namespace) as live:
        yield live


@contextlib.contextmanager
def over_vhost(folder, option='--aggregate', *options):
    path = folder / 'socket'
    with aggregating(folder, f'net_vhost0,iface={path}', option, *options) as live:
        bench_runs.wait_for(path, path.exists)
        yield live, f'net_virtio_user0,path={path},queue_size=1024'


def test_vhost(tmp_path):
    with over_vhost(tmp_path) as (live, vdev):
        report = run(tmp_path, 'chunks=2000', vdev=vdev)
        table = live.stop()['aggregate']
    assert_all_right(report, 2000)
    assert report['values'] == 2000 * 8 * 362 == table['values']
    assert table['completed'] == 2000 and table['jobs_ended'] == 1


@pytest.mark.parametrize('version', ['--dst-ip=198.18.0.2', '--dst-ip=2001:2::2'])
def test_with_a_key(tmp_path, version):
    """Each packet has a tag, both ways, and each result is right."""
    key = tmp_path / 'key'
    key.write_text(64 * 'c')
    key.chmod(0o600)
    with over_vhost(tmp_path, f'--aggregate=key={key}') as (live, vdev):
        report = run(tmp_path, f'{EVERYTHING},{BAD_LINK},bytes=1400,chunks=500,key={key}', version,
                     vdev=vdev)
        table = live.stop()['aggregate']
    assert_all_right(report, 500)
    assert report['forged'] == 0 == table['bad_tag'] and table['jobs_ended'] == 1


def test_jumbo_frames(tmp_path):
    """Chunks as large as packets of 9,000 bytes take."""
    with over_vhost(tmp_path, '--aggregate=bytes=8948,slots=32', '--mtu', 9000) as (live, vdev):
        report = run(tmp_path, f'{REDUCTIONS},bytes=8948,chunks=300', '--mtu', 9000, vdev=vdev)
        table = live.stop()['aggregate']
    assert_all_right(report, 300)
    assert report['values'] == table['values'] > 300 * 2000


@pytest.mark.parametrize('version', ['--dst-ip=198.18.0.2', '--dst-ip=2001:2::2'])
def test_everything_at_once(tmp_path, version):
    """All formats, operations and data, over a link that loses, doubles and reorders."""
    with over_vhost(tmp_path) as (live, vdev):
        report = run(tmp_path, f'{EVERYTHING},{BAD_LINK},workers=5,bytes=1400,chunks=1500', version,
                     vdev=vdev)
        live.stop()
    assert_all_right(report, 1500)
    assert report['configuration']['op'] == 'sum+mean+min+max+copy'
    assert report['retries'] > 0 and report['repeated'] > 0
    assert report['outward']['lost'] > 0 and report['inward']['reordered'] > 0


@pytest.mark.parametrize('key', ['', 64 * 'c'])
def test_results_for_one(tmp_path, key):
    """One worker has the results; the others, and who repeats, are told so by a header."""
    secret = tmp_path / 'key'
    secret.write_text(key)
    secret.chmod(0o600)
    option = f',key={secret}' if key else ''
    with over_vhost(tmp_path, f'--aggregate=jobs=1{option}') as (live, vdev):
        report = run(tmp_path, f'{EVERYTHING},{BAD_LINK},results=one,workers=5,bytes=1400,'
                     f'chunks=600{option}', vdev=vdev)
        live.stop()
    assert_all_right(report, 600)
    assert report['retries'] > 0 and report['repeated'] > 0


def test_bad_packets_disturb_nobody_and_are_counted(tmp_path):
    """Three bad packets for each good one, of all kinds: each is counted by its name."""
    with over_vhost(tmp_path) as (live, vdev):
        report = run(tmp_path, f'{EVERYTHING},flood=300,chunks=1000', vdev=vdev)
        stats = live.stop()
    assert_all_right(report, 1000)
    table, drops, bad = stats['aggregate'], stats['drops'], report['bad_packets']
    assert report['bad'] == 3 * report['requests']
    assert min(bad.values()) >= report['bad'] // len(bad)
    for name in ('stale_session', 'unknown_worker', 'wrong_address'):
        assert table[name] == bad[name]
    # So are leaves that were repeated, because an answer was late, when the job was gone.
    repeated = report['leaves'] - report['configuration']['workers']
    assert bad['no_job'] <= table['no_job'] <= bad['no_job'] + repeated
    assert table['refused']['length'] == bad['length']
    assert drops['not_netfc'] == bad['not_netfc']
    assert drops['malformed'] == bad['wrong_checksum']
    assert drops['aggregate_denied'] == sum(
        bad[name] for name in ('stale_session', 'unknown_worker', 'wrong_address'))


def test_many_workers(tmp_path):
    with over_vhost(tmp_path) as (live, vdev):
        report = run(tmp_path, f'{EVERYTHING},workers=64,chunks=200', vdev=vdev)
        live.stop()
    assert_all_right(report, 200)


def test_one_run_after_the_other(tmp_path):
    """Each has the job for itself: the one before has left it."""
    with over_vhost(tmp_path, '--aggregate=jobs=1') as (live, vdev):
        for _ in range(2):
            assert_all_right(run(tmp_path, 'chunks=100', vdev=vdev), 100)
        live.stop()


@hosts.needs_namespaces
@pytest.mark.parametrize('device, shards', [
    ('net_tap0,iface=eth0', 1), ('net_tap0,iface=eth0', 2), ('net_af_packet0,iface=eth0', 1)])
def test_in_a_namespace(tmp_path, device, shards):
    """Over TAP and AF_PACKET: the bench is at the interface's other end."""
    end = 'eth0' if 'tap' in device else 'eth1'
    if why_not := why_no_port(f'net_af_packet0,iface={end}'):
        pytest.skip(why_not)
    with hosts.Namespace() as namespace:
        if 'tap' not in device:
            namespace.ip('link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'eth1')
            namespace.ip('link', 'set', 'eth0', 'up')
            namespace.ip('link', 'set', 'eth1', 'up')
        with aggregating(tmp_path, device, f'--aggregate=shards={shards}', lcores=shards,
                         namespace=namespace) as live:
            live.wait_until_ready()
            namespace.ip('link', 'set', end, 'up')
            report = run(tmp_path, f'{EVERYTHING},slots=16,workers=4,chunks=400,retry=50',
                         vdev=f'net_af_packet0,iface={end}',
                         within=['ip', 'netns', 'exec', namespace.name])
            live.stop()
    assert_all_right(report, 400)


# ---- a switch that errs ----------------------------------------------------------------------

UDP, PAYLOAD = 34, 42
VALUES = PAYLOAD + aggregation.HEADER.size


def word_sum(data):
    total = oracle.word_sum(data)
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def answered(request, damage=lambda payload: payload):
    """The frame that answers the only worker of a job: its own values, addresses turned round."""
    payload = bytearray(request[PAYLOAD:])
    payload[protocol.STATUS_OFFSET] = protocol.REPLY
    if payload[3] == aggregation.OPS['join']:
        payload[25] = 1  # shard
    else:
        payload = damage(payload)
    ip = request[26:30], request[30:34]
    ports = request[UDP:UDP + 2], request[UDP + 2:UDP + 4]
    length = struct.pack('>H', 8 + len(payload))
    pseudo = ip[1] + ip[0] + bytes([0, 17]) + length
    datagram = ports[1] + ports[0] + length + bytes(2) + bytes(payload)
    checksum = ~word_sum(pseudo + datagram) & 0xFFFF or 0xFFFF
    total = struct.pack('>H', 28 + len(payload))
    header = request[14:16] + total + request[18:24] + bytes(2) + ip[1] + ip[0]
    header = header[:10] + struct.pack('>H', ~word_sum(header) & 0xFFFF) + header[12:]
    return (request[6:12] + request[:6] + request[12:14] + header + datagram[:6] +
            struct.pack('>H', checksum) + datagram[8:])


def flipped(at, bits=1):
    def damage(payload):
        payload[at] ^= bits
        return payload
    return damage


FAULTS = {
    'a value': flipped(aggregation.HEADER.size + 3),
    'flags': flipped(protocol.STATUS_OFFSET),
    'the operation': flipped(3, 33 ^ 34),
    'the token': flipped(20),
    'the number of values': flipped(7, 2),
}


def over_tap(folder, answer, option, status):
    """Runs one worker against a switch that errs."""
    with bench_runs.erring(aggregation.UDP_PORT, answer) as device:
        return run(folder, f'workers=1,chunks=20,slots=1,{option}', vdev=device, status=status)


@needs_tap
def test_a_switch_without_faults_passes(tmp_path):
    report = over_tap(tmp_path, lambda request: [answered(request)], 'retry=50', 0)
    assert_all_right(report, 20)


@needs_tap
@pytest.mark.parametrize('fault', FAULTS)
def test_a_wrong_result_is_found(tmp_path, fault):
    seen = []

    def answer(request):
        seen.append(request[PAYLOAD + 3])
        wrong = seen.count(aggregation.OPS['sum']) == 7
        return [answered(request, FAULTS[fault] if wrong else lambda payload: payload)]

    report = over_tap(tmp_path, answer, 'retry=2000', 2)
    assert report['wrong'] == 1 and report['right'] == 19


@needs_tap
def test_a_wrong_checksum_is_found(tmp_path):
    seen = []

    def answer(request):
        frame = bytearray(answered(request))
        seen.append(request[PAYLOAD + 3])
        if seen.count(aggregation.OPS['sum']) == 7:
            frame[UDP + 6] ^= 1
        return [frame]

    assert over_tap(tmp_path, answer, 'retry=2000', 2)['wrong'] == 1


@needs_tap
def test_a_switch_that_ends_ends_the_run(tmp_path):
    seen = []

    def answer(request):
        seen.append(request[PAYLOAD + 3])
        return [answered(request)] if seen.count(aggregation.OPS['sum']) < 7 else []

    report = over_tap(tmp_path, answer, 'retry=50,give_up=5', 2)
    assert report['ended_by'] == 'failure' and report['right'] == 6


# ---- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize('option, message', [
    ('workers=0', 'a number from 1 to 64'),
    ('workers=65', 'a number from 1 to 64'),
    ('slots=100', 'not a power of two'),
    ('loss=91', 'a decimal number'),
    ('format=fp128', "'fp128'"),
    ('op=add', "'add'"),
    ('data=noise', "'noise'"),
    ('length=short', "'short'"),
    ('speed=9', 'unknown key; known keys: workers'),
    ('workers', 'KEY=VALUE'),
    ('bytes=2000', 'see --mtu'),
])
def test_bad_keys(option, message):
    assert message in bench_runs.refused(f'--aggregate={option}', vdevs=['net_null0'])


@pytest.mark.parametrize('options, message', [
    (['--lanes', 4], '--lanes: not with --aggregate'),
    (['--match', 'lpm'], '--match: not with --aggregate'),
    (['--dst-udp', 7], '--dst-udp: not with --aggregate'),
    (['--src-ip', '198.18.0.250'], 'a worker each'),
])
def test_options_that_do_not_go_together(options, message):
    assert message in bench_runs.refused('--aggregate', *options, vdevs=['net_null0'])


def test_no_switch_at_all(tmp_path):
    report = run(tmp_path, 'give_up=1', vdev='net_null0,no-rx=1', status=2)
    assert report['ended_by'] == 'failure' and report['results'] == 0


def test_a_switch_that_grants_less(tmp_path):
    with over_vhost(tmp_path, '--aggregate=bytes=512') as (live, vdev):
        report = run(tmp_path, 'chunks=10', vdev=vdev, status=2)
        live.stop()
    assert report['requests'] == 0


def test_a_switch_that_is_full(tmp_path):
    with over_vhost(tmp_path, '--aggregate=workers=4') as (live, vdev):
        assert run(tmp_path, 'chunks=10', vdev=vdev, status=2)['requests'] == 0
        live.stop()
