# SPDX-License-Identifier: BSD-3-Clause
"""The errors over all 2^32 pairs of operands: runs netfc-errors, which counts them."""

import hashlib
import json
import os
import pathlib
import subprocess

from command import ROOT
from programs import CommandError, Process, ended

PROGRAM = ROOT / "scripts" / "netfc-errors"
ERRORS = ROOT / "scripts" / "evaluation" / "errors"

OPS = ("add", "mul", "div")  # x - y is x + -y: the same pairs, the same errors; checked
OP_SYMBOLS = {"add": "+, -", "mul": "×", "div": "÷"}
# Between two x of the quick variant: with every y, some 4 million pairs.
QUICK_STEP = 1021
# Which of the results that are expected netfc-errors compares with netfc_exact(), too.
CHECK = 97


def command(build, *arguments):
    """netfc-errors, for subprocess.run() and the like: the words, and how they are run."""
    return [PROGRAM, "--progress", *arguments], {"env": {**os.environ, "NETFC_BUILD": str(build)}}


def version_of(build, arguments):
    """What the counts depend on, in short."""
    content = " ".join(arguments).encode()
    for path in [*sorted(ERRORS.glob("*.py")), build / "lib" / "netfc" / "libnetfc.so"]:
        content += path.read_bytes()
    return hashlib.sha256(content).hexdigest()[:16]


def count_file(build, path, arguments, progress):
    """Run netfc-errors into a file; progress is shown as it goes."""
    words, options = command(build, *arguments)
    unfinished = path.with_suffix(".part")
    with open(unfinished, "wb") as output:
        with ended(Process(
            words, stdout=output, stderr=subprocess.PIPE, text=True, **options
        )) as process:
            last = ""
            for last in process.stderr:
                if last.endswith(" %\n"):
                    progress.update(int(last[:-3]) / 100)
            process.wait()
    if process.returncode != 0:
        raise CommandError(f"{' '.join(map(str, words))}\n{last}")
    unfinished.rename(path)


def run(build, folder, tables, step, progress):
    """What netfc-errors counted, by "format op": {set name: populations}.

    tables: the names of each format's sets. Counts go into files in the folder. Where those of
    the same program and tables are there already they are used, so that an interrupted run can go on.
    """
    build = pathlib.Path(build)
    facts = {}
    for name, sets in tables.items():
        for op in OPS:
            progress.label(f"{name} {OP_SYMBOLS[op]}")
            arguments = ["--step", str(step), "--check", str(CHECK), op, *sets]
            path = folder / f"pairs-{name}-{op}-{step}-{version_of(build, arguments)}.json"
            if not path.exists():
                count_file(build, path, arguments, progress)
            counted = json.loads(path.read_text(encoding="ascii"))
            facts[f"{name} {op}"] = {item["set"]: item for item in counted["sets"]}
    return facts


def average(tally):
    """The average accuracy of a population, in percent."""
    return 100 * (1 - tally["loss"] / tally["counted"])


def ulp_share(tally, most):
    """The share in percent of results within `most` units in the last place; 0, 1, 3, 7, ..."""
    bins = most.bit_length()
    return 100 * sum(count for ulps, count in tally["ulps"] if ulps <= bins) / tally["counted"]


def share_below(tally, percent):
    """The share, 0 to 1, of results whose accuracy is below that, to 0.01 percent."""
    limit = round(100 * percent)
    return sum(count for at, count in tally["accuracy"] if at < limit) / tally["counted"]


def left_out(tally):
    """Pairs that do not count."""
    return tally["zero"] + tally["infinite"] + tally["special"]
