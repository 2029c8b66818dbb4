# SPDX-License-Identifier: BSD-3-Clause
"""The state of a running switch for Prometheus, made from its telemetry at every scrape.

Names are those of the telemetry, after netfc_, with _total after counters. They are stable.
"""

import copy
import dataclasses
import logging
import math
import os
import threading
import time
from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import registry
from prometheus_client.core import (
    CollectorRegistry,
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
)

from netfc import snapshot
from netfc.errors import TelemetryError

_LOG = logging.getLogger("netfc")


# Counters of an lcore: name in telemetry, name here, meaning.
LCORE_COUNTERS = (
    ("rx_packets", "rx_packets", "Packets received"),
    ("tx_packets", "tx_packets", "Packets sent"),
    ("copies", "copies", "Copies made to leave by more than one port"),
    ("answers", "answers", "Packets sent by the switch itself, of those sent"),
    ("polls", "polls", "Polls of receive queues"),
    ("busy_polls", "busy_polls", "Polls that found packets"),
    ("cycles", "cycles", "TSC cycles of polling and sleeping"),
    ("busy_cycles", "busy_cycles", "Those of rounds over the queues that found packets"),
    ("sleep_cycles", "sleep_cycles", "Those of sleep while nothing came"),
    ("interrupts", "interrupts", "Sleeps that a receive interrupt or a signal ended"),
    ("netfc_packets", "requests", "NetFC requests, those refused included"),
    ("lanes", "lanes", "Lanes computed"),
)
# The same with a name for each of several: the group in telemetry, name here, label, meaning.
LCORE_GROUPS = (
    ("taken_up", "taken_up", "reason", "Packets that aggregations took up"),
    ("drops", "drops", "reason", "Packets dropped"),
    ("operations", "operations", "operation", "NetFC requests of functions, min, max and the like"),
    ("errors", "refused_requests", "code", "NetFC requests answered with an error"),
    ("exceptions", "exceptions", "flag", "NetFC replies with an exception flag"),
)
DEVICE_COUNTERS = {
    "rx_packets": "Packets that the device received",
    "tx_packets": "Packets that the device sent",
    "rx_bytes": "Bytes that the device received",
    "tx_bytes": "Bytes that the device sent",
    "rx_missed": "Packets that arrived while the receive queue was full",
    "rx_errors": "Packets that arrived damaged",
    "rx_no_mbuf": "Packets that arrived while no packet buffer was free",
    "tx_errors": "Packets that failed to leave",
}
# The Slowloris detector's.
DETECTOR_GAUGES = {
    "connections": "TCP connections that are tracked",
    "half_open": "Handshakes not yet completed",
    "destinations": "Destinations that are tracked",
    "alarms": "Destinations under attack",
    "connection_bytes": "Memory for connections",
    "destination_bytes": "Memory for destinations",
}
DETECTOR_COUNTERS = {
    "segments": "TCP segments over IPv4, but those dropped",
    "divisions": "Registers divided",
    "queries": "Queries answered",
    "queued": "Segments left to another lcore",
    "missed": "Segments that went uncounted as too many were left",
    "would_drop": "Packets that only a dry run let pass",
    "opened": "Connections opened",
    "retransmitted": "SYNs of connections that were open",
    "closed": "Connections ended by FIN or RST",
    "timed_out": "Connections ended by silence",
    "half_open_expired": "Handshakes not completed in time",
    "half_open_evicted": "Handshakes forgotten as too many others were in progress",
    "connections_refused": "Connections not tracked as the table was full",
    "destinations_refused": "Connections not tracked as the table of destinations was full",
    "destinations_forgotten": "Destinations that were silent",
    "alarms_raised": "Destinations found under attack",
    "alarms_released": "Destinations found to have recovered",
    "alerts_lost": "Alerts not reported as there were too many at once",
}
# Aggregation's.
AGGREGATE_GAUGES = {
    "jobs": "Jobs there are",
    "slots": "Slots that jobs have",
    "most_jobs": "Jobs there can be",
    "most_slots": "Slots there can be",
    "bytes": "Memory for jobs and slots",
}
AGGREGATE_COUNTERS = {
    "jobs_made": "Jobs made",
    "jobs_complete": "Jobs that all of their workers joined",
    "jobs_ended": "Jobs that all of their workers left",
    "jobs_timed_out": "Jobs ended because nothing came of them",
    "jobs_displaced": "Incomplete jobs ended to make room for another",
    "jobs_lost": "Jobs ended because the switch above knows them no more",
    "handed_over": "Packets that came to another lcore than that of their shard",
    "values": "Values added",
    "zeros": "Chunks added whose values were all +0, and were not sent",
}
AGGREGATE_ACTIONS = (
    "added", "completed", "repeated", "duplicate", "stale", "mismatch", "window", "stalled",
    "too_large", "misdirected", "no_job", "stale_session", "bad_tag", "wrong_token",
    "unknown_worker", "wrong_address", "cookie", "waiting", "joined", "join_mismatch", "full",
    "no_slots", "draining", "taken", "left", "no_digits", "bad_parts", "bad_place", "loop",
    "no_parent", "passed", "passed_again", "refused_above", "parent_silent", "handed_down",
    "refusal_down", "parent_answered", "stray_reply", "forged_reply",
)  # fmt: skip
PARENT_COUNTERS = {
    "sent": "Packets to the parent",
    "unsent": "Packets to the parent not made, as its address was not resolved",
    "questions": "Address resolution requests for the parent or its gateway",
    "answers": "Answers to them",
    "moves": "Answers that named another place than before",
    "tagged": "Answers with a VLAN tag, not believed: packets there would have none",
    "disbelieved": "Other answers, not believed",
}
PARENT_STATES = ("looking", "tagged", "unreachable", "reachable", "silent", "answering")
JOB_GAUGES = {
    "workers": "Members of a job at this switch",
    "all_workers": "Workers of the whole tree of a job",
    "levels": "Switches above this one in a job's tree",
    "silent": "Workers that others have waited for in vain",
    "silent_seconds": "Since anything came of it",
    "slots": "Slots of a job",
}
# Name here, name in telemetry, of its unit how many in one of ours, meaning.
WORKER_COUNTERS = (
    ("came_last", "came_last", 1, "Chunks for which a worker was the last to send values"),
    ("waited_seconds", "waited_us", 1e6, "For which chunks lacked this worker's values alone"),
)
BRIDGE_COUNTERS = {
    "learned": "Stations learned",
    "aged": "Stations forgotten",
    "refused": "Stations not learned as the table was full",
}


