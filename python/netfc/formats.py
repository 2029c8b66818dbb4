# SPDX-License-Identifier: BSD-3-Clause
"""The number formats that requests compute in.

FORMATS has those of 16 bits by name; NUMBER_FORMATS has all, BY_ID by the number that stands on the
wire. All of it works without libnetfc but Format.exact(); encodings and values agree with
libnetfc's to the last bit.
"""

import decimal
import functools
import math
import re
import sys
from collections.abc import Sequence
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray

from netfc import catalogue
from netfc._native import arrays, libnetfc
from netfc._native.arrays import Encodings, Values
from netfc._native.codecs import Codec, codec_of
from netfc._native.libnetfc import Library
from netfc._native.to_odd import neighbour
from netfc.protocol import EXTRA_OPS, OPS, op_number

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_INFINITY = re.compile(r"[+-]?inf(inity)?", re.ASCII | re.IGNORECASE)
_NAN = re.compile(r"[+-]?na[nr]", re.ASCII | re.IGNORECASE)
_HEX = re.compile(r"0x([0-9a-f]+)", re.ASCII | re.IGNORECASE)

_ROWS = {row.name: row for row in catalogue.FORMATS if row.in_requests}


class Format:
    """A number format, by its name: fp16, posit16, bf16, posit16_es2, fp32, fp8_e4m3, fp8_e5m2.

    name: the name
    id: its number on the wire
    bits: the width of an encoding
    nan: the encoding of NaN or of a posit's NaR
    title: what it is, human-readable
    encodings: the numpy type of encodings, uint16; of fp32 uint32, of 8 bits uint8
    numbers: the numpy type of numbers, float64; of fp32 float32
    has_functions: whether there are min, max, compare, fma and functions of it

    IEEE 754-2019, section 3.4; Posit Standard 2022, section 3. Raises ValueError for any other
    name. Formats of the same name are equal.
    """

    def __init__(self, name: str):
        if name not in _ROWS:
            raise ValueError(f"no number format '{name}': there are {', '.join(_ROWS)}")
        row = _ROWS[name]
        self.name = name
        self.id = row.number
        self.bits = row.bits
        self.title = row.title
        self.has_functions = row.has_functions
        self._codec = _codec(name)
        self.nan = self._codec.nan
        self.encodings = self._codec.encodings
        self.numbers = self._codec.numbers

    def __repr__(self) -> str:
        return f"netfc.Format('{self.name}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Format) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def decode(self, bits: ArrayLike) -> Values:
        """The values of encodings; NaN for NaN and NaR.

        bits: integers from 0 to 65535, of fp32 to 4294967295, of 8 bits to 255, of any shape.
        Returns numbers of that shape. Raises ValueError for any other, TypeError for what is no
        number.
        """
        return self._codec.decode(bits)

    def encode(self, values: ArrayLike) -> Encodings:
        """The encodings nearest to values, ties to the even encoding.

        values: real numbers of any shape, integers, floats or long doubles, which are rounded
        once. Returns encodings of that shape. What is too large becomes infinity, of fp8_e4m3 NaN;
        posits saturate and never round to zero, and infinities are NaR to them. The same in every
        rounding mode, and with "flush to zero". Raises TypeError for what is no real number, truth
        values among it, and for an array with a mask.
        """
        return self._codec.encode(values)

    def text(self, bits: int) -> str:
        """What an encoding stands for, as text: as many digits as tell it from others (eight, of
        fp32 nine), inf, NaN or NaR."""
        value = float(self.decode(bits))
        return self._codec.nan_text if math.isnan(value) else f"{value:.{self._codec.digits}g}"

    def exact(
        self,
        op: str,
        x: ArrayLike,
        y: ArrayLike,
        library: Library | None = None,
        *,
        z: ArrayLike | None = None,
    ) -> NDArray[Any]:
        """The correctly rounded x (op) y, lane by lane: what an FPU of this format computes.

        op: add, sub, mul or div; min or max, which are IEEE 754-2019's minimum and maximum;
            compare: -1, 0 or 1, NaN where one is NaN; fma: x * y + z, rounded once
        x, y: numbers, which are rounded into the format first, or encodings, of any shapes that
            numpy broadcasts
        library: libnetfc; None: see netfc.TableSet
        z: likewise, for fma alone

        Returns numbers for numbers and encodings for encodings. Raises ValueError for another
        operation or shapes that do not fit, TypeError for what is no real number, for numbers
        with encodings, and for a z that is missing or too much, LibraryError without libnetfc.
        """
        values = self._operands(op, x, y, z)
        return arrays.compute(self, lambda *lanes: self._exact(op, lanes, library)[0], *values)

    def exact_flags(
        self,
        op: str,
        x: ArrayLike,
        y: ArrayLike,
        library: Library | None = None,
        *,
        z: ArrayLike | None = None,
    ) -> NDArray[numpy.uint8]:
        """The exception flags of exact(), bits of netfc.Flag, as uint8."""
        values = self._operands(op, x, y, z)
        return self._exact(op, arrays.encoded(self, *values), library)[1]

    def _exact(
        self, op: str, operands: Sequence[Encodings], library: Library | None
    ) -> tuple[Encodings, libnetfc.Flags]:
        functions = (library or libnetfc.default()).functions
        handle = libnetfc.format_handle(functions, self.name)
        function = functions.netfc_exact_lanes if op in OPS else functions.netfc_extra_lanes
        return libnetfc.on_arrays(function, handle, (OPS | EXTRA_OPS)[op], *operands)

    def _operands(
        self, op: str, x: ArrayLike, y: ArrayLike, z: ArrayLike | None
    ) -> list[ArrayLike]:
        """The operands that an operation takes, which has to be one of this format's."""
        op_number(op, OPS | EXTRA_OPS if self.has_functions else OPS)
        if op != "fma":
            if z is not None:
                raise TypeError(f"{op} takes x and y, and no z")
            return [x, y]
        if z is None:
            raise TypeError("fma takes x, y and z")
        return [x, y, z]


