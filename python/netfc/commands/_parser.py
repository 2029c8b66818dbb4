# SPDX-License-Identifier: BSD-3-Clause
"""What the programs have in common: exit statuses and how wrong usage is told."""

import argparse
import math
import os
import re
import sys
from typing import Any, NoReturn

from netfc import telemetry
from netfc._native.version import VERSION

DONE, WRONG_USAGE, FAILED = 0, 1, 2
# int() and float() also take spaces, underscores, and digits of other scripts.
_WHOLE = re.compile("[+-]?(0x[0-9a-f]+|[0-9]+)", re.ASCII | re.IGNORECASE)
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)


class Usage(argparse.ArgumentParser):
    """Has --version, and says "Usage" as programs in C do."""

    def __init__(self, *, prog: str, **options: Any):
        super().__init__(prog=prog, **options)
        if " " not in prog:  # not one command of several
            self.add_argument("--version", action="version", version=f"{prog} {VERSION}")

    def format_usage(self) -> str:
        return super().format_usage().replace("usage:", "Usage:", 1)

    def format_help(self) -> str:
        return super().format_help().replace("usage:", "Usage:", 1)


class Parser(Usage):
    """Ends with the exit status of all programs here when the usage is wrong."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG_USAGE, f"{self.prog}: {message}\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """An option that is given as nothing, by an unset variable for example, is no default."""
        found, rest = super().parse_known_args(args, namespace)
        for action in self._actions:
            if action.option_strings and getattr(found, action.dest, None) == "" != action.default:
                self.error(f"argument {'/'.join(action.option_strings)}: expected a value")
        return found, rest


def real(text: str) -> float:
    """An argument that is a number, as far as a double holds it."""
    number = float(text) if _REAL.fullmatch(text) else math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f"'{text}': expected a number")
    return number


def whole(text: str, base: int = 10) -> int:
    """An argument that is a whole number; with base 0 decimal or 0x."""
    try:
        return int(text if _WHOLE.fullmatch(text) else "", base)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}': expected a whole number") from None


def udp_port(text: str) -> int:
    """An argument that is a port."""
    port = whole(text)
    if not 1 <= port <= 0xFFFF:
        raise argparse.ArgumentTypeError(f"'{text}': expected 1 to 65535")
    return port


def add_telemetry_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which switch is asked for its state."""
    parser.add_argument(
        "--file-prefix",
        metavar="PREFIX",
        help=f"file prefix of the switch (default {telemetry.FILE_PREFIX}; "
        "where none runs with it, the packaged service)",
    )
    parser.add_argument(
        "--telemetry", metavar="PATH", help="the telemetry socket, instead of that of --file-prefix"
    )


def telemetry_path(options: argparse.Namespace) -> str | os.PathLike[str]:
    """The telemetry socket that these options name."""
    if options.telemetry:
        path: str = options.telemetry
        return path
    if options.file_prefix is None:
        return telemetry.default_path()
    return telemetry.socket_path(options.file_prefix)
