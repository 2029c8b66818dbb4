# SPDX-License-Identifier: BSD-3-Clause
"""Programs in C++ include the installed headers, with whatever warnings they have on."""

import shutil
import subprocess

import pytest

from project_scripts import PROJECT

INCLUDED = [PROJECT / 'lib/netfc/include', PROJECT / 'lib/allreduce']
HEADERS = [header for folder in INCLUDED for header in sorted(folder.glob('*.h')) if header.name.startswith('netfc')]
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Wold-style-cast']


@pytest.mark.skipif(shutil.which('g++') is None, reason='no g++ on the PATH')
def test_no_header_warns_in_cplusplus(tmp_path):
    assert HEADERS
    program = tmp_path / 'program.cc'
    program.write_text(''.join(f'#include <{header.name}>\n' for header in HEADERS))
    folders = [f'-I{folder}' for folder in INCLUDED]
    done = subprocess.run(['g++', '-std=c++11', '-fsyntax-only', *WARNINGS, *folders, program], text=True,
                          capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, '')
