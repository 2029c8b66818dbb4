# SPDX-License-Identifier: BSD-3-Clause
"""BMv2, the reference software switch of P4, where it is installed: what forwarding alone costs it.

It runs bmv2_forward.json, a program without parser and with one table without keys that sends every
packet to port 1, on one core, over capture files, and receives faster than it can forward: what
does not fit into its queues it drops.
"""

import pathlib
import shutil
import subprocess
import time

from benchmark import machine
from benchmark.measure.rounds import summary
from benchmark.peers.polling import processor_clock
from netfc import capture
from programs import CommandError, Process, killed

PROGRAM = "simple_switch"
FORWARD = pathlib.Path(__file__).with_name("bmv2_forward.json")
PACKETS = 100_000
POLL_S = 0.01
SILENCE_S = 0.5  # after which no more packets come
TIMEOUT_S = 300


def installed():
    """Whether there is a BMv2."""
    return shutil.which(PROGRAM) is not None


def _command(folder):
    return [
        *("taskset", "-c", str(machine.polling_cpus(1)[0]), shutil.which(PROGRAM)),
        *("--log-level", "off", "--use-files", "0"),
        *("-i", f"0@{folder}/sent", "-i", f"1@{folder}/forwarded", str(FORWARD)),
    ]


def _moments(process, output, frame_bytes):
    """Packets in the output and the processor time used for them, whenever there were more."""
    record = capture.RECORD.size + frame_bytes
    moments, last = [], time.monotonic()
    while not moments or time.monotonic() - last < SILENCE_S:
        if process.poll() is not None or time.monotonic() - last > TIMEOUT_S:
            raise CommandError(f"{PROGRAM} forwards nothing: {process.args}")
        size = output.stat().st_size if output.exists() else 0
        packets = max(0, size - len(capture.PCAP_HEADER)) // record
        if packets > (moments[-1][0] if moments else 0):
            moments.append((packets, time.clock_gettime(processor_clock(process.pid))))
            last = time.monotonic()
        time.sleep(POLL_S)
    return moments


def _once(folder, frame_bytes):
    """Packets per second of processor time."""
    output = folder / "forwarded_out.pcap"
    output.unlink(missing_ok=True)
    with killed(Process(_command(folder), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL)) as process:
        moments = _moments(process, output, frame_bytes)
    (first, began), (last, ended) = moments[0], moments[-1]
    if last == first:
        raise CommandError(f"{PROGRAM} forwards too few packets to be timed")
    return (last - first) / (ended - began)


def run(bench, frames, rounds):
    """Packets per second, of some rounds; None where it is not installed."""
    if not installed():
        return None
    folder = bench.folder / "bmv2"
    folder.mkdir()
    frames = list(frames)
    capture.write(folder / "sent_in.pcap", frames * (PACKETS // len(frames)))
    capture.write(folder / "forwarded_in.pcap", [])
    rates = [_once(folder, len(frames[0])) for _ in range(rounds)]
    shutil.rmtree(folder)
    return summary(rates)


def sentence(packets, direct):
    """What the report says about it. direct: packets per second of the switch's direct engine."""
    if packets is None:
        return f"BMv2's `{PROGRAM}` is not measured, as it is not installed"
    return (
        f"BMv2's `{PROGRAM}`, which only forwards one-lane packets, on one core: {packets['median']:,.0f} a"
        f" second ({packets['least']:,.0f} to {packets['greatest']:,.0f}), 1/{direct / packets['median']:,.0f} of"
        " `direct`, which computes"
    )
