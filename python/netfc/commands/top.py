# SPDX-License-Identifier: BSD-3-Clause
"""The command line of the terminal view."""

import argparse
import contextlib
import curses
import math
import os
import random
import struct
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

from netfc import protocol, snapshot
from netfc.client import Client
from netfc.commands import _top_view
from netfc.commands._parser import DONE, FAILED, Parser, add_telemetry_options, real, telemetry_path
from netfc.commands._program import program
from netfc.errors import ClientError, TelemetryError

PROGRAM = "netfc-top"
SAMPLE_LANES = 200
MIN_INTERVAL = 0.1
QUITS = (ord("q"), 27)  # Escape

DESCRIPTION = """\
Watch a running switch: rates, drops, the load of lcores, ports. With --server, also the accuracy
of a sample of fp16 additions and multiplications that are sent to it, compared with the CPU's.
Press q to quit."""


def interval(text: str) -> float:
    """Seconds between views."""
    seconds = real(text)
    if not MIN_INTERVAL <= seconds <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}': expected {MIN_INTERVAL} to 3600 seconds")
    return seconds


def server_address(text: str) -> str:
    """What there may be a switch at."""
    if not text:
        raise argparse.ArgumentTypeError("'': expected an address")
    return text


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = Parser(prog=PROGRAM, description=DESCRIPTION)
    add_telemetry_options(parser)
    parser.add_argument(
        "--interval",
        metavar="S",
        type=interval,
        default=1,
        help="seconds between views (default %(default)s)",
    )
    parser.add_argument(
        "--server",
        metavar="IP",
        type=server_address,
        help="the switch's --address, to send samples to",
    )
    parser.add_argument("--once", action="store_true", help="print one view and end")
    return parser.parse_args(arguments)


class Sampler:
    """Has the switch compute, and compares with the CPU."""

    def __init__(self, server: str | None, port: int = protocol.UDP_PORT):
        self._server, self._port, self._draw = server, port, random.Random()

    def measure(self) -> str | None:
        """What to say of a sample; None without a server."""
        if self._server is None:
            return None
        x, y = ([self._draw.uniform(0.01, 100) for _ in range(SAMPLE_LANES)] for _ in "xy")
        try:
            with Client(self._server, self._port) as client:
                said = [
                    (f"{name} {accuracy(got, map(exact, as_fp16(x), as_fp16(y))):.3f}%")
                    for name, got, exact in (
                        ("add", client.add(x, y), lambda a, b: a + b),
                        ("mul", client.mul(x, y), lambda a, b: a * b),
                    )
                ]
        except (ClientError, OSError) as error:
            return f"no sample: {error}"
        return f"{', '.join(said)} of {SAMPLE_LANES} lanes, against the CPU"


def as_fp16(numbers: Iterable[float]) -> list[float]:
    """Numbers as fp16 has them."""
    return [struct.unpack("e", struct.pack("e", number))[0] for number in numbers]


def accuracy(results: Iterable[float], exact: Iterable[float]) -> float:
    """The mean over lanes of exp(-|error| / |exact|), in percent (paper, section V)."""
    ratios = [math.exp(-abs((float(got) - right) / right)) for got, right in zip(results, exact)]
    return 100 * sum(ratios) / len(ratios)


def show_once(path: str | os.PathLike[str], seconds: float, sampler: Sampler) -> None:
    """Prints one view. Raises TelemetryError, also where the switch was started again meanwhile."""
    before = snapshot.take(path)
    time.sleep(seconds)
    after = snapshot.take(path)
    if not snapshot.is_one_run(before, after):
        raise TelemetryError(f"{path}: the switch was started again meanwhile: ask again")
    print("\n".join(_top_view.lines(before, after, sampler.measure())))


def draw(screen: Any, view: list[str]) -> None:
    """Fills the screen with as much of a view as fits."""
    screen.erase()
    height, width = screen.getmaxyx()
    for row, line in enumerate(view[:height]):
        known = line.encode(screen.encoding, "replace").decode(screen.encoding)
        screen.addnstr(row, 0, known, width - 1)
    screen.refresh()


def show_always(
    screen: Any, path: str | os.PathLike[str], seconds: float, sampler: Sampler
) -> None:
    """Refreshes until q; goes on when the switch starts again."""
    with contextlib.suppress(curses.error):  # of terminals that cannot hide it
        curses.curs_set(0)
    before = None
    while True:
        view, before = next_view(path, before, seconds, sampler)
        if is_left(screen, view, seconds):
            return


def next_view(
    path: str | os.PathLike[str],
    before: snapshot.Snapshot | None,
    seconds: float,
    sampler: Sampler,
) -> tuple[list[str], snapshot.Snapshot | None]:
    """What to show, and the snapshot that the next view begins with."""
    try:
        after = snapshot.take(path)
    except TelemetryError as error:
        return [str(error)], None
    if before is None or not snapshot.is_one_run(before, after):
        return [f"The first rates come in {seconds:g} s; q quits."], after
    return list(_top_view.lines(before, after, sampler.measure())), after


def is_left(screen: Any, view: list[str], seconds: float) -> bool:
    """Shows a view for that long, whatever its size becomes; whether the user quits."""
    end = time.monotonic() + seconds
    while True:
        draw(screen, view)
        screen.timeout(max(0, math.ceil(1000 * (end - time.monotonic()))))
        key = screen.getch()
        if key in QUITS or time.monotonic() >= end:
            return key in QUITS


def why_no_screen() -> str:
    """Why there can be no view that refreshes; empty if there can."""
    if not sys.stdin.isatty() or not sys.stdout.isatty():
        return "this is not a terminal"
    try:
        curses.setupterm()
    except curses.error:
        return f"the terminal '{os.environ.get('TERM', '')}' (TERM) is not known here"
    if not curses.tigetstr("cup"):
        return f"the terminal '{os.environ.get('TERM', '')}' (TERM) cannot move its cursor"
    return ""


@program(PROGRAM)
def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit status."""
    asked = parse_arguments(arguments)
    path = telemetry_path(asked)
    sampler = Sampler(asked.server)
    reason = "" if asked.once else why_no_screen()
    if reason:
        print(f"{PROGRAM}: {reason}; --once prints one view", file=sys.stderr)
        return FAILED
    try:
        snapshot.take(path)  # before a screen hides what is wrong
        if asked.once:
            show_once(path, asked.interval, sampler)
        else:
            with contextlib.suppress(KeyboardInterrupt):
                curses.wrapper(show_always, path, asked.interval, sampler)
    except TelemetryError as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return FAILED
    return DONE
