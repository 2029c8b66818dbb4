# SPDX-License-Identifier: BSD-3-Clause
"""Decimal numbers that any rounding before the last one gets wrong, and their encodings."""

from decimal import Decimal

import numpy as np

import oracle


def cases(name, step=1):
    """(text, encoding) at the boundaries between the encodings of a format, and beside them: nearer
    than a double tells.

    step: every so many boundaries
    """
    if name == 'fp32':
        return _cases(_fp32_edges(step))
    if name.startswith('fp8_'):
        return _cases(_fp8_edges(oracle.NarrowSet(f'{name}_exact').format))
    form = oracle.FORMATS_BY_NAME[name]
    first = int(form.edges[0] == 0)  # no number rounds to a posit's zero
    magnitudes = [*range(first, len(form.edges), step), len(form.edges) - 1]
    return _cases((magnitude, Decimal(float(form.edges[magnitude])), form.negate)
                  for magnitude in magnitudes)


def _fp32_edges(step):
    """binary32: of the least numbers, the greatest ones, and some between."""
    last = oracle.fp32.INFINITY - 1
    for magnitude in [0, 1, 2, *range(0x12345, last, 500021 * step), last - 1, last]:
        below, above = (float(np.uint32(bits).view(np.float32))
                        for bits in (magnitude, min(magnitude + 1, last)))
        edge = (below + above) / 2 if magnitude != last else 2.0 ** 128 - 2.0 ** 103
        yield magnitude, Decimal(edge), lambda bits: bits ^ oracle.fp32.SIGN


def _fp8_edges(form):
    """Formats of 8 bits: of all numbers. NaN, which is too large for fp8_e4m3, has no sign."""
    def negate(bits):
        return bits if bits == form.nan else bits ^ 0x80

    for magnitude in range(form.greatest + 1):
        edge = (form.values[magnitude] + form.values[magnitude + 1]) / 2
        yield magnitude, Decimal(float(edge)), negate


def _cases(edges):
    for magnitude, edge, negate in edges:
        even = magnitude + magnitude % 2
        text = f'{edge:f}'
        point = '' if '.' in text else '.'
        below = f'{_before(text)}{point}{"9" * 400}'
        for number, bits in ((text, even), (f'{text}{point}{"0" * 400}1', magnitude + 1),
                             (below, magnitude)):
            yield number, bits
            yield f'-{number}', negate(bits)
            yield f'{number}e0', bits


def _before(text):
    """The digits of a number with 1 taken from the last one, which is not 0 after a point."""
    if '.' in text:
        digits = str(int(text.replace('.', '')) - 1).zfill(len(text) - 1)
        places = len(text) - text.index('.') - 1
        return f'{digits[:-places]}.{digits[-places:]}'
    return str(int(text) - 1)
