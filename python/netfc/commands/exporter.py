# SPDX-License-Identifier: BSD-3-Clause
"""The program that serves the state of a running switch to Prometheus, and as a page."""

import argparse
import ipaddress
import re
import signal
import sys
from collections.abc import Sequence

from netfc import exporter, hosts
from netfc.commands._parser import DONE, FAILED, Parser, add_telemetry_options, telemetry_path
from netfc.commands._program import program

PROGRAM = "netfc-exporter"
LISTEN = "127.0.0.1:9620"
_LISTEN = re.compile(r"(?:(?P<v4>[^:\[\]]+)|\[(?P<v6>[^\]]+)\]):(?P<port>[0-9]+)", re.ASCII)
ENDS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


def listen_address(text: str) -> tuple[str, int]:
    """ADDRESS:PORT, an IPv6 address in brackets, as a pair."""
    found = _LISTEN.fullmatch(text)
    try:
        if found is None or not 1 <= int(found["port"]) <= 65535:
            raise ValueError
        address = found["v4"] or found["v6"]
        if ipaddress.ip_address(address).version != (4 if found["v4"] else 6):
            raise ValueError
    except ValueError as error:
        raise argparse.ArgumentTypeError(
            f"'{text}': expected ADDRESS:PORT, an IPv6 address in brackets"
        ) from error
    return address, int(found["port"])


def host_names(text: str) -> list[str]:
    """NAME[,NAME]... as plain hosts."""
    try:
        return [hosts.plain_host(name) for name in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(
        prog=PROGRAM,
        description="Serve the state of a running switch over HTTP: as a page at /, "
        "to Prometheus at /metrics.",
    )
    add_telemetry_options(parser)
    parser.add_argument(
        "--listen",
        metavar="ADDRESS:PORT",
        type=listen_address,
        default=LISTEN,
        help="where to serve (default %(default)s: this machine only)",
    )
    parser.add_argument(
        "--host",
        metavar="NAME[,NAME]...",
        type=host_names,
        action="extend",
        default=[],
        help="names and addresses that it answers to besides localhost and the address reached: "
        "those that Prometheus and browsers ask for; others get 421",
    )
    return parser.parse_args(arguments)


@program(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program until it is interrupted or terminated. Returns its exit status."""
    asked = parse_arguments(arguments)
    # Before there are threads, which would take them; not those that are ignored, as nohup has it.
    ends = {each for each in ENDS if signal.getsignal(each) != signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    path = telemetry_path(asked)
    address, port = asked.listen
    if exporter.WITHOUT_METRICS:
        print(f"{PROGRAM}: {exporter.WITHOUT_METRICS}", file=sys.stderr)
    try:
        exporter.serve(path, address, port, asked.host)
    except (OSError, ValueError) as error:
        place = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"
        reason = error.strerror if isinstance(error, OSError) else error
        print(f"{PROGRAM}: --listen {place}: {reason}", file=sys.stderr)
        return FAILED
    signal.sigwait(ends)
    return DONE
