# SPDX-License-Identifier: BSD-3-Clause
"""A running switch as lines of text: what has happened between two snapshots."""

from collections.abc import Iterator
from typing import Any

from netfc.snapshot import Snapshot

DESTINATIONS_SHOWN = 3
JOBS_SHOWN = 5
UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def short(number: float) -> str:
    """A number in at most five characters and a unit: 1234567 -> 1.235M."""
    for size, unit in UNITS:
        if number >= size:
            return f"{number / size:.3f}"[:5] + unit
    return f"{number:.0f}"


def share(part: float, whole: float) -> str:
    """A ratio in percent; '-' where there is nothing to divide by."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


class Rates:
    """Changes per second between two dictionaries of counters."""

    def __init__(self, before: dict[str, Any], after: dict[str, Any], seconds: float):
        self._before, self._after, self._seconds = before, after, seconds

    def change(self, *names: str) -> int:
        """How much a counter has grown; names lead through groups."""
        before: Any = self._before
        after: Any = self._after
        for name in names:
            before, after = before.get(name, {}), after.get(name, {})
        return int(after - (before or 0))

    def __call__(self, *names: str) -> str:
        return short(self.change(*names) / self._seconds)


def lines(before: Snapshot, after: Snapshot, accuracy: str | None = None) -> Iterator[str]:
    """The view.

    before, after: Snapshots of the same switch; accuracy: what to say of a sample of requests that
    was compared with the CPU, if one was.
    """
    seconds = max(after.time - before.time, 1e-9)
    yield from head(after)
    yield ""
    yield from of_switch(before, after, seconds)
    if accuracy:
        yield f"accuracy   {accuracy}"
    yield ""
    yield from of_lcores(before, after, seconds)
    yield ""
    yield from of_ports(before, after, seconds)


def head(after: Snapshot) -> Iterator[str]:
    """What is running."""
    config = after.config
    sets = ", ".join(table["set"] for table in after.tables.values())
    yield (
        f"dpdk-netfc {config['version']}   up {after.stats['seconds']} s   {sets}   "
        f"match {config['match']}   forward {config['forward']}"
    )


def of_switch(before: Snapshot, after: Snapshot, seconds: float) -> Iterator[str]:
    """The switch as a whole."""
    rate, stats = Rates(before.stats, after.stats, seconds), after.stats
    yield (
        f"packets/s  {rate('rx_packets'):>8} in   {rate('tx_packets'):>8} out   "
        f"{stats['mbufs_in_use']} of {after.config['mbufs']} mbufs in use"
    )
    yield (
        f"NetFC/s    {rate('netfc_packets'):>8} requests   {rate('lanes'):>8} lanes   "
        f"refused {sum(rate.change('errors', name) for name in stats['errors'])}"
    )
    groups = (
        ("taken/s", "taken_up"),
        ("drops/s", "drops"),
        ("flags/s", "exceptions"),
        ("funcs/s", "operations"),
    )
    for title, group in groups:
        shown = [f"{rate(group, name)} {name}" for name in stats[group] if rate.change(group, name)]
        if not stats[group] or (group == "taken_up" and "aggregate" not in stats):
            continue
        yield f"{title:<10} {', '.join(shown) or 'none'}"
    if after.bridge:
        yield (
            f"stations   {after.bridge['known']} of {after.bridge['capacity']}, "
            f"{after.bridge['refused']} refused"
        )
    if "slowloris" in stats:
        yield of_slowloris(stats["slowloris"])
    if "aggregate" in stats:
        yield of_aggregation(rate, stats["aggregate"])
        if "parent" in stats["aggregate"]:
            yield of_parent(rate, stats["aggregate"]["parent"])
        yield from of_jobs(before, after)


def of_slowloris(detector: dict[str, Any]) -> str:
    """What the Slowloris detector tracks."""
    attacked = detector["under_attack"][:DESTINATIONS_SHOWN]
    more = "" if detector["alarms"] == len(attacked) else ", ..."
    named = f": {', '.join(attacked)}{more}" if attacked else ""
    return (
        f"slowloris  connections {short(detector['connections'])}   destinations "
        f"{short(detector['destinations'])}   under attack {detector['alarms']}{named}"
    )


def of_aggregation(rate: Rates, table: dict[str, Any]) -> str:
    """What aggregations do."""
    names = (
        *("duplicate", "stale", "stalled", "stale_session", "wrong_token", "unknown_worker"),
        *("wrong_address", "no_digits", "refused_above", "parent_silent", "forged_reply"),
    )
    odd = [f"{name} {rate.change('aggregate', name)}" for name in names]
    odd = [text for text in odd if not text.endswith(" 0")]
    return (
        f"aggregate  {rate('aggregate', 'values'):>8} values/s   "
        f"{rate('aggregate', 'completed')} results/s   jobs {table['jobs']} of "
        f"{table['most_jobs']}   slots {table['slots']} of {table['most_slots']}"
        + (f"   {', '.join(odd)}" if odd else "")
    )


def of_parent(rate: Rates, parent: dict[str, Any]) -> str:
    """The switch above, in a tree."""
    where = f" at {parent['mac']}" if "mac" in parent else ""
    gateway = f" behind {parent['gateway']}" if "gateway" in parent else ""
    return (
        f"  parent {parent['address']}{gateway}{where}: {parent['state']}   "
        f"{rate('aggregate', 'parent', 'sent')} packets/s to it"
    )


def of_jobs(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """A line for each of the first jobs, and one for the worker that it waits for most."""
    seconds = max(after.time - before.time, 1e-9)
    for index, job in list(after.jobs.items())[:JOBS_SHOWN]:
        missing = job["workers"] - len(job["joined"])
        state = f"{missing} to join" if missing else f"silent for {job['silent_s']} s"
        if job["silent"]:
            state += f", values of workers {', '.join(map(str, job['silent']))} missing"
        if "failed" in job:
            state += f", failed for worker {job['failed']}"
        if job["levels"]:
            state += f", of {job['all_workers']} in the tree, above: {job['uplink']}"
        if "above" in job:
            state += f" ({job['above']})"
        yield f"  job {job['job']:<7}{job['workers']} workers, {job['slots']} slots, {state}"
        yield from of_slowest(Rates(before.jobs.get(index, {}), job, seconds), job, seconds)


def of_slowest(rate: Rates, job: dict[str, Any], seconds: float) -> Iterator[str]:
    """Of a job's workers the one that the others have waited for longest, if they have."""
    waited = {worker: rate.change("waited_us", worker) for worker in job["waited_us"]}
    slowest = max(waited, key=lambda worker: waited[worker], default="")
    last = sum(rate.change("came_last", worker) for worker in job["came_last"])
    if waited.get(slowest, 0) <= 0 or min(waited.values()) < 0:  # another job has its place
        return
    held_up = min(waited[slowest] / 1e6, seconds)  # what began before this view is counted now
    yield (
        f"  slowest    worker {slowest}: waited for {share(held_up, seconds)} of "
        f"the time, last in {share(rate.change('came_last', slowest), last)} of "
        f"{short(last / seconds)} results/s"
    )


