# SPDX-License-Identifier: BSD-3-Clause
"""Which samples are a unit, and which rank has which units."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from netfc.torch.invariant.randoms import ORDER, seed_of

Deal = Callable[[int, int, int], Sequence[int]]


def in_turn(_step: int, units: int, ranks: int) -> list[int]:
    """The rank of each unit of a step."""
    return [unit % ranks for unit in range(units)]


class UnitSampler:
    """A batch sampler for torch.utils.data.DataLoader: a unit's samples at a time, of this rank's
    units, step by step.

    samples: of the data set. unit: samples of a unit. units: of a step; an epoch's last step may
    have fewer. seed: of the order of samples, and of all that is drawn while a unit is computed.
    shuffle: another order each epoch. drop_last: leave out the samples that do not fill a unit;
    else they are an error.
    deal: gives the rank of each unit, of a step's number, how many units it has, and how many ranks
    there are; any will do, if all ranks have the same. None: in turn.
    check: each so many steps, each rank computes one of another's units as well, and both are
    compared; 0: never.

    step counts steps from the beginning of the training; rank and ranks are set by Training. Raises
    ValueError for what is out of range.
    """

    def __init__(
        self,
        samples: int,
        unit: int,
        units: int,
        seed: int = 0,
        *,
        shuffle: bool = True,
        drop_last: bool = False,
        deal: Deal = in_turn,
        check: int = 0,
    ):
        if min(samples, unit, units) < 1 or check < 0 or not -(1 << 63) <= seed < 1 << 63:
            raise ValueError(
                f"samples {samples}, unit {unit}, units {units}: give 1 or more; check {check}:"
                f" give 0 or more; seed {seed}: give one of 64 bits"
            )
        if samples < unit or (samples % unit and not drop_last):
            raise ValueError(
                f"{samples} samples are {samples // unit} units of {unit}, and {samples % unit} are"
                " left: give a unit that divides them, or drop_last=True"
            )
        self.samples, self.unit, self.units, self.seed = samples, unit, units, seed
        self.shuffle, self.deal, self.check = shuffle, deal, check
        self.step, self.rank, self.ranks = 0, 0, 1
        self._order: tuple[int, Any] = (-1, None)

    @property
    def steps_per_epoch(self) -> int:
        """Steps in which each sample is used once."""
        return -(-(self.samples // self.unit) // self.units)

    @property
    def epoch(self) -> int:
        """Of the next step."""
        return self.step // self.steps_per_epoch

    def units_of(self, step: int) -> int:
        """How many a step has, of all ranks."""
        before = step % self.steps_per_epoch * self.units
        return min(self.units, self.samples // self.unit - before)

    def dealt(self, step: int) -> list[list[int]]:
        """Each rank's units of a step. Raises ValueError if they are dealt out wrongly."""
        count = self.units_of(step)
        ranks = list(self.deal(step, count, self.ranks))
        if len(ranks) != count or any(not 0 <= rank < self.ranks for rank in ranks):
            raise ValueError(
                f"step {step}: deal() has given {ranks}: give a rank, 0 to {self.ranks - 1}, for"
                f" each of {count} units"
            )
        return [
            [unit for unit, rank in enumerate(ranks) if rank == own] for own in range(self.ranks)
        ]

    def checked(self, step: int) -> list[int | None]:
        """The unit that each rank computes for another, or again if there is no other."""
        if not self.check or step % self.check:
            return [None] * self.ranks
        dealt = self.dealt(step)
        others = [[*dealt[rank + 1 :], *dealt[: rank + 1]] for rank in range(self.ranks)]
        return [next(units[0] for units in one if units) for one in others]

    def own(self, step: int) -> list[int]:
        """What this rank computes: a unit to check, if there is one, and its own."""
        check = self.checked(step)[self.rank]
        return ([] if check is None else [check]) + self.dealt(step)[self.rank]

    def indices(self, step: int, unit: int) -> list[int]:
        """The samples of a unit of a step."""
        epoch, place = divmod(step, self.steps_per_epoch)
        first = (place * self.units + unit) * self.unit
        if not self.shuffle:
            return list(range(first, first + self.unit))
        if self._order[0] != epoch:
            draw = torch.Generator().manual_seed(seed_of(self.seed, epoch, ORDER))
            self._order = (epoch, torch.randperm(self.samples, generator=draw))
        return list(self._order[1][first : first + self.unit].tolist())

    def end_of_epoch(self) -> int:
        """The number of the next epoch's first step."""
        return (self.epoch + 1) * self.steps_per_epoch

    def __iter__(self) -> Iterator[list[int]]:
        for step in range(self.step, self.end_of_epoch()):
            for unit in self.own(step):
                yield self.indices(step, unit)

    def __len__(self) -> int:
        return sum(len(self.own(step)) for step in range(self.step, self.end_of_epoch()))

    def units_as_text(self) -> str:
        """What units are: all that bits depend on."""
        return (
            f"{self.samples} samples, {self.units} units of {self.unit}, seed {self.seed},"
            f" shuffle {self.shuffle}"
        )

    def __repr__(self) -> str:
        return f"{self.units_as_text()}, check {self.check}"
