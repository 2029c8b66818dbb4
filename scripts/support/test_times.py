# SPDX-License-Identifier: BSD-3-Clause
"""How long scripts/test takes: writes what the latest run says into docs/tests.md.

Reads build-test/results.
"""

import argparse
import datetime
import pathlib
import re
import sys

import summarize_tests

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "tests.md"
RESULTS = ROOT / "build-test" / "results"
KINDS = {"quick": "`scripts/test`", "all": "`--all`", "long": "`--all --long`"}
BEGIN, END = "<!-- times -->\n", "<!-- /times -->\n"
HEAD = f"| minutes | {' | '.join(KINDS.values())} |\n|---|{'---:|' * len(KINDS)}\n"
WHOLE = "**all steps**"
CONDITIONS = "on", "tests passed", "skipped"


def read_table(text):
    """Rows of the table between the marks: a name, and a cell for each kind."""
    lines = text.split(BEGIN)[1].split(END)[0].splitlines()[2:]
    cells = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    return {name: values for name, *values in cells}


def written(text, rows):
    """The document with these rows."""
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    lines = "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in rows.items() if any(cells))
    return f"{before}{BEGIN}{HEAD}{lines}{END}{after}"


def minutes(seconds):
    """As in the summary of a run."""
    return f"{seconds // 60}:{seconds % 60:02}"


def processor():
    """Its name, and how many cores this process may use."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    name = re.search(r"^model name\s*: (.+)$", text, re.MULTILINE)
    return f"{name[1] if name else 'a processor without a name'}, {text.count('processor	')} cores"


def measured(folder):
    """Name and cell of each row, of a run's results."""
    steps = [line.split("\t") for line in (folder / "steps").read_text(encoding="utf-8").splitlines()]
    failed = [name for status, name, _, _ in steps if status == "failed"]
    if failed:
        sys.exit(f"nothing is written: these steps have failed: {', '.join(failed)}")
    cells = {name: minutes(int(seconds)) for status, name, _, seconds in steps if status == "passed"}
    cells[WHOLE] = minutes(sum(int(seconds) for *_, seconds in steps))
    outcomes = summarize_tests.read_outcomes(folder)
    load = (folder / "load").read_text(encoding="utf-8").strip()
    today = datetime.date.today().isoformat()
    values = f"{processor()}, load {load} before, {today}", f"{outcomes.passed:,}", f"{outcomes.skipped.total():,}"
    return {**cells, **dict(zip(CONDITIONS, values))}


def merged(rows, kind, new):
    """The table's rows with a run's column in place of what was there."""
    at = list(KINDS).index(kind)
    empty = [""] * len(KINDS)
    last = (WHOLE, *CONDITIONS)
    names = [name for name in dict.fromkeys((*new, *rows)) if name not in last] + [*last]
    result = {name: list(rows.get(name, empty)) for name in names}
    for name, cells in result.items():
        cells[at] = new.get(name, "")
    return result


def main():
    """Write. Returns the exit status."""
    argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0]).parse_args()
    kind = (RESULTS / "kind").read_text(encoding="utf-8").strip()
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(written(text, merged(read_table(text), kind, measured(RESULTS))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
