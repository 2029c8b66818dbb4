# SPDX-License-Identifier: BSD-3-Clause
"""Which switch each rank of a process group uses, and the tree that these make."""

import dataclasses
from collections.abc import Sequence

from netfc.aggregation import UDP_PORT, Place
from netfc.allreduce import AllreduceError

MAX_MEMBERS = 64  # of a switch


@dataclasses.dataclass(frozen=True)
class Leaf:
    """A rank's switch, or the switches that share its load, among those of all ranks.

    leaves: of each, the ranks that use it, least ranks first. index: the one that is meant.
    """

    leaves: tuple[tuple[int, ...], ...]
    index: int
    rank: int

    @property
    def ranks(self) -> tuple[int, ...]:
        """Those that use this one: worker 0 of it, worker 1, ..."""
        return self.leaves[self.index]

    @property
    def worker(self) -> int:
        """This rank's number there."""
        return self.ranks.index(self.rank)

    @property
    def place(self) -> Place | None:
        """Below the parent of all; None: there is one switch only, and no parent."""
        if len(self.leaves) == 1:
            return None
        return Place(((len(self.leaves), self.index),), sum(map(len, self.leaves)))

    def named(self, error: AllreduceError) -> AllreduceError:
        """The error with the number of the rank in place of the worker's, and who is meant."""
        if len(self.leaves) == 1:
            return error
        worker, leaf, text = error.worker, error.leaf, str(error)
        if worker is not None and worker < len(self.ranks):
            worker = self.ranks[worker]
            text = f"{text} It is rank {worker} of the group."
        if leaf is not None and leaf < len(self.leaves):
            ranks = ", ".join(map(str, self.leaves[leaf]))
            text = f"{text} Its ranks in the group are {ranks}."
        return AllreduceError(text, error.status, worker, error.switch, leaf)


def leaf_of(rank: int, switches: Sequence[Sequence[str]]) -> Leaf:
    """A rank's, with the addresses of each rank's switch, or of those that share its load.

    Raises ValueError for more ranks than a switch has workers, or more switches than a parent has
    members.
    """
    by_switch: dict[tuple[str, ...], list[int]] = {}
    for each, addresses in enumerate(switches):
        by_switch.setdefault(tuple(map(_plain, addresses)), []).append(each)
    for addresses, ranks in by_switch.items():
        if len(ranks) > MAX_MEMBERS:
            raise ValueError(
                f"{len(ranks)} ranks use {_named(addresses)}, and a switch, or one machine, adds up"
                f" {MAX_MEMBERS} at most: let some use another one below the same parent"
                " (NETFC_SWITCH, docs/trees.md)"
            )
    if len(by_switch) > MAX_MEMBERS:
        raise ValueError(
            f"The ranks use {len(by_switch)} switches, and a parent has {MAX_MEMBERS} at most"
        )
    leaves = tuple(tuple(ranks) for ranks in by_switch.values())
    index = next(index for index, ranks in enumerate(leaves) if rank in ranks)
    return Leaf(leaves, index, rank)


def _named(addresses: tuple[str, ...]) -> str:
    return f"switch {', '.join(addresses)}" if addresses else "no switch"


def _plain(address: str) -> str:
    """An address that has the usual port is the one without."""
    has_port = address.count(":") == 1 or "]:" in address
    return address.removesuffix(f":{UDP_PORT}") if has_port else address
