# SPDX-License-Identifier: BSD-3-Clause
"""Divisions of binary32 in two passes: the programs for BMv2 and for Tofino as Python, with the
replies of dpdk-netfc. No P4 compiler is needed."""

import struct

import pytest

import bmv2
import fp32_frames
import frames
import oracle
import p4_python
import p4_rows
import switch
import test_p4_twin_fp32 as twin
from p4_targets import exported

pytestmark = pytest.mark.long

STRUCTURED = 60  # pairs of an operation
SECOND_PASS = 2
CARRIED = struct.pack('>HH3I', SECOND_PASS, 0, 1, 2, 3)
PIPE_1 = 128  # its first port
PROGRAMS = {'v1model': (p4_python.Switch, 2), 'tna': (p4_python.TnaSwitch, 1)}
DIVISION = frames.plain_frame(fp32_frames.request(oracle.DIV))


def lanes_of(architecture):
    return PROGRAMS[architecture][1]


@pytest.fixture(name='programs', scope='module')
def fill_programs():
    """Architecture -> its program, between the ports 0 and 1, and 128 and 129."""
    made, rows = {}, p4_rows.read_bmv2(exported('bmv2', fp32_frames.NAME, '--lanes', 2))
    for architecture, (kind, lanes) in PROGRAMS.items():
        program = kind(bmv2.PROGRAM.with_name(f'netfc_{architecture}.p4'), '-DNETFC_FORMAT=5',
                       '-DNETFC_LAST_OP=4', '-DNETFC_PASSES=2', f'-DNETFC_LANES={lanes}')
        program.fill({path: entries for path, entries in rows.items()
                      if f'.lane{lanes}.' not in path})
        [[key]] = [row.keys for row in rows['IngressPipe.netfc.loaded']]
        program.table('IngressPipe.netfc.loaded').add(
            'complete', [(key[0] - 2 + lanes, None)], (), 0)
        for port in (0, 1, PIPE_1, PIPE_1 + 1):
            program.table('IngressPipe.forward').add('pair', [(port, None)], (port ^ 1,), 0)
        made[architecture] = program
    return made


@pytest.mark.parametrize('architecture', PROGRAMS)
def test_every_byte(programs, architecture):
    lanes, tna = lanes_of(architecture), architecture == 'tna'
    named = [(case, frame) for case, frame in fp32_frames.zoo()
             if bmv2.can_be_sent(frame) and (not tna or bmv2.is_whole(frame))]
    sent = [frame for _, frame in named] + twin.arithmetic(lanes, STRUCTURED, special=7)
    expected = [bmv2.as_computed_by(frame, reply, lanes) for frame, reply in
                zip(sent, switch.run([sent, []], tables=(fp32_frames.NAME,)).outputs[1])]
    arrived, passes = [], []
    for frame in sent:
        [(port, reply)] = programs[architecture].receive(frame)
        assert port == 1
        arrived.append(reply)
        passes.append(programs[architecture].passes)
    names = [case for case, _ in named] + ['arithmetic'] * (len(sent) - len(named))
    switch.assert_same(arrived, expected, names)
    assert set(passes) == {1, 2}
    assert all(frame != reply for frame, reply, took in zip(sent, arrived, passes) if took == 2)


def test_the_same_pipe(programs):
    """A packet goes round in the pipe that it came in by, and leaves by the right port."""
    [(port, reply)] = programs['tna'].receive(DIVISION, PIPE_1)
    assert port == PIPE_1 + 1 and [(1, reply)] == programs['tna'].receive(DIVISION, 0)


@pytest.mark.parametrize('architecture', PROGRAMS)
def test_reflected_once(programs, architecture):
    programs[architecture].table('IngressPipe.forward').add('reflect', [(2, None)], (), 0)
    [(port, reply)] = programs[architecture].receive(DIVISION, 2)
    back = bytearray(programs[architecture].receive(DIVISION, 0)[0][1])
    oracle.reflect(back, oracle.parse(DIVISION))
    assert (port, reply) == (2, bytes(back)) and programs[architecture].passes == 2


# ---- frames that claim to have been round --------------------------------------------------------


@pytest.mark.parametrize('architecture', PROGRAMS)
def test_claims_from_outside(programs, architecture):
    """What looks like the second pass's headers, on a port, is any frame: it is forwarded."""
    for frame in (CARRIED + DIVISION, CARRIED, DIVISION + CARRIED[:4]):
        replies = programs[architecture].receive(frame)
        assert replies == [(1, frame)] or frame.startswith(DIVISION)
        assert programs[architecture].passes == 1 + frame.startswith(DIVISION)


@pytest.mark.parametrize('frame', [
    DIVISION, CARRIED[:3], CARRIED[:8], b'', b'\0\1' + CARRIED[2:] + DIVISION,
    b'\0\3' + CARRIED[2:] + DIVISION, b'\xff\xff' + CARRIED[2:] + DIVISION])
def test_others_on_the_recirculation_port(programs, frame):
    """Frames without the second pass's headers leave by no port."""
    assert programs['tna'].receive(frame, PIPE_1 + p4_python.RECIRCULATION_PORT) == []


def test_no_third_pass(programs):
    """Whatever such a frame carries, it leaves then."""
    again = CARRIED + DIVISION
    [(port, reply)] = programs['tna'].receive(again, p4_python.RECIRCULATION_PORT)
    assert programs['tna'].passes == 1 and port == 1 and len(reply) == len(DIVISION)
