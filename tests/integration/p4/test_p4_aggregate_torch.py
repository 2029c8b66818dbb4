# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch through the aggregating P4 program, run as Python behind a UDP socket."""

import pytest

import p4_jobs
import torch_values
from test_p4_aggregate_client import bridged
from torch_ranks import failures, marks, results

JOB = {'NETFC_JOB': '1', 'NETFC_TOKEN': f'{p4_jobs.TOKEN:#x}'}

pytestmark = marks


@pytest.mark.parametrize('kind, ops', [('results', ['SUM']), ('sums', ['SUM', 'AVG'])])
def test_float16_is_exact(tmp_path, kind, ops):
    """By the job that the program knows."""
    with bridged(2, kind) as bridge:
        told = results(tmp_path, 2, 'reduce_half', *ops, address=bridge.address, **JOB)
    expected = {op: torch_values.exact('float16', op, 2) for op in ops}
    assert told == [expected] * 2


@pytest.mark.parametrize('more, text', [
    ({'NETFC_JOB': '2'}, 'has no place'),
    ({'NETFC_TOKEN': '5'}, 'a place in job 1: another'),
    ({'NETFC_SLOTS': '2'}, 'does not join job 1 as others did')])
def test_another_job_than_the_program_knows(tmp_path, more, text):
    with bridged(2, 'sums') as bridge:
        told = failures(tmp_path, 2, 'alone', address=bridge.address, NETFC_JOIN_TIMEOUT='3',
                        **{**JOB, **more})
    for one in told:
        assert text in one
