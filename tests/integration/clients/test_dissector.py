# SPDX-License-Identifier: BSD-3-Clause
"""The Wireshark dissector, run by tshark: every field of the golden capture, every encoding."""

import functools
import json
import re
import struct

import numpy as np
import pytest
from scapy.layers.l2 import Ether

import frames
import make_capture
import oracle
import switch
import tshark

import netfc
from netfc import aggregation, capture, formats, protocol
from netfc.scapy import NetFC, NetFCStart, slot_codec

FLAGS = [flag.name.lower() for flag in protocol.Flag]
TRUTH = {'True': '1', 'False': '0'}
MAX_LANES = 10900  # in the longest datagram, about

# What tshark prints for each frame: names for -e, without netfc.
HEADER_FIELDS = {'magic': 'magic', 'version': 'version', 'op': 'op', 'format': 'format',
                 'status.reply': 'reply', 'status.code': 'code', 'count': 'count', 'id': 'id'}
GOLDEN = [frame for _, together in make_capture.exchanges() for frame in together]
NAMES = [name for name, together in make_capture.exchanges() for _ in together]


@pytest.fixture(name='tshark', scope='module')
def make_tshark(tmp_path_factory):
    """tshark(ARGUMENT...): what tshark with the dissector prints."""
    return functools.partial(tshark.run, tmp_path_factory.mktemp('home'), 'netfc.lua')


def columns(tshark, capture, names, *options):
    """A dict for each frame of a capture: the values of each field in the order of the tree."""
    chosen = [word for name in names for word in ('-e', name)]
    printed = tshark('-r', capture, '-T', 'fields', '-E', 'separator=|', '-E', 'aggregator=;',
                     *options, *chosen)
    return [dict(zip(names, (cell.split(';') if cell else [] for cell in line.split('|'))))
            for line in printed.splitlines()]


@pytest.fixture(name='golden', scope='module')
def read_golden(tshark):
    """The columns of the golden capture, and the layers that scapy sees in it."""
    names = [f'netfc.{name}' for name in (
        *HEADER_FIELDS, 'x', 'y', 'z', 'x.value', 'y.value', 'z.value', 'lane', 'trailer',
        'query.destination', 'query.connections', 'query.bytes',
        'response_in', 'response_to', 'time')]
    names += [f'netfc.flags.{flag}' for flag in FLAGS]
    names += ['_ws.col.Protocol', '_ws.col.Info', '_ws.expert.message', 'netfc.expert.truncated']
    rows = columns(tshark, make_capture.PATH, names, '-2')  # twice: replies in their requests
    assert len(rows) == len(GOLDEN) + 1  # the last one is cut by the capture
    return [(name, row, layer_of(frame)) for name, row, frame in zip(NAMES, rows, GOLDEN)], rows[-1]


def layer_of(frame):
    packet = Ether(frame)
    return packet.getlayer(NetFC) or packet.getlayer(NetFCStart)


# ---- the golden capture ----------------------------------------------------------------------


def number(text):
    """The number that tshark shows; a flag is 1 or 0 up to version 4.0, then True or False."""
    return int(TRUTH.get(text, text), 0)


def test_header(golden):
    for name, row, layer in golden[0]:
        for shown, field in HEADER_FIELDS.items():
            present = layer is not None and field in layer.fields
            expected = [getattr(layer, field)] if present else []
            assert [number(text) for text in row[f'netfc.{shown}']] == expected, (name, shown)
        for flag in FLAGS:
            expected = [int(getattr(layer.flags, flag))] if layer else []
            found = [number(text) for text in row[f'netfc.flags.{flag}']]
            assert found == expected, (name, flag)


def test_operands_as_bits(golden):
    for name, row, layer in golden[0]:
        for slot in 'xyz':
            bits = [int(text, 0) for text in row[f'netfc.{slot}']]
            assert bits == getattr(layer, slot, []), name


