# SPDX-License-Identifier: BSD-3-Clause
"""A P4 program's text: its tokens, and the types that come with the architectures."""

import re

TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|"[^"]*"|0[xX][0-9a-fA-F]+|\d+w\d+|\d+|\w+|'
                   r'\|\+\||\|-\||&&&|\.\.|\+\+|<<|==|!=|<=|>=|&&|\|\||[-+*/%&|^~!<>=(){}\[\],;:.@#]', re.S)
LEVELS = (('||',), ('&&',), ('==', '!='), ('<', '>', '<=', '>='), ('|',), ('^',), ('&',),
          ('<<', '>>'), ('++', '+', '-', '|+|', '|-|'), ('*', '%'))
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


class Tokens:
    """The tokens of a text, read one by one."""

    def __init__(self, text):
        self.tokens, self.at = tokens(text), 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ''

    def take(self, *wanted):
        """The next token, or as many as have to come."""
        for token in wanted:
            if self.peek() != token:
                raise Problem(f'{token!r} expected, not {" ".join(self.tokens[self.at:self.at + 12])}')
            self.at += 1
        if not wanted:
            self.at += 1
        return self.tokens[self.at - 1]

    def take_name(self, *after):
        """A name, and what has to come after it."""
        name = self.take()
        self.take(*after)
        return name

    def until(self, end, separator=None):
        """Once for each thing before a token, with separators between them."""
        while not self.accept(end):
            yield
            self.accept(separator)

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False


class Names(Tokens):
    """What names stand for."""

    def __init__(self, text):
        super().__init__(text)
        self.types, self.constants, self.enums = {}, {}, {}
        self.controls, self.globals, self.scope = {}, {}, {}
