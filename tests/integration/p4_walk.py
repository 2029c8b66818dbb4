# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the P4 programs, filled from what `netfc-tables export` wrote and walked as the
hardware would: exact keys, longest prefixes, ternary entries in the order of their priorities.

Everything here is written from p4/ and from the targets' manuals, not from the exporter. Arrays
are numpy's, one element for each lane.
"""

import json
import re
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

WORD = 0xFFFF
SIGN = 0x8000
REQUEST = 'IngressPipe.netfc.request'


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


# ---- reading ---------------------------------------------------------------------------------


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
    key_count = len(lines[0][len(start):].split(' => ')[0].split(' '))
    assert re.fullmatch(f'({re.escape(start)}(0x[0-9a-f]+ ){{{key_count}}}=>( 0x[0-9a-f]+)+\n)*',
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
        'sign_x', 'sign_y', 'exponent_x', 'exponent_y', 'sum', 'overflow', 'magnitude', 'div',
        'half', 'fraction_x', 'fraction_y', 'class', 'top', 'product', 'large'}

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


# ---- tables as hardware ----------------------------------------------------------------------


class Memory:
    """A table that keys index: exact fields, of which the last may be a prefix."""

    def __init__(self, rows, widths):
        self.size = 1 << sum(widths)
        self.words = np.zeros(self.size, dtype=np.int64)
        self.filled = np.zeros(self.size, dtype=bool)
        self.widths = widths
        if isinstance(rows, ExactRows):
            index = self._index(tuple(rows.keys.T), checked=True)
            assert len(np.unique(index)) == len(index), 'a key is there twice'
            self.filled[index] = True
            self.words = np.zeros((rows.args.shape[1], self.size), dtype=np.int64)
            self.words[:, index] = rows.args.T
            self.words = self.words[0] if len(self.words) == 1 else self.words
            return
        for row in sorted(rows, key=lambda row: row.keys[-1][1]):
            first, count = self._range(row)
            self.words[first:first + count] = row.args[0]

    def _index(self, keys, checked=False):
        index = 0
        for key, width in zip(keys, self.widths):
            inside = key & ((1 << width) - 1)
            assert not checked or (key == inside).all()
            index = index << width | inside
        return index

    def _range(self, row):
        (*exact, (value, mask)) = row.keys
        first = self._index((*(key for key, _ in exact), value))
        assert value & ~mask == 0 and mask < 1 << self.widths[-1], row
        return first, (1 << self.widths[-1]) - mask

    def __getitem__(self, keys):
        return self.words[..., self._index(keys if isinstance(keys, tuple) else (keys,))]

    def holds(self, *keys):
        """Whether there are entries for keys."""
        return self.filled[self._index(keys)]


class Ternary:
    """A TCAM: of the entries that match, the first by priority."""

    def __init__(self, rows, widths):
        self.rows = sorted(rows, key=lambda row: row.order)
        orders = [row.order for row in self.rows]
        for row in rows:
            for (value, mask), width in zip(row.keys, widths):
                assert value & ~mask == 0 and mask < 1 << width, row
        self.unique = len(set(orders)) == len(orders)

    def __call__(self, *keys):
        """For each lane the index of the row that decides, or -1."""
        keys = np.broadcast_arrays(*keys)
        found = np.full(keys[0].shape, -1)
        for index, row in enumerate(self.rows):
            hit = found < 0
            for key, (value, mask) in zip(keys, row.keys):
                if mask:
                    hit &= key & mask == value
            found[hit] = index
        return found


# ---- the lane --------------------------------------------------------------------------------


def signed(words):
    return (words & WORD ^ SIGN) - SIGN


def saturate(words):
    return np.clip(words, -0x8000, 0x7FFF)


class Lane:
    """A lane of the P4 programs, filled from rows.

    form: one of oracle.FORMATS. compact: the compact lay-out, else the direct one. k: the scale.
    """

    def __init__(self, tables, form, compact, k, number=0):
        self.posit = 'posit' in form.name
        self.split = compact and not self.posit
        self.compact, self.form = compact, form
        self.rows = {path.removeprefix(f'IngressPipe.netfc.lane{number}.'): rows
                     for path, rows in tables.items() if path.startswith(f'IngressPipe.netfc.lane{number}.')}
        self.k_bits = k.bit_length() - 1
        self.fraction_bits = 0 if self.posit else (form.infinity & -form.infinity).bit_length() - 1
        self.exponent_bits = 15 - self.fraction_bits
        self.theta_bits = 16 if self.posit or compact else 15
        self.logs = {operand: self._logs(operand) for operand in 'xy'}
        self.mi = Memory(self.rows['mi.mi'], (1, self.theta_bits))
        self.decide = Ternary(self.rows['decide'], (8, 16, 16, 16, 16))
        self._fill_power()

    def _logs(self, operand):
        if not self.split:
            return Memory(self.rows[f'log_{operand}.log'], (16 if self.posit else 15,))
        widths = {'fraction': self.fraction_bits, 'subnormal': self.fraction_bits,
                  'exponent': self.exponent_bits}
        return {name: Memory(self.rows[f'log_{operand}.{name}'], (width,))
                for name, width in widths.items()}

    def _fill_power(self):
        if not self.split:
            self.exp = Memory(self.rows['power.exp'], (1, 16))
        else:
            subnormal = self.rows['power.subnormal']
            self.subnormal_bits = (len(subnormal) - 1).bit_length()
            self.fraction = Memory(self.rows['power.fraction'], (self.k_bits,))
            self.subnormal = Memory(subnormal, (self.subnormal_bits,))
            self.scale = Ternary(self.rows['power.scale'], (1, 16 - self.k_bits))
        if not self.posit:
            self.limits = Ternary(self.rows['limits'], (16,))

    def log(self, operand, slots):
        """Log words of slots."""
        table = self.logs[operand]
        if not self.split:
            return signed(table[slots])
        fraction = slots & ((1 << self.fraction_bits) - 1)
        exponent = slots >> self.fraction_bits & ((1 << self.exponent_bits) - 1)
        word = np.where(exponent == 0, table['subnormal'][fraction], table['fraction'][fraction])
        return signed(word + table['exponent'][exponent])

    def power(self, negative, n):
        """The slots of 2^(n/k) with a sign."""
        n = n & WORD
        if not self.split:
            return self.exp[negative, n]
        row = self.scale(negative, n >> self.k_bits)
        assert (row >= 0).all()
        kinds = np.array([('normal', 'small', 'fixed').index(r.action.split('.')[-1])
                          for r in self.scale.rows])[row]
        base = np.array([r.args[0] for r in self.scale.rows])[row]
        return base + np.select([kinds == 0, kinds == 1],
                                [self.fraction[n], self.subnormal[n]], 0)

    def flags(self, n):
        """The flags that a computed result raises."""
        if self.posit:
            return np.zeros(n.shape, dtype=int)
        flags = np.array([row.args[0] for row in self.limits.rows] + [0])
        return flags[self.limits(n & WORD)]

    def compute(self, op, x, y):
        """z and flags of lanes."""
        i, j = self.log('x', x), self.log('y', y)
        magnitude_x, magnitude_y = self._magnitude(x), self._magnitude(y)
        difference = magnitude_x - magnitude_y & WORD
        theta, base = saturate(j - i), i
        if self.compact:
            swap = difference & SIGN != 0
            theta = saturate(np.where(swap, i - j, j - i))
            base = np.where(swap, j, i)
        differ = (x ^ y) >> 15 ^ (op == 2)
        m = signed(self.mi[differ, theta & WORD])
        n = {1: base + m, 2: base + m, 3: i + j, 4: i - j}[op]
        n = saturate(n)
        row = self.decide(np.array(op), x, y, difference, theta & WORD)
        assert (row >= 0).all(), 'operands that no entry of the decision table matches'
        return self._result(row, x, y, n)

    def _magnitude(self, slots):
        if self.posit:
            return np.where(slots & SIGN, -slots & WORD, slots)
        return slots & ~SIGN

    def _result(self, row, x, y, n):
        minus_y = -y & WORD if self.posit else y ^ SIGN
        z, flags = np.zeros_like(x), np.zeros_like(x)
        for index, entry in enumerate(self.decide.rows):
            hit = row == index
            action = entry.action.split('.')[-1]
            if action == 'compute':
                z[hit] = self.power(np.full(hit.sum(), entry.args[0]), n[hit])
                flags[hit] = self.flags(n[hit])
            elif action == 'constant':
                z[hit], flags[hit] = entry.args
            else:
                z[hit] = {'take_x': x, 'take_y': y, 'take_minus_y': minus_y}[action][hit]
        return z, flags


class ExactLane:
    """A lane of the programs for correctly rounded sets, filled from rows.

    form: one of oracle.FORMATS. fp16 has products as sums of two parts and the sign that y has in a
    sum from the table of exponents; bf16 looks products up whole and has the sign from a condition.
    """

    def __init__(self, tables, form, number=0):
        prefix = f'IngressPipe.netfc.lane{number}.'
        rows = {path.removeprefix(prefix): rows for path, rows in tables.items()
                if path.startswith(prefix)}
        f = self.fraction_bits = (form.infinity & -form.infinity).bit_length() - 1
        w, top = 15 - f, f + 3
        self.sum_bits = f + 6
        self.halves = 'part_high' in rows
        self.below = 11 if self.halves else 1
        self.signed_exps = self.halves
        self.exps = Memory(rows['exps'], (1, 1, w, w) if self.signed_exps else (w, w))
        self.align = [Memory(rows[f'align_{operand}.align'], (5, 1, f)) for operand in 'xy']
        self.prenorm = [Memory(rows[f'prenorm_{operand}.prenorm'], (15,)) for operand in 'xy']
        if self.halves:
            self.parts = [Memory(rows[f'part_{half}'], (1, f // 2, f)) for half in ('high', 'low')]
        else:
            self.part = Memory(rows['part'], (1, f, f))
        self.rounding = Memory(rows['round'], (4, top))
        self.classes = Memory(rows['class'], (1, 1, 1, w + 2))
        self.norm = Memory(rows['norm'], (1, self.sum_bits))
        self.subn = Memory(rows['subn'], (w, self.sum_bits))
        self.tie = Ternary(rows['tie'], (4, top + self.below))
        self.limits = {'sum': Ternary(rows['sum_limits'], (1, self.sum_bits)),
                       'product': Ternary(rows['product_limits'], (4, 1, top + self.below))}
        self.decide = Ternary(rows['decide'], (8, 16, 16))

    def compute(self, op, x, y):
        """z and flags of lanes."""
        word, flags = self._sum(op, x, y) if op <= 2 else self._product(op, x, y)
        z, row = word & WORD, self.decide(np.array(op), x, y)
        for index, entry in enumerate(self.decide.rows):
            hit, action = row == index, entry.action.split('.')[-1]
            if action == 'constant':
                z[hit], flags[hit] = entry.args
            elif action != 'compute':
                z[hit] = {'take_x': x, 'take_y': y, 'take_minus_y': y ^ SIGN}[action][hit]
                flags[hit] = 0
        return z, flags

    def _exponents(self, op, x, y):
        """What the table of exponents tells, and y's sign in a sum."""
        f = self.fraction_bits
        exponents = (x & ~SIGN) >> f, (y & ~SIGN) >> f
        if self.signed_exps:
            code_x, code_y, sign_y, overflow, base = self.exps[op >> 1 & 1, y >> 15, *exponents]
        else:
            code_x, code_y, overflow, base = self.exps[exponents]
            sign_y = y >> 15 ^ (op == 2)
        return code_x, code_y, sign_y, overflow, base

    def _sum(self, op, x, y):
        f = self.fraction_bits
        code_x, code_y, sign_y, overflow, base = self._exponents(op, x, y)
        a = self.align[0][code_x, x >> 15, x]
        b = self.align[1][code_y, sign_y, y]
        total = a + b & ((1 << self.sum_bits) - 1)
        key = (base & ~SIGN) >> f, total
        base = np.where(self.subn.holds(*key), self.subn[key], base)
        return base + self.norm[overflow, total], self._flags('sum', overflow, total)

    def _product(self, op, x, y):
        div = op >> 2 & 1
        (fraction_x, exponent_x), (fraction_y, exponent_y) = (
            table[slots] for table, slots in zip(self.prenorm, (x, y)))
        exponent = exponent_x - exponent_y if div else exponent_x + exponent_y
        if self.halves:
            p = self.parts[0][div, fraction_x >> self.fraction_bits // 2, fraction_y] + \
                self.parts[1][div, fraction_x, fraction_y]
        else:
            p = self.part[div, fraction_x, fraction_y]
        assert (p < 8 << self.fraction_bits + self.below).all()
        where, base = self.classes[div, x >> 15, y >> 15, exponent]
        flags = self._flags('product', where, base >> 14 & 1, p)
        base = np.where(self.tie(where, p) >= 0, base - 1, base)
        return base + self.rounding[where, p >> self.below], flags

    def _flags(self, name, *keys):
        table = self.limits[name]
        return np.array([row.args[0] for row in table.rows] + [0])[table(*keys)]
