# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration of training, as its user runs it, in its short form."""

import json

import needs
import pytest

import train_demo

WAYS = {'netfc', 'gloo', 'integers', 'tables', 'bf16', 'fp8', 'fp8 into bf16'}
pytestmark = train_demo.NEEDS


@pytest.mark.slow
@needs.needs_namespaces
@needs.needs_program('nft', ' (nftables)')
def test_report_and_figures(tmp_path):
    page, plots = tmp_path / 'training.md', tmp_path / 'training'
    done = train_demo.run('--quick', '--report', page, '--json', tmp_path / 'figures')
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / 'figures').read_text())
    ways = figures['ways']
    assert ways.keys() == WAYS
    assert ways['netfc']['wrong'] == 0 and set(ways['netfc']['errors']) == {0}
    for name in WAYS - {'netfc', 'gloo'}:
        assert 0 < ways[name]['wrong'] <= ways[name]['gradients']
        assert all(0 < error < 1 for error in ways[name]['errors'])
    # A byte and four, or three, where float32 takes eight; and what all need for other things.
    sizes = {name: way['link_bytes'] / ways['netfc']['link_bytes'] for name, way in ways.items()}
    assert sizes['fp8 into bf16'] < sizes['bf16'] < sizes['fp8'] < 0.75
    for way in ways.values():
        assert len(way['losses']) == len(way['errors']) == figures['steps']
        assert way['gradients'] == figures['steps'] * figures['weights']
        assert way['link_bytes'] > 2 * way['gradients']
        assert len(way['accuracies']) == 1 and 0 < way['accuracies'][0] <= 1
    assert figures['differing'] == {'5 % of packets lost': 0, 'ranks dealt out differently': 0}
    row, = figures['timed']
    # A step of 100 Mbit/s moves all gradients at least, but for chunks that are all zeros.
    assert row['seconds']['netfc'] > 16 * figures['weights'] / 100e6
    text = page.read_text()
    assert f'| 5 % of packets lost | 0 of {figures["weights"]:,} |' in text
    for name in ('loss', 'error'):
        assert f'(training/{name}.svg)' in text
        assert '<svg' in (plots / f'{name}.svg').read_text()


@pytest.mark.slow
@needs.needs_namespaces
@needs.needs_program('nft', ' (nftables)')
def test_the_weights_below_two_leaves_are_those_of_one_switch(tmp_path):
    done = train_demo.run('--tree', '--workers', '4', '--steps', '5', '--json', tmp_path / 'figures')
    assert done.returncode == 0, done.stdout + done.stderr
    runs = list(json.loads((tmp_path / 'figures').read_text())['runs'].values())
    assert [run['differing'] for run in runs] == [0, 0, 0]
    for run in runs[1:]:
        # Four bytes a gradient, but for chunks that are all zeros.
        assert 2 < run['rank_bytes'] / (5 * run['weights']) < 8
        assert 1 < run['leaf_bytes'] / run['rank_bytes'] < 4


@pytest.mark.parametrize('words, text', [
    (('--steps', '0'), 'expected 1 or more'), (('--tree', '--quick'), 'demonstrations of their own'), (('--workers', '3'), 'choose from 2, 4, 8'),
    (('--report', 'training'), 'give a name with a suffix')])
def test_words_that_make_no_sense(words, text):
    done = train_demo.run(*words)
    assert done.returncode != 0 and text in done.stderr