def test_operands_as_numbers(golden):
    for name, row, layer in golden[0]:
        for slot in 'xyz':
            shown = [float(text) for text in row[f'netfc.{slot}.value']]
            codec = slot_codec(layer, slot) if isinstance(layer, NetFC) else None
            expected = codec.decode(getattr(layer, slot)) if codec else []
            np.testing.assert_allclose(shown, expected, rtol=1e-14, err_msg=name)


def formula(layer, lane):
    """What a lane shows, for operations that exist."""
    def text(field):
        codec = slot_codec(layer, field)
        slots = getattr(layer, field)
        if lane >= len(slots):
            return None
        return codec.text(slots[lane]) if codec else f'0x{slots[lane]:04x}'

    has_z = layer.reply and not layer.code and lane < len(layer.z)
    name = protocol.OP_NAMES.get(layer.op)
    if layer.op >= 64 and layer.op != protocol.NAME and name:
        shown = f"{name}({text('x')})"
    elif name and name not in netfc.SYMBOLS:
        operands = [text('x'), text('y')] + [text('z')] * (name == 'fma' and not has_z)
        shown = f"{name}({', '.join(filter(None, operands))})"
    else:
        shown = text('x')
        if lane < len(layer.y):
            shown += f" {netfc.SYMBOLS.get(name, '?')} {text('y')}"
    return shown + (f" = {text('z')}" if has_z else '')


def test_lanes(golden):
    for name, row, layer in golden[0]:
        if isinstance(layer, NetFC) and layer.op != protocol.QUERY:
            expected = [formula(layer, lane) for lane in range(len(layer.x))]
            assert row['netfc.lane'] == expected, name


def test_info(golden):
    for name, row, layer in golden[0]:
        info = row['_ws.col.Info']
        assert row['_ws.col.Protocol'] == (['NetFC'] if layer else ['UDP']), name
        if not isinstance(layer, NetFC) or layer.code == 7 or layer.op == protocol.QUERY:
            continue
        if layer.op in protocol.OP_NAMES and layer.format in protocol.FORMAT_NAMES:
            assert info == [layer.mysummary()], name


@pytest.mark.parametrize('name, infos', [
    ('overflow', ['NetFC fp16 mul, 1 lane, request', 'NetFC fp16 mul, 1 lane, reply: overflow']),
    ('error op', ['NetFC fp16 op 9, 1 lane, request', 'NetFC fp16 op 9, 1 lane, reply: error op']),
    ('error format, unknown', ['NetFC format 11 add, 1 lane, request',
                               'NetFC format 11 add, 1 lane, reply: error format']),
    ('error unknown', ['NetFC fp16 add, 2 lanes, request',
                       'NetFC fp16 add, 2 lanes, reply: error 7']),
    ('7 bytes', ['NetFC fp16 add, header cut, request',
                 'NetFC fp16 add, header cut, reply: error length']),
    ('query', ['NetFC query for 10.0.0.7, request', 'NetFC query for 10.0.0.7, reply']),
    ('query of three lanes', ['NetFC query, 3 lanes, request',
                              'NetFC query, 3 lanes, reply: error query']),
])
def test_infos(golden, name, infos):
    assert [row['_ws.col.Info'] for found, row, _ in golden[0] if found == name] == [
        [info] for info in infos]


def test_queries(golden):
    shown = {name: row for name, row, layer in golden[0] if layer and layer.reply}
    row = shown['query']
    assert row['netfc.query.destination'] == ['10.0.0.7']
    assert row['netfc.query.connections'] == ['1729']
    assert row['netfc.query.bytes'] == ['505000']
    assert row['netfc.lane'] == ['query, 0.0034370422 connections per byte']
    assert shown['query without counters']['netfc.query.destination'] == ['10.0.0.7']
    assert shown['query without counters']['netfc.query.connections'] == []
    assert shown['query of three lanes']['netfc.query.destination'] == []


def test_what_is_behind_z(golden):
    for (name, row, layer), frame in zip(golden[0], GOLDEN):
        layout = oracle.parse(frame)
        whole = 12 + 6 * getattr(layer, 'count', 0xFFFF)
        if row['netfc.query.connections']:
            whole += protocol.QUERY_COUNTERS.size
        behind = frame[layout.payload + whole:layout.end]
        assert row['netfc.trailer'] == ([behind.hex()] if behind else []), name


