# SPDX-License-Identifier: BSD-3-Clause
"""Send a capture of NetFC requests through dpdk-netfc, and show what came out.

Needs dpdk-netfc, a build of it or installed; no NIC, no hugepages, no root.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy

from netfc import capture, protocol
from netfc._native.arrays import Encodings, Values
from netfc._native.libnetfc import Library
from netfc.commands._parser import DONE, FAILED, Parser
from netfc.commands._program import program, uninterrupted
from netfc.errors import LibraryError
from netfc.formats import Format

PROGRAM = "netfc-demo"
# One table set a format at a time: the paper's kind, and the correctly rounded one beside it.
PAPER_SETS = ["fp16_k1024", "bf16_k128", "posit16_k512", "posit16_es2_k256"]
EXACT_SETS = ["fp16_exact"]
SAMPLES = [(3.14159, 2.71828), (1, 1e-3), (-100, 0.07), (1, 3)]
LANES = 20000  # per format and operation
SPEED_SECONDS = 2
COUNTERS = ("rx_packets", "tx_packets", "netfc_packets", "lanes")


def fail(why: object) -> NoReturn:
    """Says why, and ends."""
    print(f"{PROGRAM}: {why}", file=sys.stderr)
    sys.exit(FAILED)


def format_of(set_name: str) -> Format:
    """The format that a table set is for."""
    return Format(re.split("_k|_exact", set_name)[0])


class Case:
    """Requests of one table set and operation, and what became of them."""

    def __init__(self, set_name: str, op: str, operands: Encodings):
        self.set, self.format, self.op = set_name, format_of(set_name), op
        self.x, self.y = operands
        self.z = numpy.zeros_like(self.x)

    def requests(self, first_id: int) -> Iterator[tuple[slice, bytes]]:
        """Payloads of 1 to 243 lanes, and the slices of lanes they hold."""
        sizes = numpy.random.default_rng(2).integers(1, capture.MAX_LANES + 1, LANES)
        start = 0
        for size in sizes:
            lanes = slice(start, min(start + int(size), len(self.x)))
            op = protocol.OPS[self.op]
            yield lanes, protocol.request(
                op, self.format.id, self.x[lanes], self.y[lanes], first_id
            )
            first_id += 1
            start = lanes.stop
            if start == len(self.x):
                return


def make_operands(number_format: Format, rng: numpy.random.Generator) -> Encodings:
    """The samples, then values of either sign whose sizes spread over six orders of magnitude."""
    size = 10 ** rng.uniform(-3, 3, (2, LANES)) * rng.choice([-1, 1], (2, LANES))
    size[:, : len(SAMPLES)] = numpy.array(SAMPLES).T
    return number_format.encode(size)


def wait_until_ready(process: "subprocess.Popen[str]") -> str:
    """Waits until the switch polls or has ended, however long it takes. Returns what it said."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith("Ready"):
            break
    return "".join(said)


