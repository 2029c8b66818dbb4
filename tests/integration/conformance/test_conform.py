# SPDX-License-Identifier: BSD-3-Clause
"""netfc-conform: what its checks are about, a switch of a hundred lines, and bad networks."""

import collections
import contextlib
import itertools
import json
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import types
import xml.etree.ElementTree

import numpy as np
import pytest

import hosts
import needs
import operands as operands_of_tests
import operands_fp32
import oracle
import project_scripts
import sanitized
import small_switch
import switch
import tiers
from netfc import capture, protocol
from netfc.conformance import report
from netfc.conformance import requests as requests_of_kit
from netfc.conformance.catalogue import CHECKS
from netfc.conformance.check import Failed, Outcome, Verdict
from netfc.conformance.exact import Exact
from netfc.conformance.kit import with_results, with_status
from netfc.formats import NUMBER_FORMATS
from side_by_side import beside
from small_switch import SmallSwitch

PROGRAM = project_scripts.PROGRAMS / 'netfc-conform'
PAGE = project_scripts.PROJECT / 'docs' / 'protocol.md'
SUMS = ['--only', '1011,2001-2018']  # of a switch that only adds fp16
OPS = ('add', 'sub', 'mul', 'div', 'min', 'max', 'compare', 'fma')
NOBODY = 2  # exit status where a check failed, or nothing answers


def conform(*words, within=(), **options):
    return subprocess.run([*within, sys.executable, PROGRAM, *map(str, words)], text=True, check=False,
                          capture_output=True, timeout=switch.TIMEOUT_S,
                          env=switch.ENVIRONMENT | sanitized.environment(), **options)


def verdicts(done):
    """Numbers of checks, by what came of them."""
    assert 'Traceback' not in done.stderr, done.stderr
    found = collections.defaultdict(set)
    for check in json.loads(done.stdout)['checks']:
        found[check['verdict']].add(check['number'])
    return found


def where(small):
    return [small.address, '--port', small.port, '--aggregate-port', small.port, '--json']


# ---- what checks are about -------------------------------------------------------------------


def sections():
    """The sections of the protocol's page: their text, as one line, by the anchor of the heading."""
    found, anchor = collections.defaultdict(str), ''
    for line in PAGE.read_text().splitlines():
        if line.startswith('#'):
            anchor = re.sub(r'[^\w\- ]', '', line.lstrip('# ').lower()).replace(' ', '-')
        found[anchor] += ' ' + line
    return {anchor: re.sub(r'\s+', ' ', text) for anchor, text in found.items()}


def test_each_check_is_about_a_sentence_of_the_protocol():
    text = sections()
    missing = [(check.number, check.clause) for check in CHECKS
               if check.clause not in text[check.section]]
    assert not missing
    assert len({check.number for check in CHECKS}) == len(CHECKS)


def test_the_list():
    done = conform('--list', '--only', 'fp16')
    lines = done.stdout.splitlines()
    assert lines[0].startswith('1011 add in fp16: "') and 'docs/protocol.md#special-values' in lines[0]
    assert len(lines) == sum('fp16' in check.name for check in CHECKS)


@pytest.mark.parametrize('name', [
    'fp16', *tiers.later('slow', *(name for name in NUMBER_FORMATS if name != 'fp16'))])
def test_its_arithmetic_is_that_of_fractions(name):
    """What it compares with, beside the tests' oracle, which shares nothing with it."""
    form, exact = NUMBER_FORMATS[name], Exact(NUMBER_FORMATS[name])
    if form.bits == 8:
        pairs = list(itertools.product(range(256), repeat=2))[::23]
    elif form.bits == 32:
        draw = np.random.default_rng(5)
        pairs = np.concatenate([operands_fp32.special_pairs(), operands_fp32.structured(draw, 1000)],
                               axis=1).T.tolist()
    else:
        pairs = operands_of_tests.by_operation(f'{name}_exact')[oracle.MUL][::29]
    x, y = np.array(list(pairs)).T.astype(form.encodings)
    for op in OPS if form.has_functions else OPS[:4]:
        operands = (x, y, y[::-1])[:3 if op == 'fma' else 2]
        z, flags = exact.results(op, *operands)
        assert list(zip(z.tolist(), flags.tolist())) == [
            lane(form, OPS.index(op) + 1, *values) for values in zip(*map(np.ndarray.tolist, operands))]


