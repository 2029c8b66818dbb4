# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check-abi finds what would break a program that is not built anew."""

import shutil
import subprocess

import pytest

from project_scripts import SCRIPTS

TIMEOUT_S = 1200
NOBODY = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@example.org', '-c', 'commit.gpgSign=false']
HEADER = 'struct point { int x, y; };\nint first(const struct point *point);\nint second(void);\n'
CODE = 'int first(const struct point *point) { return point->x; }\nint second(void) { return 2; }\n'
# What becomes of header, code and soname; whether programs go on; what is said.
CHANGES = {
    'nothing': ((), 'libpoints.so.0', True, 'libpoints.so.0: programs that use it go on'),
    'added': ((('int second(void);', 'int second(void);\nint third(void);'),
               ('int second(void) {', 'int third(void) { return 3; }\nint second(void) {')),
              'libpoints.so.0', True, 'go on'),
    'gone': ((('int second(void);\n', ''), ('int second(void) { return 2; }\n', '')),
             'libpoints.so.0', False, 'raise soversion'),
    'larger': ((('int x, y;', 'int x, y, z;'),), 'libpoints.so.0', False, 'raise soversion'),
    'another soname': ((('int x, y;', 'int x, y, z;'),), 'libpoints.so.1', True,
                       'libpoints.so.0: is libpoints.so.1 now'),
    'another name': ((), 'liblines.so.0', False, 'libpoints.so.0: is gone'),
}


def make_library(folder, soname, changes=()):
    """A folder with a shared library and its header."""
    header, code = HEADER, CODE
    for old, new in changes:
        assert old in header + code
        header, code = header.replace(old, new), code.replace(old, new)
    folder.mkdir()
    (folder / 'points.h').write_text(header)
    (folder / 'points.c').write_text('#include "points.h"\n' + code)
    subprocess.run(['gcc', '-g', '-shared', '-fPIC', f'-Wl,-soname,{soname}', '-o', soname, 'points.c'],
                   cwd=folder, check=True, timeout=TIMEOUT_S)
    return folder


def compare(old, new):
    return subprocess.run([SCRIPTS / 'check-abi', '--compare', old, new], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)


@pytest.mark.skipif(not shutil.which('abidiff'), reason='abidiff is not installed')
@pytest.mark.parametrize('changes, soname, compatible, said', CHANGES.values(), ids=CHANGES)
def test_compare(changes, soname, compatible, said, tmp_path):
    old = make_library(tmp_path / 'old', 'libpoints.so.0')
    new = make_library(tmp_path / 'new', soname, changes)
    done = compare(old, new)
    assert said in done.stdout and done.returncode == (0 if compatible else 1), done.stdout


def make_repository(folder):
    """One commit, with libnetfc, and a library that is not installed."""
    shutil.copytree(SCRIPTS / 'support', folder / 'scripts' / 'support')
    shutil.copy(SCRIPTS / 'check-abi', folder / 'scripts')
    (folder / 'meson.build').write_text("project('few', 'c')\nsubdir('lib/netfc')\nsubdir('lib/aggregate')\n")
    for place, name in (('netfc', 'netfc'), ('aggregate', 'netfc-member')):
        inside = folder / 'lib' / place
        inside.mkdir(parents=True)
        (inside / 'meson.build').write_text(f"shared_library('{name}', 'one.c', soversion: '0')\n")
        (inside / 'one.c').write_text('int one(void);\nint one(void) { return 1; }\n')
    (folder / 'lib' / 'netfc' / 'netfc.h').write_text('int one(void);\n')
    for words in (['init', '--quiet'], ['add', '--all'], ['commit', '--quiet', '--message', 'few']):
        subprocess.run(['git', *NOBODY, *words], cwd=folder, check=True, timeout=TIMEOUT_S)
    return folder


@pytest.mark.skipif(not all(map(shutil.which, ('abidiff', 'git', 'meson'))), reason='no abidiff, git or meson')
def test_what_is_not_installed_need_not_be_built(tmp_path):
    done = subprocess.run(['scripts/check-abi', 'HEAD'], cwd=make_repository(tmp_path / 'few'), text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)
    assert done.returncode == 0 and 'libnetfc.so.0: programs that use it go on' in done.stdout, done.stdout


def test_nothing_to_compare(tmp_path):
    done = compare(tmp_path, tmp_path)
    assert done.returncode == 1 and 'no shared libraries' in done.stdout
