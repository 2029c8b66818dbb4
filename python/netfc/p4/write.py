# SPDX-License-Identifier: BSD-3-Clause
"""The entries of a P4 program as each target takes them.

A block of entries is formatted once, with marks where its instances differ: their controls, paths,
and numbers.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy

from netfc.p4.table import Block, Table

_CONTROL, _PATH, _TABLE_ID, _ACTION_ID = "\0", "\1", "\2", "\3"
_MAX_PRIORITY = 0xFFFF

_PROLOGUE = """\
# Entries of {set} for the P4 program {program}; run it in Tofino's shell:
# bfshell -b FILE
import time

started, entries = time.monotonic(), 0


def node(path):
    at = bfrt.{program}.pipe
    for name in path.split('.'):
        at = getattr(at, name)
    return at


def fill(path, action, names, rows):
    global entries
    add = getattr(node(path), 'add_with_' + action)
    bfrt.batch_begin()
    for row in rows:
        add(**dict(zip(names, row)))
    bfrt.batch_end()
    entries += len(rows)


"""
_EPILOGUE = """\
bfrt.complete_operations()
print('%d entries in %.1f s' % (entries, time.monotonic() - started))
"""


def bmv2(tables: Iterable[Table], lanes: int) -> Iterator[str]:
    """Commands for BMv2's simple_switch_CLI."""
    marks = {"exact": " 0x%x", "ternary": " 0x%x&&&0x%x", "lpm": " 0x%x/%u"}
    for table in tables:
        text = ""
        for block in table.blocks():
            line = f"table_add {_PATH} {_CONTROL}.{block.action.name}"
            line += "".join(marks[key.match] for key in table.keys) + " =>"
            line += " 0x%x" * len(block.action.parameters) + " %u" * table.has_priority + "\n"
            # BMv2 has no priority 0 in some versions.
            text += _rows(line, [*_keys(table, block), *block.args.T], table, block.priorities + 1)
        for control, path in table.instances(lanes):
            yield text.replace(_PATH, path).replace(_CONTROL, control)


def p4runtime(tables: Iterable[Table], lanes: int) -> Iterator[str]:
    """A P4Runtime WriteRequest in protobuf's text format (P4Runtime specification 1.4, section 12).

    Numbers of tables and actions are those that p4c derives from their names; keys and parameters
    are numbered from 1. The highest priority wins, and 0 means none.
    """
    for table in tables:
        texts = [(block.action.name, _updates(table, block)) for block in table.blocks()]
        for control, path in table.instances(lanes):
            yield f"# {path}\n"
            for action, text in texts:
                ids = _object_id(2, path), _object_id(1, f"{control}.{action}")
                yield text.replace(_TABLE_ID, str(ids[0])).replace(_ACTION_ID, str(ids[1]))


def bfrt(tables: Iterable[Table], lanes: int, set_name: str, program: str) -> Iterator[str]:
    """A Python program for the shell bfrt_python of Tofino's runtime."""
    marks = {"exact": "0x%x, ", "ternary": "0x%x, 0x%x, ", "lpm": "0x%x, %u, "}
    names = {"exact": "'{0}', ", "ternary": "'{0}', '{0}_mask', ", "lpm": "'{0}', '{0}_p_length', "}
    yield _PROLOGUE.format(set=set_name, program=program)
    for table in tables:
        text = ""
        for block in table.blocks():
            parameters = block.action.parameters
            named = "".join(names[key.match].format(key.name) for key in table.keys)
            named += "'match_priority', " * table.has_priority
            named += "".join(f"'{name}', " for name in parameters)
            line = "    (" + "".join(marks[key.match] for key in table.keys)
            line += "%u, " * table.has_priority + "0x%x, " * len(parameters) + "),\n"
            text += f"fill('{_PATH}', '{block.action.name}', ({named}), [\n"
            text += _tofino_rows(line, table, block) + "])\n"
        for _, path in table.instances(lanes):
            yield text.replace(_PATH, path)
    yield _EPILOGUE


