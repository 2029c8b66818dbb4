# SPDX-License-Identifier: BSD-3-Clause
"""Processes, and whether those of this machine have ended (Linux, proc(5))."""

import contextlib
import dataclasses
import functools
import os
import pathlib
import socket

_ENDED = ("Z", "X")  # zombies, and what they become: killed, and nobody has asked for it


@dataclasses.dataclass(frozen=True)
class Process:
    """machine: what those that see each other's processes share, "" if that is not known.
    started: clock ticks since that machine's start."""

    host: str
    number: int
    machine: str
    started: int

    def __str__(self) -> str:
        return f"host {self.host}, process {self.number}"


def this() -> Process:
    """The calling process."""
    number = os.getpid()
    _, started = _stat(number) or ("", 0)
    return Process(socket.gethostname(), number, _machine(), started)


def has_ended(process: Process) -> bool:
    """Whether it has; False where that cannot be seen from here."""
    if process.machine == "" or process.machine != _machine():
        return False
    now = _stat(process.number)
    return now is None or now[0] in _ENDED or now[1] != process.started


@functools.cache
def _machine() -> str:
    """The kernel's run and the name space of process numbers."""
    with contextlib.suppress(OSError):
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
        return f"{boot.strip()} {os.readlink('/proc/self/ns/pid')}"
    return ""


def _stat(number: int) -> tuple[str, int] | None:
    """State and start of a process; None: there is none."""
    try:
        text = pathlib.Path(f"/proc/{number}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()  # from the third on; the second may have spaces
    return fields[0], int(fields[19])
