# SPDX-License-Identifier: BSD-3-Clause
"""Pairs of workers of which one is killed and started again with the job, token, address and port that it had."""

import subprocess

import switch

PROGRAM = switch.BUILD / 'tests' / 'allreduce' / 'allreduce_restarts'
PIPES = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'env': switch.ENVIRONMENT}


def words(pairs, times, *more):
    """The program's command line: so many pairs, each so many times."""
    return [str(word) for word in (PROGRAM, '--pairs', pairs, '--times', times, *more)]


def count_of(process):
    """Waits for the program. Returns how many restarts there were, all of which were right."""
    said, errors = process.communicate()
    assert process.returncode == 0 and ' restarts: 0 earlier results, 0 false errors' in said, said + errors
    return int(said.split()[0])
