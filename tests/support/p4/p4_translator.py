# SPDX-License-Identifier: BSD-3-Clause
"""A P4 program to one in Python."""

from p4_source import BOOL, Bits, Problem, is_extern
from p4_statements import Statements


class Translator(Statements):
    """Reads a program and writes Python."""

    def __init__(self, text):
        super().__init__(text)
        self.blocks = []

    def program(self):
        while self.peek():
            word = self.take()
            if word == 'const':
                kind = self.type()
                name = self.take_name('=')
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
                kind, name, size = self.register()
                self.globals[name] = ('register', kind)
                self.emit(0, f'{name} = Register({size})')
            elif word in ('V1Switch', 'Pipeline'):
                self.take('(')
                self.blocks += [self.take_name('(', ')') for _ in self.until(')', ',')]
                break
            else:
                raise Problem(f'what is {word!r}?')
        return '\n'.join(self.out)

    def annotation(self):
        self.take_name('(')
        for _ in self.until(')'):
            self.take()

    def enum(self):
        self.take('bit', '<')
        width = int(self.take_name('>'))
        name = self.take_name('{')
        self.enums[name] = {self.take_name('='): int(self.take(), 0) for _ in self.until('}', ',')}
        assert all(value < 1 << width for value in self.enums[name].values())

    def record(self, word):
        name = self.take_name('{')
        fields = {}
        for _ in self.until('}'):
            if self.accept('@'):
                self.annotation()
            kind = self.type()
            fields[self.take_name(';')] = kind
        self.types[name] = (word, fields)

    def register(self, has_index=False):
        """has_index: its type is said, too."""
        self.take('<')
        kind = self.type()
        if has_index:
            self.take(',')
            self.type()
        self.take('>', '(')
        size = self.primary_constant()
        self.take(')')
        return kind, self.take_name(';'), size

    def parameters(self):
        self.take('(')
        found = []
        for _ in self.until(')', ','):
            direction = self.take() if self.peek() in ('in', 'out', 'inout') else ''
            kind = self.take() if is_extern(self.peek()) else self.type()
            found.append((direction, kind, self.take()))
        return found

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
            self.take('(', ')')
            name = self.take_name(';')
            self.scope[name] = ('checksum', None)
            self.members.append(f'self.{name} = ChecksumUnit()')
        elif token == 'Register':
            self.register_of_tna()
        elif token == 'register':
            kind, name, size = self.register()
            self.scope[name] = ('register', kind)
            self.members.append(f'self.{name} = Register({size})')
        elif token in self.controls:
            self.take('(', ')')
            name = self.take_name(';')
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
        kind, name, size = self.register(has_index=True)
        self.scope[name] = ('memory', kind)
        fields = [] if isinstance(kind, Bits) else [*self.types[kind][1]]
        self.members.append(f'self.{name} = Register({size}, {fields})')

    def register_action(self):
        """A method that reads, works and writes."""
        self.take('<')
        kinds = [self.type() for _ in self.until('>', ',')]
        self.take('(')
        register = self.take()
        if self.scope.get(register) != ('memory', kinds[0]):
            raise Problem(f'{register} has no values of {kinds[0]}')
        self.take(')')
        name = self.take_name('=', '{', 'void', 'apply')
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
        self.take('}', ';')
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
        name = self.take_name('{')
        keys, actions, default, size, entries = [], [], None, None, []
        for _ in self.until('}'):
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
                        self.take('name', '(')
                        self.take_name(')')
                self.take(';')
        widths = [1 if kind == BOOL else self.width(kind) for kind, _, _ in keys]
        counts = {action: [(self.width(k), isinstance(k, Bits) and k[1])
                           for _, k, _ in self.actions[action]]
                  for action in actions}
        self.members.append(f'self.{name} = Table({name!r}, {widths}, {[k[2] for k in keys]}, '
                            f'{counts}, {size}, {default!r}, {entries})')
        self.emit(1, f'def table_{name}(self):')
        self.emit(2, f'return self.{name}.run(self, '
                     f'({"".join(code + ", " for _, code, _ in keys)}))')
        self.scope[name] = ('table', None)

    def action_call(self, actions):
        """An action and its arguments."""
        action = self.take()
        if action not in actions:
            raise Problem(f'{action} is none of {actions}')
        values = [int(eval(value)) for value in self.call([k for _, k, _ in self.actions[action]])]
        self.take(';')
        return action, tuple(values)

    def entries(self, keys, actions):
        """Constant entries: (keys, action, arguments)."""
        found = []
        self.take('{')
        while not self.accept('}'):
            several = self.accept('(')
            fields = [self.entry_key(kind, how) for kind, _, how in keys]
            if several:
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
            self.emit(2, f'return {self.take_name(";", "}")!r}')
            return
        self.take('(')
        keys = [self.expression() for _ in self.until(')', ',')]
        self.take('{')
        for _ in self.until('}'):
            condition = self.select_case(keys)
            self.take(':')
            self.emit(2, f'if {condition}:')
            self.emit(3, f'return {self.take_name(";")!r}')
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
            elif self.accept('&&&'):
                conditions.append(f'{code} & {self.fit(self.expression(), kind)} == {first}')
            else:
                conditions.append(f'{code} == {first}')
        if tuple_:
            self.take(')')
        return ' and '.join(conditions) or 'True'
