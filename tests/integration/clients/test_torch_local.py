# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch: ranks that are on one machine, and need no switch."""

import pytest

import torch_values
from torch_ranks import failures, marks, ranks, results, running

pytestmark = marks

NOWHERE = '127.0.0.1:9'  # nobody has the discard port


def further(folder):
    """For the store of another group."""
    made = folder / 'further'
    made.mkdir()
    return made


@pytest.mark.parametrize('size', [1, 2, 3, 5])
def test_all_types_and_operations_are_exact(tmp_path, size):
    told = results(tmp_path, size, 'reduce_all', address=None)
    for name in torch_values.NAMES + torch_values.NARROW:
        for op in ('SUM', 'AVG', 'MIN', 'MAX'):
            expected = torch_values.exact(name, op, size)
            for one in told:
                assert one[f'{name} {op}'] == expected, (name, op)


@pytest.mark.parametrize('size', [2, 3, 5])
def test_all_bits_are_those_of_a_switch(tmp_path, size):
    """Of any bits of each type, NaN and numbers that are too large or too small included."""
    local = results(tmp_path, size, 'reduce_any_bits', address=None)
    other = results(further(tmp_path), size, 'reduce_any_bits')
    assert local == other
    assert all(one == local[0] for one in local)


@pytest.mark.parametrize('name', torch_values.NAMES)
def test_other_collectives_are_exact_and_not_gloos(tmp_path, name):
    said, errors = ranks(tmp_path, 3, 'collect', name, address=None)
    torch_values.check_collected(said, errors, name)


@pytest.mark.parametrize('op', ['SUM', 'AVG'])
@pytest.mark.parametrize('body', ['reduce_to_one', 'reduce_coalesced'])
def test_other_reductions_are_exact(tmp_path, body, op):
    told = results(tmp_path, 3, body, op, address=None)
    for rank, one in enumerate(told):
        for name in torch_values.NAMES + torch_values.NARROW:
            if body == 'reduce_coalesced' or rank == 1:
                assert one[name] == torch_values.exact(name, op, 3), name


@pytest.mark.parametrize('body, expected', [
    ('started_in_callbacks', [['inner', 'outer'], [2.0] * 3, [4.0] * 3, [6.0] * 3]),
    ('a_callback_that_waits_for_what_is_under_way', [[2.0] * 3] * 5),
    ('join_again', [2.0] * 3),
])
def test_callbacks_and_groups_that_follow(tmp_path, body, expected):
    assert results(tmp_path, 2, body, address=None) == [expected] * 2


def test_groups_inside(tmp_path):
    assert results(tmp_path, 3, 'subgroups', address=None) == [[3, 6]] * 3


def test_training_gives_the_bits_of_a_switch(tmp_path):
    local = results(tmp_path, 2, 'train', address=None)
    other = results(further(tmp_path), 2, 'train')
    assert all(one == local[0] for one in local + other)


def test_statistics(tmp_path):
    for rank, (before, after, _) in enumerate(results(tmp_path, 3, 'count_all', address=None)):
        assert before['reductions'] == 0 and before['slots'] > 0
        assert after['reductions'] == 2 and after['values'] == 2000
        assert after['late'] == ({'2': 1} if rank < 2 else {})


def test_a_switch_that_is_named_is_used(tmp_path):
    """And with NETFC_LOCAL=1 it is not: nobody is there."""
    told = failures(tmp_path, 2, 'different_shapes', address=NOWHERE, NETFC_JOIN_TIMEOUT='1')
    assert all('Nothing listens on UDP port' in text for text in told)
    assert results(further(tmp_path), 2, 'reduce_half', 'SUM', address=NOWHERE,
                   NETFC_LOCAL='1')[0]['SUM'] == torch_values.exact('float16', 'SUM', 2)


def test_calls_that_differ_are_named_by_rank(tmp_path):
    for text in failures(tmp_path, 2, 'different_shapes', address=None):
        assert 'call different collectives' in text
        for rank in range(2):
            assert f'rank {rank} ' in text
            assert f'all_reduce 1, sum of {10 + rank} float32' in text


def test_a_rank_that_is_killed_is_named(tmp_path):
    told = failures(tmp_path, 3, 'die_in_training', address=None, TIMEOUT='300')
    assert told[2] is None
    for text in told[:2]:
        assert 'rank 2 (' in text and 'has ended' in text


def test_a_rank_that_is_stopped_is_named(tmp_path):
    with running(tmp_path, 3, ['stop_in_training'], None, TIMEOUT='300',
                 NETFC_SILENCE='3') as processes:
        told = [process.communicate()[0] for process in processes[:2]]
    for text in told:
        assert 'rank 2 (' in text or 'Worker 2 (process' in text


@pytest.mark.slow
def test_a_late_rank_is_waited_for(tmp_path):
    told = results(tmp_path, 2, 'one_is_late', '9', address=None, TIMEOUT='60', NETFC_SILENCE='3')
    assert told == [[2.0] * 5] * 2


@pytest.mark.parametrize('what, why', [
    ('full', 'There is no memory that 3 workers could share: File too large'),
    ('other', "Worker 1 shares no memory with worker 0"),
    ('closed', 'Worker 1 cannot share memory with worker 0'),
])
def test_memory_that_cannot_be_shared_is_an_error_of_all_or_the_switchs(tmp_path, what, why):
    for text in failures(tmp_path, 3, 'share_without', what, address=None, BACKEND='gloo'):
        assert 'The ranks cannot share memory: rank' in text and why in text
        assert 'NETFC_SWITCH' in text
    said, errors = ranks(further(tmp_path), 3, 'share_without', what, NETFC_LOCAL='1', BACKEND='gloo')
    for one, error in zip(said, errors):
        assert one == {'result': [6.0] * 3}, error
        assert 'goes through the switch: The ranks cannot share memory' in error


def test_ranks_of_several_machines_need_a_switch(tmp_path):
    for text in failures(tmp_path, 3, 'share_without', 'machine', address=None, BACKEND='gloo'):
        assert 'Rank 0 knows no switch' in text and 'Only ranks on one machine need none' in text
    assert results(further(tmp_path), 3, 'share_without', 'machine', NETFC_LOCAL='1', BACKEND='gloo') == [[6.0] * 3] * 3


def test_a_rank_that_leaves_is_named(tmp_path):
    said, _ = ranks(tmp_path, 3, 'leave_early', address=None)
    for one in said[:2]:
        assert 'rank 2 (' in one['error'] and 'has left the process group' in one['error'], one


def test_a_switch_that_only_another_rank_names(tmp_path):
    for text in failures(tmp_path, 2, 'alone', address=[None, NOWHERE]):
        assert 'Rank 0 knows no switch: set NETFC_SWITCH' in text
        assert 'rank 1 (' in text and f'uses switch {NOWHERE}' in text and 'one machine' not in text


def test_no_switch_and_none_wanted(tmp_path):
    for text in failures(tmp_path, 2, 'alone', address=None, NETFC_LOCAL='0'):
        assert 'Rank 0 knows no switch: set NETFC_SWITCH' in text


def test_a_child_that_reduces_does_not_fail_its_parent(tmp_path):
    told = results(tmp_path, 2, 'one_has_a_child', address=None)
    assert [values for _, values in told] == [[2.0] * 3] * 2
    assert 'forked' in told[1][0]
