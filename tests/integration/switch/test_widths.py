# SPDX-License-Identifier: BSD-3-Clause
"""Lanes of 8 and of 32 bits through the running switch, by every match engine."""

import collections
import itertools
import random
import struct
import subprocess

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

import frames
import hosts
import oracle
import switch
import tiers
from controlled import controlled, netfc_ctl

from netfc import scapy
from netfc.telemetry import Telemetry

TABLES = ('fp16_k1024', 'fp32_exact')
FP8_TABLES = ('fp16_k1024', 'fp8_e4m3_sat', 'fp8_e5m2_exact')
MBUF_BYTES = 2048
MAX_LANES, MAX_FP8_LANES = 121, 486  # that fit a 1,500-byte MTU over IPv4
SPECIAL = (0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x33800000, 0x3F800000,
           0xBF800001, 0x40400000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
           0xFF812345)
REFUSED = {'format': 3, 'length': 4}


def fp32_pairs():
    """All pairs of special values; random ones; and such as cancel, or are near each other."""
    draw = random.Random(32)
    made = list(itertools.product(SPECIAL, repeat=2))
    made += [(draw.randrange(1 << 32), draw.randrange(1 << 32)) for _ in range(1500)]
    for _ in range(1500):
        x = draw.randrange(1 << 32)
        made.append((x, (x ^ draw.choice((0, 1, 3, 0x80000000, 0x80000001, 0x00800000)))
                     + draw.randrange(4) & 0xFFFFFFFF))
    return made


def requests(formats, pairs, sizes):
    """All pairs with all operations, in requests of all lengths."""
    return [frame for form, op in itertools.product(formats, oracle.OPERATIONS)
            for frame in frames.bulk(op, form, pairs, itertools.cycle(sizes))]


def payload_of(frame):
    layout = oracle.parse(frame)
    return frame[layout.payload:layout.end]


# ---- what is computed ------------------------------------------------------------------------


def check_engine(tables, sent, lanes, match, bits):
    """Everything is computed; the processor's kernels have vectors of that width at most."""
    counters = collections.Counter()
    sets = oracle.table_sets(*tables)
    expected = [oracle.switch(frame, sets, counters=counters) for frame in sent]
    eal = () if bits is None else (f'--force-max-simd-bitwidth={bits}',)
    result = switch.run([sent, []], tables, match, eal=eal)
    switch.assert_same(result.outputs[1], expected)
    assert result.stats['netfc_packets'] == counters['netfc_packets'] == len(sent)
    assert result.stats['lanes'] == counters['lanes'] == lanes
    for name in oracle.EXCEPTIONS:
        assert result.stats['exceptions'][name] == counters[f'exceptions.{name}'] > 0
    # Not among the operations that are counted by name.
    assert not result.stats['operations']


@pytest.mark.parametrize('match, bits', [
    ('lpm', None), ('hash', None), ('hash', 64),
    *itertools.product(('direct', 'fpu'), (64, 256, 512))])
def test_every_engine_of_32_bits(match, bits):
    """Special and random pairs."""
    sent = requests([oracle.FP32], fp32_pairs(), (1, 2, 3, 8, 9, 16, 17, 40, MAX_LANES))
    check_engine(TABLES, sent, 4 * len(fp32_pairs()), match, bits)


@pytest.mark.parametrize('match, bits', [
    ('direct', 512), *tiers.later('slow', ('fpu', None), ('hash', None), ('direct', 64), ('direct', 256))])
def test_every_engine_of_8_bits(match, bits):
    """All pairs of operands."""
    pairs = list(itertools.product(range(256), repeat=2))
    sent = requests(oracle.NARROW, pairs,
                    (1, 2, 3, 8, 9, 17, 64, 65, MAX_FP8_LANES, MAX_FP8_LANES))
    check_engine(FP8_TABLES, sent, 8 * len(pairs), match, bits)


@pytest.mark.parametrize('match, tables, formats, counts', [
    *(pytest.param(match, ('fp16_exact', 'fp32_exact'), (oracle.FP32,), (5,),
                   marks=[pytest.mark.slow] if match == 'lpm' else [])
      for match in ('lpm', 'hash', 'direct', 'fpu')),
    *((match, FP8_TABLES, oracle.NARROW, (1, 5, 6)) for match in ('lpm', 'direct'))])
