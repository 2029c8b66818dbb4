#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a table set computes, how far that is from correct rounding, and how it gets there.

    ./tables.py fp16_k1024

Needs netfc (python3-netfc) and libnetfc (libnetfc1), but no switch.
"""

import argparse
import sys

import numpy

import netfc

PAIRS = 100_000


def main() -> int:
    """Returns the exit status."""
    parser = argparse.ArgumentParser(description="Compare a table set with correct rounding.")
    parser.add_argument("name", nargs="?", default="fp16_k1024", help="the table set's")
    name = parser.parse_args().name
    try:
        tables = netfc.TableSet(name)
    except netfc.NetfcError as error:
        print(f"tables.py: {error}", file=sys.stderr)
        return 1

    for table in tables.tables.values():
        print(f"table {table.name:8} {table.entries.size:7} entries of {table.value_bits} bits")

    x, y = numpy.random.default_rng(1).uniform(-100, 100, (2, PAIRS))
    for op in netfc.OPS:
        same = tables.compute(op, x, y) == tables.format.exact(op, x, y)
        print(f"{op}: {100 * same.mean():.1f}% of {PAIRS} results are the correctly rounded ones")

    walk = tables.walk("add", 1.5, 2.25)
    for step in walk.steps:
        print(f"  {step.what}")
    print(f"1.5 + 2.25 = {tables.format.decode(walk.z):g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
