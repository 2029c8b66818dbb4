# SPDX-License-Identifier: BSD-3-Clause
"""Workers past the kernel's protocols, by AF_XDP: what is theirs, what is the kernel's.

The kernel's AF_XDP.
"""

import contextlib
import socket
import subprocess
import sys

import aggregation_workers
import allreduce_server
import hosts
import numpy as np
import project_scripts
import pytest
import restarts
import sanitized
import switch
import tiers
from needs import WITHOUT_RIGHTS
from side_by_side import together

from netfc import allreduce

TOKEN = 0x5eed
COUNT = 20_000
PAIRS = 4
PORT = 20040
SWITCH = {4: hosts.SWITCH_IP, 6: hosts.SWITCH_IP6}
# A worker that stays until it is killed.
ENVIRONMENT = {**switch.ENVIRONMENT, 'PYTHONPATH': str(project_scripts.PROJECT / 'python')}
STAYS = """
import sys, time
from netfc import allreduce
comm = allreduce.Communicator(sys.argv[1], build=sys.argv[2], interface='xdp:eth0')
print(comm.info['path'], flush=True)
time.sleep(600)
"""
pytestmark = [
    hosts.needs_namespaces,
    pytest.mark.skipif(
        sanitized.is_sanitized(),
        reason='the client in this process and the switch beside it need different environments')]


def communicator(host, address=f'{hosts.SWITCH_IP}:{PORT}', **options):
    """A worker on a host. Skips the test where the kernel lets nobody have such a socket."""
    with host.entered():
        try:
            return allreduce.Communicator(
                address, **{'interface': 'xdp:eth0', 'token': TOKEN, 'build': switch.BUILD, **options})
        except allreduce.AllreduceError as error:
            if any(why in str(error) for why in ('it takes root', 'has no AF_XDP', 'lock more memory')):
                pytest.skip(str(error))
            raise


@contextlib.contextmanager
def serving(queues=1, shards=1, mtu=1500, stall_ms=10_000):
    """The switch's library on sockets at p0 of a namespace; a host beside it with so many queues."""
    with hosts.Namespace() as middle, hosts.Host(0) as host:
        host.ip('link', 'add', 'eth0', 'numrxqueues', queues, 'numtxqueues', 1, 'type', 'veth',
                'peer', 'name', 'p0', 'numrxqueues', 1, 'numtxqueues', 1, 'netns', middle.name)
        middle.run('ethtool', '-K', 'p0', 'tx', 'off')
        middle.ip('address', 'add', f'{hosts.SWITCH_IP}/24', 'dev', 'p0')
        middle.ip('link', 'set', 'p0', 'mtu', mtu, 'up')
        host.ip('link', 'set', 'eth0', 'mtu', mtu)
        host.configure()
        with allreduce_server.serving(middle.inside(), address=hosts.SWITCH_IP, port=PORT, shards=shards,
                                      bytes=mtu - 52, stall_ms=stall_ms):
            yield middle, host


@pytest.fixture(name='allowed', scope='module')
def allowed_sockets():
    """For tests that ask for such a socket in a thread or a process: skips them where there is none."""
    with serving() as (_, host):
        communicator(host).leave()


def has_program(host):
    """Whether an XDP program is on its device."""
    return 'xdp' in host.ip('link', 'show', 'eth0')


def check_sum(comm):
    """One worker's sum is what it gave."""
    values = np.arange(COUNT, dtype='f4')
    given = values.copy()
    comm.allreduce(values)
    assert np.array_equal(values, given)


@pytest.mark.usefixtures('allowed')
@pytest.mark.parametrize('family, shards, mtu, chunk', [
    (4, 1, 1500, 1448), (6, 1, 1500, 1428), (4, 2, 1500, 1448), (4, 1, 9000, 3772)])
def test_sums_of_vectors(tmp_path, family, shards, mtu, chunk):
    """By a switch whose ports are AF_PACKET; the workers join twice, and a third has sockets."""
    values = aggregation_workers.vectors(3, COUNT)
    more = f',qpairs={shards}' + (',framecnt=512,framesz=9216,blocksz=36864' if mtu > 1500 else '')
    options = ['--address', f'{SWITCH[4]}/24', '--address', f'{SWITCH[6]}/64', '--forward', 'bridge',
               f'--aggregate=formats=fp32,slots=256,bytes=8948,shards={shards}']

    def work(rank):
        mine = values[rank].copy()
        for _ in range(2):
            mine[:] = values[rank]
            with communicator(stations[rank], SWITCH[family], worker=rank, workers=3,
                              interface='xdp:eth0,queue=0' if rank else None) as comm:
                comm.allreduce(mine)
                info = comm.info
                assert has_program(stations[rank]) == (rank > 0)
        return mine, info

    with hosts.veth_network(3) as (middle, stations):
        for number, host in enumerate(stations):
            middle.ip('link', 'set', f'p{number}', 'mtu', mtu)
            host.ip('link', 'set', 'eth0', 'mtu', mtu)
        with hosts.LiveSwitch(tmp_path, hosts.veth_ports(3, more), options, namespace=middle,
                              lcores=shards, memory=512) as live:
            live.wait_until_ready()
            results = together(3, work)
            assert not any(map(has_program, stations))
            stats = live.stop()
    exact = np.frombuffer(aggregation_workers.exact_sum(values), '>f4').astype('f4')
    for rank, (result, info) in enumerate(results):
        assert np.array_equal(result.view('u4'), exact.view('u4'))
        assert info['path'] == ('xdp' if rank else 'udp') and info['sockets'] == shards
        assert info['bytes'] == chunk and not info['memory']
    assert stats['aggregate']['jobs_ended'] == 2


