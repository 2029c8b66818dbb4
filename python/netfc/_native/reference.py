# SPDX-License-Identifier: BSD-3-Clause
"""The correctly rounded results, which libnetfc computes on integers and without tables."""

from netfc._native import libnetfc
from netfc._native.arrays import Encodings


def exact(
    format_name: str, op_number: int, x: Encodings, y: Encodings, library: libnetfc.Library | None
) -> tuple[Encodings, libnetfc.Flags]:
    """x (op) y and the exception flags of two arrays of one shape."""
    functions = (library or libnetfc.default()).functions
    handle = functions.netfc_format_by_name(format_name.encode())
    return libnetfc.on_arrays(functions.netfc_exact_lanes, handle, op_number, x, y)
