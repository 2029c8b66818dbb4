# SPDX-License-Identifier: BSD-3-Clause
"""scripts/mutate: which faults it makes, and what it does not take for code."""


import pytest

import project_scripts

from mutants.changes import changes

SOURCE = '''/* a + b */
#define MANY (1 + 2)
static const char text[] = "a < b";

static bool
least(int a, int b)
{
	int sum = 0; // a == b

	for (int i = 0; i < b; i++)
		sum += 'a' + 7u;
	note(a, "x > y");
	return !a && sum == 0x10;
}
'''


def made():
    """What stands in the place of each line that a fault changes, without its indentation."""
    lines = SOURCE.splitlines()
    for change in changes('least.c', SOURCE):
        changed = change.apply(SOURCE).splitlines()
        assert len(changed) == len(lines)
        at, = (n for n, (before, after) in enumerate(zip(lines, changed)) if before != after)
        assert change.line == at + 1 and str(change).startswith(f'least.c:{at + 1}: ')
        yield changed[at].strip()


def test_one_place_of_a_function_at_a_time():
    assert sorted(made()) == sorted([
        'int sum = 1; // a == b',
        'for (int i = 1; i < b; i++)', 'for (int i = 0; i <= b; i++)', 'for (int i = 0; i > b; i++)',
        "sum -= 'a' + 7u;", "sum = 'a' + 7u;", "sum += 'a' - 7u;", "sum += 'a' + 8u;", ';', ';',
        'return a && sum == 0x10;', 'return !a || sum == 0x10;', 'return !a && sum != 0x10;'])


@pytest.mark.parametrize('words, why', [
    (['--sample', '0'], "argument --sample: '0': expected 1 or more"),
    (['--seed', 'x'], "argument --seed: 'x': expected 0 or more")])
def test_wrong_usage(words, why):
    done = project_scripts.run('mutate', *words)
    assert done.returncode == 1 and done.stderr.endswith(f'scripts/mutate: {why}\n'), done.stderr
