# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench allreduce: that it measures, and what it makes of what it measured."""

import argparse
import importlib.util
import json

import needs
import project_scripts
import pytest

from benchmark.allreduce import lengths, paths, run, sparse


def result(by, count, lost, **seconds):
    return {'by': by, 'workers': count, 'lost': lost,
            'seconds': {size[1:]: took for size, took in seconds.items()}}


RESULTS = [
    result('netfc', 4, 0.0, _1024=[0.002, 0.001, 0.003], _10000000=[0.9, 1.0]),
    result('gloo', 4, 0.0, _1024=[0.01] * 3, _10000000=[1.5, 1.0]),
    result('netfc', 4, 0.01, _10000000=[1.5, 1.8])]


def test_table():
    lines = run.table(RESULTS).splitlines()
    assert lines[2:] == [
        '| 1 KB | 4 | 0 % | 2.00 ms | 10.00 ms |  | 0.20 |',
        '| 10 MB | 4 | 0 % | 0.90 s | 1.00 s |  | 0.90 |',
        '| 10 MB | 4 | 1 % | 1.50 s |  |  |  |']


def test_promises():
    kept = {text: figure <= limit for text, figure, limit in run.promises(RESULTS) if figure}
    assert kept == {'10 MB, 4 workers: share of gloo\'s time': False,
                    '1 KB, 4 workers: share of gloo\'s latency': True,
                    '10 MB, 4 workers: time with 1 % of packets lost, over without': False}


def figure(seconds, cpu, **more):
    return {'seconds': seconds, 'cpu': cpu, 'bytes': 2e9, 'chunk': 0, 'offload': '', 'sent': 0,
            'retransmitted': 0, **more}


def test_table_of_paths():
    """Rounds are taken together: the median of all times, the least of CPU times."""
    gloo, tap = paths.PATHS[0].name, 'TAP'
    lines = paths.table(paths.merged([
        (gloo, figure([0.05, 0.04], 3.0), None), (gloo, figure([0.06], 2.0), None),
        (tap, figure([0.5], 8.0, chunk=1448, offload=' gso', sent=200, retransmitted=3), None),
        ('AF_XDP on veth', None, 'no such driver')])).splitlines()
    assert lines[2:] == [
        f'| {gloo} |  |  | 50 (40 to 60) | 125 | 1.00 | 1.0 |  |',
        '| TAP | 1448 | gso | 500 (500 to 500) | 12 | 10.00 | 4.0 | 1.5 % |']


def test_table_of_lengths():
    """The median of all rounds' medians, the least and the most; the share is of gloo's with as many ranks."""
    gloo = lengths.GLOO.name
    rows = lengths.table([
        (4, gloo, {1: [.0002], 10**6: [.2]}, None), (2, gloo, {1: [.0001]}, None), (2, 'TAP', {1: [.0001, .00015, .0002]}, None),
        (4, 'TAP', {1: [.00002], 10**6: [.5]}, None), (2, 'TAP', {1: [.0003]}, None), (2, 'TAP', {1: [.0004]}, None),
        (4, 'AF_XDP', None, 'no such driver')]).splitlines()
    assert rows[0] == '| ranks | path | 1 | 1,000,000 |'
    assert rows[2:] == [
        f'| 2 | {gloo} | 0.100; 1.00 |  |',
        '| 2 | TAP | 0.300 (0.150 to 0.400); 3.00 |  |',
        f'| 4 | {gloo} | 0.200; 1.00 | 200; 1.00 |',
        '| 4 | TAP | 0.0200; 0.10 | 500; 2.50 |']


@needs.skip_where('' if importlib.util.find_spec('torch') else 'torch is not installed')
@needs.needs_namespaces
@needs.needs_long_rings
@pytest.mark.slow
def test_lengths_by_each_path(tmp_path):
    """One value is less than one for each rank."""
    done = project_scripts.run('bench', 'allreduce', '--paths', '--values', 1, '--quick', '--workers', 2,
                               '--json', tmp_path / 'figures')
    assert done.returncode == 0, done.stderr
    measured = {name for _, name, seconds, _ in json.loads((tmp_path / 'figures').read_text()) if seconds}
    assert {*lengths.NAMES} - {'AF_XDP on veth'} <= measured, done.stdout
    assert '| 2 | memif | ' in done.stdout


@pytest.mark.parametrize('word', ['0', '1,', '1k'])
def test_lengths_that_are_none(word):
    with pytest.raises(argparse.ArgumentTypeError):
        lengths.lengths(word)


def test_table_of_zeros():
    found = [{'by': by, 'bytes': 1_000_000, 'layout': layout, 'share': share, 'seconds': [2 * seconds, seconds],
              'sent': sent, 'received': 2 * sent}
             for by, layout, share, seconds, sent in (
                 ('netfc', 'none', 1.0, 0.2, 1e6), ('netfc', 'blocks', 0.001, 0.1, 5e4),
                 ('netfc', 'scattered', 0.1, 0.2, 1e6), ('gloo', 'none', 1.0, 0.4, 2e6))]
    assert list(sparse.table(found))[-4:] == [
        '| 1 MB | none | 0.20 s | 0.40 s | 0.50 | 1 MB | 2 MB |',
        '| 1 MB | 99.9 % in blocks | 0.10 s | 0.20 s | 0.25 | 0.05 MB | 0.1 MB |',
        '| 1 MB | 90 % scattered | 0.20 s | 0.40 s | 0.50 | 1 MB | 2 MB |',
        '| 1 MB | gloo | 0.40 s | 0.80 s | 1.00 | 2 MB | 4 MB |']


@needs.skip_where('' if importlib.util.find_spec('torch') else 'torch is not installed')
@needs.needs_namespaces
@needs.needs_long_rings
@pytest.mark.slow
def test_zeros_beside_gloo(tmp_path):
    done = project_scripts.run('bench', 'sparse', '--sizes', 400_000, '--times', 1, '--workers', 2,
                               '--json', tmp_path / 'figures')
    assert done.returncode == 0, done.stderr
    dense, *zeros, gloo = json.loads((tmp_path / 'figures').read_text())
    assert (dense['layout'], gloo['by'], len(zeros)) == ('none', 'gloo', 6)
    few = next(each for each in zeros if (each['layout'], each['share']) == ('blocks', 0.001))
    assert few['sent'] < dense['sent'] / 4 and few['received'] < dense['received'] / 4


@needs.skip_where('' if importlib.util.find_spec('torch') else 'torch is not installed')
@needs.needs_namespaces
@needs.needs_long_rings
@needs.needs_program('nft', ' (nftables)')
def test_the_switch_alone(tmp_path):
    """Without gloo, which not every machine has."""
    done = project_scripts.run('bench', 'allreduce', '--quick', '--only', 'netfc', '--json', tmp_path / 'figures')
    assert done.returncode == 0, done.stderr
    _, lossy = json.loads((tmp_path / 'figures').read_text())['results']
    assert lossy['lost'] == 0.01 and lossy['retransmitted'] > 0
    assert '| 1 MB | 4 | 1 % |' in done.stdout
