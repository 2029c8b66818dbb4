# SPDX-License-Identifier: BSD-3-Clause
"""The same values aggregated in random orders, over ports of several kinds: always the same bits.

Packets are lost, repeated and sent in another order on purpose, and so are results.
"""

import contextlib
import random
import select
import socket
import time

import numpy as np

import aggregation_workers as workers
import hosts
import switch
from processes import MESSAGES, vhost_connected

WORKERS = 4
SLOTS = 8
VALUES = 64  # binary32 of a chunk
LOST = REPEATED = 0.2
PAUSE_S = 0.02  # without a reply: all that will come has come
TIMEOUT_S = 200


def values():
    """Binary32 of all scales, that cancel and round; shape (WORKERS, VALUES)."""
    draw = np.random.default_rng(16)
    made = (draw.standard_normal((WORKERS, VALUES)) * 10.0 ** draw.integers(-6, 6, VALUES))
    made = made.astype('>f4')
    made[-1, ::7] = -made[0, ::7]
    return made


# ---- ports -----------------------------------------------------------------------------------


def options_for(shards):
    return ['--address', f'{hosts.SWITCH_IP}/24', f'--aggregate=shards={shards}']


def over_tap(folder, shards):
    """Yields the workers' host, and the switch."""
    return hosts.at_tap(folder, options_for(shards), lcores=shards)


@contextlib.contextmanager
def over_af_packet(folder, shards):
    with hosts.veth_network(1) as (middle, (host,)), hosts.LiveSwitch(
            folder, hosts.veth_ports(1, f',qpairs={shards}'), options_for(shards), namespace=middle,
            lcores=shards) as live:
        live.wait_until_ready()
        yield host, live


@contextlib.contextmanager
def over_virtio_user(folder, shards):
    """A second switch passes on what comes by its TAP port, as a hypervisor's vhost would."""
    path = switch.RUNTIME / f'vhost-{next(hosts.numbers)}'
    vdevs = ['net_tap0,iface=eth0', f'net_vhost0,iface={path},queues={shards}']
    port = f'net_virtio_user0,path={path},queue_size=1024,queues={shards}'
    with hosts.Host(0) as host, hosts.LiveSwitch(
            folder, vdevs, ['--forward', 'pair'], namespace=host, lcores=shards,
            eal=MESSAGES) as middle:
        middle.wait_for_message('binding succeeded')
        middle.wait_until_ready()
        with hosts.LiveSwitch(folder, [port], options_for(shards), lcores=shards) as live:
            vhost_connected(middle)
            host.configure()
            yield host, live


PORTS = {'TAP': over_tap, 'AF_PACKET': over_af_packet, 'virtio-user': over_virtio_user}


# ---- orders ----------------------------------------------------------------------------------


class Round:
    """As many chunks as there are slots, of all workers: each comes in an order of its own."""

    def __init__(self, team, first, draw):
        self._team, self._draw = team, draw
        self._values = [row.tobytes() for row in values()]
        self._missing = {(w, first + slot) for w in range(WORKERS) for slot in range(SLOTS)}
        self.results = set()

    def run(self):
        """Until every worker has each result."""
        limit = time.monotonic() + TIMEOUT_S
        while self._missing:
            assert time.monotonic() < limit, f'no result for {sorted(self._missing)[:5]}'
            self._send()
            self._receive()

    def _send(self):
        """What has no result, in random order; some is lost, some sent twice."""
        packets = [packet for packet in sorted(self._missing) if self._draw.random() >= LOST]
        packets += [packet for packet in packets if self._draw.random() < REPEATED]
        self._draw.shuffle(packets)
        for w, number in packets:
            self._team[w].send_chunk(number, self._values[w])

    def _receive(self):
        """What comes; some of it is lost."""
        sockets = {worker.socket: w for w, worker in enumerate(self._team)}
        while ready := select.select(list(sockets), [], [], PAUSE_S)[0]:
            for each in ready:
                reply = self._team[sockets[each]].receive()
                assert reply.code == 0, reply
                if self._draw.random() >= LOST:
                    self.results.add((reply.rest, reply.status))
                    self._missing.discard((sockets[each], reply.id))


def check_orders(host, count, seed):
    """At least so many orders. Returns how many; all have the exact sums' bits."""
    draw = random.Random(seed)
    team = [workers.Worker(host.udp(socket.AF_INET), hosts.SWITCH_IP, w) for w in range(WORKERS)]
    workers.join_all(team)
    done = 0
    while done < count:
        chunks = Round(team, done, draw)
        chunks.run()
        (bits, _), = chunks.results
        assert bits == workers.exact_sum(values())
        done += SLOTS
    for worker in team:
        worker.leave()
        worker.socket.close()
    return done


def run(folder, port, shards, count, seed=1):
    """That over a port of PORTS; the switch's statistics are checked, and returned."""
    with PORTS[port](folder, shards) as (host, live):
        done = check_orders(host, count, seed)
        stats = live.stop()
    table = stats['aggregate']
    assert table['completed'] == done and table['added'] == done * (WORKERS - 1)
    return {**table, 'orders': done}
