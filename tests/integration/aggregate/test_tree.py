# SPDX-License-Identifier: BSD-3-Clause
"""Trees of running switches: a root and leaves, sums that are those of one switch, and who is told what.

Running switches: frames from one to the other; rules of trees are in tests/aggregate.
"""

import contextlib
import functools
import struct

import numpy as np
import pytest

import hosts
import sanitized
import switch
import tree_network
from aggregation import sums
from relay import Relay
from side_by_side import together
from tree_network import Tree, join_all, leaf_ip, random_values, reduce, refusal, state_of

from netfc import aggregation, allreduce, protocol

pytestmark = hosts.needs_namespaces
OPS = ('sum', 'mean', 'min', 'max')


def assert_same(ours, theirs):
    """The results of a tree are those of one switch, values and flags."""
    assert {(reply.code, reply.reason) for reply in ours + theirs} == {(0, 0)}
    assert {reply.rest for reply in ours} == {theirs[0].rest}
    assert {reply.status for reply in ours} == {theirs[0].status}


def compare(tree, chunks, formats, ops=OPS, count=40):
    """Reduces the same values in the tree and at the root alone; the bits have to be the same."""
    team, flat = tree.team(), tree.flat_team()
    join_all(team)
    join_all(flat)
    number = 0
    for form in formats:
        # Results of another format than the values' are of sums and means.
        for op in ops if aggregation.FORMAT_IDS[form] < 16 else ops[:2]:
            for _ in range(chunks):
                values = random_values(count, len(team), form, seed=number)
                assert_same(reduce(team, number, values, op, form),
                            reduce(flat, number, values, op, form))
                number += 1
    return team, number


@pytest.mark.parametrize('lcores', [1, 2])
def test_sums_of_a_tree_are_those_of_one_switch(tmp_path, lcores):
    with Tree(tmp_path, lcores=lcores) as tree:
        team, chunks = compare(tree, 1, aggregation.FORMAT_IDS)
        job = state_of(tree.leaves[0], 0)
        assert (job['levels'], job['all_workers'], job['uplink']) == (1, 8, 'joined')
        assert state_of(tree.leaves[1])['parent']['state'] == 'answering'
        assert all(member.leave().code == 0 for member in team)
        root, leaves = tree.stop()
    for leaf in leaves:
        table = leaf['aggregate']
        assert table['passed'] == chunks and table['handed_down'] == chunks
        assert table['completed'] == 0 and table['values'] > 0
        assert table['forged_reply'] == 0 and table['parent']['sent'] > chunks
        assert leaf['taken_up']['parent'] > chunks and leaf['taken_up']['aggregated'] == 4 * chunks
    assert root['aggregate']['completed'] == 2 * chunks


def test_loss_and_repetition_change_nothing(tmp_path):
    relay = Relay(loss=0.2, doubled=0.2)
    with Tree(tmp_path, relay=relay) as tree:
        compare(tree, 20, ['fp32'], ['sum'])
        _, leaves = tree.stop()
    assert relay.lost > 0 and relay.sent_twice > 0
    assert leaves[0]['aggregate']['passed_again'] > 0
    assert leaves[0]['aggregate']['stray_reply'] > 0


@pytest.mark.skipif(sanitized.is_sanitized(),
                    reason='libnetfc-allreduce in a process without the sanitizer')
@pytest.mark.parametrize('keyed', [False, True], ids=['no key', 'key'])
def test_workers_of_the_library(tmp_path, keyed):
    """Many chunks in flight; with the cluster's key, packets between switches have tags, too."""
    key = tmp_path / 'key'
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    more, options = (f',key={key}', {'key_file': key}) if keyed else ('', {})
    token = allreduce.draw_token()
    values = np.array([sums.gradients(rank, 20_000) for rank in range(8)])

    def work(tree, rank):
        leaf, worker = divmod(rank, 4)
        mine = values[rank].copy()
        with tree.hosts[leaf].entered(), allreduce.Communicator(
                leaf_ip(leaf), worker=worker, workers=4, token=token, build=switch.BUILD,
                place=aggregation.Place(((2, leaf),), 8), **options) as comm:
            comm.allreduce(mine)
        return mine

    with Tree(tmp_path, root_option=tree_network.ROOT_OPTION + more,
              leaf_option=tree_network.LEAF_OPTION + more) as tree:
        results = together(8, functools.partial(work, tree))
        hosts.wait_until(lambda: state_of(tree.root)['jobs_ended'] == 1, 'leaves that leave')
        _, leaves = tree.stop()
    exact = sums.exact_sums(values)
    assert [sums.count_same(result, exact) for result in results] == [len(exact)] * 8
    assert all(stats['aggregate']['handed_down'] > 0 for stats in leaves)


@contextlib.contextmanager
def reducing(folder):
    """A tree, its workers, who have joined and reduced chunk 0, and their values."""
    with Tree(folder) as tree:
        team = tree.team()
        join_all(team)
        values = random_values(8, len(team), 'fp32', seed=1)
        assert {reply.code for reply in reduce(team, 0, values)} == {0}
        yield tree, team, values