def test_every_wrapping(match, tables, formats, counts):
    """All that comes in is answered as ever, requests of these formats among it."""
    names, sent = zip(*frames.zoo())
    kinds = itertools.cycle(itertools.product(formats, counts))
    wrapped = [(f'{name}: {lanes} lanes of format {form}', wrap(frames.lanes(lanes, form, op)))
               for (name, wrap), op, (form, lanes) in zip(
                   frames.carriers().items(), itertools.cycle(oracle.OPERATIONS), kinds)]
    names, sent = [*names, *(name for name, _ in wrapped)], [*sent, *(one for _, one in wrapped)]
    sets = oracle.table_sets(*tables)
    result = switch.run([sent, []], tables, match)
    switch.assert_same(result.outputs[1], [oracle.switch(one, sets) for one in sent], names)


def test_values_across_segments():
    """Datagrams of more than an mbuf: x, y or z end about where it ends, or in a value's middle."""
    wraps = frames.carriers()
    sent, names = [], []
    for carrier in ('ipv4', 'ipv6', 'vlan 8100, ipv4', 'ipv4, 1 words of options'):
        start = oracle.parse(wraps[carrier](frames.request())).payload + oracle.HEADER_BYTES
        for mbufs, arrays in itertools.product((1, 2), (1, 2, 3)):
            around = (mbufs * MBUF_BYTES - start) // (4 * arrays)
            for count in range(around - 2, around + 4):
                op = oracle.OPERATIONS[count % 4]
                sent.append(wraps[carrier](frames.lanes(count, oracle.FP32, op)))
                names.append(f'{carrier}: {count} lanes')
    sets = oracle.table_sets(*TABLES)
    result = switch.run([sent, []], TABLES)
    switch.assert_same(result.outputs[1], [oracle.switch(frame, sets) for frame in sent], names)


# ---- what is refused -------------------------------------------------------------------------


def wrong_lengths():
    """Requests that are too short for their lanes, or long enough, by name."""
    ten = frames.lanes(10, oracle.FP32)
    made = {f'count {count} for ten lanes': frames.lanes(10, oracle.FP32, count=count)
            for count in (0, 1, 9, 10, 11, 19, 20, 21, 5461, 5462, 10922, 10923, 0xFFFF)}
    made.update({f'{missing} bytes missing': ten[:-missing] for missing in range(1, 13)})
    made.update({f'{over} bytes over': ten + b'\xBB' * over for over in range(1, 14)})
    # What is enough for lanes of 16 bits.
    made.update({f'{count} lanes of 6 bytes': frames.lanes(10, oracle.FP32)[:12 + 6 * count]
                 for count in range(21)})
    return made


@pytest.mark.parametrize('match', ['lpm', 'direct'])
def test_lengths(match):
    names, payloads = zip(*wrong_lengths().items())
    sent = [frames.plain_frame(payload) for payload in payloads]
    sets = oracle.table_sets(*TABLES)
    result = switch.run([sent, []], TABLES, match)
    switch.assert_same(result.outputs[1], [oracle.switch(frame, sets) for frame in sent], names)
    codes = dict(zip(names, (payload_of(frame)[5] >> 4 & 7 for frame in result.outputs[1])))
    assert codes['count 10 for ten lanes'] == codes['1 bytes over'] == 0
    for name in ('count 11 for ten lanes', 'count 20 for ten lanes', 'count 0 for ten lanes',
                 'count 5462 for ten lanes', '1 bytes missing', '12 bytes missing'):
        assert codes[name] == REFUSED['length'], name


def test_other_operations_are_refused():
    """min, max, compare and fma, functions, queries and names: code 3, z untouched."""
    ops = (5, 6, 7, 8, 71, oracle.QUERY, 192)
    sent = [frames.plain_frame(frames.lanes(8, oracle.FP32, op)) for op in ops]
    result = switch.run([sent, []], TABLES, options=['--functions', 'rsqrt'])
    for op, before, after in zip(ops, sent, result.outputs[1], strict=True):
        assert payload_of(after)[5] == 0x80 | REFUSED['format'] << 4, op
        assert payload_of(after)[12:] == payload_of(before)[12:]


def test_lengths_of_8_bits_and_sets_that_are_not_loaded():
    """Code 4 for a datagram without what fills up, code 3 for a format whose set is missing."""
    sent = [frames.plain_frame(frames.lanes(lanes, form, count=count))
            for form in oracle.NARROW
            for lanes, count in ((5, 5), (5, 6), (5, 7), (6, 7), (6, 0), (6, 21846), (6, 65535))]
    sent += [frames.plain_frame(frames.lanes(5, oracle.E4M3)[:-1])]
    for tables in (FP8_TABLES, FP8_TABLES[:2], FP8_TABLES[:1]):
        sets = oracle.table_sets(*tables)
        result = switch.run([sent, []], tables)
        switch.assert_same(result.outputs[1], [oracle.switch(frame, sets) for frame in sent])


