# SPDX-License-Identifier: BSD-3-Clause
"""The switch at full rate for a long time, with swaps and faults: does it stay as it was?

Load is a capture of requests that is received again and again, beside what is not NetFC; every
reply is counted by the switch. Meanwhile table sets are swapped, packets captured and traced, wrong
commands given, clients connect and stall, and every minute the counters, the memory and the rate
are written down.
"""

import argparse
import contextlib
import itertools
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy

from netfc import FORMATS, ControlError, capture, protocol
from netfc.control import Control
from netfc.telemetry import Telemetry
from soak_test import tree, watch

PROGRAM = "soak"
DONE, WRONG_USAGE, FAILED = 0, 1, 2
SETS = ("fp16_k1024", "fp16_k512", "fp16_k1024_floor")
OTHERS = ("bf16_k128", "posit16_k512")
WRONG_COMMANDS = ({"command": "tables", "sets": "fp99_k1"}, {"command": "fly"},
                  {"command": "set", "name": "ageing", "value": -1}, {"command": "add"})
SWAP_S = 1.0
WARM_UP_S = 10  # what is allocated once is there then; less in short runs
MIN_RATE = 0.95  # of the last minute to the first
LANES = 16
UNKNOWN_OP = 99


class Parser(argparse.ArgumentParser):
    """Ends with the exit status of all programs here when the usage is wrong."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(WRONG_USAGE, f"{PROGRAM}: {message}\n")


def parse_arguments(arguments):
    parser = Parser(prog=PROGRAM, description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--minutes", type=float, default=60, help="how long (default %(default)s)")
    parser.add_argument("--match", choices=["lpm", "hash", "direct"], default="direct")
    parser.add_argument("--tree", action="store_true", help="instead: two leaves and a root that "
                        "aggregate, while workers and leaves are killed and started again. Root")
    parser.add_argument("--json", metavar="FILE", help="write the report there, too")
    asked = parser.parse_args(arguments)
    if not 0.1 <= asked.minutes <= 100000:
        parser.error("--minutes: expected 0.1 to 100000")
    return asked


# ---- load ------------------------------------------------------------------------------------


def request(draw, number, op=None):
    operands = numpy.frombuffer(draw.randbytes(4 * LANES), ">u2")
    return protocol.request(op or 1 + number % 4, FORMATS["fp16"].id, operands[:LANES],
                            operands[LANES:], number)


def load(draw):
    """Requests; one in six frames is wrong, cut or nothing of the kind."""
    for number in range(2048):
        good = capture.udp_frame(request(draw, number))
        odd = draw.randrange(24)
        if odd == 0:
            yield draw.randbytes(draw.randrange(14, 1500))
        elif odd == 1:
            yield good[:draw.randrange(14, len(good))]
        elif odd == 2:
            yield capture.udp_frame(request(draw, number), port=53)
        elif odd == 3:
            yield capture.udp_frame(request(draw, number, UNKNOWN_OP))
        else:
            yield good


# ---- what is watched -------------------------------------------------------------------------


def lcore_seconds(process):
    """CPU time of the one lcore, which is the main thread, in seconds."""
    stat = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/stat").read_text()
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


class Soak:
    """A running switch and what happens to it."""

    def __init__(self, asked, folder):
        self._draw = random.Random(8)
        self._folder, self._asked = folder, asked
        self.swaps = self.refused = self.stalled = self.captured = self.traced = 0
        capture.write(folder / "in", load(self._draw))
        self._control_path = folder / "control"
        prefix = f"soak-{os.getpid()}"
        self._telemetry_path = folder / "dpdk" / prefix / "dpdk_telemetry.v2"
        cpus = sorted(os.sched_getaffinity(0))
        self.process = subprocess.Popen(
            [asked.build / "app" / "dpdk-netfc", "--no-huge", "-m", "1024", "--no-pci",
             "-l", str(cpus[-1]), "--file-prefix", prefix,
             f"--vdev=net_pcap0,rx_pcap={folder}/in,infinite_rx=1",
             "--", "--match", asked.match, "--tables", SETS[0],
             "--control", self._control_path, "--stats-json", folder / "stats"],
            env={**os.environ, "RUNTIME_DIRECTORY": str(folder)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=(folder / "log").open("w"))

    def wait_for_start(self):
        limit = time.monotonic() + 60
        while not (self._control_path.exists() and self._telemetry_path.exists()):
            if self.process.poll() is not None or time.monotonic() > limit:
                raise RuntimeError("the switch does not start:\n"
                                   + (self._folder / "log").read_text())
            time.sleep(0.1)

    def disturb(self, until):
        """Swaps, wrong commands and clients that stall, until then."""
        sets, others = itertools.cycle(SETS[1:] + SETS[:1]), itertools.cycle(OTHERS)
        with Control(self._control_path) as control:
            while time.monotonic() < until:
                control.do("tables", sets=next(sets))
                control.do("add", sets=next(others))
                self.swaps += 2
                try:
                    control.do(**self._draw.choice(WRONG_COMMANDS))
                except ControlError:
                    self.refused += 1
                self._capture(control)
                self._trace()
                self._stall()
                time.sleep(max(0, min(SWAP_S, until - time.monotonic())))

    def _capture(self, control):
        """Some packets into a file."""
        path = self._folder / "x.pcapng"
        control.do("capture", action="start", file=str(path), packets=1000, snaplen=64)
        while control.do("capture", action="show")["capture"]["running"]:
            time.sleep(0.01)
        self.captured += control.do("capture", action="show")["capture"]["packets"]
        path.unlink()

    def _trace(self):
        """A request, stage by stage."""
        with Telemetry(self._telemetry_path) as telemetry:
            self.traced += telemetry.ask("/netfc/trace") is not None

    def _stall(self):
        """A client that asks much, reads nothing, and goes; and one that sends half a line."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client:
            client.connect(str(self._telemetry_path))
            try:
                for _ in range(50):
                    client.send(b"/netfc/stats", socket.MSG_DONTWAIT)
            except OSError:
                pass
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self._control_path))
            client.send(b'{"command":')
        self.stalled += 2

    def sample(self):
        """The state now, as a dictionary, with the table set of the start."""
        with Control(self._control_path) as control:
            control.do("tables", sets=SETS[0])
        with Telemetry(self._telemetry_path) as telemetry:
            stats = telemetry.ask("/netfc/stats")
            heaps = [telemetry.ask(f"/eal/heap_info,{heap}")
                     for heap in telemetry.ask("/eal/heap_list")]
        return {"time": time.monotonic(), "lcore_seconds": lcore_seconds(self.process),
                "rx_packets": stats["rx_packets"], "lanes": stats["lanes"],
                "mbufs_in_use": stats["mbufs_in_use"],
                "heap_bytes": sum(heap["Alloc_size"] for heap in heaps),
                "resident_kb": watch.resident_kb(self.process), "open_files": watch.open_files(self.process)}

    def stop(self):
        """Ends it. Returns exit status and statistics."""
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        return status, json.loads((self._folder / "stats").read_text())


