# SPDX-License-Identifier: BSD-3-Clause
"""A lane of the P4 programs for binary32, filled with rows (p4_rows) and walked as the hardware
would: p4_walk's for other formats.

Everything here is written from p4/, not from the exporter; what shifts by constants do is read from
the sources' own actions. Arrays are numpy's, one element for each lane.
"""

import re
import subprocess

import numpy as np

import project_scripts
from p4_walk import Memory, Ternary

P4 = project_scripts.PROJECT / 'p4' / 'include'
WORD = 0xFFFFFFFF
SIGN = 0x80000000


class Source:
    """Actions and constant entries of the tables in the preprocessed sources."""

    def __init__(self):
        done = subprocess.run(['cc', '-E', '-P', '-x', 'c', '-DNETFC_FORMAT=5', P4 / 'netfc.p4'],
                              capture_output=True, text=True, check=True)
        self.text = done.stdout.replace('lane.', '')
        self.constants = {name: int(value, 0) for name, value in
                          re.findall(r'const bit<\d+> (\w+) = (\w+);', self.text)}

    def control(self, name):
        start = self.text.index(f'control {name}(')
        return self.text[start:self.text.index('\ncontrol ', start)]

    def actions(self, control):
        """Name -> (parameters, instructions)."""
        found = re.findall(r'action (\w+)\(([^)]*)\) \{([^}]*)\}', self.control(control))
        return {name: (re.findall(r'bit<\d+> (\w+)', params),
                       [line.strip() for line in body.split(';') if line.strip()])
                for name, params, body in found}

    def entries(self, control):
        """The constant entries of a control's only such table, and its default action: (keys,
        action, arguments), keys as (value, mask)."""
        body = self.control(control)
        listed = re.search(r'const entries = \{(.*?)\n?\s*\}\s*size', body, re.S)[1]
        default = re.search(r'const default_action = (\w+)\(([^)]*)\)', body).groups()
        entries = []
        for keys, action, args in re.findall(r'([^;:]+?)\s:\s+(\w+)\(([^)]*)\);', listed):
            keys = re.sub(r'\s+', ' ', keys.strip()).strip('()')
            entries.append((tuple(self.match(key.strip()) for key in keys.split(',')), action,
                            self.arguments(args)))
        assert len(entries) == listed.count(';')
        return entries, (default[0], self.arguments(default[1]))

    def match(self, text):
        if text == '_':
            return 0, 0
        value, _, mask = text.partition(' &&& ')
        return int(value, 0), int(mask, 0) if mask else WORD

    def arguments(self, text):
        words = [word.strip() for word in text.split(',') if word.strip()]
        return [self.constants[word] if word in self.constants else int(word, 0) for word in words]


class ConstantTable:
    """A table with constant entries: of those that match, the first decides."""

    def __init__(self, source, control):
        self.entries, self.default = source.entries(control)
        self.actions = source.actions(control)

    def apply(self, keys, fields):
        """Runs on each lane what its entry says. fields: name -> array; changed in place."""
        keys = np.broadcast_arrays(*keys)
        free = np.ones(keys[0].shape, dtype=bool)
        for matches, action, args in self.entries:
            assert len(matches) == len(keys)
            hit = free.copy()
            for key, (value, mask) in zip(keys, matches):
                hit &= key & mask == value & mask
            free &= ~hit
            self._run(action, args, hit, fields)
        self._run(*self.default, free, fields)

    def _run(self, action, args, hit, fields):
        params, instructions = self.actions[action]
        known = {name: array[hit] for name, array in fields.items()}
        known.update(zip(params, args))
        for instruction in instructions:
            target, expression = instruction.split(' = ')
            known[target] = eval(expression, {}, known) & np.int64(WORD)
            fields[target][hit] = known[target]


def sign_of(words):
    return words >> 31 & 1


def minus(words):
    return -words & WORD


