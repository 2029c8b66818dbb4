# SPDX-License-Identifier: BSD-3-Clause
"""Commands and programs that documents give their readers to copy, run as they stand there.

The blocks of a section are run in their order, by one shell, in a tree of the sources with a build in
build/, in namespaces of their own. What is said beside them:

- <!-- until stopped --> before a block: it runs in the background, from its "Ready" to the end;
- <!-- saved as NAME --> before a block: it is a file, not run by itself;
- <!-- not run: REASON --> before a block: it is left out;
- a comment after a command is a line that it prints; after an expression of Python, its value;
- each line of a block of `text` is one that was printed.
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass

import needs
import project_scripts
import sanitized
import switch

BLOCK = re.compile(r'(?:^<!-- (?P<note>[^\n]*) -->\n+)?^```(?P<kind>\w*)\n(?P<text>.*?)^```$', re.M | re.S)
PRINTED = re.compile(r' {2,}# (.*)$', re.M)
CHECKER = pathlib.Path(__file__).with_name('recipe_python.py')
TIMEOUT_S = 1200

# As an ordinary user's shell has it, on Debian; sudo is not on every machine, and root needs none.
PATH = '/usr/local/bin:/usr/bin:/bin'
SUDO = '#!/bin/sh\nPATH=$PATH:/usr/sbin:/sbin exec "$@"\n'
UNSHARED = ['unshare', '--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
SCRIPT = '''set -eu
exec 2>&1
mount -t tmpfs none /run
/sbin/ip link set lo up
ready() {
  while ! grep -q ^Ready "$1"; do
    kill -0 "$2" || { cat "$1"; echo "it has ended before it was ready"; exit 1; }
    sleep 0.1
  done
}
'''


@dataclass
class Block:
    """A block of code: what it is, what it has, what is said of it."""

    kind: str
    text: str
    note: str


def section(document, heading):
    """The blocks of a section, up to the next heading of its level or above."""
    text = (project_scripts.PROJECT / document).read_text(encoding='utf-8')
    found = re.search(rf'^(#+) {re.escape(heading)}$', text, re.M)
    assert found, f'{document} has no section "{heading}"'
    rest = text[found.end():]
    fences = [match.span() for match in BLOCK.finditer(rest)]
    ends = [match.start() for match in re.finditer(rf'^#{{1,{len(found[1])}}} ', rest, re.M)
            if not any(first <= match.start() < last for first, last in fences)]
    return [Block(match['kind'], match['text'], match['note'] or '')
            for match in BLOCK.finditer(rest[:min(ends, default=len(rest))])]


def expected(blocks):
    """Lines that have to be printed."""
    for block in blocks:
        if block.note.startswith('not run'):
            continue
        if block.kind == 'text':
            yield from block.text.splitlines()
        elif block.kind == 'sh':
            yield from PRINTED.findall(block.text)


def script(blocks, folder, before):
    """What a shell has to run."""
    parts = [SCRIPT, before]
    library = {name: value for name, value in sanitized.environment().items()
               if name in ('LD_PRELOAD', 'ASAN_OPTIONS') and sanitized.is_sanitized()}
    python = shlex.join(['env', *(f'{name}={value}' for name, value in library.items()),
                         '/usr/bin/python3', str(CHECKER)])
    for number, block in enumerate(blocks):
        said = folder / f'said-{number}'
        if block.note.startswith('not run') or block.kind == 'text':
            continue
        if block.note.startswith('saved as '):
            name = shlex.quote(block.note.removeprefix('saved as '))
            parts.append(f"cat >{name} <<'END OF {number}'\n{block.text}END OF {number}\n")
        elif block.kind == 'python':
            program = folder / f'block-{number}.py'
            program.write_text(block.text, encoding='utf-8')
            parts.append(f'{python} {program}\n')
        elif block.note == 'until stopped':
            said.touch()
            parts.append(f'{{\n{block.text}}} >{said} &\nready {said} $!\n')
        else:
            assert block.kind == 'sh', f'a block of "{block.kind}" cannot be run'
            parts.append(block.text)
    return ''.join(parts)


def make_tree(folder):
    """The sources, and the build under test as build/; what is written at the top, or beside the examples,
    stays in the tree."""
    tree = folder / 'dpdk-netfc'
    tree.mkdir()
    for path in project_scripts.PROJECT.iterdir():
        if path.name == 'examples':
            shutil.copytree(path, tree / path.name, ignore=shutil.ignore_patterns('ask', 'dot'))
        elif not path.name.startswith('build') and path.name != '.git':
            (tree / path.name).symlink_to(path)
    (tree / 'build').symlink_to(switch.BUILD)
    return tree


def run(blocks, folder, before=''):
    """Runs blocks, and fails unless all succeed and print what they should. before: what a shell runs first."""
    programs = folder / 'programs'
    programs.mkdir()
    (programs / 'sudo').write_text(SUDO)
    (programs / 'sudo').chmod(0o755)
    done = subprocess.run(
        [*UNSHARED, 'bash', '-c', script(blocks, folder, before)], cwd=make_tree(folder), text=True,
        env={'HOME': str(folder), 'PATH': f'{programs}:{PATH}'}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)
    print(done.stdout, file=sys.stderr)
    needs.libuv_of_torch(done.stdout)
    assert done.returncode == 0, done.stdout
    lines = {line.strip() for line in done.stdout.splitlines()}
    assert [line for line in expected(blocks) if line.strip() not in lines] == []