def test_all_else_is_the_kernels():
    """Pings, datagrams between the same addresses, and a job by sockets of the same host."""
    with serving(shards=2) as (middle, host), communicator(host) as comm:
        host.ping(hosts.SWITCH_IP)
        with host.udp() as near, middle.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
            far.bind((hosts.SWITCH_IP, 0))
            far.sendto(b'to the kernel', near.getsockname())
            assert near.recv(100) == b'to the kernel'
        with communicator(host, job=1, interface='eth0') as other:
            check_sum(other)
            check_sum(comm)
            assert (comm.info['path'], other.info['path']) == ('xdp', 'udp')


def test_a_device_is_one_communicators():
    """And another's at once when that has left."""
    with serving() as (_, host):
        with communicator(host) as comm:
            with pytest.raises(allreduce.AllreduceError, match='busy; another program or communic'):
                communicator(host, job=1)
            check_sum(comm)
        for _ in range(5):
            communicator(host, job=1).leave()


@pytest.mark.usefixtures('allowed')
def test_a_worker_that_is_killed():
    """The kernel takes the program off the device."""
    with serving() as (_, host):
        process = host.start(sys.executable, '-c', STAYS, f'{hosts.SWITCH_IP}:{PORT}', switch.BUILD,
                             stdout=subprocess.PIPE, env=ENVIRONMENT)
        try:
            assert process.stdout.readline() == 'xdp\n'
            assert has_program(host)
        finally:
            process.kill()
            process.wait()
        hosts.wait_until(lambda: not has_program(host), 'the program to be gone')


@pytest.mark.usefixtures('allowed')
@pytest.mark.parametrize('times', [1, *tiers.later('long', 10_000 // PAIRS)])
def test_workers_that_are_killed_and_started_again(tmp_path, times):
    """None gets an earlier result, and the others, which have sockets on the same hosts, are told."""
    options = ['--address', f'{SWITCH[4]}/24', '--forward', 'bridge', '--aggregate=formats=int32,slots=256']
    with hosts.veth_network(PAIRS) as (middle, stations), hosts.LiveSwitch(
            tmp_path, hosts.veth_ports(PAIRS), options, namespace=middle, memory=512) as live:
        live.wait_until_ready()
        pairs = [host.start(*restarts.words(1, times, '--switch', SWITCH[4], '--from', host.ipv4,
                                            '--interface-1', 'xdp:eth0', '--job', job), **restarts.PIPES)
                 for job, host in enumerate(stations)]
        assert sum(map(restarts.count_of, pairs)) == PAIRS * times == live.stop()['aggregate']['taken']


def test_a_switch_that_moves():
    """Its MAC address changes; whoever asks the kernel finds it."""
    with serving() as (middle, host), communicator(host, silence=2.0) as comm:
        check_sum(comm)
        middle.ip('link', 'set', 'p0', 'address', '02:00:00:00:00:77')
        host.ip('neighbour', 'flush', 'dev', 'eth0')
        check_sum(comm)


def test_packets_that_come_to_another_queue():
    with serving(queues=2) as (_, host):
        with pytest.raises(allreduce.AllreduceError, match='come to another queue.*ethtool -N'):
            communicator(host, interface='xdp:eth0,queue=1', join_timeout=1.0)


@pytest.mark.parametrize('options, message', [
    ({'interface': 'xdp:'}, 'give xdp:DEVICE or xdp:DEVICE,queue=N'),
    ({'interface': 'xdp:eth0,queue=first'}, 'give xdp:DEVICE or'),
    ({'interface': 'xdp:eth0,queue=-1'}, 'give xdp:DEVICE or'),
    ({'interface': 'xdp:nothing0'}, 'no network device nothing0'),
    ({'interface': 'xdp:eth0,queue=1'}, 'take that queue: Invalid.*no such queue'),
    ({'interface': 'xdp:eth0,queue=4294967295'}, 'no such queue'),
    ({'interface': 'xdp:lo', 'bind_address': '127.0.0.1'}, 'no Ethernet device'),
    ({'bind_address': '10.9.0.1'}, 'would come from 10.9.0.1.*none of its addresses'),
    ({'bind_address': '10.9.0.2'}, 'take the local address'),
    ({'address': ['10.1.0.100', '10.1.0.101']}, 'leads to one switch')])
def test_what_cannot_be(options, message):
    with serving() as (_, host):
        host.ip('address', 'add', '10.9.0.1/32', 'dev', 'lo')
        host.ip('link', 'set', 'lo', 'up')
        with pytest.raises((allreduce.AllreduceError, ValueError), match=message):
            communicator(host, join_timeout=5.0, **options)
        assert not has_program(host)


def test_packets_larger_than_a_frame():
    """Chunks are cut to what a frame holds, unless their size is given."""
    with serving(mtu=9000) as (_, host):
        with communicator(host) as comm:
            assert comm.info['bytes'] == 3772
            check_sum(comm)
        with pytest.raises(ValueError, match='8948 bytes make packets of 9000, which do not get'):
            communicator(host, chunk_bytes=8948, join_timeout=20.0)


def test_a_device_that_is_off():
    with serving() as (_, host):
        host.ip('link', 'set', 'eth0', 'down')
        with pytest.raises(allreduce.AllreduceError, match='no route|turn the device on'):
            communicator(host, bind_address=host.ipv4)


@pytest.mark.usefixtures('allowed')
def test_without_rights():
    """The message says which they are."""
    with serving() as (_, host):
        with host.start(*WITHOUT_RIGHTS, sys.executable, '-c', STAYS, f'{hosts.SWITCH_IP}:{PORT}', switch.BUILD,
                        stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
            said = process.communicate(timeout=60)[1]
        assert 'not permitted; it takes root, or CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF' in said
