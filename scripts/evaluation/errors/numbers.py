# SPDX-License-Identifier: BSD-3-Clause
"""A 16-bit format's numbers, and results correctly rounded to it by binary64 arithmetic.

An operation is rounded to 53 bits by the processor, and the result to the format. That is the same as
rounding once: numbers of all formats are binary64 numbers of 13 bits or less; rounding boundaries,
half-way between two neighbours of a format, have 14 or less. Products have 26 bits and are exact. The
distance of a quotient from a boundary is 0 or more than 2^-30 of its size. A sum is exact, or its
operands are so far apart that it is nearer to the larger one than any boundary is. (Figueroa, "When is
double rounding innocuous?", 1995.)
"""

import math

import numpy

ENCODINGS = 1 << 16
SIGN = 1 << 15
NO_ORDINAL = 1 << 20  # greater than the distance of any two ordinals

# Of binary64.
FRACTION_BITS, SPECIAL = 52, 0x7FF

OPERATIONS = {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "div": numpy.divide}


class Numbers:
    """All encodings of a format.

    form: the netfc.Format
    value: NaN for NaN and NaR; ordinal: rank by value, neighbours differ by 1
    exponent: floor(log2 |value|) of finite numbers other than zero, which is_finite tells
    """

    def __init__(self, form):
        bits = numpy.arange(ENCODINGS)
        self.form = form
        self.value = form.decode(bits)
        self.is_finite = numpy.isfinite(self.value) & (self.value != 0)
        self.exponent = numpy.where(self.is_finite, numpy.frexp(self.value)[1] - 1, 0)
        self.is_posit = form.nan == SIGN
        negated = -bits % ENCODINGS if self.is_posit else bits ^ SIGN
        self.negated = negated.astype(numpy.uint16)
        ordinal = numpy.where(bits < SIGN, bits, -(negated % SIGN))
        self.ordinal = numpy.where(numpy.isnan(self.value), NO_ORDINAL, ordinal).astype(numpy.int32)
        self._round_init()

    def _round_init(self):
        """Rounding is a table. A row is for binary64 numbers of one sign and exponent, an entry for those
        whose fraction begins with the same bits, without any more of them and with."""
        significands = numpy.abs(numpy.frexp(self.value[self.is_finite])[0])
        kept = 1  # a boundary has a bit more than the numbers
        while (numpy.ldexp(significands, kept) % 1).any():
            kept += 1
        self._kept = kept
        # Exponents farther out round as the outermost do.
        exponents = self.exponent[self.is_finite] + 1023
        fields = [0, *range(exponents.min() - 2, exponents.max() + 2), SPECIAL]
        entries = numpy.arange(2 << kept)
        words = (entries >> 1 << FRACTION_BITS - kept) + entries % 2
        words = numpy.array(fields)[:, None] << FRACTION_BITS | words
        words[0] = 0  # no result is a subnormal number
        rows = words.view(numpy.float64)
        self._rounded = self.form.encode(numpy.concatenate([rows, -rows])).reshape(-1)
        row = numpy.clip(numpy.arange(SPECIAL + 1) - fields[1] + 1, 1, len(fields) - 2)
        row[[0, SPECIAL]] = 0, len(fields) - 1
        # So that the word of sign, exponent and the fraction's first bits need only be added.
        both = numpy.concatenate([row, row + len(fields)])
        self._base = both - numpy.arange(len(both)) << kept + 1

    def expected(self, op, x, y):
        """The correctly rounded results of encodings."""
        values = OPERATIONS[op](self.value.take(x), self.value.take(y)).view(numpy.uint64)
        shift = numpy.uint64(FRACTION_BITS - self._kept)
        word = (values >> shift).view(numpy.int64)
        entry = self._base.take(word >> self._kept)
        entry += word << 1
        entry += values & (numpy.uint64(1) << shift) - numpy.uint64(1) != 0
        return self._rounded.take(entry)

    def mirror(self, op):
        """A table: what becomes of a result where both operands of a sum change their signs, or one of a
        product. NaN stays, and so does the zero that is the sum of opposite numbers, but not of zeros."""
        mirror = numpy.where(numpy.isnan(self.value), numpy.arange(ENCODINGS), self.negated)
        if op in ("add", "sub"):
            mirror[0] = 0
        return mirror.astype(numpy.uint16)


def exponentials(errors):
    """exp(-error) of each, by the C library: numpy's has other last bits on other processors."""
    return numpy.array(list(map(math.exp, (-errors).tolist())))
