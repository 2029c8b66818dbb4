# SPDX-License-Identifier: BSD-3-Clause
"""Several switches: behind one address, which needs no state; and the state that does."""

import pytest

import hosts
import switch
import tcp_frames

from anycast import demo, network

SECONDS = 3
CONNECTIONS = 20


@pytest.mark.slow
@pytest.mark.skipif(not network.has_frr(), reason='FRR is not installed (Debian: frr)')
@hosts.needs_namespaces
def test_one_of_two_switches_is_killed_under_load():
    """Its route goes, all clients get all of their results, and it is used again when it is back."""
    figures = demo.run(switch.PROGRAM, SECONDS, print)
    print(demo.describe(figures))
    assert figures['wrong'] == figures['failed'] == 0
    assert figures['requests'] > 10 * demo.CLIENTS
    assert min(figures['both']) > 0 and figures['one'] > 0 and min(figures['both_again']) > 0
    assert figures['sent_again'] > 0, 'nobody was asking while the switch was dead'


@pytest.mark.parametrize('ways', ['symmetric', 'asymmetric'])
def test_the_detector_has_to_see_both_directions(ways):
    """A switch that sees only what clients send knows of no complete handshake, and so of no attack."""
    frames = [frame for number in range(CONNECTIONS)
              for frame in tcp_frames.handshake(tcp_frames.address(number), 1000)]
    if ways == 'asymmetric':
        frames = [frame for frame in frames if frame[30:34] == tcp_frames.SERVER]
    stats = switch.run([frames], options=['--slowloris'], more_memory=256).stats['slowloris']
    assert stats['connections'] == CONNECTIONS
    assert stats['half_open'] == (CONNECTIONS if ways == 'asymmetric' else 0)
