# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums and their digits in Python's integers, written from docs/protocol.md alone.

A sum has a total and a set of marks for each lane. Totals are integers in units of the format's.
"""

import bisect
import dataclasses
import struct
from fractions import Fraction

import oracle

NAN, PLUS_INF, MINUS_INF, MINUS_ZERO = 1, 2, 4, 8
INVALID, OVERFLOW, UNDERFLOW = 1, 4, 8
JOINS_DIGITS = 0x80  # byte 15 of a chunk of digits, and of a width: there are marks


@dataclasses.dataclass(frozen=True)
class Kind:
    """A format: its number, bits, log2 of its unit, and of IEEE's kind the exponent's bits."""

    number: int
    bits: int
    unit: int
    exponent_bits: int = 0
    has_infinity: bool = True

    @property
    def is_integer(self):
        return self.exponent_bits == 0 and self.number in (6, 10)

    @property
    def is_posit(self):
        return self.number in (2, 4)

    @property
    def fraction_bits(self):
        return self.bits - 1 - self.exponent_bits

    @property
    def greatest(self):
        """The greatest finite magnitude's encoding."""
        top = (1 << self.bits - 1) - 1
        return ((1 << self.exponent_bits) - 1 << self.fraction_bits) - 1 if self.has_infinity \
            else top - 1

    @property
    def nan(self):
        if not self.has_infinity:
            return self.greatest + 1
        return self.greatest + 1 | 1 << self.fraction_bits - 1


KINDS = {
    'fp16': Kind(1, 16, -24, 5), 'posit16': Kind(2, 16, -28), 'bf16': Kind(3, 16, -133, 8),
    'posit16_es2': Kind(4, 16, -56), 'fp32': Kind(5, 32, -149, 8), 'int32': Kind(6, 32, 0),
    'fp64': Kind(7, 64, -1074, 11), 'fp8_e4m3': Kind(8, 8, -9, 4, has_infinity=False),
    'fp8_e5m2': Kind(9, 8, -16, 5), 'int64': Kind(10, 64, 0),
}


def summand(form, bits):
    """A value as a total and marks."""
    kind = KINDS[form]
    sign, magnitude = bits >> kind.bits - 1, bits & (1 << kind.bits - 1) - 1
    if kind.is_integer:
        return bits - (sign << kind.bits), 0
    if kind.is_posit:
        if bits == 0x8000:
            return 0, NAN
        value = Fraction(oracle.FORMATS[kind.number].decode(bits))
        return int(value / Fraction(2) ** kind.unit), 0
    if magnitude > kind.greatest:
        is_infinity = kind.has_infinity and magnitude == kind.greatest + 1
        return 0, (MINUS_INF if sign else PLUS_INF) if is_infinity else NAN
    exponent = max(magnitude >> kind.fraction_bits, 1)
    fraction = magnitude - (exponent - 1 << kind.fraction_bits)
    return (-1) ** sign * (fraction << exponent - 1), MINUS_ZERO if sign and not magnitude else 0


def added(sums):
    """The sum of sums, of which there is one at least: each a list of totals and marks by lane."""
    lanes = []
    for lane in zip(*sums):
        marks = 0
        for _, one in lane:
            marks |= one & ~MINUS_ZERO
        all_minus = all(one & MINUS_ZERO for _, one in lane)
        lanes.append((sum(total for total, _ in lane), marks | (MINUS_ZERO if all_minus else 0)))
    return lanes


def of_values(form, values):
    """Values, big-endian, as a sum."""
    size = KINDS[form].bits // 8
    return [summand(form, int.from_bytes(values[at:at + size], 'big'))
            for at in range(0, len(values), size)]


