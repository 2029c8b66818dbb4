# SPDX-License-Identifier: BSD-3-Clause
"""The end of scripts/test: what has passed, what was skipped and why, what has failed.

Reads what a run has left in a folder: `steps`, a line of status, name, reason and seconds for each step,
with tabs between them, and JUnit files of pytest and Meson.
"""

import argparse
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ET

# What cmocka prints of a test that Meson has run, one of those in a program.
CMOCKA = re.compile(r"^\[ +(OK|SKIPPED|FAILED) +\] (?:\w+: )?(\S+)", re.MULTILINE)
CMOCKA_OUTCOMES = {"OK": "passed", "SKIPPED": "skipped", "FAILED": "failed"}
# What xdist adds to names of tests that one of its processes runs together.
IN_GROUP = re.compile(r"@[\w -]+$")
SKIPPED_BECAUSE = re.compile(r"^skipped: (.+)$", re.MULTILINE)


class Outcomes:
    """Counts of tests, reasons of those that were skipped, names of those that failed."""

    def __init__(self):
        self.passed = 0
        self.skipped = collections.Counter()
        self.failed = []

    def note(self, name, outcome, reason=""):
        """One more. outcome: passed, skipped or failed."""
        if outcome == "passed":
            self.passed += 1
        elif outcome == "skipped":
            self.skipped[" ".join(reason.split()) or f"{name} does not say why"] += 1
        else:
            self.failed.append(name)

    def lines(self):
        """What to say."""
        yield f"{self.passed:,} tests passed"
        if self.skipped:
            yield f"{self.skipped.total():,} skipped:"
        for reason, count in self.skipped.most_common():
            yield f"{count:6}  {reason}"
        if self.failed:
            yield f"{len(self.failed):,} failed:"
        for name in self.failed:
            yield f"        {name}"


def read_cmocka(outcomes, name, printed):
    """The tests in a program of cmocka's. Returns whether it has any."""
    found = CMOCKA.findall(printed)
    reasons = iter(SKIPPED_BECAUSE.findall(printed))
    for word, test in found:
        reason = next(reasons, "") if word == "SKIPPED" else ""
        outcomes.note(f"{name}: {test}", CMOCKA_OUTCOMES[word], reason)
    return bool(found)


def read_junit(outcomes, path):
    """The tests in a JUnit file."""
    for case in ET.parse(path).iter("testcase"):
        name = IN_GROUP.sub("", f"{case.get('classname', '')} {case.get('name')}".strip())
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            outcomes.note(name, "failed")
        elif skipped is not None:
            outcomes.note(name, "skipped", skipped.get("message") or "")
        elif not read_cmocka(outcomes, name, case.findtext("system-out") or ""):
            outcomes.note(name, "passed")


def read_steps(path):
    """Lines about the steps."""
    for line in path.read_text(encoding="utf-8").splitlines():
        status, name, reason, seconds = line.split("\t")
        minutes = f"{int(seconds) // 60}:{int(seconds) % 60:02}"
        yield f"{status:8}{minutes:>6}  {name}" + (f": {reason}" if reason else "")


def read_outcomes(folder):
    """The tests of all JUnit files in a folder."""
    outcomes = Outcomes()
    for path in sorted(folder.glob("*.xml")):
        read_junit(outcomes, path)
    return outcomes


def main():
    """Print the summary. Returns the exit status: 1 if a step has failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    steps = list(read_steps(folder / "steps"))
    print("\n".join(steps))
    outcomes = read_outcomes(folder)
    print("\n".join(outcomes.lines()))
    return 1 if any(step.startswith("failed") for step in steps) else 0


if __name__ == "__main__":
    sys.exit(main())
