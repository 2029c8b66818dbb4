# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch: collectives besides all_reduce, through the switch and not through gloo."""

import pytest

import torch_values
from torch_ranks import failures, marks, ranks, results

pytestmark = marks

SIZE = 3


@pytest.mark.parametrize('name', torch_values.NAMES)
def test_each_is_exact_and_not_gloos(tmp_path, name):
    """A fifth of all packets lost."""
    said, errors = ranks(tmp_path, SIZE, 'collect', name, server=dict(lost=0.2))
    torch_values.check_collected(said, errors, name)


def test_what_does_not_fit_is_refused(tmp_path):
    torch_values.check_refused(results(tmp_path, 2, 'refuse_parts'))


def test_columns_are_exchanged(tmp_path):
    """As between stages of a pipeline: both receive before they send."""
    assert results(tmp_path, 2, 'exchange_columns') == [[2.0] * 4, [1.0] * 4]


def test_tensors_of_inference_mode(tmp_path):
    told = results(tmp_path, 2, 'reduce_in_inference_mode')
    assert told == [[[[1.0] * 2] * 3, [2] * 3, [[0.0] * 2] * 2, [[1.0] * 2] * 2, [1.0] * 2]] * 2


def test_other_roots_are_told(tmp_path):
    for text in failures(tmp_path, 2, 'differ_in_root'):
        assert 'broadcast 1 from rank' in text
        assert 'call different collectives' in text


def test_an_optimizer_that_is_shared_out(tmp_path):
    """ZeroRedundancyOptimizer: the weights of all ranks, and of the whole optimizer, bit for bit."""
    told = results(tmp_path, 4, 'shard_optimizer')
    assert all(whole == told[0][0] and sharded == whole for whole, sharded in told)


def test_a_model_that_is_shared_out(tmp_path):
    """FullyShardedDataParallel with four ranks, whose mean is a sum divided by a power of two."""
    told = results(tmp_path, 4, 'shard_model')
    if isinstance(told[0], str):
        pytest.skip(told[0])
    assert all(whole == sharded == told[0][0] for whole, sharded in told)
