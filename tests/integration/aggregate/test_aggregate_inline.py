# SPDX-License-Identifier: BSD-3-Clause
"""netfc-bench --inline --aggregate: the workers and the switch in one process.

Real processes: both ends on one lcore, without a device.
"""

import json
import signal
import subprocess

import pytest

import bench_runs
import hosts
import switch
from test_aggregate_bench import assert_adds_up, assert_all_right


def run(folder, keys, *options, lcores=2):
    """Runs it to its end; returns its report."""
    path = folder / 'report.json'
    done = switch.execute(
        bench_runs.arguments([f'--aggregate=slots=64,{keys}', *options, '--json', path],
                             memory=320, lcores=lcores), bench_runs.PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(path.read_text())
    assert_adds_up(report)
    assert_all_right(report, 300)
    assert report['mbufs_leaked'] == 0
    assert report['switch']['seconds'] > 0 and report['switch']['values_per_second'] > 0
    assert report['switch']['aggregate']['completed'] == report['chunks']
    return report


@pytest.mark.parametrize('keys', ['format=fp16', 'format=bf16,data=sparse,op=mean',
                                  'workers=3,bytes=100',
                                  'format=fp8_e4m3+fp8_e5m2,into=fp16,op=sum+mean,data=all',
                                  'format=fp8_e4m3+fp8_e5m2,into=bf16,op=sum+mean,data=all',
                                  'format=fp8_e4m3+fp8_e5m2+fp16+bf16,into=fp32,op=sum+mean,'
                                  'data=all,length=any,loss=2,retry=20,results=one',
                                  'format=all,op=all,data=all,length=any'])
def test_results_are_right(tmp_path, keys):
    report = run(tmp_path, f'{keys},chunks=300', '--inline')
    assert report['switch']['lcores'] == 1
    assert report['requests'] <= report['switch']['packets'] <= report['sent']


def test_workers_that_are_leaves_send_exact_sums(tmp_path):
    report = run(tmp_path, 'workers=4,behind=3,format=all,op=sum+mean,length=any,loss=2,duplicate=5,'
                 'data=gradients+cancel+zeros+special,reorder=10,chunks=300', '--inline')
    assert report['parts'] > 0


def test_digits_of_gradients_fill_two_packets(tmp_path):
    report = run(tmp_path, 'workers=4,behind=3,chunks=300', '--inline')
    assert report['parts'] == report['requests']


def test_a_leaf_whose_root_is_another_process(tmp_path):
    socket = tmp_path / 'socket'
    device = f'net_memif0,socket={socket},socket-abstract=no'
    path, chunks = tmp_path / 'report.json', 300
    keys = f'workers=4,slots=64,place=0of1,parent=198.18.0.3,format=all,data=all,chunks={chunks}'
    with hosts.LiveSwitch(tmp_path, [f'{device},role=server'],
                          ['--address', '198.18.0.3/24', '--aggregate=slots=64,digits=all']) as root:
        bench_runs.wait_for(socket, socket.exists)
        done = switch.execute(bench_runs.arguments(
            [f'--aggregate={keys}', '--inline', '--json', path], [f'{device},role=client'],
            memory=320, lcores=2), bench_runs.PROGRAM)
        stats = root.stop()
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(path.read_text())
    assert_adds_up(report)
    assert_all_right(report, chunks)
    assert report['switch']['aggregate']['handed_down'] == chunks
    assert stats['aggregate']['completed'] == chunks


@pytest.mark.parametrize('queue', ['shard', 'other'])
def test_two_lcores(tmp_path, queue):
    """Each has a shard; packets come to its own queue, or all of them to the other's."""
    report = run(tmp_path, f'queue={queue},chunks=300', '--inline=2', lcores=3)
    assert report['switch']['lcores'] == 2


def test_over_ipv6_with_a_key(tmp_path):
    key = tmp_path / 'key'
    key.write_text(64 * 'd')
    key.chmod(0o600)
    report = run(tmp_path, f'key={key},bytes=1400,chunks=300,loss=2,retry=20', '--inline', '--ip6')
    assert report['forged'] == 0


def test_bad_packets_are_counted(tmp_path):
    report = run(tmp_path, 'flood=300,chunks=300', '--inline')
    counted, bad = report['switch']['aggregate'], report['bad_packets']
    assert min(bad.values()) > 0
    for name in ('stale_session', 'unknown_worker', 'wrong_address'):
        assert counted[name] == bad[name]


@pytest.mark.parametrize('options, message', [
    (['--aggregate=format=int32,into=fp32'], 'op=sum of format=int32 has no such results'),
    (['--aggregate=format=fp8_e4m3,into=fp32,op=max'], 'op=max of format=fp8_e4m3 has no such'),
    (['--aggregate=queue=other', '--inline'], 'queue=other: without --inline=2'),
    (['--aggregate=place=2of2'], 'expected INDEXofMEMBERS'),
    (['--aggregate=place=0of1+0of1+0of1+0of1+0of1'], 'for up to 4 levels'),
    (['--aggregate=workers=4,place=1of2'], 'place=: give chunks=N, the same at all leaves'),
    (['--aggregate=workers=40,place=1of2,chunks=9'], 'place=: more than 64 workers in all'),
    (['--aggregate=workers=9,behind=8'], 'behind=: more than 64 workers in all'),
    (['--aggregate=behind=2,op=min'], 'behind=: exact sums are of op=sum+mean'),
    (['--aggregate=place=0of1,op=copy'], 'place=: trees support neither results=one nor op=copy'),
    (['--aggregate=parent=198.18.0.3'], 'parent=: is that of the switch: it goes with --inline'),
    (['--aggregate', '--inline', '--tx-port', 1], 'brings its own ports'),
    (['--inline=17'], 'a number from 1 to 16'),
    (['--inline', '0'], 'a number from 1 to 16'),
])
def test_bad_options(options, message):
    assert message in bench_runs.refused(*options)


MANY = 'workers=2,slots=64,chunks=4000000000'


def test_a_signal_ends_what_has_many_chunks_left(tmp_path):
    path = tmp_path / 'report.json'
    command = [bench_runs.PROGRAM, *bench_runs.arguments(
        [f'--aggregate={MANY}', '--inline', '--json', path, '--progress', 0.1], memory=320, lcores=2)]
    with subprocess.Popen(command, env=switch.ENVIRONMENT, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        try:
            assert any(' results ' in line for line in process.stderr)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=switch.TIMEOUT_S)
        finally:
            process.kill()
    report = json.loads(path.read_text())
    assert process.returncode == 0 and report['ended_by'] == 'signal'
    assert_adds_up(report)
    assert report['right'] == report['results'] == report['requests'] == 2 * report['chunks'] > 0


def test_seconds_end_what_has_many_chunks_left(tmp_path):
    path = tmp_path / 'report.json'
    done = switch.execute(bench_runs.arguments(
        [f'--aggregate={MANY}', '--inline', '--json', path, '--seconds', 0.2], memory=320, lcores=2),
        bench_runs.PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(path.read_text())['ended_by'] == 'seconds'
