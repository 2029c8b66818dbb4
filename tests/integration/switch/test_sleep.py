# SPDX-License-Identifier: BSD-3-Clause
"""An lcore that finds nothing sleeps, and packets wake it."""

import contextlib
import os
import time

import pytest

import frames
import switch
from hosts import LiveSwitch, SWITCH_IP, at_tap, veth_network, veth_ports, wait_until

from netfc.telemetry import Telemetry

PINGS = 20
SECOND_SHARD = 20041


@contextlib.contextmanager
def on_tap(folder, *options, lcores=1):
    """A host on a TAP interface, and a connection to the switch's telemetry."""
    with at_tap(folder, ['--address', SWITCH_IP, *options], lcores=lcores, telemetry=True) as (host, live), \
            Telemetry(live.telemetry_path) as telemetry:
        yield live, host, telemetry


@contextlib.contextmanager
def on_veth(folder, *options):
    """Likewise, on a veth pair, where the driver hides its sockets."""
    with veth_network(1) as (middle, (host,)), LiveSwitch(
            folder, veth_ports(1), ['--address', SWITCH_IP, *options], namespace=middle,
            telemetry=True) as live:
        live.wait_until_ready()
        with Telemetry(live.telemetry_path) as telemetry:
            yield live, host, telemetry


def wait_for_growth(telemetry, name):
    """Waits until a counter has grown."""
    before = telemetry.ask('/netfc/stats')[name]
    wait_until(lambda: telemetry.ask('/netfc/stats')[name] > before, f'more {name}')


@pytest.mark.parametrize('network', [on_tap, on_veth])
def test_sleeps_and_wakes(tmp_path, network):
    with network(tmp_path) as (live, host, telemetry):
        for _ in range(3):
            wait_for_growth(telemetry, 'sleep_cycles')
            host.ping(SWITCH_IP, count=PINGS)
        stats = live.stop()
    assert stats['sleep_cycles'] + stats['busy_cycles'] <= stats['cycles']


@pytest.mark.parametrize('network', [on_tap, on_veth])
def test_waits_for_interrupts(tmp_path, network):
    with network(tmp_path) as (live, host, telemetry):
        assert 'sleep     lcore 0: up to 58 us, then until a receive interrupt\n' in live.stdout
        host.ping(SWITCH_IP)
        wait_until(lambda: host.ping(SWITCH_IP, count=1) or
                   telemetry.ask('/netfc/stats')['interrupts'] > 0, 'an interrupt')
        live.stop()


@pytest.mark.parametrize('network', [on_tap, on_veth])
def test_poll_never_sleeps(tmp_path, network):
    with network(tmp_path, '--poll') as (live, host, telemetry):
        assert 'sleep     never (--poll)' in live.stdout
        host.ping(SWITCH_IP)
        wait_for_growth(telemetry, 'polls')
        stats = live.stop()
    assert stats['sleep_cycles'] == stats['interrupts'] == 0


def test_lcores_that_aggregate_for_others_are_woken_by_them(tmp_path):
    """The second lcore has no queue: what it gets is handed over, while it sleeps."""
    options = ['--aggregate', 'shards=2', '--config', '(0,0,0),(0,1,0)']
    with on_tap(tmp_path, *options, lcores=2) as (live, host, telemetry):
        assert live.stdout.count('then until a receive interrupt') == 2
        with host.udp() as client:
            client.connect((SWITCH_IP, SECOND_SHARD))

            def woken():
                time.sleep(0.2)  # its ramp is over
                client.send(b'anything')
                lcore = telemetry.ask('/netfc/lcore,1')
                return lcore['interrupts'] > 0 and lcore['drops']['not_netfc'] > 0

            wait_until(woken, 'the second lcore to be woken')
        live.stop()


def plan(arguments, *options):
    """What the switch says at start, which ends soon."""
    done = switch.execute([*arguments, '--', '--idle-exit', '1', '--match', 'direct', '--poll',
                           *options])
    assert done.returncode == 0, done.stderr
    return done.stdout


def eal(lcores, *vdevs):
    options = switch.eal_options(vdevs)
    options[1] = lcores
    return options


def test_polling_on_shared_cpus_is_said():
    cpu = min(os.sched_getaffinity(0))
    said = plan(eal(f'(0-1)@{cpu}', 'net_null0,no-rx=1', 'net_null1,no-rx=1'))
    assert 'lcores 0 and 1 share a CPU' in said
    said = plan(eal(f'(0-1)@{cpu}', 'net_null0,no-rx=1'), '--config', '(0,0,0)')
    assert 'share' not in said  # the second has nothing to do


def test_polling_on_all_cpus_is_said():
    cpus = sorted(os.sched_getaffinity(0))
    lcores = ','.join(f'{number}@{cpu}' for number, cpu in enumerate(cpus))
    vdevs = [f'net_null{n},no-rx=1' for n in range(2 * ((len(cpus) + 1) // 2))]
    if len(cpus) == os.cpu_count():
        assert 'no CPU is left' in plan(eal(lcores, *vdevs))
    if len(cpus) > 1:
        assert 'no CPU is left' not in plan(eal(f'0@{cpus[0]}', 'net_null0,no-rx=1'))


def test_the_end_of_traffic_is_seen_asleep():
    result = switch.run([[frames.plain_frame(frames.request())] * 100])
    assert result.stats['sleep_cycles'] > 0
