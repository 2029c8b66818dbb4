# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch.invariant: one hash for any number of ranks, whatever they are dealt."""

import contextlib
import re
from fractions import Fraction

import pytest

from allreduce_server import serving
from test_torch import tree_of_two
from netfc import formats
from torch_ranks import failures, marks, ranks, results

pytestmark = marks

FORMATS = {'torch.float16': 'fp16', 'torch.bfloat16': 'bf16', 'torch.float32': 'fp32', 'torch.float64': 'fp64',
           'torch.bfloat16 masters': 'fp32'}
ALONE = {'address': None, 'BACKEND': 'gloo'}  # no switch


def hashes(tmp_path, size, *words):
    """Of all ranks, which have the same; an odd number of them needs no switch."""
    (tmp_path / 'store').unlink(missing_ok=True)
    if size == 1:
        (one,) = results(tmp_path, 1, *words, **ALONE)
        return one
    with serving() if size % 2 == 0 else contextlib.nullcontext() as address:
        told = results(tmp_path, size, *words, address=address)
    assert told == told[:1] * size
    return told[0]


@pytest.mark.parametrize('steps', [3, pytest.param(200, marks=pytest.mark.long)])
def test_any_number_of_ranks(tmp_path, steps):
    """More ranks than units, too; without a switch, one alone."""
    one = hashes(tmp_path, 1, 'any_number', str(steps))
    same = ('network', 'dealt at random', 'one bucket, no overlap', 'checked', 'loader')
    assert len({one[name] for name in same}) == 1
    assert len(set(one.values())) == 4
    for size in (2, 3, 4, 5, 8) if steps > 3 else (2, 3, 5):
        assert hashes(tmp_path, size, 'any_number', str(steps)) == one, size


def test_ranks_that_have_no_unit(tmp_path):
    one = hashes(tmp_path, 1, 'more_ranks_than_units')
    assert hashes(tmp_path, 3, 'more_ranks_than_units') == one


@pytest.mark.parametrize('size', [1, 2])
def test_steps_that_were_left_leave_nothing(tmp_path, size):
    """As in a program that goes on after an error."""
    assert len(set(hashes(tmp_path, size, 'left_steps'))) == 1


def test_a_sum_that_failed_leaves_nothing(tmp_path):
    assert hashes(tmp_path, 1, 'sums_that_failed') == [2.0] * 3


def test_classes_out_of_range_are_refused(tmp_path):
    *said, shape = hashes(tmp_path, 1, 'classes_that_there_are_not')
    assert shape == [0, 3, 2]
    for text, number in zip(said, (-1, -1, 8, 8)):
        assert f'{number} is none of 8' in text


def test_sizes_that_differ_are_refused(tmp_path):
    few, many, layer, features = hashes(tmp_path, 1, 'sizes_that_differ')
    assert 'has 0 masters, and this training has' in few and 'and this training has 0' in many
    assert 'size mismatch for weight' in layer and 'size mismatch for bias' in layer
    assert '6 features are not 4 blocks of 2' in features


def test_a_training_is_made_where_no_gradients_are_computed(tmp_path):
    assert hashes(tmp_path, 1, 'made_without_gradients') == [[1.0] * 3]


@pytest.mark.parametrize('size', [1, 2, 3])
def test_steps_of_many_units(tmp_path, size):
    assert hashes(tmp_path, size, 'many_units') == 1


def test_goes_on_with_another_number(tmp_path):
    """4 ranks until one is killed, then 3, then 5."""
    whole = hashes(tmp_path, 1, 'go_on_from', str(tmp_path / 'whole'), '9', 'alive')
    path = str(tmp_path / 'parts')
    said, _ = ranks(tmp_path, 4, 'go_on_from', path, '5', 'killed')
    assert said[1] is None and all('rank 1' in one['error'] for one in said if one)
    (tmp_path / 'store').unlink(missing_ok=True)
    for size, until in ((3, '6'), (5, '9')):
        last = hashes(tmp_path, size, 'go_on_from', path, until, 'alive')
    assert last == whole


def test_what_is_drawn_outside_of_units(tmp_path):
    """The same at all ranks, and from a checkpoint on; whatever the program's own seed."""
    drawn = hashes(tmp_path, 1, 'drawn_outside_of_units')
    assert hashes(tmp_path, 3, 'drawn_outside_of_units') == drawn
    assert drawn[1:3] == drawn[3:] and len({value for step in drawn[:3] for value in step[1:]}) == 6


