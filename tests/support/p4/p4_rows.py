# SPDX-License-Identifier: BSD-3-Clause
"""What `netfc-p4` writes, read as the targets would: table -> rows.

Written from p4/ and from the targets' manuals, not from the exporter.
"""

import json
import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np


@dataclass(slots=True)
class Row:
    """An entry. keys: a (value, mask) for each field, mask None in exact fields. order: the
    less, the sooner it decides; 0 where the table has no priorities."""

    action: str
    keys: tuple
    args: tuple
    order: int = 0

    @property
    def content(self):
        """All but the priority, which targets count differently."""
        return self.action, self.keys, self.args


def prefix_mask(length, bits=16):
    return (1 << bits) - (1 << (bits - length))


class ExactRows:
    """The entries of a large table whose fields are all exact and whose action is one: columns."""

    def __init__(self, action, columns, key_count):
        self.action, self.keys, self.args = action, columns[:, :key_count], columns[:, key_count:]

    def __len__(self):
        return len(self.keys)

    def __iter__(self):
        for keys, args in zip(self.keys.tolist(), self.args.tolist()):
            yield Row(self.action, tuple((key, None) for key in keys), tuple(args))


def read_bmv2(text):
    """Commands of simple_switch_CLI: table -> rows."""
    tables, at = {}, 0
    while at < len(text):
        command, table, _ = text[at:at + 200].split(' ', 2)
        assert command == 'table_add' and table not in tables
        last = text.rfind(f'\ntable_add {table} ')
        end = text.index('\n', max(last + 1, at)) + 1
        tables[table] = read_block(table, text[at:end])
        at = end
    return tables


def read_block(table, block):
    """The commands for one table."""
    lines = block.splitlines()
    start = ' '.join(lines[0].split(' ')[:3]) + ' '
    assert start.startswith(f'table_add {table} ')
    if '&' in block or '/' in block or block.count(start) < len(lines):
        return [bmv2_row(line) for line in lines]
    key_count = len(lines[0][len(start):].split(' =>')[0].split(' '))
    assert re.fullmatch(f'({re.escape(start)}(0x[0-9a-f]+ ){{{key_count}}}=>( 0x[0-9a-f]+)*\n)*',
                        block)
    numbers = [int(word, 16) for word in re.findall(' (0x[0-9a-f]+)', block)]
    columns = np.array(numbers).reshape(len(lines), -1)
    return ExactRows(start.split(' ')[2], columns, key_count)


def bmv2_row(line):
    """A command."""
    _, table, action, *words = line.split(' ')
    arrow = words.index('=>')
    bits = 32 if '.slowloris.' in table else 16  # of what prefixes match
    keys, wide = zip(*(bmv2_key(word, bits) for word in words[:arrow]))
    args = tuple(int(word, 16) for word in words[arrow + 1:len(words) - any(wide)])
    return Row(action, keys, args, int(words[-1]) if any(wide) else 0)


def bmv2_key(word, bits):
    """A field's (value, mask), and whether it is ternary. bits: a field's width."""
    if '&' in word:
        value, mask = word.split('&&&')
        return (int(value, 16), int(mask, 16)), True
    if '/' in word:
        value, length = word.split('/')
        return (int(value, 16), prefix_mask(int(length), bits)), False
    return (int(word, 16), None), False


class FakeShell:
    """Tofino's shell as far as exported programs use it."""

    def __init__(self):
        self.tables = defaultdict(list)
        self.batches = 0

    def batch_begin(self):
        self.batches += 1

    def batch_end(self):
        self.batches -= 1

    def complete_operations(self):
        assert self.batches == 0

    def __getattr__(self, program):
        return FakeNode(self, [program])


class FakeNode:
    """A path in the tree of a program's tables, and an action's add_with_ in the end."""

    def __init__(self, shell, path):
        self.shell, self.path = shell, path

    def __getattr__(self, name):
        return FakeNode(self.shell, [*self.path, name])

    def __call__(self, **fields):
        assert self.path[1] == 'pipe'
        control, action = self.path[2:-2], self.path[-1].removeprefix('add_with_')
        order = fields.pop('match_priority', 0)
        keys, args = [], []
        for name, value in fields.items():
            if name.endswith('_mask'):
                keys[-1] = (keys[-1][0], value)
            elif name.endswith('_p_length'):
                keys[-1] = (keys[-1][0], prefix_mask(value))
            elif name in KEYS and name not in ARGUMENTS.get(action, ()):
                keys.append((value, None))
            else:
                args.append(value)
        row = Row('.'.join([*control, action]), tuple(keys), tuple(args), order)
        self.shell.tables['.'.join(self.path[2:-1])].append(row)


