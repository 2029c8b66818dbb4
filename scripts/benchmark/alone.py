# SPDX-License-Identifier: BSD-3-Clause
"""Match rooms alone: look-ups, steps and whole packets, timed by netfc-rooms without any port."""

import json
import statistics
import subprocess

from benchmark import machine
from benchmark.contenders import TABLES
from benchmark.polling import ProgramError

MEGABYTES = 1024
KINDS = ("bare", "look_ups", "packets")


def _time(bench, capture, table, room, rounds):
    """What netfc-rooms prints."""
    command = [
        str(bench.build / "app" / "netfc-rooms"),
        *("--no-huge", "-m", str(MEGABYTES), "--no-pci", "--no-telemetry", "--no-shconf"),
        *("--log-level", "*:error", "--file-prefix", f"netfc-rooms-{bench.folder.name}"),
        *("--lcores", f"0@{machine.polling_cpus(1)[0]}"),
        *("--", "--set", table, "--capture", str(capture), "--match", room),
        *("--rounds", str(rounds)),
    ]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise ProgramError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def _per_lane(cycles, lanes):
    """Median, least and greatest cycles per lane; None where there is nothing to time."""
    if not cycles:
        return None
    values = [count / lanes for count in cycles]
    return {
        "median": statistics.median(values),
        "least": min(values),
        "greatest": max(values),
    }


def run(bench, capture, format_name, room, rounds):
    """Cycles per lane of a room, on its own.

    bare: the look-ups by DPDK's library alone; look_ups: the same through the room; packets: whole
    packets through the pipeline; ratio: bare to each of the other two; steps: of the program.
    """
    timed = _time(bench, capture, TABLES[format_name], room, rounds)
    lanes = timed["lanes"]
    result = {kind: _per_lane(timed[kind], lanes) for kind in KINDS}
    result["tsc_hz"] = timed["tsc_hz"]
    result["steps"] = [
        {**step, "cycles": _per_lane(step["cycles"], lanes)}
        for step in timed["steps"]
        if step["cycles"]
    ]
    result["ratio"] = {
        kind: statistics.median(a / b for a, b in zip(timed["bare"], timed[kind]))
        for kind in ("look_ups", "packets")
        if timed["bare"] and timed[kind]
    }
    return result
