# SPDX-License-Identifier: BSD-3-Clause
"""Aggregation for Tofino, run as Python: the messages are those of the program for BMv2 that sends
sums, which is held against the running switch (test_p4_aggregate_twin.py)."""

import collections
import dataclasses

import pytest

import frames
import p4_jobs
import p4_python
import p4_rows
import test_p4_aggregate_twin as twin
import tiers
from netfc import aggregation
from p4_entries import run

PROGRAM = p4_jobs.P4 / 'netfc_aggregate_tna.p4'


class Shell:
    """Tofino's shell as far as p4/jobs uses it, in front of a program."""

    def __init__(self, program, path=()):
        self.program, self.path = program, path

    def __getattr__(self, name):
        return Shell(self.program, (*self.path, name))

    def __call__(self, **fields):
        *path, method = self.path
        if path[:1] == ['pre']:
            if path[1] == 'node':
                self.program.nodes.append((fields['MULTICAST_RID'], fields['DEV_PORT'][0]))
            else:
                self.program.groups[fields['MGID']] = [
                    self.program.nodes[node - 1] for node in fields['MULTICAST_NODE_ID']]
        elif method == 'add':
            register = self.program.table('.'.join(path[2:]))
            place = register.read(fields['register_index'])
            place.chunk = fields['chunk']
            register.write(fields['register_index'], place)
        elif path[1:2] == ['pipe']:
            add_row(self.program.table('.'.join(path[2:])), method.removeprefix('add_with_'),
                    fields)


def add_row(table, action, fields):
    """An entry: a field's mask follows it, and so do the action's arguments."""
    priority = fields.pop('match_priority', 0)
    values, keys = list(fields.items()), []
    for kind in table.kinds:
        _, value = values.pop(0)
        keys.append((value, values.pop(0)[1] if kind == 'ternary' else None))
    table.add(action, keys, tuple(value for _, value in values), priority)


def tofino(team, form):
    """The program, its tables filled."""
    program = p4_python.TnaSwitch(PROGRAM, *twin.options(form))
    jobs = p4_jobs.entries(p4_jobs.described(team), 'bfrt', slots=twin.SLOTS)
    exec(compile(jobs, 'jobs', 'exec'), {'bfrt': Shell(program)})
    exported = run('-t', 'bfrt-json', '--aggregate', 'sums', '--format', twin.NAMES[form], '-n',
                   twin.LANES).stdout
    program.fill(p4_rows.read_bfrt_json(exported))
    return program


def messages(program, sent):
    """Who gets which payloads, and how often; every frame's lengths and checksums are right."""
    found = collections.Counter()
    for frame in sent:
        for _, reply in program.receive(frame):
            check_frame(reply)
            found[reply[:14], reply[26:34], reply[34:38], p4_jobs.payload_of(reply)] += 1
    return found


def check_frame(frame):
    length = int.from_bytes(frame[38:40], 'big')
    assert int.from_bytes(frame[16:18], 'big') == 20 + length == len(frame) - 14
    assert frames.internet_checksum(frame[14:34]) == 0
    pseudo = frame[26:34] + b'\0\x11' + frame[38:40]
    assert frames.internet_checksum(pseudo + frame[34:]) == 0


@pytest.mark.parametrize('form', [twin.E4M3, *tiers.later('long', twin.FP16, twin.INT32)])
def test_the_same_messages(form):
    team = [p4_jobs.Member(number) for number in range(twin.WORKERS)]
    # Tofino does not check the checksums of what it receives, and copies go to the port of a join.
    sent = twin.join_frames(team, form) + [
        frame for frame in twin.capture(team, form) if frame[40:42] != b'\x12\x34' and
        int.from_bytes(frame[34:36], 'big') < 7000]
    expected = messages(twin.as_python(team, 'sums', form), sent)
    arrived = messages(tofino(team, form), sent)
    missing, more = expected - arrived, arrived - expected
    assert not missing and not more, [
        (worker.hex(), payload.hex()) for worker, _, _, payload in [*missing, *more][:6]]
    assert sum(arrived.values()) > twin.WORKERS * twin.CHUNKS
    kinds = {payload[15] for _, _, _, payload in arrived if payload[5] == 0x80}
    assert aggregation.OPS['join'] in {payload[3] for _, _, _, payload in arrived} and 1 in kinds


# ---- what is refused -------------------------------------------------------------------------

FORM = twin.INT32  # its tables are filled at once
TEAM = [p4_jobs.Member(number) for number in range(2)]
ONES = b'\0\0\0\1' * twin.LANES


def chunk(number=0, values=ONES, *, worker=TEAM[0], op='sum', form=FORM, owner=0, count=None, flags=0):
    payload = bytearray(aggregation.chunk(
        worker.place, aggregation.OPS[op], form, number, values, owner,
        twin.LANES if count is None else count))
    payload[5] = flags
    return bytes(payload)


def join(place=None, padding=0, **changes):
    return aggregation.join(dataclasses.replace(TEAM[0].place, **changes), len(TEAM), twin.SLOTS,
                            4 * twin.LANES, place=place) + bytes(padding)


def digits(lanes, owner=0):
    part = aggregation.Part(0, (1,) * lanes, 0, 1, 0, 1)
    return chunk(values=bytes(part), owner=aggregation.DIGITS + owner)