def of_lcores(before: Snapshot, after: Snapshot, seconds: float) -> Iterator[str]:
    """A line for each lcore."""
    yield f"{'lcore':<6}{'load':>7}{'burst':>8}{'in/s':>9}{'lanes/s':>9}  queues"
    earlier: dict[int, Any] = {lcore["lcore"]: lcore for lcore in before.lcores}
    for lcore in after.lcores:
        rate = Rates(earlier.get(lcore["lcore"], {}), lcore, seconds)
        bursts = rate.change("busy_polls")
        mean = f"{rate.change('rx_packets') / bursts:.1f}" if bursts else "-"
        load = share(rate.change("busy_cycles"), rate.change("cycles"))
        yield (
            f"{lcore['lcore']:<6}{load:>7}{mean:>8}"
            f"{rate('rx_packets'):>9}{rate('lanes'):>9}  {' '.join(lcore['paths']) or 'idle'}"
        )


def of_ports(before: Snapshot, after: Snapshot, seconds: float) -> Iterator[str]:
    """A line for each port."""
    yield f"{'port':<6}{'link':>5}{'in/s':>9}{'out/s':>9}{'lost':>8}  device"
    earlier: dict[int, Any] = {port["port"]: port for port in before.ports}
    for port in after.ports:
        if "counters" not in port:
            continue
        rate = Rates(earlier.get(port["port"], {}).get("counters", {}), port["counters"], seconds)
        lost = sum(
            rate.change(name) for name in ("rx_missed", "rx_errors", "rx_no_mbuf", "tx_errors")
        )
        link = "gone" if port["gone"] else "up" if port.get("link_up") else "down"
        yield (
            f"{port['port']:<6}{link:>5}"
            f"{rate('rx_packets'):>9}{rate('tx_packets'):>9}{short(lost):>8}  {port['device']}"
        )
