# SPDX-License-Identifier: BSD-3-Clause
"""Which tests in Python are slow: writes tests/slow.txt, of what the latest run of scripts/test has measured.

Slow is what takes more than 0.7 s of processor time, but the cheapest test of a file never is: each file has one that a
change must pass. Reads build-test/results/switch.xml; a test that did not run there stays as it is.
"""

import argparse
import itertools
import pathlib
import sys
import xml.etree.ElementTree as ET

import summarize_tests

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "slow.txt"
RESULTS = ROOT / "build-test" / "results" / "switch.xml"
LIMIT_S = 0.7


def file_of(name):
    """The file of a test by its name for pytest."""
    return name.partition("::")[0]


def read_seconds(path):
    """Processor time of each test that ran, by its name for pytest."""
    seconds = {}
    for case in ET.parse(path).iter("testcase"):
        used = case.find("properties/property[@name='processor_seconds']")
        if used is not None and case.find("skipped") is None:
            name = summarize_tests.IN_GROUP.sub("", case.get("name"))
            seconds[f"{case.get('classname').replace('.', '/')}.py::{name}"] = float(used.get("value"))
    return seconds


def slow(seconds, limit):
    """Names of those that take longer, without the cheapest of each file."""
    names = set()
    for _, tests in itertools.groupby(sorted(seconds), file_of):
        cheapest, *others = sorted(tests, key=seconds.get)
        names.update(name for name in others if seconds[name] > limit)
    return names


def merged(before, seconds, limit):
    """The list with what was measured in place of what it said of these tests."""
    return sorted({name for name in before if name not in seconds} | slow(seconds, limit))


def main():
    """Write. Returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="S", help="default %(default)s")
    limit = parser.parse_args().limit
    if not RESULTS.exists():
        sys.exit(f"{RESULTS.relative_to(ROOT)} is missing: run scripts/test --all first")
    before = LIST.read_text(encoding="utf-8").splitlines()
    names = merged(before, read_seconds(RESULTS), limit)
    LIST.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    print(f"{LIST.relative_to(ROOT)}: {len(names)} tests, {len(before)} before")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
