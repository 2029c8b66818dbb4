# SPDX-License-Identifier: BSD-3-Clause
"""Packets per second with many tracked connections, against the same run without --slowloris.

Connections are opened, then packets of random ones follow, all out of a capture file. What the
lcore's thread took of the CPU for the following packets is the difference between a long run and a
short one, so that neither the start nor the opening counts, nor what else the machine does.
"""

import json
import os
import pathlib
import resource
import tempfile

import numpy

from command import CommandLine, write_json
from netfc.capture import PCAP_HEADER
from programs import CommandError, command

FRAME = 60
CHUNK = 1 << 20
SYN, ACK = 2, 16
SERVER_NUMBER = 7  # that servers start to count at
DESTINATIONS = 1000
MEGABYTES = 1600
RECORD = numpy.dtype([
    ("time", "<u4", 2), ("captured", "<u4"), ("length", "<u4"), ("ethernet", "u1", 14),
    ("version_ihl", "u1"), ("tos", "u1"), ("total", ">u2"), ("id", ">u2"), ("fragment", ">u2"),
    ("ttl", "u1"), ("protocol", "u1"), ("checksum", ">u2"), ("source", ">u4"),
    ("destination", ">u4"), ("source_port", ">u2"), ("destination_port", ">u2"),
    ("sequence", ">u4"), ("acknowledgement", ">u4"), ("offset", "u1"), ("flags", "u1"),
    ("window", ">u2"), ("tcp_checksum", ">u2"), ("urgent", ">u2"), ("padding", "u1", 6)])
ETHERNET = numpy.frombuffer(bytes.fromhex("0200000000020200000000010800"), "u1")


def records(index, flags, answer=False):
    """Packets of connections by their numbers, from client to server or back."""
    made = numpy.zeros(len(index), RECORD)
    made["captured"] = made["length"] = FRAME
    made["ethernet"] = ETHERNET
    made["version_ihl"], made["total"], made["ttl"], made["protocol"] = 0x45, FRAME - 14, 64, 6
    client, server = 0x0B000000 + index // 4, 0x0A000002 + index % DESTINATIONS
    made["source"], made["destination"] = (server, client) if answer else (client, server)
    port = 1024 + index % 4
    made["source_port"], made["destination_port"] = (80, port) if answer else (port, 80)
    made["sequence"] = made["acknowledgement"] = SERVER_NUMBER + (flags == ACK)
    made["offset"], made["flags"] = 0x50, flags
    return made


def write_capture(path, connections, packets):
    """Connections that are opened, in random order, and packets that follow."""
    draw = numpy.random.default_rng(1)
    order = draw.permutation(connections)
    with path.open("wb") as out:
        out.write(PCAP_HEADER)
        out.flush()
        for begin in range(0, connections, CHUNK):
            some = order[begin:begin + CHUNK]
            records(some, SYN).tofile(out)
            records(some, SYN | ACK, answer=True).tofile(out)
            records(some, ACK).tofile(out)
        for begin in range(0, packets, CHUNK):
            some = draw.integers(0, connections, min(CHUNK, packets - begin))
            records(some, ACK).tofile(out)


def run(options, path, detector):
    """Runs the switch. Returns CPU seconds and its final counters."""
    stats = path.parent / "stats"
    memory = ["--in-memory"] if options.huge else ["--no-huge"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command(
        options.build / "app" / "dpdk-netfc", *memory, "-m", MEGABYTES, "--no-pci", "-l",
        min(os.sched_getaffinity(0)), "--no-telemetry", "--file-prefix",
        f"throughput-{os.getpid()}",
        f"--vdev=net_pcap0,rx_pcap={path}", "--vdev=net_null0,no-rx=1", "--", "--match", "direct",
        "--idle-exit", 50, "--stats-json", stats, *detector, patience=None)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    counters = json.loads(stats.read_text())
    if counters["tx_packets"] != counters["rx_packets"]:
        raise CommandError(f"packets were dropped: {counters['drops']}")
    return taken, counters


def measure(options):
    """Seconds of CPU per packet each way, and the switch's final counters."""
    ways = {"without": (), "with --slowloris": (
        "--slowloris", "--slowloris-table", options.connections, "--slowloris-timeout", 600,
        "--slowloris-threshold", 1)}  # nothing is to be dropped
    best, said = {}, {}
    # Captures are written in memory, if there is such a place.
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="netfc-", dir=place) as folder:
        captures = {}
        for name, packets in (("short", CHUNK), ("long", CHUNK + options.packets)):
            captures[name] = pathlib.Path(folder, name)
            write_capture(captures[name], options.connections, packets)
        for _ in range(options.rounds):
            for way, detector in ways.items():
                for name, path in captures.items():
                    taken, said[way] = run(options, path, detector)
                    best[way, name] = min(taken, best.get((way, name), taken))
    return {way: (best[way, "long"] - best[way, "short"]) / options.packets for way in ways}, said


def main():
    """The command line."""
    parser = CommandLine("bench slowloris-throughput", __doc__)
    parser.add_argument("--connections", type=int, most=10_000_000, default=1000000)
    parser.add_argument("--packets", type=int, default=8000000, help="that are measured")
    parser.add_argument("--rounds", type=int, default=5, help="the best counts")
    parser.add_argument("--huge", action="store_true", help="use hugepages, 1.6 GB")
    options = parser.parse_args()
    with parser.told():
        times, said = measure(options)
    for way, time in times.items():
        print(f"{way:18s} {time * 1e9:7.1f} ns of CPU per packet, {1e-6 / time:6.2f} Mpps")
    print(f"ratio              {times['without'] / times['with --slowloris']:7.2f}")
    detector = said["with --slowloris"]["slowloris"]
    print(f"tracked            {detector['connections']} connections, "
          f"{detector['connection_bytes'] / options.connections:.0f} bytes each; "
          f"{detector['destinations']} destinations, {detector['divisions']} divisions")
    write_json(options.json, {"seconds_per_packet": times, "counters": said})


if __name__ == "__main__":
    main()
