# SPDX-License-Identifier: BSD-3-Clause
"""A P4 program for v1model or TNA as Python: for tests where there is no P4 compiler.

As much of P4-16 as the programs in p4/ use, without slowloris. Widths are checked as a compiler does: operands
of different widths, constants that do not fit and unknown names are errors.
"""

import functools
import re
import subprocess

TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|"[^"]*"|0[xX][0-9a-fA-F]+|\d+|\w+|'
                   r'\|\+\||\|-\||&&&|\.\.|\+\+|<<|==|!=|<=|>=|&&|\|\||[-+*/&|^~!<>=(){}\[\],;:.@#]', re.S)
LEVELS = (('||',), ('&&',), ('==', '!='), ('<', '>', '<=', '>='), ('|',), ('^',), ('&',),
          ('<<', '>>'), ('++', '+', '-', '|+|', '|-|'), ('*',))
INT, BOOL = 'int', 'bool'


class Problem(Exception):
    """The program is not what a compiler accepts."""


def tokens(text):
    """What the text consists of; two '>' are two."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise Problem(f'what is {text[at:at + 20]!r}?')
        at = match.end()
        if not match[0].isspace() and not match[0].startswith(('//', '/*')):
            found.append(python_name(match[0]))
    return found


def python_name(name):
    """A name that Python does not have itself."""
    return name + '_' if name == 'class' else name


# What a program sees of Tofino's own metadata.
TNA = {
    'ingress_intrinsic_metadata_t': {'ingress_port': 9},
    'ingress_intrinsic_metadata_from_parser_t': {'parser_err': 16},
    'ingress_intrinsic_metadata_for_deparser_t': {'drop_ctl': 3},
    'ingress_intrinsic_metadata_for_tm_t': {'ucast_egress_port': 9, 'bypass_egress': 1,
                                            'mcast_grp_a': 16},
    'egress_intrinsic_metadata_t': {'egress_rid': 16},
    'egress_intrinsic_metadata_from_parser_t': {},
    'egress_intrinsic_metadata_for_deparser_t': {'drop_ctl': 3},
    'egress_intrinsic_metadata_for_output_port_t': {},
}


def is_extern(kind):
    """A type that comes with the architecture."""
    return kind in TNA or kind in ('packet_in', 'packet_out', 'standard_metadata_t')


class Bits(tuple):
    """The type of an unsigned or signed number: (bits, signed)."""

    def __new__(cls, width, signed=False):
        return super().__new__(cls, (width, signed))


class Header:
    """A header: its fields, and whether it is there."""

    def __init__(self, fields):
        self.valid_ = False
        self.types_ = fields
        for name in fields:
            setattr(self, name, 0)


class Record:
    """A struct: headers and numbers."""


class Register:
    """An array of registers."""

    def __init__(self, size):
        self.size, self.words = size, {}

    def read(self, index):
        assert index < self.size
        return self.words.get(index, 0)

    def write(self, index, value):
        assert index < self.size
        self.words[index] = value


class Translator:
    """Reads a program and writes Python."""

    def __init__(self, text):
        self.tokens, self.at = tokens(text), 0
        self.types, self.constants, self.enums = {}, {}, {}
        self.controls, self.globals, self.blocks = {}, {}, []
        self.out, self.scope = [], {}

    # ---- tokens ------------------------------------------------------------------------------

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ''

    def take(self, wanted=None):
        token = self.peek()
        if wanted is not None and token != wanted:
            raise Problem(f'{wanted!r} expected, not {" ".join(self.tokens[self.at:self.at + 12])}')
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    # ---- declarations ------------------------------------------------------------------------

    def program(self):
        while self.peek():
            word = self.take()
            if word == 'const':
                kind = self.type()
                name = self.take()
                self.take('=')
                self.constants[name] = (kind, self.fit(self.expression(), kind))
                self.take(';')
            elif word == '@':
                self.annotation()
            elif word == 'enum':
                self.enum()
            elif word in ('header', 'struct'):
                self.record(word)
            elif word in ('control', 'parser'):
                self.control(word)
            elif word == 'register':
                name, size = self.register()
                self.globals[name] = ('register', Bits(32))
                self.emit(0, f'{name} = Register({size})')
            elif word in ('V1Switch', 'Pipeline'):
                self.take('(')
                while self.peek() != ')':
                    self.blocks.append(self.take())
                    for token in '()':
                        self.take(token)
                    self.accept(',')
                break
            else:
                raise Problem(f'what is {word!r}?')
        return '\n'.join(self.out)

    def annotation(self):
        self.take()
        self.take('(')
        while not self.accept(')'):
            self.take()

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

    def enum(self):
        self.take('bit')
        self.take('<')
        width = int(self.take())
        self.take('>')
        name = self.take()
        self.take('{')
        members = {}
        while not self.accept('}'):
            member = self.take()
            self.take('=')
            members[member] = int(self.take(), 0)
            assert members[member] < 1 << width
            self.accept(',')
        self.enums[name] = members

    def record(self, word):
        name = self.take()
        self.take('{')
        fields = {}
        while not self.accept('}'):
            kind = self.type()
            fields[self.take()] = kind
            self.take(';')
        self.types[name] = (word, fields)

    def register(self):
        self.take('<')
        self.type()
        self.take('>')
        self.take('(')
        size = self.primary_constant()
        self.take(')')
        name = self.take()
        self.take(';')
        return name, size

    def parameters(self):
        self.take('(')
        found = []
        while not self.accept(')'):
            direction = self.take() if self.peek() in ('in', 'out', 'inout') else ''
            kind = self.take() if is_extern(self.peek()) else self.type()
            found.append((direction, kind, self.take()))
            self.accept(',')
        return found

    # ---- controls and parsers ----------------------------------------------------------------

    def emit(self, depth, line):
        self.out.append('    ' * depth + line)

    def control(self, word):
        name = self.take()
        parameters = self.parameters()
        self.controls[name] = parameters
        self.take('{')
        self.scope = {n: ('value', k) for _, k, n in parameters}
        self.emit(0, f'class {name}:')
        self.members = []
        self.actions = {}
        body = len(self.out)
        while not self.accept('}'):
            self.member(word)
        if word == 'parser':
            self.emit(1, f'def apply(self, {", ".join(n for _, _, n in parameters)}):')
            for _, _, n in parameters:
                self.emit(2, f'self.{n} = {n}')
            self.emit(2, 'state = "start"')
            self.emit(2, 'while state != "accept":')
            self.emit(3, 'state = getattr(self, "state_" + state)()')
        init = ['    def __init__(self):', '        pass']
        self.out[body:body] = init + ['        ' + line for line in self.members]

    def member(self, word):
        token = self.take()
        if token == '@':
            self.annotation()
        elif token == 'action':
            self.action()
        elif token == 'table':
            self.table()
        elif token == 'state':
            self.state()
        elif token == 'apply':
            self.apply()
        elif token == 'RegisterAction':
            self.register_action()
        elif token == 'Checksum':
            self.take('(')
            self.take(')')
            name = self.take()
            self.take(';')
            self.scope[name] = ('checksum', None)
            self.members.append(f'self.{name} = Sum()  # Checksum(')
        elif token == 'Register':
            self.register_of_tna()
        elif token == 'register':
            name, size = self.register()
            self.scope[name] = ('register', Bits(32))
            self.members.append(f'self.{name} = Register({size})')
        elif token in self.controls:
            self.take('(')
            self.take(')')
            name = self.take()
            self.take(';')
            self.scope[name] = ('control', token)
            self.members.append(f'self.{name} = {token}()')
        else:
            self.at -= 1
            kind = self.type()
            name = self.take()
            value = '0'
            if self.accept('='):
                value = self.fit(self.expression(), kind)
            self.take(';')
            self.scope[name] = ('value', kind)
            self.members.append(f'self.{name} = {value}')
        del word

    def register_of_tna(self):
        self.take('<')
        kind = self.type()
        self.take(',')
        self.type()
        self.take('>')
        self.take('(')
        size = self.primary_constant()
        self.take(')')
        name = self.take()
        self.take(';')
        self.scope[name] = ('memory', kind)
        self.members.append(f'self.{name} = Register({size})')

    def register_action(self):
        """A method that reads, works and writes."""
        self.take('<')
        kinds = []
        while not self.accept('>'):
            kinds.append(self.type())
            self.accept(',')
        self.take('(')
        register = self.take()
        if self.scope.get(register) != ('memory', kinds[0]):
            raise Problem(f'{register} has no values of {kinds[0]}')
        self.take(')')
        name = self.take()
        for token in '={':
            self.take(token)
        self.take('void')
        self.take('apply')
        (_, kind, value), (_, result_kind, result) = self.parameters()
        if kind != kinds[0] or result_kind != kinds[2]:
            raise Problem(f'{name}: other types')
        self.emit(1, f'def run_{name}(self, index_):')
        self.emit(2, f'{value}, {result} = self.{register}.read(index_), 0')
        outer = dict(self.scope)
        self.scope[value], self.scope[result] = ('local', kind), ('local', result_kind)
        self.block(2)
        self.scope = outer
        self.emit(2, f'self.{register}.write(index_, {value})')
        self.emit(2, f'return {result}')
        self.take('}')
        self.take(';')
        self.scope[name] = ('stateful', kinds)

    def action(self):
        name = self.take()
        parameters = self.parameters()
        self.actions[name] = parameters
        self.emit(1, f'def action_{name}(self{"".join(", " + n for _, _, n in parameters)}):')
        outer = dict(self.scope)
        for _, kind, n in parameters:
            self.scope[n] = ('local', kind)
        self.block(2)
        self.scope = outer
        self.scope[name] = ('action', parameters)

    def table(self):
        name = self.take()
        self.take('{')
        keys, actions, default, size, entries = [], [], None, None, []
        while not self.accept('}'):
            self.accept('const')
            what = self.take()
            if what == 'size':
                self.take('=')
                size = self.primary_constant()
                self.take(';')
                continue
            self.take('=')
            if what == 'default_action':
                default = self.action_call(actions)
                continue
            if what == 'entries':
                entries = self.entries(keys, actions)
                size = size or len(entries)
                continue
            self.take('{')
            while not self.accept('}'):
                if what == 'actions':
                    actions.append(self.take())
                    if actions[-1] not in self.actions:
                        raise Problem(f'no action {actions[-1]}')
                else:
                    keys.append(self.expression())
                    self.take(':')
                    kind = self.take()
                    assert kind in ('exact', 'ternary', 'lpm', 'range')
                    keys[-1] += (kind,)
                    if self.accept('@'):
                        self.take('name')
                        self.take('(')
                        self.take()
                        self.take(')')
                self.take(';')
        widths = [1 if kind == BOOL else self.width(kind) for kind, _, _ in keys]
        counts = {action: [(self.width(k), isinstance(k, Bits) and k[1])
                           for _, k, _ in self.actions[action]]
                  for action in actions}
        self.members.append(f'self.{name} = Table({name!r}, {widths}, {[k[2] for k in keys]}, '
                            f'{counts}, {size}, {default!r}, {entries})')
        self.emit(1, f'def table_{name}(self):')
        self.emit(2, f'hit, action, arguments = self.{name}.look('
                     f'({"".join(code + ", " for _, code, _ in keys)}))')
        self.emit(2, 'getattr(self, "action_" + action)(*arguments)')
        self.emit(2, 'return hit')
        self.scope[name] = ('table', None)

    def action_call(self, actions):
        """An action and its arguments."""
        action = self.take()
        if action not in actions:
            raise Problem(f'{action} is none of {actions}')
        values = [int(value) for value in self.call([k for _, k, _ in self.actions[action]])]
        self.take(';')
        return action, tuple(values)

    def entries(self, keys, actions):
        """Constant entries: (keys, action, arguments)."""
        found = []
        self.take('{')
        while not self.accept('}'):
            self.take('(')
            fields = [self.entry_key(kind, how) for kind, _, how in keys]
            self.take(')')
            self.take(':')
            found.append((fields, *self.action_call(actions)))
        return found

    def entry_key(self, kind, how):
        """(value, mask) of a field, or a range."""
        self.accept(',')
        if self.accept('_'):
            return range(1 << self.width(kind)) if how == 'range' else (0, 0)
        if self.peek() in ('true', 'false'):
            value = int(self.take() == 'true')
        else:
            value = eval(self.fit(self.expression(), kind))
        if self.accept('..'):
            return range(value, eval(self.fit(self.expression(), kind)) + 1)
        if self.accept('&&&'):
            return value, eval(self.fit(self.expression(), kind))
        width = 1 if kind == BOOL else self.width(kind)
        return value, None if how == 'exact' else (1 << width) - 1

    def width(self, kind):
        return kind[0] if isinstance(kind, Bits) else 8 if kind in self.enums else 0

    def state(self):
        name = self.take()
        self.emit(1, f'def state_{name}(self):')
        self.take('{')
        while not self.accept('transition'):
            self.statement(2)
        if not self.accept('select'):
            self.emit(2, f'return {self.take()!r}')
            self.take(';')
            self.take('}')
            return
        self.take('(')
        keys = []
        while not self.accept(')'):
            keys.append(self.expression())
            self.accept(',')
        self.take('{')
        while not self.accept('}'):
            condition = self.select_case(keys)
            self.take(':')
            self.emit(2, f'if {condition}:')
            self.emit(3, f'return {self.take()!r}')
            self.take(';')
        self.emit(2, 'raise AssertionError("no transition")')
        self.take('}')

    def select_case(self, keys):
        if self.accept('default'):
            return 'True'
        tuple_ = self.accept('(')
        conditions = []
        for number, (kind, code) in enumerate(keys):
            if number:
                self.take(',')
            if self.accept('_'):
                continue
            first = self.fit(self.expression(), kind)
            if self.accept('..'):
                last = self.fit(self.expression(), kind)
                conditions.append(f'{first} <= {code} <= {last}')
            else:
                conditions.append(f'{code} == {first}')
        if tuple_:
            self.take(')')
        return ' and '.join(conditions) or 'True'

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
            name = self.take()
            self.take('=')
            code = self.fit(self.expression(), kind)
            self.take(';')
            self.scope[name] = ('value', kind)
            self.emit(depth, f'self.{name} = {code}')
        else:
            self.simple(depth)

    def simple(self, depth):
        """An assignment or a call."""
        name = self.peek()
        if self.peek(1) == '(' and name in ('mark_to_drop', 'truncate', 'verify_checksum',
                                            'update_checksum'):
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
        elif name == 'truncate':
            self.emit(depth, f'self.length = {self.fit(self.expression(), Bits(32))}')
        else:
            _, condition = self.expression()
            self.take(',')
            self.take('{')
            fields = []
            while not self.accept('}'):
                fields.append(self.expression())
                self.accept(',')
            self.take(',')
            _, target = self.expression()
            for token in (',', 'HashAlgorithm', '.', 'csum16'):
                self.take(token)
            words = ', '.join(f'({k[0]}, {c})' for k, c in fields)
            self.emit(depth, f'if {condition}:')
            if name == 'update_checksum':
                self.emit(depth + 1, f'{target} = csum16([{words}])')
            else:
                self.emit(depth + 1, f'self.wrong = {target} != csum16([{words}])')
        self.take(')')
        self.take(';')

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
            return INT, str(eval(f'{a} {operator} {b}')) if operator in '+-*' else None
        if kind == INT:
            kind, a = other, self.fit(left, other)
        b = self.fit(right, kind)
        if operator in ('|+|', '|-|'):
            assert kind[1]
            most = 1 << kind[0] - 1
            return kind, f'max({-most}, min({most - 1}, {a} {operator[1]} {b}))'
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
                'egress_rid': 16, 'checksum_error': 1}

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
                assert first[0] == Bits(32) or first[0] == Bits(16)
                return 'call', f'{first[1]} = {code}.read({self.fit(second, Bits(32))})'
            return 'call', f'{code}.write({self.fit(first, Bits(32))}, {second[1]})'
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


def csum16(fields):
    """The internet checksum of fields."""
    total, bits = 0, 0
    for width, value in fields:
        total, bits = total << width | value & (1 << width) - 1, bits + width
    words = [total >> at & 0xFFFF for at in range(0, bits, 16)]
    folded = sum(words)
    while folded >> 16:
        folded = (folded & 0xFFFF) + (folded >> 16)
    return ~folded & 0xFFFF


class Sum:
    """TNA's checksum unit: one sum, of the packet at hand."""

    def __init__(self):
        self.total = 0

    def subtract(self, fields):
        """Take fields out."""
        self.total += csum16([(w, v) for w, v in fields if v is not None])

    def get(self):
        """What is left of a right checksum: the sum of all other words."""
        return folded(self.total)

    def update(self, fields):
        """The checksum of fields."""
        return csum16([(w, v) for w, v in fields if v is not None])

    def update_udp(self, fields):
        """A zero is written as ones."""
        return self.update(fields) or 0xFFFF


