# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration of training on any number of processes, as its user runs it."""

import json

import needs
import pytest

import train_demo

pytestmark = train_demo.NEEDS
EXACT, PLAIN = 'netfc.torch.invariant', 'DistributedDataParallel, gloo'


def run(tmp_path, *words):
    done = train_demo.run(*words, '--json', tmp_path / 'figures', name='any-number')
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((tmp_path / 'figures').read_text())


@needs.needs_namespaces
@needs.needs_program('nft', ' (nftables)')
@pytest.mark.parametrize('words, runs', [pytest.param(('--quick',), 4, marks=pytest.mark.slow),
                                         pytest.param(('--steps', '200'), 8, marks=pytest.mark.long)])
def test_one_hash_and_several(tmp_path, words, runs):
    figures = run(tmp_path, *words)
    assert len(figures[EXACT]) == runs
    assert len({one['hash'] for one in figures[EXACT]}) == 1
    hashes = [one['hash'] for one in figures[PLAIN]]
    assert len(set(hashes)) == len(hashes) > 1
    assert 'one killed' in figures[EXACT][-1]['run']


@pytest.mark.slow
@needs.needs_namespaces
@needs.needs_program('nft', ' (nftables)')
def test_time_and_bytes(tmp_path):
    figures = run(tmp_path, '--time', '--steps', '4', '--megabits', '0')
    bytes_of = {(one['link'], one['way']): one['link_bytes'] for one in figures['timed']}
    plain, exact = (bytes_of['no limit', way] for way in ('netfc', 'invariant'))
    assert plain < exact < 3 * plain
    assert bytes_of['memif', 'netfc'] == bytes_of['memif', 'invariant'] == 0
    assert 0 < figures['adding'] < 1
