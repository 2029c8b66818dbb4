# SPDX-License-Identifier: BSD-3-Clause
"""The state of the running switch over DPDK's telemetry socket."""

import contextlib
import json
import re
import select
import socket
import struct
import subprocess
import time

import pytest

import frames
import hosts
import oracle
import project_scripts
import switch

from netfc.errors import TelemetryError
from netfc.telemetry import Telemetry

pytestmark = pytest.mark.xdist_group('telemetry')  # one process starts the switch

MANUAL = project_scripts.PROJECT / 'docs' / 'man' / 'dpdk-netfc.8'
SUMMED = ('rx_packets', 'tx_packets', 'copies', 'answers', 'polls', 'busy_polls', 'cycles',
          'busy_cycles', 'netfc_packets', 'lanes')


@pytest.fixture(name='running', scope='module')
def running_switch(tmp_path_factory):
    """A bridge of two ports, one of which brings the same 64 requests again and again."""
    requests = [frames.plain_frame(frames.lanes(count)) for count in range(1, 65)]
    live = switch.Running(tmp_path_factory.mktemp('telemetry'), requests,
                          ['--forward', 'bridge', '--match', 'direct',
                           '--tables', 'fp16_k1024,bf16_k128', '--address', '10.9.8.7',
                           '--latency', '--functions', 'rsqrt'],
                          vdevs=['net_null0,no-rx=1'], telemetry=True)
    live.wait_until_busy()
    yield live
    assert live.stop()[0] == 0


def connect(running):
    """One of the ten clients that it serves, once it has noticed that earlier ones have gone."""
    def connected():
        with contextlib.suppress(TelemetryError):
            return Telemetry(running.telemetry_path)

    return hosts.wait_until(connected, 'a place among the clients')


@pytest.fixture(name='telemetry')
def connection(running):
    with connect(running) as opened:
        yield opened


def commands(telemetry):
    return [name for name in telemetry.ask('/') if name.startswith('/netfc/')]


def test_every_command_has_help_and_is_in_the_manual(telemetry):
    manual = MANUAL.read_text().replace('\\-', '-')
    names = commands(telemetry)
    assert len(names) >= 6
    for name in names:
        assert len(telemetry.ask(f'/help,{name}')[name]) > 10
        assert f'.BR {name}' in manual or f'.B {name}' in manual, name


def trace(telemetry, lane=None):
    """A request as soon as one comes: the lcore may have to wait for a CPU."""
    command = '/netfc/trace' if lane is None else f'/netfc/trace,{lane}'
    return hosts.wait_until(lambda: telemetry.ask(command), 'a request')


def test_every_command_answers_and_refuses_what_it_does_not_know(telemetry):
    trace(telemetry)
    for name in commands(telemetry):
        assert telemetry.ask(name), name
        for parameter in ('-1', 'x', '999', '70000', '0x0', '0 ', '99999999999999999999'):
            assert telemetry.ask(f'{name},{parameter}') is None, (name, parameter)


def test_config(telemetry):
    config = telemetry.ask('/netfc/config')
    assert config['forward'] == 'bridge' and config['match'] == 'direct'
    assert config['udp_port'] == 20038 and config['addresses'] == ['10.9.8.7']
    assert re.match(r'DPDK \d+\.\d+', config['dpdk'])


def test_tables(telemetry):
    tables = telemetry.ask('/netfc/tables')
    assert {name: table['set'] for name, table in tables.items()} == {
        'fp16': 'fp16_k1024', 'bf16': 'bf16_k128'}


def later_stats(telemetry, before, name):
    """Counters once that one has grown: the lcore may have to wait for a CPU."""
    deadline = time.monotonic() + switch.TIMEOUT_S
    while time.monotonic() < deadline:
        after = telemetry.ask('/netfc/stats')
        if after[name] > before[name]:
            return after
    raise AssertionError(f'{name} is {before[name]} and stays so')


def test_paths_that_are_not_ascii(tmp_path):
    """DPDK's JSON has no other characters, and texts of 127."""
    folder = tmp_path / ('Größe \x01"\\ ' + 'ä' * 100)
    folder.mkdir()
    path = folder / 'x.netfc'
    assert switch.execute(['build', '--output', path, 'fp16_k16'], switch.TABLE_BUILDER).returncode == 0
    live = switch.Running(tmp_path, [frames.plain_frame(frames.request())],
                          ['--match', 'direct', '--tables', path], telemetry=True)
    live.wait_until_busy()
    with Telemetry(live.telemetry_path) as telemetry:
        origin = telemetry.ask('/netfc/tables')['fp16']['origin']
    live.stop()
    assert origin == re.sub(r'[^ -~]', '?', str(path))[:127]


def test_counters_only_grow(telemetry):
    before = telemetry.ask('/netfc/stats')
    assert before['busy_polls'] > 0
    after = later_stats(telemetry, before, 'lanes')
    for name in SUMMED:
        assert after[name] >= before[name]