class Fp32Lane:
    """A lane of the programs of format 5, filled from rows."""

    def __init__(self, tables, number=0):
        prefix = f'IngressPipe.netfc.lane{number}.'
        self.rows = {path.removeprefix(prefix): rows for path, rows in tables.items()
                     if path.startswith(prefix)}
        source = Source()
        self.constant = {name: ConstantTable(source, name) for name in (
            'Align', 'Sign', 'Normalise', 'RoundSum', 'Factor', 'ShiftProduct', 'RoundProduct')}
        self.decide = Ternary(self.rows['decide'], (8, 32, 32))
        self.exps = Memory(self.rows['sum.exps'], (8, 8))
        self.lead = Ternary(self.rows['sum.lead'], (32,))
        self.norm = Memory(self.rows['sum.norm'], (1, 5, 8))
        if 'factors.scale' in self.rows:
            self.exponent = [Memory(self.rows[f'factors.factor_{operand}.exponent_of'], (8,))
                             for operand in 'xy']
            self.has_div = 'quotient.recip' in self.rows
            self.scale = Memory(self.rows['factors.scale'],
                                (1, 1, 1, 10) if self.has_div else (1, 1, 10))
            self.multiply = {path: [Memory(self.rows[f'{path}.{table}'], (13,))
                                    for table in ('square', 'differ')]
                             for path in (path.removesuffix('.square') for path in self.rows
                                          if path.endswith('.square'))}
        if 'quotient.recip' in self.rows:
            self.recip = Memory(self.rows['quotient.recip'], (13,))
            self.cross = {path: Memory(self.rows[path], (4, 4)) for path in self.rows
                          if path.endswith('.cross')}

    def compute(self, op, x, y):
        """z and flags of lanes."""
        x, y = x.astype(np.int64), y.astype(np.int64)
        base, word, flags = self._sum(op, x, y) if op <= 2 else self._scaled(op, x, y)
        z, row = base + word & WORD, self.decide(np.array(op), x, y)
        for index, entry in enumerate(self.decide.rows):
            hit, action = row == index, entry.action.split('.')[-1]
            if action == 'constant':
                z[hit], flags[hit] = entry.args
            elif action != 'compute':
                z[hit] = {'take_x': x, 'take_y': y, 'take_minus_y': y ^ SIGN}[action][hit]
                flags[hit] = 0
        return z, flags

    # ---- sums --------------------------------------------------------------------------------

    def _aligned(self, operand, negative, places):
        word = operand << 8 & WORD | np.where(operand >> 23 & 0xFF, SIGN, 0)
        fields = {'word': word, 'lost': np.zeros_like(word)}
        self.constant['Align'].apply((places,), fields)
        self.constant['Sign'].apply((negative, fields['lost']), fields)
        return fields['word']

    def _sum(self, op, x, y):
        align_x, align_y, greater = self.exps[x >> 23 & 0xFF, y >> 23]
        a = self._aligned(x, sign_of(x), align_x)
        b = self._aligned(y, sign_of(y) ^ (op == 2), align_y)
        total = a + b & WORD
        row = self.lead(total)
        zeros = np.array([entry.args[0] for entry in self.lead.rows] + [31])[row]
        negative = np.array([entry.action.endswith('negative')
                             for entry in self.lead.rows] + [False])[row].astype(np.int64)
        left, base = self.norm[negative, zeros, greater]
        fields = {'word': np.where(negative, minus(total), total), 'lost': np.zeros_like(total)}
        self.constant['Normalise'].apply((left,), fields)
        return self._rounded('RoundSum', 'base', base, fields['word'], fields['lost'])

    def _rounded(self, table, name, base, word, *below):
        flags = np.zeros_like(word)
        fields = {name: base.copy(), 'flags': flags}
        self.constant[table].apply((base, word, *below), fields)
        return fields[name], word, flags

    # ---- products and quotients --------------------------------------------------------------

    def _factor(self, operand):
        fields = {name: np.zeros_like(operand) for name in ('high', 'low', 'places')}
        fields['x'] = operand
        self.constant['Factor'].apply((operand,), fields)
        return (fields['high'] >> 21, fields['low'] >> 20), fields['places']

    def _product(self, path, p, q):
        square, differ = self.multiply[path]
        assert (p < 4096).all() and (q < 4096).all() and square.holds(p + q).all()
        assert differ.holds(p - q).all()
        return square[p + q] - differ[p - q] & WORD

    def _scaled(self, op, x, y):
        (digits_x, places_x), (digits_y, places_y) = self._factor(x), self._factor(y)
        exponents = self.exponent[0][x >> 23], self.exponent[1][y >> 23]
        if op == 3:
            exponent = exponents[0] + exponents[1] - (places_x + places_y)
            word, cross, low = self._multiplied(*digits_x, *digits_y)
        else:
            exponent = exponents[0] - exponents[1] - (places_x - places_y)
            word, cross, low = self._divided(*digits_x, *digits_y), 0 * x, 0 * x
        key = sign_of(x), sign_of(y), exponent & 0x3FF
        code, base = self.scale[(np.array(op >> 2 & 1), *key) if self.has_div else key]
        fields = {'word': word, 'lost': np.zeros_like(word), 'upper': base}
        self.constant['ShiftProduct'].apply((code, word.copy()), fields)
        return self._rounded('RoundProduct', 'upper', fields['upper'], fields['word'],
                             fields['lost'], cross, low)

    def _multiplied(self, a1, a0, b1, b0):
        low = self._product('product.low', a0, b0)
        cross = self._product('product.cross_x', a1, b0) + \
            self._product('product.cross_y', b1, a0) + (low >> 12)
        high = self._product('product.high', a1, b1) << 8
        assert (high + (cross >> 4) <= WORD).all() and (cross <= WORD).all()
        return high + (cross >> 4), cross, low

    def _digit(self, number, remainder, divisor, reciprocal):
        path = f'quotient.digit{number}.'
        estimate = self._product(path + 'estimate', remainder >> 12 & 0xFFF, reciprocal >> 4)
        estimate = estimate + self.cross[path + 'cross_remainder.cross'][remainder >> 20, reciprocal] \
            + self.cross[path + 'cross_reciprocal.cross'][reciprocal >> 12, remainder >> 8]
        digit = estimate >> 11 & 0xFFF
        remainder = remainder - self._product(path + 'high', digit, divisor >> 12)
        remainder = (remainder << 12) - self._product(path + 'low', digit, divisor & 0xFFF) & WORD
        remainder, fits = self._subtracted(remainder, divisor)
        return remainder, digit + fits & 0xFFF

    @staticmethod
    def _subtracted(remainder, divisor):
        less = remainder - divisor & WORD
        fits = 1 - sign_of(less)
        return np.where(fits, less, remainder), fits

    def _divided(self, a1, a0, b1, b0):
        a, b = (1 << 23 | high << 12 | low for high, low in ((a1, a0), (b1, b0)))
        reciprocal = self.recip[b >> 10]
        remainder, first = self._subtracted(a, b)
        remainder, upper = self._digit(1, remainder, b, reciprocal)
        remainder, lower = self._digit(2, remainder, b, reciprocal)
        remainder, last = self._subtracted(remainder << 1, b)
        return first << 31 | upper << 19 | lower << 7 | last << 6 | (remainder != 0)

