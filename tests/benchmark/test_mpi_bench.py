# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/bench mpi and scripts/demo mpi make of their measurements."""

import pytest

from benchmark.mpi import demo, run

OTHER = run.WAYS[1].name
MEASURED = {
    run.SWITCH.name: {8: [(2e-5, 1e-5, 'aa'), (3e-5, 1e-5, 'aa')], 10**6: [(.5, .25, 'bb')] * 2},
    OTHER: {8: [(4e-5, 2e-5, 'aa'), (4e-5, 3e-5, 'ab')], 10**6: [(1., .5, 'bb')] * 2}}


def test_short_vectors_by_their_median_and_long_ones_by_their_least_time():
    assert run.figure(8, MEASURED[OTHER][8]) == 4e-5
    assert run.figure(10**6, MEASURED[OTHER][10**6]) == .5


def test_table():
    *_, ours, other = run.table(MEASURED, [8, 10**6]).splitlines()
    assert ours == '| the switch | 0.02 ms | 0.25 s | yes |'
    assert other.endswith('| 0.04 ms | 0.50 s | no |')


def test_share_of_the_best_other():
    assert dict(run.shares(MEASURED, [8, 10**6])) == {8: .5, 10**6: .5}
    assert not list(run.shares({run.SWITCH.name: MEASURED[run.SWITCH.name]}, [8]))


def test_a_plot_has_a_panel_for_each_speed(tmp_path):
    pytest.importorskip('matplotlib')
    from benchmark.mpi import plot
    plot.plot({100: MEASURED, 1000: MEASURED}, tmp_path / 'mpi.svg')
    drawn = (tmp_path / 'mpi.svg').read_text(encoding='utf-8')
    assert drawn.count('id="axes_') == 2 and '<!-- 1 MB -->' in drawn


def test_results_are_counted():
    assert demo.row_of('sums', 4, [7, 5, 7]) == '| 4 | sums | 3 | 2 | 2 |'
