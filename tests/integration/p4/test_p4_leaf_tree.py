# SPDX-License-Identifier: BSD-3-Clause
"""A leaf in P4, run as Python, below dpdk-netfc: workers get exact sums, rounded once at the root."""

import contextlib

import numpy as np
import pytest

import hosts
import oracle
import p4_jobs
import sanitized
import tiers
from netfc import aggregation, allreduce
from p4_leaf import Leaf, Variant
from side_by_side import together

pytestmark = [hosts.needs_namespaces, pytest.mark.skipif(
    sanitized.is_sanitized(), reason='libnetfc-allreduce in a process without the sanitizer')]

COUNT = 43  # not a multiple of lanes
STALL_S = 2


@contextlib.contextmanager
def tree(folder, variant, leaves=2, workers=2, trouble=0.0, options='digits=all', **more):
    """A root and leaves. Yields the root and the leaves."""
    with contextlib.ExitStack() as stack:
        middle, ends = stack.enter_context(hosts.veth_network(leaves))
        arguments = ['--address', f'{hosts.SWITCH_IP}/24',
                     '--aggregate', f'{options},stall={STALL_S},slots=64']
        root = stack.enter_context(hosts.LiveSwitch(
            folder, hosts.veth_ports(leaves), arguments, namespace=middle))
        root.wait_until_ready()
        team = [p4_jobs.Member(number) for number in range(workers)]
        made = [stack.enter_context(Leaf(
            folder, end, team, aggregation.Place(((leaves, index),), leaves * workers), variant,
            middle.mac(f'p{index}'), trouble, **more)) for index, end in enumerate(ends)]
        yield root, made
        for leaf in made:
            assert not leaf.errors


def reduce(leaves, values, op='sum', form=None, join_timeout=300, **options):
    """What each worker of each leaf has after an allreduce, or its error."""
    workers = len(values) // len(leaves)
    def work(number):
        leaf, own = divmod(number, workers)
        place = aggregation.Place(((len(leaves), leaf),), len(values))
        try:
            with allreduce.Communicator(
                    leaves[leaf].address, worker=own, workers=workers, job=1, token=p4_jobs.TOKEN,
                    place=place, join_timeout=join_timeout,
                    deadline=join_timeout, **options) as comm:
                array = values[number].copy()
                flags = comm.allreduce(array, op, form)
                return array, flags
        except allreduce.AllreduceError as error:
            return error

    return together(len(values), work)


def values_of(results):
    """Results that are none of them errors."""
    errors = [repr(result) for result in results if not isinstance(result, tuple)]
    assert not errors, errors
    return results


def gradients(workers, form):
    """Numbers of any size, sums of which are exact in binary64."""
    draw = np.random.default_rng(workers)
    if form == 'int32':
        return draw.integers(-1 << 31, 1 << 31, (workers, COUNT)).astype('i4')
    if form == 'fp8_e4m3':
        return (draw.integers(0, 0x50, (workers, COUNT)) | draw.choice((0, 0x80), COUNT)).astype('u1')
    values = draw.standard_normal((workers, COUNT)) * 2.0 ** draw.integers(-20, 10, COUNT)
    values[:, 0] = -0.0
    return values.astype(np.float16)


def rounded(values, form, op):
    """The exact results, as bits."""
    workers = len(values) if op == 'mean' else 1
    if form == 'int32':
        return values.astype('i8').sum(axis=0).clip(-1 << 31, (1 << 31) - 1).astype('i4')
    if form == 'fp8_e4m3':
        narrow = oracle.NarrowFormat(oracle.E4M3)
        decoded = np.array([narrow.decode(x) for x in range(0x100)], 'f8')[values].sum(axis=0)
        return np.array([narrow.encode(value)[0] for value in (decoded / workers).tolist()], 'u1')
    exact = values.astype('f8').sum(axis=0) / workers
    exact[0] = -0.0
    return exact.astype(np.float16).view('u2')


@pytest.mark.parametrize('form, op, trouble, workers', [
    ('fp16', 'sum', 0.1, 2), *tiers.later('long', ('fp16', 'mean', 0, 4), ('int32', 'sum', 0.1, 2),
                                         ('fp8_e4m3', 'mean', 0, 2))])
def test_sums(form, op, trouble, workers, tmp_path):
    """Of two leaves: the exact sum, rounded once, whatever the links do to packets."""
    values = gradients(2 * workers, form)
    with tree(tmp_path, Variant(form), workers=workers, trouble=trouble) as (root, leaves):
        results = reduce(leaves, values, op, form)
        for leaf in leaves:
            assert leaf.end() == (0, '') and leaf.sent_up >= -(-COUNT // 8)
        assert root.stop()['aggregate']['jobs'] == 0
    for array, _ in values_of(results):
        assert array.view(expected_type(form)).tolist() == rounded(values, form, op).tolist()


def test_sums_that_are_lost_on_their_way_up(tmp_path):
    """They go up again when a worker asks, and each worker who does is answered."""
    values = gradients(4, 'fp16')
    with tree(tmp_path, Variant('fp16')) as (_, leaves):
        leaves[0].to_parent.doomed = 1
        results = reduce(leaves, values, join_timeout=20)
    for array, _ in values_of(results):
        assert array.view('u2').tolist() == rounded(values, 'fp16', 'sum').tolist()


def expected_type(form):
    return 'u2' if form == 'fp16' else 'i4' if form == 'int32' else 'u1'


@pytest.mark.parametrize('options, text, reason', [
    ('formats=fp16', 'start it with --aggregate digits=', 'takes no exact sums'),
    ('digits=all,bytes=64', 'grants 64 bytes of 80', 'switch above')])
def test_a_parent_that_does_not_fit(options, text, reason, tmp_path):
    """p4/leaf says what to do, and workers that the switch above is why."""
    with tree(tmp_path, Variant('fp16'), leaves=1, workers=1, options=options) as (_, [leaf]):
        status, said = leaf.wait()
        assert status == 1 and text in said, said
        [error] = reduce([leaf], gradients(1, 'fp16'))
    assert isinstance(error, allreduce.AllreduceError) and reason in str(error), error


def test_a_lost_parent(tmp_path):
    """Killed: after a while p4/leaf ends, and workers are told."""
    with tree(tmp_path, Variant('fp16'), leaves=1, workers=1, silent=2) as (root, [leaf]):
        [(array, _)] = values_of(reduce([leaf], gradients(1, 'fp16')))
        assert len(array) == COUNT
        root.process.kill()
        status, said = leaf.wait()
        assert status == 1 and 'has said nothing for 2 s' in said, said
        [error] = reduce([leaf], gradients(1, 'fp16'))
    assert 'switch above' in str(error), error
