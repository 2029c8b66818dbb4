# SPDX-License-Identifier: BSD-3-Clause
"""Match engines alone: look-ups, steps and whole packets, timed by netfc-timing without any port."""

import programs
from benchmark import machine
from benchmark.measure.rounds import summary
from benchmark.peers.contenders import TABLES

MEGABYTES = 1024
KINDS = ("bare", "look_ups", "packets")


def _time(bench, capture, tables, engine, rounds, functions=(), eal=()):
    """What netfc-timing prints of a capture. functions: the option that loads those of its packets;
    eal: more options of the EAL."""
    lcore = f"0@{machine.polling_cpus(1)[0]}"
    timed = programs.timed(bench.build, capture, tables, engine, rounds,
                           programs.eal("time", bench.memory.options(MEGABYTES), lcore, *eal),
                           *functions)
    timed["packets"] = timed["pipeline"]
    return timed


def _per_lane(cycles, lanes):
    """Cycles per lane; None where there is nothing to time."""
    return summary([count / lanes for count in cycles]) if cycles else None


def run(bench, capture, format_name, engine, rounds):
    """Cycles per lane of an engine, on its own.

    kernel: what computes lanes, described, None where the program's steps do; bare: the look-ups by
    DPDK's library alone; look_ups: the same through the engine; packets: whole packets through the
    pipeline; ratio: the least of bare to the least of each of the other two; steps: of the program.
    Whatever else runs on the machine only adds cycles: the least are the engine's own.
    """
    timed = _time(bench, capture, TABLES[format_name], engine, rounds)
    lanes = timed["lanes"]
    result = {kind: _per_lane(timed[kind], lanes) for kind in KINDS}
    result["tsc_hz"], result["kernel"] = timed["tsc_hz"], timed["kernel"]
    result["lanes_per_packet"] = lanes // timed["packet_count"]
    result["steps"] = [{**step, "cycles": _per_lane(step["cycles"], lanes)}
                       for step in timed["steps"] if step["cycles"]]
    result["ratio"] = {kind: min(timed["bare"]) / min(timed[kind])
                       for kind in ("look_ups", "packets")
                       if timed["bare"] and timed[kind]}
    return result


def instruction_set(bench, capture, bits, table, rounds):
    """Cycles per lane of the direct engine with vectors of up to so many bits."""
    timed = _time(bench, capture, table, "direct", rounds,
                  eal=[f"--force-max-simd-bitwidth={bits}"])
    return {"table": table, "kernel": timed["kernel"],
            **{kind: _per_lane(timed[kind], timed["lanes"]) for kind in ("look_ups", "packets")}}


def traffic_mix(bench, capture, engine, rounds, functions=()):
    """Cycles per packet of any packets, by part of the work; "pipeline" has "classify" in it.
    functions: the option that loads those of the mix."""
    timed = _time(bench, capture, ",".join(TABLES.values()), engine, rounds, functions)
    return {"tsc_hz": timed["tsc_hz"], **{
        part: summary([count / timed["packet_count"] for count in timed[part]])
        for part in ("classify", "pipeline", "reflect")}}
