# SPDX-License-Identifier: BSD-3-Clause
"""The number formats and operations of the protocol, one row each.

All other lists of this package are made from these. To add a format or an operation: add its row,
then run tests/integration/test_catalogue.py. It compares the rows with libnetfc and lib/aggregate,
and names every other list (dissectors, P4 programs, documents) that differs.
"""

from typing import NamedTuple


class FormatRow(NamedTuple):
    """A number format. Values of each are aggregated.

    kind: "ieee", "no-infinity" (IEEE 754's, but only the greatest magnitude is no number: NaN),
        "posit" or "integer"; exponent_bits: of all but the last
    dtype: the numpy type of the same encodings, by name, where there is one
    in_requests: whether requests compute in it
    has_functions: whether min, max, compare, fma and functions do, too; all have conversions
    """

    name: str
    number: int
    title: str
    bits: int
    kind: str
    exponent_bits: int
    dtype: str = ""
    in_requests: bool = True
    has_functions: bool = True

    @property
    def bytes(self) -> int:
        """The bytes of an encoding."""
        return self.bits // 8


class OpRow(NamedTuple):
    """An operation: symbol as texts show it; operands: how many of x, y and z it reads."""

    name: str
    number: int
    symbol: str = ""
    operands: int = 2


FORMATS = (
    FormatRow("fp16", 1, "IEEE 754 binary16", 16, "ieee", 5, "float16"),
    FormatRow("posit16", 2, "posit<16,1>", 16, "posit", 1),
    FormatRow("bf16", 3, "bfloat16", 16, "ieee", 8, "bfloat16"),
    FormatRow("posit16_es2", 4, "posit<16,2>, Posit Standard 2022", 16, "posit", 2),
    FormatRow("fp32", 5, "IEEE 754 binary32", 32, "ieee", 8, "float32", has_functions=False),
    FormatRow("int32", 6, "int32", 32, "integer", 0, "int32", in_requests=False),
    FormatRow("fp64", 7, "IEEE 754 binary64", 64, "ieee", 11, "float64", in_requests=False),
    FormatRow("fp8_e4m3", 8, "OCP OFP8 E4M3", 8, "no-infinity", 4),
    FormatRow("fp8_e5m2", 9, "OCP OFP8 E5M2", 8, "ieee", 5),
    FormatRow("int64", 10, "int64", 64, "integer", 0, "int64", in_requests=False),
)

# Formats of values, and of what sums and means of them can have besides.
WIDER_RESULTS = {
    "fp16": ("fp32",),
    "bf16": ("fp32",),
    "fp8_e4m3": ("fp16", "bf16", "fp32"),
    "fp8_e5m2": ("fp16", "bf16", "fp32"),
}

ARITHMETIC = (
    OpRow("add", 1, "+"),
    OpRow("sub", 2, "-"),
    OpRow("mul", 3, "x"),
    OpRow("div", 4, "/"),
)
EXTENDED = (  # without a table set
    OpRow("min", 5),
    OpRow("max", 6),
    OpRow("compare", 7),
    OpRow("fma", 8, operands=3),
)
AGGREGATION = (
    OpRow("join", 32),
    OpRow("sum", 33),
    OpRow("mean", 34),
    OpRow("min", 35),
    OpRow("max", 36),
    OpRow("copy", 37),
    OpRow("leave", 40),
)

# Functions of one number: FUNCTION and up. Conversions: TO_FORMAT + the number of a format,
# TO_SATURATING + that of one of 8 bits, TO_FIXED and FROM_FIXED + the bits after the binary point.
FUNCTION, TO_FORMAT, TO_SATURATING, TO_FIXED, FROM_FIXED = 64, 96, 100, 112, 128
SATURATING = "_sat"
FUNCTIONS = (
    "abs", "neg", "floor", "ceil", "trunc", "round", "sqrt", "rsqrt", "reciprocal", "exp", "exp2",
    "ln", "log2", "sin", "cos", "tanh", "sigmoid", "erf", "gelu", "silu",
)  # fmt: skip
FIXED_POINT = ("int16", *(f"q{point}" for point in range(1, 16)))


def format_pairs() -> dict[str, int]:
    """The numbers of formats of values and, after a colon, results: "fp8_e4m3:fp32"."""
    number_of = {row.name: row.number for row in FORMATS}
    return {
        f"{name}:{result}": number_of[name] | number_of[result] << 4
        for name, results in WIDER_RESULTS.items()
        for result in results
    }


def numbers(rows: tuple[OpRow, ...]) -> dict[str, int]:
    """The numbers of operations by their names."""
    return {row.name: row.number for row in rows}


def function_numbers() -> dict[str, int]:
    """The numbers of functions and conversions by their names."""
    return {
        **{name: FUNCTION + place for place, name in enumerate(FUNCTIONS)},
        **{f"to_{row.name}": TO_FORMAT + row.number for row in FORMATS if row.in_requests},
        **{
            f"to_{row.name}{SATURATING}": TO_SATURATING + row.number
            for row in FORMATS
            if row.bits == 8
        },
        **{f"to_{name}": TO_FIXED + point for point, name in enumerate(FIXED_POINT)},
        **{f"from_{name}": FROM_FIXED + point for point, name in enumerate(FIXED_POINT)},
    }
