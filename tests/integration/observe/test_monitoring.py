# SPDX-License-Identifier: BSD-3-Clause
"""The exporter for Prometheus and the terminal view, on a running switch."""

import concurrent.futures
import contextlib
import curses
import http.client
import itertools
import json
import math
import os
import pty
import re
import select
import signal
import socket
import subprocess
import termios
import threading
import time
import types

import pytest

import frames
import hosts
import project_scripts
import switch
import tcp_frames
from exporter import Exporter
from fake_switch import FakeSwitch, TableSet
from needs import needs_terminal
from side_by_side import beside

from netfc import exporter as exporter_module
from netfc import metrics
from netfc.commands import _top_view, top
from netfc.errors import TelemetryError
from netfc.telemetry import Telemetry

TERMINAL = {'TERM': 'xterm', 'LINES': '40', 'COLUMNS': '120'}


@pytest.fixture(name='running', scope='module')
def running_switch(tmp_path_factory):
    requests = [frames.plain_frame(frames.lanes(count)) for count in range(1, 65)]
    requests.append(frames.plain_frame(frames.request(version=2)))
    live = switch.Running(tmp_path_factory.mktemp('monitoring'), requests,
                          ['--forward', 'bridge', '--match', 'direct', '--latency'],
                          vdevs=['net_null0,no-rx=1'], telemetry=True)
    live.wait_until_busy()
    yield live
    live.stop()


def script(name, *arguments, **options):
    return subprocess.run([project_scripts.PROGRAMS / name, *map(str, arguments)], text=True,
                          capture_output=True, timeout=600, check=False, **options)


def samples(text):
    """The samples of a scrape: name with labels -> value."""
    lines = [line for line in text.splitlines() if not line.startswith('#')]
    return {name: float(value) for name, value in (line.rsplit(' ', 1) for line in lines)}


def assert_prometheus_takes(text):
    checked = subprocess.run(['promtool', 'check', 'metrics'], input=text, text=True,
                             capture_output=True, timeout=600, check=False)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, '', '')


def test_prometheus_takes_what_is_exported(running):
    with Exporter(running.telemetry_path) as exporter:
        assert_prometheus_takes(exporter.scrape())


def grown(after, before, names):
    """The later samples, if all these counters have grown: a scrape may come between them."""
    return after if all(after[name] > before[name] for name in names) else None


def test_exported_numbers(running):
    names = ('netfc_rx_packets_total{lcore="0"}', 'netfc_lanes_total{lcore="0"}',
             'netfc_refused_requests_total{code="version",lcore="0"}',
             'netfc_device_rx_packets_total{device="net_pcap0",port="0"}',
             'netfc_latency_seconds_count')
    with Exporter(running.telemetry_path) as exporter:
        before = samples(exporter.scrape())
        after = hosts.wait_until(lambda: grown(samples(exporter.scrape()), before, names),
                                 'packets')
    assert before['netfc_up'] == 1 and before['netfc_stations'] == 1
    table_set, = (name for name in before if name.startswith('netfc_table_set'))
    assert before[table_set] == 1
    # The file is there where this version is installed.
    assert re.fullmatch(r'netfc_table_set{format="fp16",origin="(built|/.*/fp16_k1024\.netfc)",set="fp16_k1024"}',
                        table_set)
    assert all(before[name] > 0 for name in names)
    assert 'netfc_drops_total{lcore="0",reason="tx_full"}' in after
    counters = [name for name in after if '_total' in name]
    assert len(counters) > 40 and all(name.startswith('netfc_') for name in after)


def test_the_sum_of_latencies_only_grows():
    """Prometheus takes a counter that falls for one that has begun anew."""
    def exported(*cycles):
        latency = {'tsc_hz': 1, 'count': len(cycles), 'sum': sum(cycles), 'mean': sum(cycles) // len(cycles),
                   'buckets_ns': {'100': 0, 'more': len(cycles)}}
        family, = metrics.of_latency(types.SimpleNamespace(latency=latency))
        return next(sample.value for sample in family.samples if sample.name.endswith('_sum'))

    assert exported(2, 3) == 5 and exported(2, 3, 0) == 5


