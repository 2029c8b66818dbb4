# SPDX-License-Identifier: BSD-3-Clause
"""How long packets take, in TSC cycles, from receive to transmit burst: in full bursts, and alone."""

import json
import subprocess
import time

import programs
from benchmark import machine
from benchmark.peers.contenders import TABLES, Contender
from programs import ProgramError

FIELDS = ("tsc_hz", "count", "least", "mean", "p50", "p90", "p99", "p99_9", "greatest", "buckets")
MEGABYTES = 384  # the match engine lpm takes most
TIMEOUT_S = 300


def _full_bursts(bench, capture, lanes, format_name, engine, seconds):
    """At full load: every burst has as many packets as there can be."""
    contender = Contender("netfc", engine)
    table = TABLES[format_name]
    with bench.start(contender, [capture], table, options=["--latency"]) as program:
        program.sample(seconds)
        return program.finish(lanes)["latency"]


def _eal(bench, name, cpu, vdev):
    return programs.eal(name, bench.memory.options(MEGABYTES), f"0@{cpu}", f"--vdev={vdev}")


def _wait_for(path, switch, log):
    deadline = time.monotonic() + TIMEOUT_S
    while not path.exists():
        if switch.poll() is not None or time.monotonic() > deadline:
            text = log.read_text(encoding="utf-8", errors="replace")
            raise ProgramError(f"dpdk-netfc does not start:\n{text}")
        time.sleep(0.02)


def _alone(bench, lanes, format_name, engine, seconds):
    """One packet at a time, over vhost: netfc-bench sends the next when one has come back."""
    folder = bench.folder / f"alone-{engine}-{lanes}"
    folder.mkdir()
    path, stats = folder / "socket", folder / "stats"
    switch = [
        str(bench.build / "app" / "dpdk-netfc"),
        *_eal(bench, "alone", machine.polling_cpus(1)[0], f"net_vhost0,iface={path}"),
        *("--", "--match", engine, "--tables", TABLES[format_name], "--latency"),
        *("--tables-dir", str(bench.build / "tables"), "--stats-json", str(stats)),
    ]
    sender = [
        str(bench.build / "app" / "netfc-bench"),
        *_eal(bench, "sender", machine.other_cpu(), f"net_virtio_user0,path={path},queue_size=1024"),
        *("--", "--set", TABLES[format_name], "--lanes", str(lanes), "--window", "1"),
        *("--seconds", str(seconds), "--op", "add"),
    ]
    with open(folder / "log", "w", encoding="utf-8") as log:
        running = subprocess.Popen(switch, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            _wait_for(path, running, folder / "log")
            done = subprocess.run(
                sender, text=True, capture_output=True, check=False, timeout=TIMEOUT_S
            )
        finally:
            running.terminate()
            running.wait(TIMEOUT_S)
    if done.returncode not in (0, 2) or running.returncode != 0:
        raise ProgramError(f"{' '.join(sender)}\n{done.stdout}{done.stderr}")
    return json.loads(stats.read_text(encoding="utf-8"))


def run(bench, capture, lanes, format_name, engine, seconds):
    """Both, as the switch's own histogram says."""
    full = _full_bursts(bench, capture, lanes, format_name, engine, seconds)
    stats = _alone(bench, lanes, format_name, engine, seconds)
    if stats["rx_packets"] == 0:
        raise ProgramError("no packet came over vhost")
    return {
        "full": {name: full[name] for name in FIELDS},
        "alone": {name: stats["latency"][name] for name in FIELDS},
        "packets_per_burst": stats["rx_packets"] / stats["busy_polls"],
    }
