# SPDX-License-Identifier: BSD-3-Clause
"""netfc.torch: gradients of 8 bits, and results wider than what is sent."""

import fractions
import math

import numpy as np
import pytest

import torch_eights
from oracle.narrow import NarrowFormat
from allreduce_server import serving
from torch_ranks import failures, marks, results

pytestmark = marks

FORMATS = {name: NarrowFormat(number) for name, number in (('fp8_e4m3', 8), ('fp8_e5m2', 9))}


def nearest(name, value):
    """The number nearest to one that is not too large."""
    return float(FORMATS[name].decode(FORMATS[name].encode(float(value))[0]))


def numbers_of(name):
    """All that are finite, ascending."""
    return sorted({float(value) for value in map(FORMATS[name].decode, range(256))
                   if math.isfinite(value)})


def agreed_shift(values, greatest):
    """The greatest power of two for which none of the values is too large."""
    most = max(abs(fractions.Fraction(float(value))) for value in values)
    shift = -200
    while most and most * fractions.Fraction(2)**(shift + 1) <= greatest:
        shift += 1
    return shift if most else 0


def model_of_steps(name, size, feedback):
    """What each step gives, by exact fractions and the formats' oracle."""
    greatest = fractions.Fraction(numbers_of(name)[-1])
    rest = np.zeros((size, torch_eights.COUNT), np.float32)
    steps = []
    for step in range(torch_eights.STEPS):
        given = np.array([torch_eights.gradients(rank, step) for rank in range(size)])
        given = given + rest if feedback else given
        sent = np.zeros_like(given)
        for start in range(0, torch_eights.COUNT, torch_eights.BLOCK):
            block = given[:, start:start + torch_eights.BLOCK]
            shift = agreed_shift(block.reshape(-1), greatest)
            for place, value in np.ndenumerate(block):
                one = nearest(name, math.ldexp(float(value), shift))
                sent[place[0], start + place[1]] = math.ldexp(one, -shift)
        rest = given - sent
        # Two or four ranks: neither sum nor mean of these has more bits than float64.
        steps.append((sent.astype('f8').sum(0) / size).astype('f4').tolist())
    return steps


@pytest.mark.parametrize('feedback', [True, False])
@pytest.mark.parametrize('name', FORMATS)
def test_the_hook_gives_exact_means_of_what_was_sent(tmp_path, name, feedback):
    told = results(tmp_path, 2, 'fp8_steps', name, 'feedback' if feedback else '')
    assert told[0] == told[1] == model_of_steps(name, 2, feedback)


def test_gradients_that_are_not_finite_are_nan_once(tmp_path):
    told = results(tmp_path, 2, 'fp8_of_infinity')
    for first, second in told:
        assert [math.isnan(value) for value in first] == [False, True, True, False]
        assert second == [1.0] * 4


def test_what_is_rounded_away_stays_the_parameters(tmp_path):
    """DistributedDataParallel has another order of parameters from the second step on."""
    told = results(tmp_path, 2, 'fp8_other_order')
    assert told == [[0.0, 0.0, 0.0, 2.0**-10]] * 2


@pytest.mark.parametrize('name', FORMATS)
def test_encodings_are_those_of_the_format(name):
    """At and beside each number, and each middle of two."""
    fp8 = pytest.importorskip('netfc.torch.fp8')
    numbers = numbers_of(name)
    middles = [(low + high) / 2 for low, high in zip(numbers, numbers[1:])]
    points = np.array(numbers + middles, np.float32)
    values = np.concatenate([points, np.nextafter(points, np.float32(np.inf)),
                             np.nextafter(points, np.float32(-np.inf))])
    values = values[np.abs(values) <= max(numbers)]
    expected = [nearest(name, value) for value in values]
    assert fp8.decoded(name, fp8.encoded(name, values)).tolist() == expected


@pytest.mark.parametrize('lost', [0, 0.1])
def test_a_training_is_the_same_bit_for_bit(tmp_path, lost):
    """Whoever is late, and whatever is lost; and it learns."""
    bad = {'lost': lost, 'repeated': lost, 'delayed': lost} if lost else {}
    runs = []
    for run in ('0', '1'):
        with serving(**bad) as address:
            folder = tmp_path / run
            folder.mkdir()
            runs.append(results(folder, 2, 'fp8_training', run, address=address))
    assert runs[0][0]['weights'] == runs[0][1]['weights'] == runs[1][0]['weights']
    losses = runs[0][0]['losses']
    assert losses[-1] < losses[0] / 4, losses


def test_results_may_be_wider_than_values(tmp_path):
    for told in results(tmp_path, 2, 'reduce_into'):
        assert told == {
            'eights': [896.0, -2.0, 0.0], 'columns': [896.0, 0.0, -2.0, 0.0],
            'means': [448.0, -1.0, 0.0], 'in place': [0x7F, 0xC0, 0x00],
            'halves': [120000.0, 3.0], 'brains': [6.0, 3.0], 'started': [896.0, -2.0, 0.0]}


@pytest.mark.parametrize('which, text', [
    ('type', 'results of fp8_e4m3 cannot be fp64'), ('name', 'does not hold numbers'),
    ('other name', 'does not hold fp8_e4m3'), ('size', 'as many results, not 2'),
    ('operation', 'SUM, AVG, MIN and MAX'), ('least', 'sums or means'),
    ('hook', 'fp8_hook has got a group of back end "gloo"'), ('format', "format is 'fp8'"),
    ('results', 'results are torch.int32')])
def test_what_is_refused(tmp_path, which, text):
    for said in failures(tmp_path, 1, 'fp8_refused', which):
        assert text in said


def test_types_of_torch(tmp_path):
    """float8 of torch 2.1 and later, as they are and into float32."""
    torch = pytest.importorskip('torch')
    if not hasattr(torch, 'float8_e4m3fn'):
        pytest.skip(f'torch {torch.__version__} has no float8: 2.1 and later have')
    for told in results(tmp_path, 2, 'reduce_float8'):
        assert told == {'float8_e4m3fn': [3.0, -4.0], 'float8_e5m2': [3.0, -4.0],
                        'float8_e4m3fn wider': [3.0, -4.0], 'float8_e5m2 wider': [3.0, -4.0]}
