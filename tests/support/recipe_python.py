# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program of a document: recipe_python.py FILE. A comment after an expression is its value."""

import ast
import pathlib
import re
import sys


def main():
    """Runs it, statement by statement."""
    text = pathlib.Path(sys.argv[1]).read_text(encoding='utf-8')
    lines, names = text.splitlines(), {'__name__': '__main__'}
    for statement in ast.parse(text).body:
        comment = re.search(r' {2,}# (.*)$', lines[statement.end_lineno - 1])
        if isinstance(statement, ast.Expr) and comment:
            value = eval(ast.unparse(statement), names)  # pylint: disable=eval-used
            assert repr(value) == comment[1], f'{ast.unparse(statement)} is {value!r}'
        else:
            exec(ast.unparse(statement), names)  # pylint: disable=exec-used


if __name__ == '__main__':
    main()
