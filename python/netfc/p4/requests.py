# SPDX-License-Identifier: BSD-3-Clause
"""Which packets are requests that a P4 program computes, and the status of those that are not; the
program that all entries are for; functions; formats of 8 bits."""

from collections.abc import Sequence

import numpy

from netfc.functions import Function
from netfc.p4.table import Match, Table
from netfc.protocol import FORMAT_IDS, MAGIC, OPS, QUERY, VERSION, Code
from netfc.tables import TableSet

KEYS = "port& magic& version& op& format& reply&"
# The protocol checks version, operation and format, in this order.
PASSES_ALL, NO_FORMAT, NO_OP, NO_VERSION = range(4)

# As p4/include/sizes.p4 numbers layouts and p4/include/lane_fp8.p4 kinds: an operation and the
# signs of x and y, the first of those with the same results.
_DIRECT, _COMPACT, _EXACT = 1, 2, 3
_SIGN = 0x80
_KINDS = (
    ("add", 0, 0),
    ("add", _SIGN, _SIGN),
    ("add", 0, _SIGN),
    ("add", _SIGN, 0),
    ("mul", 0, 0),
    ("mul", _SIGN, 0),
    ("div", 0, 0),
    ("div", _SIGN, 0),
)


def byte(value: int) -> Match:
    """A match of a field of eight bits."""
    return value, 0xFF


def packets(udp_port: int) -> dict[str, Match]:
    """What all requests at a UDP port match."""
    return {"port": (udp_port, 0xFFFF), "magic": (MAGIC, 0xFFFF), "reply": (0, 1)}


def refuse(table: Table, matches: dict[str, Match], priority: int, code: Code) -> None:
    """Adds an entry for what is refused."""
    table.add("refuse", matches, (code,), priority)


def request_table(
    tables: TableSet, udp_port: int, last_op: str, functions: Sequence[tuple[int, Function]]
) -> Table:
    """Requests for a set and for functions. Nothing is computed before all entries are there.

    last_op: the last operation that the program has; all after it are refused
    functions: with their operations' numbers
    """
    actions = "compute()", "query()", "refuse(code)", "evaluate(function)"
    table = Table("request", f"{KEYS} loaded&", *actions, shared=True)
    version = packets(udp_port)
    refuse(table, version, NO_VERSION, Code.VERSION)
    version |= {"version": byte(VERSION)}
    refuse(table, version, NO_OP, Code.OP)
    last, form = OPS[last_op], tables.format.id
    operations: list[tuple[int, str, tuple[int, ...]]] = []
    operations += [(op, "compute", ()) for op in OPS.values() if op <= last]
    operations.append((QUERY, "query", ()))
    operations += [(op, "evaluate", (at,)) for at, (op, _) in enumerate(functions, 1)]
    for op, action, args in operations:
        matches = version | {"op": byte(op)}
        if op != QUERY or form == FORMAT_IDS["fp16"]:
            good = matches | {"format": byte(form), "loaded": (1, 1)}
            table.add(action, good, args, PASSES_ALL)
        refuse(table, matches, NO_FORMAT, Code.FORMAT)
    return table


def program_table(number: int) -> Table:
    """The entry without which a program computes nothing: its number. It is the last."""
    table = Table("loaded", "program", "complete()", shared=True)
    table.fill([number], [])
    return table


def loaded_table(
    tables: TableSet, layout: str, has_slowloris: bool, last_op: str, lanes: int
) -> Table:
    """program_table() of a table set's entries: four bits each for layout, format, size, lanes."""
    number, size = _EXACT, 0
    if tables.family == "log":
        number = _COMPACT if layout == "compact" else _DIRECT
    if tables.format.bits == 32:
        size = OPS[last_op]
    elif number == _COMPACT and not tables.format.name.startswith("posit"):
        size = tables.scale.bit_length() - 1  # logarithms and powers are split
    return program_table(
        has_slowloris << 15 | number << 12 | tables.format.id << 8 | size << 4 | lanes
    )


def function_tables(functions: Sequence[tuple[int, Function]]) -> list[Table]:
    """x, z and its flags, of each function."""
    filled = []
    for number, (_, function) in enumerate(functions, 1):
        table = Table(f"f{number}", "x", "result(value, flags)", control="function")
        x = numpy.arange(len(function.entries))
        table.fill([x], [function.entries, function.entry_flags])
        filled.append(table)
    return filled


def fp8_tables(tables: TableSet) -> list[Table]:
    """What is computed with two magnitudes of a format of 8 bits, looked up at once."""
    keys = "kind magnitude_x magnitude_y"
    table = Table("even.results odd.results", keys, "result(value, flags)", lanes=2)
    x, y = (operand.ravel() for operand in numpy.indices((_SIGN, _SIGN), numpy.uint8))
    for kind, (op, sign_x, sign_y) in enumerate(_KINDS):
        operands = x | numpy.uint8(sign_x), y | numpy.uint8(sign_y)
        z, flags = tables.compute(op, *operands), tables.flags(op, *operands)
        table.fill([kind, x, y], [z, flags])
    return [table]
