# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch: collectives besides all_reduce, through the switch and not through gloo."""

import pytest

import needs
import sanitized
import torch_values
from test_allreduce import serving
from torch_ranks import NO_TORCH, failures, ranks, results

pytestmark = [
    needs.skip_where(NO_TORCH),
    pytest.mark.skipif(sanitized.is_sanitized(), reason='torch does not load with the sanitizers'),
]

SIZE = 3


@pytest.mark.parametrize('name', torch_values.NAMES)
def test_each_is_exact_and_not_gloos(tmp_path, name):
    """A fifth of all packets lost."""
    with serving(lost=0.2) as address:
        said, errors = ranks(tmp_path, SIZE, 'collect', name, address=address)
    torch_values.check_collected(said, errors, name)


def test_what_does_not_fit_is_refused(tmp_path):
    with serving() as address:
        told = results(tmp_path, 2, 'refuse_parts', address=address)
    for lists, sizes, parts, whole in told:
        assert 'all_gather: 3 is not 2 times 1' in lists
        assert 'a tensor of 3 float32 cannot hold one of 2 float32' in sizes
        assert 'reduce_scatter: a tensor of 3 float32' in parts
        assert 'reduce_scatter_tensor: 5 is not 2 times 2' in whole


def test_columns_are_exchanged(tmp_path):
    """As between stages of a pipeline: both receive before they send."""
    with serving() as address:
        assert results(tmp_path, 2, 'exchange_columns', address=address) == [[2.0] * 4, [1.0] * 4]


def test_other_roots_are_told(tmp_path):
    with serving() as address:
        for text in failures(tmp_path, 2, 'differ_in_root', address=address):
            assert 'broadcast 1 from rank' in text
            assert 'call different collectives' in text


def test_an_optimizer_that_is_shared_out(tmp_path):
    """ZeroRedundancyOptimizer: the weights of all ranks, and of the whole optimizer, bit for bit."""
    with serving() as address:
        told = results(tmp_path, 4, 'shard_optimizer', address=address)
    assert all(whole == told[0][0] and sharded == whole for whole, sharded in told)


def test_a_model_that_is_shared_out(tmp_path):
    """FullyShardedDataParallel with four ranks, whose mean is a sum divided by a power of two."""
    with serving() as address:
        told = results(tmp_path, 4, 'shard_model', address=address)
    if isinstance(told[0], str):
        pytest.skip(told[0])
    assert all(whole == sharded == told[0][0] for whole, sharded in told)
