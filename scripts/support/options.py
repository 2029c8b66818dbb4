# SPDX-License-Identifier: BSD-3-Clause
"""options.py MODULE [ARGUMENT...]: reads the command line of a module of scripts/, and runs nothing else of it.

It needs none of the packages that the module imports: with python3 -S nothing but Python's own
modules is found, and what is missing is stood in for. Exit status 1, and what is wrong, if the module refuses the arguments; --help prints the module's.
"""

import importlib.abc
import importlib.machinery
import runpy
import sys
from unittest import mock

import command

PARSE_ARGS = command.Arguments.parse_args


class Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds, after all others, what is not installed."""

    def find_spec(self, fullname, path=None, target=None):
        """Of any module that Python itself does not come with; its own modules as well."""
        if fullname.partition(".")[0] in sys.stdlib_module_names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        """One that has whatever it is asked for."""
        module = mock.MagicMock(name=spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module):
        """There is nothing to run."""


def parse_only(parser, args=None, namespace=None):
    """Ends the program when the arguments have been read and checked."""
    PARSE_ARGS(parser, args, namespace)
    sys.exit(0)


def main():
    """The program."""
    sys.argv[:] = sys.argv[1:]
    sys.meta_path.append(Absent())
    command.Arguments.parse_args = parse_only
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=False)


if __name__ == "__main__":
    main()