class Collector(registry.Collector):
    """Asks the switch whenever Prometheus asks, once for all who wait: it serves few clients."""

    def __init__(self, path: str | os.PathLike[str]):
        self._path = path
        self._reason = ""  # why the switch did not answer last time
        self._lock = threading.Lock()
        self._asked = -math.inf  # monotonic time; what it said then:
        self._said: snapshot.Snapshot | None = None

    def _note(self, reason: str) -> None:
        """Logs why there is no answer, or that there is one again, once each."""
        if reason != self._reason:
            _LOG.warning("%s", reason or f"{self._path}: the switch answers")
        self._reason = reason

    def _take(self) -> tuple[snapshot.Snapshot | None, str]:
        """The switch's state, of a moment after this call; None, and why there is none."""
        came = time.monotonic()
        with self._lock:
            if self._asked < came:
                self._asked = time.monotonic()
                try:
                    self._said = snapshot.take(self._path)
                    self._note("")
                except TelemetryError as error:
                    self._said = None
                    self._note(str(error))
            return self._said, self._reason

    def collect(self) -> Iterator[Any]:
        """Yields the metric families; netfc_up says whether there are others."""
        up = GaugeMetricFamily("netfc_up", "Whether the switch answers")
        state, reason = self._take()
        if state is None:
            up.add_metric([], 0)
            yield up
            yield InfoMetricFamily("netfc_down", "Why not", value={"reason": reason})
            return
        up.add_metric([], 1)
        yield up
        for families in (of_switch, of_lcores, of_ports, of_bridge, of_latency, of_slowloris):
            yield from families(state)
        yield from of_aggregation(state)


