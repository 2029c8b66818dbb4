# SPDX-License-Identifier: BSD-3-Clause
"""IEEE 754 binary32, the format of the table set fp32_exact.

Numbers are float32 and encodings uint32. NUMBER_FORMATS has it beside the formats of 16 bits.
"""

import math

import numpy
from numpy.typing import ArrayLike, NDArray

from netfc._native import libnetfc, wide
from netfc._native.wide import Lanes, WideEncodings
from netfc.formats import FORMATS, Format
from netfc.protocol import op_number


class Fp32:
    """binary32 (IEEE 754-2019, section 3.4).

    name: "fp32"; id: its number, 5; title: what it is, for people; nan: the encoding of NaN
    """

    name = "fp32"
    id = 5
    title = "IEEE 754 binary32"
    nan = 0x7FC00000

    def __repr__(self) -> str:
        return "netfc.Fp32()"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fp32)

    def __hash__(self) -> int:
        return hash(self.name)

    def decode(self, bits: ArrayLike) -> NDArray[numpy.float32]:
        """The values of encodings, integers from 0 to 2^32 - 1. Raises ValueError for others."""
        return wide.decode(bits)

    def encode(self, values: ArrayLike) -> WideEncodings:
        """The encodings nearest to values, ties to the even encoding; too large ones are infinite.

        Raises TypeError for what is no real number.
        """
        return wide.encode(values)

    def text(self, bits: int) -> str:
        """What an encoding stands for, for people: up to nine digits, inf or NaN."""
        value = float(self.decode(bits))
        return "NaN" if math.isnan(value) else f"{value:.9g}"

    def exact(
        self, op: str, x: ArrayLike, y: ArrayLike, library: libnetfc.Library | None = None
    ) -> Lanes:
        """The correctly rounded x (op) y, lane by lane; op is add, sub, mul or div.

        x, y: numbers, which are rounded to float32 first, or encodings (uint32), of any shapes
            that numpy broadcasts
        library: libnetfc; None: see netfc.TableSet

        Returns float32 for numbers and uint32 for encodings. Raises ValueError for another
        operation or shapes that do not fit, TypeError for what is no real number and for numbers
        with encodings, LibraryError without libnetfc.
        """
        number = op_number(op)
        return wide.compute(lambda x, y: _exact(number, x, y, library)[0], x, y)

    def exact_flags(
        self, op: str, x: ArrayLike, y: ArrayLike, library: libnetfc.Library | None = None
    ) -> NDArray[numpy.uint8]:
        """The exception flags of exact(), bits of netfc.Flag, as uint8."""
        first, second, _ = wide.encoded(x, y)
        return _exact(op_number(op), first, second, library)[1]


NUMBER_FORMATS: dict[str, Format | Fp32] = {**FORMATS, Fp32.name: Fp32()}
NUMBER_FORMATS_BY_ID = {form.id: form for form in NUMBER_FORMATS.values()}


def number_format(name: str) -> Format | Fp32:
    """What a switch may compute with, by its name. Raises ValueError for any other name."""
    if name not in NUMBER_FORMATS:
        raise ValueError(f"no number format '{name}': there are {', '.join(NUMBER_FORMATS)}")
    return NUMBER_FORMATS[name]


def _exact(
    number: int, x: WideEncodings, y: WideEncodings, library: libnetfc.Library | None
) -> tuple[WideEncodings, libnetfc.Flags]:
    functions = (library or libnetfc.default()).functions
    handle = functions.netfc_fp32_format()
    return libnetfc.on_arrays(functions.netfc_exact_lanes, handle, number, x, y)