def bfrt_json(tables: Iterable[Table], lanes: int) -> Iterator[str]:
    """The entries of bfrt() as JSON."""
    marks = {"exact": "", "ternary": ', "mask": %u', "lpm": ', "prefix_len": %u'}
    separator = "[\n"
    for table in tables:
        text = ""
        keys = [f'"{key.name}": {{"value": %u{marks[key.match]}}}' for key in table.keys]
        keys += ['"$MATCH_PRIORITY": {"value": %u}'] * table.has_priority
        for block in table.blocks():
            data = ", ".join(f'"{name}": %u' for name in block.action.parameters)
            line = f'{{"table_name": "pipe.{_PATH}", "action": "{_CONTROL}.{block.action.name}", '
            line += f'"key": {{{", ".join(keys)}}}, "data": {{{data}}}}},\n'
            text += _tofino_rows(line, table, block)
        for control, path in table.instances(lanes):
            if text:
                yield separator
                yield text[:-2].replace(_PATH, path).replace(_CONTROL, control)
                separator = ",\n"
    yield "\n]\n"


def _keys(table: Table, block: Block) -> list[Any]:
    """Columns of the key's fields, with their masks."""
    columns = []
    for at, key in enumerate(table.keys):
        columns.append(block.values[:, at])
        if key.match != "exact":
            columns.append(block.masks[:, at])
    return columns


def _tofino_rows(line: str, table: Table, block: Block) -> str:
    priority = [block.priorities] * table.has_priority
    return _rows(line, [*_keys(table, block), *priority, *block.args.T])


def _rows(line: str, columns: list[Any], table: Table | None = None, priorities: Any = None) -> str:
    """A line for each row of numbers; with the priority last, where a table is named."""
    if table is not None and table.has_priority:
        columns = [*columns, priorities]
    numbers = numpy.column_stack(columns)
    return line * len(numbers) % tuple(numbers.ravel().tolist())


def _updates(table: Table, block: Block) -> str:
    """The updates that insert a block's entries."""
    line = f"updates {{ type: INSERT entity {{ table_entry {{ table_id: {_TABLE_ID}"
    columns: list[Sequence[Any]] = []
    for at, key in enumerate(table.keys):
        if key.match == "exact":
            line += f' match {{ field_id: {at + 1} exact {{ value: "%s" }} }}'
            columns.append(_bytes(block.values[:, at]))
        else:
            line += "%s"
            columns.append(_matches(at + 1, key.match, block.values[:, at], block.masks[:, at]))
    line += f" action {{ action {{ action_id: {_ACTION_ID}"
    for at in range(len(block.action.parameters)):
        line += f' params {{ param_id: {at + 1} value: "%s" }}'
        columns.append(_bytes(block.args[:, at]))
    line += " } }"
    if table.has_priority:
        line += " priority: %u"
        columns.append((_MAX_PRIORITY - block.priorities).tolist())
    line += " } } }\n"
    return line * len(block.values) % tuple(itertools.chain.from_iterable(zip(*columns)))


def _matches(number: int, kind: str, values: Any, masks: Any) -> list[str]:
    """Matches that are not exact. One of anything must be left out (section 9.1.1)."""
    ends = [f"prefix_len: {length}" for length in masks.tolist()]
    if kind == "ternary":
        ends = [f'mask: "{mask}"' for mask in _bytes(masks)]
    return [
        f' match {{ field_id: {number} {kind} {{ value: "{value}" {end} }} }}' if mask else ""
        for value, end, mask in zip(_bytes(values), ends, masks.tolist())
    ]


def _bytes(numbers: Any) -> list[str]:
    """Numbers in as few bytes as they take, most significant first (section 8.4)."""
    different, where = numpy.unique(numbers, return_inverse=True)
    texts = [
        "".join(f"\\x{byte:02x}" for byte in number.to_bytes((number.bit_length() + 7) // 8 or 1))
        for number in different.tolist()
    ]
    return [texts[place] for place in where]


def _object_id(kind: int, path: str) -> int:
    """p4c numbers objects by a hash of their names: Jenkins, "one at a time".

    kind: in the top byte (p4/config/v1/p4info.proto, P4Ids)
    """
    value = 0
    for byte in path.encode():
        value = (value + byte) & 0xFFFFFFFF
        value = value * 1025 & 0xFFFFFFFF
        value ^= value >> 6
    value = value * 9 & 0xFFFFFFFF
    value ^= value >> 11
    value = value * 32769 & 0xFFFFFFFF
    return kind << 24 | value & 0xFFFFFF
