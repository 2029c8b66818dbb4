# SPDX-License-Identifier: BSD-3-Clause
"""libnetfc-allreduce through the aggregating P4 program, run as Python behind a UDP socket."""

import contextlib
import dataclasses

import numpy as np
import pytest

import oracle
import p4_bridge
import p4_jobs
import p4_python
import sanitized
from netfc import aggregation, allreduce
from netfc.protocol import Flag
from p4_entries import run
from side_by_side import together

LANES, SLOTS, COUNT = 8, 4, 500

pytestmark = pytest.mark.skipif(
    sanitized.is_sanitized(),
    reason='libnetfc-allreduce in a process without the sanitizer; test_package.py runs it in one with')


@contextlib.contextmanager
def bridged(workers, kind, lost=0.0, form='fp16'):
    """A switch for a job of so many workers. Yields the bridge."""
    team = [p4_jobs.Member(number, host=p4_bridge.HOST) for number in range(workers)]
    options = [f'-DNETFC_FORMAT={aggregation.FORMAT_IDS[form]}']
    options += ['-DNETFC_SUMS'] if kind == 'sums' else []
    program = p4_python.Switch(p4_jobs.PROGRAM, f'-DNETFC_LANES={LANES}', f'-DNETFC_SLOTS={SLOTS}',
                               *options)
    entries = p4_jobs.entries(p4_jobs.described(team, address=p4_bridge.HOST), slots=SLOTS)
    exported = run('-t', 'bmv2', '--aggregate', kind, '--format', form, '-n',
                   LANES).stdout
    for command in (entries + exported).splitlines():
        program.command(command)
    with p4_bridge.Bridge(program, aggregation.UDP_PORT, lost) as bridge:
        yield bridge


def reduce(bridge, values, op='sum', form=None, **options):
    """What each worker has after an allreduce; or its error."""
    def work(number):
        try:
            with allreduce.Communicator(
                    bridge.address, worker=number, workers=len(values), job=1,
                    token=p4_jobs.TOKEN, **options) as comm:
                array = values[number].copy()
                flags = comm.allreduce(array, op, form)
                return array, flags
        except allreduce.AllreduceError as error:
            return error

    return together(len(values), work)


def gradients(workers, dtype=np.float16):
    """Numbers of any size, sums of which are exact in binary64."""
    draw = np.random.default_rng(workers)
    return (draw.standard_normal((workers, COUNT)) * 2.0 ** draw.integers(-8, 10, COUNT)).astype(
        dtype)


@pytest.mark.parametrize('workers, kind, op, lost', [
    (1, 'sums', 'sum', 0), (4, 'sums', 'sum', 0.1), (3, 'sums', 'mean', 0), (4, 'results', 'sum', 0.1),
    (32, 'sums', 'mean', 0), (32, 'results', 'sum', 0)])
def test_sums(workers, kind, op, lost):
    """Exact sums of all, rounded once, in the switch or by the workers."""
    values = gradients(workers)
    exact = values.astype('f8').sum(axis=0) / (workers if op == 'mean' else 1)
    with bridged(workers, kind, lost) as bridge:
        results = reduce(bridge, values, op)
    rounded = exact.astype(np.float16)
    underflow = ((rounded == 0) & (exact != 0)).any()
    for array, flags in results:
        assert (array == rounded).all()
        assert flags == (Flag.UNDERFLOW if underflow else 0)


def test_special_values():
    values = np.zeros((2, 6), np.float16)
    values[0] = -0.0, np.inf, np.inf, np.nan, 65504, -0.0
    values[1] = -0.0, 1, -np.inf, np.inf, 65504, 0
    for kind in ('sums', 'results'):
        with bridged(2, kind) as bridge:
            results = reduce(bridge, values)
        for array, flags in results:
            assert array.view('u2').tolist() == [0x8000, 0x7C00, 0x7E00, 0x7E00, 0x7C00, 0]
            assert flags.name == 'INVALID|OVERFLOW'


@pytest.mark.parametrize('workers, kind, op, lost', [
    (2, 'sums', 'sum', 0.1), (5, 'sums', 'mean', 0), (32, 'results', 'sum', 0)])