def lane(form, number, x, y, z=0):
    if form.bits == 32:
        return oracle.calc_fp32(number, x, y)
    if number in oracle.EXTENDED:
        narrow = oracle.NarrowFormat(form.id).extended if form.bits == 8 else None
        return narrow(number, x, y, z) if narrow else oracle.calc_extended(form.id, number, x, y, z)
    tables = oracle.table_set(f'{form.name}_exact')
    return tables.result(number, x, y) if form.bits == 8 else oracle.calc(tables, number, x, y)


# ---- a small switch --------------------------------------------------------------------------


def test_a_switch_of_a_hundred_lines(tmp_path):
    """What it offers passes, the rest is not offered."""
    report = tmp_path / 'report.xml'
    with SmallSwitch() as small:
        done = conform(*where(small), '--junit', report)
    found = verdicts(done)
    assert done.returncode == 0 and not found['failed'] and not found['undecided'], done.stdout
    assert {1011, 1101, 2001, 2002, 2004, 2006, 2007, 2008, 2011, 2012, 2015, 2016} <= found['passed']
    assert 1012 in found['not offered'] and 1031 in found['not offered']
    suite = xml.etree.ElementTree.parse(report).getroot()
    assert int(suite.get('tests')) == len(CHECKS) and suite.get('failures') == '0'


def test_a_failure_is_shown(tmp_path):
    """What was sent, expected and got: in hex, in words, and as frames."""
    def send(request, reply, client):
        if reply is not None:
            small.socket.sendto(reply[:2] + b'\7' + reply[3:], client)

    with SmallSwitch(send) as small:
        pcap = tmp_path / 'failures.pcap'
        done = conform(*where(small)[:-1], '--only', '2002', '--pcap', pcap)
    assert done.returncode == NOBODY
    assert re.search(r'2002 unknown operations: failed: an unknown op: 9 of 9 replies are wrong\n'
                     r'    "no such operation, .*\(docs/protocol.md#status\)\n'
                     r'    sent     30 bytes: 4e460100.*\n +op 0, fp16, request, count 3, id .*\n'
                     r'    expected 30 bytes: .*\n +op 0, fp16, reply, code 2 \(op\), .*\n'
                     r'    got .*\n +version 7, .*\n +byte 2: 0x07 instead of 0x01\n'
                     r'1 checks: 0 passed, 1 failed', done.stdout), done.stdout
    assert [len(frame) for frame in capture.read(pcap)] == [42 + 30] * 3


# ---- bad networks ----------------------------------------------------------------------------


class Network:
    """What sends replies late, twice, in another order, or not. Closed with the switch's socket."""

    def __init__(self, kind):
        self.kind, self.draw, self.held, self.small = kind, random.Random(4), [], None

    def send(self, request, reply, client):
        del request
        if reply is None:
            return
        if self.kind == 'drops' and self.draw.random() < 0.05:
            return
        if self.kind == 'answers others':
            self.small.socket.sendto(b'NF\1\1\1\x80\0\1' + self.draw.randbytes(10), client)
        if self.kind == 'reorders':
            self.held.append((reply, client))
            if self.draw.random() < 0.5:
                return
            self.draw.shuffle(self.held)
        else:
            self.held = [(reply, client)] * (2 if self.kind == 'doubles' else 1)
        while self.held:
            self.small.socket.sendto(*self.held.pop())


@pytest.mark.parametrize('kind, note', [
    ('drops', 'were sent again'), ('doubles', 'replies came twice'), ('reorders', None),
    ('answers others', 'answer nothing that was asked')])
def test_the_networks_faults_fail_nothing(kind, note):
    network = Network(kind)
    with SmallSwitch(network.send) as network.small:
        done = conform(*where(network.small)[:-1], *SUMS, '--all')
    assert ' 0 failed' in done.stdout and ' 0 undecided' in done.stdout, done.stdout
    assert done.returncode == 0 and (note is None or note in done.stdout)


@contextlib.contextmanager
def late_switch(seconds, answer=lambda request, reply: reply):
    """A switch that takes its time for each reply, as many as there are on the way at a time.

    answer: what it sends, None for nothing, by what came and what a switch replies.
    """
    late = collections.deque()

    def send(request, reply, client):
        sent = answer(request, reply)
        if sent is not None:
            late.append((time.monotonic() + seconds, sent, client))

    def deliver():
        while not done_.wait(0.01):
            while late and late[0][0] < time.monotonic():
                with contextlib.suppress(OSError):
                    small.socket.sendto(*late.popleft()[1:])

    done_ = threading.Event()
    with SmallSwitch(send) as small, beside(deliver, done_.set):
        yield small


