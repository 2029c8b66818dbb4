# SPDX-License-Identifier: BSD-3-Clause
"""The fuzz targets' inputs: what their archives hold, as tar has it, and what is added to them."""

import hashlib
import re
import shutil
import subprocess

import pytest

from project_scripts import PROJECT

FUZZ = PROJECT / 'tests' / 'fuzz'
TARGETS = sorted(path.stem for path in (FUZZ / 'corpus').iterdir())
TIMEOUT_S = 1200


def run(*command):
    return subprocess.run(command, text=True, capture_output=True, check=False, timeout=TIMEOUT_S)


def unpacked(archive, folder):
    """Names and bytes of the inputs of an archive."""
    folder.mkdir()
    assert run('tar', '-xf', archive, '-C', folder).stderr == ''
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def named(*inputs):
    return {hashlib.sha1(data).hexdigest(): data for data in inputs}


@pytest.fixture(name='fuzz')
def _fuzz(tmp_path):
    """A folder like tests/fuzz, of a target whose archive has two inputs, and of one without."""
    folder = tmp_path / 'fuzz'
    (folder / 'corpus').mkdir(parents=True)
    shutil.copy(FUZZ / 'add_inputs.py', folder)
    for target in ('some', 'other'):
        (folder / f'fuzz_{target}.c').touch()
    for name in ('one', 'two', 'three'):
        (tmp_path / name).write_bytes(name.encode())
    assert run(folder / 'add_inputs.py', 'some', tmp_path / 'two', tmp_path / 'one').returncode == 0
    return folder


def test_every_target_has_an_archive():
    wanted = re.search('^all_targets="(.*)"$', (PROJECT / 'scripts' / 'fuzz').read_text(), re.M)[1]
    assert sorted(path.name for path in (FUZZ / 'corpus').iterdir()) == [
        f'{target}.tar' for target in wanted.split()]
    assert sorted(path.stem.removeprefix('fuzz_') for path in FUZZ.glob('fuzz_*.c')) == wanted.split()


@pytest.mark.parametrize('target', TARGETS)
def test_archives_tell_of_inputs_alone(target, tmp_path):
    """Sorted, each once, named by its bytes; of nobody and of no time."""
    archive = FUZZ / 'corpus' / f'{target}.tar'
    inputs = unpacked(archive, tmp_path / 'inputs')
    assert inputs == named(*inputs.values()) and len(inputs) > 50
    listed = run('tar', '--numeric-owner', '--utc', '--full-time', '-tvf', archive).stdout
    assert [line.split() for line in listed.splitlines()] == [
        ['-rw-r--r--', '0/0', str(len(inputs[name])), '1970-01-01', '00:00:00', name]
        for name in sorted(inputs)]


@pytest.mark.parametrize('target', TARGETS)
def test_an_input_that_is_there_changes_nothing(target, tmp_path):
    archive = FUZZ / 'corpus' / f'{target}.tar'
    shutil.copytree(FUZZ, tmp_path / 'fuzz')
    unpacked(archive, tmp_path / 'inputs')
    there = next((tmp_path / 'inputs').iterdir())
    done = run(tmp_path / 'fuzz' / 'add_inputs.py', target, there)
    assert (done.returncode, done.stdout.endswith(', 0 of them new\n')) == (0, True)
    assert (tmp_path / 'fuzz' / 'corpus' / archive.name).read_bytes() == archive.read_bytes()


def test_inputs_are_added(fuzz, tmp_path):
    archive = fuzz / 'corpus' / 'some.tar'
    assert unpacked(archive, tmp_path / 'before') == named(b'one', b'two')
    done = run(fuzz / 'add_inputs.py', 'some', tmp_path / 'three', tmp_path / 'one')
    assert (done.stdout, done.stderr) == ('some: 3 inputs, 1 of them new\n', '')
    assert unpacked(archive, tmp_path / 'after') == named(b'one', b'two', b'three')


def test_the_same_inputs_are_the_same_bytes(fuzz, tmp_path):
    for name in ('one', 'two'):
        assert run(fuzz / 'add_inputs.py', 'other', tmp_path / name).returncode == 0
    archives = [fuzz / 'corpus' / f'{target}.tar' for target in ('some', 'other')]
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_inputs_are_replaced(fuzz, tmp_path):
    done = run(fuzz / 'add_inputs.py', '--replace', 'some', tmp_path / 'three', tmp_path / 'two')
    assert (done.stdout, done.stderr) == ('some: 2 inputs, 1 of them new\n', '')
    assert unpacked(fuzz / 'corpus' / 'some.tar', tmp_path / 'after') == named(b'two', b'three')


@pytest.mark.parametrize('arguments, message', [
    (['none', 'one'], "invalid choice: 'none'"),
    (['some', 'gone'], "cannot read an input: [Errno 2] No such file or directory: 'gone'"),
    (['some'], 'required: FILE'),
])
def test_what_is_wrong_is_said(fuzz, arguments, message):
    before = (fuzz / 'corpus' / 'some.tar').read_bytes()
    done = run(fuzz / 'add_inputs.py', *arguments)
    assert done.returncode == 2 and message in done.stderr.replace('\n', ' ')
    assert (fuzz / 'corpus' / 'some.tar').read_bytes() == before
