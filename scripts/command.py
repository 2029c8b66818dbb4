# SPDX-License-Identifier: BSD-3-Clause
"""The command lines of demonstrations and benchmarks in network namespaces."""

import argparse
import contextlib
import json
import pathlib
import subprocess
import sys
import time

import namespaces

ROOT = pathlib.Path(__file__).resolve().parents[1]


class CommandLine(argparse.ArgumentParser):
    """With --build, which scripts/support/run gives, and --json."""

    def __init__(self, prog, description):
        super().__init__(prog=f"scripts/{prog}", description=description)
        self.add_argument("--build", type=lambda text: pathlib.Path(text).resolve(),
                          default=ROOT / "build", help=argparse.SUPPRESS)
        self.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures there")

    def fail(self, reason):
        """Ends the program."""
        sys.exit(f"{self.prog}: {reason}")

    @contextlib.contextmanager
    def in_namespaces(self, as_user=False):
        """Ends the program where there can be no network namespaces, or where the block fails.

        as_user: tries namespaces of an ordinary user's own.
        """
        if as_user:
            namespaces.become_root()
        reason = namespaces.why_not()
        if reason:
            self.fail(reason)
        try:
            yield
        except (namespaces.CommandError, subprocess.TimeoutExpired) as error:
            self.fail(error)


def write_json(path, figures):
    """Where --json is given."""
    if path:
        path.write_text(json.dumps(figures) + "\n", encoding="ascii")


def narrator():
    """A function that prints a line after the seconds that have passed."""
    begun = time.monotonic()
    return lambda text: print(f"{time.monotonic() - begun:6.1f} s  {text}", flush=True)
