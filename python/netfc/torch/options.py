# SPDX-License-Identifier: BSD-3-Clause
"""A process group's options for the switch, from the environment or from the program."""

import dataclasses
import os
import re
from collections.abc import Mapping
from typing import Self

JOBS = range(1 << 16)
TOKENS = range(1 << 64)
SLOTS = 128  # of a process's first group
FURTHER_SLOTS = 32  # of its others: a switch has 512 for all, by default
MIN_SLOTS = 8  # with fewer it is better to wait until other jobs end
JOIN_TIMEOUT_S = 60.0
SILENCE_S = 30.0


@dataclasses.dataclass(frozen=True)
class Options:
    """Options of a process group: init_process_group("netfc", pg_options=Options(...)).

    switches: addresses as netfc.allreduce takes them; () for ranks other than 0: those of rank 0.
    jobs: job numbers to draw from, 0 to 65535; those of two trainings at a time must not overlap
      where there are few. token: the job's secret, for switches that know their jobs beforehand;
      None: one that rank 0 draws. slots: chunks in flight for each switch, a power of two; None:
      128 for the first process group of rank 0's process, 32 for further ones. A switch that has
      fewer left gives fewer. chunk_bytes: of values in a packet; None: what fits 1500 bytes. jobs,
      token, slots and chunk_bytes are those of rank 0 for all.
    local: whether a group whose ranks are all on one machine reduces there, without a switch; None:
      if no switch is named. That of rank 0 for all.
    bind_address, interface: what this rank sends from.
    join_timeout: seconds for joining once all ranks are there, the group's time-out at most.
    silence: seconds without a sign of life after which a switch, a rank on another machine or the
      store is taken for gone by those who wait for it; half the group's time-out at most.
    """

    switches: tuple[str, ...] = ()
    jobs: range = JOBS
    token: int | None = None
    slots: int | None = None
    chunk_bytes: int | None = None
    bind_address: str | None = None
    interface: str | None = None
    join_timeout: float = JOIN_TIMEOUT_S
    silence: float = SILENCE_S
    local: bool | None = None

    def __post_init__(self) -> None:
        inside = len(self.jobs) > 0 and self.jobs[0] in JOBS and self.jobs[-1] in JOBS
        if not inside:
            raise ValueError(f"jobs are {self.jobs}: give a range of numbers from 0 to 65535")
        if self.token is not None and self.token not in TOKENS:
            raise ValueError(f"token is {self.token}: give a number of 64 bits")
        if not self.silence >= 1:
            raise ValueError(f"silence is {self.silence} s: give 1 or more")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Self:
        """NETFC_SWITCH, _JOB, _TOKEN, _SLOTS, _CHUNK_BYTES, _BIND_ADDRESS, _INTERFACE,
        _JOIN_TIMEOUT, _SILENCE and _LOCAL.

        NETFC_SWITCH is a list with commas; NETFC_JOB a number or two, "100-119"; NETFC_TOKEN a
        number, "0x12" or "18". Raises ValueError with the variable's name.
        """
        environment = os.environ if environment is None else environment
        value = {name: environment.get("NETFC_" + name.upper()) or None for name in _VARIABLES}
        bytes_text, slots_text = value["chunk_bytes"], value["slots"]
        return cls(
            switches=tuple(filter(None, map(str.strip, (value["switch"] or "").split(",")))),
            jobs=_jobs(value["job"]),
            token=_token(value["token"]),
            slots=None if slots_text is None else _number("slots", slots_text),
            chunk_bytes=None if bytes_text is None else _number("chunk_bytes", bytes_text),
            bind_address=value["bind_address"],
            interface=value["interface"],
            join_timeout=_number("join_timeout", value["join_timeout"] or str(int(JOIN_TIMEOUT_S))),
            local=_truth("local", value["local"]),
            silence=_seconds("silence", value["silence"] or str(int(SILENCE_S))),
        )


_VARIABLES = (
    *("switch", "job", "token", "slots", "chunk_bytes"),
    *("bind_address", "interface", "join_timeout", "silence", "local"),
)


def _number(name: str, text: str) -> int:
    if not re.fullmatch("[0-9]+", text):
        raise ValueError(f"NETFC_{name.upper()} is '{text}': give a whole number")
    return int(text)


def _seconds(name: str, text: str) -> int:
    if _number(name, text) == 0:
        raise ValueError(f"NETFC_{name.upper()} is '{text}': give 1 or more seconds")
    return int(text)


def _truth(name: str, text: str | None) -> bool | None:
    if text not in (None, "0", "1"):
        raise ValueError(f"NETFC_{name.upper()} is '{text}': give 0 or 1")
    return None if text is None else text == "1"


def _token(text: str | None) -> int | None:
    if text is None:
        return None
    token = int(text, 0) if re.fullmatch("0[xX][0-9a-fA-F]+|0|[1-9][0-9]*", text) else -1
    if token not in TOKENS:
        raise ValueError("NETFC_TOKEN is not a 64-bit number: give one, '0x12' or '18'")
    return token


def _jobs(text: str | None) -> range:
    if text is None:
        return JOBS
    parts = re.fullmatch("([0-9]{1,5})(?:-([0-9]{1,5}))?", text)
    jobs = range(int(parts[1]), int(parts[2] or parts[1]) + 1) if parts else range(0)
    if not jobs or jobs[-1] not in JOBS:
        raise ValueError(f"NETFC_JOB is '{text}': give a number, 0 to 65535, or two: '100-119'")
    return jobs
