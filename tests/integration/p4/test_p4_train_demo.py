# SPDX-License-Identifier: BSD-3-Clause
"""The demonstration of training through the aggregating P4 program, on BMv2 where it is."""

import json
import os
import subprocess

import needs
import pytest

import bmv2
import project_scripts
import train_demo

pytestmark = train_demo.NEEDS


@bmv2.needs_bmv2
@needs.needs_namespaces
@pytest.mark.parametrize('kind, workers', [('results', 2), ('sums', 2), ('tree', 8)])
def test_the_same_weights_as_with_dpdk_netfc(kind, workers, tmp_path):
    """Of one BMv2, or of two, four workers at each, below a dpdk-netfc."""
    done = train_demo.run('--p4', kind, '--workers', str(workers), '--json', tmp_path / 'figures')
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / 'figures').read_text())['kinds']
    assert found.keys() == {kind}
    figures = found[kind]
    assert figures['differing'] == 0 and figures['weights'] > 5000
    for name in ('BMv2', 'dpdk-netfc'):
        assert figures[name]['wrong'] == 0
        assert figures[name]['gradients'] == 2 * figures['weights']
    assert figures['BMv2']['losses'] == figures['dpdk-netfc']['losses']
    assert f'{kind}: 0 of {figures["weights"]:,} weights have other bits' in done.stdout


def test_without_the_tools(tmp_path):
    """Said at once, and which. The script itself needs a PATH."""
    where = f'{project_scripts.PROJECT / "python"}:{project_scripts.SCRIPTS}'
    done = subprocess.run(
        ['/usr/bin/python3', '-P', '-m', 'training.demo', '--p4'], text=True, capture_output=True,
        env={**os.environ, 'PYTHONPATH': where, 'PATH': str(tmp_path)}, timeout=project_scripts.TIMEOUT_S,
        stdin=subprocess.DEVNULL, check=False)
    assert done.returncode != 0
    assert f'not on the PATH: {", ".join(bmv2.TOOLS)}' in done.stderr


@pytest.mark.parametrize('words, text', [
    (('other',), "invalid choice: 'other'"), (('--quick',), 'of their own'),
    (('--report', 'page.md'), 'of their own')])
def test_words_that_make_no_sense(words, text):
    done = train_demo.run('--p4', *words)
    assert done.returncode != 0 and text in done.stderr
