# SPDX-License-Identifier: BSD-3-Clause
"""netfc-conform asks the P4 programs, which run as Python behind a UDP socket."""

import dataclasses
import json
import subprocess
import sys

import pytest

import p4_bridge
import project_scripts
import sanitized
import switch
import tiers
from p4_conformance import PROGRAMS

PROGRAM = project_scripts.PROGRAMS / 'netfc-conform'


def checks_of(bridge, *words):
    """What came of the kit's checks, by their numbers, none of which may fail."""
    done = subprocess.run(
        [sys.executable, PROGRAM, p4_bridge.HOST, '--port', str(bridge.port), '--aggregate-port',
         str(bridge.port), '--json', '--timeout', '60', *words],
        text=True, capture_output=True, check=False, timeout=switch.TIMEOUT_S,
        env=switch.ENVIRONMENT | sanitized.environment())
    assert 'Traceback' not in done.stderr, done.stderr
    checks = json.loads(done.stdout)['checks']
    wrong = [(check['number'], check['verdict'], check['detail'], check.get('decoded')) for check in checks
             if check['verdict'] not in ('passed', 'not offered')]
    assert not wrong and done.returncode == 0
    return {check['number']: check['verdict'] for check in checks}


@pytest.mark.parametrize('name, only', [
    ('fp16-compact', '2001-2018,1101'), *tiers.later('long', ('bf16-exact', '2009,1033'))])
def test_what_it_offers_passes(name, only):
    program = PROGRAMS[name]
    with p4_bridge.Bridge(program.as_python(p4_bridge.HOST)) as bridge:
        verdicts = checks_of(bridge, *program.words, '--only', only)
    computed = [verdict for number, verdict in verdicts.items() if number < 2000]
    assert set(computed) == {'passed'}
    assert verdicts[2009] == 'passed'  # lanes


@pytest.mark.parametrize('form, passed', [
    ('fp16', {4001, 4005, 4006, 4007, 4010, 4011, 4012, 4101, 4102, 4103, 4104, 4105, 4106, 4107, 4108, 4201}),
    *tiers.later('slow', ('int32', {4101, 4107, 4206}), ('fp8_e4m3', {4101, 4107, 4208}))])
def test_sums_that_it_offers_pass(form, passed):
    program = PROGRAMS[f'sums-{form}']
    with p4_bridge.Bridge(program.as_python(p4_bridge.HOST), program.udp_port) as bridge:
        verdicts = checks_of(bridge, *program.words)
    assert passed - {number for number, verdict in verdicts.items() if verdict == 'passed'} == set()


@pytest.mark.long
def test_a_leaf_without_a_parent():
    """Workers that name more than the job has are refused."""
    program = PROGRAMS['sums-unrounded']
    leaf = dataclasses.replace(program, options=(*program.options, '-DNETFC_LEAF'))
    with p4_bridge.Bridge(leaf.as_python(p4_bridge.HOST), leaf.udp_port) as bridge:
        verdicts = checks_of(bridge, *leaf.words[2:], '--only', '4005,4016')
    assert verdicts == {4005: 'passed', 4016: 'passed'}
