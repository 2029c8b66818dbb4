# SPDX-License-Identifier: BSD-3-Clause
"""The command lines of demonstrations and benchmarks, and what they print and write."""

import argparse
import contextlib
import json
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import namespaces
from programs import CommandError

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# int() and float() also take spaces, underscores, and digits of other scripts.
NUMBER = re.compile(r"[+-]?[0-9]*\.?[0-9]*(e[+-]?[0-9]+)?", re.ASCII | re.IGNORECASE)


def number(kind, least, most):
    """A type of options: int or float, from least (None: 1, or more than 0) to most (None: any)."""
    least_text = least if least is not None else 1 if kind is int else "more than 0"
    bounds = f"{least_text} to {most:,}" if most is not None else (
        least_text if least is None and kind is float else f"{least_text} or more")

    def parse(text):
        try:
            value = kind(text) if NUMBER.fullmatch(text) else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or not (value > 0 if least is None else value >= least) or (
                most is not None and value > most):
            raise argparse.ArgumentTypeError(f"'{text}': expected {bounds}")
        return value

    return parse


def file_to_write(text):
    """A type of options: a file that is written in the end. That it cannot be is said at the beginning."""
    path = pathlib.Path(text)
    if os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"'{text}' is a folder")
    if not os.path.isdir(path.parent):
        raise argparse.ArgumentTypeError(f"'{text}': there is no folder {path.parent}")
    if not os.access(path if os.path.exists(path) else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"'{text}' cannot be written")
    return path


def folder_to_write(text):
    """A type of options: a folder that is made in the end, if it is not there, and written."""
    path = pathlib.Path(text)
    there = next(folder for folder in (path, *path.absolute().parents) if os.path.exists(folder))
    if not os.path.isdir(there):
        raise argparse.ArgumentTypeError(f"'{text}': {there} is no folder")
    if not os.access(there, os.W_OK):
        raise argparse.ArgumentTypeError(f"'{text}': {there} cannot be written")
    return path


def file_to_read(text):
    """A type of options: a file that is there."""
    try:
        with open(text, "rb"):
            return pathlib.Path(text)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"'{text}': {error.strerror}") from error


def build_folder(text):
    """A type of options: a folder that has the programs, as the sources, whose folder app/ has none, do not."""
    path = pathlib.Path(text).resolve()
    if not (path / "app" / "dpdk-netfc").is_file():
        raise argparse.ArgumentTypeError(f"'{text}' is not the folder of a build")
    return path


class Arguments(argparse.ArgumentParser):
    """Of the script prog. Wrong usage ends it as it ends all others: with what is wrong, and status 1.

    check: of options that depend on each other, given the parser and them; it calls error(). It comes with
    what is checked of single ones, before anything is installed.
    """

    def __init__(self, prog, description, check=None, **options):
        super().__init__(prog=f"scripts/{prog}", description=description, **options)
        self._check = check

    def add_argument(self, *words, least=None, most=None, **options):
        """least, most: of an int or a float, which is more than 0 unless they say otherwise."""
        if options.get("type") in (int, float):
            options["type"] = number(options["type"], least, most)
        return super().add_argument(*words, **options)

    def parse_args(self, args=None, namespace=None):
        """The options, which have been checked."""
        options = super().parse_args(args, namespace)
        if self._check:
            self._check(self, options)
        return options

    def error(self, message):
        """Ends the program."""
        self.print_usage(sys.stderr)
        self.exit(1, f"{self.prog}: {message}\n")

    def fail(self, reason):
        """Ends the program."""
        sys.exit(f"{self.prog}: {reason}")

    @contextlib.contextmanager
    def told(self):
        """Ends the program where the block fails at what it has to do, and says at what. A signal that
        ends it ends the block first, and so what that has started."""
        before = {one: signal.getsignal(one) for one in ENDS}
        for one in before:
            if before[one] != signal.SIG_IGN:  # as nohup has it
                signal.signal(one, self._end)
        try:
            try:
                yield
            finally:
                namespaces.delete_rest()
        except (CommandError, subprocess.TimeoutExpired) as error:
            self.fail(error)
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _end(self, number_of_signal, _frame):
        """The second interrupt ends the program at once."""
        for one in ENDS:
            signal.signal(one, signal.SIG_DFL if one == signal.SIGINT else signal.SIG_IGN)
        print(f"{self.prog}: ended by {signal.Signals(number_of_signal).name}", file=sys.stderr)
        sys.exit(128 + number_of_signal)

    @contextlib.contextmanager
    def in_namespaces(self, as_user=False):
        """Ends the program where there can be no network namespaces, or where the block fails.

        as_user: tries namespaces of an ordinary user's own.
        """
        if as_user:
            namespaces.become_root()
        with self.told():
            reason = namespaces.why_not()
            if reason:
                self.fail(reason)
            yield


class CommandLine(Arguments):
    """With --build, which scripts/support/run gives, and --json."""

    def __init__(self, prog, description, check=None, **options):
        super().__init__(prog, description, check, **options)
        self.add_argument("--build", type=build_folder,
                          default=ROOT / "build", help="build folder (default: build)")
        self.add_argument("--json", type=file_to_write, metavar="FILE", help="write the figures there")

    def programs(self, build, *names):
        """Paths of programs of the build; ends the program where one is missing."""
        missing = [name for name in names if not (build / "app" / name).exists()]
        if missing:
            self.fail(f"no {' or '.join(missing)} in {build}/app: build it first")
        return [build / "app" / name for name in names]

    def kept(self, build):
        """The folder of a build where benchmarks keep what the next one takes; ends the program where there can be none."""
        folder = build / "benchmark"
        try:
            folder.mkdir(exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            self.fail(f"{folder}: {error.strerror}: name a build of your own (NETFC_BUILD)")
        return folder


def write_json(path, figures, **options):
    """Where --json is given. options: of json.dumps()."""
    if path:
        try:
            path.write_text(json.dumps(figures, **options) + "\n", encoding="utf-8")
        except OSError as error:
            sys.exit(f"{path}: {error.strerror}")


def row(*cells):
    """A line of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def head(*names):
    """The lines on top of it."""
    return f"{row(*names)}\n{'|---' * len(names)}|".replace("|  |", "| |")


def narrator():
    """A function that prints a line after the seconds that have passed."""
    begun = time.monotonic()
    return lambda text: print(f"{time.monotonic() - begun:6.1f} s  {text}", flush=True)
