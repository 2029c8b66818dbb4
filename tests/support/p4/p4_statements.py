# SPDX-License-Identifier: BSD-3-Clause
"""Statements of P4 to those of Python."""

import re

from p4_expressions import Expressions
from p4_source import BOOL, Bits, Problem


class Statements(Expressions):
    """Reads blocks, and writes them."""

    def __init__(self, text):
        super().__init__(text)
        self.out, self.members = [], []

    def emit(self, depth, line):
        self.out.append('    ' * depth + line)

    def apply(self):
        parameters = list(self.controls.values())[-1]
        self.emit(1, f'def apply(self, {", ".join(n for _, _, n in parameters)}):')
        for _, _, n in parameters:
            self.emit(2, f'self.{n} = {n}')
        for line in self.members:
            if not re.search(r'= (Register|Table|[A-Z]\w*)\(', line):
                self.emit(2, line)
        self.block(2)
        outs = [n for d, k, n in parameters if d in ('out', 'inout') and isinstance(k, Bits)]
        self.emit(2, f'return ({"".join(f"self.{n}, " for n in outs)})')

    # ---- statements --------------------------------------------------------------------------

    def block(self, depth):
        self.take('{')
        start = len(self.out)
        while not self.accept('}'):
            self.statement(depth)
        if len(self.out) == start:
            self.emit(depth, 'pass')

    def statement(self, depth):
        if self.peek() == '{':
            self.block(depth)
        elif self.accept('if'):
            self.take('(')
            kind, code = self.expression()
            if kind != BOOL:
                raise Problem(f'a condition is needed, not {kind}: {code}')
            self.take(')')
            self.emit(depth, f'if {code}:')
            self.block(depth + 1)
            if self.accept('else'):
                self.emit(depth, 'else:')
                if self.peek() == 'if':
                    self.statement(depth + 1)
                else:
                    self.block(depth + 1)
        elif self.peek() in ('bit', 'int') and self.peek(1) == '<':
            kind = self.type()
            name = self.take_name('=')
            code = self.fit(self.expression(), kind)
            self.take(';')
            self.scope[name] = ('value', kind)
            self.emit(depth, f'self.{name} = {code}')
        else:
            self.simple(depth)

    def simple(self, depth):
        """An assignment or a call."""
        name = self.peek()
        if self.peek(1) == '(' and name in ('mark_to_drop', 'truncate', 'verify_checksum', 'update_checksum',
                                            'recirculate_preserving_field_list'):
            self.take()
            self.extern(depth, name)
            return
        if self.peek(1) == '(' and self.scope.get(name, ('',))[0] == 'action':
            self.take()
            values = self.call([k for _, k, _ in self.scope[name][1]])
            self.emit(depth, f'self.action_{name}({", ".join(values)})')
            self.take(';')
            return
        kind, code = self.postfix()
        if self.accept('='):
            value = self.fit(self.expression(), kind)
            part = re.fullmatch(r'\((\S+) >> (\d+) & (\w+)\)', code)
            if part:
                whole, low, mask = part.groups()
                self.emit(depth, f'{whole} = {whole} & ~({mask} << {low}) | ({value}) << {low}')
            else:
                self.emit(depth, f'{code} = {value}')
        elif kind == 'call' or '.run_' in code:
            self.emit(depth, code)
        else:
            raise Problem(f'what is to be done with {code}?')
        self.take(';')

    def extern(self, depth, name):
        self.take('(')
        if name == 'mark_to_drop':
            self.take('standard')
            self.emit(depth, 'self.standard.dropped = True')
        elif name == 'recirculate_preserving_field_list':
            self.fit(self.expression(), Bits(8))
            self.emit(depth, 'self.again = True')
        elif name == 'truncate':
            self.emit(depth, f'self.length = {self.fit(self.expression(), Bits(32))}')
        else:
            _, condition = self.expression()
            self.take(',', '{')
            fields = [self.expression() for _ in self.until('}', ',')]
            self.take(',')
            _, target = self.expression()
            self.take(',', 'HashAlgorithm', '.', 'csum16')
            words = ', '.join(f'({k[0]}, {c})' for k, c in fields)
            self.emit(depth, f'if {condition}:')
            if name == 'update_checksum':
                self.emit(depth + 1, f'{target} = csum16([{words}])')
            else:
                self.emit(depth + 1, f'self.wrong = {target} != csum16([{words}])')
        self.take(')', ';')