# Each with the code of its reply, and the reason if the code is 7.
REFUSED = {
    'digits': (digits(twin.LANES), 7, 15),
    'digits as long as values': (digits(twin.LANES - 2), 7, 15),
    'digits with an owner': (digits(twin.LANES - 2, aggregation.OWNER + 1), 7, 15),
    'a label in a sum': (chunk(flags=1), 4, None),
    'a label': (aggregation.label(TEAM[0].place, FORM, 0, 5), 2, None),
    'zeros': (aggregation.zeros(TEAM[0].place, aggregation.OPS['sum'], FORM, 0, twin.LANES), 4, None),
    'zeros with values': (chunk(flags=2), 4, None),
    'results of another format': (chunk(form=0x50 + FORM), 3, None),
    'a copy': (chunk(op='copy', owner=aggregation.OWNER), 2, None),
    'the least': (chunk(op='min'), 2, None),
    'no values': (chunk(count=0), 4, None),
    'more values than lanes': (chunk(count=twin.LANES + 1), 7, 4),
    'a tag': (chunk(values=ONES + bytes(8), count=twin.LANES), 4, None),
    'a join with another token': (join(token=5), 7, 14),
    'a join of a worker too many': (join(number=len(TEAM)), 7, 5),
    'a join of no job': (join(job=9), 7, 5),
    'a join in a tree': (join(aggregation.Place(((2, 1),), 9)), 7, 12),
    'a join of no tree': (join(aggregation.Place((), 0)), 7, 12),
    'a padded join': (join(padding=8), 7, 12),
    'a leave with more': (aggregation.leave(TEAM[0].place) + bytes(4), 4, None),
}


@pytest.mark.parametrize('program', [
    pytest.param(lambda: twin.as_python(TEAM, 'sums', FORM), id='BMv2'),
    pytest.param(lambda: tofino(TEAM, FORM), id='Tofino')])
def test_refusals(program):
    """What a program does not know it says so of, and sums nothing of it."""
    program = program()
    replies = [frame for sent in twin.join_frames(TEAM, FORM) for _, frame in program.receive(sent)]
    # No features, in the byte of the reason.
    assert [p4_jobs.payload_of(frame)[5:16:10] for frame in replies] == [b'\x80\0'] * len(TEAM)
    told = {}
    for what, (payload, _, _) in REFUSED.items():
        [(_, frame)] = program.receive(p4_jobs.frame(TEAM[0], payload))
        check_frame(frame)
        reply = p4_jobs.payload_of(frame)
        assert reply[:5] == payload[:5] and len(reply) == len(payload)
        told[what] = reply[5] >> 4 & 7, reply[15] if reply[5] & 0x70 == 0x70 else None
    assert told == {what: (code, reason) for what, (_, code, reason) in REFUSED.items()}
    # Another address is another process.
    [(_, frame)] = program.receive(p4_jobs.frame(TEAM[0], join(), source='10.1.0.77'))
    assert p4_jobs.payload_of(frame)[5:16:10] == b'\xF0\x0E'
    # The chunk's values are those of its workers alone.
    sent = [program.receive(p4_jobs.frame(
        worker, aggregation.chunk(worker.place, aggregation.OPS['sum'], FORM, 0, ONES)))
        for worker in TEAM]
    assert [len(made) for made in sent] == [0, len(TEAM)]
    assert {p4_jobs.payload_of(frame)[24:] for _, frame in sent[1]} == {
        (2).to_bytes(4, 'big').ljust(8, b'\0') * twin.LANES}


# ---- processes -------------------------------------------------------------------------------


BOTH = pytest.mark.parametrize('target, program', [
    pytest.param('bmv2', lambda: twin.as_python(TEAM, 'sums', FORM), id='BMv2'),
    pytest.param('tofino', lambda: tofino(TEAM, FORM), id='Tofino')])


def asked(program, payload, worker=TEAM[0], port=None):
    """The replies, as (worker, code, reason)."""
    sender = worker if port is None else dataclasses.replace(worker, udp_port=port)
    sent = program.receive(p4_jobs.frame(sender, payload))
    for _, frame in sent:
        check_frame(frame)
    return [(reply[14], reply[5] >> 4 & 7, reply[15]) for reply in
            (p4_jobs.payload_of(frame) for _, frame in sent)]


def both_send(program, number=0):
    return [asked(program, chunk(number, worker=worker), worker) for worker in TEAM]


@BOTH
def test_a_process_that_was_started_anew(target, program):
    """It gets no result of the one before it, and the others hear that the job is over."""
    program, own = program(), (5 << 32) + 7
    for worker in TEAM:
        assert asked(program, join(number=worker.number, incarnation=own), worker) == [
            (worker.number, 0, 0)]
    assert both_send(program) == [[], [(0, 0, 1), (1, 0, 1)]]
    # One that has another port is just another one.
    assert asked(program, join(incarnation=2), port=6000) == [(0, 7, 14)]
    assert asked(program, join(incarnation=own)) == [(0, 0, 0)]
    assert both_send(program, 1) == [[], [(0, 0, 1), (1, 0, 1)]]
    reason = {'bmv2': aggregation.MISSING, 'tofino': 3}[target]
    for incarnation in (own + 1, own + (1 << 32), 7):
        assert asked(program, join(incarnation=incarnation)) == [(0, 7, 14)]
        for number in (0, 1, 2):
            assert both_send(program, number) == [[(0, 7, reason)], [(1, 7, reason)]]


@BOTH
def test_a_join_that_is_refused_takes_no_place(target, program):
    program = program()
    for workers in (len(TEAM) + 1, len(TEAM)):
        payload = aggregation.join(dataclasses.replace(TEAM[0].place, incarnation=workers), workers,
                                   twin.SLOTS, 4 * twin.LANES)
        assert asked(program, payload) == [(0, 7, 4) if workers > len(TEAM) else (0, 0, 0)], target
