# SPDX-License-Identifier: BSD-3-Clause
"""From the command to the first poll, and the end: table sets loaded, match stages made."""

import re
import resource
import time

import programs
from benchmark import machine
from benchmark.measure.rounds import summary
from benchmark.peers.contenders import TABLES

MEGABYTES = 1536


def _once(bench, engine):
    """Seconds by the clock, and of the processor in the program and in the kernel."""
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    said = programs.command(
        bench.build / "app" / "dpdk-netfc",
        *programs.eal("startup", bench.memory.options(MEGABYTES),
                      f"0@{machine.polling_cpus(1)[0]}", "--vdev=net_null0,no-rx=1"),
        *("--", "--match", engine, "--tables", ",".join(TABLES.values())),
        *("--tables-dir", bench.build / "tables", "--idle-exit", "1"), patience=None)
    if not re.search(r"^Ran for", said, re.MULTILINE):
        raise programs.CommandError(f"the switch has not run: {said}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (time.monotonic() - began, after.ru_utime - before.ru_utime,
            after.ru_stime - before.ru_stime)


def run(bench, engine, rounds):
    """Seconds of a start with the largest set of every format, until the end: by the clock, and of
    the processor in all, in the program, in the kernel."""
    times = [_once(bench, engine) for _ in range(rounds)]
    return {
        "seconds": summary([wall for wall, _, _ in times]),
        "processor": summary([user + system for _, user, system in times]),
        "user": summary([user for _, user, _ in times]),
        "system": summary([system for _, _, system in times]),
        "sets": list(TABLES.values()),
    }
