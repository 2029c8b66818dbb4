# SPDX-License-Identifier: BSD-3-Clause
"""examples/mpi: compiled without a warning; through a switch the order of ranks changes no bit."""

import re
import shutil
import subprocess

import mpi_runs
import pytest
from example_runs import EXAMPLES

pytestmark = mpi_runs.marks


@pytest.mark.parametrize('name, words, wanted', [
    ('allreduce', ['double', '8', '3', '40000', '1'], r'bytes: .* results (\w{8})\n'),
    ('cg', ['40'], r'residual \S+ (\w{16})\n')])
@pytest.mark.parametrize('kind', mpi_runs.KINDS)
def test_an_example(tmp_path, kind, name, words, wanted):
    if not shutil.which(f'mpicc.{kind}'):
        pytest.skip(f'mpicc.{kind} is not installed')
    program = tmp_path / name
    subprocess.run([f'mpicc.{kind}', '-O2', '-Wall', '-Wextra', '-Werror', '-o', program,
                    EXAMPLES / 'mpi' / f'{name}.c', '-lm'], check=True, timeout=mpi_runs.TIMEOUT_S)
    with mpi_runs.switched(tmp_path, mpi_runs.NODES) as (host, live):
        runs = [mpi_runs.run(host, kind, 3, program, *words, NETFC_SHIFT=str(shift))
                for shift in (0, 1)]
        stats = live.stop()['aggregate']
    assert all(done.status == 0 for done in runs), runs
    results = [re.findall(wanted, done.out) for done in runs]
    assert results[0] and results[0] == results[1]
    assert stats['jobs_ended'] == 2
