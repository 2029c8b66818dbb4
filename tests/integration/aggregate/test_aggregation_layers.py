# SPDX-License-Identifier: BSD-3-Clause
"""The scapy layer and the Wireshark dissector of aggregation, and the numbers that they share with C."""

import os
import re
import struct
import subprocess

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

import project_scripts
from netfc import aggregation, metrics
from netfc.scapy_aggregation import Aggregation

HEADERS = project_scripts.PROJECT / 'lib' / 'aggregate'
SCRIPT = project_scripts.PROJECT / 'packaging' / 'wireshark' / 'netfc_aggregation.lua'
PLACE = aggregation.Worker(job=513, token=0x0102030405060708, number=3, session=0x1112131415161718)
# From version 4.4 on, Wireshark loads no script for root: be nobody, who can read root's files.
AS_USER = [] if os.geteuid() else [
    'setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups',
    '--inh-caps', '+dac_override', '--ambient-caps', '+dac_override']


def enum_of(header, name, prefix):
    """The members of an enum in a C header, by name in lower case without the prefix."""
    text = (HEADERS / header).read_text()
    body = re.search(r'enum ' + name + r' \{(.*?)\n\}', text, re.DOTALL)[1]
    return {match[1].lower(): int(match[2])
            for match in re.finditer(prefix + r'(\w+) = (\d+)', body)}


def test_numbers_are_those_of_the_library():
    assert enum_of('aggregate_format.h', 'aggregate_op', 'AGGREGATE_') == aggregation.OPS
    assert enum_of('aggregate_format.h', 'aggregate_format', 'AGGREGATE_') == aggregation.FORMAT_IDS
    text = (HEADERS / 'aggregate_wire.h').read_text()
    for macro, names in ('REASONS', aggregation.REASONS), ('ABSENCES', aggregation.ABSENCES):
        listed = re.search(fr'#define AGGREGATE_{macro}\(X\)(.*?)\n\n', text, re.DOTALL)[1]
        pairs = re.findall(r'X\(\w+, (\d+), "([\w-]+)"', listed)
        assert {int(value): name for value, name in pairs} == names
    assert f'AGGREGATE_MISSING = {aggregation.MISSING},' in text
    assert f'AGGREGATE_UDP_PORT {aggregation.UDP_PORT} ' in text
    assert f'AGGREGATE_HEADER_BYTES {aggregation.HEADER.size} ' in text


def test_actions_are_those_of_the_library():
    text = (HEADERS / 'aggregate_action.h').read_text()
    names = re.findall(r'^\tX\([A-Z_]+, (\w+), [A-Z]+, [A-Z_]+,', text, re.MULTILINE)
    assert tuple(names) == metrics.AGGREGATE_ACTIONS


def test_scapy_builds_what_the_protocol_says():
    values = [1.5, -2.25]
    made = bytes(Aggregation(op='sum', format='fp32', id=9, job=513, worker=3,
                             session=PLACE.session, values=values))
    assert made == aggregation.chunk(PLACE, 33, 5, 9, struct.pack('>2f', *values))
    joining = Aggregation(op='join', format=0, id=1, job=513, worker=3, token=PLACE.token,
                          workers=4, slots=8, bytes=1448, cookie=5)
    assert bytes(joining) == aggregation.join(PLACE, 4, 8, 1448, cookie=5, message_id=1)
    leaving = Aggregation(op='leave', format=0, id=1, job=513, worker=3, session=PLACE.session,
                          reason=9)
    assert bytes(leaving) == aggregation.leave(PLACE, message_id=1, reason=9)


def test_scapy_reads_what_it_is_given():
    payload = aggregation.chunk(PLACE, 34, 1, 7, struct.pack('>3e', 1, 2, 3))
    packet = Ether() / IP() / UDP(sport=1, dport=aggregation.UDP_PORT) / payload
    layer = Ether(bytes(packet))[Aggregation]
    assert (layer.op, layer.count, layer.values) == (34, 3, [0x3c00, 0x4000, 0x4200])
    reply = layer.copy()
    reply.reply, reply.code, reply.reason = 1, aggregation.CODE, 67
    assert reply.answers(layer) and 'unknown 60 3' in reply.mysummary()
    reply.values = [0x0102, 0, 0]
    assert 'late 3' in reply.mysummary()


