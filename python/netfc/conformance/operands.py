# SPDX-License-Identifier: BSD-3-Clause
"""Operands that show mistakes: special values, boundaries, cancellation, ties, subnormal numbers,
and what is about too large or too small. The same in every run."""

import zlib
from collections.abc import Iterator

import numpy
from numpy.typing import NDArray

from netfc._native.arrays import Encodings
from netfc.formats import Format

Words = NDArray[numpy.int64]
OF_EACH = 600  # pairs of each structure


def specials(form: Format) -> Encodings:
    """Encodings at the edges of a format, of both signs, NaNs and infinities or NaR among them."""
    end = 1 << (form.bits - 1)
    near = [int(bits) for bits in form.encode([1.0, 2.0, 0.5, 1.5, 3.0])]
    fraction = near[1] - near[0]  # encodings from 1 to 2: of posits about one
    greatest = end - 1 if form.name.startswith("posit") else int(form.encode([numpy.inf])[0]) - 1
    magnitudes = {0, 1, 2, 3, end - 1, end - 2, form.nan % end, form.nan % end + 1, *near}
    for edge in (fraction, 2 * fraction, near[0], greatest, near[0] + fraction, end // 2):
        magnitudes |= {edge - 1, edge, edge + 1, edge + 2}
    kept = sorted(each for each in magnitudes if 0 <= each < end)
    return numpy.array([sign + each for each in kept for sign in (0, end)], form.encodings)


def pairs(form: Format, op: str) -> tuple[Encodings, Encodings]:
    """x and y for an operation: all pairs of special values, then those of each structure."""
    if form.bits == 8:
        return every_pair(form, 0, 1 << 8)
    edges = specials(form)
    made = [(numpy.repeat(edges, len(edges)), numpy.tile(edges, len(edges)))]
    draw = numpy.random.default_rng(zlib.crc32(f"{form.name} {op}".encode()))
    made += [(_typed(form, x), _typed(form, y)) for x, y in _structured(form, op, draw)]
    x, y = (numpy.concatenate(each) for each in zip(*made))
    return x, y


def every_pair(form: Format, start: int, end: int) -> tuple[Encodings, Encodings]:
    """All pairs whose x is from `start` to before `end`."""
    every = numpy.arange(1 << form.bits)
    x = numpy.repeat(numpy.arange(start, end), len(every))
    return _typed(form, x), _typed(form, numpy.tile(every, end - start))


def _typed(form: Format, words: Words) -> Encodings:
    encodings: Encodings = (words & ((1 << form.bits) - 1)).astype(form.encodings)
    return encodings


def _structured(
    form: Format, op: str, draw: numpy.random.Generator
) -> Iterator[tuple[Words, Words]]:
    """Pairs of each structure."""
    end, sign = 1 << form.bits, 1 << (form.bits - 1)
    one, two = (int(bits) for bits in form.encode([1.0, 2.0]))
    fraction = two - one

    def words(least: int = 0, beyond: int = end) -> Words:
        return draw.integers(least, beyond, OF_EACH)

    yield words(), words()
    x = words()
    yield x, (x ^ sign) + draw.integers(-4, 5, OF_EACH)  # cancellation
    x = words()
    yield x, x + draw.integers(-3 * fraction, 3 * fraction + 1, OF_EACH)  # carries
    few = ~((fraction >> 2) - 1)  # hardly any bits set: ties
    yield words() & few, words() & few | draw.integers(0, 2, OF_EACH)
    runs = (1 << draw.integers(0, fraction.bit_length(), (2, OF_EACH))) - 1
    yield words() & ~(fraction - 1) | runs[0], words() & ~(fraction - 1) | runs[1]
    small = [words(0, 2 * fraction) | sign * draw.integers(0, 2, OF_EACH) for _ in "xy"]
    yield small[0], small[1]  # subnormal numbers
    yield from _at_the_ends(form, op, draw)


def _at_the_ends(
    form: Format, op: str, draw: numpy.random.Generator
) -> Iterator[tuple[Words, Words]]:
    """What gives about the greatest, the least normal and the least number."""
    end = 1 << form.bits
    edges = specials(form)
    with numpy.errstate(all="ignore"):
        values = form.decode(edges).astype(numpy.float64)
        targets = numpy.unique(numpy.abs(values[numpy.isfinite(values) & (values != 0)]))
        x = draw.integers(0, end, OF_EACH)
        of_x = form.decode(_typed(form, x)).astype(numpy.float64)
        target = draw.choice(targets, OF_EACH)
        other = {"mul": target / of_x, "div": of_x / target}.get(op, target - of_x)
        y = form.encode(numpy.nan_to_num(other, posinf=1.0, neginf=1.0)).astype(numpy.int64)
    yield x, y + draw.integers(-2, 3, OF_EACH)
