# SPDX-License-Identifier: BSD-3-Clause
"""Aggregation in P4 without a P4 compiler: exported entries, jobs."""

import json
import re
import subprocess

import numpy as np
import pytest

import oracle
import p4_jobs
import p4_rows
import p4_targets
from netfc import aggregation
from p4_jobs import Member, described, entries
from p4_targets import REQUEST, verdict
from p4_entries import complaint, run

FOLDER = p4_jobs.P4 / 'include' / 'aggregate'
SIGN = 1 << 31
TEAM = [Member(number) for number in range(3)]


# ---- exported entries ------------------------------------------------------------------------


def bmv2_rows(kind, lanes=8, *options):
    return p4_rows.read_bmv2(run('-t', 'bmv2', '--aggregate', kind, '-n', lanes,
                                 *options).stdout)


@pytest.mark.parametrize('form, number', [('fp16', 1), ('int32', 6), ('fp8_e4m3', 8)])
@pytest.mark.parametrize('kind', ['results', 'sums'])
def test_requests(kind, form, number):
    rows = bmv2_rows(kind, 8, '--format', form)[REQUEST]
    port, magic = aggregation.UDP_PORT, 0x4E46
    ops = aggregation.OPS
    reductions = ['sum', 'mean'] if kind == 'sums' else ['sum']
    for name, op in ops.items():
        known = name in ('join', 'leave') or name in reductions
        asked = {'join': 'join', 'leave': 'leave'}.get(name, 'chunk')
        assert verdict(rows, port, magic, 1, op, number, 0) == (
            (asked,) if known else ('refuse', 2))
        assert verdict(rows, port, magic, 2, op, number, 0) == ('refuse', 1)
        assert verdict(rows, port, magic, 1, op, number, 1) is None
        assert verdict(rows, port + 1, magic, 1, op, number, 0) is None
        assert verdict(rows, port, magic ^ 1, 1, op, number, 0) is None
    for name in reductions:
        for other in {*range(10), 0x58} - {number}:
            assert verdict(rows, port, magic, 1, ops[name], other, 0) == ('refuse', 3)
    # Formats of joins are not looked at.
    assert verdict(rows, port, magic, 1, ops['join'], 0, 0) == ('join',)


@pytest.mark.parametrize('form, number, bits', [('fp16', 1, 16), ('int32', 6, 32), ('fp8_e4m3', 8, 16)])
@pytest.mark.parametrize('kind, options', [('results', ()), ('sums', ('-DNETFC_SUMS',))])
@pytest.mark.parametrize('lanes', [4, 12, 32])
def test_the_last_entry_is_for_the_program(kind, options, lanes, form, number, bits):
    rows = bmv2_rows(kind, lanes, '--format', form)
    assert list(rows)[-1] == 'IngressPipe.netfc.loaded'
    [row] = rows['IngressPipe.netfc.loaded']
    options = [*options, f'-DNETFC_LANES={lanes}', f'-DNETFC_FORMAT={number}']
    source = subprocess.run(['cc', '-E', '-P', '-x', 'c', *options, FOLDER / 'parser.p4'],
                            capture_output=True, text=True, check=True).stdout
    assert row.keys == ((eval(re.search(r'meta\.program = (.*?);', source, re.S)[1]), None),)
    assert len(re.findall(fr'bit<{bits}> v[0-9]+;', source)) == lanes // (2 if form == 'fp8_e4m3' else 1)


@pytest.mark.parametrize('options, text', [
    (('-DNETFC_FORMAT=2',), 'NETFC_FORMAT is 1 (fp16), 6 (int32) or 8'),
    (('-DNETFC_LANES=33',), 'NETFC_LANES is 1 to 32'),
    (('-DNETFC_FORMAT=8', '-DNETFC_LANES=6'), 'is a multiple of 4 up to 64'),
    (('-DNETFC_FORMAT=8', '-DNETFC_LANES=64'), ''),
    (('-DNETFC_SLOTS=48',), 'NETFC_SLOTS is a power of two, up to 16384'),
    (('-DNETFC_JOBS=65',), 'NETFC_JOBS is 1 to 64'),
    (('-DNETFC_TNA', '-DNETFC_JOBS=64', '-DNETFC_SLOTS=1024'), 'TNA has 65536 entries'),
    (('-DNETFC_TNA', '-DNETFC_JOBS=64', '-DNETFC_SLOTS=512'), ''),
    (('-DNETFC_JOBS=64', '-DNETFC_SLOTS=1024'), '')])
def test_sizes_that_no_program_has(options, text):
    done = subprocess.run(['cc', '-E', '-P', '-x', 'c', *options, FOLDER / 'sizes.p4'],
                          capture_output=True, text=True, check=False)
    assert text in done.stderr and bool(done.returncode) == bool(text)


