# SPDX-License-Identifier: BSD-3-Clause
"""Congestion: marks of routers go from requests to results, and slow links are not overrun.

A running switch, with workers on sockets that set and read marks themselves, and with the library over links of
limited speed. Windows by themselves are in tests/allreduce.
"""

import json
import socket

import numpy as np
import pytest

import aggregation_workers as workers
import hosts
import sanitized
import switch
from benchmark.allreduce.links import Switched
from test_allreduce_switch import TOKEN, aggregating, in_threads
from tree_network import Tree, join_all

from netfc import allreduce

NONE, CAPABLE, MARKED = 0, 2, 3  # RFC 3168: not capable, ECT(0), CE
VALUES = np.ones(4, '>f4').tobytes()

pytestmark = hosts.needs_namespaces


def options_of(made):
    """How a socket's packets are marked, and how it tells of the marks of others."""
    if made.family == socket.AF_INET6:
        return socket.IPPROTO_IPV6, socket.IPV6_TCLASS, socket.IPV6_RECVTCLASS
    return socket.IPPROTO_IP, socket.IP_TOS, socket.IP_RECVTOS


def mark(worker, how):
    """What it sends from now on is marked so."""
    level, says, tells = options_of(worker.socket)
    worker.socket.setsockopt(level, says, how)
    worker.socket.setsockopt(level, tells, 1)


def mark_received(worker):
    """Of its next result, which is no error."""
    payload, ((_, _, got),), _, _ = worker.socket.recvmsg(65536, 64)
    assert workers.read(payload).code == 0
    return got[0]


def marks_of_results(team, marks, number, order):
    """What the results of a chunk are marked with, whose requests come in that order."""
    for worker, how in zip(team, marks):
        mark(worker, how)
    for place in order:
        team[place].send_chunk(number, VALUES)
    return tuple(map(mark_received, team))


@pytest.mark.parametrize('family', [socket.AF_INET, socket.AF_INET6], ids=['IPv4', 'IPv6'])
def test_results_are_marked_as_their_requests(tmp_path, family):
    address = {socket.AF_INET: hosts.SWITCH_IP, socket.AF_INET6: hosts.SWITCH_IP6}[family]
    with aggregating(tmp_path, more=['--address', f'{hosts.SWITCH_IP6}/64']) as (host, live):
        team = [workers.Worker(host.udp(family), address, number) for number in range(2)]
        workers.join_all(team)
        number = 0
        for order in ((0, 1), (1, 0)):
            for marks, expected in {(CAPABLE, CAPABLE): (CAPABLE, CAPABLE), (MARKED, CAPABLE): (MARKED, MARKED),
                                    (CAPABLE, MARKED): (MARKED, MARKED), (MARKED, NONE): (MARKED, NONE),
                                    (NONE, CAPABLE): (NONE, CAPABLE), (NONE, NONE): (NONE, NONE)}.items():
                assert marks_of_results(team, marks, number, order) == expected, (order, marks)
                mark(team[0], CAPABLE)  # the result was lost: it comes again with the mark
                team[0].send_chunk(number, VALUES)
                assert mark_received(team[0]) == (MARKED if MARKED in marks else CAPABLE), (order, marks)
                number += 1
        live.stop()


def test_marks_go_through_a_tree(tmp_path):
    """What a leaf sends can be marked, and a mark at one leaf comes to the workers of the other one."""
    with Tree(tmp_path) as tree:
        team = tree.team(1)
        join_all(team)
        assert marks_of_results(team, (CAPABLE, CAPABLE), 0, (0, 1)) == (CAPABLE, CAPABLE)
        assert marks_of_results(team, (MARKED, CAPABLE), 1, (0, 1)) == (MARKED, CAPABLE)
        tree.places[0].run('nft', 'table netdev marks { chain up { type filter hook egress device u0 priority 0; '
                        'ip ecn ect0 ip ecn set ce; }; }')
        assert marks_of_results(team, (CAPABLE, CAPABLE), 2, (0, 1)) == (MARKED, MARKED)


def drops_of(net):
    """Packets that the queues of the links have dropped, and those that they have taken."""
    queues = [queue for place in [*net.hosts.values(), net.lines]
              for queue in json.loads(place.run('tc', '-s', '-j', 'qdisc', 'show')) if queue['kind'] == 'tbf']
    return sum(queue['drops'] for queue in queues), sum(queue['packets'] for queue in queues)


@pytest.mark.skipif(sanitized.is_sanitized(), reason='the client in this process and the switch need different'
                    ' environments')
def test_a_slow_link_is_not_overrun():
    """The queue has place for 68 packets, and each of two workers has 256 slots: few are lost until that is found out."""
    with Switched(switch.BUILD / 'app' / 'dpdk-netfc', 2, 20, 0.0, frames=256, queue='100kb') as net:
        def work(rank):
            mine = np.full(2_000_000, rank + 1, 'f4')
            with net.hosts[rank].entered(), allreduce.Communicator(
                    hosts.SWITCH_IP, worker=rank, workers=2, token=TOKEN, slots=256, deadline=600.0,
                    build=switch.BUILD) as comm:
                comm.allreduce(mine)
            return mine

        for mine in in_threads(net.hosts[0], 2, work):
            assert (mine == 3).all()
        dropped, sent = drops_of(net)
    assert dropped < sent / 10
