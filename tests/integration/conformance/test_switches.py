# SPDX-License-Identifier: BSD-3-Clause
"""scripts/test-switches: which kinds there are, what it says of them, and the table of docs/conformance.md."""

import re
import runpy
import subprocess
import sys

import pytest

import hosts
import project_scripts
import sanitized
import switch

SCRIPT = project_scripts.PROJECT / 'scripts' / 'test-switches'


@pytest.fixture(name='script', scope='module')
def loaded():
    return runpy.run_path(str(SCRIPT))


def ask(*words, **environment):
    return subprocess.run([sys.executable, SCRIPT, *words], text=True, capture_output=True, check=False,
                          env={**switch.ENVIRONMENT, **environment}, timeout=switch.TIMEOUT_S)


@sanitized.without_sanitizers
@hosts.needs_namespaces
def test_kinds_that_pass_and_one_that_fails():
    done = ask('af_packet', 'python-fp16-compact', '--only', '2001,3005')
    veth, python = done.stdout.splitlines()[2:]
    assert done.returncode == 0 and done.stderr == '', done
    assert re.match(r'\| dpdk-netfc on AF_PACKET and veth \| 1 of 2 \| 3005: VLAN tags of type 0x88A8 .* \| +\| \d+ s \|$',
                    veth), veth
    assert re.match(r'\| `netfc_v1model.p4`, compiled with `-DNETFC_LANES=8 -DNETFC_COMPACT`, as Python \| 1 of 2 \| none '
                    r'\| .*: 3005 \|', python), python


@hosts.needs_namespaces
def test_programs_that_are_missing():
    """What nobody packages is not where packages are."""
    done = ask('bmv2-fp16-compact', PATH='/usr/sbin:/usr/bin:/sbin:/bin')
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 2
    assert done.stderr == ('bmv2-fp16-compact is left out: not on the PATH: p4c-bm2-ss, simple_switch,'
                           ' simple_switch_CLI\n')


@pytest.mark.parametrize('words, said', [
    (['tun'], "no kind of switch 'tun': tap, "), (['--write', '--only', '1'], 'leave --only out')])
def test_wrong_usage(words, said):
    done = ask(*words)
    assert done.returncode == 1 and said in done.stderr


def test_no_build(tmp_path):
    assert 'usage: ' in ask('--help', NETFC_BUILD=str(tmp_path)).stdout
    done = ask('tap', NETFC_BUILD=str(tmp_path))
    assert done.returncode == 1 and 'is not the folder of a build' in done.stderr and 'Traceback' not in done.stderr


def test_what_fails_without_a_reason(script):
    def check(number, verdict, detail=''):
        return {'number': number, 'name': 'n', 'verdict': verdict, 'detail': detail}

    said = {'counts': {'passed': 1}, 'checks': [
        check(2001, 'passed'), check(2002, 'not offered', 'a | b'), check(2004, 'not offered', 'a | b'),
        check(3005, 'failed', 'tags'), check(3008, 'failed', 'x'), check(3009, 'undecided', 'y')]}
    line, surprises = script['row']('af_packet', said, 61.4)
    assert '| 1 of 6 | 3005, 3008: VLAN tags' in line and '| a \\| b: 2002, 2004 | 61 s |' in line
    assert surprises == ['3008 n: failed: x', '3009 n: undecided: y']


def test_numbers(script):
    assert script['numbers']([2003, 2001, 2002, 2005, 1101]) == '1101, 2001-2003, 2005'


def test_the_documents_table(script):
    """All rows are of kinds that there are, in their order; one that is asked anew replaces its own."""
    document = script['DOCUMENT'].read_text()
    rows = script['TABLE'].search(document)[0].splitlines()
    titles = [line.split(' | ')[0].removeprefix('| ') for line in rows[2:]]
    assert tuple(rows[:2]) == script['HEADING'] and titles
    assert titles == [title for title in map(script['title'], script['KINDS']) if title in titles]
    new = f"| {script['title']('tap')} | all |"
    changed = script['written']({'tap': new})
    assert changed == document.replace(next(line for line in rows if line.startswith('| dpdk-netfc on a TAP |')), new)
