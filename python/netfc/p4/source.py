# SPDX-License-Identifier: BSD-3-Clause
"""A table set, and its format, as the source of a program's tables."""

from typing import Any

from netfc._native import libnetfc
from netfc.p4.table import Words
from netfc.tables import TableSet


class Impossible(ValueError):
    """A set that no P4 program is for, with these options."""


class Source:
    """A table set, and what its format is.

    inf: the magnitude of infinity; is_posit, guard: of the format
    fraction_bits, exponent_bits: widths in IEEE formats of 16 bits
    """

    def __init__(self, tables: TableSet):
        functions = libnetfc.default().functions
        handle: Any = libnetfc.format_handle(functions, tables.format.name)
        self.tables = tables
        self.inf: int = functions.netfc_inf_magnitude(handle)
        self.is_posit: bool = functions.netfc_format_is_posit(handle)
        self.guard: int = functions.netfc_format_guard(handle)
        self.fraction_bits = (self.inf & -self.inf).bit_length() - 1
        self.exponent_bits = 15 - self.fraction_bits

    def words(self, name: str) -> Words:
        """All entries of a table, page after page."""
        return self.tables.tables[name].entries.ravel()

    def occurs(self, name: str) -> Words:
        """Which of them occur."""
        return self.tables.occurs(name).ravel()
