# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the terminal view."""

import argparse
import curses
import math
import random
import struct
import sys
import time

import netfc_snapshot
import netfc_telemetry
import protocol
import top_view
from netfc_channel import ClientError
from netfc_client import Client

PROGRAM = "netfc-top"
DONE, WRONG_USAGE, FAILED = 0, 1, 2
SAMPLE_LANES = 200
LEAST_INTERVAL = 0.1

DESCRIPTION = """\
Watch a running switch: rates, drops, the load of lcores, ports. With --server, also the accuracy
of a sample of fp16 additions and multiplications that are sent to it, compared with the CPU's.
q ends it."""


class Parser(argparse.ArgumentParser):
    """Ends with the exit status of all programs here when the usage is wrong."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(WRONG_USAGE, f"{PROGRAM}: {message}\n")


def interval(text):
    seconds = float(text)
    if not LEAST_INTERVAL <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}': expected {LEAST_INTERVAL} to 3600 seconds")
    return seconds


def parse_arguments(arguments):
    parser = Parser(prog=PROGRAM, description=DESCRIPTION)
    parser.add_argument("--file-prefix", metavar="PREFIX", default=netfc_telemetry.FILE_PREFIX,
                        help="the switch's (default %(default)s)")
    parser.add_argument("--telemetry", metavar="PATH",
                        help="the telemetry socket, instead of that of --file-prefix")
    parser.add_argument("--interval", metavar="S", type=interval, default=1,
                        help="seconds between views (default %(default)s)")
    parser.add_argument("--server", metavar="IP", help="the switch's --address, to send samples to")
    parser.add_argument("--once", action="store_true", help="print one view and end")
    return parser.parse_args(arguments)


class Sampler:
    """Has the switch compute, and compares with the CPU."""

    def __init__(self, server, port=protocol.UDP_PORT):
        self._server, self._port, self._draw = server, port, random.Random()

    def measure(self):
        """What to say of a sample; None without a server."""
        if self._server is None:
            return None
        x, y = ([self._draw.uniform(0.01, 100) for _ in range(SAMPLE_LANES)] for _ in "xy")
        try:
            with Client(self._server, self._port) as client:
                said = [(f"{name} {accuracy(got, map(exact, as_fp16(x), as_fp16(y))):.3f}%")
                        for name, got, exact in (
                            ("add", client.add(x, y), lambda a, b: a + b),
                            ("mul", client.mul(x, y), lambda a, b: a * b))]
        except (ClientError, OSError) as error:
            return f"no sample: {error}"
        return f"{', '.join(said)} of {SAMPLE_LANES} lanes, against the CPU"


def as_fp16(numbers):
    """Numbers as fp16 has them."""
    return [struct.unpack("e", struct.pack("e", number))[0] for number in numbers]


def accuracy(results, exact):
    """The mean over lanes of exp(-|error| / |exact|), in percent (paper, section V)."""
    ratios = [math.exp(-abs((float(got) - right) / right)) for got, right in zip(results, exact)]
    return 100 * sum(ratios) / len(ratios)


def show_once(path, seconds, sampler):
    before = netfc_snapshot.take(path)
    time.sleep(seconds)
    print("\n".join(top_view.lines(before, netfc_snapshot.take(path), sampler.measure())))


def draw(screen, view):
    screen.erase()
    height, width = screen.getmaxyx()
    for row, line in enumerate(view[:height]):
        screen.addnstr(row, 0, line, width - 1)
    screen.refresh()


def show_always(screen, path, seconds, sampler):
    """Refreshes until q; goes on when the switch starts again."""
    curses.curs_set(0)
    screen.timeout(int(1000 * seconds))
    before = None
    while screen.getch() not in (ord("q"), 27):
        try:
            after = netfc_snapshot.take(path)
        except netfc_telemetry.TelemetryError as error:
            before = None
            draw(screen, [str(error)])
            continue
        if before is not None and after.stats["seconds"] >= before.stats["seconds"]:
            draw(screen, list(top_view.lines(before, after, sampler.measure())))
        before = after


def main(arguments=None):
    """Runs the program. Returns its exit status."""
    asked = parse_arguments(arguments)
    path = asked.telemetry or netfc_telemetry.socket_path(asked.file_prefix)
    sampler = Sampler(asked.server)
    try:
        if asked.once:
            show_once(path, asked.interval, sampler)
        else:
            curses.wrapper(show_always, path, asked.interval, sampler)
    except netfc_telemetry.TelemetryError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        pass
    return DONE
