# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration of aggregation, as its user runs it, with fewer values."""

import json
import subprocess

import needs
import project_scripts
import pytest
import sanitized
from aggregation import demo

VALUES = 50_000
TIMEOUT_S = 1200


@needs.needs_namespaces
def test_exact_sums_and_a_worker_that_is_killed(tmp_path):
    figures_path = tmp_path / 'figures.json'
    done = subprocess.run(
        [project_scripts.SCRIPTS / 'aggregate-demo', '--values', str(VALUES), '--json',
         figures_path], env=sanitized.environment(), text=True, capture_output=True,
        stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(figures_path.read_text())
    assert figures['switch'] == figures['same_again'] == [VALUES] * 4
    assert 0 < figures['orders_differ'] < VALUES
    assert all(right < VALUES for right in figures['orders'])
    assert sorted(figures['told']) == ['0', '1', '3']
    for told in figures['told'].values():
        assert (told['status'], told['worker']) == ('silent', 2)
    assert 'Worker 2 of job 0 is silent' in done.stdout
    assert f'{VALUES:,}   100.00 %' in done.stdout


@pytest.mark.parametrize('right, said', [
    (1_000_000, '100.00 %'), (999_999, '99.99 %'), (999_995, '99.99 %'), (90_500, '9.05 %'), (0, '0.00 %')])
def test_shares_are_not_rounded_up(right, said):
    assert demo.percent(right, 1_000_000) == said


@pytest.mark.parametrize('status, worker, text, said', [
    ('silent', 2, 'Worker 2 of job 0 is silent', None),
    ('silent', 2, 'Worker 2 (and 1 more) of job 0 is silent', 'too busy'),
    ('silent', 3, 'Worker 3 of job 0 is silent', 'too busy'),
    ('timeout', None, 'The switch is gone', 'was not told that one is silent, but: The switch is gone')])
def test_a_switch_that_cannot_tell_who_was_killed(status, worker, text, said):
    told = {'status': 'silent', 'worker': 2, 'text': 'Worker 2 of job 0 is silent'}
    reason = demo.not_told({'told': {0: told, 1: {'status': status, 'worker': worker, 'text': text}}})
    assert reason is None if said is None else said in reason


def test_a_number_that_makes_no_sense_is_refused():
    done = subprocess.run(
        [project_scripts.SCRIPTS / 'aggregate-demo', '--values', '0'],
        env=sanitized.environment(), text=True, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_S, check=False)
    assert done.returncode != 0 and '--values: give 1 to 100,000,000' in done.stderr
