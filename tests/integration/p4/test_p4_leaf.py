# SPDX-License-Identifier: BSD-3-Clause
"""A leaf of a tree in P4, run as Python, for BMv2 and for Tofino, between workers and a parent that
checks the digits; the network loses, doubles and disorders packets."""

import dataclasses
import importlib.machinery
import importlib.util
import json
import random
import struct
import types

import numpy as np
import pytest

import oracle
import p4_jobs
import p4_python
import p4_rows
import test_p4_aggregate_tna as tna
from netfc import aggregation
from p4_jobs import Member
from p4_entries import run

pytestmark = pytest.mark.long

LANES, SLOTS, CHUNKS, SHARDS = 8, 4, 24, 2
SESSION = 0xFEDCBA9876543210
PARENT, PARENT_MAC, UPLINK, UPLINK_MAC = '10.9.0.1', '02:00:00:00:09:01', '10.9.0.2', '02:00:00:00:09:02'
WORKERS_PORT, PARENT_PORT, HOST_PORT, UPLINK_PORT = 0, 8, 9, 20096
PLACE = aggregation.Place(((2, 1),), 9)
UNITS = {'fp16': 24, 'int32': 0, 'fp8_e4m3': 9}
TYPES = {'fp16': '>u2', 'int32': '>i4', 'fp8_e4m3': 'u1'}
NAN, PLUS_INF, MINUS_INF, MINUS_ZERO = 1, 2, 4, 8


def script(name):
    """A script as a module."""
    spec = importlib.util.spec_from_loader(
        name, importlib.machinery.SourceFileLoader(name, str(p4_jobs.P4 / name)))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LEAF = script('leaf')


def described(*teams):
    """What p4/jobs and p4/leaf read: the first job has a parent."""
    given = json.loads(p4_jobs.described(*teams))
    given['jobs'][0]['tree'] = {'workers': PLACE.workers, 'path': list(map(list, PLACE.path))}
    return json.dumps({
        **given, 'mac': p4_jobs.SWITCH_MAC,
        'parent': {'address': PARENT, 'mac': PARENT_MAC, 'port': PARENT_PORT},
        'uplink': {'address': UPLINK, 'mac': UPLINK_MAC, 'port': HOST_PORT}})


class Switch:
    """The program for a target, its tables filled as p4/jobs and p4/leaf do."""

    def __init__(self, target, form, *teams, lanes=LANES):
        text = described(*teams)
        options = ('-DNETFC_LEAF', f'-DNETFC_FORMAT={aggregation.FORMAT_IDS[form]}',
                   f'-DNETFC_LANES={lanes}', f'-DNETFC_SLOTS={SLOTS}')
        self.target = target
        self.program = (p4_python.Switch(p4_jobs.PROGRAM, *options) if target == 'bmv2' else
                        p4_python.TnaSwitch(tna.PROGRAM, *options))
        self.load(p4_jobs.entries(text, target, slots=SLOTS))
        self.export(form, lanes)
        _, ends, [job, *_] = LEAF.jobs.read(text, len(teams))
        self.described = LEAF.Program(types.SimpleNamespace(
            target=target, load='true', slots=SLOTS, lanes=lanes, format=form))
        self.uplink = LEAF.Uplink(0, job, ends, self.described)
        self.uplink.session, self.uplink.shards = SESSION, SHARDS

    def export(self, form, lanes):
        def exported(target):
            return run('-t', target, '--aggregate', 'sums', '--format', form, '-n',
                       lanes).stdout

        if self.target == 'bmv2':
            self.load(exported('bmv2'))
            return
        for path, rows in p4_rows.read_bfrt_json(exported('bfrt-json')).items():
            for row in rows:
                self.program.table(path).add(row.action.split('.')[-1], row.keys, row.args,
                                             row.order)

    def load(self, text):
        if self.target == 'bmv2':
            for command in text.splitlines():
                self.program.command(command)
        else:
            exec(compile(text, 'entries', 'exec'), {'bfrt': tna.Shell(self.program)})

    def add(self, rows):
        self.load('\n'.join(self.described.text(rows)))

    def grant(self):
        """As p4/leaf does once the parent has let the leaf in."""
        self.add(self.uplink.rows_of_grant())

    def end(self, reason):
        self.add(self.uplink.rows_of_end(reason))

    def receive(self, frame, port=WORKERS_PORT):
        """The frames that leave: (port, frame), all of them right."""
        sent = self.program.receive(frame, port)
        for _, made in sent:
            tna.check_frame(made)
        return sent


