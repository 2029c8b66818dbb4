# SPDX-License-Identifier: BSD-3-Clause
"""Slowloris in P4, on BMv2, against the running switch; its tables without BMv2."""

import bmv2
import hosts
import p4_rows
import slowloris_model
import switch
from p4_entries import complaint, run
from tcp_frames import address, handshake, mixed, query, segment

DIVIDE = 'IngressPipe.netfc.slowloris.divide.'
PAIR = 'table_add IngressPipe.forward IngressPipe.pair 0 => 1\n'
# More than a connection in 256 bytes, and so many of them.
MANY = 40
DEFEND = ('table_add IngressPipe.netfc.slowloris.defend IngressPipe.netfc.slowloris.attack'
          f' 0x1c00->0x7c00 {MANY}->0xffffffff => 1\n')
VICTIM = bytes((10, 0, 0, 50))
OPTIONS = ('-DNETFC_SLOWLORIS', '-DNETFC_COMPACT')


def entries(layout='compact'):
    return run('-t', 'bmv2', '-l', layout, '--slowloris', 'fp16_k1024').stdout


def test_divisions():
    """The tables, walked for counters of all sizes, against the model's quotients."""
    tables = p4_rows.read_bmv2(entries())
    logs = [tables[f'{DIVIDE}log_{counter}.log'] for counter in ('connections', 'bytes')]
    by_prefix = [{(row.keys[0][0] >> (32 - length(row)), length(row)): row.args[0]
                  for row in rows} for rows in logs]
    powers = {row.keys[0][0]: row.args[0] for row in tables[DIVIDE + 'exp']}
    for connections in (1, 2, 3, 255, 16383, 16384, 16387, 99999, 2**31 + 12345):
        for count in (1, 40, 1499, 16385, 10**6, 123456789, 2**32 - 1):
            if connections > 65504 * count:
                continue  # no fp16 number
            i, j = (longest(table, value)
                    for table, value in zip(by_prefix, (connections, count)))
            assert powers[(i - j + 16 >> 5) & 0xFFFF] == slowloris_model.ratio(connections, count)


def length(row):
    return bin(row.keys[0][1]).count('1')


def longest(table, value):
    """What the longest prefix of a value that is there gives."""
    return next(table[value >> (32 - bits), bits] for bits in range(32, 0, -1)
                if (value >> (32 - bits), bits) in table)


def test_other_formats_have_no_queries():
    assert 'in fp16' in complaint('-t', 'bmv2', '--slowloris', 'bf16_k128')


@bmv2.needs_bmv2
@hosts.needs_namespaces
def test_bmv2(tmp_path):
    """Both ways of the program with one filling of its tables, which takes long."""
    with bmv2.running(tmp_path, OPTIONS, PAIR + DEFEND + entries()) as (first, second):
        check_every_register_after_every_packet(first, second)
        check_an_attack_is_cut_off(first, second)


def check_every_register_after_every_packet(first, second):
    """Connections that begin and end in all ways, queries for both ends after each packet."""
    sent = []
    for frame, ends in mixed(1, 800):
        sent += [frame, *map(query, ends)] if bmv2.can_be_sent(frame) else []
    expected = switch.run([sent, []], options=('--slowloris',), more_memory=256).outputs[1]
    switch.assert_same(bmv2.send(first, second, sent), expected)
    most = max(slowloris_model.struct.unpack_from('>I', frame, 60)[0]
               for frame in expected if frame[42:44] == b'NF')
    assert 3 < most < MANY


def check_an_attack_is_cut_off(first, second):
    """From one connection too many that hardly says a thing on, nothing more reaches the server."""
    attack = [frame for number in range(2 * MANY)
              for frame in handshake(address(number), 2000, VICTIM)]
    opened = [number for number, frame in enumerate(attack) if frame[47] == slowloris_model.SYN]
    elsewhere = segment(address(1), bytes((10, 0, 0, 99)), (1000, 80), slowloris_model.SYN)
    passed = [frame for number, frame in enumerate(attack)
              if number < opened[MANY - 1] or frame[30:34] != VICTIM]
    sent = [*attack, elsewhere]
    assert bmv2.send(first, second, sent, len(passed) + 1) == [*passed, elsewhere]
