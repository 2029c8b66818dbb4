# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench idle: that it measures, and what it refuses."""

import json
import re

import pytest

import project_scripts
from needs import needs_namespaces, needs_tap


def bench(*options):
    return project_scripts.run('bench', 'idle', *options)


@pytest.mark.slow
@needs_namespaces
@needs_tap
def test_a_row_for_each_port_and_mode(tmp_path):
    done = bench('--seconds', 2, '--answers', 2, '--silence', 0.1, '--json', tmp_path / 'json')
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r'^\| (TAP|AF_PACKET) \| (sleeping|`--poll`) \| [\d.]+ % \|', done.stdout, re.MULTILINE)
    found = json.loads((tmp_path / 'json').read_text())
    assert len(rows) == len(found) == 4
    share = {(one['port'], one['mode']): one['share'] for one in found}
    for port in ('TAP', 'AF_PACKET'):
        assert share[port, 'sleeping'] < share[port, '`--poll`']
    assert all(len(one['answers_us']) == 2 and min(one['answers_us']) > 0 for one in found)


@pytest.mark.parametrize('option, value, text', [
    ('--seconds', 0, "'0': expected more than 0"), ('--seconds', 'nan', "'nan': expected more than 0"),
    ('--answers', 0, "'0': expected 1 or more"), ('--answers', '1_0', "'1_0': expected 1 or more"), ('--silence', '-1', "'-1': expected 0 or more")])
def test_bad_options(option, value, text):
    done = bench(option, value)
    assert done.returncode == 1 and text in done.stderr