def test_scapy_reads_copies():
    ours = Aggregation(aggregation.chunk(PLACE, 37, 5, 9, bytes(8), aggregation.OWNER + 3))
    theirs = Aggregation(aggregation.chunk(PLACE, 37, 5, 9, b'', aggregation.OWNER + 2, count=2))
    assert ours.mysummary().endswith("chunk 9, 2 fp32, worker 3's, request")
    assert theirs.mysummary().endswith("chunk 9, 2 fp32, worker 2's, request")
    assert (ours.values, theirs.values) == ([0, 0], [])
    theirs.reply, theirs.reason = 1, 2
    assert theirs.mysummary().endswith('reply: acknowledgement')
    theirs.code, theirs.reason, theirs.count = aggregation.CODE, 64 + 5, 0x0107
    assert theirs.mysummary().endswith('reply: late 5')


def test_scapy_reads_what_a_join_is_granted():
    """In the cookie's place."""
    payload = bytearray(aggregation.join(PLACE, 4, 8, 1448, cookie=5))
    asked = Aggregation(bytes(payload))
    assert (asked.token, asked.cookie, asked.granted_session) == (PLACE.token, 5, None)
    payload[5] = 0x80
    granted = Aggregation(bytes(payload))
    assert granted.answers(asked)
    assert (granted.token, granted.cookie, granted.granted_session) == (PLACE.token, None, 5)
    assert bytes(granted) == payload


@pytest.fixture(name='dissected', scope='module')
def dissect(tmp_path_factory):
    """What tshark prints of a request, a refusal, a join, what is granted, and a packet that was cut."""
    chunk = aggregation.chunk(PLACE, 33, 5, 7, struct.pack('>2f', 1.5, -2))
    refusal = bytearray(chunk)
    refusal[5], refusal[15], refusal[24:26] = 0xf0, 64 + 2, (1, 7)
    join = aggregation.join(PLACE, 4, 8, 1448, cookie=0x99)
    copy = aggregation.chunk(PLACE, 37, 5, 7, b'', aggregation.OWNER + 2, count=2)
    late, done = bytearray(copy), bytearray(copy)
    late[5], late[15], late[6:8] = 0xf0, 64 + 2, (1, 7)
    done[5], done[15] = 0x80, 2
    payloads = [chunk, bytes(refusal), join, join[:5] + b'\x80' + join[6:], chunk[:-2],
                copy, bytes(late), bytes(done)]
    folder = tmp_path_factory.mktemp('capture')
    folder.chmod(0o755)
    wrpcap(str(folder / 'pcap'), [Ether() / IP() / UDP(sport=1, dport=20041) / payload
                                  for payload in payloads])
    command = [*AS_USER, 'tshark', '-r', folder / 'pcap', '-V', '-X', f'lua_script:{SCRIPT}']
    environment = {**os.environ, 'HOME': str(folder), 'XDG_CONFIG_HOME': str(folder)}
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=True,
                          stdin=subprocess.DEVNULL, timeout=600)
    assert 'Lua' not in done.stderr, done.stderr
    return done.stdout.split('\nFrame ')


def test_wireshark_shows_requests(dissected):
    request, refusal, join, granted, cut, copy, late, done = dissected
    assert 'sum job 513 worker 3 chunk 7, 2 fp32, request' in request
    assert 'Value: 1.5' in request and 'Value: -2' in request
    assert 'Session: 0x1112131415161718' in request and 'Token' not in request
    assert 'reply: worker 2 is late' in refusal and 'Detail: 7' in refusal
    assert 'Token: 0x0102030405060708' in join and 'Session' not in join
    assert 'Cookie: 0x0000000000000099' in join and 'Session: 0x0000000000000099' in granted
    assert 'Slots: 8' in join and 'Bytes of values in a chunk: 1448' in join
    assert 'Values are missing' in cut
    assert "copy job 513 worker 3 chunk 7, 2 fp32, worker 2's, request" in copy
    assert 'Owner: 2' in copy and 'Values are missing' not in copy
    assert 'reply: worker 2 is late' in late and 'Detail: 7' in late
    assert 'reply: acknowledgement' in done and 'Values are missing' not in done
