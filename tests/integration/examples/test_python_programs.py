# SPDX-License-Identifier: BSD-3-Clause
"""examples/python and examples/scapy: run beside a switch, and without one."""

import re
import subprocess

import pytest

import switch
from example_runs import EXAMPLES, environment

TABLES = EXAMPLES / 'python' / 'tables.py'
AVERAGE = EXAMPLES / 'python' / 'average.py'
SESSION = EXAMPLES / 'scapy' / 'session.py'


def run_alone(*words):
    """Runs a program that talks to nobody, or in vain."""
    return subprocess.run(list(map(str, words)), env=environment(), text=True,
                          capture_output=True, timeout=600, check=False)


def test_tables():
    done = run_alone(TABLES, 'fp16_k1024')
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == 'table log        32768 entries of 16 bits'
    shares = [float(share) for share in re.findall(r'^\w+: (\S+)% of', done.stdout, re.M)]
    assert len(shares) == 4 and all(40 < share < 90 for share in shares)
    assert '  theta = sat(j - i)' in lines and lines[-1] == '1.5 + 2.25 = 3.75'


def test_tables_correctly_rounded():
    done = run_alone(TABLES, 'bf16_exact')
    assert done.stdout.count('100.0% of 100000 results') == 4, done.stderr


def test_tables_of_no_set():
    done = run_alone(TABLES, 'fp16_k3')
    assert done.returncode == 1 and "tables.py: table set 'fp16_k3'" in done.stderr


def test_average(answering):
    said = answering.run(AVERAGE, answering.address, '--port', answering.port)
    datagrams, error, size = re.search(
        r'by way of (\d+) datagrams\nmean error (\S+), mean size (\S+)', said).groups()
    assert int(datagrams) >= 10000 / 243
    assert 0 < float(error) < 1e-3 * float(size)


def test_session(answering, tmp_path):
    said = answering.run(SESSION, answering.address, '--port', answering.port, cwd=tmp_path)
    assert 'z         = [3.75 (0x4380), 3.5 (0x4300)]' in said
    assert 'results: [3.75 3.5 ]' in said and 'a format that does not exist: error format\n' in said
    frame, = switch.read_capture(tmp_path / 'requests.pcap')
    assert bytes.fromhex('4e46 01 01 01 00 0002 00000001 3e00 4200 4080 3800') in frame


@pytest.mark.parametrize('program', [AVERAGE, SESSION])
def test_nobody_answers(program, tmp_path):
    done = run_alone(program, '127.0.0.1', '--port', 9, *(
        ['--write', tmp_path / 'x'] if program == SESSION else []))
    assert done.returncode == 1 and f'{program.name}: ' in done.stderr
    assert 'Traceback' not in done.stderr
