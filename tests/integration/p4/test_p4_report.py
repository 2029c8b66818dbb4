# SPDX-License-Identifier: BSD-3-Clause
"""p4/report: the tables of docs/p4.md, their copy for programs, and what it does with a compiler's output,
which a stand-in writes."""

import csv
import os
import re
import subprocess
import sys

import pytest

import project_scripts

REPORT = project_scripts.PROJECT / 'p4' / 'report'
PAGE = project_scripts.PROJECT / 'docs' / 'p4.md'
COPY = PAGE.with_suffix('.csv')
COMPILER = '''#!/usr/bin/python3
import json, pathlib, sys
if '--version' in sys.argv:
    sys.exit(print('p4c 1.2.3') or 0)
if '-DNETFC_LANES=6' in sys.argv:
    sys.exit('error: too many lanes')
folder = pathlib.Path(sys.argv[sys.argv.index('-o') + 1])
lanes = int([word for word in sys.argv if word.startswith('-DNETFC_LANES=')][0].split('=')[1])
(folder / 'metrics.json').write_text(json.dumps({
    'mau': {'srams': 10 * lanes, 'tcams': lanes, 'latency': [{'gress': 'ingress', 'cycles': 99}]},
    'phv': {'normal': [{'bits_occupied': 1000 + lanes}]}}))
(folder / 'resources.json').write_text(json.dumps({'resources': {'mau': {'mau_stages': []}}}))
(folder / 'table_summary.log').write_text('stages for ingress table allocation: 7')
'''


def run(*arguments, **environment):
    return subprocess.run([sys.executable, REPORT, *map(str, arguments)], text=True,
                          capture_output=True, check=False, env={**os.environ, **environment})


def tables(text):
    """Blocks of a document that are tables of what was compiled."""
    return [block for block in re.split(r'\n{2,}', text.strip())
            if block.startswith('| chip | format |')]


def test_the_document_has_what_the_copy_has():
    shown = tables(run('--show', COPY).stdout)
    assert len(shown) == 3
    assert sorted(tables(PAGE.read_text())) == sorted(shown)


def test_the_copy_has_no_other_rows():
    with open(COPY, newline='') as stream:
        rows = list(csv.DictReader(stream))
    shown = run('--show', COPY).stdout
    assert len(rows) == len(re.findall(r'^\| Tofino', shown, re.M)) > 50


@pytest.fixture(name='compiler')
def fake_compiler(tmp_path):
    path = tmp_path / 'p4c'
    path.write_text(COMPILER)
    path.chmod(0o755)
    (tmp_path / 'p4c-build-logs').touch()
    return str(path)


def test_what_is_compiled_replaces_its_rows(compiler, tmp_path):
    copy = tmp_path / 'p4.csv'
    copy.write_text(COPY.read_text())
    done = run('--chip', 'tofino', '--layout', 'direct', '--format', 'fp16', '--csv', copy, P4C=compiler)
    assert done.returncode == 0 and done.stderr == ''
    assert '| Tofino 1 | fp16 | direct | 4 | 7 | 40 | 4 | 1,004 | 99 |' in done.stdout
    before, after = COPY.read_text().splitlines(), copy.read_text().splitlines()
    assert 'Tofino 1,fp16,direct,4,7,40,4,,1004,99' in after
    assert 'Tofino 1,fp16,direct,6,refused: error: too many lanes,,,,,' in after
    changed = {line for line in after if line not in before}
    assert changed and all(line.startswith(('Tofino 1,fp16,direct', 'Tofino 1,fp16,"direct, ')) for line in changed)
    assert len(before) == len(after)


def test_what_is_compiled_is_compared(compiler, tmp_path):
    """Two at a time: nothing is written, what differs is said, and what is alike, too."""
    of_direct = ('-j', '2', '--chip', 'tofino', '--layout', 'direct', '--format', 'fp16')
    copy = tmp_path / 'p4.csv'
    copy.write_text(COPY.read_text())
    done = run(*of_direct, '--csv', copy, P4C=compiler)
    assert re.search(r'^7 programs in 0 min \d+ s, 2 at a time$', done.stdout, re.M)
    same = run(*of_direct, '--check', copy, P4C=compiler)
    assert same.returncode == 0 and f'All are as in {copy}' in same.stdout and same.stderr == ''
    lines = copy.read_text().replace('direct,4,7,40,4,', 'direct,4,6,41,4,').splitlines(True)
    copy.write_text(''.join(line for line in lines if not line.startswith('Tofino 1,fp16,direct,2,')))
    before = copy.read_text()
    other = run(*of_direct, '--check', copy, P4C=compiler)
    assert other.returncode == 1 and copy.read_text() == before
    assert other.stderr.splitlines() == [
        f'Tofino 1 fp16 direct 2: it has no row in {copy}',
        'Tofino 1 fp16 direct 4: stages 7, not 6, SRAM 40, not 41',
        f'2 of 7 programs differ from {copy}']
    assert run('--chip', 'tofino', '--leaf', '--aggregate', '--check', P4C=compiler).returncode == 1


@pytest.mark.parametrize('words, said', [
    (['-j', '0'], "'0': expected a number from 1"), (['-j', 'all'], "'all': expected a number from 1"),
    (['--show', 'a', '--check', 'b'], 'not allowed with argument')])
def test_wrong_usage(words, said):
    done = run(*words)
    assert done.returncode == 2 and said in done.stderr


def test_a_driver_that_dies(compiler, tmp_path):
    """Its last line is shown, and the table stays as it was."""
    copy = tmp_path / 'p4.csv'
    copy.write_text(COPY.read_text())
    with open(compiler, 'w', encoding='utf-8') as file:
        file.write("#!/bin/sh\n[ $1 = --version ] || { echo Traceback '(most recent call last):' >&2; "
                   "echo 'TypeError: can only concatenate str' >&2; exit 1; }\n")
    done = run('-j', '2', '--chip', 'tofino', '--layout', 'direct', '--format', 'fp16', '--csv', copy, P4C=compiler)
    assert done.returncode == 1 and copy.read_text() == COPY.read_text()
    assert 'has died on Tofino 1 fp16 direct 1, exit status 1: TypeError: can only' in done.stderr


def test_a_reader_that_has_seen_enough():
    done = subprocess.run(['bash', '-c', '"$@" | head -n 1', 'bash', sys.executable, REPORT, '--show', COPY],
                          text=True, capture_output=True, check=True)
    assert done.stderr == ''


def test_a_file_without_rows(tmp_path):
    done = run('--show', tmp_path / 'p4.csv')
    assert done.returncode == 1 and 'no rows: it is written by p4/report --csv' in done.stderr
