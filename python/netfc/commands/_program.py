# SPDX-License-Identifier: BSD-3-Clause
"""How each program here starts and ends: with standard streams, and with its output written."""

import contextlib
import functools
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import TextIO, cast

from netfc.commands._parser import FAILED

Main = Callable[[Sequence[str] | None], int]


def program(name: str) -> Callable[[Main], Main]:
    """Makes a main() end with a message and status 2 where its output cannot be written, and
    without a word where a signal ends it: all that do are a KeyboardInterrupt to it."""

    def decorate(main: Main) -> Main:
        @functools.wraps(main)
        def run(arguments: Sequence[str] | None = None) -> int:
            came: list[int] = []
            # Not those that are ignored, as nohup has it.
            ends = [
                each
                for each in (signal.SIGTERM, signal.SIGHUP)
                if signal.getsignal(each) == signal.SIG_DFL
            ]

            def interrupt(number: int, _: object) -> None:
                came.append(number)
                if len(came) == 1:  # terminals that close, and systemd, send two
                    raise KeyboardInterrupt

            for each in ends:
                signal.signal(each, interrupt)
            _open_streams()
            try:
                try:
                    return main(arguments)
                finally:
                    sys.stdout.flush()
            except KeyboardInterrupt:
                return 128 + (came or [signal.SIGINT])[0]
            except OSError as error:
                if error.filename is not None:  # no standard stream
                    raise
                is_gone = isinstance(error, FileNotFoundError)  # says os.getcwd() alone
                what = "the current folder" if is_gone else "cannot write to standard output"
                print(f"{name}: {what}: {error.strerror}", file=sys.stderr)
                _drop_output()
                return FAILED
            finally:
                for each in ends if not came else []:
                    signal.signal(each, signal.SIG_DFL)

        return run

    return decorate


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals that have handlers come after this block: what it starts has a name by then."""
    came: list[tuple[int, FrameType | None]] = []

    def keep(number: int, frame: FrameType | None) -> None:
        came.append((number, frame))

    before = {}
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        handler = signal.getsignal(each)
        if callable(handler):
            before[int(each)] = handler
            signal.signal(each, keep)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in came:
            before[number](number, frame)


def _open_streams() -> None:
    """Those that whoever has started the program has closed: what is done to them is an error, but
    no other file takes their place. What a name has that they have no letters for is escaped."""
    for number, access in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, access)  # the least number that is free
    if sys.stdin is None:
        sys.stdin = _stream(0, "r")
    if sys.stdout is None:
        sys.stdout = _stream(1, "w")
    if sys.stderr is None:
        sys.stderr = _stream(2, "w")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _stream(number: int, mode: str) -> TextIO:
    # pylint: disable-next=consider-using-with
    return cast(TextIO, open(number, mode, encoding="utf-8", closefd=False))


def _drop_output() -> None:
    """What is left of it: Python would complain of that again at its end."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, 1)
    os.close(devnull)
