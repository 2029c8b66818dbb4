# SPDX-License-Identifier: BSD-3-Clause
"""The commands that operations.md and monitoring.md give, in their order, in a machine under systemd."""

import re
import shlex

import pytest

import documented_commands

pytestmark = pytest.mark.in_order
COMMANDS = [(page, command) for page in documented_commands.PAGES for command in documented_commands.commands(page)]
TELEMETRY = '/run/dpdk-netfc/dpdk/netfc/dpdk_telemetry.v2'


@pytest.fixture(name='ready', scope='module')
def machine_for_readers(machine):
    """With the packages, and the files that the pages name."""
    machine.run('dpkg -i /root/packages/*.deb')
    machine.write('/etc/dpdk-netfc.init', documented_commands.file_of_commands())
    machine.run("cd /root && netfc-tables build --function softplus --expression 'log1p(exp(x))' && "
                'cp softplus.netfcfun /etc')
    return machine


def shows(command):
    """What shows that a command works that goes on; None if it ends."""
    return next((script for begin, script in documented_commands.STAYS.items() if command.startswith(begin)), None)


def start(machine, command, script):
    """A command that goes on, as a unit, until the script succeeds."""
    name = 'documented-' + re.sub(r'\W+', '-', command)[:60]
    said = f'/run/{name}'
    words = shlex.quote(f'{documented_commands.INSTEAD.get(command, command)} >{said} 2>&1')
    machine.run(f'rm -f {said}')  # what it said on another page
    machine.run(f'systemd-run --quiet --collect --unit {name} --working-directory /root sh -c {words}')
    works = f'SAID={said}; {{ {script}; }}'
    machine.until(f'{works} || ! systemctl is-active --quiet {name}')
    machine.run(f'{works} || {{ cat $SAID; false; }}')


@pytest.mark.parametrize('page, command', COMMANDS)
def test_as_it_stands(ready, page, command):  # pylint: disable=unused-argument
    if command in documented_commands.NOT_RUN:
        pytest.skip(documented_commands.NOT_RUN[command])
    ready.run(f'cd /root; {documented_commands.BEFORE.get(command, "true")}')
    script = shows(command)
    if command.startswith('--> '):
        ready.run(f"""python3 -c 'import sys; from netfc.telemetry import Telemetry
with Telemetry("{TELEMETRY}") as t: t.ask(sys.argv[1])' {command[4:]}""")
    elif command.startswith('python\n'):
        start(ready, documented_commands.NULL, 'grep ^Ready $SAID')
        ready.run('python3 -', stdin=command.removeprefix('python\n').encode())
    elif script:
        start(ready, command, script)
    elif command in documented_commands.FAILS:
        assert documented_commands.FAILS[command] in ready.fails(f'cd /root; {command}')
    else:
        ready.run(f'cd /root; {documented_commands.INSTEAD.get(command, command)}')
    ready.run(documented_commands.AFTER.get(command, 'true'))