def test_what_is_wrong_is_said_at_all_ranks(tmp_path):
    said = hashes(tmp_path, 3, 'wrong_inputs')
    alone = hashes(tmp_path, 1, 'wrong_inputs')
    assert 'parameter 1.weight: ranks 0, 1 float32 [24, 18], bits' in said['weights']
    assert 'parameter more.weight: ranks 0, 1 none, rank 2 float32 [2, 2]' in said['more parameters']
    assert '5.bias: ranks 0, 1 float32 [4], bits' in said['frozen']
    assert 'step 1: rank 2: 5.bias is frozen since the training began' in said['frozen later']
    assert 'step 1: rank 2: 5.bias requires a gradient, and did not when' in said['unfrozen later']
    assert 'step 0: ranks 0, 1, 2: 5.weight requires a gradient, and did not' in said['another layer']
    assert 'mode 4: ranks 0, 1 train, rank 2 eval' in said['evaluation']
    assert re.search('settings: ranks 0, 1 .* denormals False, rank 2 .* denormals True', said['denormals'])
    assert 'sampler: ranks 0, 1 128 samples, 8 units of 4, seed 7' in said['seed']
    assert 'step: ranks 0, 1 3, rank 2 4' in said['checkpoint of another step']
    assert 'the checkpoint is of 128 samples, 8 units of 4, seed 7' in said['checkpoint of another seed']
    assert said['checkpoint without checks'] == 3
    assert 'rank 2: unit 2: the loss is a tensor of shape (4,)' in said['no mean']
    assert 'has not been called' not in said['no mean']
    assert 'rank 2: unit 2: step.backward(loss) has not been called' in said['no backward']
    assert 'others than there are: deal()' in said['dealt differently']
    assert 'others than there are: deal()' in said['dealt differently, units of the same sum']
    assert said['not finite'] == alone['not finite'] and said['not finite'][0]
    assert '5.bias' in said['not finite'][2]
    assert 'threads: ranks 0, 1 1, rank 2 2' in said['threads']
    assert re.search('processor: ranks 0, 1 .*, rank 2 another, features 0', said['processor'])
    assert said['processor ignored'] == 'nothing'
    assert 'here another, features 0' in alone['checkpoint of another machine'][0]
    assert '1.weight gets gradients twice in one backward pass' in said['reentrant']
    assert '50 samples are 12 units of 4, and 2 are left' in said['units'][0]
    assert '50 samples, 8 units of 4' in said['units'][1] and '3 are left' in said['units'][2]
    assert '0.weight has a sparse gradient' in said['sparse']
    assert 'step 0: rank 0: unit 0: 0.weight is changed by the unit' in said['changed by a unit']
    assert said['frozen, of inference'] == 'nothing'
    assert said['unused'] == alone['unused'] and said['unused'][0]
    assert 'not all of its units were computed' in alone['left out']
    assert ['SyncBatchNorm' in said['groups'][0], 'complex64' in said['groups'][1],
            'no parameter' in said['groups'][2]] == [True] * 3


def test_a_unit_that_differs_is_named(tmp_path):
    told = failures(tmp_path, 2, 'differing_units')
    assert told[0] == told[1]
    assert 'is not the same at rank 0 and at rank 1: ' in told[0]


def test_below_two_leaves(tmp_path):
    one = hashes(tmp_path, 1, 'more_ranks_than_units')
    with tree_of_two() as addresses:
        told = results(tmp_path, 2, 'more_ranks_than_units', address=addresses)
    assert told == [one] * 2


def test_data_and_tensor_parallel(tmp_path):
    """1x1, 2x2, 4x1, 1x4."""
    one = hashes(tmp_path, 1, 'tensor_parallel', '1')
    assert one[1]
    for tensor in ('2', '1', '4'):
        assert hashes(tmp_path, 4, 'tensor_parallel', tensor) == one, tensor


def test_means_are_rounded_once(tmp_path):
    """The mean of six units' gradients, against fractions."""
    found = hashes(tmp_path, 1, 'means_of_gradients', '6')
    assert hashes(tmp_path, 2, 'means_of_gradients', '6') == found
    for kind, (gradients, means) in found.items():
        form = formats.NUMBER_FORMATS.get(FORMATS[kind])
        exact = [sum(map(Fraction, column)) / 6 for column in zip(*gradients)]
        assert means == (form.decode(form.encode(exact)).tolist() if form else [*map(float, exact)]), kind


def test_errors_are_less_than_pytorchs(tmp_path):
    exact, plain = hashes(tmp_path, 1, 'errors_of_gradients')
    assert 0 < exact < plain