# ---- while it runs ---------------------------------------------------------------------------


def test_the_set_comes_and_goes(tmp_path):
    """The control channel and netfc-ctl load it like any other."""
    with controlled(tmp_path) as (live, control, path):
        answer = control.do('add', sets='fp32_exact')
        assert answer['tables']['fp32']['set'] == 'fp32_exact'
        assert answer['tables']['fp32']['format'] == oracle.FP32
        control.do('tables', sets='fp16_k1024')
        assert 'fp32' not in control.do('show')['tables']
        done = netfc_ctl('--socket', path, 'tables', 'fp16_k8,fp32_exact')
        assert done.returncode == 0, done.stderr
        assert sorted(control.do('show')['tables']) == ['fp16', 'fp32']
        live.stop()


def test_a_file_of_the_set(tmp_path):
    """A file holds the same; one that is damaged is refused."""
    path = tmp_path / 'fp32_exact.netfc'
    subprocess.run([switch.TABLE_BUILDER, 'build', 'fp32_exact', '--output', path], check=True,
                   capture_output=True)
    sent = [frames.plain_frame(frames.lanes(20, oracle.FP32, op)) for op in oracle.OPERATIONS]
    sets = oracle.table_sets('fp32_exact')
    for match in ('hash', 'direct'):
        result = switch.run([sent, []], [str(path)], match)
        switch.assert_same(result.outputs[1], [oracle.switch(frame, sets) for frame in sent])
    data = bytearray(path.read_bytes())
    data[3000] ^= 1
    path.write_bytes(data)
    done = switch.execute([*switch.eal_options(), '--', '--tables', path])
    assert done.returncode == 1 and 'checksum' in done.stderr


def test_trace(tmp_path):
    """A request of the running switch and a lane of it, with all 32 bits."""
    sent = frames.lanes(30, oracle.FP32, oracle.DIV)
    live = switch.Running(tmp_path, [frames.plain_frame(sent)],
                          ['--match', 'direct', '--tables', 'fp32_exact'], telemetry=True)
    live.wait_until_busy()
    with Telemetry(live.telemetry_path) as telemetry:
        shown = hosts.wait_until(lambda: telemetry.ask('/netfc/trace,7'), 'a request')
    assert live.stop()[0] == 0
    x, y = (struct.unpack_from('>30I', sent, at) for at in (12, 132))
    assert shown['set'] == 'fp32_exact' and shown['op'] == 'div' and shown['lanes'] == 30
    assert shown['x'] == [f'0x{word:08x}' for word in x]
    assert shown['z'] == [f'0x{oracle.calc_fp32(oracle.DIV, *pair)[0]:08x}' for pair in zip(x, y)]
    assert shown['lanes_unlike_stages'] == 0 and shown['lanes_correctly_rounded'] == 30
    assert shown['walk']['z'] == shown['z'][7] and len(shown['walk']['stages']) > 100


# ---- by the scapy layer ----------------------------------------------------------------------


@pytest.mark.parametrize('match', ['lpm', 'hash', 'direct', 'fpu'])
def test_scapy(match):
    """The layer's requests, answered: numbers in and out."""
    x, y = [1, 2, -1.5, 1e38], [3, 3, 0, 1e38]
    packet = Ether() / IP(dst='10.0.0.2') / UDP() / scapy.request('div', 'fp32', x, y, id=7)
    packet2 = Ether() / IP(dst='10.0.0.2') / UDP() / scapy.request('mul', 'fp32', x, y)
    result = switch.run([[bytes(packet), bytes(packet2)], []], TABLES, match)
    reply, product = (Ether(frame)[scapy.NetFC] for frame in result.outputs[1])
    assert reply.answers(packet[scapy.NetFC]) and reply.code == 0 and reply.id == 7
    assert reply.z == [0x3EAAAAAB, 0x3F2AAAAB, 0xFF800000, 0x3F800000]
    assert str(reply.flags) == 'divbyzero' and str(product.flags) == 'overflow'
    assert scapy.numbers(product, 'z').tolist() == [3, 6, 0, float('inf')]
    assert '0.333333343 (0x3eaaaaab)' in reply.show(dump=True)
