# SPDX-License-Identifier: BSD-3-Clause
"""What all_reduce has to give for the values of torch_rank.py, computed with fractions."""

import fractions
import re

import numpy as np

COUNT = 1111
NAMES = ('float16', 'bfloat16', 'float32', 'float64', 'int32', 'int64')
NARROW = ('int16', 'int8', 'uint8')  # their sums wrap

# Bits of a significand, and the exponent of the least number.
_SHAPES = {'float16': (11, -24), 'bfloat16': (8, -133), 'float32': (24, -149),
           'float64': (53, -1074)}
# Of integers, so that three do not overflow, but for those whose sums wrap.
_MOST = {'int32': 2**29, 'int64': 2**60, 'int16': 2**15, 'int8': 2**7, 'uint8': 2**8}

_SATURATE = {'int32': 2**31, 'int64': 2**63}


def values(rank, name):
    """What a rank gives: integers, or binary64 that the type can hold."""
    draw = np.random.default_rng(rank)
    if name in _MOST:
        return draw.integers(0 if name == 'uint8' else -_MOST[name], _MOST[name], COUNT)
    drawn = draw.standard_normal(COUNT) * 2.0 ** draw.integers(-3, 4, COUNT)
    return np.array([nearest(fractions.Fraction(float(one)), name) for one in drawn])


def exact(name, op, size):
    """The results, as tensor.tolist() gives them."""
    lanes = zip(*(values(rank, name).tolist() for rank in range(size)))
    return [_reduced(lane, name, op, size) for lane in lanes]


def nearest(value, name):
    """A fraction to the nearest number of a type, ties to even; no overflow."""
    if name in _SATURATE:
        return min(max(round(value), -_SATURATE[name]), _SATURATE[name] - 1)
    if name in _MOST:
        return round(value)
    bits, least = _SHAPES[name]
    if value == 0:
        return 0.0
    # 2^(exponent) <= |value| < 2^(exponent + 1)
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    if abs(value) < fractions.Fraction(2) ** exponent:
        exponent -= 1
    unit = fractions.Fraction(2) ** max(exponent - bits + 1, least)
    return float(round(value / unit) * unit)


def _reduced(lane, name, op, size):
    if op in ('MIN', 'MAX'):
        return min(lane) if op == 'MIN' else max(lane)
    total = sum(map(fractions.Fraction, lane))
    if name in NARROW and op == 'SUM':
        return np.array(int(total)).astype(name).item()
    return nearest(total / size if op == 'AVG' else total, name)


def check_refused(told):
    """Of all ranks that have called refuse_parts() of torch_rank_collectives.py."""
    size = len(told)
    for rank, (lists, sizes, parts, whole, few, types, device) in enumerate(told):
        assert f'all_gather: {size + 1} is not {size} times 1' in lists
        assert 'a tensor of 3 float32 cannot hold one of 2 float32' in sizes
        assert 'reduce_scatter: a tensor of 3 float32' in parts
        assert f'reduce_scatter_tensor: {2 * size + 1} is not {size} times 2' in whole
        assert f'all_gather: {size - 1} is not {size} times 1' in few
        assert f'a tensor of {rank} float64 cannot hold one of {rank} float32' in types
        assert 'ProcessGroupGloo' in device


def check_collected(said, errors, name, by_gloo=()):
    """Of three ranks that have called collect() of torch_rank_collectives.py: all exact. by_gloo: what it may do."""
    part = COUNT // 3
    sums, means = (exact(name, op, 3)[:part * 3] for op in ('SUM', 'AVG'))
    given = values(0, name)[:part * 3].tolist()
    for rank, (one, error) in enumerate(zip(said, errors)):
        own = slice(rank * part, (rank + 1) * part)
        assert one['result'] == {
            'reduce_scatter': sums[own], 'reduce_scatter_tensor': means[own], 'all_gather': sums,
            'all_gather_into_tensor': sums, 'all_gather_into_turned': sums, 'broadcast': given,
            'reduce_scatter_uneven': [sums[:-100], [], sums[-100:]][rank],
            'all_gather_uneven': sums}, error
        assert {words.split()[0] for words in re.findall('netfc.torch: (.*) goes through gloo', error)} == {*by_gloo}
