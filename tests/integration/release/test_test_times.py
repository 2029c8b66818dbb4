# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/tests.md is what the latest run of scripts/test took."""

import sys

import pytest

import project_scripts

sys.path.insert(0, str(project_scripts.SCRIPTS / 'support'))
import summarize_tests  # noqa: E402 pylint: disable=wrong-import-position
import test_times  # noqa: E402 pylint: disable=wrong-import-position

TEXT = f'before\n{test_times.BEGIN}{test_times.HEAD}{test_times.END}after\n'


@pytest.fixture(name='results')
def some_results(tmp_path):
    def make(*steps):
        (tmp_path / 'steps').write_text(''.join('\t'.join(step) + '\n' for step in steps))
        (tmp_path / 'load').write_text('0.21\n')
        (tmp_path / 'a.xml').write_text(
            '<t><testcase name="one"/><testcase name="two"><skipped message="no"/></testcase></t>')
        return test_times.measured(tmp_path)
    return make


def test_a_run_takes_its_column_and_no_other(results):
    quick = results(('passed', 'Style', '', '9'), ('passed', 'Units', '', '61'), ('skipped', 'More', 'no', '1'))
    text = test_times.written(TEXT, test_times.merged(test_times.read_table(TEXT), 'quick', quick))
    whole = results(('passed', 'Style', '', '10'), ('passed', 'Fuzz', '', '600'))
    text = test_times.written(text, test_times.merged(test_times.read_table(text), 'all', whole))
    rows = test_times.read_table(text)
    assert rows['Style'] == ['0:09', '0:10', ''] and rows['Fuzz'] == ['', '10:00', '']
    assert rows['Units'] == ['1:01', '', ''] and 'More' not in rows
    assert rows[test_times.WHOLE] == ['1:11', '10:10', ''] and rows['tests passed'][:2] == ['1', '1']
    assert 'load 0.21 before' in rows['on'][0] and text.startswith('before\n') and text.endswith('after\n')
    # A step that is no more leaves the table with the run that had it.
    fewer = test_times.merged(rows, 'quick', results(('passed', 'Style', '', '5')))
    assert fewer['Units'] == ['', '', ''] and '| Units' not in test_times.written(text, fewer)


def test_nothing_is_written_of_a_run_that_failed(results):
    with pytest.raises(SystemExit, match='these steps have failed: Units'):
        results(('passed', 'Style', '', '9'), ('failed', 'Units', '', '61'))


def test_a_test_is_called_by_the_name_that_runs_it(tmp_path):
    """pytest calls it otherwise where a process of xdist has a group of tests."""
    (tmp_path / 'switch.xml').write_text('<t><testcase classname="a" name="one@some-group"><failure/></testcase></t>')
    assert summarize_tests.read_outcomes(tmp_path).failed == ['a one']
