# SPDX-License-Identifier: BSD-3-Clause
"""What a running switch says about itself at one moment, from all telemetry commands."""

import dataclasses
import os
import time
from typing import Any

from netfc.errors import TelemetryError
from netfc.telemetry import Telemetry

_Answer = dict[str, Any]


@dataclasses.dataclass
class Snapshot:
    """The answers of a switch; those that it has nothing to say to are None or empty."""

    asked: float  # monotonic time in seconds before the switch counted
    time: float  # and after it
    pid: int  # of the switch, as it sees that itself
    config: _Answer
    stats: _Answer
    tables: _Answer
    bridge: _Answer | None
    latency: _Answer | None
    ports: list[_Answer]
    lcores: list[_Answer]
    jobs: dict[int, _Answer]  # of aggregations, by their index in the switch's table


# Seconds by which a switch's uptime may differ from the time that has passed here.
_TOLERANCE = 2


def is_one_run(before: Snapshot, after: Snapshot) -> bool:
    """Whether the switch was not started again between these: counters have only grown.

    In containers its pid may be the same each time.
    """
    passed = after.asked - before.time  # at least
    counted = after.stats["seconds"] - before.stats["seconds"]
    return before.pid == after.pid and counted >= max(0, passed - _TOLERANCE)


def take(path: str | os.PathLike[str]) -> Snapshot:
    """Asks the switch at that telemetry socket for all. Raises TelemetryError."""
    with Telemetry(path) as telemetry:
        config = telemetry.ask("/netfc/config")
        if config is None:
            raise TelemetryError(f"{path}: no dpdk-netfc answers, or it is starting or stopping")
        asked = time.monotonic()
        stats = telemetry.ask("/netfc/stats")
        snapshot = Snapshot(
            asked=asked,
            time=time.monotonic(),
            pid=telemetry.pid,
            config=config,
            stats=stats,
            tables=telemetry.ask("/netfc/tables"),
            bridge=telemetry.ask("/netfc/bridge"),
            latency=telemetry.ask("/netfc/latency"),
            ports=[
                telemetry.ask(f"/netfc/port,{port}") for port in telemetry.ask("/netfc/port") or ()
            ],
            lcores=[
                telemetry.ask(f"/netfc/lcore,{lcore}")
                for lcore in telemetry.ask("/netfc/lcore") or ()
            ],
            jobs={},
        )
        listed = (snapshot.stats or {}).get("aggregate", {}).get("job_indices", ())
        asked_jobs = {index: telemetry.ask(f"/netfc/aggregate,{index}") for index in listed}
        # A job may end between the two questions.
        snapshot.jobs = {index: job for index, job in asked_jobs.items() if job is not None}
    if None in (snapshot.stats, snapshot.tables, *snapshot.ports, *snapshot.lcores):
        raise TelemetryError(f"{path}: the switch is stopping")
    return snapshot
