# SPDX-License-Identifier: BSD-3-Clause
"""examples/mpi: compiled without a warning; through a switch the order of ranks changes no bit."""

import os
import re
import shutil
import subprocess

import hosts
import mpi_runs
import pytest
import switch
from example_runs import EXAMPLES, PROJECT
from tiers import later

pytestmark = mpi_runs.marks


LIBRARY = switch.BUILD / 'lib' / 'allreduce'


def compile_example(kind, name, program, *words):
    """Without a warning; the program."""
    if not shutil.which(f'mpicc.{kind}'):
        pytest.skip(f'mpicc.{kind} is not installed')
    subprocess.run([f'mpicc.{kind}', '-O2', '-Wall', '-Wextra', '-Werror', '-o', program,
                    EXAMPLES / 'mpi' / f'{name}.c', '-lm', *words], check=True,
                   timeout=mpi_runs.TIMEOUT_S)
    return program


@pytest.mark.parametrize('name, words, wanted', [
    ('allreduce', ['double', '8', '3', '40000', '1'], r'bytes: .* results (\w{8})\n'),
    ('cg', ['40'], r'residual \S+ (\w{16})\n')])
@pytest.mark.parametrize('kind', mpi_runs.KINDS)
def test_an_example(tmp_path, kind, name, words, wanted):
    program = compile_example(kind, name, tmp_path / name)
    with mpi_runs.switched(tmp_path, mpi_runs.NODES) as (host, live):
        runs = [mpi_runs.run(host, kind, 3, program, *words, NETFC_SHIFT=str(shift))
                for shift in (0, 1)]
        stats = live.stop()['aggregate']
    assert all(done.status == 0 for done in runs), runs
    results = [re.findall(wanted, done.out) for done in runs]
    assert results[0] and results[0] == results[1]
    assert stats['jobs_ended'] == 2


EXACT = [f'-I{PROJECT}/lib/allreduce', f'-L{LIBRARY}', f'-Wl,-rpath,{LIBRARY}', '-lnetfc-allreduce']


@pytest.mark.parametrize('kind', mpi_runs.KINDS)
def test_exact_dot_products_are_those_of_any_number_of_ranks(tmp_path, kind):
    program = compile_example(kind, 'cg', tmp_path / 'cg', '-DEXACT', *EXACT)
    with mpi_runs.switched(tmp_path, mpi_runs.NODES) as (host, _live):
        runs = [mpi_runs.run(host, kind, ranks, program, '40') for ranks in (1, 2, 3)]
    assert all(done.status == 0 for done in runs), runs
    assert len({done.out for done in runs}) == 1
    assert runs[0].out.startswith('residual ')


def without_mpi(host, program, ranks, **environment):
    """What rank 0 prints."""
    variables = {**os.environ, 'NETFC_SWITCH': hosts.SWITCH_IP, **environment}
    command = ['ip', 'netns', 'exec', host.name, program, '40']
    started = [subprocess.Popen([*command, str(rank), str(ranks), '0x5ec9e7'], env=variables, text=True,
                                stdout=subprocess.PIPE) for rank in range(ranks)]
    said = [process.communicate(timeout=mpi_runs.TIMEOUT_S)[0] for process in started]
    assert [process.returncode for process in started] == [0] * ranks
    return said[0]


@pytest.mark.parametrize('kind, most', [*((kind, 3) for kind in mpi_runs.KINDS[:1]),
                                        *later('slow', *((kind, 8) for kind in mpi_runs.KINDS))])
def test_totals_are_those_of_any_number_of_ranks(tmp_path, kind, most):
    """With MPI and without; by the network and by shared memory."""
    program = compile_example(kind, 'elements', tmp_path / 'elements', *EXACT)
    plain = compile_example(kind, 'elements', tmp_path / 'plain', '-DWITHOUT_MPI', *EXACT)
    with mpi_runs.switched(tmp_path, mpi_runs.NODES) as (host, _live):
        runs = [mpi_runs.run(host, kind, ranks, program, '40') for ranks in range(1, most + 1)]
        printed = [without_mpi(host, plain, ranks) for ranks in (1, most)]
    with mpi_runs.by_memif(tmp_path, most) as (host, _live, variables):
        socket = re.match('memif:(.*),id=', variables['NETFC_MPI_INTERFACE'])[1]
        printed.append(without_mpi(host, plain, most, NETFC_MEMIF=socket, NETFC_NETWORK='10.1.0'))
    assert all(done.status == 0 for done in runs), runs
    assert {done.out for done in runs} == {*printed} and runs[0].out.startswith('residual ')
