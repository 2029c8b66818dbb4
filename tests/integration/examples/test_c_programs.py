# SPDX-License-Identifier: BSD-3-Clause
"""examples/c: built by its Makefile against libnetfc, and run."""

import re
import shutil
import subprocess

import pytest

import switch
from example_runs import EXAMPLES, environment

MISSING = [tool for tool in ('make', 'cc', 'pkg-config') if shutil.which(tool) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f'not on the PATH: {", ".join(MISSING)}')


def make(folder, build):
    """Both programs in a copy of the examples, compiled without a warning."""
    shutil.copytree(EXAMPLES / 'c', folder, ignore=shutil.ignore_patterns('ask', 'dot'))
    flags = 'CFLAGS=-O2 -Wall -Wextra -Werror'
    made = subprocess.run(['make', f'NETFC_BUILD={build}', flags], cwd=folder, text=True, errors='replace',
                          capture_output=True, check=False)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(name='folder', scope='module')
def built(tmp_path_factory):
    """The folder with both programs."""
    return make(tmp_path_factory.mktemp('examples') / 'c', switch.BUILD)


def dot(folder, name, pairs):
    return subprocess.run([folder / 'dot', name], input=pairs, env=environment(), text=True,
                          capture_output=True, check=False)


def test_dot_product(folder):
    done = dot(folder, 'fp16_k1024', '1.5 2\n0.25 8\n3.3 0.1\n')
    assert done.stdout.splitlines() == [
        'fp16_k1024         5.328125', 'correctly rounded  5.328125', 'double             5.33']
    assert (done.returncode, done.stderr) == (0, '')


def test_a_build_whose_path_has_spaces(tmp_path):
    """And letters beyond ASCII. It has what the examples use: the library, and where pkg-config says it is."""
    build = tmp_path / 'ein Ordner für alles'
    library = build / 'lib' / 'netfc'
    library.mkdir(parents=True)
    for path in (switch.BUILD / 'lib' / 'netfc').glob('libnetfc.so*'):
        if path.is_file():
            shutil.copy(path, library, follow_symlinks=False)
    text = (switch.BUILD / 'meson-uninstalled' / 'netfc-uninstalled.pc').read_text()
    spaced = str(build).replace(' ', r'\ ')
    (build / 'meson-uninstalled').mkdir()
    (build / 'meson-uninstalled' / 'netfc-uninstalled.pc').write_text(
        re.sub('^prefix=.*', lambda _: f'prefix={spaced}', text, flags=re.MULTILINE))
    done = dot(make(tmp_path / 'c', build), 'fp16_k1024', '1.5 2\n0.25 8\n')
    assert done.stdout.startswith('fp16_k1024         5\n')


@pytest.mark.parametrize('name, pairs, complaint', [
    ('fp16_k3', '1 2\n', 'dot: fp16_k3: scale k out of range'),
    ('fp16_k1024', '1 2\n3 x\n', 'dot: line 2: expected two numbers'),
    ('fp16_k1024', '1 2\n' * 4097, 'dot: line 4097: expected two numbers, and no more than 4096')])
def test_dot_product_of_what_is_none(folder, name, pairs, complaint):
    done = dot(folder, name, pairs)
    assert done.returncode == 1 and done.stderr.startswith(complaint) and done.stdout == ''


def test_ask(folder, answering):
    where = f'{answering.address}:{answering.port}'
    assert answering.run(folder / 'ask', where, 'fp16_k1024', 'add', '1.5', '2.25') \
        == '1.5 + 2.25 = 3.75\n'
    assert answering.run(folder / 'ask', where, 'fp16_k1024', 'div', '1', '3') \
        == '1 / 3 = 0.333251953\n'


def test_ask_what_is_refused(folder, loopback):
    """Another format than the switch has, another table set, nobody there, no number."""
    where = f'{loopback.address}:{loopback.port}'
    for words, complaint in (
            ((where, 'bf16_k128', 'add', '1', '2'), 'ask: the switch refuses: code 3'),
            ((where, 'fp16_k1', 'div', '1', '3'), 'it has another set'),
            (('127.0.0.1:9', 'fp16_k1024', 'add', '1', '2'), 'ask: no reply from 127.0.0.1:9'),
            ((where, 'fp16_k1024', 'add', '1', 'two'), 'ask: expected an IPv4 address'),
            (('nowhere', 'fp16_k1024', 'add', '1', '2'), 'ask: expected an IPv4 address')):
        done = subprocess.run([folder / 'ask', *words], env=environment(), text=True,
                              capture_output=True, check=False)
        assert done.returncode == 1 and complaint in done.stderr, done