def test_requests_and_replies_find_each_other(golden):
    rows = [row for _, row, _ in golden[0]]
    by_name = {}
    for number, name in enumerate(NAMES, 1):
        by_name.setdefault(name, []).append(number)

    def links(number):
        return tuple(rows[number - 1][f'netfc.response_{side}'] for side in ('in', 'to'))

    for name, numbers in by_name.items():
        if len(numbers) == 2 and isinstance(golden[0][numbers[0] - 1][2], NetFC):
            request, reply = numbers
            assert links(request) == ([str(reply)], []), name
            assert links(reply) == ([], [str(request)]), name
            assert rows[reply - 1]['netfc.time'] == ['0.000025000'], name
    first, again, reply, reply_again = by_name['sent twice, answered twice']
    assert links(first) == ([], [])
    assert links(again) == ([str(reply)], [])
    assert links(reply) == links(reply_again) == ([], [str(again)])
    assert links(by_name['reply without request'][0]) == ([], [])


def expected_experts(layer, payload_bytes):
    """What the dissector has to complain of."""
    if layer is None:
        return []
    found = []
    if not layer.reply:
        found += ['The version is not 1'] * (layer.version != 1)
        found += ['No such operation'] * (layer.op not in protocol.OP_NAMES)
        found += ['No such format'] * (layer.format not in protocol.FORMAT_NAMES)
    elif layer.code:
        meaning = protocol.CODE_MEANINGS.get(layer.code, f'code {layer.code}')
        found.append(f'Not computed: {meaning}')
    elif layer.flags:
        words = ', '.join(protocol.Flag(int(layer.flags)).words)
        found.append(f'Arithmetic exception: {words}')
    count = getattr(layer, 'count', 0)
    if isinstance(layer, NetFC) and count == 0 and not layer.reply:
        found.append('No lanes')
    needed = 12 + 3 * protocol.operand_bytes(layer.format, count, layer.op) if count else 12
    if payload_bytes < needed:
        found.append(f'{payload_bytes} bytes, but header and lanes need {needed}')
    return found


def test_expert_information(golden):
    for (name, row, layer), frame in zip(golden[0], GOLDEN):
        layout = oracle.parse(frame)
        expected = expected_experts(layer, layout.end - layout.payload)
        ours = [text for text in row['_ws.expert.message'] if 'router' not in text]
        assert ours == expected, name  # what is left out is about IP options


def test_a_capture_of_too_few_bytes(golden):
    row = golden[1]
    assert row['_ws.expert.message'] == ['Packet size limited during capture']
    assert row['netfc.count'] == ['5'] and len(row['netfc.x']) == 5 and len(row['netfc.y']) == 3


@pytest.mark.parametrize('script, layer, port, payload', [
    ('netfc.lua', 'netfc', 20038, protocol.request(1, 1, [0x3C00] * 243, [0x4000] * 243)),
    ('netfc.lua', 'netfc', 20038, protocol.request(1, 5, [1 << 30] * 100)),
    ('netfc_aggregation.lua', 'netfc_aggregation', 20040,
     aggregation.chunk(aggregation.Worker(1, 7, 0), 1, 5, 0, bytes(1448))),
    ('netfc_aggregation.lua', 'netfc_aggregation', 20040, aggregation.join(aggregation.Worker(1, 7, 0), 2, 8, 64)),
], ids=['binary16', 'binary32', 'chunk', 'join'])
def test_frames_that_were_cut_while_capturing_are_not_malformed(tmp_path, script, layer, port, payload):
    frame = capture.udp_frame(payload, port=port)
    at = capture.NETFC_OFFSET
    lengths = [one for one in (at + 6, at + 11, at + 12, at + 24, at + 30, 96, 300) if one < len(frame)]
    path = tmp_path / 'cut.pcap'
    path.write_bytes(capture.PCAP_HEADER + b''.join(
        capture.RECORD.pack(0, 0, kept, len(frame)) + frame[:kept] for kept in [*lengths, len(frame)]))
    lines = tshark.run(tmp_path, script, '-r', path, '-T', 'fields', '-E', 'separator=|', '-e', 'frame.protocols',
                       '-e', '_ws.expert.message', '-e', '_ws.col.Info', '-e', '_ws.malformed').splitlines()
    limited = 0
    for line in lines[:-1]:
        protocols, experts, info, malformed = line.split('|')
        assert not malformed
        if layer in protocols.split(':'):
            assert experts == 'Packet size limited during capture', line
            assert info.endswith(', packet size limited during capture')
            limited += 1
    assert limited >= 2
    assert 'limited' not in lines[-1] and 'NetFC' in lines[-1] or 'job' in lines[-1]


