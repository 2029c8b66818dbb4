# SPDX-License-Identifier: BSD-3-Clause
"""`meson setup` on a machine where little is installed: without cmocka, without dpkg-dev."""

import json
import os
import pathlib
import subprocess

import pytest

import project_scripts

# What only tests need; the compiler finds all else.
OF_TESTS = ('cmocka.pc',)
TIMEOUT_S = 600


def pkg_config_without(folder, names):
    """A folder with pkg-config's files but for some."""
    folder.mkdir()
    asked = subprocess.run(['pkg-config', '--variable', 'pc_path', 'pkg-config'], text=True,
                           capture_output=True, check=True, timeout=TIMEOUT_S)
    for place in map(pathlib.Path, asked.stdout.strip().split(':')):
        for file in place.glob('*.pc'):
            if file.name not in names and not (folder / file.name).exists():
                (folder / file.name).symlink_to(file)
    return folder


def configure(tmp_path, *options, without=OF_TESTS):
    """Configures a build; gives what meson has done."""
    programs = tmp_path / 'programs'
    programs.mkdir()
    for name in ('cmake', 'dpkg-architecture'):
        (programs / name).write_text('#!/bin/sh\nexit 1\n')
        (programs / name).chmod(0o755)
    environment = {**os.environ, 'PATH': f"{programs}:{os.environ['PATH']}",
                   'PKG_CONFIG_LIBDIR': str(pkg_config_without(tmp_path / 'found', without))}
    return subprocess.run(['meson', 'setup', tmp_path / 'build', project_scripts.PROJECT, *options],
                          env=environment, text=True, capture_output=True, check=False,
                          timeout=TIMEOUT_S)


def test_what_is_missing_leaves_the_tests_out(tmp_path):
    done = configure(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'tests            : no, cmocka is missing: libcmocka-dev' in done.stdout
    info = tmp_path / 'build' / 'meson-info'
    assert json.loads((info / 'intro-tests.json').read_text()) == []
    # The loader looks there; Meson alone says lib64 without dpkg-architecture, where it does not.
    installed = json.loads((info / 'intro-installed.json').read_text()).values()
    folders = {str(pathlib.Path(path).parent) for path in installed if '.so.' in path}
    multiarch = subprocess.run(['gcc', '-print-multiarch'], text=True, capture_output=True,
                               check=True, timeout=TIMEOUT_S).stdout.strip()
    assert folders == {f'/usr/local/lib/{multiarch}'}


@pytest.mark.parametrize('name', ['libdpdk', 'zlib', 'nettle', 'jansson', 'mpfr', 'libpcap'])
def test_what_a_build_needs(tmp_path, name):
    done = configure(tmp_path, without=(*OF_TESTS, f'{name}.pc'))
    assert done.returncode != 0 and name in done.stdout
    assert 'scripts/quickstart installs them' in done.stdout, done.stdout


def test_tests_that_are_insisted_on(tmp_path):
    done = configure(tmp_path, '-Dtests=enabled')
    assert done.returncode != 0 and 'Dependency "cmocka" not found' in done.stdout
