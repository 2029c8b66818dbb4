# SPDX-License-Identifier: BSD-3-Clause
"""Formats of 8 bits in P4: every pair of every operation, in the translated program; then frames, through
it and, where there are its tools, through BMv2, against the running switch."""

import itertools

import numpy as np
import pytest

import bmv2
import frames
import hosts
import oracle
import p4_lanes
import p4_python
import p4_rows
import p4_targets
import switch
from p4_targets import REQUEST, exported, verdict
from p4_entries import complaint

pytestmark = pytest.mark.long

SETS = [f'fp8_{form}_{overflow}' for form in ('e4m3', 'e5m2') for overflow in ('exact', 'sat')]


@pytest.mark.parametrize('name', SETS)
def test_every_result(name):
    """In both lanes of a pair, beside operands of the other one's."""
    expected = oracle.table_set(name)
    lane = p4_lanes.Lane(p4_rows.read_bmv2(exported('bmv2', name)),
                         f'-DNETFC_FORMAT={expected.format.number}')
    x, y = np.divmod(np.arange(0x10000), 0x100)
    for op in oracle.OPERATIONS:
        results = np.array([expected.result(op, a, b) for a, b in zip(x.tolist(), y.tolist())])
        even, even_flags = lane.compute(op, x << 8 | y, y << 8 | x)
        odd, odd_flags = lane.compute(op, y << 8 | x, x << 8 | y, flags='odd_flags')
        assert (np.array((even >> 8, even_flags)).T == results).all()
        assert (np.array((odd & 0xFF, odd_flags)).T == results).all()


# ---- frames ----------------------------------------------------------------------------------


def requests(name, lanes, structured):
    """The zoo, of which none is computed; requests of all numbers of lanes, good and bad; and pairs."""
    form = oracle.table_set(name).format.number
    payloads = [frames.lanes(count, form, op) for count in range(1, lanes + 3)
                for op in oracle.OPERATIONS]
    payloads += [frames.lanes(count, form, tail=b'\xBB' * more) for count in (1, 2)
                 for more in (1, 2, 6)]
    payloads += [frames.lanes(count, form)[:size] for count in (1, 2, 3) for size in range(12, 30)]
    payloads += [frames.request(form=form, count=count)
                 for count in (0, 2, 3, 255, 0x1000, 0x1FFF, 0x2000, 0x8000, 0xFFFF)]
    payloads += [frames.request(form=17 - form), frames.request(oracle.QUERY, form),
                 frames.request(9, form), frames.request(form=form, status=0x80)]
    made = [wrap(payload) for wrap in frames.carriers().values() for payload in payloads]
    draw = np.random.default_rng(form)
    sizes = itertools.cycle(range(1, lanes + 1))
    for op in oracle.OPERATIONS:
        pairs = draw.integers(0, 0x100, (structured, 2)).tolist()
        made += frames.bulk(op, form, pairs, sizes)
    return [frame for _, frame in frames.zoo()] + made



def has_more(frame):
    """Whether there are bytes after z, with which the program for Tofino computes nothing."""
    layout = oracle.parse(frame)
    if layout.udp is None or layout.end < layout.payload + 12:
        return False
    count = oracle.u16(frame, layout.payload + 6)
    return layout.end > layout.payload + 12 + 3 * (count + count % 2)


def options_of(name, lanes):
    return [f'-DNETFC_FORMAT={oracle.table_set(name).format.number}', f'-DNETFC_LANES={lanes}']


def check(name, lanes, sent, arrived, takes_more=True):
    replies = switch.run([sent, []], tables=(name,)).outputs[1]
    expected = [bmv2.as_computed_by(frame, reply, lanes if takes_more or not has_more(frame) else 0)
                for frame, reply in zip(sent, replies)]
    switch.assert_same(arrived, expected)
    assert sum(frame != reply for frame, reply in zip(sent, arrived)) > len(sent) / 4


@pytest.mark.parametrize('name, lanes, chip', [
    ('fp8_e4m3_sat', 4, None), ('fp8_e5m2_exact', 2, 1), ('fp8_e4m3_exact', 10, 2)])
def test_every_byte_without_bmv2(name, lanes, chip):
    tna, options = chip is not None, options_of(name, lanes)
    made = p4_python.Switch(bmv2.PROGRAM, *options) if not tna else \
        p4_python.TnaSwitch(bmv2.PROGRAM.with_name('netfc_tna.p4'), *options, chip=chip)
    commands = bmv2.FORWARD['pair'] + bmv2.exported(name, '--lanes', str(lanes))
    for command in commands.splitlines():
        made.command(command)
    sent = [frame for frame in requests(name, lanes, 2000) if not tna or bmv2.is_whole(frame)]
    arrived = [reply for frame in sent for _, reply in made.receive(frame)]
    check(name, lanes, sent, arrived, takes_more=not tna)


@bmv2.needs_bmv2
@hosts.needs_namespaces
@pytest.mark.parametrize('name, lanes', [('fp8_e4m3_exact', 2), ('fp8_e5m2_sat', 4)])
def test_every_byte(name, lanes, tmp_path):
    sent = [frame for frame in requests(name, lanes, 10000) if bmv2.can_be_sent(frame)]
    commands = bmv2.FORWARD['pair'] + bmv2.exported(name, '--lanes', str(lanes))
    with bmv2.running(tmp_path, options_of(name, lanes), commands) as (first, second):
        check(name, lanes, sent, bmv2.send(first, second, sent))


@bmv2.needs_bmv2
@pytest.mark.parametrize('form, lanes', [(8, 40), (9, 24)])
def test_variants_compile(form, lanes, tmp_path):
    bmv2.compile_program(tmp_path, f'-DNETFC_FORMAT={form}', f'-DNETFC_LANES={lanes}')


# ---- entries ---------------------------------------------------------------------------------


@pytest.mark.parametrize('name', SETS[::2])
def test_requests(name):
    rows = p4_rows.read_bmv2(exported('bmv2', name))[REQUEST]
    form = oracle.table_set(name).format.number
    for op in oracle.OPERATIONS:
        assert verdict(rows, oracle.UDP_PORT, oracle.MAGIC, 1, op, form, 0, 1) == ('compute',)
        assert verdict(rows, oracle.UDP_PORT, oracle.MAGIC, 1, op, 17 - form, 0, 1) == ('refuse', 3)


def test_targets_agree():
    assert p4_targets.read_back('fp8_e5m2_sat') > 0


@pytest.mark.parametrize('arguments, message', [
    (('-n', '3'), 'expected an even number from 2 to 40 for fp8'),
    (('-n', '42'), 'expected an even number from 2 to 40 for fp8'),
    (('-l', 'compact'), 'direct layout only'),
    (('-f', 'sqrt'), 'programs of fp8 have no functions'),
    (('--slowloris',), '--slowloris needs a set of that format'),
    (('--up-to', 'mul'), 'only programs of fp32_exact')])
def test_wrong_usage(arguments, message):
    assert message in complaint('-t', 'bmv2', *arguments, 'fp8_e4m3_exact')
