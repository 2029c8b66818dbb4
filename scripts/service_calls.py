# SPDX-License-Identifier: BSD-3-Clause
"""System calls that a running switch makes, by kind of port, beside those that its unit allows. Root."""

import contextlib
import os
import pathlib
import re
import tempfile
import time

import programs
from command import ROOT, CommandLine, head, row, write_json
from namespaces import Host, join
from netfc import capture, protocol
from netfc.telemetry import Telemetry

UNIT = ROOT / "packaging" / "dpdk-netfc.service"
SWITCH_ADDRESS = "10.1.0.100"
PATIENCE_S = 300
# The device, in a folder, and whether the other end of a pair is the host's.
PORTS = {
    "TAP": ("net_tap0,iface=eth0", False),
    "AF_PACKET": ("net_af_packet0,iface=p0", True),
    "AF_XDP": ("net_af_xdp0,iface=p0", True),
    "vhost": ("net_vhost0,iface={folder}/vhost", False),
    "memif": ("net_memif0,role=server,socket={folder}/memif", False),
    "file": ("net_pcap0,rx_pcap={folder}/in,tx_pcap={folder}/out", False),
}
WITHOUT_UNIT = ("AF_XDP",)  # which gives them too few rights, whatever its filter
# What the switch does without where it is refused.
NOT_NEEDED = {"iopl": "DPDK's PCI bus asks for I/O ports, and does without"}


def filter_groups():
    """System calls by group, as systemd has them; groups in groups begin with @."""
    groups, name = {}, None
    for line in programs.command("systemd-analyze", "syscall-filter").splitlines():
        if line.startswith("@"):
            name = line.strip()
            groups[name] = set()
        elif name and line.startswith("    ") and not line.lstrip().startswith("#"):
            groups[name].add(line.strip())
    return groups


def allowed_by(unit, groups):
    """What the filter of a unit lets pass."""
    allowed = set()
    for names in re.findall(r"^SystemCallFilter=([^~].*)$", unit, re.MULTILINE):
        waiting = names.split()
        while waiting:
            one = waiting.pop()
            waiting += groups[one] if one.startswith("@") else ()
            allowed.add(one)
    return {one for one in allowed if not one.startswith("@")}


def calls(lines):
    """Names of the system calls in what strace -f has written."""
    return {found[1] for line in lines if (found := re.match(r"\d+ +(\w+)\(", line))}


@contextlib.contextmanager
def _place(paired):
    """A host, and the namespace in which the switch runs."""
    with Host(0) as host, Host(1) as middle:
        if paired:
            join(middle, 0, host)
            host.configure()
        yield host, middle if paired else host


def _use(folder, host, on_network, prefix):
    """What is asked of a switch: answers, its state, another table set, a capture."""
    if on_network:
        host.run("ping", "-c", "3", "-W", "20", SWITCH_ADDRESS)
    with Telemetry(folder / "dpdk" / prefix / "dpdk_telemetry.v2") as telemetry:
        telemetry.ask("/netfc/stats")
    for words in (["show"], ["capture", "start", folder / "x.pcapng"], ["tables", "fp16_k512"],
                  ["log", "pmd.*", "notice"], ["capture", "stop"], ["stop"]):
        programs.command(ROOT / "python" / "bin" / "netfc-ctl", "--socket", folder / "control", *words,
                         patience=PATIENCE_S)
        time.sleep(0.5)  # sleeps, and is woken


def measure(build, port):
    """System calls until a switch is ready, and those after that."""
    device, paired = PORTS[port]
    prefix = f"calls-{os.getpid()}"
    with tempfile.TemporaryDirectory(prefix="netfc-") as name, _place(paired) as (host, inside):
        folder = pathlib.Path(name)
        capture.write(folder / "in", [capture.udp_frame(protocol.request(0, 1, [0], [0], 1))])
        trace, log = folder / "trace", folder / "log"
        words = ["strace", "-D", "-f", "-q", "-o", trace, build / "app" / "dpdk-netfc",
                 *programs.no_huge(256), "--no-pci", "--file-prefix", prefix, "--lcores", programs.any_cpu(1),
                 f"--vdev={device.format(folder=folder)}", "--", "--match", "direct",
                 "--control", folder / "control", "--address", f"{SWITCH_ADDRESS}/24"]
        with programs.running(*inside.inside(*words), log=log, patience=PATIENCE_S,
                              begun=lambda: "Ready" in log.read_text(),
                              env={**os.environ, "RUNTIME_DIRECTORY": str(folder)}) as process:
            at_start = len(trace.read_text(errors="replace").splitlines())
            if port == "TAP":
                host.configure()
            _use(folder, host, paired or port == "TAP", prefix)
            process.wait(PATIENCE_S)
            end = re.compile(rf"^{process.pid} +\+\+\+ (exited|killed) ", re.MULTILINE)
            programs.wait_until(lambda: end.search(trace.read_text(errors="replace")), "strace does not end",
                                patience=PATIENCE_S)
        lines = trace.read_text(errors="replace").splitlines()
        return calls(lines[:at_start]), calls(lines[at_start:])


def check(parser, options):
    """The kinds, one by one."""
    for kind in options.kinds:
        if kind not in PORTS:
            parser.error(f"no kind of port {kind}: {', '.join(PORTS)}")


def parsed():
    """The command line."""
    parser = CommandLine("system-calls", __doc__, check)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"of port: {', '.join(PORTS)} (all of them)")
    options = parser.parse_args()
    options.kinds = options.kinds or list(PORTS)
    parser.programs(options.build, "dpdk-netfc")
    return parser, options


def print_table(options, allowed):
    """A row for each kind of port; yields them."""
    print(head("port", "at start", "at work", "of the latter, only for this port", "refused"), flush=True)
    found = {kind: measure(options.build, kind) for kind in options.kinds}
    for kind, (start, work) in found.items():
        common = set().union(*(other for name, (_, other) in found.items() if name != kind))
        refused = (start | work) - allowed
        print(row(kind, len(start), len(work), *(", ".join(sorted(names)) or "none"
                                                 for names in (work - common, refused))), flush=True)
        yield {"port": kind, "start": sorted(start), "work": sorted(work), "refused": sorted(refused)}


def main():
    """Print the table; exit status 1 where the filter refuses what is needed."""
    parser, options = parsed()
    with parser.in_namespaces():
        allowed = allowed_by(UNIT.read_text(encoding="utf-8"), filter_groups())
        rows = list(print_table(options, allowed))
        write_json(options.json, rows)
    needed = {one["port"]: set(one["refused"]) - set(NOT_NEEDED) for one in rows
              if one["port"] not in WITHOUT_UNIT}
    missing = [f"{port}: {', '.join(sorted(names))}" for port, names in needed.items() if names]
    if missing:
        parser.fail(f"the filter of {UNIT.name} refuses what is needed by {'; '.join(missing)}")


if __name__ == "__main__":
    main()