def test_tree(tshark):
    """The lanes of the tree have their own x, y and z, shown as numbers and as bits."""
    (packet,) = json.loads(tshark('-r', make_capture.PATH, '-T', 'json', '--no-duplicate-keys',
                                  '-Y', 'frame.number == 40'))
    shown = packet['_source']['layers']['netfc']
    assert shown['netfc.status_tree']['netfc.flags.overflow'] == '1'
    assert shown['netfc.lane'] == '65504 x 65504 = inf'
    assert shown['netfc.lane_tree']['netfc.z'] == '0x7c00'
    assert shown['netfc.lane_tree']['netfc.z_tree']['netfc.z.value'] == 'inf'
    text = tshark('-r', make_capture.PATH, '-V', '-O', 'netfc', '-Y', 'frame.number == 40')
    for line in ('NetFC fp16 mul, 1 lane, reply: overflow', 'Operation: mul (3)',
                 'Format: fp16 (1)', 'Status: 0x84 (reply, computed, overflow)',
                 'Lane 0: 65504 x 65504 = inf', 'x: 65504 (0x7bff)', 'z: inf (0x7c00)'):
        assert re.search(rf'^ *{re.escape(line)}$', text, re.MULTILINE), line


# ---- every encoding, every name --------------------------------------------------------------


@pytest.mark.slow
def test_every_encoding(tshark, tmp_path):
    every = list(range(0x10000))
    capture, sent = [], []
    for form in (number_format.id for number_format in formats.FORMATS.values()):
        for at in range(0, len(every), 3 * MAX_LANES):
            slots = every[at:at + 3 * MAX_LANES]
            slots += [0] * (-len(slots) % 3)
            count = len(slots) // 3
            header = struct.pack('>HBBBBHI', 0x4E46, 1, 1, form, 0x80, count, at)
            payload = header + struct.pack(f'>{len(slots)}H', *slots)
            capture.append(frames.build(frames.ethernet() / frames.ipv4() / frames.udp(payload)))
            sent.append((form, slots))
    switch.write_capture(tmp_path / 'all.pcap', capture)
    names = ['netfc.x.value', 'netfc.y.value', 'netfc.z.value', 'netfc.lane']
    rows = columns(tshark, tmp_path / 'all.pcap', names)
    for row, (form, slots) in zip(rows, sent, strict=True):
        number_format, third = formats.BY_ID[form], len(slots) // 3
        shown = np.array([row[name] for name in names[:3]], dtype=float).ravel()
        np.testing.assert_allclose(shown, number_format.decode(slots), rtol=1e-14)
        text = list(map(number_format.text, slots))
        assert row['netfc.lane'] == [f'{text[lane]} + {text[third + lane]} = {text[lane - third]}'
                                     for lane in range(third)]