def encodings(rng, form, count):
    """Values of any kind."""
    if form == 'int32':
        return rng.integers(-1 << 31, 1 << 31, count).astype('>i4')
    if form == 'fp8_e4m3':
        return rng.integers(0, 0x100, count).astype('u1')
    special = rng.choice([0x8000, 0x7C00, 0xFC00, 0x7E00, 0, 0x7BFF, 0xFBFF, 1], count)
    return np.where(rng.random(count) < 0.3, special, rng.integers(0, 0x10000, count)).astype('>u2')


def exact(columns, form):
    """Of the values of all workers in a lane: the digits' integer, and the mark."""
    if form == 'int32':
        return sum(map(int, columns)), 0
    if form == 'fp16':
        numbers = np.array(columns, 'u2').view('f2').astype('f8')
    else:
        decode = oracle.NarrowFormat(oracle.E4M3).decode
        numbers = np.array([decode(int(x)) for x in columns], 'f8')
    mark = (NAN * bool(np.isnan(numbers).any()) or
            PLUS_INF * bool((numbers == np.inf).any()) + MINUS_INF * bool((numbers == -np.inf).any()))
    if not mark and (np.signbit(numbers) & (numbers == 0)).all():
        mark = MINUS_ZERO
    return (0 if mark else int(sum(int(x * 2 ** UNITS[form]) for x in numbers))), mark


class Parent:
    """Checks what comes up, and answers with results that nobody could guess."""

    def __init__(self, values, form):
        self.values, self.form, self.first_ports = values, form, set()

    def result(self, number):
        rng = np.random.default_rng(number)
        return rng.integers(0, 0x100, LANES * np.dtype(TYPES[self.form]).itemsize).astype('u1').tobytes()

    def answer(self, frame):
        """The reply to a frame of digits."""
        payload = p4_jobs.payload_of(frame)
        fields = aggregation.HEADER.unpack_from(payload)
        number = fields[6]
        assert fields == (0x4E46, 1, aggregation.OPS['sum'], aggregation.FORMAT_IDS[self.form], 0,
                          LANES, number, 1, 1, aggregation.DIGITS, SESSION)
        assert frame[:12] == p4_jobs.mac_bytes(PARENT_MAC) + p4_jobs.mac_bytes(UPLINK_MAC)
        assert frame[26:34] == p4_jobs.ip_bytes(UPLINK) + p4_jobs.ip_bytes(PARENT)
        source, to = struct.unpack('>HH', frame[34:38])
        assert to == aggregation.UDP_PORT + number % SLOTS % SHARDS
        self.first_ports.add(source - UPLINK_PORT)
        part = aggregation.read_part(payload[24:])
        assert bytes(part) == payload[24:] and (part.first, part.number, part.parts) == (0, 0, 1)
        marks = part.marks or (0,) * LANES
        found = [(0 if mark else lane, mark) for lane, mark in zip(part.lanes, marks)]
        assert found == [exact(lane, self.form) for lane in self.values[number].T], number
        return self.reply(number, source, self.result(number))

    def reply(self, number, port, values=b'', *, count=LANES, status=0x80, reason=0,
              session=SESSION, source=PARENT, source_port=None, index=1):
        """A frame of the parent's, or of who pretends to be it."""
        payload = aggregation.HEADER.pack(
            0x4E46, 1, aggregation.OPS['sum'], aggregation.FORMAT_IDS[self.form], status, count,
            number, 1, index, reason, session) + values
        sender = Sender(source, PARENT_MAC,
                        source_port or aggregation.UDP_PORT + number % SLOTS % SHARDS)
        return sender.frame(payload, port)