def rounded(form, sums, divisor=1):
    """A sum rounded to nearest, ties to even, once: values, big-endian, and the flags."""
    flags, values = 0, b''
    for total, marks in sums:
        bits, raised = _rounded_lane(KINDS[form], total, marks, divisor)
        values += bits.to_bytes(KINDS[form].bits // 8, 'big')
        flags |= raised
    return values, flags


def _rounded_lane(kind, total, marks, divisor):
    if kind.is_integer:
        limit = 1 << kind.bits - 1
        nearest = round(Fraction(total, divisor))
        kept = max(-limit, min(nearest, limit - 1))
        return kept % (1 << kind.bits), OVERFLOW if kept != nearest else 0
    if kind.is_posit:
        return _rounded_posit(kind, total, marks, divisor)
    sign = 1 << kind.bits - 1
    infinity = kind.greatest + 1  # without one, the NaN
    if marks & NAN or marks & PLUS_INF and marks & MINUS_INF:
        return kind.nan, 0 if marks & NAN else INVALID
    if marks & (PLUS_INF | MINUS_INF):
        return infinity | (sign if marks & MINUS_INF else 0), 0
    if total == 0:
        return sign if marks & MINUS_ZERO else 0, 0
    magnitude = _nearest_ieee(kind, Fraction(abs(total), divisor))
    flags = OVERFLOW if magnitude > kind.greatest else UNDERFLOW if magnitude == 0 else 0
    if magnitude > kind.greatest:
        magnitude = infinity
    return magnitude | (sign if total < 0 else 0), flags


def _nearest_ieee(kind, value):
    """The encoding nearest to a positive value in units; those that are too large go on."""
    step = 0
    while value >= 2 << kind.fraction_bits + step:
        step += 1
    significand = round(value / (1 << step))
    return significand + (step << kind.fraction_bits)


def _rounded_posit(kind, total, marks, divisor):
    if marks & NAN:
        return 0x8000, 0
    if total == 0:
        return 0, 0
    value = Fraction(abs(total), divisor) * Fraction(2) ** kind.unit
    edges = oracle.FORMATS[kind.number].edges
    below = bisect.bisect_left(edges, value, key=Fraction)
    tie = below < len(edges) and value == Fraction(edges[below]) and below % 2 == 1
    magnitude = below + tie
    return magnitude if total > 0 else -magnitude & 0xffff, 0


def part(sums, first, number, parts, lowest, width):
    """Bytes of a part: lanes from `first` on, in digits from `lowest` on.

    Raises OverflowError for a lane that has more digits, ValueError for one with lower ones.
    """
    if any(total % (1 << 32 * lowest) for total, _ in sums):
        raise ValueError(f'there are digits below {lowest}')
    has_marks = any(marks for _, marks in sums)
    made = struct.pack('>HHBBBB', first, len(sums), number, parts, lowest,
                       width | (JOINS_DIGITS if has_marks else 0))
    for total, _ in sums:
        made += (total >> 32 * lowest).to_bytes(4 * width, 'big', signed=True)
    return made + bytes(marks for _, marks in sums if has_marks)


def extent(sums):
    """The lowest digit and the width that hold all totals."""
    totals = [total for total, _ in sums if total]
    if not totals:
        return 0, 1
    lowest = min((total & -total).bit_length() - 1 for total in totals) // 32
    bits = max((total if total >= 0 else ~total).bit_length() + 1 for total in totals)
    return lowest, -(-(bits - 32 * lowest) // 32)


def parts(sums, lanes):
    """All parts of a sum, so many lanes each."""
    starts = range(0, len(sums), lanes)
    return [part(sums[at:at + lanes], at, number, len(starts), *extent(sums[at:at + lanes]))
            for number, at in enumerate(starts)]


def read_part(payload):
    """First lane, number, parts and the sums of a part's lanes."""
    first, lanes, number, count, lowest, width = struct.unpack_from('>HHBBBB', payload)
    size, marks_at = 4 * (width & 0x7f), 8 + 4 * (width & 0x7f) * lanes
    totals = [int.from_bytes(payload[at:at + size], 'big', signed=True) << 32 * lowest
              for at in range(8, marks_at, size)]
    marks = payload[marks_at:marks_at + lanes] if width & JOINS_DIGITS else bytes(lanes)
    return first, number, count, list(zip(totals, marks))