def test_sums_of_eight_bits(workers, kind, op, lost):
    """All encodings; many sums are too large, which is NaN."""
    values = np.random.default_rng(workers).integers(0, 0x100, (workers, COUNT)).astype('u1')
    values[:, :100] &= 0x9F  # up to 2^-3
    form = oracle.NarrowFormat(oracle.E4M3)
    decoded = np.array([form.decode(x) for x in range(0x100)], dtype='f8')
    exact = decoded[values].sum(axis=0) / (workers if op == 'mean' else 1)
    expected = [form.encode(value) for value in exact.tolist()]
    with bridged(workers, kind, lost, 'fp8_e4m3') as bridge:
        results = reduce(bridge, values, op, 'fp8_e4m3')
    for array, flags in results:
        assert array.tolist() == [bits for bits, _ in expected]
        assert bool(flags & Flag.OVERFLOW) == any(over for _, over in expected)


@pytest.mark.parametrize('kind, dtype, op, message', [
    ('results', np.float16, 'mean', 'does not compute this operation'),
    ('sums', np.float16, 'max', 'does not compute this operation'),
    ('sums', np.float32, 'sum', 'does not compute this format')])
def test_what_the_program_does_not_compute(kind, dtype, op, message):
    """Refused by the switch, and the error says what for."""
    with bridged(1, kind) as bridge:
        [error] = reduce(bridge, gradients(1, dtype), op)
    assert isinstance(error, allreduce.AllreduceError) and message in str(error), error


def test_too_few_slots():
    """A job's slots are the program's: who wants fewer is refused."""
    with bridged(1, 'sums') as bridge:
        [error] = reduce(bridge, gradients(1), slots=SLOTS // 2)
    assert isinstance(error, allreduce.AllreduceError)
    assert 'does not join job 1 as others did' in str(error)


# ---- who has joined --------------------------------------------------------------------------


def asked(program, worker, op, number=0):
    """The replies to a request, as (code, reason)."""
    payload = aggregation.join(worker.place, 1, SLOTS, 2 * LANES) if op == 'join' else \
        aggregation.leave(worker.place) if op == 'leave' else \
        aggregation.chunk(worker.place, aggregation.OPS['sum'], 1, number, bytes(2 * LANES))
    return [(payload[5] >> 4 & 7, payload[15] if payload[5] & 0x70 else 0) for payload in (
        p4_jobs.payload_of(reply) for _, reply in program.receive(
            p4_jobs.frame(worker, payload, to=p4_bridge.HOST)))]


def test_a_place_is_of_who_has_joined():
    """As in dpdk-netfc: no chunk before the join, and no join of another process."""
    worker = p4_jobs.Member(0, host=p4_bridge.HOST)
    other = dataclasses.replace(worker, udp_port=worker.udp_port + 9)
    with bridged(1, 'results') as bridge:
        program = bridge.program
    for op in ('chunk', 'leave'):
        assert asked(program, worker, op) == [(7, 3)]  # no-job
    assert asked(program, worker, 'join') == [(0, 0)]
    assert asked(program, other, 'join') == [(7, 14)]  # full
    assert asked(program, worker, 'join') == [(0, 0)]
    assert asked(program, other, 'leave') == [(7, 14)]
    assert asked(program, worker, 'chunk') == asked(program, worker, 'leave') == [(0, 0)]


@pytest.mark.parametrize('count', [0, 1, 6, 7, 9, 12])
def test_chunks_of_another_length(count):
    """They are answered with code 4, as they are: a checksum is right, wrong or none, as theirs is."""
    worker = p4_jobs.Member(0, host=p4_bridge.HOST)
    with bridged(1, 'results') as bridge:
        program = bridge.program
    payload = aggregation.chunk(worker.place, aggregation.OPS['sum'], 1, 0, bytes(range(2 * count)),
                                count=LANES)[:24 + 2 * count]
    for checksum in (None, 0x1234, 0):
        frame = p4_jobs.frame(worker, payload, to=p4_bridge.HOST, checksum=checksum)
        replies = program.receive(frame)
        if count == 0 and checksum == 0x1234:
            assert not replies  # all of it is summed
            continue
        [(_, reply)] = replies
        assert p4_jobs.payload_of(reply) == payload[:5] + b'\xC0' + payload[6:]
        right = p4_jobs.udp_checksum(reply[26:34], reply[34:40], p4_jobs.payload_of(reply))
        got = int.from_bytes(reply[40:42], 'big')
        assert got == {None: right, 0: 0 if count else right}.get(checksum, got)
        assert (checksum == 0x1234) == (got not in (right, 0))
