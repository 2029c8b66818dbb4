# SPDX-License-Identifier: BSD-3-Clause
"""What the ranks of a process group tell each other through its store: where they are, which job
of the switch is theirs, and what went wrong with whom."""

import dataclasses
import json
import os
import threading
import time
from typing import Any

import torch.distributed as dist

from netfc.allreduce import AllreduceError, draw_token
from netfc.torch import process
from netfc.torch.jobs import Jobs, none_left
from netfc.torch.leaves import Leaf, leaf_of
from netfc.torch.options import FURTHER_SLOTS, MIN_SLOTS, SLOTS, Options

_FIRST_PAUSE_S, _LAST_PAUSE_S = 0.002, 0.1  # between two looks into the store
# Sequences of collectives, which have a job each: the program's, and those of its callbacks.
CALLS, CALLBACKS = 0, 1
_FIRST_CALL = ("called its first collective", "reduced in a callback")
NO_SWITCH = (
    "Rank 0 knows no switch: set NETFC_SWITCH to its address, or give init_process_group()"
    " pg_options=netfc.torch.Options(switches=...)"
)
NEAR = 16  # ranks that are asked, or quoted: a store has no time for all pairs of thousands


@dataclasses.dataclass(frozen=True)
class Place:
    """What rank 0 has chosen for all, and this rank's own switch. local: all ranks are on one
    machine, and are to reduce there."""

    token: int
    job: int
    switches: tuple[str, ...]
    slots: int
    least_slots: int
    chunk_bytes: int | None
    local: bool
    leaf: Leaf


@dataclasses.dataclass(frozen=True)
class Sign:
    """A rank's heartbeat: how many it has sent, and its latest call in each sequence: number and
    name. 0 is joining, -1 nothing."""

    beat: int = 0
    calls: tuple[tuple[int, str], ...] = ((-1, "nothing"),) * 2

    def __str__(self) -> str:
        names = [name for number, name in self.calls if number >= 0]
        return " and ".join(names) or "nothing"


@dataclasses.dataclass(frozen=True)
class Report:
    """What a rank says of its failure.

    call: what has failed. why: as its error says it. status: as in AllreduceError, or "". culprit:
    the rank whose fault it is, in the group, if this one has found that out by itself; None: it has
    not.
    """

    call: str
    why: str
    status: str = ""
    culprit: int | None = None

    def __str__(self) -> str:
        return f"{self.call}: {self.why}"


