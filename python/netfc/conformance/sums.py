# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums and their digits in Python's integers, written from docs/protocol.md alone.

A sum has a total and a set of marks for each lane. Totals are integers in units of the format's.
"""

import dataclasses
import functools
import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction

from netfc._native.codecs import Posit
from netfc.conformance.exact import rounded_to_odd

NAN, PLUS_INF, MINUS_INF, MINUS_ZERO = 1, 2, 4, 8
INVALID, OVERFLOW, UNDERFLOW = 1, 4, 8
# Byte 15 of a chunk of digits; of a width: there are marks, of a number of parts: a divisor.
JOINS_DIGITS = 0x80

Lane = tuple[int, int]  # total and marks
Sums = Sequence[Lane]


@dataclasses.dataclass(frozen=True)
class Kind:
    """A format: its number, bits, log2 of its unit, and of IEEE's kind the exponent's bits.

    posit: of posits, how they are encoded.
    """

    number: int
    bits: int
    unit: int
    exponent_bits: int = 0
    has_infinity: bool = True
    posit: Posit | None = None

    @property
    def is_integer(self) -> bool:
        """Two's complement."""
        return self.exponent_bits == 0 and self.posit is None

    @property
    def fraction_bits(self) -> int:
        """Of IEEE's kind."""
        return self.bits - 1 - self.exponent_bits

    @property
    def greatest(self) -> int:
        """The greatest finite magnitude's encoding."""
        if not self.has_infinity:
            return (1 << self.bits - 1) - 2
        return ((1 << self.exponent_bits) - 1 << self.fraction_bits) - 1

    @property
    def nan(self) -> int:
        """NaN's encoding."""
        if not self.has_infinity:
            return self.greatest + 1
        return self.greatest + 1 | 1 << self.fraction_bits - 1


KINDS = {
    "fp16": Kind(1, 16, -24, 5),
    "posit16": Kind(2, 16, -28, posit=Posit(16, 1)),
    "bf16": Kind(3, 16, -133, 8),
    "posit16_es2": Kind(4, 16, -56, posit=Posit(16, 2)),
    "fp32": Kind(5, 32, -149, 8),
    "int32": Kind(6, 32, 0),
    "fp64": Kind(7, 64, -1074, 11),
    "fp8_e4m3": Kind(8, 8, -9, 4, has_infinity=False),
    "fp8_e5m2": Kind(9, 8, -16, 5),
    "int64": Kind(10, 64, 0),
}


@functools.lru_cache(maxsize=1 << 18)
def summand(form: str, bits: int) -> Lane:
    """A value as a total and marks."""
    kind = KINDS[form]
    sign, magnitude = bits >> kind.bits - 1, bits & (1 << kind.bits - 1) - 1
    if kind.is_integer:
        return bits - (sign << kind.bits), 0
    if kind.posit is not None:
        if bits == kind.posit.nan:
            return 0, NAN
        return int(Fraction(float(kind.posit.decode(bits))) / Fraction(2) ** kind.unit), 0
    if magnitude > kind.greatest:
        is_infinity = kind.has_infinity and magnitude == kind.greatest + 1
        return 0, (MINUS_INF if sign else PLUS_INF) if is_infinity else NAN
    exponent = max(magnitude >> kind.fraction_bits, 1)
    fraction = magnitude - (exponent - 1 << kind.fraction_bits)
    total = fraction << exponent - 1
    return -total if sign else total, MINUS_ZERO if sign and not magnitude else 0


def added(sums: Iterable[Sums]) -> list[Lane]:
    """The sum of sums, of which there is one at least: each a list of totals and marks by lane."""
    lanes = []
    for lane in zip(*sums):
        marks = 0
        for _, one in lane:
            marks |= one & ~MINUS_ZERO
        all_minus = all(one & MINUS_ZERO for _, one in lane)
        lanes.append((sum(total for total, _ in lane), marks | (MINUS_ZERO if all_minus else 0)))
    return lanes


def of_values(form: str, values: bytes) -> list[Lane]:
    """Values, big-endian, as a sum."""
    size = KINDS[form].bits // 8
    return [
        summand(form, int.from_bytes(values[at : at + size], "big"))
        for at in range(0, len(values), size)
    ]


def in_units_of(form: str, wider: str, sums: Sums) -> list[Lane]:
    """Sums of a format in the units of a wider one."""
    shift = KINDS[form].unit - KINDS[wider].unit
    return [(total << shift, marks) for total, marks in sums]