def test_what_values_add():
    """Every encoding's integer makes its value; those of what is no number tell what it is."""
    tables = p4_rows.read_bfrt_json(run('-t', 'bfrt-json', '--aggregate', 'sums', '-n',
                                        2).stdout)
    for lane in range(2):
        rows = tables[f'IngressPipe.lane{lane}.part']
        assert [row.keys for row in rows] == [((x, None),) for x in range(0x10000)]
        parts = np.array([row.args for row in rows], dtype='u4').view('i4')[:, 0]
        # As the program's table `side` says.
        bits = np.arange(0x10000)
        is_high = (bits & 0x4000 != 0) & (bits != 0xfc00)
        low, high = np.where(is_high, 0, parts), np.where(is_high, parts, 0)
        x = np.arange(0x10000, dtype='u2').view('f2').astype('f8')
        finite = np.isfinite(x)
        zero = (x == 0) & np.signbit(x)
        assert (low[zero] == -SIGN).all() and (high[zero] == 0).all()
        numbers = finite & ~zero
        assert (low[numbers] * 2.0**-24 + high[numbers] * 2.0**-9 == x[numbers]).all()
        # 32 of them stay below 2^30.
        assert max(abs(low[numbers]).max(), abs(high[numbers]).max()) * 32 < 1 << 30
        assert {tuple(pair) for pair in np.stack((low, high), 1)[np.isnan(x)]} == {(0, 3 << 29)}
        assert (low[x == -np.inf], high[x == -np.inf]) == (1 << 30, 0)
        assert (low[x == np.inf], high[x == np.inf]) == (0, 1 << 30)


def test_what_values_of_eight_bits_add():
    tables = p4_rows.read_bfrt_json(run('-t', 'bfrt-json', '--aggregate', 'sums', '--format',
                                        'fp8_e4m3', '-n', 4).stdout)
    form = oracle.NarrowFormat(oracle.E4M3)
    for path in ('even', 'odd'):
        rows = tables[f'IngressPipe.lane0.{path}.part']
        parts = np.array([row.args for row in rows], dtype='u4').view('i4')[:, 0].tolist()
        for x, part in enumerate(parts):
            value = form.decode(x)
            expected = 3 << 29 if value != value else -SIGN if x == 0x80 else value * 512
            assert part == expected


@pytest.mark.long
def test_targets_agree():
    """BMv2's entries are Tofino's without the tables that BMv2 computes."""
    options = ('--aggregate', 'sums', '-n', '3')
    bmv2 = p4_targets.in_order(p4_rows.read_bmv2(run('-t', 'bmv2', *options).stdout))
    for target, read in (('bfrt', p4_rows.read_bfrt), ('bfrt-json', p4_rows.read_bfrt_json)):
        tofino = p4_targets.in_order(read(run('-t', target, *options).stdout))
        assert len(tofino) == len(bmv2) + 3
        assert all(tofino[path] == rows for path, rows in bmv2.items())
    runtime = p4_rows.read_p4runtime(run('-t', 'p4runtime', *options).stdout)
    assert [path for path, _ in runtime] == list(bmv2)


@pytest.mark.parametrize('arguments, message', [
    (('-t', 'bmv2', '--aggregate', 'floats'), "--aggregate: invalid choice: 'floats'"),
    (('-t', 'bmv2', '--aggregate', 'sums', 'fp16_k2'), '--aggregate takes no table set'),
    (('-t', 'bmv2', '--aggregate', 'sums', '-f', 'exp'), '--functions is for a table set'),
    (('-t', 'bmv2', '--aggregate', 'sums', '--up-to', 'mul'), '--up-to is for a table set'),
    (('-t', 'bmv2', '--aggregate', 'sums', '--slowloris'), '--slowloris is for a table set'),
    (('-t', 'bmv2', '--aggregate', 'sums', '-l', 'compact'), '--layout compact is for a table set'),
    (('-t', 'bmv2', '--aggregate', 'sums', '-n', '33'), '--lanes 33: expected 1 to 32'),
    (('-t', 'bmv2', '--aggregate', 'sums', '--format', 'fp8_e4m3', '-n', '6'),
     'expected a multiple of 4 up to 64 for fp8_e4m3'),
    (('-t', 'bfrt', '--aggregate', 'results'), 'programs for Tofino do not round'),
    (('-t', 'bmv2', '--aggregate', 'sums', '--format', 'bf16'), "--format: invalid choice: 'bf16'"),
    (('-t', 'bmv2', '--format', 'int32', 'fp16_k2'), '--format needs --aggregate'),
    (('--aggregate', 'sums'), 'required: -t/--target')])
def test_wrong_usage(arguments, message):
    assert message in complaint(*arguments)


# ---- jobs ------------------------------------------------------------------------------------


