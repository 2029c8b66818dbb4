# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the P4 programs, filled with rows (p4_rows) and walked as the hardware would: exact
keys, longest prefixes, ternary entries in the order of their priorities.

Everything here is written from p4/, not from the exporter. Arrays are numpy's, one element for
each lane.
"""

import numpy as np

from p4_rows import ExactRows

WORD = 0xFFFF
SIGN = 0x8000
REQUEST = 'IngressPipe.netfc.request'


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
