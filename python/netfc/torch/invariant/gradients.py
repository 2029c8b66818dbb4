# SPDX-License-Identifier: BSD-3-Clause
"""Gradients of units, added exactly in buckets, which are reduced while the last unit's backward
pass still runs."""

import weakref
from collections.abc import Callable
from typing import Any

import torch

from netfc.torch.invariant.agreement import Ranks
from netfc.torch.invariant.sums import Sums


class Bucket:
    """Parameters whose gradients are reduced together. places: their numbers; waits_for: those
    that have no gradient of the last unit yet."""

    def __init__(self, places: list[int], parameters: list[Any], targets: list[Any]):
        self.places = places
        self.sums = Sums(
            parameters[places[0]].dtype,
            [parameters[place].shape for place in places],
            targets[places[0]].dtype,
        )
        self.waits_for: set[int] = set()
        self.work: Any = None


class Gradients:
    """Of a model's parameters, by number.

    targets: of each, what has the sums as its gradient: itself, or its master. bytes_of_bucket: of
    a bucket's gradients. problem: told what is wrong with a gradient.
    """

    def __init__(
        self,
        ranks: Ranks,
        named: list[tuple[str, Any]],
        targets: list[Any],
        bytes_of_bucket: float,
        problem: Callable[[str], None],
    ):
        self._ranks, self._problem = ranks, problem
        self.names = [name for name, _ in named]
        self.parameters = [parameter for _, parameter in named]
        self._buckets = _buckets(self.parameters, targets, bytes_of_bucket)
        self._of = {place: bucket for bucket in self._buckets for place in bucket.places}
        self.uses = [0] * len(named)  # by this rank's units
        self._is_last = self._hears = False
        self._units = 1
        # A parameter's node in the graph, which goes with it: the hook runs when its gradient is
        # there. PyTorch has a call for that from 2.1 on.
        self._nodes = [_node_of(parameter) for parameter in self.parameters]
        ready = weakref.WeakMethod(self._ready)
        handles = [
            node.register_hook(lambda *_, place=place: _call(ready, place))
            for place, node in enumerate(self._nodes)
        ]
        weakref.finalize(self, _remove, handles).atexit = False

    def begin_unit(self, is_last: bool) -> None:
        """Of those that count; is_last: of this rank in this step."""
        self.forget()
        self._is_last = is_last
        if is_last:
            for bucket in self._buckets:
                bucket.waits_for = set(bucket.places)

    def backward(self, loss: Any) -> None:
        """The unit's backward pass; others are none of this."""
        self._hears = self._is_last
        try:
            loss.backward()
        finally:
            self._hears = False

    def end_unit(self) -> None:
        """All gradients that there are, are there."""
        self._is_last = False
        for bucket in self._buckets:
            if bucket.work is None:
                self._add(bucket)
            elif any(self.parameters[place].grad is not None for place in bucket.places):
                names = [
                    self.names[p] for p in bucket.places if self.parameters[p].grad is not None
                ]
                self._problem(
                    f"{names[0]} gets gradients twice in one backward pass, as with reentrant"
                    " checkpoints: give Training(overlap=False)"
                )

    def begin_step(self, units: int) -> None:
        """A step of so many units, of all ranks. One before that was not done leaves nothing."""
        self._units = units
        self.uses = [0] * len(self.parameters)
        for bucket in self._buckets:
            bucket.sums.forget()
            bucket.work = None
        self.forget()

    def forget(self) -> None:
        """Gradients that do not count."""
        for parameter in self.parameters:
            parameter.grad = None

    def start(self) -> None:
        """Those buckets that are not under way, in their order."""
        for bucket in self._buckets:
            if bucket.work is None:
                bucket.work = bucket.sums.start(self._ranks, self._units)

    def finish(self) -> list[Any]:
        """Wait for all; gives the means over the step's units."""
        means: list[Any] = [None] * len(self.parameters)
        for bucket in self._buckets:
            bucket.work.wait()
            bucket.work = None
        for bucket in self._buckets:
            for place, mean in zip(bucket.places, bucket.sums.finish()):
                means[place] = mean
        self.uses = [0] * len(self.parameters)
        return means

    def _ready(self, place: int) -> None:
        if not self._hears:
            return
        self._of[place].waits_for.discard(place)
        for bucket in self._buckets:
            if bucket.work is not None:
                continue
            if bucket.waits_for:
                return
            self._add(bucket)
            bucket.work = bucket.sums.start(self._ranks, self._units)

    def _add(self, bucket: Bucket) -> None:
        bucket.sums.add_all([self._taken(place) for place in bucket.places])

    def _taken(self, place: int) -> Any:
        """A gradient, if there is one, which is no more the parameter's."""
        parameter = self.parameters[place]
        gradient, parameter.grad = parameter.grad, None
        if gradient is None:
            return None
        self.uses[place] += 1
        if not gradient.is_sparse:
            return gradient
        self._problem(f"{self.names[place]} has a sparse gradient: give the layer sparse=False")
        return None


def _call(ready: Any, place: int) -> None:
    """Call a method whose object may have gone."""
    method = ready()
    if method is not None:
        method(place)


def _remove(handles: list[Any]) -> None:
    for handle in handles:
        handle.remove()


def _node_of(parameter: Any) -> Any:
    with torch.enable_grad():
        return parameter.expand_as(parameter).grad_fn.next_functions[0][0]


def _buckets(parameters: list[Any], targets: list[Any], most: float) -> list[Bucket]:
    """Of one type each, in the order in which gradients come: the last layer's first."""
    buckets: list[list[int]] = []
    room = 0.0
    for place in reversed(range(len(parameters))):
        one = parameters[place]
        size = one.numel() * one.element_size()
        if not buckets or parameters[buckets[-1][0]].dtype != one.dtype or size > room:
            buckets.append([])
            room = most
        buckets[-1].append(place)
        room -= size
    return [Bucket(places, parameters, targets) for places in buckets]
