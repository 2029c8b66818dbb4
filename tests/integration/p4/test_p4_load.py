# SPDX-License-Identifier: BSD-3-Clause
"""p4/load with a simple_switch_CLI of the test's own, which refuses what it is told to."""

import os
import subprocess

import pytest

import project_scripts

LOAD = project_scripts.PROJECT / 'p4' / 'load'
FORWARD = 'table_add IngressPipe.forward IngressPipe.pair 0 => 1\n'
ENTRY = 'table_add IngressPipe.netfc.request IngressPipe.netfc.compute 0x1 => 1\n'
LAST = 'table_add IngressPipe.netfc.loaded IngressPipe.netfc.complete 0x1101 =>\n'
# Its words and its prompt, which stands before the first line that a command prints.
CLI = '''#!/bin/sh
echo "$@" >>"{folder}/arguments"
while read -r line; do
    printf 'RuntimeCmd: '
    echo "$line" >>"{folder}/seen"
    case "$line" in
    *"{refused}"*) echo "Invalid table operation (TABLE_FULL)" ;;
    table_add*) printf 'Adding entry to exact match table x\\nEntry has been added with handle 0\\n' ;;
    esac
done
exit {status}
'''


# One whose switch closes the connection where it has been told too much.
FORGETFUL_CLI = '''#!/bin/sh
echo "$@" >>"{folder}/arguments"
tee -a "{folder}/seen" | awk 'NR > 500000 {{ exit 1 }} {{ print "Entry has been added with handle 0" }}'
'''


def load(folder, commands, refused='-', status=0, cli=CLI):
    """What p4/load says of the commands, its exit status, and what the CLI was given."""
    program = folder / 'simple_switch_CLI'
    program.write_text(cli.format(folder=folder, refused=refused, status=status))
    program.chmod(0o755)
    path = f'{folder}:{os.environ["PATH"]}'
    done = subprocess.run([LOAD, '--thrift-port', '9091'], input=commands, text=True,
                          capture_output=True, check=False, env={**os.environ, 'PATH': path})
    assert set((folder / 'arguments').read_text().splitlines()) == {'--thrift-port 9091'}
    return done, (folder / 'seen').read_text()


def test_all_went_in(tmp_path):
    done, seen = load(tmp_path, FORWARD + ENTRY + LAST)
    assert (done.returncode, done.stdout, done.stderr) == (0, '3 entries loaded\n', '')
    assert seen == FORWARD + ENTRY + LAST


@pytest.mark.parametrize('refused, added, seen', [
    ('netfc.request', 1, FORWARD + ENTRY), ('netfc.loaded', 2, FORWARD + ENTRY + LAST)])
def test_refused_entries(refused, added, seen, tmp_path):
    """The program does not begin to compute unless all is there."""
    done, given = load(tmp_path, FORWARD + ENTRY + LAST, refused)
    assert done.returncode == 1 and done.stdout == ''
    assert f'of 3 entries {added} were loaded' in done.stderr
    assert 'Invalid table operation (TABLE_FULL)' in done.stderr
    assert given == seen


def test_more_than_a_connection_takes(tmp_path):
    commands = ENTRY * 600000 + LAST
    done, seen = load(tmp_path, commands, cli=FORGETFUL_CLI)
    assert (done.stdout, done.stderr) == ('600,001 entries loaded\n', '')
    assert seen == commands


def test_no_switch(tmp_path):
    done, given = load(tmp_path, FORWARD + LAST, status=3)
    assert done.returncode == 1 and LAST not in given


def test_a_switch_that_is_not_there(tmp_path):
    """Nothing was loaded, and nothing has to start anew: in simple_switch_CLI's words."""
    cli = """#!/bin/sh
echo "$@" >>"{folder}/arguments"
cat >"{folder}/seen"
echo "Could not connect to thrift client on port 9091"
echo "Make sure the switch is running and that you have the right port"
exit 1
"""
    done, _ = load(tmp_path, FORWARD + LAST, cli=cli)
    assert done.returncode == 1 and done.stdout == ''
    assert 'cannot connect: is simple_switch running' in done.stderr and 'anew' not in done.stderr


def test_no_simple_switch_cli(tmp_path):
    done = subprocess.run(['/usr/bin/python3', LOAD], input='', text=True, capture_output=True,
                          check=False, env={'PATH': str(tmp_path)})
    assert done.returncode == 1 and 'simple_switch_CLI is not on the PATH' in done.stderr
