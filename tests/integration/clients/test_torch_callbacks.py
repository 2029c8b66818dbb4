# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch: callbacks of futures that reduce, in the order of the program at every rank."""

import itertools
import os
import threading
from unittest import mock

import pytest

from netfc.allreduce import AllreduceError

from torch_ranks import failures, marks, results

pytestmark = marks


@pytest.mark.parametrize('order', ['as started', 'backwards'])
def test_callbacks_of_several_futures_reduce_in_one_order(tmp_path, order):
    assert results(tmp_path, 2, 'four_futures', '200', order) == [0, 0]


@pytest.mark.parametrize('body', ['callbacks_of_callbacks', 'callbacks_by_other_ways',
                                  'callbacks_of_two_groups'])
def test_callbacks_of_many_kinds_reduce_in_one_order(tmp_path, body):
    assert results(tmp_path, 3, body, '20') == [0] * 3


@pytest.mark.parametrize('size', [2, 4])
def test_power_sgd_with_several_buckets(tmp_path, size):
    """The same weights at all ranks and in every run, and those of one bucket."""
    told = []
    for run, megabytes in enumerate(('0.001', '0.001', '25')):
        folder = tmp_path / str(run)
        folder.mkdir()
        told += results(folder, size, 'power_sgd_in_buckets', '12', megabytes, TIMEOUT='60')
    assert all(weights == told[0][1] for _, weights, _ in told)
    assert [buckets for buckets, _, _ in told] == [6] * 2 * size + [1] * size


def test_a_callback_of_one_rank_alone(tmp_path):
    told = failures(tmp_path, 2, 'a_callback_at_one_rank', TIMEOUT='5')
    for text in told:
        assert 'all_reduce 1 in a callback of all_reduce 1, sum of 3 float32' in text
        assert 'rank 1 (' in text and 'all_reduce 2, sum of 3 float32' in text


def test_callbacks_in_an_order_that_cannot_be(tmp_path):
    told = failures(tmp_path, 2, 'callbacks_that_wait_for_each_other', TIMEOUT='5')
    for text in told:
        assert 'all_reduce in a callback of all_reduce 1' in text
        assert '<lambda>(), which comes first, has not returned' in text


def orders():
    return pytest.importorskip('netfc.torch.callbacks').Order()


def test_the_order_is_that_of_callbacks_called_where_they_are_attached():
    """However threads run: all interleavings of two callbacks, one of which attaches a third."""
    def first(order, said, turns):
        turns['first'] = order.attach(None, str)
        turns['second'] = order.attach(None, str)
        yield
        order.start_in_turn(turns['first'], lambda: said.append('first 1'))
        turns['inside'] = order.attach(turns['first'], str)
        yield
        order.start_in_turn(turns['first'], lambda: said.append('first 2'))
        yield
        order.leave(turns['first'])

    def second(order, said, turns):
        yield
        order.start_in_turn(turns['second'], lambda: said.append('second 1'))
        yield
        order.leave(turns['second'])

    def inside(order, said, turns):
        yield
        order.start_in_turn(turns['inside'], lambda: said.append('inside 1'))
        yield
        order.leave(turns['inside'])

    expected = ['first 1', 'inside 1', 'first 2', 'second 1']
    schedules = set(itertools.permutations([0] * 2 + [1] * 2 + [2] * 2))
    assert len(schedules) == 90
    for schedule in schedules:
        order, said, turns = orders(), [], {}
        programs = [body(order, said, turns) for body in (first, second, inside)]
        for program in programs:
            next(program)
        next(programs[0])  # has attached what is inside
        for which in schedule:
            next(programs[which], None)
        assert said == expected, schedule


def test_a_callback_that_calls_another_lets_it_pass_and_no_further():
    order, said = orders(), []
    caller, called, other = (order.attach(None, lambda name=name: name)
                             for name in ('caller', 'called', 'other'))
    order.start_in_turn(called, lambda: said.append('called'))
    order.start_in_turn(other, lambda: said.append('other'))
    assert said == [] and order.next_one() == 'caller'
    order.enter(caller)
    assert said == ['called'] and order.next_one() == 'called'
    order.leave(called, caller)
    assert said == ['called'] and order.next_one() == 'caller'
    order.start_in_turn(caller, lambda: said.append('caller'))
    order.leave(caller)
    assert said == ['called', 'caller', 'other']


def test_integers_do_not_wait_inside_the_call(tmp_path):
    """One rank reduces and then sends; the other receives and then reduces."""
    assert results(tmp_path, 2, 'reduce_integers_and_send') == [[1] * 3] * 2