class Fp32(Format):
    """IEEE 754 binary32, the format of the table set fp32_exact: Format("fp32")."""

    def __init__(self) -> None:
        super().__init__("fp32")


@functools.cache
def _codec(name: str) -> Codec:
    """The one codec of a format, whose tables are made when they are first needed."""
    return codec_of(_ROWS[name])


NUMBER_FORMATS = {name: Format(name) for name in _ROWS}
FORMATS = {name: form for name, form in NUMBER_FORMATS.items() if form.bits == 16}
BY_ID = {number_format.id: number_format for number_format in NUMBER_FORMATS.values()}


def parse_bits(text: str, digits: int = 4) -> int | None:
    """The encoding that a text such as 0x3c00 names, None where it names none.

    digits: that it has at most
    """
    match = _HEX.fullmatch(text)
    return int(match[1], 16) if match and len(match[1]) <= digits else None


def parse_number(text: str) -> float | None:
    """The float that a decimal number, inf, nan or nar names, None where a text names none.

    A number that no float is becomes the one of the two floats around it whose last bit is set:
    rounded to odd, so that a format that it is encoded in rounds it as if it were the number
    itself. No text but inf stands for infinity, and none but zero for zero.
    """
    if _NAN.fullmatch(text):
        return math.nan
    if _INFINITY.fullmatch(text):
        return float(text)
    if not _DECIMAL.fullmatch(text):
        return None
    value = float(text)
    sign = -1.0 if text.startswith("-") else 1.0
    if math.isinf(value):
        return math.copysign(sys.float_info.max, sign)
    if value == 0:
        return math.copysign(5e-324 if re.match(r"[^e]*[1-9]", text, re.I) else 0.0, sign)
    return neighbour(value, decimal.Decimal(text))