@pytest.mark.slow
def test_a_switch_that_takes_its_time():
    with late_switch(2) as small:
        done = conform(*where(small), '--only', '1011,2001,2002')
    assert verdicts(done) == {'passed': {1011, 2001, 2002}}, done.stdout


JOIN, SUM, OFF, SILENT = 32, 33, 1, 64


def test_a_switch_that_passes_joins_on():
    """They come back as they were, which is no reply: nothing is waited for."""
    with late_switch(0.05, lambda request, reply: request if request[3] == JOIN else reply) as small:
        done = conform(*where(small), '--only', '2001,aggregation', '--timeout', '60')
    found = verdicts(done)
    assert found['passed'] == {2001} and not found['failed'] and not found['undecided'], done.stdout
    assert sum(check['seconds'] for check in json.loads(done.stdout)['checks']) < 60


def refused_join(request, reply):
    """This switch does not aggregate."""
    return request[:5] + b'\xf0' + request[6:15] + bytes([OFF]) + request[16:] if request[3] == JOIN else reply


def with_another_id(request, reply):
    return reply if request[3] == JOIN else reply[:8] + bytes([reply[8] ^ 1]) + reply[9:]


@pytest.mark.parametrize('kind, said', [('id', 'the id of a reply is another'),
                                        ('port', r'a reply comes from UDP port \d+, not \d+')])