def test_numbers_of_jobs_are_drawn_once(tmp_path):
    """A number for each group, and none for a third; one is given back."""
    told = results(tmp_path, 2, 'groups_with_few_jobs', NETFC_JOB='100-101')
    for sums, text in told:
        assert sums == [[2.0, 2.0]] * 3
        assert "have all of NETFC_JOB's numbers, 100 to 101" in text


def test_callbacks_need_a_number_of_a_job(tmp_path):
    told = failures(tmp_path, 2, 'four_futures', '4', NETFC_JOB='100')
    for text in told:
        assert "have all of NETFC_JOB's numbers, 100: give one for each" in text


def test_an_error_that_cannot_be_explained_is_told(tmp_path):
    """Whatever is raised while others' reports are read; and what comes after it fails, too."""
    told = results(tmp_path, 2, 'fail_to_explain')
    for first, again in told:
        assert 'call different collectives' in first and again == first
        assert 'What other ranks say is not known (reports are gone)' in first


def test_things_that_cannot_be_done_leave_the_turn_to_others():
    threads_module = pytest.importorskip('netfc.torch.task_threads')
    done = threading.Event()

    def do(thing):
        if thing == 'bad':
            raise RuntimeError(thing)
        return done.set

    threads = threads_module.TaskThreads(do)
    hook, threading.excepthook = threading.excepthook, lambda _: None
    try:
        threads.put('bad')
        threads.put('good')
        assert done.wait(60)
    finally:
        threading.excepthook = hook


@pytest.mark.parametrize('size', [3, 17, 18, 2000])
def test_a_rank_asks_the_store_for_few_others(size):
    """And all ranks are asked for by some."""
    meeting_module = pytest.importorskip('netfc.torch.meeting')
    store = counting_store()
    asked = []
    for rank in range(size):
        near = meeting_module.Meeting(store, rank, size, [], 60).near
        assert len(near) == min(size - 1, 16) and rank not in near
        asked += near
    assert {asked.count(rank) for rank in range(size)} == {min(size - 1, 16)}


def counting_store():
    return pytest.importorskip('torch.distributed').HashStore()


def test_reports_of_many_ranks_are_few_and_name_the_one_at_fault():
    meeting_module = pytest.importorskip('netfc.torch.meeting')
    store, size = counting_store(), 2000
    meetings = [meeting_module.Meeting(store, rank, size, [], 60) for rank in range(size)]
    assert not meetings[0].has_failed()
    for meeting in meetings[1:]:
        culprit = 7 if meeting.rank == 1500 else None
        meeting.report(meeting_module.Report(f'call of {meeting.rank}', 'it failed', culprit=culprit))
    reports = meetings[0].reports(0)
    assert next(iter(reports)) == 1500 and len(reports) == 17
    assert reports[1500].culprit == 7 and str(reports[1500]) == 'call of 1500: it failed'
    assert meetings[0].has_failed()


def test_callbacks_attached_in_other_orders(tmp_path):
    """As many numbers in both: only labels tell them apart."""
    told = failures(tmp_path, 2, 'callbacks_in_other_orders')
    for text in told:
        for rank, which in enumerate((1, 2)):
            assert f'rank {rank} (' in text
            assert f'all_reduce 1 in a callback of all_reduce {which}, sum of 3 float32' in text
        assert 'call different collectives' in text


@pytest.mark.parametrize('error, counted', [
    (ValueError(), 0), (TypeError(), 0), (MemoryError(), 0), (KeyboardInterrupt(), 0),
    (AllreduceError('The others have it, too.', 'no-job', None, None), 1)], ids=lambda value: type(value).__name__)
def test_a_collective_that_was_not_begun_does_not_count(error, counted):
    """Its number would be another one than at the other ranks, where the program goes on."""
    sequences = pytest.importorskip('netfc.torch.sequences')
    sequence = object.__new__(sequences.Sequences)
    vars(sequence).update(_process=os.getpid(), _called=0, _fate=sequences.Fate(), _calls=mock.Mock(
        begun=0, start=mock.Mock(side_effect=error)))
    with pytest.raises(type(error)):
        sequence.start(sequences.Call('all_reduce', 'allreduce', ''))
    assert sequence._called == counted


def test_collectives_of_long_trainings_have_labels():
    """After more calls than 32 bits count, callbacks reduce, too."""
    sequences = pytest.importorskip('netfc.torch.sequences')
    labels = [sequences._label(outer, 1) for outer in (1, 1 << 32, (1 << 32) + 1)]
    assert len(set(labels)) == 3 and all(1 << 31 <= label < 1 << 32 for label in labels)