def test_jobs_for_bmv2():
    """Members and strangers, walked as the switch would."""
    other = [Member(number, job=7, token=5) for number in range(2)]
    text = entries(described(TEAM, other), slots=8)
    lines = text.splitlines()
    members = {tuple(int(word, 16) for word in line.split()[3:8]):
               [int(word, 16) for word in line.split()[9:]]
               for line in lines if ' IngressPipe.netfc.member ' in line}
    switch = int.from_bytes(p4_jobs.ip_bytes(p4_jobs.SWITCH_IP), 'big')
    for place, team in enumerate((TEAM, other)):
        for worker in team:
            source = int.from_bytes(p4_jobs.ip_bytes(worker.ip), 'big')
            assert members.pop((switch, worker.job, worker.token, worker.number, source)) == [
                place, 16 * place, len(team), 32 * place + worker.number, 1 << worker.number,
                (1 << len(team)) - 1 - (1 << worker.number), 1 + place]
    assert not members
    strangers = [line for line in lines if 'netfc.strangers' in line]

    def who(job, token, worker):
        for priority in (1, 2, 3):
            for line in strangers:
                *keys, order = line.replace('=> ', '').split()[2:]
                action, *keys = keys
                pairs = [[int(number, 16) for number in key.split('&&&')] for key in keys]
                if int(order) == priority and all(
                        field & mask == value for field, (value, mask) in
                        zip((job, token, worker), pairs)):
                    return action.split('.')[-1]
        return 'unknown'

    assert who(1, p4_jobs.TOKEN, 2) == 'denied'  # of another address: it is no member
    assert who(1, p4_jobs.TOKEN, 3) == 'full'
    assert who(1, 5, 0) == who(1, 5, 9) == who(7, p4_jobs.TOKEN, 0) == 'denied'
    assert who(2, p4_jobs.TOKEN, 0) == 'unknown'
    # A node of the multicast group for each worker, numbered as simple_switch_CLI does.
    assert [line for line in lines if line.startswith('mc_')] == [
        'mc_mgrp_create 1', *(line for w in range(3) for line in (
            f'mc_node_create {w + 1} 0', f'mc_node_associate 1 {w}')),
        'mc_mgrp_create 2', *(line for w in range(2) for line in (
            f'mc_node_create {w + 1} 0', f'mc_node_associate 2 {3 + w}'))]


def test_jobs_for_tofino():
    """The program runs in a stand-in for the shell: the same members and strangers."""
    text = entries(described(TEAM), 'bfrt', slots=4)
    calls = []

    class Node:
        def __init__(self, path=()):
            self.path = path

        def __getattr__(self, name):
            return Node((*self.path, name))

        def __call__(self, **fields):
            calls.append(('.'.join(self.path), fields))

    exec(compile(text, 'jobs', 'exec'), {'bfrt': Node()})
    by_path = {}
    for path, fields in calls:
        by_path.setdefault(path.removeprefix('netfc_aggregate_tna.pipe.'), []).append(fields)
    bmv2 = entries(described(TEAM), slots=4)
    assert [list(map(hex, fields.values())) for fields in
            by_path['IngressPipe.netfc.members.add_with_member']] == [
        line.replace('=> ', '').split()[3:] for line in bmv2.splitlines()
        if 'netfc.member ' in line]
    assert len(by_path['IngressPipe.netfc.strangers.add_with_denied']) == 4
    assert len(by_path['IngressPipe.netfc.strangers.add_with_full']) == 1
    chunks = by_path['IngressPipe.slots.chunks.add']
    assert [(fields['register_index'], fields['chunk']) for fields in chunks] == [
        (index, 2**32 - 8 + index) for index in range(8)]
    assert [fields['DEV_PORT'] for fields in by_path['pre.node.add']] == [[0]] * 3


@pytest.mark.parametrize('change, message', [
    ({'jobs': [{}]}, "a job has no 'job'"),
    ({'jobs': [{'job': 1, 'token': 'x', 'workers': [{}]}]}, 'token of job 1 is a number of 64 bits'),
    ({'jobs': [{'job': 70000, 'token': 1, 'workers': [{}]}]}, 'job is a number of 16 bits'),
    ({'jobs': [{'job': 1, 'token': 1, 'workers': []}]}, '1 to 32 workers'),
    ({'jobs': [{'job': 1, 'token': 1, 'workers': [{}] * 33}]}, '1 to 32 workers'),
    ({'jobs': [{'job': 1, 'token': 1, 'workers': [{'address': 'a'}]}]},
     'address of worker 0 of job 1 is an IPv4 address'),
    ({'jobs': [{'job': 1, 'token': 1, 'workers': [{'address': '10.0.0.1', 'mac': '2'}]}]},
     'mac of worker 0 of job 1 is a MAC address'),
    ({'address': None}, 'address is an IPv4 address')])
def test_mistakes(change, message):
    given = {**json.loads(described(TEAM)), **change}
    assert message in entries(json.dumps(given), status=1)


def test_a_full_job_table():
    jobs = [[Member(0, job=number)] for number in range(3)]
    assert 'there are 3 jobs, and the program has space for 2' in entries(
        described(*jobs), jobs=2, status=1)
    assert 'job 5 is there twice' in entries(
        described([Member(0, job=5)], [Member(1, job=5)]), status=1)
    assert 'no JSON' in entries('{', status=1)
    assert 'behind ports 0 and 1' in entries(
        described([Member(0)], [Member(0, job=2, port=1)]), status=1)