@dataclasses.dataclass(frozen=True)
class Sender:
    """Who sends to the uplink."""

    ip: str
    mac: str
    port: int

    def frame(self, payload, port):
        """A datagram to the uplink's address."""
        addresses = p4_jobs.ip_bytes(self.ip) + p4_jobs.ip_bytes(UPLINK)
        ip = struct.pack('>BBHHHBB', 0x45, 0, 28 + len(payload), 1, 0, 64, 17)
        ip += struct.pack('>H', p4_jobs.internet_checksum(ip + bytes(2) + addresses)) + addresses
        udp = struct.pack('>HHH', self.port, port, 8 + len(payload))
        return (p4_jobs.mac_bytes(UPLINK_MAC) + p4_jobs.mac_bytes(self.mac) + b'\x08\x00' + ip + udp +
                struct.pack('>H', p4_jobs.udp_checksum(addresses, udp, payload)) + payload)


def join(switch, worker, count, place=PLACE):
    """The reply's code, reason and `decided`."""
    asked = aggregation.join(worker.place, count, SLOTS, 0xFFFC, place=place)
    [(port, reply)] = switch.receive(p4_jobs.frame(worker, asked))
    payload = p4_jobs.payload_of(reply)
    assert port == WORKERS_PORT and len(payload) == len(asked)
    return payload[5] >> 4 & 7, payload[15] if payload[5] & 0x70 else 0, payload[49]


def chunk(worker, number, values, form, count=LANES):
    payload = bytearray(aggregation.chunk(
        worker.place, aggregation.OPS['sum'], aggregation.FORMAT_IDS[form], number,
        values.astype(TYPES[form]).tobytes()))
    payload[6:8] = count.to_bytes(2, 'big')
    return p4_jobs.frame(worker, bytes(payload))


class Worker:
    """Sends chunks, a few ahead of their results, and again what it has no result of."""

    def __init__(self, member, values, form, counts):
        self.member, self.values, self.form, self.counts = member, values, form, counts
        self.sent, self.results = 0, {}

    def begun(self):
        """Frames of chunks that it may begin."""
        while self.sent < CHUNKS and (self.sent < SLOTS or self.sent - SLOTS in self.results):
            yield self.frame(self.sent)
            self.sent += 1

    def frame(self, number):
        return chunk(self.member, number, self.values[number][self.member.number], self.form,
                     self.counts[number])

    def again(self):
        return [self.frame(number) for number in range(self.sent) if number not in self.results]

    def take(self, frame, parent):
        """A result: right, and addressed as that of one switch."""
        payload = p4_jobs.payload_of(frame)
        fields = aggregation.HEADER.unpack_from(payload)
        number = fields[6]
        assert fields == (0x4E46, 1, aggregation.OPS['sum'], aggregation.FORMAT_IDS[self.form], 0x80,
                          self.counts[number], number, 1, self.member.number, 0, self.member.token)
        assert frame[:12] == p4_jobs.mac_bytes(self.member.mac) + p4_jobs.mac_bytes(
            p4_jobs.SWITCH_MAC)
        assert frame[26:34] == p4_jobs.ip_bytes(p4_jobs.SWITCH_IP) + p4_jobs.ip_bytes(self.member.ip)
        assert struct.unpack('>HH', frame[34:38]) == (
            aggregation.UDP_PORT, self.member.udp_port + self.member.number)
        assert payload[24:] == parent.result(number)
        self.results[number] = payload


def started(target, form, workers=3):
    """A switch whose workers have joined, and the workers."""
    team = [Member(number) for number in range(workers)]
    switch = Switch(target, form, team)
    switch.grant()
    for worker in team:
        assert join(switch, worker, workers) == (0, 0, 1)
    return switch, team


