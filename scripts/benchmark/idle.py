# SPDX-License-Identifier: BSD-3-Clause
"""What an idle switch takes of a core, and how soon it answers after a silence, by kind of port. Root."""

import contextlib
import os
import pathlib
import re
import statistics
import tempfile
import time

import programs
from command import CommandLine, head, row, write_json
from namespaces import Host, join

SWITCH_ADDRESS = "10.1.0.100"
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# What it is called, the device, and whether another end of a pair is the host's.
PORTS = {
    "TAP": ("net_tap0,iface=eth0", False),
    "AF_PACKET": ("net_af_packet0,iface=p0", True),
}
MODES = {"sleeping": [], "`--poll`": ["--poll"]}


def _processor_seconds(process):
    """In the program and in the kernel."""
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def _share(process, seconds):
    """Of a core, over so many seconds."""
    began, before = time.monotonic(), _processor_seconds(process)
    time.sleep(seconds)
    return (_processor_seconds(process) - before) / (time.monotonic() - began)


def _first_answers_us(host, options):
    """Of pings with a silence before each; no one else answers."""
    for _ in range(options.answers):
        time.sleep(options.silence)
        said = host.run("ping", "-c", "1", "-W", "10", SWITCH_ADDRESS)
        yield 1000 * float(re.search(r"time=([\d.]+) ms", said)[1])


@contextlib.contextmanager
def _running(options, port, mode, folder):
    """The switch at a host's interface; yields its process and the host."""
    device, paired = PORTS[port]
    with Host(0) as host, Host(1) as middle:
        inside = middle if paired else host
        if paired:
            join(middle, 0, host)
            host.configure()
        log = folder / "switch"
        words = programs.eal("idle", programs.no_huge(256), programs.any_cpu(1), f"--vdev={device}",
                             "--", "--match", "direct", "--address", f"{SWITCH_ADDRESS}/24")
        with programs.running(*inside.inside(options.build / "app" / "dpdk-netfc", *words,
                                             *MODES[mode]),
                              log=log, begun=lambda: "Ready" in log.read_text()) as process:
            if not paired:
                host.configure()
            yield process, host


def measure(options, port, mode, folder):
    """A core's share while idle, and the microseconds of the first answers after a silence."""
    with _running(options, port, mode, folder) as (process, host):
        host.run("ping", "-c", "1", "-W", "10", SWITCH_ADDRESS)
        time.sleep(1)
        return {"share": _share(process, options.seconds),
                "answers_us": list(_first_answers_us(host, options))}


def parsed():
    """The command line."""
    parser = CommandLine("bench idle", __doc__)
    parser.add_argument("--seconds", type=float, default=10, help="of idleness (%(default)s)")
    parser.add_argument("--answers", type=int, default=50, help="after a silence (%(default)s)")
    parser.add_argument("--silence", type=float, least=0, default=1, help="seconds of each (%(default)s)")
    options = parser.parse_args()
    parser.programs(options.build, "dpdk-netfc")
    return parser, options


def print_table(options):
    """A row for each kind of port and mode; yields them."""
    print(f"Load of the machine: {os.getloadavg()[0]:.1f}, {os.cpu_count()} CPUs")
    print(head("port", "mode", "of a core, idle", f"first answer after {options.silence:g} s, us: median",
               "least", "greatest"), flush=True)
    for port in PORTS:
        for mode in MODES:
            with tempfile.TemporaryDirectory(prefix="netfc-") as folder:
                found = measure(options, port, mode, pathlib.Path(folder))
            times = found["answers_us"]
            print(row(port, mode, f"{100 * found['share']:.1f} %",
                      *(f"{say(times):,.0f}" for say in (statistics.median, min, max))), flush=True)
            yield {"port": port, "mode": mode, **found}


def main():
    """Print the table."""
    parser, options = parsed()
    with parser.in_namespaces():
        write_json(options.json, list(print_table(options)))


if __name__ == "__main__":
    main()
