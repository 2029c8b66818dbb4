# SPDX-License-Identifier: BSD-3-Clause
"""Trees of running switches: a root, leaves below it, and a host with workers at each leaf.

All switches bridge, so that there is one network, 10.1.0.0/24: the root is 10.1.0.100, leaf n
10.1.0.101 + n, its workers' host 10.1.0.1 + n.
"""

import contextlib
import select
import time

import numpy as np

import aggregation_workers as workers
import hosts
import namespaces
from hosts import SWITCH_IP

from netfc import aggregation
from netfc.telemetry import Telemetry

ROOT_OPTION = '--aggregate=slots=64,digits=all,stall=2'
LEAF_OPTION = '--aggregate=slots=64,stall=2'
MEMORY = 384  # MB of each switch
ASK_AGAIN = 0.2  # seconds after which a worker repeats


def leaf_ip(number):
    return f'10.1.0.{101 + number}'


class Tree:
    """A root and leaves. A context manager.

    Each switch has a namespace of its own: in one, AF_PACKET's ports of two could take the same fanout
    group, which DPDK makes of process ID and interface. parents: of the leaves, in place of the root.
    relay: a Relay between leaf 0 and the root.
    """

    def __init__(self, folder, leaves=2, root_option=ROOT_OPTION, leaf_option=LEAF_OPTION,
                 parents=None, relay=None, lcores=1):
        self.folder, self.root_option, self.leaf_option = folder, root_option, leaf_option
        self.parents = parents or [SWITCH_IP] * leaves
        self.relay, self.lcores = relay, lcores
        self.hosts, self.places, self.leaves, self.root = [], [], [], None
        self.stack = contextlib.ExitStack()

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def _build(self):
        self.middle = self.stack.enter_context(hosts.Namespace())
        for n in range(len(self.parents)):
            self._connect(n)
        self.start_root()
        self.leaves = [self.start_leaf(n) for n in range(len(self.parents))]

    def _join_root(self, n, name):
        """Joins interface u0 and on, of a leaf, to the root's, or to the relay's before it."""
        namespaces.join(self.middle, n, self.places[n], False, name=name, interface=f'u{n}')
        self.places[n].ip('link', 'set', f'u{n}', 'up')

    def _connect(self, n):
        host = self.stack.enter_context(hosts.Host(n))
        self.places.append(self.stack.enter_context(hosts.Namespace()))
        namespaces.join(self.places[n], n, host)
        host.configure()
        self.hosts.append(host)
        if n == 0 and self.relay:
            self._join_root(n, 'x0')
            namespaces.join(self.middle, n, self.middle, False, name='r0', interface='y0')
            self.middle.ip('link', 'set', 'y0', 'up')
            self.stack.enter_context(self.relay.between(self.middle, 'x0', 'y0'))
        else:
            self._join_root(n, 'r{}')

    def _start(self, namespace, interfaces, address, option):
        vdevs = [f'net_af_packet{p},iface={name}' for p, name in enumerate(interfaces)]
        if len(vdevs) == 1:  # too few to bridge
            vdevs.append('net_null0,no-rx=1')
        live = self.stack.enter_context(hosts.LiveSwitch(
            self.folder, vdevs, ['--forward', 'bridge', '--address', f'{address}/24', option],
            namespace=namespace, memory=MEMORY, telemetry=True, lcores=self.lcores))
        live.wait_until_ready()
        return live

    def start_root(self):
        self.root = self._start(self.middle, [f'r{n}' for n in range(len(self.parents))], SWITCH_IP,
                                self.root_option)

    def start_leaf(self, n):
        return self._start(self.places[n], [f'p{n}', f'u{n}'], leaf_ip(n),
                           f'{self.leaf_option},parent={self.parents[n]}')

    def stop(self):
        """Stops all. Returns the statistics of the root and of each leaf."""
        return self.root.stop(), [leaf.stop() for leaf in self.leaves]

    def team(self, of_each=4, job=1, levels=None):
        """Workers: so many at each leaf. levels: in place of one, with all leaves as members."""
        count = len(self.parents)
        return [Member(self.hosts[n].udp(), leaf_ip(n), w, aggregation.Place(
            ((count, n),) if levels is None else levels[n], of_each * count), of_each, job)
            for n in range(count) for w in range(of_each)]

    def flat_team(self, of_each=4, job=2):
        """As many workers of the root alone."""
        count = of_each * len(self.parents)
        return [Member(self.hosts[w // of_each].udp(), SWITCH_IP, w, None, count, job)
                for w in range(count)]


def state_of(live, index=None):
    """What telemetry says of aggregations, or of a job."""
    with Telemetry(live.telemetry_path) as telemetry:
        return telemetry.ask('/netfc/aggregate' + ('' if index is None else f',{index}'))


class Member(workers.Worker):
    """A worker with a place in a tree; None: at a switch alone. It repeats what is not answered."""

    def __init__(self, made, ip, number, place, members, job):
        super().__init__(made, ip, number, job=job)
        self.tree, self.members = place, members
        self.features = 0  # to ask for
        self.knows_zeros = False  # and all others do
        made.settimeout(ASK_AGAIN)

    def join_once(self, slots=8, chunk_bytes=1448):
        """Its reply, or None where none has come. What it grants is kept."""
        self.send(aggregation.join(self.place, self.members, slots, chunk_bytes, self.cookie,
                                   place=self.tree, features=self.features))
        try:
            reply = self.receive()
        except TimeoutError:
            return None
        if reply.op != aggregation.OPS['join']:
            return None
        if reply.reason == 8:
            self.cookie = reply.granted[5]
        elif reply.code == 0:
            _, self.shards, self.slots, *_, session, _ = reply.granted
            self.place = workers.dataclasses.replace(self.place, session=session)
            self.knows_zeros = bool(reply.reason & aggregation.ZEROS)
        return reply

    def send_chunk(self, number, values, op='sum', form='fp32'):
        """Without its values, if it has none and all know what that means."""
        if not self.knows_zeros or any(values):
            super().send_chunk(number, values, op, form)
            return
        form = aggregation.FORMAT_IDS[form]
        self.send(aggregation.zeros(self.place, aggregation.OPS[op], form, number,
                                    len(values) // aggregation.value_bytes(form)), self.shard(number))

    def leave(self, reason=0):
        """One that was answered and is asked again would be none of the job."""
        self.socket.settimeout(workers.TIMEOUT_S)
        try:
            return super().leave(reason)
        finally:
            self.socket.settimeout(ASK_AGAIN)


def join_all(team, **options):
    """Joins until all are there."""
    left = list(team)

    def joined():
        for member in list(left):
            reply = member.join_once(**options)
            assert reply is None or reply.code == 0 or reply.reason in (2, 8), reply.name
            if reply is not None and reply.code == 0:
                left.remove(member)
        return not left

    hosts.wait_until(joined, 'all workers to join')


def refusal(team):
    """Joins until a reply is neither that all is well nor that others are missing: its name."""
    def refused():
        replies = filter(None, (member.join_once() for member in team))
        return next((reply for reply in replies if reply.reason not in (0, 2, 8)), None)

    return hosts.wait_until(refused, 'a join that is refused').name


def reduce(team, number, values, op='sum', form='fp32'):
    """All send chunk `number` until each has a reply. Returns the replies.

    values: of each, bytes.
    """
    replies = [None] * len(team)
    by_socket = {member.socket: w for w, member in enumerate(team)}

    def all_have():
        for w, member in enumerate(team):
            if replies[w] is None:
                member.send_chunk(number, values[w], op, form)
        limit = time.monotonic() + ASK_AGAIN
        while None in replies and time.monotonic() < limit:
            ready, _, _ = select.select(list(by_socket), [], [], ASK_AGAIN)
            for each in ready:
                reply = workers.read(each.recv(65536))
                if (reply.op, reply.id) == (aggregation.OPS[op], number):
                    replies[by_socket[each]] = reply
        return None not in replies

    hosts.wait_until(all_have, f'the results of chunk {number}')
    return replies


def random_values(count, members, form, seed):
    """Values of any bits, and some that cancel or are the same everywhere; bytes of each."""
    size = aggregation.value_bytes(aggregation.FORMAT_IDS[form])
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 256, (members, count, size), np.uint8)
    values[:, ::5, 0] = values[0, ::5, 0] & 0x7f  # of one sign and size
    values[-1, 1::5] = values[0, 1::5]
    values[-1, 1::5, 0] ^= 0x80
    return [each.tobytes() for each in values]