@pytest.mark.parametrize('form', ['fp16', 'int32', 'fp8_e4m3'])
@pytest.mark.parametrize('target', ['bmv2', 'bfrt'])
@pytest.mark.parametrize('trouble', [0, 0.15])
def test_digits_up_and_results_down(trouble, target, form):
    switch, team = started(target, form)
    rng, draw = np.random.default_rng(1), random.Random(1)
    values = [np.array([encodings(rng, form, LANES) for _ in team]) for _ in range(CHUNKS)]
    counts = [draw.randint(1, LANES) for _ in range(CHUNKS)]
    workers = [Worker(member, values, form, counts) for member in team]
    parent, network = Parent(values, form), []

    def send(port, frame):
        network.extend([(port, frame)] * (draw.random() >= trouble) * (
            1 + (draw.random() < trouble)))

    while any(len(worker.results) < CHUNKS for worker in workers):
        again = [frame for worker in workers for frame in worker.again()] if not network else []
        for frame in again + [frame for worker in workers for frame in worker.begun()]:
            send(WORKERS_PORT, frame)
        if not network:
            continue
        port, frame = network.pop(draw.randrange(min(len(network), 6 if trouble else 1)))
        for to, made in switch.receive(frame, port):
            if draw.random() < trouble:
                continue
            if to == PARENT_PORT:
                send(PARENT_PORT, parent.answer(made))
            else:
                workers[p4_jobs.payload_of(made)[14]].take(made, parent)
    # The first time sums go up from the first port, and again from that of the worker who asks.
    assert parent.first_ports == ({0, 1, 2, 3} if trouble else {0})


# ---- what goes wrong -------------------------------------------------------------------------

FORM = 'int32'  # its tables are filled at once
BOTH = pytest.mark.parametrize('target', ['bmv2', 'bfrt'])


def told(sent):
    """What comes back: (code, reason, count) by worker."""
    payloads = [p4_jobs.payload_of(frame) for port, frame in sent if port == WORKERS_PORT]
    return {payload[14]: (payload[5] >> 4 & 7, payload[15], int.from_bytes(payload[6:8], 'big'))
            for payload in payloads}


def sent_up(switch, team, number=0, count=5):
    """A chunk that all have sent, and is on its way up."""
    values = np.ones(LANES)
    [(port, _)] = [made for worker in team for made in switch.receive(
        chunk(worker, number, values, FORM, count))]
    assert port == PARENT_PORT
    return Parent([], FORM), bytes(4 * LANES)


@BOTH
def test_workers_wait_until_the_parent_has_let_the_leaf_in(target):
    team = [Member(number) for number in range(2)]
    switch = Switch(target, FORM, team)
    one = chunk(team[0], 0, np.ones(LANES), FORM)
    assert join(switch, team[0], 2) == (7, 2, 2)  # waiting, above
    assert told(switch.receive(one)) == {0: (7, 2, LANES)}
    switch.grant()
    assert join(switch, team[0], 2) == (0, 0, 1)
    assert switch.receive(one) == []  # one of two


@BOTH
@pytest.mark.parametrize('place', [
    None, aggregation.Place(((2, 0),), 9), aggregation.Place(((3, 1),), 9),
    aggregation.Place(((2, 1),), 8), aggregation.Place(((2, 1), (2, 0)), 9),
    aggregation.Place((), 9)])
def test_another_place(place, target):
    switch, team = started(target, FORM, 2)
    asked = aggregation.join(team[0].place, 2, SLOTS, 0xFFFC, place=place)
    [(_, reply)] = switch.receive(p4_jobs.frame(team[0], asked))
    assert p4_jobs.payload_of(reply)[15] == 11


@BOTH
@pytest.mark.parametrize('place, reply', [
    (None, (0, 0, None)), (aggregation.Place((), 2), (0, 0, 1)), (aggregation.Place((), 9), (7, 11, 1)),
    (aggregation.Place((), 1), (7, 11, 1)), (aggregation.Place((), 2 + (1 << 16)), (7, 11, 1)),
    (aggregation.Place((), 2, below=2), (7, 11, 1)), (PLACE, (7, 12, 1))])
