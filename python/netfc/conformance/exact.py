# SPDX-License-Identifier: BSD-3-Clause
"""What correctly rounded arithmetic gives, worked out without libnetfc and without its tables.

A double is exact enough for sums, products and quotients of all formats here. A product of two fits
it; a sum either does, or the smaller operand is too small to move the larger one, which is a number
of the format, to where rounding changes. A quotient that is not itself in the middle between two
numbers stays away from it by more than 2^-50 of its value: x / y - m is (x - m y) / y, and x - m y
is a whole number of units of x and m y, which have 24 and 49 bits at most. fma is worked out in
fractions.
"""

import fractions
import math
from collections.abc import Callable
from typing import Any

import numpy
from numpy.typing import NDArray

from netfc._native.arrays import Encodings
from netfc.formats import Format
from netfc.protocol import Flag

Doubles = NDArray[numpy.float64]
Results = tuple[Encodings, NDArray[numpy.uint8]]

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": numpy.add,
    "sub": numpy.subtract,
    "mul": numpy.multiply,
    "div": numpy.divide,
}


class Exact:
    """The correctly rounded results of a format. saturates: as the sets do that end in _sat."""

    def __init__(self, number_format: Format, saturates: bool = False):
        self.format, self.saturates = number_format, saturates
        self._is_posit = number_format.name.startswith("posit")
        self._sign = 1 << (number_format.bits - 1)
        # After it are infinity, or what stands for it, and NaN; of posits nothing.
        end = 1 << (number_format.bits - 1)
        self.greatest = (end if self._is_posit else int(number_format.encode([math.inf])[0])) - 1

    def decode(self, bits: Encodings) -> Doubles:
        """The values as doubles."""
        with numpy.errstate(all="ignore"):
            values: Doubles = self.format.decode(bits).astype(numpy.float64)
        return values

    def results(self, op: str, *operands: Encodings) -> Results:
        """z and the flags of each lane: of add to fma, by name."""
        if op in _OPERATIONS:
            return self._arithmetic(op, *operands)
        if op == "fma":
            return self._fma(*operands)
        return self._order(op, *operands)

    def _arithmetic(self, op: str, x: Encodings, y: Encodings) -> Results:
        left, right = self.decode(x), self.decode(y)
        with numpy.errstate(all="ignore"):
            exact = _OPERATIONS[op](left, right)
        is_division = op == "div"
        by_zero = numpy.isfinite(left) & (left != 0) & (right == 0) & is_division
        return self._rounded(exact, [left, right], by_zero)

    def _rounded(
        self,
        exact: Doubles,
        operands: list[Doubles],
        by_zero: NDArray[numpy.bool_],
    ) -> Results:
        with numpy.errstate(all="ignore"):
            z = self.format.encode(exact)
            value = self.decode(z)
        no_nan = ~numpy.logical_or.reduce([numpy.isnan(each) for each in operands])
        finite = numpy.logical_and.reduce([numpy.isfinite(each) for each in operands])
        is_number = ~numpy.isnan(exact)
        z = numpy.where(is_number, z, self.format.nan).astype(self.format.encodings)
        too_large = is_number & ~numpy.isfinite(value)  # infinity, or what stands for it
        if self.saturates:
            signs = numpy.where(numpy.signbit(exact), self._sign, 0)
            z = numpy.where(too_large, signs | self.greatest, z).astype(z.dtype)
        flags = numpy.zeros(z.shape, numpy.uint8)
        flags |= numpy.where(no_nan & ~is_number, Flag.INVALID, 0).astype(numpy.uint8)
        overflow = too_large & finite & ~by_zero
        if self._is_posit:
            overflow[...] = False
        flags |= numpy.where(overflow, Flag.OVERFLOW, 0).astype(numpy.uint8)
        underflow = finite & ~by_zero & is_number & (value == 0) & (exact != 0)
        flags |= numpy.where(underflow, Flag.UNDERFLOW, 0).astype(numpy.uint8)
        flags[by_zero] = Flag.DIVBYZERO
        return z, flags

    def _order(self, op: str, x: Encodings, y: Encodings) -> Results:
        """min, max and compare: IEEE 754-2019's, with -0 before 0; NaR is less than all posits."""
        left, right = self.decode(x), self.decode(y)
        no_number = numpy.isnan(left) | numpy.isnan(right)
        if op == "compare":
            if self._is_posit:
                left, right = (
                    numpy.where(numpy.isnan(each), -math.inf, each) for each in (left, right)
                )
                no_number = numpy.zeros(left.shape, bool)
            z = self.format.encode((left > right).astype(float) - (left < right).astype(float))
        else:
            x_first = (left < right) | (
                (left == right) & (numpy.signbit(left) | ~numpy.signbit(right))
            )
            z = numpy.where(x_first == (op == "min"), x, y)
        z = numpy.where(no_number, self.format.nan, z).astype(self.format.encodings)
        return z, numpy.zeros(z.shape, numpy.uint8)

    def _fma(self, x: Encodings, y: Encodings, addend: Encodings) -> Results:
        left, right, third = (self.decode(each) for each in (x, y, addend))
        finite = numpy.isfinite(left) & numpy.isfinite(right)
        with numpy.errstate(all="ignore"):
            exact = left * right + third
        exact = numpy.where(finite & numpy.isinf(third), third, exact)
        for lane in numpy.flatnonzero(finite & numpy.isfinite(third)):
            factors = fractions.Fraction(left[lane]) * fractions.Fraction(right[lane])
            whole = factors + fractions.Fraction(third[lane])
            # Rounded to odd, so that rounding it again is as rounding once.
            if whole != 0:
                exact[lane] = rounded_to_odd(whole)
        return self._rounded(exact, [left, right, third], numpy.zeros(exact.shape, bool))


def rounded_to_odd(exact: fractions.Fraction) -> float:
    """The double next to a fraction whose last bit is set where it is not the fraction itself."""
    nearest = float(exact)
    if fractions.Fraction(nearest) == exact:
        return nearest
    mantissa, exponent = math.frexp(nearest)
    last = int(math.ldexp(mantissa, 53))
    if last % 2 == 0:
        last += 1 if exact > fractions.Fraction(nearest) else -1
    return math.ldexp(last, exponent - 53)