# Fields that tables match; every other name is an argument of an action.
KEYS = {'port', 'magic', 'version', 'op', 'format', 'reply', 'operand', 'fraction', 'exponent',
        'differ', 'theta', 'x', 'y', 'difference', 'remainder', 'n', 'negative', 'sub', 'shift',
        'sign_x', 'sign_y', 'exponent_x', 'exponent_y', 'sum', 'overflow', 'magnitude', 'div', 'kind',
        'magnitude_x', 'magnitude_y',
        'half', 'fraction_x', 'fraction_y', 'class', 'top', 'product', 'large', 'loaded', 'program',
        'places', 'field', 'digit'}

# But for these actions, to which they are handed.
ARGUMENTS = {'set_exps': {'overflow'}, 'set_class': {'class'}}


def read_bfrt(text):
    """Runs a program for Tofino's shell: table -> rows."""
    shell = FakeShell()
    exec(compile(text, 'export', 'exec'), {'bfrt': shell, 'print': lambda *_: None})
    return shell.tables


def read_bfrt_json(text):
    """JSON for BF Runtime: table -> rows."""
    tables = defaultdict(list)
    for entry in json.loads(text):
        key = entry['key']
        order = key.pop('$MATCH_PRIORITY', {'value': 0})['value']
        keys = tuple((field['value'], field.get('mask', prefix_mask(field['prefix_len'])
                                                if 'prefix_len' in field else None))
                     for field in key.values())
        table = entry['table_name'].removeprefix('pipe.')
        tables[table].append(Row(entry['action'], keys, tuple(entry['data'].values()), order))
    return tables


MATCH = re.compile(r'match \{ field_id: (\d+) (exact|lpm|ternary) \{ value: "([^"]*)"'
                   r'(?: prefix_len: (\d+)| mask: "([^"]*)")? \} \}')
PARAM = re.compile(r'param_id: (\d+) value: "([^"]*)"')
UPDATE = re.compile(r'updates \{ type: INSERT entity \{ table_entry \{ table_id: (\d+)'
                    r'(.*) action \{ action \{ action_id: (\d+)(.*?) \} \}'
                    r'(?: priority: (\d+))? \} \} \}')


def number(text):
    """The number that protobuf's escaped bytes are, which must be as few as it takes."""
    data = bytes(int(byte, 16) for byte in text.split('\\x')[1:])
    assert len(data) == 1 or data[0] != 0
    return int.from_bytes(data, 'big')


def read_p4runtime(text):
    """A WriteRequest: (table's name in the comment, its number) -> rows.

    Fields that match anything are left out in P4Runtime: keys are (number, value, mask) here,
    and actions are numbers.
    """
    tables, name = defaultdict(list), None
    for line in text.splitlines():
        if line.startswith('# '):
            name = line[2:]
            continue
        table, matches, action, params, priority = UPDATE.fullmatch(line).groups()
        keys = []
        for field, kind, value, length, mask in MATCH.findall(matches):
            mask = {'exact': lambda: None, 'lpm': lambda: prefix_mask(int(length)),
                    'ternary': lambda: number(mask)}[kind]()
            keys.append((int(field), number(value), mask))
        args = tuple(number(value) for _, value in PARAM.findall(params))
        tables[name, int(table)].append(Row(int(action), tuple(keys), args, int(priority or 0)))
    return tables


def object_id(kind, path):
    """The number that p4c gives to an object: Jenkins' one-at-a-time hash of its name."""
    value = 0
    for byte in path.encode():
        value = (value + byte) & 0xFFFFFFFF
        value = (value + (value << 10)) & 0xFFFFFFFF
        value ^= value >> 6
    value = (value + (value << 3)) & 0xFFFFFFFF
    value ^= value >> 11
    value = (value + (value << 15)) & 0xFFFFFFFF
    return kind << 24 | value & 0xFFFFFF
