# SPDX-License-Identifier: BSD-3-Clause
"""What `netfc-p4` writes for all targets, read back and compared."""

import functools
import re

import p4_rows
import project_scripts
from p4_entries import run

INSTALLED = re.findall(r"^  '(\w+)',$",
                       (project_scripts.PROJECT / 'tables' / 'meson.build').read_text(), re.M)
LOG_SETS = [name for name in INSTALLED if '_k' in name]
EXACT_SETS = ['fp16_exact', 'bf16_exact']  # of the correctly rounded ones, those with a P4 program
LAYOUTS = ('direct', 'compact')


def exported(target, name, *options):
    """What is written for a target."""
    return run('--target', target, *options, name).stdout


def read_back(name, *options):
    """Holds the entries for all targets against BMv2's. Returns how many there are for each."""
    bmv2 = in_order(p4_rows.read_bmv2(exported('bmv2', name, *options)))
    assert in_order(p4_rows.read_bfrt(exported('bfrt', name, *options))) == bmv2
    assert in_order(p4_rows.read_bfrt_json(exported('bfrt-json', name, *options))) == bmv2
    runtime = p4_rows.read_p4runtime(exported('p4runtime', name, *options))
    assert [path for path, _ in runtime] == list(bmv2)
    for (path, table), rows in runtime.items():
        assert table == p4_rows.object_id(2, path)
        rows = sorted(rows, key=lambda row: -row.order)
        assert [row.content for row in rows] == [for_p4runtime(row) for row in bmv2[path]]
    return sum(map(len, bmv2.values()))


def rows_in_order(rows):
    """A table's entries, the first to decide first."""
    return sorted(rows, key=lambda row: row.order)


REQUEST = 'IngressPipe.netfc.request'
REQUEST_BITS = (16, 16, 8, 8, 8, 1, 1)  # port, magic, version, op, format, reply, loaded


def verdict(rows, *fields):
    """What the table of requests does with a packet: an action and its arguments; None: nothing."""
    for row in rows_in_order(rows):
        assert all(value & ~mask == 0 and mask < 1 << bits
                   for (value, mask), bits in zip(row.keys, REQUEST_BITS)), row
        if all(field & mask == value
               for field, (value, mask) in zip(fields, row.keys, strict=True)):
            return (row.action.rpartition('.')[2], *row.args)
    return None


def in_order(tables):
    """Tables in a form that does not depend on how a target counts priorities."""
    return {path: [row.content for row in rows_in_order(rows)] for path, rows in tables.items()}


def for_p4runtime(content):
    """A row's content as P4Runtime has it."""
    action, keys, args = content
    fields = tuple((number, value, mask) for number, (value, mask) in enumerate(keys, 1)
                   if mask != 0)
    return object_id_of_action(action), fields, args


@functools.lru_cache(maxsize=None)
def object_id_of_action(action):
    return p4_rows.object_id(1, action)