def _each(
    family: type[Any], prefix: str, meanings: dict[str, str], values: dict[str, Any]
) -> Iterator[Any]:
    """A family without labels for each of these."""
    for name, meaning in meanings.items():
        yield family(f"netfc_{prefix}_{name}", meaning, value=values[name])


def of_switch(state: snapshot.Snapshot) -> Iterator[Any]:
    """What is running."""
    config, stats = state.config, state.stats
    names = ("version", "dpdk", "match", "forward")
    yield InfoMetricFamily(
        "netfc_switch", "What is running", value={name: str(config[name]) for name in names}
    )
    tables = GaugeMetricFamily(
        "netfc_table_set", "Table sets in use", labels=("format", "set", "origin")
    )
    for number_format, table in state.tables.items():
        tables.add_metric((number_format, table["set"], table["origin"]), 1)
    yield tables
    yield GaugeMetricFamily("netfc_uptime_seconds", "Since polling began", value=stats["seconds"])
    yield GaugeMetricFamily("netfc_mbufs", "Packet buffers", value=config["mbufs"])
    yield GaugeMetricFamily(
        "netfc_mbufs_in_use", "Packet buffers in use", value=stats["mbufs_in_use"]
    )


def of_lcores(state: snapshot.Snapshot) -> Iterator[Any]:
    """Counters of lcores."""
    for name, ours, meaning in LCORE_COUNTERS:
        family = CounterMetricFamily(f"netfc_{ours}", meaning, labels=["lcore"])
        for lcore in state.lcores:
            family.add_metric([str(lcore["lcore"])], lcore[name])
        yield family
    for group, ours, label, meaning in LCORE_GROUPS:
        family = CounterMetricFamily(f"netfc_{ours}", meaning, labels=["lcore", label])
        for lcore in state.lcores:
            for name, count in lcore[group].items():
                family.add_metric([str(lcore["lcore"]), name], count)
        yield family


def of_ports(state: snapshot.Snapshot) -> Iterator[Any]:
    """Links and counters of devices."""
    link = GaugeMetricFamily("netfc_link_up", "Whether the link is up", labels=["port", "device"])
    for port in state.ports:
        if "link_up" in port:
            link.add_metric([str(port["port"]), port["device"]], port["link_up"])
    yield link
    gone = GaugeMetricFamily(
        "netfc_port_gone", "Whether the port's device has vanished", labels=["port", "device"]
    )
    for port in state.ports:
        gone.add_metric([str(port["port"]), port["device"]], port["gone"])
    yield gone
    for name, meaning in DEVICE_COUNTERS.items():
        family = CounterMetricFamily(f"netfc_device_{name}", meaning, labels=["port", "device"])
        for port in state.ports:
            if "counters" in port:
                family.add_metric([str(port["port"]), port["device"]], port["counters"][name])
        yield family


def of_bridge(state: snapshot.Snapshot) -> Iterator[Any]:
    """Stations of the bridge."""
    if state.bridge is None:
        return
    yield GaugeMetricFamily(
        "netfc_stations", "Stations that the bridge knows", value=state.bridge["known"]
    )
    yield GaugeMetricFamily(
        "netfc_stations_capacity", "Stations that it can know", value=state.bridge["capacity"]
    )
    yield from _each(CounterMetricFamily, "stations", BRIDGE_COUNTERS, state.bridge)


