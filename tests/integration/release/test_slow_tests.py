# SPDX-License-Identifier: BSD-3-Clause
"""The list of slow tests is of tests that exist, and says what a run has measured."""

import pathlib
import subprocess
import sys

import project_scripts

sys.path.insert(0, str(project_scripts.SCRIPTS / 'support'))

import slow_tests  # noqa: E402 pylint: disable=wrong-import-position

TESTS = pathlib.Path(__file__).resolve().parents[2]
MEASURED = {'a/test_a.py::test_x[1]': 3.0, 'a/test_a.py::test_x[2]': 0.5, 'a/test_b.py::test_y': 9.0}


def test_the_cheapest_of_a_file_is_never_slow():
    assert slow_tests.slow(MEASURED, 1) == {'a/test_a.py::test_x[1]'}


def test_what_did_not_run_stays_as_it_is():
    before = ['a/test_a.py::test_x[2]', 'a/test_a.py::test_x[3]']
    assert slow_tests.merged(before, MEASURED, 1) == ['a/test_a.py::test_x[1]', 'a/test_a.py::test_x[3]']


def test_what_was_skipped_was_not_measured(tmp_path):
    case = ('<testcase classname="a.test_a" name="{}"><properties><property name="processor_seconds" value="{}"/>'
            '</properties>{}</testcase>')
    cases = case.format('test_x[1]@group', '1.5', ''), case.format('test_x[2]', '0.5', '<skipped/>')
    (tmp_path / 'switch.xml').write_text(f'<t>{"".join(cases)}<testcase classname="unit" name="one"/></t>')
    assert slow_tests.read_seconds(tmp_path / 'switch.xml') == {'a/test_a.py::test_x[1]': 1.5}


def test_a_run_says_what_each_test_took(tmp_path):
    name = f'integration/release/test_slow_tests.py::{test_the_cheapest_of_a_file_is_never_slow.__name__}'
    subprocess.run([sys.executable, '-m', 'pytest', '-q', f'--junit-xml={tmp_path}/one.xml', name], cwd=TESTS, check=True)
    assert list(slow_tests.read_seconds(tmp_path / 'one.xml')) == [name]


def test_what_is_slow_exists():
    """A test that has another name now would run among the quick ones."""
    for name in slow_tests.LIST.read_text(encoding='utf-8').splitlines():
        file, _, test = name.partition('::')
        assert f'def {test.partition("[")[0]}(' in (TESTS / file).read_text(encoding='utf-8'), name


def test_names_of_files_differ():
    """Of two modules of one name, pytest collects one where it is started for both."""
    names = [path.name for path in TESTS.rglob('test_*.py')]
    assert len(names) > 100 and [name for name in set(names) if names.count(name) > 1] == []
