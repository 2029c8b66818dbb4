# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks of a process group tell each other through its store: where they are, which job
of the switch is theirs, and what went wrong with whom."""

import contextlib
import dataclasses
import datetime
import itertools
import json
import secrets
import time
from typing import Any

from netfc.torch import process
from netfc.torch.options import Options

_GLANCE = datetime.timedelta(milliseconds=10)
_SLICE_S = 1.0  # of waiting: a store does nothing else for this process meanwhile


@dataclasses.dataclass(frozen=True)
class Place:
    """What rank 0 has chosen for all."""

    token: int
    job: int
    switches: tuple[str, ...]
    slots: int
    chunk_bytes: int | None


class Meeting:
    """The ranks of one process group, and its store (torch.distributed.Store).

    ranks: the numbers of the group's ranks in the default group; [] if it is the default group.
    """

    def __init__(self, store: Any, rank: int, size: int, ranks: list[int], timeout: float):
        self.rank, self.size, self.timeout = rank, size, timeout
        self._store, self._ranks = store, ranks
        self._processes: dict[int, process.Process] = {}
        self._beats = itertools.count()
        # A store may be used for several groups, one after the other.
        self._prefix = f"netfc/{self._store.add(f'netfc/turns/{rank}', 1)}/"

    def agree(self, options: Options) -> Place:
        """Wait for all other ranks; gives the place that rank 0 has chosen.

        Raises ValueError where rank 0 knows no switch, TimeoutError with the missing ranks.
        """
        self.beat()
        self._set(f"here/{self.rank}", dataclasses.asdict(process.this()))
        if self.rank == 0:
            self._set("place", _choose(options))
        end = time.monotonic() + self.timeout
        for rank in range(self.size):
            self._await(f"here/{rank}", end)
            self._processes[rank] = process.Process(**self._get(f"here/{rank}"))
        self._await("place", end)
        chosen = self._get("place")
        if chosen is None:
            raise ValueError(
                "Rank 0 knows no switch: set NETFC_SWITCH to its address, or give"
                " init_process_group() pg_options=netfc.torch.Options(switches=...)"
            )
        switches = options.switches or tuple(chosen["switches"])
        return dataclasses.replace(Place(**chosen), switches=switches)

    def name(self, rank: int) -> str:
        """ "rank 2 (host a, process 1234)", in the default group's numbers."""
        number = f"rank {self._ranks[rank] if self._ranks else rank}"
        where = self._processes.get(rank)
        return f"{number} ({where})" if where else number

    def beat(self) -> None:
        """Tell all others that this rank is alive. Raises RuntimeError if the store is gone."""
        self._set(f"beat/{self.rank}", next(self._beats))

    def beat_of(self, rank: int) -> int:
        """How often another has said so. Raises RuntimeError if the store is gone."""
        return int(self._get(f"beat/{rank}"))

    def has_ended(self, rank: int) -> bool:
        """Whether another's process, on this machine, has ended; of those elsewhere: False."""
        return process.has_ended(self._processes[rank])

    def report(self, what: str) -> None:
        """Tell all others that this rank has failed, and at what."""
        self._set(f"failure/{self.rank}", what)
        self._store.add(self._prefix + f"failed/{self.rank}", 1)
        self._store.add(self._prefix + "failed", 1)

    def has_failed(self) -> bool:
        """Whether any rank has failed. Raises RuntimeError if the store is gone."""
        return int(self._store.add(self._prefix + "failed", 0)) > 0

    def reports(self, patience: float) -> dict[int, str]:
        """What the ranks have reported, once all have or `patience` seconds are over."""
        end = time.monotonic() + patience
        while self._store.add(self._prefix + "failed", 0) < self.size and time.monotonic() < end:
            time.sleep(0.05)
        reported = [
            rank
            for rank in range(self.size)
            if self._store.add(self._prefix + f"failed/{rank}", 0) > 0
        ]
        return {rank: self._get(f"failure/{rank}") for rank in reported}

    def _await(self, key: str, end: float) -> None:
        while True:
            begun = time.monotonic()
            left = min(_SLICE_S, max(0.01, end - begun))
            try:
                self._store.wait([self._prefix + key], datetime.timedelta(seconds=left))
                return
            except RuntimeError as error:
                now = time.monotonic()
                if now - begun < left / 2:
                    raise self._store_error(error) from error
                if now >= end:
                    raise self._missing_error(error) from error

    def _store_error(self, error: RuntimeError) -> ConnectionError:
        return ConnectionError(
            f"{self.name(self.rank)}: the store of the process group does not answer: the process"
            f" that has it, mostly rank 0's, has ended, maybe ({str(error).splitlines()[0]})"
        )

    def _missing_error(self, error: RuntimeError) -> TimeoutError:
        missing = [rank for rank in range(self.size) if not self._is_here(rank)]
        names = ", ".join(map(self.name, missing)) or "nobody"
        return TimeoutError(
            f"{self.name(self.rank)} has waited {self.timeout:.0f} s for the others of its"
            f" process group; missing: {names} ({str(error).splitlines()[0]})"
        )

    def _is_here(self, rank: int) -> bool:
        with contextlib.suppress(RuntimeError):
            self._store.wait([self._prefix + f"here/{rank}"], _GLANCE)
            return True
        return False

    def _set(self, key: str, value: Any) -> None:
        self._store.set(self._prefix + key, json.dumps(value))

    def _get(self, key: str) -> Any:
        return json.loads(self._store.get(self._prefix + key))


def _choose(options: Options) -> dict[str, Any] | None:
    if not options.switches:
        return None
    return {
        "token": secrets.randbits(64) if options.token is None else options.token,
        "job": secrets.choice(options.jobs),
        "switches": options.switches,
        "slots": options.slots,
        "chunk_bytes": options.chunk_bytes,
    }
