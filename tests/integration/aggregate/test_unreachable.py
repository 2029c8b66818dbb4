# SPDX-License-Identifier: BSD-3-Clause
"""Workers whose host or network says for a while that the switch cannot be reached: they go on.

The switch is lib/aggregate behind sockets, in a network namespace; the workers are in another.

The kernel's errors of sockets, which only an interface that goes down gives.
"""

import contextlib
import socket
import struct
import threading
import time
from concurrent import futures

import allreduce_server
import hosts
import needs
import numpy as np
import pytest
import sanitized
import switch

import namespaces
from netfc import allreduce

PORT, SHARDS = 20040, 2
WORKERS = 3
COUNT = 20_000
OUTAGE_S = 0.3
TIMES = 3
EPHEMERAL = range(32768, 61000)
ICMP_UNREACHABLE = 3

pytestmark = [
    hosts.needs_namespaces,
    pytest.mark.skipif(
        sanitized.is_sanitized(),
        reason='the client in this process and the programs of the build need different'
        ' environments')]
needs_nft = needs.needs_program('nft', ' (nftables)')


@contextlib.contextmanager
def serving():
    """The switch's namespace, and the workers' host."""
    with hosts.Namespace() as middle, hosts.Host(0) as host:
        namespaces.join(middle, 0, host)
        middle.ip('address', 'add', f'{hosts.SWITCH_IP}/24', 'dev', 'p0')
        host.configure()
        with allreduce_server.serving(middle.inside(), address=hosts.SWITCH_IP, port=PORT, shards=SHARDS):
            yield middle, host


class Job:
    """Workers that reduce until they are told to end, all at once."""

    def __init__(self, host):
        self._host = host
        self._begun, self._over = threading.Event(), threading.Event()

    def _reduce(self, comm, rank):
        """How many times."""
        times, over = 0, np.zeros(1, 'i4')
        while not over[0]:
            mine = np.full(COUNT, rank + 1, 'f4')
            comm.allreduce(mine)
            assert np.all(mine == WORKERS * (WORKERS + 1) / 2)
            self._begun.set()
            over[0] = rank == 0 and self._over.is_set()
            comm.allreduce(over)
            times += 1
        return times

    def _work(self, rank):
        try:
            with self._host.entered(), allreduce.Communicator(
                    f'{hosts.SWITCH_IP}:{PORT}', worker=rank, workers=WORKERS, token=0x5eed,
                    build=switch.BUILD) as comm:
                return self._reduce(comm, rank)
        finally:
            self._begun.set()

    def through(self, trouble):
        """Have trouble() while they work. All of them do the same number of allreduces."""
        with futures.ThreadPoolExecutor(WORKERS) as pool:
            working = [pool.submit(self._work, rank) for rank in range(WORKERS)]
            self._begun.wait(60)
            try:
                trouble()
            finally:
                self._over.set()
            times = {worker.result(60) for worker in working}
        assert len(times) == 1


@contextlib.contextmanager
def rule(namespace, hook, *words):
    """A rule of nftables on a namespace's UDP packets to the switch, or from it."""
    table = ['inet', 'netfc']
    try:
        namespace.run('nft', 'add', 'table', *table)
        namespace.run('nft', 'add', 'chain', *table, hook,
                      f'{{ type filter hook {hook} priority 0; }}')
        namespace.run('nft', 'add', 'rule', *table, hook, 'udp', 'dport',
                      f'{PORT}-{PORT + SHARDS - 1}', *words)
    except namespaces.CommandError as error:
        pytest.skip(f'nftables cannot be used: {str(error).splitlines()[-1]}')
    try:
        yield
    finally:
        namespace.run('nft', 'delete', 'table', *table)


def ruled(namespace, hook, *words):
    """Have such a rule for a while, several times."""
    for _ in range(TIMES):
        with rule(namespace, hook, *words):
            time.sleep(OUTAGE_S)
        time.sleep(OUTAGE_S)


@needs_nft
@pytest.mark.parametrize('kind', [
    'port-unreachable', 'host-unreachable', 'net-unreachable', 'admin-prohibited'])
def test_what_a_router_or_the_host_says(kind):
    with serving() as (middle, host):
        Job(host).through(lambda: ruled(middle, 'input', 'reject', 'with', 'icmp', 'type', kind))


@needs_nft
def test_a_firewall_of_the_workers_own():
    """Sending fails: it is not permitted."""
    with serving() as (_, host):
        Job(host).through(lambda: ruled(host, 'output', 'drop'))


@pytest.mark.parametrize('end', ['the switch', 'the workers'])
def test_a_link_that_is_down_for_a_while(end):
    """With its own link down, a host has no route."""
    with serving() as (middle, host):
        namespace, interface = (middle, 'p0') if end == 'the switch' else (host, 'eth0')

        def trouble():
            for _ in range(TIMES):
                namespace.ip('link', 'set', interface, 'down')
                time.sleep(OUTAGE_S)
                namespace.ip('link', 'set', interface, 'up')
                time.sleep(OUTAGE_S)

        Job(host).through(trouble)


def checksum(data):
    total = sum(struct.unpack(f'>{len(data) // 2}H', data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def unreachable(code, source, source_port, port):
    """An ICMP message about a UDP packet to the switch, whoever sends it."""
    quoted = struct.pack('>BBHHHBBH4s4sHHHH', 0x45, 0, 28 + 24, 0, 0, 64, socket.IPPROTO_UDP, 0,
                         socket.inet_aton(source), socket.inet_aton(hosts.SWITCH_IP),
                         source_port, port, 8 + 24, 0)
    head = struct.pack('>BBHI', ICMP_UNREACHABLE, code, 0, 0)
    return head[:2] + struct.pack('>H', checksum(head + quoted)) + head[4:] + quoted


@pytest.mark.parametrize('code', [3, 1, 0])
def test_messages_that_somebody_makes_up(code):
    """About every port that a worker could send from: some of them are right."""
    with serving() as (middle, host):
        def trouble():
            with middle.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as raw:
                for source_port in EPHEMERAL:
                    raw.sendto(unreachable(code, host.ipv4, source_port, PORT), (host.ipv4, 0))

        Job(host).through(trouble)
