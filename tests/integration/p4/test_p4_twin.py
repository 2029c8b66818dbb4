# SPDX-License-Identifier: BSD-3-Clause
"""The P4 program against the running switch: the same frames through both, every byte.

The program runs as Python (p4_python), and on BMv2 where p4c-bm2-ss, simple_switch and
simple_switch_CLI are on the PATH.
"""

import itertools
import os
import re
import subprocess

import pytest

import bmv2
import frames
import hosts
import operands
import oracle
import p4_entries
import p4_python
import p4_rows
import switch
import tiers

def arithmetic(name, lanes, share=1):
    """Requests in packets of 1 to `lanes` lanes: special values, boundaries, random operands."""
    form = oracle.table_set(name).format.number
    sizes = itertools.cycle(range(1, lanes + 1))
    made = []
    for op, pairs in operands.by_operation(name).items():
        special = len(operands.special_slots(oracle.FORMATS[form])) ** 2
        chosen = pairs[:special:share] + pairs[special:special + 10000 // share]
        made += frames.bulk(op, form, chosen, sizes)
    return made


def through_dpdk(name, sent, forward):
    """What dpdk-netfc makes of frames that come to its first port."""
    if forward == 'reflect':
        return switch.run([sent], tables=(name,), options=('--forward', 'reflect')).outputs[0]
    return switch.run([sent, []], tables=(name,)).outputs[1]


@bmv2.needs_bmv2
@hosts.needs_namespaces
@pytest.mark.parametrize('name, layout, lanes, forward', [
    ('fp16_k1024', 'compact', 4, 'pair'),
    ('fp16_k1024', 'direct', 1, 'pair'),
    ('bf16_k128_floor', 'compact', 8, 'reflect'),
    ('fp16_exact', 'direct', 1, 'pair'),
    ('bf16_exact', 'direct', 1, 'pair'),
    ('posit16_k64', 'direct', 1, 'pair'),
    ('posit16_es2_k256', 'compact', 1, 'reflect')])
def test_every_byte(name, layout, lanes, forward, tmp_path):
    check_every_byte(name, layout, lanes, forward, through_bmv2, 4, tmp_path)


@pytest.mark.parametrize('name, lanes, forward', [
    ('bf16_k128_floor', 8, 'reflect'), *tiers.later('long', ('fp16_k1024', 2, 'pair'))])
def test_every_byte_without_bmv2(name, lanes, forward, tmp_path):
    """The layout with few entries; lanes of the direct one are in test_p4_entries.py."""
    check_every_byte(name, 'compact', lanes, forward, through_python, 200, tmp_path)


@pytest.mark.long
def test_every_byte_of_tofino(tmp_path):
    """The program for TNA, but for frames that are shorter than their IP header says: a parser of
    Tofino does not know a frame's length."""
    def through(folder, options, commands, sent, forward):
        return through_python(folder, options, commands, sent, forward, 'tna')

    check_every_byte('fp16_k1024', 'compact', 2, 'pair', through, 400, tmp_path, bmv2.is_whole)


def check_every_byte(name, layout, lanes, forward, through, share, folder,
                     is_taken=bmv2.can_be_sent):
    """The replies of the program are dpdk-netfc's."""
    form = oracle.table_set(name).format.number
    options = [f'-DNETFC_FORMAT={form}', f'-DNETFC_LANES={lanes}']
    options += ['-DNETFC_COMPACT'] if layout == 'compact' else []
    options += ['-DNETFC_EXACT'] if name.endswith('_exact') else []
    entries = bmv2.exported(name, '--layout', layout, '--lanes', str(lanes))
    named = [(case, frame) for case, frame in frames.zoo() if is_taken(frame)]
    sent = [frame for _, frame in named] + arithmetic(name, lanes, share)
    expected = [bmv2.as_computed_by(frame, reply, lanes) for frame, reply in
                zip(sent, through_dpdk(name, sent, 'pair'))]
    if forward == 'reflect':
        expected = [reflected(frame) for frame in expected]
        assert_reflects_alike(name, sent)
    arrived = through(folder, options, bmv2.FORWARD[forward] + entries, sent, forward)
    names = [case for case, _ in named] + ['arithmetic'] * (len(sent) - len(named))
    switch.assert_same(arrived, expected, names)
    assert lanes > 1 or 10000 // share <= sum(frame != reply for frame, reply in zip(sent, arrived))


def through_bmv2(folder, options, commands, sent, forward):
    """What comes out of BMv2."""
    with bmv2.running(folder, options, commands) as (first, second):
        return bmv2.send(first, second if forward == 'pair' else first, sent)


def through_python(_, options, commands, sent, forward, architecture='v1model'):
    """What comes out of the program as Python, a frame for each."""
    program = as_python(options, commands, architecture)
    arrived = []
    for frame in sent:
        [(port, reply)] = program.receive(frame)
        assert port == (1 if forward == 'pair' else 0)
        arrived.append(reply)
    return arrived


def as_python(options, commands, architecture='v1model'):
    """The program, its tables filled."""
    switch_of = {'v1model': p4_python.Switch, 'tna': p4_python.TnaSwitch}[architecture]
    program = switch_of(bmv2.PROGRAM.with_name(f'netfc_{architecture}.p4'), *options)
    for command in commands.splitlines():
        program.command(command)
    return program


def reflected(frame):
    out = bytearray(frame)
    oracle.reflect(out, oracle.parse(frame))
    return bytes(out)


def assert_reflects_alike(name, sent):
    """The way in which `expected` is made from pairs is the running switch's own."""
    pairs = through_dpdk(name, sent, 'pair')
    switch.assert_same([reflected(frame) for frame in pairs], through_dpdk(name, sent, 'reflect'))


@pytest.mark.parametrize('layout, lanes, last', [
    ('compact', 2, False), ('compact', 1, True), ('direct', 2, True)])
@pytest.mark.parametrize('through', [
    pytest.param(through_python, id='Python'),
    pytest.param(through_bmv2, id='BMv2', marks=[bmv2.needs_bmv2, hosts.needs_namespaces])])
def test_nothing_is_computed_with_other_entries(through, layout, lanes, last, tmp_path):
    """Without the last entry, or with those for another number of lanes or layout: code 3."""
    entries = bmv2.exported('fp16_k2', '--layout', layout, '--lanes', str(lanes)).splitlines(True)
    # Those that the program has no table for are refused, as when they are loaded by hand.
    known = ('.request ', '.decide ', '.limits ', '.loaded ')
    entries = [entry for entry in entries if layout == 'compact' or
               any(table in entry for table in known)]
    entries = entries if last else entries[:-1]
    sent = [frames.plain_frame(frames.lanes(1, identity=number)) for number in range(4)]
    expected = [oracle.switch(frame, {}) for frame in sent]
    options = ['-DNETFC_COMPACT', '-DNETFC_LANES=2', '-DNETFC_SCALE_BITS=1']
    commands = bmv2.FORWARD['pair'] + ''.join(entries)
    switch.assert_same(through(tmp_path, options, commands, sent, 'pair'), expected)


@bmv2.needs_bmv2
def test_p4runtime_numbers(tmp_path):
    """The numbers of tables, keys, actions and parameters that the exporter knows are p4c's."""
    _, p4info = bmv2.compile_program(tmp_path, '-DNETFC_COMPACT', '-DNETFC_LANES=2')
    text = p4info.read_text()
    objects = re.findall(r'preamble \{\s+id: (\d+)\s+name: "([^"]+)"', text)
    numbers = {name: int(number) for number, name in objects}
    written = p4_entries.run('-t', 'p4runtime', '-l', 'compact', '-n', 2, 'fp16_k1024').stdout
    for (path, table), rows in p4_rows.read_p4runtime(written).items():
        assert numbers[path] == table
        assert {row.action for row in rows} <= set(numbers.values())


@bmv2.needs_bmv2
def test_load_time():
    """p4/load-time loads what is exported, each set into its program."""
    sets = {'bf16_k4': 'compact', 'fp16_k2': 'compact'}
    done = subprocess.run([bmv2.PROGRAM.with_name('load-time'),
                           *(f'{name}:{layout}' for name, layout in sets.items())],
                          env={**os.environ, 'NETFC_BUILD': str(switch.BUILD)}, text=True,
                          capture_output=True, check=True)
    rows = [line.strip('| ').split(' | ') for line in done.stdout.splitlines()[2:]]
    assert [row[:3] for row in rows] == [
        [name, layout, f"{bmv2.exported(name, '--layout', layout).count('table_add'):,}"]
        for name, layout in sets.items()]
    assert all(float(seconds) > 0 for row in rows for seconds in row[3:])


@bmv2.needs_bmv2
@pytest.mark.parametrize('form', oracle.FORMATS)
@pytest.mark.parametrize('layout', ([], ['-DNETFC_COMPACT']))
def test_all_variants_compile(form, layout, tmp_path):
    bmv2.compile_program(tmp_path, f'-DNETFC_FORMAT={form}', '-DNETFC_LANES=3', *layout)
    if form in (1, 3) and not layout:
        bmv2.compile_program(tmp_path, '-DNETFC_EXACT', f'-DNETFC_FORMAT={form}',
                             '-DNETFC_LANES=3')
