# SPDX-License-Identifier: BSD-3-Clause
"""A real attack on a real server through the running switch, and queries both ways."""

import pytest

import hosts
import needs
import switch

from slowloris import demo, latency

pytestmark = hosts.needs_namespaces
ATTACK_S = 12


@pytest.mark.slow
def test_slow_connections_are_dropped_and_honest_clients_served():
    figures = demo.run(switch.PROGRAM, 'connection', ATTACK_S, print)
    print(demo.describe(figures))
    success = figures['success']
    assert success['before'] > 0.9
    assert any(not good for when, good in figures['requests'] if when > 0), 'no harm was done'
    assert 1 < figures['detected_s'] < figures['recovered_s'] < ATTACK_S
    assert success['last_third'] > 0.9 and success['after'] > 0.9
    assert figures['drops']['slowloris_connection'] > 0
    assert figures['drops']['slowloris_destination'] == 0
    packets = figures['honest_packets']
    assert packets['sent'] == packets['received'] > 100
    assert figures['detector']['missed'] == 0


@pytest.mark.parametrize('during, recovered, text', [
    (1, None, 'it always did'), (0.5, None, 'never'), (0.5, 3.25, '3.25 s')])
def test_what_is_said_of_the_server(during, recovered, text):
    assert demo.recovery_text({'recovered_s': recovered, 'success': {'during': during}}) == text


@needs.needs_long_rings
def test_data_path_and_detour_agree():
    figures = latency.measure(switch.PROGRAM, 20)
    (ratio, *counted), (exact, *read) = figures['answers'].values()
    assert counted == read and counted[0] == latency.CONNECTIONS
    assert ratio == pytest.approx(exact, rel=0.002)
    assert figures['data path']['p50_us'] < figures['detour']['p50_us']
