# SPDX-License-Identifier: BSD-3-Clause
"""The commands that operations.md and monitoring.md give, in their order, in a machine under systemd."""

import re
import shlex

import pytest

import documents

pytestmark = pytest.mark.in_order
COMMANDS = [(page, command) for page in documents.PAGES for command in documents.commands(page)]
TELEMETRY = '/run/dpdk-netfc/dpdk/netfc/dpdk_telemetry.v2'


@pytest.fixture(name='ready', scope='module')
def machine_for_readers(machine):
    """With the packages, and the files that the pages name."""
    machine.run('dpkg -i /root/packages/*.deb')
    machine.write('/etc/dpdk-netfc.init', documents.file_of_commands())
    machine.run("cd /root && netfc-tables build --function softplus --expression 'log1p(exp(x))' && "
                'cp softplus.netfcfun /etc')
    return machine


def shows(command):
    """What shows that a command works that goes on; None if it ends."""
    return next((script for begin, script in documents.STAYS.items() if command.startswith(begin)), None)


def start(machine, command, script):
    """A command that goes on, as a unit, until the script succeeds."""
    name = 'documented-' + re.sub(r'\W+', '-', command)[:60]
    said = f'/run/{name}'
    words = shlex.quote(f'{documents.INSTEAD.get(command, command)} >{said} 2>&1')
    machine.run(f'systemd-run --quiet --collect --unit {name} --working-directory /root sh -c {words}')
    works = f'SAID={said}; {{ {script}; }}'
    machine.until(f'{works} || ! systemctl is-active --quiet {name}')
    machine.run(f'{works} || {{ cat $SAID; false; }}')


@pytest.mark.parametrize('page, command', COMMANDS)
def test_as_it_stands(ready, page, command):  # pylint: disable=unused-argument
    if command in documents.NOT_RUN:
        pytest.skip(documents.NOT_RUN[command])
    ready.run(f'cd /root; {documents.BEFORE.get(command, "true")}')
    script = shows(command)
    if command.startswith('--> '):
        ready.run(f"""python3 -c 'import sys; from netfc.telemetry import Telemetry
with Telemetry("{TELEMETRY}") as t: t.ask(sys.argv[1])' {command[4:]}""")
    elif command.startswith('python\n'):
        start(ready, documents.NULL, 'grep ^Ready $SAID')
        ready.run('python3 -', stdin=command.removeprefix('python\n').encode())
    elif script:
        start(ready, command, script)
    elif command in documents.FAILS:
        assert documents.FAILS[command] in ready.fails(f'cd /root; {command}')
    else:
        ready.run(f'cd /root; {documents.INSTEAD.get(command, command)}')
    ready.run(documents.AFTER.get(command, 'true'))


def test_nothing_is_said_of_commands_that_are_gone():
    there = {command for _, command in COMMANDS}
    for table in (documents.NOT_RUN, documents.INSTEAD, documents.BEFORE, documents.AFTER, documents.FAILS):
        assert set(table) <= there
    assert all(any(command.startswith(begin) for command in there) for begin in documents.STAYS)
