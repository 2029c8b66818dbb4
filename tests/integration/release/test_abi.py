# SPDX-License-Identifier: BSD-3-Clause
"""scripts/check-abi finds what would break a program that is not built anew."""

import shutil
import subprocess

import pytest

from project_scripts import SCRIPTS

TIMEOUT_S = 1200
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


def test_nothing_to_compare(tmp_path):
    done = compare(tmp_path, tmp_path)
    assert done.returncode == 1 and 'no shared libraries' in done.stdout
