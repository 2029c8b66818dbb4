# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/platforms.md, made of what scripts/test-releases has noted."""

import project_scripts

RESULTS = (('13', 'container', '', 'scripts/quickstart', 1, 60),
           ('13', 'container', '', 'scripts/quickstart', 0, 119),
           ('13', 'container', '', 'scripts/demo sums', 77, 11),
           ('13', 'container', '', 'scripts/test', 0, 1230),
           ('12', 'machine', 'busy', 'scripts/test', 1, 100),
           ('12', 'user', '', 'scripts/test --help', 0, 1))


def test_the_latest_of_each_command(tmp_path):
    """Of the commands that the table has; what else has been tried there makes no row."""
    notes = tmp_path / 'results'
    notes.write_text(''.join('\t'.join(map(str, result)) + '\n' for result in RESULTS))
    done = project_scripts.run('test-releases', '--table', '--trees', tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[2:] == ['| 12 | `machine`, busy |  |  |  |  | fails |',
                                            '| 13 | `container` | 119 s | no namespaces |  |  | 20 min |']


def test_nothing_tried_yet(tmp_path):
    done = project_scripts.run('test-releases', '--table', '--trees', tmp_path)
    assert done.returncode == 1 and 'nothing has been tried yet' in done.stderr