def rounded(form: str, sums: Sums, divisor: int = 1) -> tuple[bytes, int]:
    """A sum rounded to nearest, ties to even, once: values, big-endian, and the flags."""
    flags, values = 0, b""
    for total, marks in sums:
        bits, raised = _rounded_lane(KINDS[form], total, marks, divisor)
        values += bits.to_bytes(KINDS[form].bits // 8, "big")
        flags |= raised
    return values, flags


def _rounded_lane(kind: Kind, total: int, marks: int, divisor: int) -> tuple[int, int]:
    if kind.is_integer:
        limit = 1 << kind.bits - 1
        nearest = round(Fraction(total, divisor))
        kept = max(-limit, min(nearest, limit - 1))
        return kept % (1 << kind.bits), OVERFLOW if kept != nearest else 0
    if kind.posit is not None:
        return _rounded_posit(kind, kind.posit, total, marks, divisor)
    return _rounded_ieee(kind, total, marks, divisor)


def _rounded_ieee(kind: Kind, total: int, marks: int, divisor: int) -> tuple[int, int]:
    sign = 1 << kind.bits - 1
    infinity = kind.greatest + 1  # without one, the NaN
    if marks & NAN or marks & PLUS_INF and marks & MINUS_INF:
        return kind.nan, 0 if marks & NAN else INVALID
    if marks & (PLUS_INF | MINUS_INF):
        return infinity | (sign if marks & MINUS_INF else 0), 0
    if total == 0:
        return sign if marks & MINUS_ZERO else 0, 0
    magnitude = _nearest_ieee(kind, Fraction(abs(total), divisor))
    if magnitude > kind.greatest:
        return infinity | (sign if total < 0 and kind.has_infinity else 0), OVERFLOW
    return magnitude | (sign if total < 0 else 0), UNDERFLOW if magnitude == 0 else 0


def _nearest_ieee(kind: Kind, value: Fraction) -> int:
    """The encoding nearest to a positive value in units; those that are too large go on."""
    step = max(0, int(value).bit_length() - kind.fraction_bits - 1)
    significand = round(value / (1 << step))
    return significand + (step << kind.fraction_bits)


def _rounded_posit(
    kind: Kind, posit: Posit, total: int, marks: int, divisor: int
) -> tuple[int, int]:
    if marks & NAN:
        return posit.nan, 0
    exact = Fraction(total, divisor) * Fraction(2) ** kind.unit
    return int(posit.encode([rounded_to_odd(exact) if exact else 0.0])[0]), 0


def part(sums: Sums, first: int, number: int, count: int, lowest: int, width: int) -> bytes:
    """Bytes of a part: lanes from `first` on, in digits from `lowest` on.

    Raises OverflowError for a lane that has more digits, ValueError for one with lower ones.
    """
    if any(total % (1 << 32 * lowest) for total, _ in sums):
        raise ValueError(f"there are digits below {lowest}")
    has_marks = any(marks for _, marks in sums)
    head = (first, len(sums), number, count, lowest, width | (JOINS_DIGITS if has_marks else 0))
    made = struct.pack(">HHBBBB", *head)
    for total, _ in sums:
        made += (total >> 32 * lowest).to_bytes(4 * width, "big", signed=True)
    return made + bytes(marks for _, marks in sums if has_marks)


def extent(sums: Sums) -> tuple[int, int]:
    """The lowest digit and the width that hold all totals."""
    totals = [total for total, _ in sums if total]
    if not totals:
        return 0, 1
    lowest = min((total & -total).bit_length() - 1 for total in totals) // 32
    bits = max((total if total >= 0 else ~total).bit_length() + 1 for total in totals)
    return lowest, -(-(bits - 32 * lowest) // 32)


def parts(sums: Sums, lanes: int, divisor: int = 0) -> list[bytes]:
    """All parts of a sum, so many lanes each."""
    starts = range(0, len(sums), lanes)
    count = len(starts) | (JOINS_DIGITS if divisor else 0)
    divided = struct.pack(">I", divisor) if divisor else b""
    return [
        part(sums[at : at + lanes], at, number, count, *extent(sums[at : at + lanes])) + divided
        for number, at in enumerate(starts)
    ]


def read_part(payload: bytes) -> tuple[int, int, int, list[Lane]]:
    """First lane, number, parts and the sums of a part's lanes."""
    first, lanes, number, count, lowest, width = struct.unpack_from(">HHBBBB", payload)
    size, marks_at = 4 * (width & 0x7F), 8 + 4 * (width & 0x7F) * lanes
    totals = [
        int.from_bytes(payload[at : at + size], "big", signed=True) << 32 * lowest
        for at in range(8, marks_at, size)
    ]
    marks = payload[marks_at : marks_at + lanes] if width & JOINS_DIGITS else bytes(lanes)
    return first, number, count, list(zip(totals, marks))


@functools.lru_cache(maxsize=1 << 18)
def ordered(form: str, bits: int) -> tuple[Fraction, int]:
    """What values that are no NaN are sorted by: infinities are far away, -0 is before +0."""
    total, marks = summand(form, bits)
    far = Fraction(2) ** 4000
    if marks & (PLUS_INF | MINUS_INF):
        return (far if marks & PLUS_INF else -far), 0
    return Fraction(total), -(marks & MINUS_ZERO)


def least_or_greatest(form: str, op: str, team: Sequence[bytes]) -> bytes:
    """min or max of the values of all, lane by lane: IEEE 754-2019's minimum and maximum."""
    kind, size, made = KINDS[form], KINDS[form].bits // 8, b""
    for at in range(0, len(team[0]), size):
        lane = [int.from_bytes(values[at : at + size], "big") for values in team]
        if any(summand(form, bits)[1] & NAN for bits in lane):
            chosen = kind.posit.nan if kind.posit is not None else kind.nan
        else:
            pick = min if op == "min" else max
            chosen = pick(lane, key=lambda bits: ordered(form, bits))
        made += chosen.to_bytes(size, "big")
    return made
