# SPDX-License-Identifier: BSD-3-Clause
"""Drive dpdk-netfc with Pktgen-DPDK over virtio-user and vhost, without hugepages or root.

replay: 1,024 requests, once; every reply is checked to the bit.
load: the same requests for ten seconds, as fast as they go; the switch's counters are shown.

Needs Pktgen-DPDK (23.03 and 23.06 build against DPDK 22.11) and a build of dpdk-netfc.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import numpy

from command import CommandLine, write_json
from netfc import OPS, Library, NetfcError, TableSet, capture, protocol
from programs import CommandError, any_cpu, running

HERE = pathlib.Path(__file__).parent

REQUESTS = 1024  # as many as replay.pkt sends and a queue of virtio-user holds
START_SECONDS = 10
PKTGEN_SECONDS = 60


def most_lanes(number_format):
    """Lanes that fit into a request."""
    return capture.MAX_LANES * 16 // number_format.bits


def parsed():
    """The command line, and the table set that it names."""
    parser = CommandLine("pktgen/netfc-pktgen", __doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("what", choices=["replay", "load"])
    parser.add_argument("--pktgen", default="pktgen", help="the program (default: in the PATH)")
    parser.add_argument("--tables", default="fp16_k1024", help="table set (default: fp16_k1024)")
    parser.add_argument("--op", choices=OPS, default="add")
    parser.add_argument("--lanes", type=int, default=1, help="per request, 1 to 243 of 16 bits (default: 1)")
    arguments = parser.parse_args()
    try:
        table_set = TableSet(arguments.tables, Library(arguments.build))
    except NetfcError as error:
        parser.error(f"--tables: {error}")
    if arguments.lanes > most_lanes(table_set.format):
        parser.error(f"--lanes {arguments.lanes}: expected 1 to {most_lanes(table_set.format)}")
    if shutil.which(arguments.pktgen) is None:
        parser.error(f"--pktgen {arguments.pktgen}: not found; docs/pktgen.md says how to get it")
    return parser, arguments, table_set


def make_requests(arguments, number_format, path):
    """Write the capture that Pktgen sends; returns the operands by request."""
    rng = numpy.random.default_rng(1)
    operands = rng.integers(0, 1 << number_format.bits, (REQUESTS, 2, arguments.lanes))
    operands = operands.astype(number_format.encodings)
    op = OPS[arguments.op]
    capture.write(path, [capture.udp_frame(protocol.request(op, number_format.id, x, y, number))
                         for number, (x, y) in enumerate(operands)])
    return operands


def run_switch(arguments, folder):
    """The switch on a vhost socket, while Pktgen runs; its final counters."""
    socket, log = folder / "vhost", folder / "switch.log"
    with running(
            arguments.build / "app" / "dpdk-netfc", "--no-huge", "-m", 256, "--no-pci",
            "--no-telemetry",
            *("--file-prefix", f"netfc-{os.getpid()}", "--lcores", any_cpu(1)),
            f"--vdev=net_vhost0,iface={socket}", "--", "--tables", arguments.tables, "--match",
            "direct",
            *("--stats-json", folder / "stats.json"),
            log=log, begun=socket.exists, patience=START_SECONDS) as switch:
        run_pktgen(arguments, folder, socket)
        switch.send_signal(signal.SIGINT)
        if switch.wait() != 0:
            raise CommandError(f"dpdk-netfc ended with status {switch.returncode}")
    return json.loads((folder / "stats.json").read_text(encoding="utf-8"))


def run_pktgen(arguments, folder, socket):
    """Run Pktgen to its end; it wants a terminal, which script(1) gives it."""
    command = " ".join([
        arguments.pktgen, "--no-huge", "-m", "2048", "--no-pci", "--no-telemetry",
        "--lcores", "'(0-1)@(0-1)'", "--file-prefix", f"pktgen-{os.getpid()}",
        f"--vdev=net_virtio_user0,path={socket},queue_size={REQUESTS}",
        "--", "-P", "-m", "1.0", "-s", "0:requests.pcap", "-f",
        str(HERE / f"{arguments.what}.pkt")])
    result = subprocess.run(["script", "-qec", command, folder / "pktgen.log"], cwd=folder,
                            check=False,
                            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                            timeout=PKTGEN_SECONDS)
    if result.returncode != 0:
        raise CommandError(f"pktgen failed with status {result.returncode}; see what it prints: {command}")


def check_replies(op, table_set, folder, operands):
    """How many replies Pktgen captured, and how many of them are wrong in any bit of z."""
    captures = list(folder.glob("pktgen-*.pcap"))
    if not captures:
        raise CommandError("pktgen wrote no capture: was 'enable 0 pcap' needed in this version?")
    frames = capture.read(captures[0])
    wrong = 0
    for frame in frames:
        number, status, z = capture.reply(frame)
        expected = table_set.compute(op, *operands[number])
        wrong += status & 0xF0 != protocol.REPLY or not numpy.array_equal(z, expected)
    return len(frames), wrong


def main():
    """The command line."""
    parser, arguments, table_set = parsed()
    with tempfile.TemporaryDirectory(prefix="netfc-pktgen-") as folder, parser.told():
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        folder = pathlib.Path(folder)
        operands = make_requests(arguments, table_set.format, folder / "requests.pcap")
        stats = run_switch(arguments, folder)
        print(f"switch: {stats['rx_packets']:,} packets received, {stats['tx_packets']:,} sent,"
              f" {sum(stats['drops'].values()):,} dropped, {stats['lanes']:,} lanes computed")
        write_json(arguments.json, stats)
        if arguments.what == "load":
            return
        count, wrong = check_replies(arguments.op, table_set, folder, operands)
        print(f"pktgen: {count:,} of {REQUESTS:,} replies captured, {wrong:,} wrong")
        if count != REQUESTS or wrong:
            parser.fail("not every reply came, and was right")


if __name__ == "__main__":
    main()
