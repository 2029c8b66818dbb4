# SPDX-License-Identifier: BSD-3-Clause
"""A model's buffers, such as BatchNorm's running means: each unit begins with those of the step,
and the step ends with the exact mean of what units have made of them."""

from typing import Any

import torch
from torch import nn

from netfc.torch.invariant.agreement import Ranks
from netfc.torch.invariant.sums import FORMATS, Sums

_INTEGERS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)


def _bits(tensor: Any) -> Any:
    return tensor.detach().contiguous().reshape(-1).view(torch.uint8)


class Buffers:
    """Of a model, by name."""

    def __init__(self, model: nn.Module):
        self._places = [
            (f"{prefix}.{name}" if prefix else name, module, name)
            for prefix, module in model.named_modules()
            for name, buffer in module._buffers.items()  # pylint: disable=protected-access
            if buffer is not None
        ]
        self.names = [name for name, _, _ in self._places]
        self._own: list[Any] = []
        self._before: list[Any] = []
        self._units: list[dict[int, Any]] = []

    def __iter__(self) -> Any:
        return iter(zip(self.names, self._now()))

    def begin_step(self) -> None:
        """What is in them now is what each unit begins with."""
        self._own = self._now()
        self._before = [buffer.detach().clone() for buffer in self._own]
        self._units = []

    def end_unit(self, counts: bool) -> None:
        """Keep what the unit has changed, if it counts, and restore it."""
        changed: dict[int, Any] = {}
        for place, (buffer, before) in enumerate(zip(self._now(), self._before)):
            if buffer.shape != before.shape or buffer.dtype != before.dtype:
                changed[place] = None
            elif not torch.equal(_bits(buffer), _bits(before)):
                changed[place] = buffer.detach().clone()
        if counts:
            self._units.append(changed)
        self._restore()

    def counts(self) -> list[int]:
        """Of each buffer, how many of this rank's units have changed it."""
        return [
            sum(place in changed for changed in self._units) for place in range(len(self._places))
        ]

    def end_step(self, ranks: Ranks, changes: list[int], units: int) -> list[str]:
        """Put the means there. changes: counts() of all ranks. units: of all ranks. Gives what is
        wrong, the same at all ranks or at those that know it."""
        places = [place for place, count in enumerate(changes) if count]
        problems = [
            f"buffer {self.names[place]} becomes another in type or shape"
            for place in places
            if any(changed.get(place, ()) is None for changed in self._units)
        ]
        problems += [
            f"buffer {self.names[place]} of {self._before[place].dtype} is changed by units: there"
            " is no mean of such"
            for place in places
            if self._before[place].dtype not in (*FORMATS, *_INTEGERS)
        ]
        ranks.raise_any("buffers", problems)
        for kind in FORMATS:
            self._floats(ranks, [p for p in places if self._before[p].dtype == kind], units)
        return [
            problem
            for place in places
            if self._before[place].dtype in _INTEGERS
            for problem in self._integers(ranks, place, units)
        ]

    def _floats(self, ranks: Ranks, places: list[int], units: int) -> None:
        if not places:
            return
        before = [self._before[place] for place in places]
        sums = Sums(before[0].dtype, [one.shape for one in before])
        for changed in self._units:
            for number, place in enumerate(places):
                sums.add(number, changed.get(place, before[number]))
        sums.start(ranks, units).wait()
        with torch.no_grad():
            for place, mean in zip(places, sums.finish()):
                self._own[place].copy_(mean)

    def _integers(self, ranks: Ranks, place: int, units: int) -> list[str]:
        """Such as num_batches_tracked, to which each unit adds the same."""
        before = self._before[place].to(torch.int64)
        added = torch.zeros_like(before)
        for changed in self._units:
            if place in changed:
                added += changed[place].to(torch.int64) - before
        ranks.add_up(added).wait()
        if torch.any(added.remainder(units)):
            return [f"buffer {self.names[place]} of integers is changed differently by units"]
        with torch.no_grad():
            self._own[place].copy_(before + added.div(units, rounding_mode="floor"))
        return []

    def _now(self) -> list[Any]:
        # pylint: disable-next=protected-access
        return [module._buffers[name] for _, module, name in self._places]

    def _restore(self) -> None:
        with torch.no_grad():
            for (_, module, name), own, before in zip(self._places, self._own, self._before):
                module._buffers[name] = own  # pylint: disable=protected-access
                if not torch.equal(_bits(own), _bits(before)):
                    own.copy_(before)
