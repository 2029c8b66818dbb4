# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration of a tree of switches, as its user runs it, with fewer values."""

import json
import subprocess

import needs
import project_scripts
import pytest
import sanitized
from aggregation import tree

VALUES = 50_000
TIMEOUT_S = 1200


@needs.needs_namespaces
def test_exact_sums_and_a_leaf_that_is_killed(tmp_path):
    figures_path = tmp_path / 'figures.json'
    done = subprocess.run(
        [project_scripts.SCRIPTS / 'tree-demo', '--values', str(VALUES), '--json', figures_path],
        env=sanitized.environment(), text=True, capture_output=True, stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(figures_path.read_text())
    assert figures['right'] == figures['same_again'] == [VALUES] * tree.WORKERS
    told = {int(rank): told for rank, told in figures['told'].items()}
    assert sorted(told) == list(range(tree.WORKERS))
    for rank in range(tree.OF_EACH):
        assert (told[rank]['status'], told[rank]['leaf']) == ('silent', tree.KILLED)
    for rank in range(tree.OF_EACH, tree.WORKERS):
        assert tree.address_of(tree.KILLED) in told[rank]['text']
    assert f'{VALUES:,} of {VALUES:,} sums correctly rounded, 100.00 %' in done.stdout


@pytest.mark.parametrize('leaf, text, said', [
    (1, 'Leaf 1 of 2 is silent', None),
    (0, 'Leaf 0 of 2 is silent', 'worker 0 was not told that leaf 1 is gone'),
    (None, 'Worker 2 is silent', 'worker 0 was not told that leaf 1 is gone')])
def test_a_leaf_that_was_not_named(leaf, text, said):
    told = {0: {'leaf': leaf, 'text': text},
            4: {'leaf': None, 'text': f'Switch {tree.address_of(1)} does not answer'}}
    reason = tree.not_told({'told': told})
    assert reason is None if said is None else said in reason


def test_a_number_that_makes_no_sense_is_refused():
    done = subprocess.run(
        [project_scripts.SCRIPTS / 'tree-demo', '--values', '0'], env=sanitized.environment(),
        text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S, check=False)
    assert done.returncode != 0 and '--values: give 1 to 100,000,000' in done.stderr