def folded(total):
    """A sum with its carries added."""
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


class Table:
    """A table and its entries."""

    def __init__(self, name, widths, kinds, actions, size, default, entries):
        self.name, self.widths, self.kinds, self.sorted = name, widths, kinds, True
        self.actions, self.size, self.default = actions, size, default
        self.exact, self.ternary = {}, []
        for number, (keys, action, arguments) in enumerate(entries):
            self.add(action, keys, arguments, number)

    def add(self, action, keys, arguments, priority):
        """keys: (value, mask), the mask None where the field is exact."""
        assert action in self.actions, (self.name, action)
        assert len(arguments) == len(self.actions[action])
        assert all(value < 1 << width for value, (width, _) in
                   zip(arguments, self.actions[action]))
        arguments = tuple(value - (1 << width) if signed and value >> width - 1 else value
                          for value, (width, signed) in zip(arguments, self.actions[action]))
        assert [is_exact(key) for key in keys] == [kind == 'exact' for kind in self.kinds]
        if 'lpm' in self.kinds:
            priority = -sum(mask or 0 for _, mask in keys)
        assert all(key[0] < 1 << width for key, width in zip(keys, self.widths))
        if set(self.kinds) != {'exact'}:
            self.ternary.append((priority, keys, action, arguments))
            self.sorted = False
        else:
            self.exact[tuple(value for value, _ in keys)] = action, arguments
        assert len(self.exact) + len(self.ternary) <= self.size, f'{self.name} is full'

    def look(self, fields):
        """Whether an entry matches, its action and its arguments."""
        fields = tuple(int(field) & (1 << width) - 1
                       for field, width in zip(fields, self.widths))
        if not self.sorted:
            self.ternary.sort(key=lambda entry: entry[0])
            self.sorted = True
        if fields in self.exact:
            return True, *self.exact[fields]
        for _, keys, action, arguments in self.ternary:
            if all(map(matches, fields, keys)):
                return True, action, arguments
        return False, *self.default


