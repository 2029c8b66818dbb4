# SPDX-License-Identifier: BSD-3-Clause
"""Programs of others: the digits they print do not depend on the switch, nor on where ranks are."""

import json
import os
import subprocess
import sys

import mpi_runs
import project_scripts
import pytest
import switch

pytestmark = [*mpi_runs.marks, pytest.mark.long,
              pytest.mark.skipif('openmpi' not in mpi_runs.KINDS, reason='Open MPI is not there')]
MODULES = os.pathsep.join(str(project_scripts.PROJECT / name) for name in ('python', 'scripts'))


@pytest.mark.parametrize('name', ['LAMMPS', 'Quantum ESPRESSO', 'PETSc', 'HPCC'])
def test_results_are_those_of_mpi_and_of_any_placement(tmp_path, name):
    figures = tmp_path / 'figures.json'
    done = subprocess.run(
        [sys.executable, '-m', 'benchmark.mpi.programs', '--build', switch.BUILD, '--json', figures,
         '--program', name], env=os.environ | {'PYTHONPATH': MODULES}, capture_output=True, text=True,
        timeout=30 * mpi_runs.TIMEOUT_S, check=False)
    assert done.returncode == 0, done
    results, counts = {}, {}
    for program, workers, result, *calls, _seconds in json.loads(figures.read_text(encoding='utf-8')):
        results.setdefault(program, {})[workers] = result
        counts[program, workers] = calls
    if not results:
        pytest.skip(next(line for line in done.stdout.splitlines() if name.split()[0].lower() in line))
    for program, by_workers in results.items():
        alone = by_workers.pop('MPI alone')
        assert len(set(by_workers.values())) == 1, (program, by_workers)
        if not program.endswith('digits') and 'digits,' not in program:
            assert set(by_workers.values()) == {alone}, (program, alone, by_workers)
        for workers in by_workers:
            by_switch, by_node, _ = counts[program, workers]
            assert (by_switch if workers == 'ranks' else by_node) > 0, (program, workers)