def test_ports(telemetry):
    assert telemetry.ask('/netfc/port') == [0, 1]
    first, second = telemetry.ask('/netfc/port,0'), telemetry.ask('/netfc/port,1')
    assert first['device'] == 'net_pcap0' and second['device'] == 'net_null0'
    assert first['counters']['rx_packets'] > 0 and second['counters']['tx_packets'] > 0
    assert first['link_up'] == 1


def test_bridge(telemetry):
    bridge = telemetry.ask('/netfc/bridge')
    assert bridge['known'] == bridge['learned'] == 1 and bridge['capacity'] == 8192


def test_nothing_to_say_without_a_bridge(tmp_path):
    live = switch.Running(tmp_path, [frames.plain_frame(frames.request())],
                          ['--match', 'direct'], telemetry=True)
    live.wait_until_busy()
    with Telemetry(live.telemetry_path) as telemetry:
        assert telemetry.ask('/netfc/bridge') is None
    assert live.stop()[0] == 0


def test_telemetry_and_the_final_report_have_the_same_names(tmp_path):
    live = switch.Running(tmp_path, [frames.plain_frame(frames.request())],
                          ['--match', 'direct'], telemetry=True)
    live.wait_until_busy()
    with Telemetry(live.telemetry_path) as telemetry:
        stats, lcore = telemetry.ask('/netfc/stats'), telemetry.ask('/netfc/lcore,0')
    status, _, final = live.stop()
    assert status == 0
    assert names_in(stats) == names_in(final)
    assert lcore['paths'] == ['0/0'] and lcore['main'] == 1
    assert set(SUMMED) <= set(lcore)
    assert final['devices']['rx_packets'] == final['rx_packets']


def names_in(value):
    """The names of an object and of those in it."""
    if not isinstance(value, dict):
        return None
    return {name: names_in(inner) for name, inner in value.items()}


def test_dpdk_telemetry_py(running):
    """The script that comes with DPDK reads it, too."""
    prefix = running.telemetry_path.parent.name
    done = subprocess.run(['dpdk-telemetry.py', '-f', prefix], input='/netfc/stats\n', text=True,
                          capture_output=True, env=switch.ENVIRONMENT, timeout=200, check=True)
    assert json.loads(done.stdout.splitlines()[-1])['/netfc/stats']['rx_packets'] > 0


def test_trace_shows_a_request_and_its_lanes(telemetry):
    """They are those of a request that was sent, and came out as the oracle and the stages say."""
    sets = oracle.table_sets('fp16_k1024', 'bf16_k128')
    shown = trace(telemetry)
    count = shown['lanes']
    sent = frames.lanes(count)
    answer = oracle.switch(frames.plain_frame(sent), sets, forward='bridge')[-len(sent):]
    words = [f'0x{word:04x}' for word, in struct.iter_unpack('>H', answer[12:12 + 6 * count])]
    assert [shown['x'], shown['y'], shown['z']] == [
        words[:count], words[count:2 * count], words[2 * count:3 * count]]
    assert shown['status'] == 'ok' and shown['lanes_shown'] == count
    assert shown['lanes_unlike_stages'] == 0 and shown['set'] == 'fp16_k1024'
    assert 0 < shown['lanes_correctly_rounded'] <= count
    assert shown['port'] == shown['lcore'] == 0
    assert int.from_bytes(sent[8:12], 'big') == shown['id']


def test_trace_walks_a_lane_as_the_table_tool_does(telemetry):
    shown = trace(telemetry)
    walk = shown['walk']
    assert (walk['x'], walk['y'], walk['z']) == (shown['x'][0], shown['y'][0], shown['z'][0])
    said = subprocess.run([switch.TABLE_BUILDER, 'show', 'fp16_k1024', '--json', '--walk',
                           shown['op'], walk['x'], walk['y']], capture_output=True, check=True,
                          text=True, timeout=600).stdout
    steps = json.loads(said)['steps']
    assert len(walk['stages']) == len(steps) > 8
    for stage, step in zip(walk['stages'], steps):
        fields = [f" {field['name']} {field['bits']}" for field in step['fields']]
        assert stage == f"{step['what']}:{''.join(fields)}"


def test_trace_of_another_lane(telemetry):
    shown = hosts.wait_until(lambda: telemetry.ask('/netfc/trace,40'), 'a long request')
    assert shown['lanes'] > 40 and shown['walk']['lane'] == 40
    assert shown['walk']['x'] == shown['x'][40] and shown['walk']['z'] == shown['z'][40]


def test_trace_of_what_is_refused_and_of_the_longest(tmp_path):
    """Other requests than those of usual length; and none at all."""
    for name, sent in (('long', frames.plain_frame(frames.lanes(300))),
                       ('refused', frames.plain_frame(frames.bad_requests()['op 0'])),
                       ('none', b'\xff' * 60)):
        folder = tmp_path / name
        folder.mkdir()
        live = switch.Running(folder, [sent], ['--match', 'direct', '--tables', 'fp16_exact'],
                              telemetry=True)
        live.wait_until_busy()
        with Telemetry(live.telemetry_path) as telemetry:
            if name == 'none':
                assert telemetry.ask('/netfc/trace') is None
            else:
                shown = trace(telemetry)
                assert shown['status'] == ('ok' if name == 'long' else 'op')
                assert ('walk' in shown) == (name == 'long')
            if name == 'long':
                assert shown['lanes'] == 300 and shown['lanes_shown'] == len(shown['z']) == 256
                assert shown['lanes_correctly_rounded'] == 256 and not shown['lanes_unlike_stages']
        assert live.stop()[0] == 0


