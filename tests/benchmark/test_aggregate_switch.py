# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/aggregate-bench runs: the switch under a load that comes from memory."""

import json
import subprocess

import pytest

import switch

PROGRAM = switch.BUILD / 'app' / 'netfc-aggregate-switch'
MEMORY = ['--', '--no-huge', '-m', '256', '--no-pci']


def execute(*options):
    return subprocess.run([PROGRAM, *map(str, options)], env=switch.ENVIRONMENT, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, check=False,
                          timeout=switch.TIMEOUT_S)


def measure(folder, *options):
    """Runs it for a moment; returns what it measured."""
    path = folder / 'report.json'
    done = execute('--seconds', '0.1', '--slots', 64, '--ahead', 16, '--json', path, *options,
                   *MEMORY, '--file-prefix', folder.name)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(path.read_text())


@pytest.mark.parametrize('options', [
    ['--format', 'fp16'], ['--format', 'bf16', '--data', 'sparse', '--op', 'mean'],
    ['--workers', 3, '--bytes', 100, '--plain'], ['--lcores', 2], ['--lcores', 2, '--handed-over']],
    ids=lambda options: ' '.join(map(str, options)))
def test_results_are_checked(tmp_path, options):
    report = measure(tmp_path, *options)
    assert report['results'] > 0 and report['wrong'] == 0
    if '--handed-over' not in options:  # next to nothing is left of a busy machine's thread
        assert report['values_per_second'] > 0
    assert report['counted']['completed'] * report['workers'] == report['results']


def test_a_switch_that_does_not_add_is_measured_too(tmp_path):
    report = measure(tmp_path, '--no-adding')
    assert not report['adding'] and report['results'] > 0


def test_bad_packets_are_counted(tmp_path):
    report = measure(tmp_path, '--flood', 3)
    assert report['wrong'] == 0
    assert min(report['bad'].values()) > 0
    assert report['counted']['stale_session'] <= report['bad']['stale_session']


@pytest.mark.parametrize('options, message', [
    (['--workers', 65], 'a number from 1 to 64'),
    (['--format', 'fp64'], "a format's name"),
    (['--slots', 48], 'not a power of two'),
    (['--data', 'noise'], 'gradients'),
])
def test_bad_options(options, message):
    done = execute(*options)
    assert done.returncode == 1 and message in done.stderr
