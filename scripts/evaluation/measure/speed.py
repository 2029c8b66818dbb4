# SPDX-License-Identifier: BSD-3-Clause
"""What table sets cost to compute with: look-ups, steps, and lanes a second in the switch's
direct match engine, timed by netfc-bench."""

import os
import pathlib

import programs
from benchmark.machine import cpu_field
from netfc import FORMATS, capture, protocol

OPS = ("add", "mul", "div")
QUICK_OPS = ("add",)
PACKETS = 32
ROUNDS = 51


def write_requests(path, number_format, op, pairs):
    """A capture of packets as long as a frame can be."""
    frames = []
    for number in range(PACKETS):
        lanes = slice(number * capture.MAX_LANES, (number + 1) * capture.MAX_LANES)
        request = (protocol.OPS[op], number_format.id, *pairs[:, lanes], number)
        frames.append(capture.udp_frame(protocol.request(*request)))
    capture.write(path, frames)


def measure(build, name, path):
    """What netfc-bench tells of a set and a capture."""
    lcore = f"0@{max(os.sched_getaffinity(0))}"
    timed = programs.timed(pathlib.Path(build), path, name, "direct", ROUNDS,
                           programs.eal("speed", programs.no_huge(256), lcore))
    # Whatever else runs on the machine only adds cycles.
    cycles = min(timed["pipeline"]) / timed["lanes"]
    return {
        "lanes_per_second": timed["tsc_hz"] / cycles,
        "kernel": timed["kernel"],
        "steps": len(timed["steps"]),
        "look_ups": sum(step["look_up"] for step in timed["steps"]),
    }


def run(build, folder, ops, sets, data):
    """Costs by set and operation; sets: names by format, data: pairs of operands by format."""
    facts = {}
    for number_format in map(FORMATS.get, sets):
        for op in ops:
            path = folder / f"speed-{number_format.name}-{op}.pcap"
            write_requests(path, number_format, op, data[number_format.name])
            for name in sets[number_format.name]:
                facts.setdefault(name, {})[op] = measure(build, name, path)
    return {"processor": cpu_field("model name"), "rounds": ROUNDS, "ops": ops, "sets": facts}