def test_places_of_a_job_without_a_parent(place, reply, target):
    """The workers that all name are those of the job: one each, as there are no leaves below."""
    team = [Member(number, 2) for number in range(2)]
    switch = Switch(target, FORM, [Member(number) for number in range(2)], team)
    asked = aggregation.join(team[0].place, 2, SLOTS, 0xFFFC, place=place)
    [(_, frame)] = switch.receive(p4_jobs.frame(team[0], asked))
    payload = p4_jobs.payload_of(frame)
    code = payload[5] >> 4 & 7
    assert (code, payload[15] if code else 0, payload[49] if place else None) == reply


@BOTH
@pytest.mark.parametrize('change', [
    {'session': SESSION ^ 1}, {'source': '10.9.0.3'}, {'source_port': 20050}, {'index': 0},
    {'number': 2 * SLOTS}, {'number': 1}, {'count': LANES - 1}, {'reason': 1}, {'values': b''},
    {'port': 5000}])
def test_what_the_parent_has_not_sent(change, target):
    """Another source, port, session, index or chunk, of an earlier incarnation or forged; or no whole
    result. Workers get nothing, and the chunk stays as it was."""
    switch, team = started(target, FORM)
    parent, values = sent_up(switch, team)
    given = {'number': 0, 'port': UPLINK_PORT, 'values': values, **change}
    forged = parent.reply(given.pop('number'), given.pop('port'), given.pop('values'), **given)
    assert not told(switch.receive(forged, PARENT_PORT))
    right = parent.reply(0, UPLINK_PORT, values)
    assert told(switch.receive(right, PARENT_PORT)) == {w: (0, 0, 5) for w in range(3)}


@BOTH
def test_a_result_before_the_sums(target):
    """Not all workers' values are in: a result is another job's."""
    switch, team = started(target, FORM)
    switch.receive(chunk(team[0], 0, np.ones(LANES), FORM))
    assert not told(switch.receive(Parent([], FORM).reply(0, UPLINK_PORT, bytes(4 * LANES)),
                                   PARENT_PORT))


@BOTH
@pytest.mark.parametrize('status, reason, count, expected', [
    (0xF0, 3, LANES, (7, 3, 5)),  # no job
    (0xF0, 64 + 9, 0x0102, (7, 64 + 9, 0x1102)),  # a member of the switch above is late
    (0xA0, 0, LANES, (7, 13, 5)),  # it knows no digits
])
def test_what_the_parent_refuses(status, reason, count, expected, target):
    switch, team = started(target, FORM)
    parent, _ = sent_up(switch, team)
    refused = parent.reply(0, UPLINK_PORT, count=count, status=status, reason=reason)
    assert told(switch.receive(refused, PARENT_PORT)) == {w: expected for w in range(3)}
    to_one = parent.reply(0, UPLINK_PORT + 2, count=count, status=status, reason=reason)
    assert told(switch.receive(to_one, PARENT_PORT)) == {1: expected}


@BOTH
@pytest.mark.parametrize('reason', [3, 13])
def test_a_lost_parent(reason, target):
    switch, team = started(target, FORM)
    switch.end(reason)
    assert join(switch, team[0], 3)[:2] == (7, reason)
    assert told(switch.receive(chunk(team[1], 0, np.ones(LANES), FORM))) == {
        1: (7, reason, LANES)}


@BOTH
def test_a_program_without_its_last_entry(target):
    """No chunk is summed. The result of one that went up before still comes down: the parent has rounded it."""
    switch, team = started(target, FORM)
    parent, values = sent_up(switch, team)
    loaded = switch.program.table('IngressPipe.netfc.loaded')
    loaded.exact.clear()
    assert told(switch.receive(chunk(team[0], 1, np.ones(LANES), FORM))) == {0: (3, 0, LANES)}
    down = switch.receive(parent.reply(0, UPLINK_PORT, values), PARENT_PORT)
    assert told(down) == {worker: (0, 0, 5) for worker in range(len(team))}