def test_replies_that_nobody_expects(kind, said):
    """Not as if nothing answered: that a switch may do. It has joins to answer, too."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as elsewhere:
        def send(request, reply, client):
            reply = refused_join(request, reply)
            if kind == 'id':
                small.socket.sendto(with_another_id(request, reply), client)
            else:
                (small.socket if request[3] == JOIN else elsewhere).sendto(reply, client)

        with SmallSwitch(send) as small:
            done = conform(*where(small), '--only', '2001,2012,4001', '--timeout', '1')
    assert verdicts(done) == {'failed': {2001, 2012}, 'passed': {4001}}, done.stdout
    assert re.search(said, done.stdout) and done.returncode == NOBODY


def test_first_replies_that_are_lost():
    """As many as there can be: who then answers rightly is accused of nothing."""
    clients = {True: set(), False: set()}

    def send(request, reply, client):
        asked = clients[request[3] == JOIN]
        asked.add(client)
        if len(asked) > 1:
            small.socket.sendto(refused_join(request, reply), client)

    with SmallSwitch(send) as small:
        done = conform(*where(small), '--only', '2001,2012,4001', '--timeout', '1')
    assert verdicts(done) == {'passed': {2001, 2012, 4001}}, done.stdout


def test_replies_that_differ():
    """The second one is no repeat."""
    def send(request, reply, client):
        for made in (reply, reply and reply[:-1] + bytes([reply[-1] ^ 1])):
            if made:
                small.socket.sendto(made, client)
        del request

    with SmallSwitch(send) as small:
        done = conform(*where(small), '--only', '2001')
    assert verdicts(done) == {'failed': {2001}}, done.stdout
    assert 'a request has two replies that differ' in done.stdout


class Adder:
    """Answers joins of any job at once, and sums of one worker with its own values. Of two: worker `silent` has not sent
    its. shifted: by what ids of sums are others."""

    def __init__(self, silent=1, shifted=0):
        self.silent, self.shifted, self.workers = silent, shifted, {}

    def answer(self, request, reply):
        job = request[12:14]
        if request[3] == JOIN:
            self.workers[job] = request[24]
            return request[:5] + b'\x80' + request[6:25] + b'\1' + request[26:]
        if request[3] != SUM:
            return reply
        status, reason = (0x80, 0) if self.workers[job] == 1 else (0xF0, SILENT + self.silent)
        return (request[:5] + bytes([status]) + request[6:11] + bytes([request[11] ^ self.shifted])
                + request[12:15] + bytes([reason]) + request[16:24]
                + (request[24:] if status == 0x80 else bytes(len(request) - 24)))


def test_sums_that_nobody_can_tell_from_others():
    with late_switch(0, Adder(shifted=1).answer) as small:
        done = conform(*where(small), '--only', '4101,4102', '--timeout', '1')
    assert verdicts(done) == {'failed': {4101, 4102}}, done.stdout
    assert 'no reply to sum, 6 times, while joins are answered' in done.stdout


@pytest.mark.parametrize('silent, verdict', [(1, 'passed'), (0, 'failed')])
def test_who_is_silent(silent, verdict):
    with late_switch(0, Adder(silent).answer) as small:
        done = conform(*where(small), '--only', '4114', '--long')
    assert verdicts(done) == {verdict: {4114}}, done.stdout


@pytest.mark.parametrize('seconds, more', [(0, []), *tiers.later('slow', (0.3, []), (0, [2003]))])
def test_a_switch_that_ignores_what_it_does_not_have(seconds, more):
    """All formats are asked for at the same time, and not again by other checks; 2003 asks for 124 operations."""
    asked = collections.Counter()

    def answer(request, reply):
        asked[request[3]] += 1
        return None if reply[5] >> 4 & 7 == 2 else reply

    failed = [1012, 1013, 1014, 1270, *more]
    with late_switch(seconds, answer) as small:
        done = conform(*where(small), '--only', ','.join(map(str, [1011, 2001, *failed])), '--timeout', '60')
    found = verdicts(done)
    assert found['passed'] == {1011, 2001} and not found['undecided'], done.stdout
    assert found['failed'] == set(failed)
    assert 'no reply, 6 times, while other requests are answered' in done.stdout
    assert asked[70] < 8 * 40, asked  # eight formats


def without_magic(request):
    """As a switch computes it that does not look at the magic."""
    reply = small_switch.answer(b'NF' + request[2:])
    return None if reply is None else request[:2] + reply[2:]


def for_the_second_time(request):
    """As a switch computes it that does not look for a reply."""
    is_reply = len(request) > 5 and request[5] & 0x80
    return small_switch.answer(request[:5] + bytes(1) + request[6:]) if is_reply else None


@pytest.mark.parametrize('number, computed', [(2015, without_magic), (2016, for_the_second_time)])
def test_a_switch_that_computes_what_is_no_request(number, computed):
    """Status and z change, as they do in what is one."""
    with late_switch(0, lambda request, reply: reply or computed(request)) as small:
        done = conform(*where(small), '--only', f'2011,{number}')
    assert verdicts(done) == {'passed': {2011}, 'failed': {number}}, done.stdout
    assert 'it is no request, and has been changed' in done.stdout


def sums_of_ones(payloads):
    """1 + 1 = 2 of fp8_e4m3, a lane each, whatever z was."""
    return [with_results(payload, np.array([0x40]), 0) for payload in payloads]


def test_results_that_were_there_by_chance():
    """The z of a request is drawn, and may be what the switch computes; of 8 bits it often is."""
    kit = types.SimpleNamespace(replies=sums_of_ones, requests=types.SimpleNamespace(new_id=lambda: 7))
    sent = [protocol.request(1, 8, [0x38], [0x38], 7, [z]) for z in range(256)]
    assert requests_of_kit.computed(kit, sent) == '256 requests'
    kit.replies = lambda payloads: [with_status(payload) for payload in payloads]
    with pytest.raises(Failed, match='not computed'):
        requests_of_kit.computed(kit, sent[0x40:0x41])


def test_queries_of_a_switch_without_fp16():
    """They are of that format: code 3 comes before code 5."""
    with late_switch(0, lambda request, reply: reply[:5] + b'\xb0' + reply[6:]) as small:
        done = conform(*where(small), '--only', '2018')
    assert verdicts(done) == {'not offered': {2018}} and 'queries are of fp16' in done.stdout


def test_nothing_is_computed():
    """What comes back as it was is not called a switch that computes."""
    with late_switch(0, lambda request, reply: request) as small:
        done = conform(*where(small))
    assert done.returncode == NOBODY and done.stderr == (
        f"netfc-conform: what is sent to 127.0.0.1 UDP port {small.port} comes back as it was: is that the"
        " switch's port (--port), and does the switch compute?\n")


def test_nobody_answers(tmp_path):
    """Reports say so, too: of an earlier run nothing is left."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(('127.0.0.1', 0))
        port = silent.getsockname()[1]
        (tmp_path / 'report.xml').write_text('of another run')
        done = conform('127.0.0.1', '--port', port, '--aggregate-port', port, '--timeout', '0.5', '--json',
                       '--junit', tmp_path / 'report.xml')
    assert verdicts(done) == {'undecided': {check.number for check in CHECKS}}
    suite = xml.etree.ElementTree.parse(tmp_path / 'report.xml').getroot()
    assert int(suite.get('errors')) == len(suite.findall('*/error')) == len(CHECKS)
    assert done.returncode == NOBODY and done.stderr == (
        f'netfc-conform: no reply from 127.0.0.1 UDP port {port} within 0.5 s; 127.0.0.1 is an'
        ' address of this machine: give that of a switch\n')


