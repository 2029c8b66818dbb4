# SPDX-License-Identifier: BSD-3-Clause
"""Aggregation for Tofino, run as Python: the messages are those of the program for BMv2 that sends
sums, which is held against the running switch (test_p4_aggregate_twin.py)."""

import collections

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
