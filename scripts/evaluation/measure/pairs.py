# SPDX-License-Identifier: BSD-3-Clause
"""The errors over all 2^32 pairs of operands: runs netfc-errors, which counts them."""

import hashlib
import json
import pathlib
import subprocess

from programs import CommandError

OPS = ("add", "mul", "div")  # x - y is x + -y: the same pairs, the same errors; checked
OP_SYMBOLS = {"add": "+, -", "mul": "×", "div": "÷"}
# Between two x of the quick variant: with every y, some 4 million pairs.
QUICK_STEP = 1021
# Which of the results that are expected netfc-errors compares with netfc_exact(), too.
CHECK = 97


def count_file(program, path, arguments, progress):
    """Run netfc-errors into a file; progress is shown as it goes."""
    command = [program, "--progress", *arguments]
    unfinished = path.with_suffix(".part")
    with open(unfinished, "wb") as output:
        with subprocess.Popen(
            command, stdout=output, stderr=subprocess.PIPE, text=True
        ) as process:
            last = ""
            for last in process.stderr:
                if last.endswith(" %\n"):
                    progress.update(int(last[:-3]) / 100)
    if process.returncode != 0:
        raise CommandError(f"{' '.join(map(str, command))}\n{last}")
    unfinished.rename(path)


def run(build, folder, tables, step, progress):
    """What netfc-errors counted, by "format op": {set name: populations}.

    tables: the names of each format's sets. Counts go into files in the folder. Where those of
    the same program and sets are there already they are used, so that an interrupted run can go on.
    """
    program = pathlib.Path(build) / "app" / "netfc-errors"
    content = program.read_bytes()
    facts = {}
    for name, sets in tables.items():
        for op in OPS:
            progress.label(f"{name} {OP_SYMBOLS[op]}")
            arguments = ["--step", str(step), "--check", str(CHECK), op, *sets]
            version = hashlib.sha256(content + " ".join(arguments).encode()).hexdigest()[:16]
            path = folder / f"pairs-{name}-{op}-{step}-{version}.json"
            if not path.exists():
                count_file(program, path, arguments, progress)
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
