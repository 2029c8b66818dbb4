# SPDX-License-Identifier: BSD-3-Clause
"""One lane: its result and its exceptions."""

import math

ADD, SUB, MUL, DIV, QUERY = 1, 2, 3, 4, 16
OPERATIONS = (ADD, SUB, MUL, DIV)

INVALID, DIVISION_BY_ZERO, OVERFLOW, UNDERFLOW = 1, 2, 4, 8


def calc(tables, op, x, y):
    """One lane: the result slot and the exception flags of x (op) y."""
    form = tables.format
    real_x, real_y = form.decode(x), form.decode(y)
    exact = exact_result(op, real_x, real_y)
    if all(math.isfinite(real) and real != 0 for real in (real_x, real_y)):
        z = tables.result(op, x, y)
    else:
        z = form.encode(exact)
    return z, exception_flags(form, op, real_x, real_y, exact, form.decode(z))


def exact_result(op, x, y):
    """x (op) y on floats: exact where an operand is special, else right about being zero.

    Sums, products and quotients of 16-bit numbers are far from the limits of a double, so that
    only an exact zero comes out as zero. Python's floats follow IEEE 754 but for x/0.
    """
    if op == ADD:
        return x + y
    if op == SUB:
        return x - y
    if op == MUL:
        return x * y
    if y != 0:
        return x / y
    if math.isnan(x) or x == 0:
        return math.nan
    return math.copysign(math.inf, x) * math.copysign(1, y)


def exception_flags(form, op, x, y, exact, z):
    """The flags of a lane from the values of its operands, of the exact result and of z."""
    if op == DIV and y == 0 and math.isfinite(x) and x != 0:
        return DIVISION_BY_ZERO
    if math.isnan(z):
        return 0 if math.isnan(x) or math.isnan(y) else INVALID
    if math.isinf(z):
        return OVERFLOW if math.isfinite(x) and math.isfinite(y) else 0
    return UNDERFLOW if z == 0 and exact != 0 else 0