def test_the_switch_goes_half_way():
    """What is left is undecided, and the reason is said."""
    answered = itertools.count()

    def send(request, reply, client):
        del request
        if reply is not None and next(answered) < 30:
            small.socket.sendto(reply, client)

    with SmallSwitch(send) as small:
        done = conform(*where(small)[:-1], *SUMS, '--timeout', '0.5')
    assert done.returncode == NOBODY and ' 0 failed' in done.stdout
    assert re.search(r'undecided: no reply from 127.0.0.1 UDP port \d+ within 0.5 s.*\n'
                     r'    and so are the \d+ checks after it: [0-9,-]*2018\n', done.stdout)
    assert done.stdout.count('no reply') == 1, done.stdout


@pytest.mark.parametrize('left, said', [
    (1, []), (2, ['    and so is the check after it: 2003']), (4, ['    and so are the 3 checks after it: 2003-2005'])])
def test_what_is_left_is_said_once(left, said):
    """But each that was carried out by itself, though the reason is the same."""
    tried = [Outcome(check, Verdict.UNDECIDED, 'no reply to join', 3.0) for check in CHECKS[1:3]]
    skipped = [Outcome(check, Verdict.UNDECIDED, 'no reply', 0.0) for check in CHECKS[1:left + 1]]
    first, *more = (report.paragraph(each) for each in [skipped[0], *tried])
    assert list(report.text(skipped + tried))[:-1] == [*first, *said, *itertools.chain(*more)]


@hosts.needs_namespaces
def test_the_interface_goes_half_way():
    with hosts.veth_network(1) as (middle, (host,)):
        host.ip('neighbour', 'add', '10.1.0.100', 'lladdr', '02:00:00:00:00:99', 'dev', 'eth0')
        host.ip('link', 'set', 'eth0', 'down')
        del middle
        done = conform('10.1.0.100', '--timeout', '0.5', within=host.inside())
    assert done.returncode == NOBODY
    assert re.fullmatch('netfc-conform: (cannot reach 10.1.0.100: .*|no reply from 10.1.0.100 UDP port 20038'
                        ' within 0.5 s; the network says: .*: is the interface up, .*)\n', done.stderr), done.stderr


@needs.needs_nobody
def test_without_the_right_to_raw_sockets():
    """As nobody. Root has it, but loopback has no frames of Ethernet."""
    with SmallSwitch() as small:
        others = conform(*where(small)[:-1], '--only', '3001', '--all', within=needs.AS_NOBODY)
        root = conform(*where(small)[:-1], '--only', '3001', '--all')
    assert '3001 UDP checksums: not offered: needs raw sockets: run it as root' in others.stdout, others
    assert '3001 UDP checksums: not offered: lo, which leads to the switch, has no' in root.stdout, root


@pytest.mark.parametrize('when, passed, number', [
    (0, False, signal.SIGINT), (60, True, signal.SIGINT), (60, True, signal.SIGTERM)])
def test_it_is_interrupted(when, passed, number, tmp_path):
    """What has been found out by then is written all the same, also where that is nothing."""
    answered = itertools.count()

    def send(request, reply, client):
        del request
        if next(answered) == when:
            process.send_signal(number)
        if reply is not None:
            small.socket.sendto(reply, client)

    words = [*SUMS, '--rate', '100', '--junit', tmp_path / 'report.xml']
    with SmallSwitch(send) as small, subprocess.Popen(
            [sys.executable, PROGRAM, *map(str, [*where(small), *words])], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=switch.ENVIRONMENT | sanitized.environment(),
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)) as process:
        out, err = process.communicate(timeout=switch.TIMEOUT_S)
    found = verdicts(types.SimpleNamespace(stdout=out, stderr=err))
    assert process.returncode == 128 + number and 2018 in found['undecided']
    assert (2001 in found.get('passed', ())) == passed
    suite = xml.etree.ElementTree.parse(tmp_path / 'report.xml').getroot()
    assert {each.get('message') for each in suite.findall('*/error')} == {'undecided: interrupted'}


