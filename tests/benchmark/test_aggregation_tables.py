# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench aggregation: what its tables say."""

from benchmark import aggregate


def report(retries):
    """Of netfc-bench, with so many repeats of 100 packets."""
    return {'switch': {'values_per_second': 2e6}, 'results': 3, 'wrong': 0,
            'requests': 60, 'parts': 40, 'retries': retries}


def printed(capsys, *reports):
    """The table of a case."""
    aggregate.print_cases('tree', {'fp32': [report(0)], 'fp32, a leaf': list(reports)})
    return capsys.readouterr().out


def test_a_busy_machine_is_told_of(capsys):
    out = printed(capsys, report(0), report(101))
    assert 'fp32, a leaf*' in out and aggregate.BUSY in out


def test_an_idle_machine_is_not(capsys):
    out = printed(capsys, report(0), report(100))
    assert '*' not in out
