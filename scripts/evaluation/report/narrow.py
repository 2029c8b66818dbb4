# SPDX-License-Identifier: BSD-3-Clause
"""The paper's tables in formats of 8 bits, as a table of a document."""

from evaluation.report.document import percent, table

COLUMNS = ("add, sub", "mul", "div")


def narrow_table(found):
    """A row for each scaling factor."""
    rows = [[str(scale), *(cell for facts in found.values() for cell in (
        f"{facts[scale]['bytes']:,.0f}", *(percent(100 * facts[scale][op], 1) for op in COLUMNS)))]
        for scale in next(iter(found.values()))]
    return table(["k", *(f"`{name}`, {what}" for name in found for what in ("bytes", *COLUMNS))], rows)
