# SPDX-License-Identifier: BSD-3-Clause
"""Terminal sessions that documents show, run as they stand there, and compared with what comes of them.

A session is a block without a language whose first line begins with "$ ":

- a line after "$ " is a command;
- a line after "--> " is typed into the command before it;
- any other line is printed by it, "..." being whatever stands there;
- a command that says "NAME: ..." may fail, no other; `cat FILE` gives the test that file;
- `dpdk-netfc` runs until it is told to end; "..." are any options of the EAL.
"""

import re
import shlex
import subprocess
from dataclasses import dataclass, field

import recipes

EAL_OPTIONS = '-l 0 --no-huge -m 512 --no-pci'
OPTIONS = '--match direct'  # which takes the least memory
# What sessions write stays here: etc/ is laid over the system's.
BEFORE = '''mkdir -p /run/upper /run/work /run/dpdk-netfc
mount -t overlay none -o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work /etc
mount -t tmpfs none /var/lib
mkdir /var/lib/dpdk-netfc
export PATH="$PWD/build/app:$PWD/python/bin:$PATH"
'''


@dataclass
class Step:
    """A command of a session, what is typed into it, and the lines that it prints."""

    command: str
    typed: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def may_fail(self):
        """Whether it is one that says what is wrong."""
        return any(line.startswith(f'{self.command.split()[0]}: ') for line in self.printed)


def steps(blocks):
    """The commands of all sessions among the blocks of a section."""
    found = []
    for block in blocks:
        if block.kind or not block.text.startswith('$ ') or block.note.startswith('not run: '):
            continue
        for line in block.text.splitlines():
            if line.startswith('$ '):
                found.append(Step(line.removeprefix('$ ')))
            elif line.startswith('--> '):
                found[-1].typed.append(line.removeprefix('--> '))
            else:
                found[-1].printed.append(line)
    return found


def script(sequence, folder, ports):
    """What a shell has to run; what each command says, and its status, go into the folder."""
    parts = [recipes.SCRIPT, BEFORE]
    options = ' '.join([EAL_OPTIONS, *(f'--vdev=net_null{port},no-rx=1' for port in range(ports))])
    for number, step in enumerate(sequence):
        said, status, typed = (folder / f'{name}-{number}' for name in ('said', 'status', 'typed'))
        typed.write_text(''.join(f'{line}\n' for line in step.typed), encoding='utf-8')
        if step.command.startswith('dpdk-netfc '):
            said.touch()
            parts.append(f'{{\n{step.command.replace("... --", f"{options} -- {OPTIONS}")}\n}} >{said} 2>&1 &\nready {said} $!\necho 0 >{status}\n')
            continue
        if step.command.startswith('cat '):
            text = shlex.quote(''.join(f'{line}\n' for line in step.printed))
            parts.append(f'printf %s {text} >{step.command.split()[1]}\n')
        parts.append(f'status=0\n{{\n{step.command}\n}} <{typed} >{said} 2>&1 || status=$?\necho $status >{status}\n')
    return ''.join(parts)


def pattern(line):
    """What matches a line, whatever its white space; "..." is anything."""
    return r'\s*'.join(re.escape(word) for word in line.split()).replace(re.escape('...'), '.*')


def run(blocks, folder, before='', ports=1):
    """Runs the sessions of a section, and fails unless all of it comes as it is shown.

    before: commands, one in a line, that come before it; ports: how many a switch has.
    """
    shown = steps(blocks)
    assert shown
    sequence = [*(Step(line) for line in before.splitlines()), *shown]
    done = subprocess.run(
        [*recipes.UNSHARED, 'bash', '-c', script(sequence, folder, ports)], cwd=recipes.make_tree(folder),
        env={'HOME': str(folder), 'PATH': f'{recipes.PATH}:/usr/sbin:/sbin'}, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=recipes.TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout
    for number, step in enumerate(sequence):
        said = (folder / f'said-{number}').read_text(encoding='utf-8')
        status = (folder / f'status-{number}').read_text()
        assert status == '0\n' or step.may_fail(), (step.command, said)
        for line in step.printed:
            assert re.search(pattern(line), said, re.S), (step.command, line, said)
