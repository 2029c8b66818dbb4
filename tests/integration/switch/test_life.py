# SPDX-License-Identifier: BSD-3-Clause
"""From start to stop: statistics, idle exit, signals."""

import os
import signal
import subprocess
import time
from collections import Counter

import pytest

import frames
import oracle
import switch
from needs import WITHOUT_RIGHTS, needs_tap


def test_statistics_have_every_field():
    inputs = [frames.plain_frame(payload) for payload in frames.bad_requests().values()]
    inputs += [frames.plain_frame(frames.lanes(7))] * 3
    inputs += [frames.plain_frame(frames.lanes(7, status=0x80))]
    counters = Counter()
    for frame in inputs:
        oracle.switch(frame, oracle.table_sets('fp16_k1024'), counters=counters)
    stats = switch.run([inputs, []]).stats
    switch.assert_counted(stats, counters)
    assert set(stats['errors']) == set(oracle.ERRORS) - {'ok'}
    assert set(stats['exceptions']) == set(oracle.EXCEPTIONS)
    assert all(stats['errors'][name] > 0 for name in stats['errors'] if name != 'lanes')
    assert stats['rx_packets'] == len(inputs)
    assert stats['drops'] and not any(stats['drops'].values())
    assert 0 < stats['seconds'] < switch.TIMEOUT_S


def test_nothing_comes():
    result = switch.run([[], []])
    assert result.stats['rx_packets'] == 0
    assert result.outputs == [[], []]


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
@pytest.mark.parametrize('options', [[], ['--forward', 'reflect', '--match', 'direct']],
                         ids=['default', 'direct'])
def test_signals_stop_it_cleanly(tmp_path, number, options):
    requests = [frames.plain_frame(frames.lanes(count)) for count in range(1, 65)]
    running = switch.Running(tmp_path, requests, options)
    assert running.wait_until_busy()[-1] == 'Ready; Ctrl-C or SIGTERM ends it\n'
    status, stderr, stats = running.stop(number)
    assert status == 0, stderr
    assert stats['rx_packets'] > len(requests)
    assert 0 < stats['netfc_packets'] <= stats['rx_packets']
    assert stats['lanes'] > stats['netfc_packets']


def test_a_signal_while_it_starts(tmp_path):
    """Whenever it comes, the switch either stops cleanly or has not begun to handle signals."""
    requests = [frames.plain_frame(frames.request())]
    running = switch.Running(tmp_path, requests)
    time.sleep(0.25)
    running.process.terminate()
    _, stderr = running.process.communicate(timeout=switch.TIMEOUT_S)
    assert running.process.returncode in (0, -signal.SIGTERM), stderr


def test_idle_exit_waits_for_silence(tmp_path):
    began = time.monotonic()
    done = switch.execute([*switch.eal_options(['net_null0,no-rx=1']), '--', '--idle-exit', '400',
                           '--match', 'direct',
                           '--stats-json', tmp_path / 'stats'])
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - began >= 0.4
    assert switch.read_stats(tmp_path / 'stats')['seconds'] >= 0.4


def test_idle_exit_does_not_stop_traffic(tmp_path):
    requests = [frames.plain_frame(frames.request())]
    running = switch.Running(tmp_path, requests, ['--idle-exit', '50', '--match', 'direct'])
    running.wait_until_busy()
    assert running.process.poll() is None
    assert running.stop()[0] == 0


def test_idle_exit_does_not_take_a_pause_of_its_own_for_silence(tmp_path):
    """Traffic goes on at an lcore that is not the main one, while the process is stopped for longer than it may be idle."""
    switch.write_capture(tmp_path / 'in', [frames.plain_frame(frames.request())])
    eal = switch.eal_options([f'net_pcap0,rx_pcap={tmp_path}/in,infinite_rx=1'], lcores=2)
    options = ['--idle-exit', '100', '--match', 'direct', '--config', '(0,0,1)', '--stats-json', tmp_path / 'stats']
    with subprocess.Popen([switch.PROGRAM, *map(str, [*eal, '--', *options])], env=switch.ENVIRONMENT, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        while not process.stdout.readline().startswith('Ready'):
            assert process.poll() is None
        for _ in range(5):
            process.send_signal(signal.SIGSTOP)
            time.sleep(0.3)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.05)
        assert process.poll() is None
        process.terminate()
        process.communicate()
    switch.read_stats(tmp_path / 'stats')


def test_what_no_port_takes_is_counted_as_dropped(tmp_path):
    """A vhost port that nobody is connected to refuses every frame."""
    requests = [frames.plain_frame(frames.lanes(count)) for count in range(1, 201)]
    switch.write_capture(tmp_path / 'in', requests)
    vdevs = [f'net_pcap0,rx_pcap={tmp_path}/in', f'net_vhost0,iface={switch.RUNTIME}/vhost']
    done = switch.execute([*switch.eal_options(vdevs), '--', '--idle-exit', '100',
                           '--match', 'direct', '--stats-json', tmp_path / 'stats'])
    assert done.returncode == 0, done.stderr
    stats = switch.read_stats(tmp_path / 'stats')
    assert stats['rx_packets'] == sum(stats['drops'].values()) == len(requests)
    assert stats['tx_packets'] == 0


@needs_tap
@pytest.mark.parametrize('device, capability', [
    ('net_tap0,iface=netfc-none', 'CAP_NET_ADMIN'), ('net_af_packet0,iface=lo', 'CAP_NET_RAW')])
def test_a_device_that_takes_a_right(device, capability):
    """Who has no rights is told which it takes, and who has it."""
    done = switch.execute([*WITHOUT_RIGHTS, switch.PROGRAM, *switch.eal_options([device])], 'env')
    assert done.returncode == 1
    assert done.stderr.endswith(f'dpdk-netfc: --vdev={device}: there is no such port; '
                                f'it takes {capability}, which root has: sudo\n')


@needs_tap
def test_a_tap_interface_starts_without_complaints():
    """Of the qdisc that the driver tries and does without."""
    name = f'netfc-{os.getpid()}'
    options = [*switch.eal_options([f'net_tap0,iface={name}']), '--', '--idle-exit', '300']
    assert 'qdisc' not in switch.execute(options).stderr
    loud = switch.execute(['--log-level=pmd.net.tap:debug', *options])
    assert loud.returncode == 0 and 'eth_dev_tap_create()' in loud.stderr
