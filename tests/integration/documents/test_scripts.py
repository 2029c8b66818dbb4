# SPDX-License-Identifier: BSD-3-Clause
"""Every script says what it is for, before it installs or builds anything."""

import os
import re
import subprocess

import pytest

from project_scripts import SCRIPTS

TIMEOUT_S = 1200
NAMES = sorted(str(path.relative_to(SCRIPTS)) for path in SCRIPTS.rglob('*')
               if path.is_file() and os.access(path, os.X_OK) and path.parent.name != 'support')


@pytest.mark.parametrize('name, option', [*((name, '--help') for name in NAMES), ('test', '-h')])
def test_help(name, option, tmp_path):
    """From another folder, with programs that would install or build out of the way."""
    for program in ('apt-get', 'sudo', 'meson', 'ninja'):
        (tmp_path / program).write_text('#!/bin/sh\necho "$0 was run"\n')
        (tmp_path / program).chmod(0o755)
    done = subprocess.run([SCRIPTS / name, option], cwd=tmp_path, text=True, check=False,
                          env={**os.environ, 'PATH': f"{tmp_path}:{os.environ['PATH']}"},
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
    assert (done.returncode, done.stderr) == (0, '')
    assert len(done.stdout) > 60 and 'was run' not in done.stdout and 'SPDX-License' not in done.stdout


def test_help_of_a_script_names_its_options():
    done = subprocess.run([SCRIPTS / 'bench', '--help'], text=True, capture_output=True,
                          check=True, timeout=TIMEOUT_S)
    assert done.stdout.startswith('Benchmarks') and '--quick' in done.stdout


@pytest.mark.parametrize('script', ['demo', 'bench'])
def test_help_of_one_of_several_has_its_options(script):
    text = (SCRIPTS / script).read_text()
    names = re.findall(r'^([a-z-]+)\) run=', text, re.MULTILINE)
    assert len(names) > 5
    for name in names:
        assert re.search(rf'^#   {name}  ', text, re.MULTILINE)
        done = subprocess.run([SCRIPTS / script, name, '--help'], text=True, capture_output=True,
                              check=True, timeout=TIMEOUT_S)
        assert done.stdout.startswith(f'usage: scripts/{script} {name} '), name


@pytest.mark.parametrize('words, said', [(['demo'], 'usage: scripts/demo sums|tree'),
                                         (['demo', 'product'], 'usage: scripts/demo sums|tree'),
                                         (['bench', 'nothing'], 'no benchmark nothing')])
def test_names_that_are_none(words, said):
    done = subprocess.run([SCRIPTS / words[0], *words[1:]], text=True, capture_output=True,
                          check=False, timeout=TIMEOUT_S)
    assert done.returncode == 1 and said in done.stderr


def test_what_shows_progress_ends_with_the_command(tmp_path):
    """At once, too, in a script that traps signals."""
    script = (f". {SCRIPTS}/support/progress.sh; trap 'exit 130' INT TERM; "
              f"for i in $(seq 20); do with_progress {tmp_path}/log echo $i; done; cat {tmp_path}/log")
    done = subprocess.run(['sh', '-euc', script], text=True, capture_output=True, check=True, timeout=300)
    assert done.stdout == '20\n'