# ---- the report ------------------------------------------------------------------------------


def rate(first, second, clock="time"):
    """Packets per second between two samples; or per second of the lcore's CPU time, which does not
    change with what else the machine does."""
    return (second["rx_packets"] - first["rx_packets"]) / (second[clock] - first[clock])


def judge(soak, samples, status, stats):
    """The report: what was measured, and what of it must hold."""
    rates = [rate(*pair) for pair in itertools.pairwise(samples)]
    ratio = rate(*samples[-2:], "lcore_seconds") / rate(*samples[:2], "lcore_seconds")
    growth = samples[-1]["resident_kb"] - samples[0]["resident_kb"]
    heap_growth = samples[-1]["heap_bytes"] - samples[0]["heap_bytes"]
    accounted = stats["tx_packets"] + sum(stats["drops"].values())
    checks = {
        "exit status 0": status == 0,
        "every packet accounted for": accounted == stats["rx_packets"] + stats["copies"],
        "no packet buffer leaked": stats["mbufs_leaked"] == 0,
        f"memory grew by less than {watch.MAX_GROWTH_KB} kB": growth < watch.MAX_GROWTH_KB,
        f"the EAL's heap grew by less than {watch.MAX_HEAP_MOVES} bytes": heap_growth < watch.MAX_HEAP_MOVES,
        "no more open files": samples[-1]["open_files"] <= samples[0]["open_files"],
        f"last rate, per second of CPU time, at least {MIN_RATE} of the first":
            ratio >= MIN_RATE,
    }
    return {
        "seconds": stats["seconds"], "rx_packets": stats["rx_packets"], "lanes": stats["lanes"],
        "refused_requests": sum(stats["errors"].values()), "swaps": soak.swaps,
        "refused_commands": soak.refused, "stalled_clients": soak.stalled,
        "captured_packets": soak.captured, "traces": soak.traced,
        "first_rate": rates[0], "last_rate": rates[-1], "least_rate": min(rates),
        "greatest_rate": max(rates), "rate_ratio": rates[-1] / rates[0],
        "cpu_rate_ratio": ratio,
        "memory_growth_kb": growth,
        "heap_growth_bytes": heap_growth,
        "checks": checks,
    }


def print_report(report):
    for name, value in report.items():
        if name != "checks":
            form = {float: ",.3f", str: ""}.get(type(value), ",")
            print(f"{name:<18} {value:{form}}")
    for name, holds in report["checks"].items():
        print(f"{'ok' if holds else 'FAILED':<7} {name}")


def run(asked, folder):
    soak = Soak(asked, folder)
    try:
        soak.wait_for_start()
        soak.disturb(time.monotonic() + min(WARM_UP_S, 15 * asked.minutes))
        samples, intervals = [soak.sample()], max(2, round(asked.minutes))
        for number in range(1, intervals + 1):
            soak.disturb(samples[0]["time"] + number * 60 * asked.minutes / intervals)
            samples.append(soak.sample())
            print(f"{number:>5} of {intervals}: {rate(*samples[-2:]) / 1e6:.3f} Mpps, "
                  f"{samples[-1]['resident_kb']} kB, heap {samples[-1]['heap_bytes']}, "
                  f"{soak.swaps} swaps", flush=True)
        return judge(soak, samples, *soak.stop())
    finally:
        if soak.process.poll() is None:
            soak.process.kill()
            soak.process.wait()


def main(arguments=None):
    """Runs the program. Returns its exit status."""
    asked = parse_arguments(arguments)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, contextlib.ExitStack() as stack:
        report = tree.run(asked, stack) if asked.tree else run(asked, pathlib.Path(folder))
    print_report(report)
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(report, indent=2) + "\n")
    return DONE if all(report["checks"].values()) else FAILED


if __name__ == "__main__":
    sys.exit(main())