class Meeting:
    """The ranks of one process group, and its store (torch.distributed.Store).

    ranks: the numbers of the group's ranks in the default group; [] if it is the default group.
    """

    def __init__(self, store: Any, rank: int, size: int, ranks: list[int], timeout: float):
        self.rank, self.size, self.timeout = rank, size, timeout
        self._store, self._ranks, self._jobs = store, ranks, Jobs(store)
        self._processes: dict[int, process.Process] = {}
        self._sign = Sign()
        self._beats = threading.Lock()  # of each sequence's watch
        self._has_reported = False
        # A store may be used for several groups, one after the other.
        self._prefix = f"netfc/{self._store.add(f'netfc/turns/{rank}', 1)}/"

    def again(self) -> "Meeting":
        """Another of the same ranks, after this one. Raises RuntimeError if the store is gone."""
        return Meeting(self._store, self.rank, self.size, self._ranks, self.timeout)

    def agree(self, options: Options, next_call: str = "") -> Place:
        """Wait for all other ranks; gives the place that rank 0 has chosen.

        Ranks with another switch than others make a tree, see leaf_of(). next_call: what this rank
        calls then, which has to be the same for all.
        Raises ValueError where it is not, ranks need a switch and rank 0 knows none, or there are
        too many ranks for a switch; TimeoutError with the missing ranks.
        """
        self.beat(CALLS, *self._sign.calls[CALLS])
        here: dict[str, Any] = {
            "process": dataclasses.asdict(process.this()),
            "switches": options.switches,
            "next": next_call,
        }
        self._announce(f"here/{self.rank}", here)
        if self.rank == 0:
            self._announce("place", self._choose(options))
        self._gather("here", "came")
        named, calls = [], []
        for rank in range(self.size):
            here = self._get(f"here/{rank}")
            self._processes[rank] = process.Process(**here["process"])
            named.append(here["switches"])
            calls.append(here["next"])
        self._check_calls(calls)
        chosen = self._chosen("place")
        switches = [tuple(own or chosen["switches"]) for own in named]
        leaf = leaf_of(self.rank, switches)
        chosen["local"] &= len(leaf.leaves) == 1 and self._is_one_machine()
        if not chosen["local"] and not chosen["switches"]:
            raise ValueError(f"{NO_SWITCH}. {self._why_needed(named)}")
        own: dict[str, Any] = {"switches": switches[self.rank], "leaf": leaf}
        return Place(**(chosen | own))

    def offer(self, sequence: int, path: str) -> None:
        """Tell all others of the file whose memory is to be shared; "": there is none."""
        self._announce(f"memory{sequence}", path)

    def offered(self, sequence: int) -> str:
        """What rank 0 has offered. Raises as agree() does."""
        self._await(f"memory{sequence}", "here", "came", time.monotonic() + self.timeout)
        return str(self._get(f"memory{sequence}"))

    def exchange(self, folder: str, text: str) -> list[str]:
        """All ranks' texts. Raises as agree() does."""
        self._announce(f"{folder}/{self.rank}", text)
        self._gather(folder, "came")
        return [str(self._get(f"{folder}/{rank}")) for rank in range(self.size)]

    def gather(self, sequence: int, call: str) -> None:
        """Wait for all other ranks to call that, their first. Raises as agree() does."""
        self.beat(sequence, 0, call)
        self._announce(f"called{sequence}/{self.rank}", call)
        self._gather(f"called{sequence}", _FIRST_CALL[sequence])

    def confirm(self) -> None:
        """Wait until all other ranks have joined, too. Raises as agree() does, and AllreduceError
        if one of them has failed."""
        self._announce(f"joined/{self.rank}", True)
        self._gather("joined", "joined the job")

    def further(self, place: Place, options: Options) -> Place:
        """That of callbacks' collectives, of which rank 0 has chosen token, job and slots.

        Raises ValueError where it has no job number left.
        """
        if self.rank == 0:
            slots = min(place.slots, FURTHER_SLOTS)
            self._announce("further", self._choose(dataclasses.replace(options, slots=slots)))
        own = {"switches": place.switches, "local": place.local}
        return dataclasses.replace(place, **(self._chosen("further") | own))

    def end(self) -> None:
        """The jobs have ended: others may have their numbers. Raises RuntimeError if the store is
        gone."""
        self._jobs.give_back()

    def name(self, rank: int) -> str:
        """ "rank 2 (host a, process 1234)", in the default group's numbers."""
        number = f"rank {self.number(rank)}"
        where = self._processes.get(rank)
        return f"{number} ({where})" if where else number

    def number(self, rank: int) -> int:
        """Of a rank, in the default group."""
        return self._ranks[rank] if self._ranks else rank

    @property
    def others(self) -> list[int]:
        """All ranks but this one."""
        return [rank for rank in range(self.size) if rank != self.rank]

    @property
    def near(self) -> list[int]:
        """The next ranks, whose next are others: all are asked by some."""
        return [(self.rank + more) % self.size for more in range(1, min(self.size, NEAR + 1))]

    def beat(self, sequence: int, number: int, call: str) -> None:
        """Tell all others that this rank is alive, and what it has called.

        Raises RuntimeError if the store is gone.
        """
        with self._beats:
            calls = list(self._sign.calls)
            calls[sequence] = (number, call)
            self._sign = Sign(self._sign.beat + 1, tuple(calls))
            self._set(f"beat/{self.rank}", dataclasses.asdict(self._sign))

    def sign_of(self, rank: int) -> Sign:
        """Another rank's latest heartbeat. Raises RuntimeError if the store is gone."""
        told = self._get(f"beat/{rank}")
        return Sign(told["beat"], tuple((number, name) for number, name in told["calls"]))

    def has_ended(self, rank: int) -> bool:
        """Whether another's process, on this machine, has ended; of those elsewhere: False."""
        return process.has_ended(self._processes[rank])

    def report(self, report: Report) -> None:
        """Tell all others that this rank has failed. Once: the first counts. Those that name a
        culprit are what the others want to know first."""
        if self._has_reported:
            return
        self._has_reported = True
        for folder in ("failure",) if report.culprit is None else ("named", "failure"):
            index = self._store.add(f"{self._prefix}{folder}/next", 1)
            self._announce(f"{folder}/{index}", [self.rank, dataclasses.asdict(report)])
        self._store.add(self._prefix + "failed", 1)

    def has_failed(self) -> bool:
        """Whether any rank has failed. Raises RuntimeError if the store is gone."""
        return self._failures() > 0

    def first_failure(self) -> str:
        """The status that the first rank to fail has reported, the same for all who ask; "" if none
        has. Raises RuntimeError if the store is gone."""
        return str(self._get("failure/1")[1]["status"]) if self._is_there("failure/1") else ""

    def reports(self, patience: float, culprit: bool = False) -> dict[int, Report]:
        """What the ranks have reported, NEAR of them at most and who names a culprit first,
        once all that run have or `patience` seconds are over. culprit: or once one is named."""
        end = time.monotonic() + patience
        while not self._enough_have_reported() and time.monotonic() < end:
            if culprit and self._is_there("named/1"):
                break
            time.sleep(0.05)
        return self._reported()

    def _reported(self) -> dict[int, Report]:
        reports: dict[int, Report] = {}
        for folder in ("named", "failure"):
            for index in range(1, NEAR + 2):
                if len(reports) <= NEAR and self._is_there(f"{folder}/{index}"):
                    rank, report = self._get(f"{folder}/{index}")
                    reports.setdefault(rank, Report(**report))
        return reports

    def _is_one_machine(self) -> bool:
        machines = {where.machine for where in self._processes.values()}
        return len(machines) == 1 and "" not in machines

    def _why_needed(self, named: list[list[str]]) -> str:
        """Why the ranks need a switch, which rank 0 does not name. named: by each rank."""
        for rank, switches in enumerate(named):
            if switches:
                return f"{self.name(rank)} uses switch {', '.join(switches)}."
        return "Only ranks on one machine need none."

    def _check_calls(self, calls: list[str]) -> None:
        """Raises ValueError if they are not the same."""
        if len(set(calls)) > 1:
            each = ", ".join(f"{self.name(rank)} with {call}" for rank, call in enumerate(calls))
            raise ValueError(f"the ranks go on with different calls: {each}")

    def _enough_have_reported(self) -> bool:
        """Or have ended."""
        ended = set(filter(self.has_ended, self._processes))
        failures = self._failures()
        if failures + len(ended) < self.size:
            return False
        return failures + len(ended.difference(self._reported())) >= self.size

    def _failures(self) -> int:
        return int(self._store.add(self._prefix + "failed", 0))

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
                if self.has_failed():
                    raise AllreduceError("Another rank has failed.", "aborted", None, None)
                time.sleep(pause)
                pause = min(2 * pause, _LAST_PAUSE_S)
        except RuntimeError as error:
            raise self._store_error(error) from error

    def _check_processes(self) -> None:
        ended = [rank for rank in self._processes if self.has_ended(rank)]
        if ended:
            names = ", ".join(map(self.name, ended))
            raise ProcessLookupError(f"the process of {names} has ended")

    def _choose(self, options: Options) -> dict[str, Any]:
        """What rank 0 announces; "error": why there is nothing to choose."""
        local = not options.switches if options.local is None else options.local
        if not options.switches and not local:
            return {"error": NO_SWITCH}
        job = self._jobs.draw(options.jobs) if options.switches else 0
        if job is None:
            return {"error": none_left(options.jobs)}
        slots = SLOTS if options.slots is None else options.slots
        return {
            "token": draw_token() if options.token is None else options.token,
            "job": job,
            "switches": options.switches,
            "slots": slots,
            # Who knows its jobs beforehand gives the same again.
            "least_slots": 1 if options.token is not None else min(slots, MIN_SLOTS),
            "chunk_bytes": options.chunk_bytes,
            "local": local,
        }

    def _chosen(self, key: str) -> dict[str, Any]:
        """What rank 0 has chosen there. Raises ValueError if it could not."""
        self._await(key, "here", "came", time.monotonic() + self.timeout)
        chosen: dict[str, Any] = self._get(key)
        if "error" in chosen:
            raise ValueError(chosen["error"])
        return chosen

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
