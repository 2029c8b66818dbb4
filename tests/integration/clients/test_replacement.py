# SPDX-License-Identifier: BSD-3-Clause
"""Files that programs in Python write appear complete or not at all."""

import os
import pathlib
import subprocess

import pytest

import project_scripts

from netfc._replacement import replacing


def write(path, text, fails=False):
    with replacing(path, 'ascii') as stream:
        stream.write(text)
        if fails:
            raise OverflowError


@pytest.fixture(name='path')
def a_file(tmp_path):
    path = tmp_path / 'file'
    path.write_text('what was there', encoding='ascii')
    return path


def test_what_is_there_stays_until_all_is_written(path):
    with pytest.raises(OverflowError):
        write(path, 'new', fails=True)
    assert path.read_text(encoding='ascii') == 'what was there'
    write(path, 'new')
    assert path.read_text(encoding='ascii') == 'new'
    assert os.listdir(path.parent) == ['file']


def test_nothing_is_made_that_is_not_complete(tmp_path):
    with pytest.raises(OverflowError):
        write(tmp_path / 'file', 'new', fails=True)
    assert os.listdir(tmp_path) == []


def test_it_keeps_its_mode_and_links_go_on_to_lead_to_it(path):
    path.chmod(0o640)
    link = path.with_name('link')
    link.symlink_to(path)
    write(link, 'new')
    assert link.is_symlink() and path.read_text(encoding='ascii') == 'new'
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize('name', ['second', 'leads nowhere'])
def test_what_a_rename_would_part_is_written_in_place(path, name):
    other = path.with_name(name)
    if name == 'second':
        os.link(path, other)
    else:
        path.unlink()
        other.symlink_to(path)
    write(other, 'new')
    assert path.read_text(encoding='ascii') == other.read_text(encoding='ascii') == 'new'


def test_devices_and_names_of_any_length(tmp_path):
    write('/dev/null', 'new')
    longest = tmp_path / ('x' * 255)
    write(longest, 'new')
    assert longest.read_text(encoding='ascii') == 'new'


def test_what_cannot_be_written_is_named(tmp_path):
    for path in (tmp_path, tmp_path / 'none' / 'file'):
        with pytest.raises(OSError) as error:
            write(path, 'new')
        assert pathlib.Path(error.value.filename) == path


def test_netfc_p4_on_a_full_disk_leaves_the_entries_that_were_there(path):
    """The limit on files' sizes, in blocks, is as good as a disk that is full; Python writes none of its own."""
    done = subprocess.run(['bash', '-c', 'ulimit -f 1; exec "$@"', 'bash', project_scripts.PROGRAMS / 'netfc-p4',
                           '-t', 'bmv2', '-o', path, 'fp16_k4'], capture_output=True, text=True, check=False,
                          env={**os.environ, 'PYTHONDONTWRITEBYTECODE': '1'})
    assert done.returncode == 2 and f'cannot write {path}' in done.stderr
    assert path.read_text(encoding='ascii') == 'what was there'
    assert os.listdir(path.parent) == ['file']
