# SPDX-License-Identifier: BSD-3-Clause
"""The paper's tables in formats of 8 bits: how exact they are, and how large, by scaling factor."""

import numpy

from netfc import OPS
from netfc.formats import NUMBER_FORMATS

FORMATS = ("fp8_e4m3", "fp8_e5m2")
SCALES = (2, 4, 8, 16, 32, 64, 128)
GREATEST = 0x7F  # of magnitudes


def rounded(values):
    """To the nearest integer, as the plain sets have it."""
    return numpy.floor(values + 0.5).astype(int)


class Tables:
    """A plain set of the paper's, of a format that libnetfc has none for.

    bytes: of logTable, miTables and expTable, with as many bits an entry as its values have
    """

    def __init__(self, form, scale):
        self.form, self.scale = form, scale
        values = form.decode(numpy.arange(1, GREATEST + 1, dtype=form.encodings))
        self.values = values[numpy.isfinite(values)]
        self.log = rounded(scale * numpy.log2(self.values))
        fraction_bits = int(numpy.count_nonzero((1 <= self.values) & (self.values < 2))).bit_length() - 1
        self.guard = fraction_bits + 2  # from here on the greater operand is the nearest number
        end, least = self._exponents()
        words = int(numpy.abs(self.log).max()).bit_length() + 1
        thetas = self.guard * scale
        entries = (GREATEST + 1) + (2 * thetas + 1) + 2 * (thetas + 1)
        self.bytes = (entries * words + (end - least + 1) * scale * 7) / 8

    def _exponents(self):
        """Of the first power of two that is too large, of half the least number."""
        greatest, least = self.values[-1], self.values[0]
        return int(numpy.log2(greatest)) + 1, int(numpy.log2(least)) - 1

    def _power(self, words):
        return self.form.encode(numpy.exp2(words / self.scale))

    def _mi(self, theta, differ):
        """log2(1 + 2^theta), or where signs differ |1 - 2^theta|; equal words count as one apart."""
        exponent = numpy.where(differ & (theta == 0), -1, theta) / self.scale
        with numpy.errstate(divide="ignore"):
            return rounded(
                self.scale * numpy.log2(numpy.abs(1 + numpy.where(differ, -1, 1) * numpy.exp2(exponent)))
            )

    def sums(self, differ):
        """The magnitudes of |x| + |y| or, where signs differ, of |x| - |y|, of all pairs."""
        i, j = self.log[:, None], self.log[None, :]
        theta = j - i
        z = self._power(i + self._mi(theta, differ))
        z = numpy.where(theta > self.guard * self.scale, numpy.arange(1, len(i) + 1)[None, :], z)
        z = numpy.where(theta < -self.guard * self.scale, numpy.arange(1, len(i) + 1)[:, None], z)
        same = self.values[:, None] == self.values[None, :]
        return numpy.where(numpy.logical_and(differ, same), 0, z)

    def products(self, sign):
        """The magnitudes of |x| * |y|, or with a sign of -1 of |x| / |y|, of all pairs."""
        return self._power(self.log[:, None] + sign * self.log[None, :])


def shares(form, scale, library):
    """The shares of results that are correctly rounded, by operation, of finite operands but zero; bytes."""
    tables = Tables(form, scale)
    x = numpy.arange(1, len(tables.values) + 1, dtype=form.encodings)
    x, y = numpy.meshgrid(x, x, indexing="ij")
    exact = {op: form.exact(op, x, y, library) & GREATEST for op in OPS}
    found = {
        "mul": numpy.mean(tables.products(1) == exact["mul"]),
        "div": numpy.mean(tables.products(-1) == exact["div"]),
    }
    # Of signs that are equal half of all pairs are, of sums and of differences.
    sums = [numpy.mean(tables.sums(numpy.bool_(differ)) == exact[op]) for differ, op in enumerate(("add", "sub"))]
    return {"bytes": tables.bytes, "add, sub": numpy.mean(sums), **found}


def run(library):
    """The shares, by format and scaling factor."""
    return {
        name: {scale: shares(NUMBER_FORMATS[name], scale, library) for scale in SCALES} for name in FORMATS
    }
