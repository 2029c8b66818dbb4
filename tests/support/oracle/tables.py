# SPDX-License-Identifier: BSD-3-Clause
"""Table sets: by logarithms, and correctly rounded.

A double is accurate enough for them, because no entry lies nearer than 1e-9 to a rounding
boundary, which is asserted for every entry, save for the exact ones and the tails, which are
settled by reasoning instead.
"""

import functools
import math
import re

import numpy as np

from .arithmetic import ADD, MUL, SUB, exact_result
from .formats import FORMATS_BY_NAME
from .fp32 import Fp32Set
from .narrow import NarrowSet

NEAREST_ALLOWED = 1e-9
NO_RESULT = None
INT16 = np.arange(-32768, 32768)


def saturate(word):
    """A sum or difference of log words as a saturating 16-bit ALU leaves it."""
    return max(-32768, min(32767, word))


class ExactSet:
    """The correctly rounded results of one format.

    A double is exact enough for them: a sum either fits its 53 bits, or the smaller operand is
    too small to move the larger one to a rounding boundary; a product fits; and a quotient that
    is no boundary itself stays further from every boundary than a double's rounding reaches.
    """

    def __init__(self, form):
        self.format = form

    def result(self, op, x, y):
        """The result slot for finite operands other than zero."""
        decode = self.format.decode
        return self.format.encode(exact_result(op, decode(x), decode(y)))


class LogSet:
    """The tables of one format and scale. log: by magnitude; mi[s], exp: by key + 32768."""

    def __init__(self, name, form, k, floor):
        if k not in [2 ** i for i in range(11)] or k > form.largest_k:
            raise ValueError(f'{name}: no such scale')
        self.name = name
        self.format = form
        self.k = k
        self.floor = floor
        self.guard = self.format.guard * self.k
        self.log = [None] + self._log().tolist()
        self.mi = self._mi()
        self.exp = self._exp().tolist()

    def _log(self):
        """R(k log2 v) of the magnitudes from 1 up."""
        mantissa, exponent = np.frexp(self.format.values[1:])  # mantissa in [1/2, 1)
        words = self.k * (exponent - 1 + np.log2(2 * mantissa))
        return self._round(words, exact=mantissa == 0.5)

    def _mi(self):
        """The three mi tables, from the two curves over a = |theta|.

        mi0(theta) = theta + mi0(-theta) and mi2(theta) = theta + mi1(-theta), and theta is a
        whole number, so that it stays outside the rounding.
        """
        distance = np.arange(1, 32769)
        log_sum = self._round(self._log2_of_sum(distance))
        log_difference = self._round(self._log2_of_difference(distance), exact=distance == self.k)
        mi0 = np.concatenate((log_sum[::-1], [self.k], distance[:-1] + log_sum[:-1]))
        middle = NO_RESULT
        if not self.floor:
            middle = int(self._round(self._log2_of_difference(np.array([self.format.near_one])))[0])
        mi1 = log_difference[::-1].tolist() + [middle] * 32768
        mi2 = [middle] * 32769 + (distance[:-1] + log_difference[:-1]).tolist()
        return mi0.tolist(), mi1, mi2

    def _log2_of_sum(self, distance):
        """k log2(1 + 2^(-distance/k)), accurate however close to 0."""
        return self.k * np.log1p(np.exp2(-distance / self.k)) / math.log(2)

    def _log2_of_difference(self, distance):
        """k log2(1 - 2^(-distance/k)), accurate however close to 0, and always below it."""
        near = np.log(-np.expm1(-distance * (math.log(2) / self.k)))
        far = np.log1p(-np.exp2(-distance / self.k))
        words = self.k * np.where(distance <= self.k, near, far) / math.log(2)
        return np.minimum(words, -1e-300)

    def _round(self, words, exact=False):
        """R of real log words; exact marks those known to be whole numbers.

        The side of 0 that a word lies on is never in doubt, which settles the floor in the tails.
        """
        words = np.where(exact, np.rint(words), words)
        shifted = words if self.floor else words + 0.5
        boundary = np.rint(shifted)
        close = (np.abs(shifted - boundary) < NEAREST_ALLOWED) & np.logical_not(exact)
        if self.floor:
            close &= boundary != 0
        assert not close.any(), f'{self.name}: a double is too coarse'
        return np.floor(shifted).astype(int)

    def _exp(self):
        """The encoding of 2^(n/k) for every int16 n."""
        whole, part = INT16 // self.k, INT16 % self.k
        real = np.ldexp(np.exp2(part / self.k), np.clip(whole, -300, 300))
        boundaries = self.format.values if self.floor else self.format.edges
        above = np.minimum(np.searchsorted(boundaries, real), len(boundaries) - 1)
        for near in (above, np.maximum(above - 1, 0)):
            close = np.abs(real / np.maximum(boundaries[near], 1e-300) - 1) < NEAREST_ALLOWED
            assert not (close & (part != 0)).any(), f'{self.name}: a double is too coarse'
        if self.floor:
            return self.format.exp_floored(real)
        return self.format.exp_rounded(real)

    def result(self, op, x, y):
        """The result slot for finite operands other than zero."""
        if op in (ADD, SUB):
            return self._sum(x, self.format.negate(y) if op == SUB else y)
        i = self.log[self.format.magnitude(x)]
        j = self.log[self.format.magnitude(y)]
        return self._power(saturate(i + j if op == MUL else i - j), (x ^ y) & 0x8000)

    def _sum(self, x, y):
        magnitude_x, magnitude_y = self.format.magnitude(x), self.format.magnitude(y)
        i, j = self.log[magnitude_x], self.log[magnitude_y]
        theta = saturate(j - i)
        if theta > self.guard:
            return y
        if theta < -self.guard:
            return x
        if (x ^ y) & 0x8000 == 0:
            table, sign = 0, x & 0x8000
        elif magnitude_x == magnitude_y:
            return 0
        elif magnitude_x > magnitude_y:
            table, sign = 1, x & 0x8000
        else:
            table, sign = 2, y & 0x8000
        m = self.mi[table][theta + 32768]
        return 0 if m is NO_RESULT else self._power(saturate(i + m), sign)

    def _power(self, n, sign):
        """The slot of 2^(n/k), negative if sign is not 0."""
        magnitude = self.exp[n + 32768]
        return self.format.negate(magnitude) if sign else magnitude


@functools.lru_cache(maxsize=None)
def table_set(name):
    """The table set called `name`, such as fp16_k1024, posit16_es2_k4_floor, bf16_exact or fp16_exact_small."""
    if name == 'fp32_exact':
        return Fp32Set()
    if re.fullmatch(r'fp8_e(4m3|5m2)_(exact|sat)', name):
        return NarrowSet(name)
    match = re.fullmatch(r'(?P<format>\w+?)_(exact(_small)?|k(?P<k>[1-9]\d*)(?P<floor>_floor)?)', name)
    if match is None or match['format'] not in FORMATS_BY_NAME:
        raise ValueError(f'{name}: no name of a table set')
    form = FORMATS_BY_NAME[match['format']]
    if match['k'] is None:
        return ExactSet(form)
    return LogSet(name, form, int(match['k']), floor=match['floor'] is not None)


def table_sets(*names):
    """The sets that a switch with `--tables names` has loaded, by format number."""
    return {table_set(name).format.number: table_set(name) for name in names}
