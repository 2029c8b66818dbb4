# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch: a hook that sends the greatest gradients alone."""

import math

import numpy as np
import pytest

import torch_sparse
from allreduce_server import serving
from torch_ranks import marks, results

pytestmark = marks


def greatest(given, fraction, block):
    """Which of a rank's gradients it sends, by sorting blocks."""
    starts = range(0, len(given), block)
    sums = [float(np.abs(given[start:start + block]).sum(dtype='f4')) for start in starts]
    chosen = sorted(starts, key=lambda start: -sums[start // block])[:max(1, round(fraction * len(sums)))]
    return np.isin(np.arange(len(given)) // block * block, chosen)


def model_of_steps(size, fraction, block):
    """What each step gives: exact means of what was sent."""
    unsent = np.zeros((size, torch_sparse.COUNT), 'f4')
    steps = []
    for step in range(torch_sparse.STEPS):
        given = np.array([torch_sparse.gradients(rank, step) for rank in range(size)]) + unsent
        sends = np.array([greatest(each, fraction, block) for each in given])
        unsent = np.where(sends, np.float32(0), given)
        sent = np.where(sends, given, np.float32(0))
        # Of two ranks: the sum of two has no more bits than float64, but where the sizes are far apart.
        steps.append((sent.astype('g').sum(0) / size).astype('f4').tolist())
    return steps


@pytest.mark.parametrize('fraction, block', [(0.1, 1), (0.25, 8), (0.001, 64), (1.0, 5)])
def test_the_hook_gives_exact_means_of_what_was_sent(tmp_path, fraction, block):
    told = results(tmp_path, 2, 'topk_steps', str(fraction), str(block))
    assert told[0] == told[1] == model_of_steps(2, fraction, block)


def test_what_is_not_sent_stays_the_parameters(tmp_path):
    """DistributedDataParallel has another order of parameters from the second step on."""
    assert results(tmp_path, 2, 'topk_other_order') == [[0.0, 0.0, 1.0, 2.0]] * 2


def test_gradients_that_are_not_finite_are_of_their_step_alone(tmp_path):
    for first, second in results(tmp_path, 2, 'topk_of_infinity'):
        assert any(map(math.isnan, first)) and second == [0.0, 0.0, 0.0, 0.5]


def test_a_training_learns_and_repeats(tmp_path):
    runs = []
    for run in ('0', '1'):
        with serving() as address:
            folder = tmp_path / run
            folder.mkdir()
            runs.append(results(folder, 2, 'topk_training', address=address))
    assert runs[0][0]['weights'] == runs[0][1]['weights'] == runs[1][0]['weights']
    losses = runs[0][0]['losses']
    assert sum(losses[-10:]) < sum(losses[:10]) / 4, losses


def test_wrong_options_are_refused():
    topk = pytest.importorskip('netfc.torch.topk')
    for wrong in ({'fraction': 0.0}, {'fraction': 1.5}, {'block': 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            topk.TopKState(**wrong)
