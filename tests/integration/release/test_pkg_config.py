# SPDX-License-Identifier: BSD-3-Clause
"""What pkg-config says of each library: no more than its own development package brings."""

import re
import shutil
import subprocess

import pytest

import sanitized
import switch
from project_scripts import PROJECT

MISSING = [tool for tool in ('cc', 'pkg-config') if shutil.which(tool) is None]
pytestmark = pytest.mark.skipif(bool(MISSING) or sanitized.is_sanitized(),
                                reason=f'a sanitizer, or not on the PATH: {", ".join(MISSING)}')
FOLDERS = {'netfc': 'lib/netfc', 'netfc-allreduce': 'lib/allreduce'}


def install_alone(name, prefix):
    """One static library with its headers, where its own file says. Returns the folder with that file."""
    built = switch.BUILD / 'meson-private' / f'{name}.pc'
    text = re.sub('^prefix=.*', f'prefix={prefix}', built.read_text(), flags=re.MULTILINE)
    libraries = prefix / re.search(r'^libdir=\$\{prefix\}/(.*)', text, re.MULTILINE)[1]
    headers = prefix / 'include' / 'netfc'
    headers.mkdir(parents=True)
    (libraries / 'pkgconfig').mkdir(parents=True)
    (libraries / 'pkgconfig' / built.name).write_text(text)
    shutil.copy(switch.BUILD / FOLDERS[name] / f'lib{name}.a', libraries)
    for header in (PROJECT / FOLDERS[name]).rglob('netfc*.h'):
        shutil.copy(header, headers)
    return libraries / 'pkgconfig'


@pytest.mark.parametrize('name', FOLDERS)
def test_a_static_program_needs_no_other_library_of_ours(name, tmp_path):
    folder = install_alone(name, tmp_path)
    flags = subprocess.run(['pkg-config', '--static', '--cflags', '--libs', f'{folder}/{name}.pc'], text=True,
                           capture_output=True, check=True).stdout.split()
    program = tmp_path / 'program.c'
    call = name.replace('-', '_')
    program.write_text(f'#include <{call}.h>\nint main(void) {{ return {call}_version() == 0; }}\n')
    linked = subprocess.run(['cc', '-o', tmp_path / 'program', program, *flags], text=True,
                            capture_output=True, check=False)
    assert linked.returncode == 0, linked.stderr
    subprocess.run([tmp_path / 'program'], check=True)


@pytest.mark.parametrize('name', FOLDERS)
def test_the_package_brings_what_pkg_config_asks_for(name):
    """Also of those who link with the shared library: pkg-config wants their files for its flags."""
    text = (switch.BUILD / 'meson-private' / f'{name}.pc').read_text()
    needed = re.search(r'^Requires.private: (.*)', text, re.MULTILINE)[1].replace('zlib', 'zlib1g')
    control = (PROJECT / 'debian' / 'control').read_text()
    depends = re.search(rf'^Package: lib{name}-dev\n(?:.+\n)*?Depends: ((?:.+\n )*.+\n)', control, re.MULTILINE)[1]
    for word in needed.split(','):
        assert f'{word.split()[0]}-dev' in depends