def test_time_is_over():
    with SmallSwitch() as small:
        done = conform(*where(small)[:-1], '--rate', '20', '--time', '1')
    assert done.returncode == NOBODY and 'undecided: the time that --time gives is over' in done.stdout


@pytest.mark.parametrize('words, said', [
    ([], "give the switch's address"), (['a', 'b', 'c'], "give the switch's address"), ([''], "give the switch's address"),
    (['127.0.0.1', '--only', '99'], "--only '99': no such check; see --list"),
    (['127.0.0.1', '--only', '\u00b2'], "--only '\u00b2': no such check; see --list"),
    (['127.0.0.1', '--tables', 'fp99_k4'], "--tables 'fp99_k4': no table set"),
    (['127.0.0.1', '--tables', 'fp16_k3x'], "--tables 'fp16_k3x': no table set"),
    (['127.0.0.1', '--port', '0'], "'0': expected 1 to 65535"),
    (['127.0.0.1', '--timeout', '0'], "'0': expected more than 0"),
    (['127.0.0.1', '--rate', 'fast'], "--rate: 'fast': expected a number"),
    (['127.0.0.1', '--port', 'netfc'], "--port: 'netfc': expected a whole number"),
    (['127.0.0.1', '--time', 'nan'], "--time: 'nan': expected a number"),
    (['127.0.0.1', '--token', 'x'], "--token: 'x': expected a whole number"),
    (['127.0.0.1', '--sources', 'eth0'], "--sources 'eth0': no IP address"),
    (['127.0.0.1', '--job', '65536'], "--job '65536': expected a number of 16 bits, or 2:3-20"),
    (['127.0.0.1', '--job', '2:1-x'], "--job '2:1-x': expected a number of 16 bits, or 2:3-20"),
    (['127.0.0.1', '--job', '2:1-99999999999'], 'expected a number of 16 bits'),
    (['127.0.0.1', '--token', '-1'], '--token has 64 bits')])
def test_wrong_usage(words, said):
    done = conform(*words)
    assert done.returncode == 1 and said in done.stderr and 'Traceback' not in done.stderr


@pytest.mark.parametrize('address, said', [('no.such.switch.invalid', "'no.such.switch.invalid' cannot be resolved"),
                                           ('fe80::5', 'add its interface, as in fe80::5%eth0')])
def test_an_address_that_is_none(address, said):
    done = conform(address)
    assert done.returncode == NOBODY and said in done.stderr


def test_a_file_that_cannot_be_written(tmp_path):
    with SmallSwitch() as small:
        done = conform(*where(small), '--only', '2001', '--junit', tmp_path / 'no' / 'report.xml')
    assert done.returncode == NOBODY and "report.xml': No such file or directory" in done.stderr
    assert not done.stdout  # it is said before anything is asked


def test_a_report_is_written_also_where_nobody_reads_the_rest(tmp_path):
    """As of `netfc-conform ... --junit FILE | head -1`."""
    with SmallSwitch() as small, open('/dev/full', 'w', encoding='ascii') as full:
        done = subprocess.run([sys.executable, '-u', PROGRAM, *map(str, where(small)), '--only', '2001', '--junit',
                               tmp_path / 'report.xml'], stdout=full, stderr=subprocess.PIPE, text=True, check=False,
                              timeout=switch.TIMEOUT_S, env=switch.ENVIRONMENT | sanitized.environment())
    assert (done.returncode, done.stderr) == (
        NOBODY, 'netfc-conform: cannot write to standard output: No space left on device\n')
    assert xml.etree.ElementTree.parse(tmp_path / 'report.xml').getroot().get('tests') == '1'


@pytest.mark.parametrize('option', ['--junit', '--pcap'])
def test_a_report_that_finds_a_full_disk(option):
    with SmallSwitch() as small:
        done = conform(*where(small), '--only', '2001', option, '/dev/full')
    assert done.returncode == NOBODY and 'No space left on device' in done.stderr
    assert json.loads(done.stdout)['counts']['passed'] == 1