def of_latency(state: snapshot.Snapshot) -> Iterator[Any]:
    """How long packets take."""
    latency = state.latency
    if latency is None:
        return
    packets, buckets = 0, []
    for bound, count in latency["buckets_ns"].items():
        packets += count
        buckets.append(("+Inf" if bound == "more" else repr(int(bound) / 1e9), packets))
    yield HistogramMetricFamily(
        "netfc_latency_seconds",
        "From receive burst to transmit burst, per packet",
        buckets=buckets,
        sum_value=latency["sum"] / latency["tsc_hz"],
    )


def of_slowloris(state: snapshot.Snapshot) -> Iterator[Any]:
    """What the Slowloris detector tracks."""
    detector = state.stats.get("slowloris")
    if detector is None:
        return
    yield from _each(GaugeMetricFamily, "slowloris", DETECTOR_GAUGES, detector)
    yield from _each(CounterMetricFamily, "slowloris", DETECTOR_COUNTERS, detector)
    attacked = GaugeMetricFamily(
        "netfc_slowloris_under_attack",
        "Destinations under attack, 64 at most",
        labels=["destination"],
    )
    for destination in detector["under_attack"]:
        attacked.add_metric([destination], 1)
    yield attacked


def of_aggregation(state: snapshot.Snapshot) -> Iterator[Any]:
    """Aggregations: all together, then job by job."""
    table = state.stats.get("aggregate")
    if table is None:
        return
    yield from _each(GaugeMetricFamily, "aggregate", AGGREGATE_GAUGES, table)
    yield from _each(CounterMetricFamily, "aggregate", AGGREGATE_COUNTERS, table)
    packets = CounterMetricFamily(
        "netfc_aggregate_packets", "Packets of aggregations, by what became of them",
        labels=["action"],
    )  # fmt: skip
    for action in AGGREGATE_ACTIONS:
        packets.add_metric([action], table[action])
    yield packets
    if "parent" in table:
        yield from of_parent(table["parent"])
    for name, meaning in JOB_GAUGES.items():
        family = GaugeMetricFamily(f"netfc_aggregate_job_{name}", meaning, labels=["job", "index"])
        for index, job in state.jobs.items():
            value = job["silent_s" if name == "silent_seconds" else name]
            family.add_metric(
                [str(job["job"]), str(index)], len(value) if isinstance(value, list) else value
            )
        yield family
    for ours, name, unit, meaning in WORKER_COUNTERS:
        counter = CounterMetricFamily(
            f"netfc_aggregate_job_{ours}", meaning, labels=["job", "index", "worker"]
        )
        for index, job in state.jobs.items():
            for worker, count in job[name].items():
                counter.add_metric([str(job["job"]), str(index), worker], count / unit)
        yield counter


def of_parent(parent: dict[str, Any]) -> Iterator[Any]:
    """The switch above, in a tree."""
    states = GaugeMetricFamily(
        "netfc_aggregate_parent_state",
        "How the parent is: 1 for one of the states",
        labels=["parent", "state"],
    )
    for state in PARENT_STATES:
        states.add_metric([parent["address"], state], parent["state"] == state)
    yield states
    yield from _each(CounterMetricFamily, "aggregate_parent", PARENT_COUNTERS, parent)


@dataclasses.dataclass(frozen=True)
class _Selected:
    """What a registry has of some metrics."""

    registry: CollectorRegistry
    names: frozenset[str]

    def collect(self) -> Iterator[Any]:
        """The families that have samples of these names, with no others."""
        for family in self.registry.collect():
            selected = copy.copy(family)
            selected.samples = [sample for sample in family.samples if sample.name in self.names]
            if selected.samples:
                yield selected


class _Registry(CollectorRegistry):
    """One whose metrics are known when they are collected: /metrics?name[]= looks there."""

    def restricted_registry(self, names: Iterable[str]) -> Any:
        """The metrics of these names alone."""
        return _Selected(self, frozenset(names))


def registry_for(path: str | os.PathLike[str]) -> CollectorRegistry:
    """A registry that has the switch at that telemetry socket in it, and nothing else."""
    made = _Registry()
    made.register(Collector(path))
    return made
