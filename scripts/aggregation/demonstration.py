# SPDX-License-Identifier: BSD-3-Clause
"""The command line of a demonstration: sums in network namespaces, then something is killed."""

import argparse
import json
import pathlib
import sys
import time

import namespaces
from namespaces import CommandError

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main(name, description, run, are_right, not_told):
    """Runs it, and ends with what went wrong, if anything did.

    run(build, values, say): gives the figures. are_right(figures): whether they are what was promised.
    not_told(figures): who was not told of what was killed, and why; None: all were.
    """
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--values", type=int, default=1_000_000,
                        help="that each worker has (default %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures there")
    options = parser.parse_args()
    if not 1 <= options.values <= 100_000_000:
        parser.error("--values: give 1 to 100,000,000")
    namespaces.become_root()
    reason = namespaces.why_not()
    if reason:
        sys.exit(f"{name}: {reason}")
    begun = time.monotonic()
    try:
        figures = run(options.build.resolve(), options.values,
                      lambda text: print(f"{time.monotonic() - begun:6.1f} s  {text}", flush=True))
    except CommandError as error:
        sys.exit(f"{name}: {error}")
    if options.json:
        options.json.write_text(json.dumps(figures) + "\n", encoding="ascii")
    if not are_right(figures):
        sys.exit(f"{name}: that is not what was promised")
    reason = not_told(figures)
    if reason:
        sys.exit(f"{name}: {reason}")
