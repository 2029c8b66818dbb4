# SPDX-License-Identifier: BSD-3-Clause
"""A job of two workers as the switch captures it, read by tshark: all of it is known, nothing malformed."""

import collections
import socket
import struct

import aggregation_workers as workers
import hosts
import tshark
from needs import needs_program
from netfc.aggregation import UDP_PORT
from netfc.control import Control

CHUNKS = 3
LAYER = 'netfc_aggregation'
FIELDS = (f'{LAYER}.op', f'{LAYER}.status.reply', f'{LAYER}.reason', f'{LAYER}.float', '_ws.malformed',
          f'{LAYER}.expert.cut', f'{LAYER}.expert.part')
JOIN, SUM, LEAVE = '32', '33', '40'

pytestmark = [hosts.needs_namespaces, needs_program('tshark')]


def summed(host):
    """Joins, chunks of 1.5 and 2.25 (a lane each), and leaves."""
    team = [workers.Worker(host.udp(socket.AF_INET), hosts.SWITCH_IP, number) for number in range(2)]
    workers.join_all(team)
    for chunk in range(CHUNKS):
        for worker, value in zip(team, (1.5, 2.25)):
            worker.send_chunk(chunk, struct.pack('>f', value))
        assert {worker.receive().code for worker in team} == {0}
    for worker in team:
        worker.leave()


def capture(folder):
    """The capture's file."""
    path, control = folder / 'job.pcapng', folder / 'control'
    options = ['--address', f'{hosts.SWITCH_IP}/24', '--aggregate', 'jobs=1', '--control', control]
    with hosts.at_tap(folder, options) as (host, live):
        with Control(control) as switch:
            switch.do('capture', action='start', file=str(path))
            summed(host)
            switch.do('capture', action='stop')
        live.stop()
    return path


def test_a_job_as_tshark_shows_it(tmp_path):
    chosen = [word for field in FIELDS for word in ('-e', field)]
    printed = tshark.run(tmp_path, 'netfc_aggregation.lua', '-r', capture(tmp_path), '-Y',
                         f'udp.port == {UDP_PORT}', '-T', 'fields', '-E', 'separator=|', *chosen)
    rows = [line.split('|') for line in printed.splitlines()]
    assert all(row[4:] == ['', '', ''] for row in rows)  # nothing is malformed or cut
    seen = collections.Counter((op, reply in ('1', 'True'), value) for op, reply, reason, value, *_ in rows
                               if reason in ('', '0'))
    assert seen[SUM, False, '1.5'] == seen[SUM, False, '2.25'] == CHUNKS
    assert seen[SUM, True, '3.75'] == 2 * CHUNKS
    assert seen[JOIN, False, ''] >= 2 and seen[JOIN, True, ''] >= 2 and seen[LEAVE, False, ''] >= 2
    assert {op for op, *_ in rows} == {JOIN, SUM, LEAVE}
