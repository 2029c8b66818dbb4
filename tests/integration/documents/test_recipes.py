# SPDX-License-Identifier: BSD-3-Clause
"""What documents give to be copied works as it stands there."""

import pytest

import documented_commands
import needs
import private_slurm
import recipes
import sanitized
import sessions

# A document and the heading of a section whose blocks are run; recipes.py says how.
SECTIONS = [
    ('README.md', 'Use it'),
    ('examples/README.md', 'Examples'),
    ('docs/aggregation.md', 'By hand'),
    ('docs/functions.md', 'Try it'),
    ('docs/functions.md', 'A function of your own'),
    ('docs/mpi.md', 'A first run'),
    ('docs/pytorch.md', 'Try it'),
    ('docs/reproducible.md', 'Fewer or more processes'),
]
WITHOUT_SANITIZERS = pytest.mark.skipif(sanitized.is_sanitized(),
                                        reason='torch and programs of MPI do not load with the sanitizers')
MARKS = {'examples/README.md': WITHOUT_SANITIZERS, 'docs/mpi.md': WITHOUT_SANITIZERS,
         'docs/pytorch.md': WITHOUT_SANITIZERS, 'docs/reproducible.md': (WITHOUT_SANITIZERS, pytest.mark.slow)}


@needs.needs_namespaces
@needs.needs_mounts
@needs.needs_tap
@pytest.mark.parametrize('document, heading', [
    pytest.param(*section, marks=MARKS.get(section[0], ())) for section in SECTIONS])
def test_as_it_stands(document, heading, tmp_path):
    recipes.run(recipes.section(document, heading), tmp_path)


# Documents, and the section that begins what a section about Slurm goes on with.
WITH_SLURM = [('docs/mpi.md', 'A first run'), ('docs/pytorch.md', 'Try it')]


@needs.needs_namespaces
@needs.needs_mounts
@needs.needs_tap
@private_slurm.needs_slurm
@WITHOUT_SANITIZERS
@pytest.mark.parametrize('document, beginning', WITH_SLURM)
def test_with_slurm(document, beginning, tmp_path):
    blocks = recipes.section(document, beginning) + recipes.section(document, 'Slurm')
    recipes.run(blocks, tmp_path, private_slurm.started())


@pytest.mark.parametrize('document, heading', [*SECTIONS, *((document, 'Slurm') for document, _ in WITH_SLURM)])
def test_what_is_left_out_says_why(document, heading):
    blocks = recipes.section(document, heading)
    assert any(block.kind in ('sh', 'python') for block in blocks)
    for block in blocks:
        assert block.note in ('', 'until stopped') or block.note.startswith(('not run: ', 'saved as '))


@needs.needs_namespaces
@needs.needs_mounts
@pytest.mark.parametrize('kind, text', [
    ('sh', 'false\n'), ('sh', 'echo 1  # 2\n'), ('sh', 'no-such-program\n'),
    ('python', '1 + 1  # 3\n'), ('python', 'import no_such_module\n'), ('text', 'not printed\n')])
def test_what_is_wrong_is_found(kind, text, tmp_path):
    with pytest.raises(AssertionError):
        recipes.run([recipes.Block(kind, text, '')], tmp_path)


@needs.needs_namespaces
@needs.needs_mounts
def test_what_is_right_passes(tmp_path):
    until = recipes.Block('sh', 'echo Ready; sleep 1000\n', 'until stopped')
    saved = recipes.Block('python', "print('$A')\n", 'saved as it.py')
    recipes.run([until, saved, recipes.Block('sh', 'export A=1\necho $A 2  # 1 2\n', ''),
                 recipes.Block('sh', 'python3 it.py  # $A\n', ''),
                 recipes.Block('python', 'import os\nint(os.environ["A"])  # 1\nprint(7)\n', ''),
                 recipes.Block('text', '7\n', ''),
                 recipes.Block('sh', 'false\n', 'not run: it fails')], tmp_path)


SOFTPLUS = '''netfc-tables build --function softplus --expression 'max(x, 0) + log1p(exp(-abs(x)))'
cp softplus.netfcfun /etc'''
SWITCH = 'dpdk-netfc ... -- --control /run/dpdk-netfc/control'
WITH_ADDRESSES = """dpdk-netfc -l 0 --no-huge -m 512 --no-pci --vdev=net_tap0,iface=netfc0 -- """ \
    """--address 10.0.0.2/24 --address fd00::2/64 --functions rsqrt
ip link set netfc0 up
ip address add 10.0.0.1/24 dev netfc0
ip address add fd00::1/64 dev netfc0 nodad"""
# A document, a section with sessions, what comes before it, and how many ports a switch in it has.
SESSIONS = [
    ('docs/operations.md', 'Changing it while it runs', SOFTPLUS, 2),
    ('docs/monitoring.md', 'Telemetry', SWITCH, 1),
    ('docs/monitoring.md', 'Captures', SWITCH, 1),
    ('docs/clients.md', 'The command line', WITH_ADDRESSES, 0),
    ('docs/how-it-works.md', 'Stages, not sets', '', 0),
]


@needs.needs_namespaces
@needs.needs_mounts
@needs.needs_tap
@pytest.mark.parametrize('document, heading, before, ports', SESSIONS)
def test_sessions(document, heading, before, ports, tmp_path):
    sessions.run(recipes.section(document, heading), tmp_path, before, ports)


@needs.needs_namespaces
@needs.needs_mounts
@pytest.mark.parametrize('session', ['$ false\n', '$ echo 1\n2\n', '$ true\ntrue: refused\n', '$ cat\n--> 1\n2\n'])
def test_a_session_that_is_wrong_is_found(session, tmp_path):
    with pytest.raises(AssertionError):
        sessions.run([recipes.Block('', session, '')], tmp_path)


@needs.needs_namespaces
@needs.needs_mounts
def test_a_session_that_is_right_passes(tmp_path):
    text = ('$ echo 1  # one\n1\n$ sh -c "echo sh: no; false"\nsh: ...\n$ cat\n--> 1 2 3\n1 ... 3\n'
            '$ cat /etc/it\n$1 \'2\'\n$ grep -c 2 /etc/it\n1\n')
    sessions.run([recipes.Block('', text, ''), recipes.Block('', 'a -> b\n', '')], tmp_path)


def test_nothing_is_said_of_commands_that_are_gone():
    """Those that tests/service runs on a machine under systemd."""
    there = {command for page in documented_commands.PAGES for command in documented_commands.commands(page)}
    for table in ('NOT_RUN', 'INSTEAD', 'BEFORE', 'AFTER', 'FAILS'):
        assert set(getattr(documented_commands, table)) <= there
    assert all(any(command.startswith(begin) for command in there) for begin in documented_commands.STAYS)
