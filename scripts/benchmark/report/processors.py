# SPDX-License-Identifier: BSD-3-Clause
"""Traffic mixes on other processors than the one that the rest of the report is of."""

import json

from benchmark.measure import tables
from evaluation.report.document import table

FOLDER = "processors"
KEPT = ("machine", "memory", "command", "date", "seconds")
SECTIONS = ("mixes", "mixes_alone")
ENGINES = ("lpm", "hash", "direct", "fpu")
HEAD = ("direct: Mpps", "5tswap: Mpps", *(f"{engine} of 5tswap" for engine in ENGINES),
        "direct of csum")


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
    return [json.loads(path.read_text(encoding="utf-8"))
            for path in sorted((images / FOLDER).glob("*.json")) if path.name != _name(machine)]


def mixes_table(kept):
    """The mixes that are kept, the worst first."""
    found, alone = (kept["done"][name] for name in SECTIONS)
    head, parts = tables.parts(found, alone)
    shown = [head.index(name) for name in ("classify", "compute and reply", "were computing free")]
    parts = {row[0]: [row[at] for at in shown] for row in parts}
    rows = [[name, *(cell(name, results) for cell in (
        tables.mpps(tables.DIRECT), tables.mpps(tables.SWAP),
        *(tables.of_peer(f"netfc {engine}", tables.SWAP) for engine in ENGINES),
        tables.of_peer(tables.DIRECT, tables.SUM))), *parts.get(name, ("", "", ""))]
        for name, results in tables.worst_first(found).items()]
    return table(["", *HEAD, "cycles: classify", "compute and reply", "were computing free"], rows)
