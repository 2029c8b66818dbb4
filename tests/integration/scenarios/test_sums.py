# SPDX-License-Identifier: BSD-3-Clause
"""The demonstrations of sums, in one switch and in a tree, as their user runs them, with fewer values."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess

import hosts
import needs
import project_scripts
import pytest
import sanitized
from aggregation import demo, tree

VALUES = 50_000
TIMEOUT_S = 1200


def run(*words):
    """The ended demonstration."""
    return project_scripts.run('demo', *words, **sanitized.environment())


def run_with_figures(name, path):
    """What it printed, and its figures."""
    done = run(name, '--values', str(VALUES), '--json', path)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads(path.read_text())


@needs.needs_namespaces
def test_exact_sums_and_a_worker_that_is_killed(tmp_path):
    said, figures = run_with_figures('sums', tmp_path / 'figures.json')
    assert figures['switch'] == figures['same_again'] == [VALUES] * 4
    assert 0 < figures['orders_differ'] < VALUES
    assert all(right < VALUES for right in figures['orders'])
    assert sorted(figures['told']) == ['0', '1', '3']
    for told in figures['told'].values():
        assert (told['status'], told['worker']) == ('silent', 2)
    assert 'Worker 2 of job 0 is silent' in said
    assert f'{VALUES:,}   100.00 %' in said


@needs.needs_namespaces
@pytest.mark.parametrize('how', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_what_ends_a_demonstration_leaves_nothing_of_it(tmp_path, how):
    """No process, and no namespace: the file that all its processes have open is free again."""
    with (tmp_path / 'said').open('w+') as said:
        demonstration = subprocess.Popen(
            [project_scripts.SCRIPTS / 'demo', 'sums', '--values', '100000000'],
            env=sanitized.environment() | {'TMPDIR': str(tmp_path)}, text=True,
            stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        hosts.wait_until(lambda: list(tmp_path.glob('netfc-*/switch')), 'a switch')
        demonstration.send_signal(how)
        assert demonstration.wait(TIMEOUT_S) == 128 + how
        said.seek(0)
        assert said.read().endswith(f'scripts/demo sums: ended by {how.name}\n')
    hosts.wait_until(lambda: not processes_with(tmp_path), 'the end of its processes')
    assert list(tmp_path.iterdir()) == [tmp_path / 'said']
    assert not list(pathlib.Path('/run/netns').glob(f'netfc-{demonstration.pid}-*'))


def processes_with(folder):
    """Those that have something of a folder open."""
    def opens(process):
        with contextlib.suppress(OSError):
            return any(os.readlink(each).startswith(f'{folder}/') for each in process.glob('fd/*'))
        return False

    return list(filter(opens, pathlib.Path('/proc').glob('[0-9]*')))


@pytest.mark.slow
@needs.needs_namespaces
def test_exact_sums_and_a_leaf_that_is_killed(tmp_path):
    said, figures = run_with_figures('tree', tmp_path / 'figures.json')
    assert figures['right'] == figures['same_again'] == [VALUES] * tree.WORKERS
    told = {int(rank): told for rank, told in figures['told'].items()}
    assert sorted(told) == list(range(tree.WORKERS))
    for rank in range(tree.OF_EACH):
        assert (told[rank]['status'], told[rank]['leaf']) == ('silent', tree.KILLED)
    for rank in range(tree.OF_EACH, tree.WORKERS):
        assert tree.address_of(tree.KILLED) in told[rank]['text']
    assert f'{VALUES:,} of {VALUES:,} sums correctly rounded, 100.00 %' in said


@pytest.mark.slow
@needs.needs_namespaces
def test_trees_of_each_depth_on_bad_links(tmp_path):
    """Few values; all packets are as often lost, doubled and overtaken as with millions."""
    done = run('tree-loss', '--lanes', '10000', '--json', tmp_path / 'figures')
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / 'figures').read_text())
    assert sorted(found) == ['1', '2', '3']
    for levels, figures in found.items():
        assert figures['wrong'] == 0 and figures['lanes'] > 5000
        assert min(figures['workers_links'].values()) > 0
        assert (min(figures['switches_links'].values()) > 0) == (levels != '1')


@pytest.mark.parametrize('right, said', [
    (1_000_000, '100.00 %'), (999_999, '99.99 %'), (999_995, '99.99 %'), (90_500, '9.05 %'), (0, '0.00 %')])
def test_shares_are_not_rounded_up(right, said):
    assert demo.percent(right, 1_000_000) == said


def test_nearly_all_is_not_all():
    figures = {'values': 1_000_000, 'switch': [1_000_000, 999_995], 'orders': [999_999, 5],
               'orders_differ': 7, 'example': {'value': 1, 'switch': 1.5, 'orders': [1.5, 1.25]}}
    rows = [line.split() for line in demo.describe_sums(figures).splitlines()]
    shares = [row[row.index('%') - 1] for row in rows if '%' in row]
    assert shares == ['100.00', '99.99', '99.99', '0.00']


@pytest.mark.parametrize('status, worker, text, said', [
    ('silent', 2, 'Worker 2 of job 0 is silent', None),
    ('silent', 2, 'Worker 2 (and 1 more) of job 0 is silent', 'too busy'),
    ('silent', 3, 'Worker 3 of job 0 is silent', 'too busy'),
    ('timeout', None, 'The switch is gone', 'was not told that one is silent, but: The switch is gone')])
def test_a_switch_that_cannot_tell_who_was_killed(status, worker, text, said):
    told = {'status': 'silent', 'worker': 2, 'text': 'Worker 2 of job 0 is silent'}
    reason = demo.not_told({'told': {0: told, 1: {'status': status, 'worker': worker, 'text': text}}})
    assert reason is None if said is None else said in reason


@pytest.mark.parametrize('leaf, text, said', [
    (1, 'Leaf 1 of 2 is silent', None),
    (0, 'Leaf 0 of 2 is silent', 'worker 0 was not told that leaf 1 is gone'),
    (None, 'Worker 2 is silent', 'worker 0 was not told that leaf 1 is gone')])
def test_a_leaf_that_was_not_named(leaf, text, said):
    told = {0: {'leaf': leaf, 'text': text},
            4: {'leaf': None, 'text': f'Switch {tree.address_of(1)} does not answer'}}
    reason = tree.not_told({'told': told})
    assert reason is None if said is None else said in reason


@pytest.mark.parametrize('name', ['sums', 'tree'])
def test_a_number_that_makes_no_sense_is_refused(name):
    done = run(name, '--values', '0')
    assert done.returncode != 0 and "--values: '0': expected 1 to 100,000,000" in done.stderr
