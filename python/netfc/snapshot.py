# SPDX-License-Identifier: BSD-3-Clause
"""What a running switch says about itself at one moment, from all telemetry commands."""

import dataclasses
import time

import netfc_telemetry


@dataclasses.dataclass
class Snapshot:
    """The answers of a switch; those that it has nothing to say to are None or empty."""

    time: float  # seconds, monotonic
    config: dict
    stats: dict
    tables: dict
    bridge: dict
    latency: dict
    ports: list
    lcores: list


def take(path):
    """Asks the switch at that telemetry socket for all. Raises TelemetryError."""
    with netfc_telemetry.Telemetry(path) as telemetry:
        asked = telemetry.ask("/netfc/config")
        if asked is None:
            raise netfc_telemetry.TelemetryError(f"{path}: the switch is starting or stopping")
        snapshot = Snapshot(
            time=time.monotonic(), config=asked, stats=telemetry.ask("/netfc/stats"),
            tables=telemetry.ask("/netfc/tables"), bridge=telemetry.ask("/netfc/bridge"),
            latency=telemetry.ask("/netfc/latency"),
            ports=[telemetry.ask(f"/netfc/port,{port}") for port in
                   telemetry.ask("/netfc/port") or ()],
            lcores=[telemetry.ask(f"/netfc/lcore,{lcore}") for lcore in
                    telemetry.ask("/netfc/lcore") or ()])
    if None in (snapshot.stats, snapshot.tables, *snapshot.ports, *snapshot.lcores):
        raise netfc_telemetry.TelemetryError(f"{path}: the switch is stopping")
    return snapshot
