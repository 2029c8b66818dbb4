# SPDX-License-Identifier: BSD-3-Clause
"""MPI programs whose reductions go through a running switch, with each MPI library there is."""

import contextlib
import dataclasses
import os
import re
import shutil
import signal
import subprocess
import tempfile

import hosts
import programs
import pytest
import sanitized
import switch

TIMEOUT_S = 120 * hosts.PATIENCE
LIBRARIES = switch.BUILD / 'lib' / 'mpi'
PROGRAMS = switch.BUILD / 'tests' / 'mpi'
# On the machines of tests other ways between processes say first that they do not work.
CALM = {'OMPI_MCA_btl': 'self,vader', 'OMPI_MCA_pml': 'ob1',
        # More ranks than cores: of Open MPI 4, and of 5.
        'OMPI_MCA_rmaps_base_oversubscribe': '1',
        'PRTE_MCA_rmaps_default_mapping_policy': ':oversubscribe',
        # What Open MPI 5 says to mpirun does not go over an interface that ends with the switch.
        'PMIX_MCA_ptl_base_if_include': 'lo',
        # Linux 6.18 lets nobody else run for seconds where ranks yield the processor all the time.
        'OMPI_MCA_mpi_yield_when_idle': '0',
        'OMPI_ALLOW_RUN_AS_ROOT': '1', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM': '1'}

# mpirun keeps files in a folder of the user's there, and the last one to end removes it under those that begin.
SESSIONS = tempfile.TemporaryDirectory(prefix='mpi')
# A switch that takes exact sums of a node's ranks.
NODES = '--aggregate=digits=fp32+fp64'

KINDS = [kind for kind in ('openmpi', 'mpich')
         if (LIBRARIES / f'libnetfc-mpi-{kind}.so').exists() and shutil.which(f'mpirun.{kind}')]

marks = [
    hosts.needs_namespaces,
    pytest.mark.skipif(not KINDS, reason='the build has no library for an MPI that is installed'),
    pytest.mark.skipif(sanitized.is_sanitized(),
                       reason='what is preloaded comes before the sanitizer')]


def checks(kind):
    """The program with all checks, for an MPI library."""
    return PROGRAMS / f'mpi-checks-{kind}'


@dataclasses.dataclass
class Done:
    """What has become of a run: exit status, and all that its ranks said."""

    status: int
    out: str
    err: str

    def of_check(self, check):
        """What was said on stderr while one of its checks ran to an end."""
        said = re.search(rf'^check {check}$(.*)^check {check}: done$', self.err, re.M | re.S)
        last = (re.findall(r'^check (\w+)$', self.err, re.M) or ['mpirun'])[-1]
        assert said, f'{check} was not run: ' * (check != last) + f'{last} did not end: {self}'
        return said[1]


@contextlib.contextmanager
def switched(folder, option='--aggregate'):
    """A host whose interface is a TAP port of a switch that aggregates; the switch."""
    options = ['--address', f'{hosts.SWITCH_IP}/24', option]
    with hosts.at_tap(folder, options) as (host, live):
        host.ip('link', 'set', 'lo', 'up')
        yield host, live


@pytest.fixture(name='node', scope='module')
def node_at_a_switch(tmp_path_factory):
    """A host at a switch, for tests that leave both as they were."""
    with switched(tmp_path_factory.mktemp('node'), NODES) as (host, live):
        yield host
        live.stop()


@contextlib.contextmanager
def by_memif(folder, ports):
    """A host without a network, and a switch with so many ports at a socket; that, and the ports as
    variables of ranks. The driver takes 20 KB of DPDK's memory for each worker that connects, or refuses it."""
    path = switch.RUNTIME / f'memif-{next(hosts.numbers)}'
    devices = [f'net_memif{port},role=server,id={port},socket={path},socket-abstract=no'
               for port in range(ports)]
    options = ['--address', f'{hosts.SWITCH_IP}/24', '--forward', 'bridge', NODES]
    with hosts.Host(0) as host, hosts.LiveSwitch(folder, devices, options, memory=512) as live:
        live.wait_until_ready()
        host.ip('link', 'set', 'lo', 'up')
        yield host, live, {'NETFC_MPI_INTERFACE': f'memif:{path},id=0-{ports - 1}',
                           'NETFC_MPI_BIND_ADDRESS': '10.1.0.1'}


def launch(host, kind, ranks, *words, library=None, also=None, options=(), **environment):
    """Starts mpirun on a host.

    library: of which MPI the preloaded one is, if not the same. also: what else is preloaded.
    """
    variables = {**os.environ, **CALM, 'TMPDIR': SESSIONS.name, 'NETFC_SWITCH': hosts.SWITCH_IP,
                 **environment}
    preloaded = f'{LIBRARIES}/libnetfc-mpi-{library or kind}.so'
    if also:
        preloaded += f':{also}'
    names = ['NETFC_SWITCH', *environment]
    if kind == 'openmpi':
        export = ['-x', f'LD_PRELOAD={preloaded}']
        export += [word for name in names for word in ('-x', name)]
    else:
        export = ['-genv', 'LD_PRELOAD', preloaded]
    return subprocess.Popen(
        ['ip', 'netns', 'exec', host.name, f'mpirun.{kind}', '-n', str(ranks), *export, *options,
         *map(str, words)], env=variables, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)


def finish(process, patience=1):
    """Waits for a run that was launched, so many times as long as for most."""
    try:
        out, err = process.communicate(timeout=patience * TIMEOUT_S)
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError('not done in time', Done(-signal.SIGKILL, *process.communicate())) from error
    return Done(process.returncode, out, err)


def run(host, kind, ranks, *words, patience=1, **more):
    """Runs a program on a host to its end."""
    return finish(launch(host, kind, ranks, *words, **more), patience)


def run_apart(folder, host, kind, ranks, *words, **more):
    """The same; what the ranks said on stderr comes rank by rank. The folder is empty before."""
    done = run(host, kind, ranks, *programs.errors_apart(folder), *words, **more)
    return dataclasses.replace(done, err=''.join(path.read_text() for path in folder.iterdir()) + done.err)