def latency_of(tsc_hz, **packets):
    """The histogram's families of a switch with so many packets in these buckets."""
    bounds = [*latency_bounds(), 'more']
    buckets = {bound: packets.get(f'up_to_{bound}', 0) for bound in bounds}
    latency = {'tsc_hz': tsc_hz, 'count': sum(packets.values()), 'sum': tsc_hz, 'buckets_ns': buckets}
    return list(metrics.of_latency(types.SimpleNamespace(latency=latency)))


def latency_bounds():
    """The greatest nanoseconds of each bucket, as a switch has them."""
    return [str(int(step * 10**power)) for power in range(2, 9) for step in (1, 1.5, 2, 3, 5, 7)] + [str(10**9)]


def as_series(instance, families):
    """Families as the input of a test of rules: each value for some minutes."""
    return [{'series': f'{sample.name}{{' + ','.join(
                 f'{name}="{value}"' for name, value in {**sample.labels, 'instance': instance}.items()) + '}',
             'values': f'{sample.value}x5'} for family in families for sample in family.samples]


def assert_answers(tmp_path, series, answers):
    """Fails unless Prometheus answers each query with that number."""
    queries = [{'expr': query, 'eval_time': '2m', 'exp_samples': [{'labels': '{}', 'value': value}]}
               for query, value in answers.items()]
    tests = {'evaluation_interval': '1m', 'tests': [{'interval': '1m', 'input_series': series,
                                                     'promql_expr_test': queries}]}
    path = tmp_path / 'queries.json'
    path.write_text(json.dumps(tests))
    done = subprocess.run(['promtool', 'test', 'rules', path], text=True, capture_output=True,
                          timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_latency_of_two_switches(tmp_path):
    """Whatever their clocks, and though each has buckets that the other has nothing in."""
    series = as_series('a', latency_of(2_000_000_000, up_to_300=1000))
    series += as_series('b', latency_of(24_000_000, up_to_1000=1000))

    def quantile(share):
        return f'round(1e9 * histogram_quantile({share}, sum by (le) (netfc_latency_seconds_bucket)))'
    assert_answers(tmp_path, series, {
        quantile(0.25): 250, quantile(0.5): 300, quantile(0.75): 850,
        'sum(netfc_latency_seconds_sum)': 2, 'sum(netfc_latency_seconds_count)': 2000})


def test_all_buckets_are_there_before_a_packet():
    """Prometheus sees how the first ones grow; and the same ones of every switch."""
    family, = latency_of(1000)
    bounds = [float(sample.labels['le']) for sample in family.samples if 'le' in sample.labels]
    assert bounds == [int(bound) / 1e9 for bound in latency_bounds()] + [math.inf]


def test_two_switches_can_be_summed(running, tmp_path):
    """Both are what Prometheus takes, with the same buckets, and it adds them up."""
    other = switch.Running(tmp_path, [frames.plain_frame(frames.lanes(64))], ['--latency'], telemetry=True)
    try:
        other.wait_until_busy()
        texts = []
        for live in (running, other):
            with Exporter(live.telemetry_path) as exporter:
                texts.append(exporter.scrape())
    finally:
        other.stop()
    for text in texts:
        assert_prometheus_takes(text)
    buckets = [[name for name in samples(text) if name.startswith('netfc_latency_seconds_bucket')]
               for text in texts]
    assert buckets[0] == buckets[1] and len(buckets[0]) == len(latency_bounds()) + 1
    series = [{'series': f'{name[:-1]},instance="{number}"}}', 'values': f'{samples(text)[name]:.0f}x5'}
              for number, text in enumerate(texts) for name in buckets[0]]
    packets = sum(samples(text)['netfc_latency_seconds_count'] for text in texts)
    assert_answers(tmp_path, series, {'sum(netfc_latency_seconds_bucket{le="+Inf"})': packets})


def test_a_switch_that_is_away_is_down(tmp_path):
    with Exporter(tmp_path / 'nothing') as exporter:
        found = samples(exporter.scrape())
        reason, = set(found) - {'netfc_up'}
    assert found == {'netfc_up': 0, reason: 1}
    assert reason.startswith('netfc_down_info{reason="no switch ') and 'nothing' in reason


def test_a_destination_under_attack(tmp_path):
    """Prometheus and the terminal have what the Slowloris detector has found."""
    handshakes = [frame for client in range(20)
                  for frame in tcp_frames.handshake(tcp_frames.address(client), 2000)]
    live = switch.Running(tmp_path, handshakes,
                          ['--match', 'direct', '--slowloris', '--slowloris-time', '0',
                           '--slowloris-connections', '10'], telemetry=True)
    try:
        live.wait_until_busy()
        with Exporter(live.telemetry_path) as exporter:
            text = exporter.scrape()
        view = script('netfc-top', '--telemetry', live.telemetry_path, '--once', '--interval',
                      '0.1').stdout
    finally:
        stats = live.stop()[2]
    assert_prometheus_takes(text)
    exported = samples(text)
    assert exported['netfc_slowloris_under_attack{destination="10.0.0.2"}'] == 1
    numbers = {name: value for name, value in stats['slowloris'].items()
               if name not in ('on', 'under_attack')}
    assert all(f'netfc_slowloris_{name}' in exported or f'netfc_slowloris_{name}_total' in exported
               for name in numbers)
    assert exported['netfc_slowloris_alarms'] == exported['netfc_slowloris_alarms_raised_total'] == 1
    assert re.search(r'^slowloris +connections \d+ +destinations 1 +under attack 1: 10.0.0.2$',
                     view, re.MULTILINE)


def test_a_scrape_of_some_metrics(running, tmp_path):
    with Exporter(running.telemetry_path) as exporter:
        asked = 'metrics?name[]=netfc_up&name[]=netfc_rx_packets_total&name[]=no_such_metric'
        some = [line.split()[0].partition('{')[0] for line in exporter.get(asked).splitlines() if line[0] != '#']
        whole = exporter.scrape()
    assert 'netfc_up' in some and set(some) <= {'netfc_up', 'netfc_rx_packets_total'}
    assert len(some) == len([line for line in whole.splitlines() if re.match('netfc_(up|rx_packets_total)[ {]', line)])
    with Exporter(tmp_path / 'nothing') as exporter:
        assert exporter.get('metrics?name[]=netfc_up').splitlines()[-1] == 'netfc_up 0.0'


@hosts.needs_namespaces
def test_an_address_with_a_zone():
    with hosts.Namespace() as space:
        space.ip('link', 'add', 'd0', 'type', 'veth', 'peer', 'name', 'd1')
        for device in ('lo', 'd0', 'd1'):
            space.ip('link', 'set', device, 'up')
        subprocess.run(['ip', 'netns', 'exec', space.name, 'sysctl', '-qw', 'net.ipv6.conf.d0.disable_ipv6=0'],
                       check=True)
        space.ip('addr', 'add', 'fe80::5/64', 'dev', 'd0', 'nodad')
        server = subprocess.Popen(['ip', 'netns', 'exec', space.name, project_scripts.PROGRAMS / 'netfc-exporter',
                                   '--telemetry', '/nothing', '--listen', '[fe80::5%d0]:9622'])
        try:
            ask = ['ip', 'netns', 'exec', space.name, 'curl', '-s', '-g', 'http://[fe80::5%25d0]:9622/metrics']
            hosts.wait_until(lambda: b'netfc_up 0' in subprocess.run(ask, capture_output=True, check=False).stdout,
                             'the exporter answers')
        finally:
            server.terminate()
            assert server.wait(60) == 0


@pytest.mark.parametrize('terminal', ['vt100', 'vt52', 'xterm'])
def test_a_terminal_that_may_not_hide_its_cursor(running, terminal):
    if subprocess.run(['infocmp', terminal], capture_output=True, check=False).returncode:
        pytest.skip(f'there is no {terminal} here')
    main, side = pty.openpty()
    termios.tcsetwinsize(side, (40, 120))
    command = [project_scripts.PROGRAMS / 'netfc-top', '--telemetry', running.telemetry_path, '--interval', '0.1']
    with subprocess.Popen(command, stdin=side, stdout=side, stderr=subprocess.PIPE,
                          env={**os.environ, 'TERM': terminal}) as process:
        os.close(side)
        said = b''
        while b'lcore' not in said:
            said += os.read(main, 4096)
        os.write(main, b'q')
        with contextlib.suppress(OSError):
            while os.read(main, 4096):
                pass
        assert process.wait(120) == 0, process.stderr.read()
    os.close(main)


def test_many_scrapes_at_once_do_not_take_all_places(running):
    """Of the ten that telemetry has, in which others ask."""
    with contextlib.ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(Telemetry(running.telemetry_path))
        exporter = stack.enter_context(Exporter(running.telemetry_path))
        exporter.scrape()
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            texts = list(pool.map(lambda _: exporter.scrape(), range(60)))
    assert [text for text in texts if '\nnetfc_up 1.0\n' not in text] == []


@pytest.mark.parametrize('program', ['netfc-exporter', 'netfc-top'])
def test_wrong_usage(program):
    for arguments in (['--bogus'], ['stray']):
        done = script(program, *arguments)
        assert done.returncode == 1 and program in done.stderr
    assert script(program, '--help').returncode == 0


def status(exporter, *hosts, path='/metrics'):
    """The status, and the text, that a request with these Host lines gets."""
    connection = http.client.HTTPConnection(exporter.url[7:-1], timeout=200)
    connection.putrequest('GET', path, skip_host=True)
    for host in hosts:
        connection.putheader('Host', host)
    connection.endheaders()
    with contextlib.closing(connection):
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def test_the_exporter_ends_with_its_terminal(tmp_path):
    with Exporter(tmp_path / 'nothing') as exporter:
        exporter.scrape()
        exporter.hang_up()


def test_the_exporter_answers_to_its_own_names_only(tmp_path):
    """A page from elsewhere whose name now leads to this address (DNS rebinding) reads nothing."""
    with Exporter(tmp_path / 'nothing', '--host', 'Monitor.example.,192.0.2.7', '--host', '2001:DB8::1') as exporter:
        exporter.scrape()
        for host in ('127.0.0.1', 'localhost', 'LOCALHOST.:80', 'monitor.example:9620', '192.0.2.7:1',
                     '[2001:db8:0::1]', '[2001:db8::1]:9620'):
            assert status(exporter, host)[0] == 200, host
        for hosts_given in (['evil.example'], ['evil.example:9620'], ['127.0.0.1.evil.example'], ['192.0.2.8'],
                            ['localhost@evil.example'], ['localhost:x'], ['[::1'], ['127.0.0.1, localhost'],
                            [''], [], ['127.0.0.1', 'evil.example']):
            for path in ('/', '/state', '/page.js', '/metrics'):
                code, said = status(exporter, *hosts_given, path=path)
                assert code == 421 and 'netfc_up' not in said, hosts_given
        assert status(exporter, 'evil.example')[1] == (
            "This is not 'evil.example'. netfc-exporter answers to the address that it is reached at, to "
            "localhost, and to what --host says.\n")


@pytest.mark.parametrize('target, host, code', [
    ('http://localhost:9620/metrics', 'evil.example', 200), ('HTTP://127.0.0.1', 'evil.example', 200),
    ('http://localhost?name', 'localhost', 200), ('http://localhost/nothing', 'localhost', 404),
    ('http://evil.example/state', 'localhost', 421), ('http:///state', 'localhost', 421)])
def test_a_target_in_absolute_form(tmp_path, target, host, code):
    """RFC 9112, section 3.2.2: its host counts."""
    with Exporter(tmp_path / 'nothing') as exporter:
        exporter.scrape()
        assert status(exporter, host, path=target)[0] == code


@pytest.mark.parametrize('path', ['', 'metrics', 'state', 'nothing'])
def test_head_is_answered_without_a_body(tmp_path, path):
    """RFC 9110, section 9.3.2."""
    with Exporter(tmp_path / 'nothing') as exporter:
        exporter.scrape()
        port = int(exporter.url.rpartition(':')[2].strip('/'))
        with socket.create_connection(('127.0.0.1', port), timeout=200) as client:
            client.sendall(f'HEAD /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode())
            head, end, body = b''.join(iter(lambda: client.recv(65536), b'')).partition(b'\r\n\r\n')
    assert (end, body) == (b'\r\n\r\n', b'') and int(re.search(rb'Content-Length: (\d+)', head)[1]) > 0


def test_a_wildcard_answers_to_the_address_that_is_reached(tmp_path):
    with Exporter(tmp_path / 'nothing', listen='[::]') as exporter:
        exporter.scrape()
        assert status(exporter, '127.0.0.1:9620')[0] == 200  # an IPv4 client, of a socket of IPv6
        for host in ('[::]', '0.0.0.0', '10.0.0.1', '[::ffff:127.0.0.1]x', 'evil.example'):
            assert status(exporter, host)[0] == 421, host


@pytest.mark.parametrize('name', ['', 'http://x', 'x:9620', 'a b', '*', 'x,,y', '[::1'])
def test_names_that_the_exporter_cannot_have(name):
    done = script('netfc-exporter', '--host', name)
    assert done.returncode == 1 and '--host' in done.stderr and 'expected' in done.stderr


@pytest.mark.parametrize('listen', ['localhost:1', '127.0.0.1', '127.0.0.1:x', '127.0.0.1:70000', '127.0.0.1:0'])
def test_where_the_exporter_cannot_listen(listen):
    assert script('netfc-exporter', '--listen', listen).returncode == 1


def test_a_view(running):
    done = script('netfc-top', '--telemetry', running.telemetry_path, '--once', '--interval', '0.3')
    assert done.returncode == 0, done.stderr
    assert re.search(r'^packets/s +[\d.]+[kM] in +[\d.]+[kM] out', done.stdout, re.MULTILINE)
    assert re.search(r'^NetFC/s +[\d.]+[kM] requests +[\d.]+[kMG] lanes +refused [1-9]',
                     done.stdout, re.MULTILINE)
    assert re.search(r'^0 +\d+\.\d% +64\.0 .* 0/0 1/0$', done.stdout, re.MULTILINE)
    assert re.search(r'^0 +up .* net_pcap0$', done.stdout, re.MULTILINE)


@pytest.mark.parametrize('what, said', [
    ({'joined': [0, 2]}, '1 to join'),
    ({}, 'silent for 5 s'),
    ({'silent': [1, 2]}, 'silent for 5 s, values of workers 1, 2 missing'),
    ({'levels': 1, 'all_workers': 8, 'uplink': 'joined'},
     'silent for 5 s, of 8 in the tree, above: joined'),
    ({'levels': 1, 'all_workers': 8, 'uplink': 'refused', 'above': 'loop'},
     'silent for 5 s, of 8 in the tree, above: refused (loop)'),
    ({'silent': [1], 'failed': 1}, 'silent for 5 s, values of workers 1 missing, failed for worker 1')])
def test_jobs_in_the_view(what, said):
    job = {'job': 7, 'workers': 3, 'slots': 8, 'joined': [0, 1, 2], 'silent': [], 'silent_s': 5,
           'levels': 0, 'came_last': {}, 'waited_us': {}, **what}
    now = types.SimpleNamespace(jobs={0: job}, time=1)
    line, = _top_view.of_jobs(now, now)
    assert line == f'  job 7      3 workers, 8 slots, {said}'


@pytest.mark.parametrize('before, after, said', [
    (((5, 1), (0, 400_000)), ((15, 31), (100_000, 1_400_000)),
     'worker 1: waited for 50.0% of the time, last in 75.0% of 20 results/s'),
    (((0, 0), (0, 0)), ((0, 1), (0, 9_000_000)),
     'worker 1: waited for 100.0% of the time, last in 100.0% of 0 results/s'),
    (None, ((3, 0), (20_000, 0)), 'worker 0: waited for 1.0% of the time, last in 100.0% of 2 results/s'),
    (((3, 0), (20_000, 0)), ((3, 0), (20_000, 0)), None),
    (((3, 9), (20_000, 50_000)), ((4, 0), (30_000, 0)), None)], ids=['two', 'long', 'new', 'nobody', 'another job'])
def test_the_slowest_worker_in_the_view(before, after, said):
    def at(seconds, counted):
        names = ('came_last', 'waited_us')
        counts = {name: dict(zip('01', numbers)) for name, numbers in zip(names, counted or ())}
        job = {'job': 7, 'workers': 2, 'slots': 8, 'joined': [0, 1], 'silent': [], 'silent_s': 0, 'levels': 0}
        return types.SimpleNamespace(time=seconds, jobs={0: job | counts} if counted else {})
    _, *lines = _top_view.of_jobs(at(10, before), at(12, after))
    assert lines == ([f'  slowest    {said}'] if said else [])


def test_no_view_of_nothing(tmp_path):
    done = script('netfc-top', '--telemetry', tmp_path / 'nothing', '--once')
    assert done.returncode == 2 and f'no switch at {tmp_path}/nothing; ' in done.stderr


def test_a_prefix_that_nobody_has(running):
    """The message says who runs, and how to see it."""
    done = script('netfc-top', '--file-prefix', 'nobody', '--once', env=switch.ENVIRONMENT)
    prefix = running.telemetry_path.parent.name
    assert done.returncode == 2
    assert 'netfc-top: no switch with --file-prefix nobody; these run: ' in done.stderr
    assert f'--file-prefix {prefix}' in done.stderr


@needs_terminal
def test_no_view_without_a_terminal_that_is_known(running):
    command = [project_scripts.PROGRAMS / 'netfc-top', '--telemetry', running.telemetry_path]
    done = script('netfc-top', '--telemetry', running.telemetry_path)
    assert (done.returncode, done.stderr) == (
        2, 'netfc-top: this is not a terminal; --once prints one view\n')
    leader, follower = pty.openpty()
    done = subprocess.run(command, stdin=follower, stdout=follower, stderr=subprocess.PIPE,
                          text=True, check=False, timeout=600,
                          env={**os.environ, **TERMINAL, 'TERM': 'unheard-of'})
    for end in (leader, follower):
        os.close(end)
    assert (done.returncode, done.stderr) == (
        2, "netfc-top: the terminal 'unheard-of' (TERM) is not known here; --once prints one view\n")


@needs_terminal
@pytest.mark.parametrize('end', [lambda leader, _: os.write(leader, b'q'), lambda _, process: process.terminate()],
                         ids=['q', 'SIGTERM'])
def test_the_view_refreshes_until_its_end(running, end):
    leader, follower = pty.openpty()
    with subprocess.Popen([project_scripts.PROGRAMS / 'netfc-top', '--telemetry',
                           running.telemetry_path, '--interval', '0.1'], stdin=follower,
                          stdout=follower, stderr=subprocess.PIPE,
                          env={**os.environ, **TERMINAL}) as process:
        os.close(follower)
        shown, limit = b'', time.monotonic() + 200
        while shown.count(b'packets/s') < 1 or len(shown) < 3000:
            assert time.monotonic() < limit, shown
            if select.select([leader], [], [], 0.1)[0]:
                shown += os.read(leader, 65536)
        end(leader, process)
        while process.poll() is None:
            assert time.monotonic() < limit
            with contextlib.suppress(OSError):  # when nobody has the other end any more
                if select.select([leader], [], [], 0.1)[0]:
                    os.read(leader, 65536)
        assert process.returncode == 0, process.stderr.read()
    os.close(leader)
    assert b'lcore' in shown


class Keys:
    """A screen whose user presses these keys at once."""

    encoding = 'utf-8'

    def __init__(self, *keys):
        self._keys, self.shown = iter(keys), []

    def getch(self):
        return next(self._keys)

    def getmaxyx(self):
        return 40, 120

    def addnstr(self, row, column, text, most):
        self.shown.append(text[column:most])

    erase = refresh = timeout = lambda *_: None


def test_keys_and_new_sizes_make_no_views(running):
    """Rates of what happened between two key strokes would be noise."""
    screen = Keys(ord('x'), curses.KEY_RESIZE, *b'xxxx', ord('q'))
    top.show_always(screen, running.telemetry_path, 3600, top.Sampler(None))
    assert set(screen.shown) == {'The first rates come in 3600 s; q quits.'} and len(screen.shown) == 7


def test_a_view_says_that_the_switch_is_away(tmp_path):
    screen = Keys(27)
    top.show_always(screen, tmp_path / 'nothing', 3600, top.Sampler(None))
    assert len(screen.shown) == 1 and 'no switch at' in screen.shown[0]


GREETING = '{"max_output_len": 1024, "pid": 1}'


@pytest.mark.parametrize('greeting, answer, why', [
    *((greeting, answer, f'this is no answer of DPDK: {(answer or greeting).encode()!r}')
      for greeting, answer in (('{}', ''), ('[]', ''), (GREETING, '{}'), (GREETING, '[]'))),
    (GREETING, '{"/netfc/config": null}', 'no dpdk-netfc answers, or it is starting or stopping')])
def test_what_answers_is_no_switch(tmp_path, greeting, answer, why):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(tmp_path / 'socket'))
        listener.listen()

        def serve():
            client, _ = listener.accept()
            client.sendall(greeting.encode())
            if answer:
                client.recv(1024)
                client.sendall(answer.encode())
            client.close()

        thread = threading.Thread(target=serve)
        thread.start()
        done = script('netfc-top', '--telemetry', tmp_path / 'socket', '--once')
        thread.join()
    assert (done.returncode, done.stderr) == (2, f'netfc-top: {tmp_path}/socket: {why}\n')


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_view_that_a_signal_ends(tmp_path, number):
    """It has not been printed: that is no success."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(tmp_path / 'socket'))
        listener.listen()
        with subprocess.Popen([project_scripts.PROGRAMS / 'netfc-top', '--telemetry', tmp_path / 'socket', '--once'],
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            asked, _ = listener.accept()
            process.send_signal(number)
            assert (process.communicate(timeout=200)[0], process.returncode) == ('', 128 + number)
            asked.close()


def test_no_samples_from_nowhere(tmp_path):
    done = script('netfc-top', '--telemetry', tmp_path / 'nothing', '--once', '--server', '')
    assert done.returncode == 1 and "argument --server: ''" in done.stderr


def restarted(path, monkeypatch, pid, uptime):
    """A view of a switch for 10 seconds; then it has that process number and was up that long."""
    class Clock:
        now = 100.0

    def snapshot(pid, uptime):
        return types.SimpleNamespace(pid=pid, asked=Clock.now, time=Clock.now,
                                     stats={'seconds': uptime})

    def sleep(seconds):
        Clock.now += seconds

    taken = iter([lambda: snapshot(1, 3), lambda: snapshot(pid, uptime)])
    monkeypatch.setattr(top.snapshot, 'take', lambda _: next(taken)())
    monkeypatch.setattr(top.time, 'sleep', sleep)
    monkeypatch.setattr(top._top_view, 'lines', lambda *_: ['a view'])
    top.show_once(path, 10, top.Sampler(None))


@pytest.mark.parametrize('pid, uptime', [(1, 0), (1, 8), (2, 13)])
def test_no_view_across_a_restart(tmp_path, monkeypatch, pid, uptime):
    """Its counters have begun anew; a process in a container may have the same number again."""
    with pytest.raises(TelemetryError, match='started again'):
        restarted(tmp_path, monkeypatch, pid, uptime)


@pytest.mark.parametrize('uptime', [12, 13, 14])
def test_a_view_without_a_restart(tmp_path, monkeypatch, capsys, uptime):
    restarted(tmp_path, monkeypatch, 1, uptime)
    assert capsys.readouterr().out == 'a view\n'


def test_accuracy_of_a_sample():
    table_set = TableSet('fp16_k1024')
    with FakeSwitch({1: table_set}) as server:
        said = top.Sampler(server.address, server.port).measure()
    table_set.close()
    add, mul = re.fullmatch(r'add ([\d.]+)%, mul ([\d.]+)% of 200 lanes, against the CPU',
                            said).groups()
    assert 99.9 < float(add) <= 100 and 99.9 < float(mul) <= 100


def test_accuracy_is_the_papers():
    assert top.accuracy([2, 5], [1, 5]) == pytest.approx(50 * (math.exp(-1) + 1))
    assert top.accuracy([math.inf], [1]) == 0


def test_periodic_statistics(tmp_path):
    """A line at least every second, whatever the lcores do, and one object in the end."""
    live = switch.Running(tmp_path, [frames.plain_frame(frames.lanes(5))],
                          ['--match', 'direct', '--stats-interval', '1'])
    live.wait_until_busy()
    lines = []
    for line in iter(live.process.stdout.readline, ''):
        if re.match(r'after \d+ s: ', line):
            lines.append(line)
        if len(lines) == 2:
            break
    assert live.stop()[0] == 0
    ended = 0
    for line in lines:
        found = re.fullmatch(r'after (\d+) s: (\d+) packets/s in, (\d+) out, 0 taken up, (\d+) dropped, '
                             r'(\d+) requests/s, (\d+) lanes/s, load (\d+)%\n', line)
        seconds, received, sent, dropped, requests, lanes, load = map(int, found.groups())
        assert seconds > ended and dropped == 0 and load == 100
        ended = seconds
        assert received > 0 and 0 < sent and lanes == pytest.approx(5 * requests, rel=0.1)


def test_periodic_statistics_of_a_process_that_was_stopped(tmp_path):
    """One line has all of that time."""
    live = switch.Running(tmp_path, [frames.plain_frame(frames.lanes(5))],
                          ['--match', 'direct', '--stats-interval', '1'])
    live.wait_until_busy()
    live.process.send_signal(signal.SIGSTOP)
    time.sleep(4.5)
    live.process.send_signal(signal.SIGCONT)
    ends = [0]
    while ends[-1] < 6:
        ends += map(int, re.findall(r'^after (\d+) s: ', live.process.stdout.readline()))
    assert live.stop()[0] == 0
    assert max(end - start for start, end in itertools.pairwise(ends)) >= 4, ends


def test_load_counts_time_not_polls(tmp_path):
    """Seven of eight queues are empty, and the eighth takes nearly all of the time."""
    live = switch.Running(tmp_path, [frames.plain_frame(frames.lanes(200))] * 64,
                          ['--match', 'lpm', '--forward', 'bridge'],
                          vdevs=[f'net_null{n},no-rx=1' for n in range(7)])
    live.wait_until_busy()
    status, _, stats = live.stop()
    assert status == 0 and stats['busy_polls'] < 0.2 * stats['polls']
    assert 0.9 * stats['cycles'] < stats['busy_cycles'] <= stats['cycles']


@pytest.mark.parametrize('seconds', ['0', '-1', 'x', '86401'])
def test_intervals_that_cannot_be(seconds):
    done = switch.execute([*switch.eal_options(['net_null0']), '--', '--stats-interval', seconds])
    assert done.returncode == 1 and 'stats-interval' in done.stderr


@contextlib.contextmanager
def serving():
    """The exporter's server, in this process; its address."""
    server = exporter_module._Server('127.0.0.1', 0)
    server.set_app(lambda _, start: (start('200 OK', []), [b'here'])[1])
    with server, beside(server.serve_forever, server.shutdown):
        yield server.server_address[:2]


def test_a_client_that_asks_byte_by_byte_keeps_no_place(monkeypatch):
    monkeypatch.setattr(exporter_module, 'SILENCE', 1)
    with serving() as address, socket.create_connection(address) as client:
        client.settimeout(0.2)
        begun = time.monotonic()

        def closed():
            try:
                client.sendall(b'G')
                return client.recv(1) == b''
            except TimeoutError:
                return False
            except ConnectionError:
                return True

        hosts.wait_until(closed, 'the exporter to close')
        assert time.monotonic() - begun > 0.9


def test_a_time_without_threads_takes_no_places(monkeypatch):
    monkeypatch.setattr(exporter_module, 'MAX_CLIENTS', 2)

    def answer(address):
        with socket.create_connection(address) as client:
            client.sendall(b'GET / HTTP/1.0\r\n\r\n')
            with contextlib.suppress(ConnectionError):
                return client.makefile('rb').read()[-4:]
        return b''

    def no_thread(_):
        raise RuntimeError("can't start new thread")

    with serving() as address:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, 'start', no_thread)
            assert [answer(address) for _ in range(3)] == [b''] * 3
        assert answer(address) == b'here'
