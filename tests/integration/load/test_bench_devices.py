# SPDX-License-Identifier: BSD-3-Clause
"""netfc-bench against the switch in another process."""

import contextlib
import subprocess
import threading

import oracle
import switch
from bench_runs import OP_NAMES, PROGRAM, WAIT_S, arguments, assert_all_right, bench, wait_for


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
