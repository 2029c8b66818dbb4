# SPDX-License-Identifier: BSD-3-Clause
"""How long packets take, in TSC cycles, from receive to transmit burst: in full bursts, and alone."""

import json
import subprocess

import programs
from benchmark import machine
from benchmark.peers.contenders import TABLES, Contender
from programs import CommandError

FIELDS = ("tsc_hz", "count", "least", "mean", "p50", "p90", "p99", "p99_9", "greatest", "buckets_ns")
MEGABYTES = 384  # the match engine lpm takes most
TIMEOUT_S = 300


def _full_bursts(bench, capture, lanes, format_name, engine, seconds):
    """At full load: every burst has as many packets as there can be."""
    with bench.start(Contender("netfc", engine), [capture], TABLES[format_name],
                     options=["--latency"]) as program:
        program.sample(seconds)
        return program.finish(lanes)["latency"]


def _alone(bench, lanes, format_name, engine, seconds):
    """One packet at a time, over vhost: netfc-bench sends the next when one has come back."""
    folder = bench.folder / f"alone-{engine}-{lanes}"
    folder.mkdir()
    path, stats, memory = folder / "socket", folder / "stats", bench.memory.options(MEGABYTES)
    with programs.running(
            bench.build / "app" / "dpdk-netfc",
            *programs.eal("alone", memory, f"0@{machine.polling_cpus(1)[0]}",
                          f"--vdev=net_vhost0,iface={path}"),
            *("--", "--match", engine, "--tables", TABLES[format_name], "--latency"),
            *("--tables-dir", bench.build / "tables", "--stats-json", stats),
            log=folder / "log", begun=path.exists, patience=TIMEOUT_S) as switch:
        words = [bench.build / "app" / "netfc-bench", *programs.eal(
            "sender", memory, f"0@{machine.other_cpu()}",
            f"--vdev=net_virtio_user0,path={path},queue_size=1024"),
            *("--", "--set", TABLES[format_name], "--lanes", lanes, "--window", 1),
            *("--seconds", seconds, "--op", "add")]
        sender = subprocess.run(list(map(str, words)), text=True, capture_output=True, check=False,
                                timeout=TIMEOUT_S)
        switch.terminate()
        switch.wait(TIMEOUT_S)
    if sender.returncode not in (0, 2) or switch.returncode != 0:
        raise CommandError(f"{sender.args}\n{sender.stdout}{sender.stderr}")
    return json.loads(stats.read_text(encoding="utf-8"))


def run(bench, capture, lanes, format_name, engine, seconds):
    """Both, as the switch's own histogram says."""
    full = _full_bursts(bench, capture, lanes, format_name, engine, seconds)
    stats = _alone(bench, lanes, format_name, engine, seconds)
    if stats["rx_packets"] == 0:
        raise CommandError("no packet came over vhost")
    return {
        "full": {name: full[name] for name in FIELDS},
        "alone": {name: stats["latency"][name] for name in FIELDS},
        "packets_per_burst": stats["rx_packets"] / stats["busy_polls"],
    }
