# SPDX-License-Identifier: BSD-3-Clause
"""How good results are: the paper's accuracy and MSE, exact results, units in the last place.

The expected result is the correctly rounded one, as the paper's "calculated by CPUs". Lanes
whose expected result is zero, infinite or NaN have no relative error and are left out.
"""

import numpy

OPERATIONS = {"+,-": ("add", "sub"), "x": ("mul",), "/": ("div",)}
SYMBOLS = {"+,-": "+, -", "x": "×", "/": "÷"}
REAL = {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "div": numpy.divide}


def expected_bits(number_format, op, pairs):
    """The correctly rounded results: a double has bits enough for rounding twice to do no harm."""
    x, y = number_format.decode(pairs)
    with numpy.errstate(all="ignore"):
        return number_format.encode(REAL[op](x, y))


def accuracy(expected, result):
    """The paper's accuracy, 0 to 1, of values; 0 where only the result is infinite."""
    return numpy.exp(-numpy.abs((expected - result) / expected))


def ordinals(number_format, bits):
    """Places in the order of size: neighbours differ by 1."""
    bits, sign = bits.astype(numpy.int64), 1 << number_format.bits - 1
    if number_format.nan == sign:  # posits are two's complement
        return numpy.where(bits < sign, bits, bits - 2 * sign)
    return numpy.where(bits < sign, bits, sign - bits)


def counted(number_format, bits):
    """Which expected results count."""
    values = number_format.decode(bits)
    return numpy.isfinite(values) & (values != 0)


def left_out(number_format, bits):
    """How many lanes do not count, and why."""
    values = number_format.decode(bits)
    return {"zero": int(numpy.sum(values == 0)), "infinite": int(numpy.sum(numpy.isinf(values))),
            "nan": int(numpy.sum(numpy.isnan(values)))}


def cancelled_bits(number_format, pairs):
    """How many leading bits each sum that counts lost: the larger exponent less the sum's."""
    x, y = number_format.decode(pairs)
    total = x + y
    lanes = counted(number_format, number_format.encode(total)) & (x != 0) & (y != 0)
    exponents = numpy.frexp([x[lanes], y[lanes], total[lanes]])[1]
    return numpy.maximum(exponents[0], exponents[1]) - exponents[2]


def heatmap(values):
    """Counts by decile and percentile of accuracy: a list of 10 lists of 10."""
    cell = numpy.minimum((values * 100).astype(int), 99)
    return numpy.bincount(cell, minlength=100).reshape(10, 10).tolist()


def summary(values):
    """Average, median and minimum in percent, and the heatmap, of accuracies."""
    return {"average": float(100 * values.mean()), "median": float(100 * numpy.median(values)),
            "minimum": float(100 * values.min()), "heatmap": heatmap(values)}


def measure(number_format, expected, result):
    """All measures of results; both are encodings. None if no lane counts."""
    lanes = counted(number_format, expected)
    facts = {"lanes": int(lanes.sum()), "left_out": left_out(number_format, expected)}
    if not lanes.any():
        return facts
    expected, result = expected[lanes], result[lanes]
    with numpy.errstate(all="ignore"):
        values = number_format.decode(expected), number_format.decode(result)
        finite = numpy.isfinite(values[1])
        squares = (values[0][finite] - values[1][finite]) ** 2
        ulps = numpy.abs(ordinals(number_format, expected) - ordinals(number_format, result))
        facts.update(summary(accuracy(*values)))
    facts["exact"] = float(100 * numpy.mean(ulps == 0))
    facts["within_one"] = float(100 * numpy.mean(ulps <= 1))
    facts["overflowed"] = int(numpy.sum(~finite))
    facts["mse"] = float(squares.mean())
    return facts