def test_lanes_of_32_bits(tshark, tmp_path):
    """Values and bits of binary32, whole and cut within a value; and what is after z."""
    draw = np.random.default_rng(5)
    bits = draw.integers(1 << 32, size=3 * 200, dtype=np.uint32)
    bits[:8] = (0, 0x80000000, 1, 0x807FFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000)
    payload = struct.pack('>HBBBBHI', 0x4E46, 1, 4, 5, 0x80, 200, 7) + bits.astype('>u4').tobytes()
    small = frames.lanes(2, oracle.FP32)
    sent = [payload, small + b'abc', small[:-2], small[:17]]
    switch.write_capture(tmp_path / 'fp32.pcap', [
        frames.build(frames.ethernet() / frames.ipv4() / frames.udp(one)) for one in sent])
    names = [f'netfc.{name}' for name in ('x32', 'y32', 'z32', 'x.value', 'y.value', 'z.value', 'x',
                                          'lane', 'trailer')] + ['_ws.col.Info']
    rows = columns(tshark, tmp_path / 'fp32.pcap', [*names, '_ws.expert.message'])
    fp32 = netfc.Fp32()
    for part, name in enumerate('xyz'):
        third = bits[200 * part:200 * (part + 1)]
        assert [int(text, 0) for text in rows[0][f'netfc.{name}32']] == third.tolist()
        with np.errstate(invalid='ignore'):  # signaling NaN
            values = fp32.decode(third).astype(float)
        np.testing.assert_allclose(np.array(rows[0][f'netfc.{name}.value'], dtype=float), values, rtol=1e-14)
    text = list(map(fp32.text, bits.tolist()))
    assert rows[0]['netfc.lane'] == [
        f'{text[lane]} / {text[200 + lane]} = {text[400 + lane]}' for lane in range(200)]
    assert rows[0]['netfc.x'] == [] and rows[0]['_ws.col.Info'] == [
        'NetFC fp32 div, 200 lanes, reply']
    assert rows[1]['netfc.trailer'] == [b'abc'.hex()] and not rows[1]['_ws.expert.message']
    assert len(rows[2]['netfc.z32']) == 1
    assert rows[2]['_ws.expert.message'] == ['34 bytes, but header and lanes need 36']
    assert len(rows[3]['netfc.x32']) == 1 and rows[3]['netfc.y32'] == []


def test_what_stands_above_an_encoding_is_not_read(tshark, tmp_path):
    packets = [
        NetFC(op=101, format=1, reply=1, x=[0xABCD3E00], z=[0x3FC00000]),
        NetFC(op=104, format=1, reply=1, x=[0x3E00], z=[0x663C]),
        NetFC(op=99, format=8, reply=1, x=[0xFF38], z=[0x3F80]),
        NetFC(op=131, format=8, reply=1, x=[8], z=[0xFF38])]
    switch.write_capture(tmp_path / 'wide.pcap', [
        frames.plain_frame(bytes(packet)) for packet in packets])
    rows = columns(tshark, tmp_path / 'wide.pcap', ['netfc.x.value', 'netfc.z.value'])
    assert [[float(value) for values in row.values() for value in values] for row in rows] == [
        [1.5, 1.5], [1.5, 1.5], [1, 1], [1, 1]]


# ---- filters and ports -----------------------------------------------------------------------


@pytest.mark.parametrize('display_filter, names', [
    ('netfc.flags.overflow == 1 && netfc.flags.divbyzero == 1 && netfc.status.reply == 1',
     {'all flags'}),
    ('netfc.status.code == "lanes"', {'error lanes'}),
    ('netfc.x.value == 1.5 && netfc.op == "div" && netfc.format == "bf16"', {'bf16, op 4'}),
    ('netfc.query.connections > 1000', {'query'}),
    ('netfc.expert.request && netfc.count == 0', {'error length, no lanes'}),
])
def test_filters(tshark, display_filter, names):
    shown = tshark('-r', make_capture.PATH, '-Y', display_filter, '-T', 'fields',
                   '-e', 'frame.number')
    assert {NAMES[int(number) - 1] for number in shown.split()} == names


def test_another_port(tshark, tmp_path):
    packet = frames.ethernet() / frames.ipv4() / frames.udp(frames.lanes(2), dport=5000)
    switch.write_capture(tmp_path / 'port.pcap', [frames.build(packet)])

    def count(*options):
        (row,) = columns(tshark, tmp_path / 'port.pcap', ['netfc.count'], *options)
        return row['netfc.count']

    assert count() == []
    assert count('-o', 'netfc.port:5000') == ['2']
    assert count('-d', 'udp.port==5000,netfc') == ['2']
