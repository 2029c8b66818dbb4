# SPDX-License-Identifier: BSD-3-Clause
"""Traffic mixes on other processors than the one that the rest of the report is of."""

import json

from benchmark.measure import tables
from evaluation.report.document import table

FOLDER = "processors"
KEPT = ("machine", "memory", "command", "date", "seconds")
SECTIONS = ("mixes", "mixes_alone")
HEAD = [
    *("", "direct: Mpps", "5tswap: Mpps", "lpm of 5tswap", "hash of 5tswap", "direct of 5tswap"),
    *("fpu of 5tswap", "direct of csum", "cycles: classify", "compute and reply"),
    "were computing free",
]


def _name(machine):
    return machine["cpu_family_model_stepping"].replace("/", "-") + ".json"


def keep(images, results):
    """Keep the mixes of a run in a file of its processor's own. images: the folder of the figures."""
    kept = {name: results[name] for name in KEPT}
    kept["done"] = {name: results["done"][name] for name in SECTIONS}
    folder = images / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _name(results["machine"])
    path.write_text(json.dumps(kept, separators=(",", ":")) + "\n", encoding="utf-8")


def load(images, machine):
    """What is kept of other processors than this machine's."""
    paths = sorted((images / FOLDER).glob("*.json"))
    return [
        json.loads(path.read_text(encoding="utf-8"))
        for path in paths
        if path.name != _name(machine)
    ]


def _row(mix, results, parts):
    direct = results["netfc direct"]
    row = [mix, tables.rate(direct["packets"]), tables.rate(results[tables.SWAP]["packets"])]
    row += [
        tables.ratio(results[f"netfc {engine}"], tables.SWAP)
        for engine in ("lpm", "hash", "direct", "fpu")
    ]
    row.append(tables.ratio(direct, tables.SUM))
    # classify, compute and reply; were computing free
    return row + ([parts[3], parts[4], parts[-1]] if parts else ["", "", ""])


def mixes_table(kept):
    """The mixes that are kept, the worst first."""
    found, alone = (kept["done"][name] for name in SECTIONS)
    parts = {row[0]: row for row in tables.parts(found, alone)}
    order = sorted(found, key=lambda mix: found[mix]["netfc direct"]["ratio"][tables.SWAP])
    return table(HEAD, [_row(mix, found[mix], parts.get(mix)) for mix in order])
