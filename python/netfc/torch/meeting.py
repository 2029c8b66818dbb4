# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks of a process group tell each other through its store: where they are, which job
of the switch is theirs, and what went wrong with whom."""

import dataclasses
import json
import os
import secrets
import time
from typing import Any

import torch.distributed as dist

from netfc.torch import process
from netfc.torch.leaves import Leaf, leaf_of
from netfc.torch.options import MIN_SLOTS, SLOTS, Options

_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.002, 0.1  # between two looks into the store


@dataclasses.dataclass(frozen=True)
class Place:
    """What rank 0 has chosen for all, and this rank's own switch."""

    token: int
    job: int
    switches: tuple[str, ...]
    slots: int
    least_slots: int
    chunk_bytes: int | None
    leaf: Leaf


@dataclasses.dataclass(frozen=True)
class Sign:
    """A rank's heartbeat: how many it has sent, and its latest call: its number and name.

    0 is joining, -1 nothing.
    """

    beat: int = 0
    calls: int = -1
    call: str = "nothing"


class Meeting:
    """The ranks of one process group, and its store (torch.distributed.Store).

    ranks: the numbers of the group's ranks in the default group; [] if it is the default group.
    """

    def __init__(self, store: Any, rank: int, size: int, ranks: list[int], timeout: float):
        self.rank, self.size, self.timeout = rank, size, timeout
        self._store, self._ranks = store, ranks
        self._processes: dict[int, process.Process] = {}
        self._sign = Sign()
        # A store may be used for several groups, one after the other.
        self._prefix = f"netfc/{self._store.add(f'netfc/turns/{rank}', 1)}/"

    def agree(self, options: Options) -> Place:
        """Wait for all other ranks; gives the place that rank 0 has chosen.

        Ranks with another switch than others make a tree, see leaf_of().
        Raises ValueError where rank 0 knows no switch, or there are too many ranks for a switch;
        TimeoutError with the missing ranks.
        """
        self.beat(self._sign.calls, self._sign.call)
        here: dict[str, Any] = {
            "process": dataclasses.asdict(process.this()),
            "switches": options.switches,
        }
        self._announce(f"here/{self.rank}", here)
        if self.rank == 0:
            self._announce("place", _choose(options))
        self._gather("here", "came")
        named = []
        for rank in range(self.size):
            here = self._get(f"here/{rank}")
            self._processes[rank] = process.Process(**here["process"])
            named.append(here["switches"])
        self._await("place", "here", "came", time.monotonic() + self.timeout)
        chosen = self._get("place")
        if chosen is None:
            raise ValueError(
                "Rank 0 knows no switch: set NETFC_SWITCH to its address, or give"
                " init_process_group() pg_options=netfc.torch.Options(switches=...)"
            )
        switches = [tuple(own or chosen["switches"]) for own in named]
        leaf = leaf_of(self.rank, switches)
        return Place(**(chosen | {"switches": switches[self.rank], "leaf": leaf}))

    def gather(self, call: str) -> None:
        """Wait for all other ranks to call that, their first. Raises as agree() does."""
        self.beat(0, call)
        self._announce(f"called/{self.rank}", call)
        self._gather("called", "called its first collective")

    def name(self, rank: int) -> str:
        """ "rank 2 (host a, process 1234)", in the default group's numbers."""
        number = f"rank {self.number(rank)}"
        where = self._processes.get(rank)
        return f"{number} ({where})" if where else number

    def number(self, rank: int) -> int:
        """Of a rank, in the default group."""
        return self._ranks[rank] if self._ranks else rank

    def beat(self, calls: int, call: str) -> None:
        """Tell all others that this rank is alive, and what it has called.

        Raises RuntimeError if the store is gone.
        """
        self._sign = Sign(self._sign.beat + 1, calls, call)
        self._set(f"beat/{self.rank}", dataclasses.asdict(self._sign))

    def sign_of(self, rank: int) -> Sign:
        """Another rank's latest heartbeat. Raises RuntimeError if the store is gone."""
        return Sign(**self._get(f"beat/{rank}"))

    def has_ended(self, rank: int) -> bool:
        """Whether another's process, on this machine, has ended; of those elsewhere: False."""
        return process.has_ended(self._processes[rank])

    def report(self, what: str) -> None:
        """Tell all others that this rank has failed, and in which call."""
        self._announce(f"failure/{self.rank}", what)
        self._store.add(self._prefix + "failed", 1)

    def has_failed(self) -> bool:
        """Whether any rank has failed. Raises RuntimeError if the store is gone."""
        return int(self._store.add(self._prefix + "failed", 0)) > 0

    def reports(self, patience: float) -> dict[int, str]:
        """What the ranks have reported, once all that run have or `patience` seconds are over."""
        end = time.monotonic() + patience
        while not self._all_have_reported() and time.monotonic() < end:
            time.sleep(0.05)
        reported = filter(self._has_reported, range(self.size))
        return {rank: self._get(f"failure/{rank}") for rank in reported}

    def _all_have_reported(self) -> bool:
        """Or have ended."""
        ended = [rank for rank in range(self.size) if self.has_ended(rank)]
        count = int(self._store.add(self._prefix + "failed", 0))
        if count + len(ended) < self.size:
            return False
        return count + sum(not self._has_reported(rank) for rank in ended) >= self.size

    def _has_reported(self, rank: int) -> bool:
        return self._is_there(f"failure/{rank}")

    def _gather(self, folder: str, what: str) -> None:
        """Wait until all ranks have set their key there."""
        end = time.monotonic() + self.timeout
        for rank in range(self.size):
            self._await(f"{folder}/{rank}", folder, what, end)
        if self._have_given_up(folder):
            raise self._missing_error(folder, what)

    def _await(self, key: str, folder: str, what: str, end: float) -> None:
        pause = _FIRST_PAUSE_S
        try:
            while not self._is_there(key):
                if time.monotonic() >= end or self._have_given_up(folder):
                    raise self._missing_error(folder, what)
                self._check_processes()
                time.sleep(pause)
                pause = min(2 * pause, _LAST_PAUSE_S)
        except RuntimeError as error:
            raise self._store_error(error) from error

    def _check_processes(self) -> None:
        ended = [rank for rank in self._processes if self.has_ended(rank)]
        if ended:
            names = ", ".join(map(self.name, ended))
            raise ProcessLookupError(f"the process of {names} has ended")

    def _store_error(self, error: RuntimeError) -> ConnectionError:
        return ConnectionError(
            f"{self.name(self.rank)}: the store of the process group does not answer: the process"
            f" that has it, mostly rank 0's, has ended, maybe ({str(error).splitlines()[0]})"
        )

    def _have_given_up(self, folder: str) -> bool:
        """Whether the others' waits have timed out: they will not go on."""
        return int(self._store.add(self._prefix + f"{folder}/given_up", 0)) > 0

    def _missing_error(self, folder: str, what: str) -> TimeoutError:
        self._store.add(self._prefix + f"{folder}/given_up", 1)
        missing = [rank for rank in range(self.size) if not self._is_there(f"{folder}/{rank}")]
        text = ""
        if missing[:1] == [0] and len(missing) > 1 and _is_held_by_rank_0(self._store):
            del missing[0]  # its store waits for all ranks before anything else
            text = "; rank 0 waits in the store that it has"
        names = ", ".join(map(self.name, missing)) or "nobody, but too late"
        return TimeoutError(
            f"not all ranks of the process group {what} within the timeout of {self.timeout:g} s;"
            f" missing: {names}{text}"
        )

    def _announce(self, key: str, value: Any) -> None:
        """Set a key that others wait for.

        They look at a counter: TCPStore.wait(), once timed out, leaves its request in torch 1.13's
        server, whose late reply is then taken for the next request's.
        """
        self._set(key, value)
        self._store.add(self._prefix + f"{key}/set", 1)

    def _is_there(self, key: str) -> bool:
        """Whether a rank has announced the key. Raises RuntimeError if the store is gone."""
        return int(self._store.add(self._prefix + f"{key}/set", 0)) > 0

    def _set(self, key: str, value: Any) -> None:
        self._store.set(self._prefix + key, json.dumps(value))

    def _get(self, key: str) -> Any:
        return json.loads(self._store.get(self._prefix + key))


def _is_held_by_rank_0(store: Any) -> bool:
    """Whether rank 0's process is the TCP server."""
    while isinstance(store, dist.PrefixStore):
        store = store.underlying_store
    by_agent = os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True"
    return isinstance(store, dist.TCPStore) and not by_agent


def _choose(options: Options) -> dict[str, Any] | None:
    if not options.switches:
        return None
    slots = SLOTS if options.slots is None else options.slots
    return {
        "token": secrets.randbits(64) if options.token is None else options.token,
        "job": secrets.choice(options.jobs),
        "switches": options.switches,
        "slots": slots,
        # Who knows its jobs beforehand gives the same again.
        "least_slots": 1 if options.token is not None else min(slots, MIN_SLOTS),
        "chunk_bytes": options.chunk_bytes,
    }
