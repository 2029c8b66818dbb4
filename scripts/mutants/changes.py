# SPDX-License-Identifier: BSD-3-Clause
"""Small faults of C sources: one operator, number or statement each."""

import dataclasses
import re

# What is code and what is not: comments, texts, preprocessor lines and declarations of types stay as they are.
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*',
                     re.DOTALL | re.MULTILINE)
FUNCTION = re.compile(r'^\{$.*?^\}$', re.DOTALL | re.MULTILINE)
INSTEAD = {
    '<': ['<=', '>'], '<=': ['<', '>'], '>': ['>=', '<'], '>=': ['>', '<'], '==': ['!='], '!=': ['=='],
    '&&': ['||'], '||': ['&&'], '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '%': ['/'], '&': ['|'], '|': ['&'],
    '^': ['|'], '<<': ['>>'], '>>': ['<<'], '+=': ['-=', '='], '-=': ['+=', '='], '|=': ['&=', '='], '&=': ['|=', '='],
    'true': ['false'], 'false': ['true'], '!': [''], 'break': ['continue'], 'continue': ['break'],
}
# A binary operator has a blank at both sides, as clang-format writes it; a unary one has none behind it.
OPERATOR = re.compile(r'(?<=\s)(?:<=|>=|==|!=|&&|\|\||\+=|-=|\|=|&=|<<|>>|[-<>+*/%&|^])(?=\s)|'
                      r'!(?=[\w(])|\b(?:true|false|break|continue)\b')
NUMBER = re.compile(r'\b\d+(?=[Uu]?[Ll]{0,2}\b)(?![.xX])')
STATEMENT = re.compile(r'(?<=\n)\t+(?!return\b|goto\b|break\b|continue\b|else\b|do\b|case\b)'
                       r'(?:\w+\(|[*\w][\w.>\[\]()+-]*(?: [-+*/|&^]?= |\+\+;|--;))[^;{}]*;(?=\n)')


@dataclasses.dataclass(frozen=True)
class Change:
    """One fault: at that place of the text, instead of those characters."""

    path: str
    at: int
    old: str
    new: str
    line: int

    def apply(self, text):
        """The text with the fault."""
        return text[:self.at] + self.new + text[self.at + len(self.old):]

    def __str__(self):
        old = ' '.join(self.old.split())
        return f'{self.path}:{self.line}: {old!r} -> {self.new.strip()!r}'


def blanked(text):
    """The text with blanks where no code is, as long as before."""
    return NO_CODE.sub(lambda match: re.sub(r'[^\n]', ' ', match[0]), text)


def changes(path, text):
    """All faults that are tried in functions of a source file, in the order of their places."""
    code = blanked(text)
    found = []
    for function in FUNCTION.finditer(code):
        for pattern, instead in ((OPERATOR, INSTEAD.get), (NUMBER, lambda old: [str(int(old) + 1)]),
                                 (STATEMENT, lambda old: ['\t;'])):
            for match in pattern.finditer(code, *function.span()):
                old = text[match.start():match.end()]
                found += [Change(path, match.start(), old, new, text.count('\n', 0, match.start() + 1) + 1)
                          for new in instead(match[0])]
    return sorted(found, key=lambda change: (change.at, change.new))
