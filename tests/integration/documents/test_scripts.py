# SPDX-License-Identifier: BSD-3-Clause
"""Every script says what it is for, before it installs or builds anything."""

import os
import re
import subprocess

import pytest

import project_scripts
import switch
from needs import WITHOUT_RIGHTS
from project_scripts import SCRIPTS

TIMEOUT_S = 1200
NAMES = sorted(str(path.relative_to(SCRIPTS)) for path in SCRIPTS.rglob('*')
               if path.is_file() and os.access(path, os.X_OK) and path.parent.name != 'support')


OPTIONS = {'demo': [f'demo {name}' for name in ('sums', 'training', 'any-number', 'mpi', 'slowloris', 'anycast')],
           'bench': ['bench', 'bench aggregation', 'bench allreduce', 'bench totals', 'bench mpi', 'bench slowloris-latency']}
WITH_OPTIONS = [words for name in ('demo', 'bench', 'evaluate', 'soak', 'count-instructions')
                for words in OPTIONS.get(name, [name])]


@pytest.fixture(name='untouched')
def untouched_(tmp_path):
    """Runs a script in another folder, on a machine without a single package; no program that installs or
    builds may be run."""
    for program in ('apt-get', 'sudo', 'meson', 'ninja', 'dpkg-query'):
        (tmp_path / program).write_text('#!/bin/sh\necho "$0 was run"\n')
        (tmp_path / program).chmod(0o755)

    def run(*words, before=()):
        done = subprocess.run([*before, SCRIPTS / words[0], *words[1:]], cwd=tmp_path, text=True, check=False,
                              env={**os.environ, 'PATH': f"{tmp_path}:{os.environ['PATH']}"},
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
        assert 'was run' not in done.stdout and 'Traceback' not in done.stderr
        return done
    return run


@pytest.mark.parametrize('name, option', [*((name, '--help') for name in NAMES), ('test', '-h')])
def test_help(name, option, untouched):
    done = untouched(name, option)
    assert (done.returncode, done.stderr) == (0, '')
    assert len(done.stdout) > 60 and 'SPDX-License' not in done.stdout


@pytest.mark.parametrize('name', [name for name in NAMES if '/' not in name])
def test_wrong_usage_is_refused_before_anything_is_done(name, untouched):
    done = untouched(name, '--frob')
    assert done.returncode == 1 and done.stdout == ''
    assert re.search(f'{name}: .*(--frob|are required: )', done.stderr)


@pytest.mark.parametrize('words', WITH_OPTIONS)
def test_an_option_that_does_not_exist_is_refused_before_anything_is_installed(words, untouched):
    done = untouched(*words.split(), '--frob')
    assert done.returncode == 1 and done.stdout == ''
    assert done.stderr.endswith(f'scripts/{words}: unrecognized arguments: --frob\n')


@pytest.mark.parametrize('path, why', [('none/figures', "'none/figures': there is no folder none"),
                                       ('.', "'.' is a folder"), ('/proc/version', "'/proc/version' cannot be written")])
def test_what_is_wrong_with_a_file_is_said(path, why, untouched):
    done = untouched('demo', 'sums', '--json', path, before=WITHOUT_RIGHTS)
    assert done.returncode == 1 and done.stderr.endswith(f'argument --json: {why}\n')


@pytest.mark.parametrize('words', [
    *([*words.split(), '--json', '/proc/version'] for words in (*WITH_OPTIONS, 'demo tree', 'mutate', 'system-calls')),
    *([*words.split(), '--build', '/none'] for words in (*WITH_OPTIONS, 'demo tree', 'bench lanes', 'system-calls')),
    *([*words.split(), '--build', str(SCRIPTS.parent)] for words in ('demo sums', 'bench lanes', 'evaluate')),
    ['readme-plots', '--count', '--build', str(SCRIPTS.parent)],
    ['bench', '--document', '/proc/version'], ['bench', '--document', '--numbers', '/none'],
    ['bench', 'mpi', '--plot', '/none/of.svg'], ['demo', 'training', '--report', '/none/of.md'],
    ['demo', 'slowloris', '--out', '/proc/version/folder'], ['evaluate', '--output', '/proc/version'],
    ['evaluate', '--work', '/proc/version'], ['readme-plots', '--output', '/proc/version'],
    ['readme-animation', '--output', '/none/of.svg'], ['build-playground', '/proc/version']], ids=' '.join)
def test_what_cannot_be_written_or_read_is_refused_before_anything_is_installed(words, untouched):
    done = untouched(*words, before=WITHOUT_RIGHTS)
    assert done.returncode == 1 and done.stdout == ''
    last = done.stderr.splitlines()[-1]
    assert words[-1] in last and re.search('cannot be written|no folder|No such file|not the folder of a build', last)


@pytest.mark.parametrize('words, option', [
    ('demo any-number --ranks 3', '--ranks'), ('demo any-number --megabits 10', '--megabits'),
    ('demo any-number --time --quick', '--quick'), ('bench allreduce --paths --collectives', '--collectives'),
    ('bench mpi --ranks 1', '--ranks'), ('bench shares --slots', '--slots'),
    ('evaluate --functions --narrow', '--narrow'),
    ('bench lanes --lanes 1000', '--lanes'), ('bench lanes --set none', '--set'), ('bench --poll', '--poll'),
    ('bench --quick --document .', '--document'), ('demo training --p4 --tree', '--p4'),
    ('demo training --report training', '--report'), ('demo tree-loss --lanes 5', '--lanes'),
    ('demo tree-loss --loss 51', '--loss'), ('soak --minutes 0', '--minutes'), ('system-calls none', 'none')])
def test_options_that_nothing_would_be_made_of_are_refused_before_anything_is_installed(words, option, untouched):
    done = untouched(*words.split())
    assert done.returncode == 1 and done.stdout == ''
    assert option in done.stderr.splitlines()[-1]


def build_in(folder, more, **environment):
    """What build.sh and more words do as an ordinary user in a tree that is there."""
    support = SCRIPTS / 'support'
    text = ((support / 'progress.sh').read_text() + (support / 'build.sh').read_text()
            .replace('. "$root/scripts/support/progress.sh"', '')) + f'{more}\n'
    return subprocess.run([*WITHOUT_RIGHTS, 'sh', '-euc', text, 'scripts/quickstart'], text=True, check=False,
                          env={'PATH': os.environ['PATH'], 'root': str(folder), **environment},
                          capture_output=True, timeout=TIMEOUT_S)


@pytest.mark.parametrize('home, disabled', [(None, '1'), ('/proc', '1'), ('/dev/shm', '')])
def test_ccache_is_not_used_without_a_home(home, disabled, tmp_path):
    """It has no folder then, and no file would be compiled."""
    (tmp_path / 'app').mkdir()
    (tmp_path / 'app/dpdk-netfc').touch(0o755)
    environment = {'NETFC_BUILD': str(tmp_path), **({'HOME': home} if home else {})}
    done = build_in(tmp_path, 'echo "disabled=${CCACHE_DISABLE:-}"', **environment)
    assert (done.returncode, done.stdout) == (0, f'disabled={disabled}\n'), done.stderr


@pytest.mark.parametrize('words', [['--build', str(switch.BUILD)], [f'--build={switch.BUILD}']])
def test_a_build_that_is_named_is_taken_as_it_is(words, tmp_path):
    for program in ('meson', 'ninja'):
        (tmp_path / program).write_text('#!/bin/sh\nexit 1\n')
        (tmp_path / program).chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != 'NETFC_BUILD'}
    done = subprocess.run([SCRIPTS / 'bench', 'totals', *words, '--lanes', '1024', '--times', '1'],
                          env={**environment, 'PATH': f"{tmp_path}:{os.environ['PATH']}"}, text=True, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize('installed', [True, False])
def test_a_tree_that_cannot_be_written(installed, tmp_path):
    """As an ordinary user: root may write wherever a file system can be written."""
    (tmp_path / 'build/app').mkdir(parents=True)
    if installed:
        (tmp_path / 'build/app/dpdk-netfc').write_text('')
        (tmp_path / 'build/app/dpdk-netfc').chmod(0o755)
    for folder in (tmp_path / 'build', tmp_path):
        folder.chmod(0o555)
    done = build_in(tmp_path, 'echo "build=$build"')
    if installed:
        assert (done.returncode, done.stderr) == (0, '')
        assert done.stdout.splitlines()[-1] == f'build={tmp_path}/build'
    else:
        assert done.returncode == 1 and 'cannot be written' in done.stderr
        assert 'NETFC_BUILD=FOLDER scripts/quickstart' in done.stderr


def test_help_of_a_script_names_its_options():
    done = project_scripts.run('bench', '--help')
    assert done.returncode == 0 and done.stdout.startswith('Benchmarks') and '--quick' in done.stdout


@pytest.mark.parametrize('script', ['demo', 'bench'])
def test_help_of_one_of_several_has_its_options(script):
    text = (SCRIPTS / script).read_text()
    names = re.findall(r'^([a-z-]+)\) run=', text, re.MULTILINE)
    assert len(names) > 5
    for name in names:
        assert re.search(rf'^#   {name}  ', text, re.MULTILINE)
        done = project_scripts.run(script, name, '--help')
        assert done.returncode == 0 and done.stdout.startswith(f'usage: scripts/{script} {name} '), name


@pytest.mark.parametrize('words, said', [(['demo'], "scripts/demo: no demo '': sums, tree"),
                                         (['demo', 'product'], "no demo 'product'"),
                                         (['bench', 'nothing'], 'no benchmark nothing')])
def test_names_that_are_none(words, said):
    done = project_scripts.run(*words)
    assert done.returncode == 1 and said in done.stderr


def test_what_shows_progress_ends_with_the_command(tmp_path):
    """At once, too, in a script that traps signals."""
    script = (f". {SCRIPTS}/support/progress.sh; trap 'exit 130' INT TERM; "
              f"for i in $(seq 20); do with_progress {tmp_path}/log echo $i; done; cat {tmp_path}/log")
    done = subprocess.run(['sh', '-euc', script], text=True, capture_output=True, check=True, timeout=300)
    assert done.stdout == '20\n'