def is_exact(key):
    return not isinstance(key, range) and key[1] is None


def matches(field, key):
    """Whether a field is in a range, or equals a value where the mask has bits."""
    if isinstance(key, range):
        return field in key
    value, mask = key
    return field & (mask if mask is not None else -1) == value


def key_of(text, width):
    """(value, mask) of a field as simple_switch_CLI takes it; an exact one has no mask."""
    if '&&&' in text:
        value, mask = text.split('&&&')
        return int(value, 0), int(mask, 0)
    if '/' in text:
        value, length = text.split('/')
        return int(value, 0), (1 << width) - (1 << width - int(length))
    return int(text, 0), None


class Packet:
    """The bits of a frame, to be taken apart or put together."""

    def __init__(self, frame=b''):
        self.frame, self.at, self.made = frame, 0, b''

    def extract(self, header):
        width = sum(bits for bits, _ in header.types_.values())
        data = self.frame[self.at:self.at + width // 8]
        if len(data) < width // 8:
            raise EOFError
        self.at += width // 8
        value, header.valid_ = int.from_bytes(data, 'big'), True
        for name, (bits, _) in header.types_.items():
            width -= bits
            setattr(header, name, value >> width & (1 << bits) - 1)

    def emit(self, header):
        if header.valid_:
            value, width = 0, 0
            for name, (bits, _) in header.types_.items():
                field = getattr(header, name) & (1 << bits) - 1
                value, width = value << bits | field, width + bits
            self.made += value.to_bytes(width // 8, 'big')


class Switch:
    """The program behind ports, as simple_switch runs it. groups: group -> [(copy, port), ...]."""

    def __init__(self, path, *options):
        source = re.sub('^#include <.*', '', path.read_text(), flags=re.M)
        text = subprocess.run(['cc', '-E', '-P', '-x', 'c', '-iquote', path.parent, *options, '-'],
                              input=source, capture_output=True, text=True, check=True).stdout
        self.translator = Translator(text)
        code = self.translator.program()
        self.names = {'Register': Register, 'Table': Table, 'Sum': Sum, 'csum16': csum16}
        exec(compile(code, str(path), 'exec'), self.names)
        self._instantiate()
        self.groups, self.nodes = {}, []

    def _instantiate(self):
        self.parser, self.verify, self.ingress, self.egress, self.compute, self.deparser = (
            self.names[name]() for name in self.translator.blocks)

    def make(self, name):
        """A value of a type, all zero."""
        word, fields = self.translator.types[name]
        if word == 'header':
            return Header(fields)
        record = Record()
        for field, kind in fields.items():
            setattr(record, field, self.make(kind) if kind in self.translator.types else 0)
        return record

    def table(self, path):
        at = {'IngressPipe': self.ingress, 'EgressPipe': self.egress}[path.split('.')[0]]
        return functools.reduce(getattr, map(python_name, path.split('.')[1:]), at)

    def command(self, line):
        """One of simple_switch_CLI's."""
        words = line.split()
        if words[0] == 'mc_mgrp_create':
            self.groups[int(words[1])] = []
        elif words[0] == 'mc_node_create':
            self.nodes.append((int(words[1]), int(words[2])))
        elif words[0] == 'mc_node_associate':
            self.groups[int(words[1])].append(self.nodes[int(words[2])])
        else:
            self.add_entry(words)

    def add_entry(self, words):
        assert words[0] == 'table_add'
        arrow = words.index('=>')
        table = self.table(words[1])
        keys = [key_of(*field) for field in zip(words[3:arrow], table.widths)]
        arguments = [int(word, 0) for word in words[arrow + 1:]]
        priority = arguments.pop() if 'ternary' in table.kinds else 0
        table.add(words[2].split('.')[-1], keys, tuple(arguments), priority)

    def receive(self, frame, port=0):
        """The frames that leave: (port, frame)."""
        hdr, meta, standard = self.make('headers_t'), self.make('meta_t'), Record()
        standard.ingress_port, standard.packet_length = port, len(frame)
        standard.egress_spec = standard.mcast_grp = standard.egress_rid = 0
        standard.checksum_error, standard.dropped = 0, False
        packet = Packet(frame)
        try:
            self.parser.apply(packet, hdr, meta, standard)
        except EOFError:
            pass
        self.verify.wrong = False
        self.verify.apply(hdr, meta)
        standard.checksum_error = int(self.verify.wrong)
        self.ingress.apply(hdr, meta, standard)
        copies = self.groups[standard.mcast_grp] if standard.mcast_grp else []
        if not copies and not standard.dropped:
            copies = [(0, standard.egress_spec)]
        return [made for copy, to in copies
                for made in self.send(hdr, meta, standard, packet.frame[packet.at:], copy, to)]

    def send(self, hdr, meta, standard, rest, copy, to):
        """A copy's way out."""
        hdr, meta = duplicate(hdr), duplicate(meta)
        standard.egress_rid, standard.dropped = copy, False
        self.egress.length = None
        self.egress.apply(hdr, meta, standard)
        if standard.dropped:
            return
        self.compute.apply(hdr, meta)
        packet = Packet()
        self.deparser.apply(packet, hdr)
        yield to, (packet.made + rest)[:self.egress.length]


def duplicate(record):
    """A copy of a record and all that it has."""
    copied = object.__new__(type(record))
    for name, value in vars(record).items():
        setattr(copied, name,
                duplicate(value) if isinstance(value, (Header, Record)) else value)
    return copied


class TnaSwitch(Switch):
    """A program for TNA, as Tofino runs it. groups: group -> [(copy, port), ...]."""

    def __init__(self, path, *options):
        super().__init__(path, '-D__TARGET_TOFINO__=1', *options)

    def _instantiate(self):
        (self.parser, self.ingress, self.deparser, self.egress_parser, self.egress,
         self.egress_deparser) = (self.names[name]() for name in self.translator.blocks)

    def receive(self, frame, port=0):
        """The frames that leave: (port, frame)."""
        hdr, meta = self.make('headers_t'), self.make('meta_t')
        intrinsic, from_parser, for_deparser, for_tm = (
            zeros(TNA[f'ingress_intrinsic_metadata_{name}t'])
            for name in ('', 'from_parser_', 'for_deparser_', 'for_tm_'))
        intrinsic.ingress_port = port
        packet, made = Packet(frame), Packet()
        self.parser.netfc.checksum.total = 0
        try:
            self.parser.apply(packet, hdr, meta, intrinsic)
        except EOFError:
            from_parser.parser_err = 2
        self.ingress.apply(hdr, meta, intrinsic, from_parser, for_deparser, for_tm)
        if for_deparser.drop_ctl:
            return []
        self.deparser.apply(made, hdr, meta, for_deparser)
        out = made.made + packet.frame[packet.at:]
        if for_tm.bypass_egress:
            return [(for_tm.ucast_egress_port, out)]
        copies = self.groups[for_tm.mcast_grp_a] if for_tm.mcast_grp_a else [
            (0, for_tm.ucast_egress_port)]
        return [sent for copy, to in copies for sent in self._behind(out, copy, to)]

    def _behind(self, frame, copy, to):
        """A packet's way from the traffic manager out."""
        hdr, meta = self.make('egress_headers_t'), self.make('egress_meta_t')
        intrinsic, for_deparser = (zeros(TNA[f'egress_intrinsic_metadata_{name}t'])
                                   for name in ('', 'for_deparser_'))
        intrinsic.egress_rid = copy
        packet, made = Packet(frame), Packet()
        self.egress_parser.checksum.total = 0
        self.egress_parser.apply(packet, hdr, meta, intrinsic)
        self.egress.apply(hdr, meta, intrinsic, None, for_deparser, None)
        if not for_deparser.drop_ctl:
            self.egress_deparser.apply(made, hdr, meta, for_deparser)
            yield to, made.made + frame[packet.at:]


def zeros(fields):
    """Metadata, all zero."""
    record = Record()
    for name in fields:
        setattr(record, name, 0)
    return record
