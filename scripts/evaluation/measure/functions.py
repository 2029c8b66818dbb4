# SPDX-License-Identifier: BSD-3-Clause
"""Functions of one number against double precision, and pow, of which there is no such table.

Double precision, by numpy and scipy, knows nothing of the integers that libnetfc computes with. Its
own error is below 2^-44 of a value; where a rounding boundary is as near, either side passes here, and
only the unit tests, by MPFR, say which is right.
"""

import numpy
from scipy import special

from netfc import FORMATS, Function

ENCODINGS = numpy.arange(0x10000, dtype=numpy.uint16)
ENTRY_BYTES = 2  # z of every x
SEED = 19
PAIRS = 1 << 22
# Posits have their digits near 1; IEEE formats have as many wherever they are normal.
POSIT_RANGE = (1 / 16, 16)
DOUBLE_ERROR = 2.0**-44
# What double precision calls 0 or infinite, and no format.
TINY, HUGE = 1e-300, 1e300
WITHOUT_POLE = ("exp", "exp2", "sigmoid", "gelu", "silu")
# Of log2 of a power's magnitude: from, up to.
POW_RANGES = ((0, 1), (1, 4), (4, 8))


CURVES = {
    "abs": numpy.abs,
    "neg": numpy.negative,
    "floor": numpy.floor,
    "ceil": numpy.ceil,
    "trunc": numpy.trunc,
    "round": numpy.rint,
    "sqrt": numpy.sqrt,
    "rsqrt": lambda x: 1 / numpy.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "exp": numpy.exp,
    "exp2": numpy.exp2,
    "ln": numpy.log,
    "log2": numpy.log2,
    "sin": numpy.sin,
    "cos": numpy.cos,
    "tanh": numpy.tanh,
    "sigmoid": special.expit,
    "erf": special.erf,
    "gelu": lambda x: 0.5 * x * special.erfc(-x / numpy.sqrt(2.0)),
    "silu": lambda x: x * special.expit(x),
}


def _range(number_format):
    """Where a format has all its digits: the least and the greatest magnitude."""
    if number_format.name.startswith("posit"):
        return POSIT_RANGE
    least = {"fp16": -14, "bf16": -126}[number_format.name]
    finite = number_format.decode(ENCODINGS)
    return 2.0**least, float(numpy.max(finite[numpy.isfinite(finite)]))


def _errors(number_format, found, expected):
    """Relative errors of results where the expected value is in the format's range."""
    least, greatest = _range(number_format)
    inside = (numpy.abs(expected) >= least) & (numpy.abs(expected) <= greatest)
    return numpy.abs(found[inside] - expected[inside]) / numpy.abs(expected[inside])


def _expected(name, x):
    """f(x) in double precision; where that is too small or too large, another such number."""
    with numpy.errstate(all="ignore"):
        expected = CURVES[name](x)
    if name not in WITHOUT_POLE:
        return expected
    lost = (expected == 0) & (x != 0)
    expected = numpy.where(lost, numpy.copysign(TINY, expected), expected)
    return numpy.where(numpy.isinf(expected), numpy.copysign(HUGE, expected), expected)


def _is_right(number_format, entries, expected):
    """Whether entries are the encodings of numbers, as far as double precision tells."""
    with numpy.errstate(over="ignore"):
        sides = [number_format.encode(expected * (1 + part)) for part in (-DOUBLE_ERROR, DOUBLE_ERROR)]
    return (entries == sides[0]) | (entries == sides[1])


def _function(library, name, number_format):
    """A function of a format: its greatest relative error, and the share of right entries."""
    x = number_format.decode(ENCODINGS)
    expected = _expected(name, x)
    has_value = numpy.isfinite(x) & ~numpy.isnan(expected)
    x, expected = ENCODINGS[has_value], expected[has_value]
    entries = Function(name, number_format, library).entries[x]
    finite = numpy.isfinite(expected)
    errors = _errors(number_format, number_format.decode(entries)[finite], expected[finite])
    return {"error": float(numpy.max(errors)),
            "exact": float(numpy.mean(_is_right(number_format, entries, expected)))}


# ---- pow -------------------------------------------------------------------------------------


def _word(values):
    """Log words: to the nearest, saturated as a switch saturates."""
    return numpy.clip(numpy.floor(values + 0.5), -0x8000, 0x7FFF)


def _pow_by_tables(number_format, scale, x, y):
    """x^y = 2^(±2^(log2|log2 x| + log2|y|)): three look-ups and an addition.

    The words of log2|log2 x| and log2|y| come of a table each, z of one by the sign and their sum.
    """
    with numpy.errstate(all="ignore"):
        log = numpy.log2(x)
        n = _word(_word(scale * numpy.log2(numpy.abs(log))) + _word(scale * numpy.log2(numpy.abs(y))))
        sign = numpy.where((log < 0) == (y < 0), 1.0, -1.0)
        return number_format.decode(number_format.encode(numpy.exp2(sign * numpy.exp2(n / scale))))


def _pow_by_steps(library, number_format, x, y):
    """log2, a product, exp2: three passes, each correctly rounded."""
    x, y = number_format.encode(x), number_format.encode(y)
    product = number_format.exact("mul", Function("log2", number_format, library)(x), y, library)
    return number_format.decode(Function("exp2", number_format, library)(product))


def _pow_pairs(number_format):
    """Random x > 0 other than 1 and y other than 0, uniform over encodings, and x^y, where that is
    in POW_RANGES and does not round to 1."""
    numbers = number_format.decode(ENCODINGS)
    numbers = numbers[numpy.isfinite(numbers) & (numbers != 0)]
    draw = numpy.random.default_rng(SEED)
    x = draw.choice(numbers[(numbers > 0) & (numbers != 1)], PAIRS)
    y = draw.choice(numbers, PAIRS)
    with numpy.errstate(all="ignore"):
        log = y * numpy.log2(x)
        chosen = numpy.abs(log) < POW_RANGES[-1][1]
        chosen &= number_format.encode(numpy.exp2(log)) != number_format.encode(1.0)
    return x[chosen], y[chosen], log[chosen]


def _errors_of_pow(number_format, z, log):
    """By range of the exact power: greatest and average relative error, share of right results."""
    expected = numpy.exp2(log)
    errors = numpy.abs(z - expected) / expected
    right = number_format.encode(z) == number_format.encode(expected)
    ranges = [(numpy.abs(log) >= low) & (numpy.abs(log) < high) for low, high in POW_RANGES]
    return [{"error": float(numpy.max(errors[inside])),
             "average": float(numpy.mean(errors[inside])),
             "exact": float(numpy.mean(right[inside]))} for inside in ranges]


def _pow(library, number_format, scale):
    """Both ways of computing powers."""
    x, y, log = _pow_pairs(number_format)
    return {
        "scale": scale,
        "tables": _errors_of_pow(number_format, _pow_by_tables(number_format, scale, x, y), log),
        "steps": _errors_of_pow(number_format, _pow_by_steps(library, number_format, x, y), log),
    }


def run(library, scales):
    """All functions in all formats, and pow. library: libnetfc; scales: the k of pow's tables."""
    return {
        "functions": {name: {form: _function(library, name, number_format)
                             for form, number_format in FORMATS.items()} for name in CURVES},
        "pow": {form: _pow(library, FORMATS[form], scale) for form, scale in scales.items()},
    }