def run_switch(
    build: str | None,
    folder: str,
    device: str,
    sets: Sequence[str],
    options: Sequence[str] = (),
    limit: float | None = None,
) -> Any:
    """Run dpdk-netfc on files; returns its final counters.

    limit: seconds after which it is ended, from when it polls; None: it ends by itself.
    """
    stats = os.path.join(folder, "stats.json")
    command = [
        os.path.join(build, "app", "dpdk-netfc") if build else "dpdk-netfc",
        *("--no-huge", "-m", "1024", "--no-pci", "--no-telemetry", "--no-shconf"),
        *("--log-level", "*:error", "--file-prefix", f"netfc-demo-{os.getpid()}"),
        *("--lcores", f"0@{min(os.sched_getaffinity(0))}", f"--vdev=net_pcap0,{device}"),
        *("--", "--tables", ",".join(sets), "--match", "direct", "--stats-json", stats, *options),
    ]
    environment = dict(os.environ)
    environment.setdefault("XDG_RUNTIME_DIR", folder)
    process, said = None, ""
    try:
        with uninterrupted():
            process = subprocess.Popen(  # pylint: disable=consider-using-with
                command,
                env=environment,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        if limit is not None:
            said = wait_until_ready(process)
            time.sleep(limit)
            process.terminate()
        output, _ = process.communicate()
    except OSError as error:
        fail(f"{command[0]}: {error.strerror}")
    finally:
        if process is not None:  # it writes into the folder, which goes next
            process.terminate()
            process.wait()
    if process.returncode != 0:
        fail(f"{said}{output}\ndpdk-netfc failed; its command line was\n  {' '.join(command)}")
    with open(stats, encoding="utf-8") as file:
        return json.load(file)


def compute_in_switch(build: str | None, folder: str, cases: list[Case]) -> Any:
    """Send all requests through a switch and put the replies' results into the cases."""
    frames: list[bytes] = []
    owners: list[tuple[Case, slice]] = []
    for case in cases:
        for lanes, payload in case.requests(len(frames)):
            frames.append(capture.udp_frame(payload))
            owners.append((case, lanes))
    requests, replies = (os.path.join(folder, name) for name in ("requests.pcap", "replies.pcap"))
    capture.write(requests, frames)
    device = f"rx_pcap={requests},tx_pcap={replies}"
    sets = list(dict.fromkeys(case.set for case in cases))
    stats = run_switch(build, folder, device, sets, ["--idle-exit", "200"])
    for frame in capture.read(replies):
        number, status, z = capture.reply(frame)
        if not status & protocol.REPLY or status >> 4 & 7:
            fail(f"request {number} was not computed: status {status:#04x}")
        case, lanes = owners[number]
        case.z[lanes] = z
    return stats


def measure_speed(build: str | None, folder: str) -> list[tuple[int, float]]:
    """Packets and lanes per second with the capture repeated without end and nothing written."""
    results = []
    rng = numpy.random.default_rng(3)
    for lanes in (1, capture.MAX_LANES):
        path = os.path.join(folder, f"speed{lanes}.pcap")
        operands = rng.integers(0, 65536, (1024, 2, lanes))
        capture.write(path, [capture.udp_frame(protocol.request(1, 1, *pair)) for pair in operands])
        device = f"rx_pcap={path},infinite_rx=1"
        stats = run_switch(build, folder, device, PAPER_SETS[:1], limit=SPEED_SECONDS)
        results.append((lanes, stats["tx_packets"] / stats["seconds"]))
    return results


def accuracy(case: Case, library: Library) -> tuple[Values, float]:
    """The paper's accuracy of each lane, and how many lanes are exact, of those that count.

    Lanes whose correctly rounded result is zero or infinite have no relative error.
    """
    expected_bits = case.format.exact(case.op, case.x, case.y, library)
    expected, result = case.format.decode(expected_bits), case.format.decode(case.z)
    counted = numpy.isfinite(expected) & (expected != 0) & numpy.isfinite(result)
    expected, result = expected[counted], result[counted]
    exact = float(numpy.mean(expected_bits[counted] == case.z[counted]))
    return numpy.exp(-numpy.abs((expected - result) / expected)), exact


def exact_value(op: str, x: float, y: float) -> float:
    """x (op) y in real numbers, as near as a double comes."""
    return {"add": x + y, "sub": x - y, "mul": x * y, "div": x / y}[op]


def print_samples(cases: list[Case]) -> None:
    """A line for each sample operation."""
    print(
        f"\n{'table set':16} {'x':>10}   {'y':>10}   {'exact result':>14} {'switch':>12}"
        f" {'error':>10}"
    )
    for case in cases:
        symbol, lane = protocol.SYMBOLS[case.op], list(protocol.OPS).index(case.op)
        x, y, z = (float(case.format.decode(a[lane])) for a in (case.x, case.y, case.z))
        exact = exact_value(case.op, x, y)
        error = abs(z - exact) / abs(exact)
        print(
            f"{case.set:16} {x:>10.5g} {symbol} {y:>10.5g} ={exact:>15.8g}"
            f" {z:>12.6g} {error:>10.4%}"
        )


def print_accuracy(cases: list[Case], library: Library) -> None:
    """A line for each table set and operation, over all lanes."""
    print(
        f"\n{'table set':16} {'op':4} {'lanes':>7} {'average':>10} {'median':>10} {'minimum':>10}"
        f" {'exact':>8}"
    )
    for case in cases:
        values, exact = accuracy(case, library)
        print(
            f"{case.set:16} {case.op:4} {len(values):>7} {values.mean():>10.4%}"
            f" {numpy.median(values):>10.4%} {values.min():>10.4%} {exact:>8.1%}"
        )


def print_packets(runs: list[Any]) -> None:
    """What became of the packets of all runs."""
    total = {name: sum(stats[name] for stats in runs) for name in COUNTERS}
    dropped = sum(sum(stats["drops"].values()) for stats in runs)
    print(
        f"\nThrough the switch: {total['rx_packets']:,} packets in, {total['tx_packets']:,} out,"
        f" {dropped:,} dropped; {total['netfc_packets']:,} requests, {total['lanes']:,} lanes."
    )


@program(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """The program; returns its exit status."""
    parser = Parser(prog=PROGRAM, description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--build", metavar="FOLDER", help="build folder (default: what is installed)"
    )
    build: str | None = parser.parse_args(arguments).build
    try:
        library = Library(build)
    except LibraryError as error:
        fail(error)
    try:
        tempfile.gettempdir()
    except OSError as error:
        fail(f"{error.strerror}; let the environment variable TMPDIR name one")
    rng = numpy.random.default_rng(1)
    sets = PAPER_SETS + EXACT_SETS
    operands = {format_of(name).name: make_operands(format_of(name), rng) for name in PAPER_SETS}
    cases = [Case(name, op, operands[format_of(name).name]) for name in sets for op in protocol.OPS]

    with tempfile.TemporaryDirectory(prefix="netfc-demo-") as folder:
        runs = [
            compute_in_switch(build, folder, [case for case in cases if case.set in loaded])
            for loaded in (PAPER_SETS, EXACT_SETS)
        ]
        print("Floating-point arithmetic from tables and integer additions, in the network.")
        print(f"Table sets: {', '.join(sets)}")
        print_samples(cases)
        print(
            "\nAccuracy is exp(-|error| / |expected|); exact: the share of correctly rounded"
            " results.\nThe sets with k add and subtract rounded logarithms, as the NetFC paper"
            " does, and so come close;\nfp16_exact aligns, adds and rounds significands, so that"
            " every result is correctly rounded."
        )
        print_accuracy(cases, library)
        print_packets(runs)
        for lanes, rate in measure_speed(build, folder):
            print(
                f"Speed, one lcore, {PAPER_SETS[0]} add, {lanes:3} lane{'s' if lanes > 1 else ' '}"
                f" a packet: {rate / 1e6:7.2f} M packets/s, {rate * lanes / 1e6:8.1f} M lanes/s"
            )
    return DONE
