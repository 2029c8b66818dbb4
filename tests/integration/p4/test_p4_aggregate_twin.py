# SPDX-License-Identifier: BSD-3-Clause
"""Aggregation in P4 beside the running switch: one capture through both, the same replies.

Both the same but for the session: the running switch draws one, and to the program the token is it.

The program runs as Python (p4_python), and on BMv2 where p4c-bm2-ss, simple_switch and
simple_switch_CLI are on the PATH.
"""

import collections
import dataclasses
import random
import time

import numpy as np
import pytest

import bmv2
import hosts
import p4_jobs
import p4_python
from netfc import aggregation
from p4_entries import run

LANES, SLOTS, WORKERS, CHUNKS = 8, 8, 4, 120
FP16, INT32, E4M3 = 1, 6, 8
BYTES = {FP16: 2, INT32: 4, E4M3: 1}
NAMES = {FP16: 'fp16', INT32: 'int32', E4M3: 'fp8_e4m3'}
NO_JOB = 0xFFFE
POLL_S, QUIET_S = 0.2, 3


def options(form):
    """Of the compiler."""
    return (f'-DNETFC_LANES={LANES}', f'-DNETFC_SLOTS={SLOTS}', f'-DNETFC_FORMAT={form}')


def values(rng, special, form=FP16):
    """A chunk's values of a worker: any encoding, or gradients."""
    if form == INT32:
        return rng.integers(0, 1 << 32, LANES).astype('>u4').tobytes()
    if form == E4M3:
        # Many of the same exponent are too large; or any but NaN's encodings, mostly.
        return (rng.integers(0x70, 0x80, LANES) if special else
                rng.choice(0x7E, LANES) | rng.choice((0, 0x80), LANES)).astype('u1').tobytes()
    if special:
        return rng.integers(0, 0x10000, LANES).astype('>u2').tobytes()
    return (rng.standard_normal(LANES) * 10.0 ** rng.integers(-6, 4, LANES)).astype(
        '>f2').tobytes()


def capture(team, form=FP16, seed=1):
    """Frames of all workers: a few chunks ahead of each other, lost ones again, some twice or late."""
    rng, draw = np.random.default_rng(seed), random.Random(seed)
    sent, frames = {}, []

    def send(worker, number, count=1):
        for _ in range(count):
            frames.append(p4_jobs.frame(worker, sent[worker.number, number],
                                        identification=len(frames) & 0xffff))

    for first in range(0, CHUNKS, SLOTS):
        chunks = [(worker, number) for worker in team
                  for number in range(first, min(first + SLOTS, CHUNKS))]
        draw.shuffle(chunks)
        for worker, number in chunks:
            sent[worker.number, number] = aggregation.chunk(
                worker.place, aggregation.OPS['sum'], form, number,
                values(rng, number % 3 == 0, form))
            send(worker, number, draw.choice((1, 1, 1, 2)))
            if first and draw.random() < 0.3:  # a result was lost, or a packet was long on its way
                send(worker, draw.randrange(max(0, first - 3 * SLOTS), first))
            if draw.random() < 0.1:
                frames.extend(mistakes(worker, number, draw, form))
    return frames


def mistakes(worker, number, draw, form):
    """Packets that are refused, or dropped."""
    def chunk(place=worker.place, at=number):
        return aggregation.chunk(place, aggregation.OPS['sum'], form, at,
                                 bytes(BYTES[form] * LANES))

    place = worker.place
    bad = bytearray(chunk())
    bad[2] = 9
    unknown = bytearray(chunk())
    unknown[3] = 77
    return draw.sample([
        p4_jobs.frame(worker, chunk(at=number + 8 * SLOTS)),
        p4_jobs.frame(worker, bytes(bad)),
        p4_jobs.frame(worker, bytes(unknown)),
        p4_jobs.frame(worker, chunk(place=dataclasses.replace(place, job=99))),
        p4_jobs.frame(worker, chunk(place=dataclasses.replace(place, session=5)),
                      source='10.1.0.77'),
        p4_jobs.frame(worker, chunk(place=dataclasses.replace(place, number=WORKERS))),
        p4_jobs.frame(worker, chunk(), source='10.1.0.77'),
        p4_jobs.frame(dataclasses.replace(worker, udp_port=7000), chunk()),
        p4_jobs.frame(worker, chunk(), checksum=0x1234)], 3)


def results(wire, team, frames):
    """What comes back for frames, counted: copies have no order.

    A few are on their way at a time, as BMv2's receive ring is short: after them goes a chunk that
    is refused, and its answer is waited for.
    """
    probe = p4_jobs.frame(team[0], aggregation.chunk(
        aggregation.Worker(NO_JOB, 0, 0), aggregation.OPS['sum'], FP16, 0, bytes(2 * LANES)))
    found = collections.Counter()
    for at in range(0, len(frames), bmv2.WINDOW - 1):
        for frame in (*frames[at:at + bmv2.WINDOW - 1], probe):
            wire.send(frame)
        found.update(until_refused(wire))
    last = time.monotonic()
    while time.monotonic() - last < QUIET_S:
        try:
            frame = wire.receive(POLL_S)
        except TimeoutError:
            continue
        if is_reply(frame):
            found[frame] += 1
            last = time.monotonic()
    return found


