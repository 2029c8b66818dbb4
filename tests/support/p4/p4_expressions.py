# SPDX-License-Identifier: BSD-3-Clause
"""Expressions of P4 to those of Python, with their types."""

import re

from p4_source import BOOL, INT, LEVELS, TNA, Bits, Names, Problem, is_extern


class Expressions(Names):
    """Reads expressions. Each gives (type, Python)."""

    def type(self):
        word = self.take()
        if word in ('bit', 'int'):
            self.take('<')
            width = int(self.level(8)[1])  # above that, '>>' is an operator
            self.take('>')
            return Bits(width, word == 'int')
        if word == 'bool':
            return BOOL
        if word == 'PortId_t':
            return Bits(9)
        if word not in self.types and word not in self.enums:
            raise Problem(f'no type {word}')
        return word

    def primary_constant(self):
        kind, code = self.level(7)
        if kind != INT:
            raise Problem('a constant is needed')
        return eval(code)

    def call(self, kinds):
        self.take('(')
        values = []
        for number, kind in enumerate(kinds):
            if number:
                self.take(',')
            values.append(self.fit(self.expression(), kind))
        self.take(')')
        return values

    # ---- expressions -------------------------------------------------------------------------

    def fit(self, typed, kind):
        """The code of an expression that is to have a type."""
        given, code = typed
        if given == kind:
            return code
        if given == INT and isinstance(kind, Bits):
            value = eval(code)
            least = -(1 << kind[0] - 1) if kind[1] else 0
            if not least <= value < 1 << kind[0]:
                raise Problem(f'{value} does not fit {kind[0]} bits')
            return str(value)
        raise Problem(f'{given} where {kind} is needed: {code}')

    def expression(self):
        return self.level(0)

    def operator(self, level):
        if '>>' in LEVELS[level] and self.peek() == '>' and self.peek(1) == '>':
            self.at += 2
            return '>>'
        if self.peek() == '>' and self.peek(1) == '>':
            return None
        return self.take() if self.peek() in LEVELS[level] else None

    def level(self, number):
        if number == len(LEVELS):
            return self.unary()
        left = self.level(number + 1)
        while True:
            operator = self.operator(number)
            if operator is None:
                return left
            left = self.binary(operator, left, self.level(number + 1))

    def binary(self, operator, left, right):
        (kind, a), (other, b) = left, right
        if operator in ('&&', '||'):
            if (kind, other) != (BOOL, BOOL):
                raise Problem(f'{a} {operator} {b}: of conditions only')
            return BOOL, f'({a} {"and" if operator == "&&" else "or"} {b})'
        if operator == '++':
            return Bits(kind[0] + other[0]), f'({a} << {other[0]} | {b})'
        if operator in ('<<', '>>'):
            return self.shift(operator, kind, a, b)
        if kind == INT and other == INT:
            return INT, str(eval(f'{a} {operator} {b}')) if operator in '+-*%' else None
        if kind == INT:
            kind, a = other, self.fit(left, other)
        b = self.fit(right, kind)
        if operator in ('|+|', '|-|'):
            least = -(1 << kind[0] - 1) if kind[1] else 0
            most = least + (1 << kind[0]) - 1
            return kind, f'saturated({a} {operator[1]} {b}, {least}, {most})'
        if operator in ('==', '!=', '<', '>', '<=', '>='):
            return BOOL, f'({a} {operator} {b})'
        if not isinstance(kind, Bits):
            raise Problem(f'{a} {operator} {b}')
        return kind, wrap(kind, f'{a} {operator} {b}')

    @staticmethod
    def shift(operator, kind, a, b):
        if kind == INT:
            return INT, str(eval(f'{a} {operator} {b}'))
        return kind, wrap(kind, f'{a} {operator} {b}')

    def unary(self):
        if self.accept('~'):
            kind, code = self.unary()
            return kind, wrap(kind, f'~{code}')
        if self.accept('-'):
            kind, code = self.unary()
            assert kind == INT
            return INT, str(-int(code))
        if self.accept('!'):
            kind, code = self.unary()
            assert kind == BOOL
            return BOOL, f'(not {code})'
        if self.peek() == '(' and self.peek(1) in ('bit', 'int') and self.peek(2) == '<':
            self.take('(')
            kind = self.type()
            self.take(')')
            return self.cast(kind, self.unary())
        return self.postfix()

    def cast(self, kind, typed):
        given, code = typed
        if given == INT:
            return kind, self.fit(typed, kind)
        if given[0] != kind[0] and given[1] != kind[1]:
            raise Problem(f'a cast changes width or sign, not both: {code}')
        return kind, wrap(kind, code)

    def postfix(self):
        if self.accept('('):
            typed = self.expression()
            self.take(')')
            kind, code = typed
            typed = kind, f'({code})'
        else:
            typed = self.name()
        while self.peek() in ('.', '['):
            typed = self.selection(typed) if self.accept('.') else self.slice(typed)
        return typed

    def name(self):
        token = self.take()
        if re.fullmatch(r'\d+w\d+', token):
            width, value = map(int, token.split('w'))
            return Bits(width), self.fit((INT, str(value)), Bits(width))
        if re.match(r'\d', token):
            return INT, str(int(token, 0))
        if token in self.constants:
            return self.constants[token]
        if token in self.enums:
            self.take('.')
            return token, str(self.enums[token][self.take()])
        if token == 'max' and self.peek() == '(':
            self.take('(')
            first = self.expression()
            self.take(',')
            second = self.fit(self.expression(), first[0])
            self.take(')')
            return first[0], f'max({first[1]}, {second})'
        if token == 'standard':
            return 'standard', 'self.standard'
        if token == 'packet':
            return 'packet', 'self.packet'
        entry = self.scope.get(token) or self.globals.get(token)
        if entry is None:
            raise Problem(f'no {token}')
        place, kind = entry
        if place == 'local':
            return kind, token
        if place == 'value':
            return kind, f'self.{token}'
        return (place, kind), token if token in self.globals else f'self.{token}'

    STANDARD = {'egress_spec': 9, 'ingress_port': 9, 'mcast_grp': 16, 'packet_length': 32,
                'egress_rid': 16, 'checksum_error': 1, 'instance_type': 32}

    def selection(self, typed):
        kind, code = typed
        field = self.take()
        if kind == 'standard':
            return Bits(self.STANDARD[field]), f'{code}.{field}'
        if isinstance(kind, str) and kind in TNA:
            return Bits(TNA[kind][field]), f'{code}.{field}'
        if kind == 'packet':
            self.take('(')
            if self.accept('PORT_METADATA_SIZE'):
                self.take(')')
                return 'call', 'pass'
            given, header = self.expression()
            self.take(')')
            if isinstance(given, str) and given in TNA:
                return 'call', 'pass'
            return 'call', f'{code}.{field}({header})'
        if isinstance(kind, tuple) and not isinstance(kind, Bits):
            return self.method(kind, code, field)
        word, fields = self.types[kind]
        if word == 'header' and field in ('isValid', 'setValid', 'setInvalid'):
            self.take('(')
            self.take(')')
            if field == 'isValid':
                return BOOL, f'{code}.valid_'
            return 'call', f'{code}.valid_ = {field == "setValid"}'
        if field not in fields:
            raise Problem(f'{kind} has no field {field}')
        return fields[field], f'{code}.{field}'

    def method(self, kind, code, field):
        place, what = kind
        if place == 'register':
            self.take('(')
            first = self.expression()
            self.take(',')
            second = self.expression()
            self.take(')')
            if field == 'read':
                target = self.fit(first, what)
                return 'call', f'{target} = {code}.read({self.fit(second, Bits(32))})'
            return 'call', f'{code}.write({self.fit(first, Bits(32))}, {self.fit(second, what)})'
        if place == 'stateful':
            self.take('(')
            index = self.fit(self.expression(), what[1])
            self.take(')')
            return what[2], f'{code.replace("self.", "self.run_")}({index})'
        if place == 'checksum':
            return self.checksum(code, field)
        if place == 'table':
            self.take('(')
            self.take(')')
            call = code.replace('self.', 'self.table_') + '()'
            if self.accept('.'):
                self.take('hit')
                return BOOL, call
            return 'call', call
        return self.apply_control(self.controls[what], code)

    def checksum(self, code, field):
        self.take('(')
        if field == 'get':
            self.take(')')
            return Bits(16), f'{code}.get()'
        self.take('{')
        fields = []
        while not self.accept('}'):
            at = self.at
            owner = self.tokens[at:at + 3]
            kind, value = self.expression()
            there = f'self.hdr.{owner[2]}.valid_' if owner[0] == 'hdr' else 'True'
            fields.append(f'({kind[0]}, {value} if {there} else None)')
            self.accept(',')
        if self.accept(','):
            self.take('true')
            field = 'update_udp'
        self.take(')')
        words = ', '.join(fields)
        return ('call' if field == 'subtract' else Bits(16)), f'{code}.{field}([{words}])'

    def apply_control(self, parameters, code):
        self.take('(')
        values, outs = [], []
        for number, (direction, kind, _) in enumerate(parameters):
            if number:
                self.take(',')
            given, value = self.expression()
            if is_extern(kind):
                given = kind
            values.append(self.fit((given, value), kind))
            if direction in ('out', 'inout') and isinstance(kind, Bits):
                outs.append(value)
        self.take(')')
        call = f'{code}.apply({", ".join(values)})'
        return 'call', f'({"".join(value + ", " for value in outs)}) = {call}' if outs else call

    def slice(self, typed):
        kind, code = typed
        self.take('[')
        high = int(self.primary_constant())
        self.take(':')
        low = int(self.primary_constant())
        self.take(']')
        if not low <= high < kind[0]:
            raise Problem(f'{code} has no bits {high} to {low}')
        return Bits(high - low + 1), f'({code} >> {low} & {(1 << high - low + 1) - 1})'


def wrap(kind, code):
    """A result cut to its width."""
    width, signed = kind
    if signed:
        return f'((({code}) + {1 << width - 1} & {(1 << width) - 1}) - {1 << width - 1})'
    return f'(({code}) & {(1 << width) - 1})'
