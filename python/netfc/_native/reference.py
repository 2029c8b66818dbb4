# SPDX-License-Identifier: BSD-3-Clause
"""The correctly rounded results, which libnetfc computes on integers and without tables."""

from collections.abc import Sequence

from netfc._native import libnetfc
from netfc._native.arrays import Encodings
from netfc.protocol import EXTRA_OPS


def exact(
    format_name: str,
    op_number: int,
    operands: Sequence[Encodings],
    library: libnetfc.Library | None,
) -> tuple[Encodings, libnetfc.Flags]:
    """Results and exception flags of arrays of one shape: x (op) y, and x * y + z for fma."""
    functions = (library or libnetfc.default()).functions
    handle = functions.netfc_format_by_name(format_name.encode())
    is_extra = op_number in EXTRA_OPS.values()
    function = functions.netfc_extra_lanes if is_extra else functions.netfc_exact_lanes
    return libnetfc.on_arrays(function, handle, op_number, *operands)