def test_a_leaf_that_dies_is_named_to_all(tmp_path):
    with reducing(tmp_path) as (tree, team, values):
        tree.leaves[1].process.kill()
        told = reduce(team[:4], 1, values[:4])
        assert {reply.name for reply in told} == {'silent 1 at level 1'}
        assert state_of(tree.leaves[0])['refusal_down'] >= 1


def test_a_worker_that_dies_is_named_to_all(tmp_path):
    """The other leaf's workers hear which leaf it is, its own which worker."""
    def silent(replies):
        return {reply.name.replace('late', 'silent') for reply in replies}

    with reducing(tmp_path) as (tree, team, values):
        told = reduce(team[:7], 1, values[:7])
        assert silent(told[:4]) == {'silent 1 at level 1'} and silent(told[4:]) == {'silent 3'}


def test_a_parent_that_is_restarted_is_a_job_that_is_gone(tmp_path):
    """It comes back with another MAC address, too, and is found there."""
    with reducing(tmp_path) as (tree, team, values):
        tree.root.stop()
        tree.middle.ip('link', 'set', 'r0', 'address', '02:00:00:00:12:34')
        # As long as it answers where it was, it has not moved: it has to be missed before.
        hosts.wait_until(lambda: state_of(tree.leaves[0])['parent']['state'] == 'unreachable',
                         'a parent that is missed')
        tree.start_root()
        told = reduce(team, 1, values)
        assert {reply.name for reply in told} == {'no-job'}
        join_all(team)  # a new job, in which all is well
        assert {reply.code for reply in reduce(team, 0, values)} == {0}
        assert state_of(tree.leaves[0])['parent']['mac'].lower() == '02:00:00:00:12:34'


def test_a_leaf_that_is_restarted_is_a_job_that_is_gone(tmp_path):
    with reducing(tmp_path) as (tree, team, values):
        tree.leaves[1].stop()
        tree.leaves[1] = tree.start_leaf(1)
        told = reduce(team, 1, values)
        assert {reply.name for reply in told[4:]} == {'no-job'}
        assert {reply.name for reply in told[:4]} <= {'no-job', 'silent 1 at level 1'}


def test_joins_wait_for_a_parent_that_cannot_be_reached(tmp_path):
    with Tree(tmp_path, leaves=1, parents=['10.1.0.99']) as tree:
        team = tree.team()
        hosts.wait_until(lambda: state_of(tree.leaves[0])['parent']['state'] == 'unreachable',
                         'a parent that is unreachable')
        for _ in range(3):
            reply = [member.join_once() for member in team][-1]
        assert reply.name == 'waiting'
        assert state_of(tree.leaves[0], 0)['uplink'] == 'asking'
        hosts.wait_until(lambda: state_of(tree.leaves[0])['parent']['unsent'] > 0, 'joins not sent')


def test_a_parent_that_does_not_aggregate(tmp_path):
    with Tree(tmp_path, leaves=1, root_option='--mtu=1500') as tree:
        assert refusal(tree.team()) == 'off'
        assert state_of(tree.leaves[0], 0)['above'] == 'off'


def test_a_parent_that_takes_no_digits(tmp_path):
    with Tree(tmp_path, leaves=1, root_option='--aggregate=slots=8') as tree:
        assert refusal(tree.team()) == 'digits'
        assert state_of(tree.root)['no_digits'] > 0


def test_switches_that_are_each_others_parents(tmp_path):
    with Tree(tmp_path, parents=[leaf_ip(1), leaf_ip(0)],
              leaf_option=tree_network.ROOT_OPTION) as tree:
        levels = [((1, 0), (1, 0), (1, 0))] * 2
        assert refusal(tree.team(levels=levels)[:4]) == 'loop'


def test_a_tree_that_goes_on_above_the_root(tmp_path):
    with Tree(tmp_path) as tree:
        levels = [((2, n), (2, 0)) for n in range(2)]
        assert refusal(tree.team(levels=levels)) == 'no-parent'


def test_places_that_contradict_each_other(tmp_path):
    with Tree(tmp_path) as tree:
        assert refusal(tree.team(levels=[((2, 0),), ((3, 1),)])) in ('mismatch', 'place')


def test_a_parent_of_another_version(tmp_path):
    """What answers there says that it knows no such version."""
    with Tree(tmp_path, leaves=1, parents=['10.1.0.1']) as tree:
        other = tree.hosts[0].udp(port=aggregation.UDP_PORT)
        team = tree.team()

        def refused():
            for member in team:
                reply = member.join_once()
                if reply is not None and reply.reason not in (0, 2, 8):
                    return reply.name
            try:
                request, leaf = other.recvfrom(65536)
            except TimeoutError:
                return None
            reply = bytearray(request)
            struct.pack_into('B', reply, 5, protocol.REPLY | 1 << protocol.CODE_SHIFT)
            other.sendto(reply, leaf)
            return None

        other.settimeout(tree_network.ASK_AGAIN)
        assert hosts.wait_until(refused, 'a join that is refused') == 'parent'
