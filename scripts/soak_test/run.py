# SPDX-License-Identifier: BSD-3-Clause
"""The switch at full rate for a long time, with swaps and faults: does it stay as it was?

Load is a capture of requests that is received again and again, beside what is not NetFC; every
reply is counted by the switch. Meanwhile table sets are swapped, packets captured and traced, wrong
commands given, clients connect and stall, and every minute the counters, the memory and the rate
are written down.
"""

import contextlib
import itertools
import json
import os
import pathlib
import random
import signal
import socket
import sys
import tempfile
import time

import numpy

from command import CommandLine, write_json
from netfc import FORMATS, ControlError, capture, protocol
from netfc.control import Control
from netfc.telemetry import Telemetry
from programs import running
from soak_test import tree, watch

WRONG_USAGE, FAILED = 1, 2
SETS = ("fp16_k1024", "fp16_k512", "fp16_k1024_floor")
OTHERS = ("bf16_k128", "posit16_k512")
WRONG_COMMANDS = ({"command": "tables", "sets": "fp99_k1"}, {"command": "fly"},
                  {"command": "set", "name": "ageing", "value": -1}, {"command": "add"})
SWAP_S = 1.0
WARM_UP_S = 10  # what is allocated once is there then; less in short runs
MIN_RATE = 0.95  # of the last minute to the first
LANES = 16
UNKNOWN_OP = 99


def parsed():
    """The command line."""
    parser = CommandLine("soak", __doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, least=0.1, most=100_000, default=60, help="how long (default %(default)s)")
    parser.add_argument("--match", choices=["lpm", "hash", "direct"], default="direct")
    parser.add_argument("--tree", action="store_true", help="instead: two leaves and a root that "
                        "aggregate, while workers and leaves are killed and started again. Root")
    return parser, parser.parse_args()


# ---- load ------------------------------------------------------------------------------------


def request(draw, number, op=None):
    """The payload of one; op: its number, by default one of the four."""
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

    def __init__(self, stack, asked, folder):
        self._draw = random.Random(8)
        self._folder = folder
        self.swaps = self.refused = self.stalled = self.captured = self.traced = 0
        capture.write(folder / "in", load(self._draw))
        self._control_path = folder / "control"
        prefix = f"soak-{os.getpid()}"
        self._telemetry_path = folder / "dpdk" / prefix / "dpdk_telemetry.v2"
        self.process = stack.enter_context(running(
            asked.build / "app" / "dpdk-netfc", "--no-huge", "-m", "1024", "--no-pci",
            "-l", max(os.sched_getaffinity(0)), "--file-prefix", prefix,
            f"--vdev=net_pcap0,rx_pcap={folder}/in,infinite_rx=1",
            "--", "--match", asked.match, "--tables", SETS[0],
            "--control", self._control_path, "--stats-json", folder / "stats",
            log=folder / "log", env={**os.environ, "RUNTIME_DIRECTORY": str(folder)},
            begun=lambda: self._control_path.exists() and self._telemetry_path.exists()))

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
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as client, \
                contextlib.suppress(OSError):
            client.connect(str(self._telemetry_path))
            for _ in range(50):
                client.send(b"/netfc/stats", socket.MSG_DONTWAIT)
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
            return {"time": time.monotonic(), "lcore_seconds": lcore_seconds(self.process),
                    **{name: stats[name] for name in ("rx_packets", "lanes", "mbufs_in_use")},
                    **watch.held(self.process, telemetry)}

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
    growth, held = watch.growth(samples[0], samples[-1])
    accounted = sum([stats["tx_packets"], *stats["taken_up"].values(), *stats["drops"].values()])
    checks = {
        "exit status 0": status == 0,
        "every packet accounted for": accounted == stats["rx_packets"] + stats["copies"],
        "no packet buffer leaked": stats["mbufs_leaked"] == 0, **held,
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
        "cpu_rate_ratio": ratio, **growth, "checks": checks,
    }


def print_report(report):
    """Human-readable lines."""
    for name, value in report.items():
        if name != "checks":
            form = {float: ",.3f", str: ""}.get(type(value), ",")
            print(f"{name:<18} {value:{form}}")
    for name, holds in report["checks"].items():
        print(f"{'ok' if holds else 'FAILED':<7} {name}")


def run(asked, stack):
    """The report."""
    folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
    soak = Soak(stack, asked, folder)
    soak.disturb(time.monotonic() + min(WARM_UP_S, 15 * asked.minutes))
    samples, intervals = [soak.sample()], max(2, round(asked.minutes))
    for number in range(1, intervals + 1):
        soak.disturb(samples[0]["time"] + number * 60 * asked.minutes / intervals)
        samples.append(soak.sample())
        print(f"{number:>5} of {intervals}: {rate(*samples[-2:]) / 1e6:.3f} Mpps, "
              f"{samples[-1]['resident_kb']} kB, heap {samples[-1]['heap_bytes']}, "
              f"{soak.swaps} swaps", flush=True)
    return judge(soak, samples, *soak.stop())


def main():
    """Runs the program. Returns its exit status."""
    parser, asked = parsed()
    with parser.told(), contextlib.ExitStack() as stack:
        report = (tree if asked.tree else sys.modules[__name__]).run(asked, stack)
    print_report(report)
    write_json(asked.json, report, indent=2)
    return 0 if all(report["checks"].values()) else FAILED


if __name__ == "__main__":
    sys.exit(main())
