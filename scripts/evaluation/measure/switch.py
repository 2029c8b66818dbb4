# SPDX-License-Identifier: BSD-3-Clause
"""Lanes through the running switch: requests in a capture file, replies in another."""

import json
import os
import pathlib
import tempfile

import numpy

import programs
from netfc import OPS, capture, protocol


class Job:
    """Lanes of one format and operation, and their results."""

    def __init__(self, format_id, op, x, y):
        self.format_id, self.op = format_id, op
        self.x, self.y = x, y
        self.z = numpy.zeros_like(x)

    def requests(self):
        """Slices of lanes, and a payload for each, as long as a frame can be."""
        for start in range(0, len(self.x), capture.MAX_LANES):
            lanes = slice(start, min(start + capture.MAX_LANES, len(self.x)))
            yield lanes, (OPS[self.op], self.format_id, self.x[lanes], self.y[lanes])


def run(build, folder, tables, idle_ms=200):
    """Run dpdk-netfc on the captures in a folder; returns its final counters."""
    stats = pathlib.Path(folder, "stats.json")
    port = f"--vdev=net_pcap0,rx_pcap={folder}/requests,tx_pcap={folder}/replies"
    lcore = f"0@{min(os.sched_getaffinity(0))}"
    programs.command(
        pathlib.Path(build, "app", "dpdk-netfc"),
        *programs.eal("evaluate", programs.no_huge(512), lcore, port),
        *("--", "--tables", ",".join(tables), "--match", "direct"),
        *("--idle-exit", idle_ms, "--stats-json", stats),
        env={**os.environ, "XDG_RUNTIME_DIR": folder, "RUNTIME_DIRECTORY": folder},
    )
    return json.loads(stats.read_text(encoding="utf-8"))


def compute(build, tables, jobs):
    """Send the lanes of all jobs through the switch; their z are what it answered.

    tables: names of table sets, one per format. Returns how many packets went through.
    """
    frames, owners = [], []
    for job in jobs:
        for lanes, fields in job.requests():
            frames.append(capture.udp_frame(protocol.request(*fields, len(frames))))
            owners.append((job, lanes))
    with tempfile.TemporaryDirectory(prefix="netfc-") as folder:
        capture.write(os.path.join(folder, "requests"), frames)
        stats = run(build, folder, tables)
        replies = capture.read(os.path.join(folder, "replies"))
    if len(replies) != len(frames) or sum(stats["drops"].values()) != 0:
        raise programs.CommandError(f"{len(replies)} replies to {len(frames)} requests: {stats}")
    for frame in replies:
        number, status, z = capture.reply(frame)
        is_reply, code, _ = protocol.split_status(status)
        if not is_reply or code != protocol.Code.OK:
            raise programs.CommandError(f"request {number} was not computed: status {status:#04x}")
        job, lanes = owners[number]
        job.z[lanes] = z
    return len(frames)