@pytest.mark.parametrize('payload, name, form', [
    (frames.request(71, 1, [0x4000, 0x4400, 0], [0] * 3), 'rsqrt', 'fp16'),
    (frames.request(6, 3, [0x4000, 0x4400], [0xC000, 0x4500]), 'max', 'bf16'),
    (frames.request(8, 2, [0x4000], [0x5000], z=[0x4000]), 'fma', 'posit16'),
    (frames.request(192, 1, struct.unpack('>8H', b'rsqrt'.ljust(16, b'\0')), [0] * 8), 'name',
     'fp16')])
def test_trace_of_further_operations(tmp_path, payload, name, form):
    """The trace of a function has its table for stages; there is no table set for some formats."""
    live = switch.Running(tmp_path, [frames.plain_frame(payload)],
                          ['--match', 'direct', '--tables', 'fp16_k8', '--functions', 'rsqrt'],
                          telemetry=True)
    live.wait_until_busy()
    with Telemetry(live.telemetry_path) as telemetry:
        shown = trace(telemetry)
        assert telemetry.ask('/netfc/functions') == {
            'rsqrt': {'number': 71, 'formats': {'fp16': 'built'}}}
        assert telemetry.ask('/netfc/functions,71') == {
            'name': 'rsqrt', 'number': 71, 'formats': {'fp16': 'built'}}
        assert telemetry.ask('/netfc/functions,72') is None
    assert (shown['status'], shown['op'], shown['format']) == ('ok', name, form)
    if name == 'rsqrt':
        assert shown['z'] == ['0x39a8', '0x3800', '0x7c00'] and shown['flags'] == 2
        assert shown['walk'] == {
            'lane': 0, 'x': '0x4000', 'y': '0x0000', 'z': '0x39a8', 'flags': 0}
    if name in ('rsqrt', 'max'):
        assert shown['lanes_unlike_stages'] == 0
    if name == 'name':
        assert shown['z'][0] == '0x0047'
    _, _, stats = live.stop()
    assert stats['operations'].keys() <= {name}


@pytest.mark.parametrize('number, form, x, shown_as, z, name', [
    (97, 5, 0x3F800000, '0x3f800000', '0x00003c00', 'to_fp16'),
    (101, 1, 0x3C00, '0x00003c00', '0x3f800000', 'to_fp32'),
    (101, 1, 0xFFFF3C00, '0xffff3c00', '0x3f800000', 'to_fp32')])
def test_trace_of_conversions_of_32_bits(tmp_path, number, form, x, shown_as, z, name):
    payload = struct.pack('>HBBBBHIIII', 0x4E46, 1, number, form, 0, 1, 7, x, 0, 0)
    live = switch.Running(tmp_path, [frames.plain_frame(payload)], [
        '--match', 'direct', '--tables', 'fp16_k8,fp32_exact', '--functions', 'to_fp16,to_fp32'],
        telemetry=True)
    live.wait_until_busy()
    with Telemetry(live.telemetry_path) as telemetry:
        shown = trace(telemetry)
    assert (shown['op'], shown['x'], shown['z']) == (name, [shown_as], [z])
    assert shown['format'] == {1: 'fp16', 5: 'fp32'}[form]
    assert shown['lanes_unlike_stages'] == 0 and shown['walk']['flags'] == 0
    assert live.stop()[0] == 0


def test_a_client_that_stalls_holds_up_nobody(running):
    """Ten clients that ask and never read; an eleventh is refused, and packets go on."""
    stalled = [connect(running) for _ in range(9)]
    with connect(running) as telemetry:
        for client in stalled:
            for _ in range(50):
                client.send('/netfc/stats')
        later_stats(telemetry, telemetry.ask('/netfc/stats'), 'rx_packets')
    for client in stalled:
        client.close()


def test_statistics_do_not_wait_for_a_trace(tmp_path):
    """Which waits for a request, as no packet comes: up to 200 ms."""
    def answers_meanwhile():
        waiting.send(b'/netfc/trace')
        count = 0
        while not select.select([waiting], [], [], 0)[0]:
            assert telemetry.ask('/netfc/stats')['rx_packets'] == 0
            count += 1
        assert waiting.recv(100000) == b'{"/netfc/trace":null}'
        return count

    with hosts.LiveSwitch(tmp_path, ['net_null0,no-rx=1'], telemetry=True) as live:
        live.wait_until_ready()
        with Telemetry(live.telemetry_path) as telemetry, socket.socket(
                socket.AF_UNIX, socket.SOCK_SEQPACKET) as waiting:
            waiting.connect(str(live.telemetry_path))
            waiting.recv(1000)
            assert any(answers_meanwhile() > 2 for _ in range(30))
        live.stop()