def is_reply(frame):
    """Whether it is one of the switch's messages."""
    return frame[23:24] == b'\x11' and frame[34:36] == aggregation.UDP_PORT.to_bytes(2, 'big')


def until_refused(wire):
    """The replies that come before that to the probe."""
    found = []
    while True:
        frame = wire.receive(hosts.TIMEOUT_S)
        if is_reply(frame):
            if p4_jobs.payload_of(frame)[12:14] == NO_JOB.to_bytes(2, 'big'):
                return found
            found.append(frame)


def join_frames(team, form=FP16, cookies=None):
    return [p4_jobs.frame(worker, aggregation.join(
        worker.place, len(team), SLOTS, BYTES[form] * LANES, (cookies or {}).get(worker.number, 0)))
            for worker in team]


def through_dpdk(folder, team, form):
    """The replies of dpdk-netfc, behind the same interface, with the token in the session's place."""
    with hosts.veth_network(1, configured=False) as (middle, ends):
        middle.ip('link', 'set', 'p0', 'address', p4_jobs.SWITCH_MAC)
        arguments = ['--address', f'{p4_jobs.SWITCH_IP}/24', '--aggregate']
        with hosts.LiveSwitch(folder, hosts.veth_ports(1), arguments, namespace=middle) as live:
            live.wait_until_ready()
            with hosts.Wire(ends[0]) as wire:
                replies = results(wire, team, join_frames(team, form))
                cookies = {p4_jobs.payload_of(reply)[14]: aggregation.JOIN.unpack_from(
                    p4_jobs.payload_of(reply), 24)[5] for reply in replies}
                joined = results(wire, team, join_frames(team, form, cookies))
                [session] = (aggregation.JOIN.unpack_from(payload, 24)[5] for payload in map(
                    p4_jobs.payload_of, joined) if payload[5] == 0x80)
                members = [dataclasses.replace(worker, session=session) for worker in team]
                return collections.Counter(
                    p4_jobs.with_secret(reply, team[0].token) for reply in results(
                        wire, team, capture(members, form)).elements())


def commands(team, kind='results', form=FP16):
    """All that a switch is told."""
    return p4_jobs.entries(p4_jobs.described(team), slots=SLOTS) + run(
        '-t', 'bmv2', '--aggregate', kind, '--format', NAMES[form], '-n', LANES).stdout


def as_python(team, kind='results', form=FP16):
    """The program, its tables filled."""
    defines = ['-DNETFC_SUMS'] if kind == 'sums' else []
    program = p4_python.Switch(p4_jobs.PROGRAM, *options(form), *defines)
    for command in commands(team, kind, form).splitlines():
        program.command(command)
    return program


def through_python(_, team, form, frames):
    """The replies of the program as Python."""
    program = as_python(team, form=form)
    check_joins(team, form, collections.Counter(
        reply for frame in join_frames(team, form) for _, reply in program.receive(frame)))
    return collections.Counter(reply for frame in frames for _, reply in program.receive(frame))


def check_joins(team, form, joined):
    """All are granted what the program has."""
    assert sum(joined.values()) == len(team)
    size = BYTES[form] * LANES
    for reply in joined:
        payload = p4_jobs.payload_of(reply)
        assert payload[5] == 0x80
        assert aggregation.JOIN.unpack_from(payload, 24) == (len(team), 1, SLOTS, size, size, 0, 1)


def through_bmv2(folder, team, form, frames):
    with hosts.veth_network(1, configured=False) as (middle, ends):
        with bmv2.started(folder, middle, 1, options(form), commands(team, form=form),
                          program=p4_jobs.PROGRAM):
            with hosts.Wire(ends[0]) as wire:
                check_joins(team, form, results(wire, team, join_frames(team, form)))
                return results(wire, team, frames)


@hosts.needs_namespaces
@pytest.mark.parametrize('form', [
    FP16, pytest.param(INT32, marks=pytest.mark.slow), E4M3])
@pytest.mark.parametrize('through', [
    pytest.param(through_python, id='Python'),
    pytest.param(through_bmv2, id='BMv2', marks=bmv2.needs_bmv2)])
def test_the_same_replies(through, form, tmp_path):
    team = [p4_jobs.Member(number) for number in range(WORKERS)]
    frames = capture(team, form)
    expected = through_dpdk(tmp_path, team, form)
    arrived = through(tmp_path, team, form, frames)
    assert sum(expected.values()) > WORKERS * CHUNKS
    missing, more = expected - arrived, arrived - expected
    assert not missing and not more, (len(missing), len(more), [
        frame.hex() for frame in [*missing, *more][:4]])
