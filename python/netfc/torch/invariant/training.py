# SPDX-License-Identifier: BSD-3-Clause
"""A training's steps, each of units that any rank may have computed."""

import functools
import json
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import nn

from netfc.torch.invariant import agreement
from netfc.torch.invariant.agreement import Alone, InvariantError, Ranks, digest
from netfc.torch.invariant.blocks import is_block, mark_block
from netfc.torch.invariant.buffers import Buffers
from netfc.torch.invariant.gradients import Gradients
from netfc.torch.invariant.randoms import AFTER_UNITS, BEFORE_UNITS, seed_of, set_random_state
from netfc.torch.invariant.sampler import UnitSampler
from netfc.torch.invariant.sums import FORMATS, Sums, norm

# Of a unit's number: their sum, below 2^63 for any step, tells whether each was computed once.
_HASH_BITS = 32

_NOT_CALLED = object()  # in the place of a unit's loss

# What depends on the ranks themselves.
_WRAPPERS = ("DataParallel", "DistributedDataParallel", "FullyShardedDataParallel")


class Training:
    """A model, trained so that its weights do not depend on how many ranks there are.

    model: the model itself, on the CPU, its parameters of float32, float64, bfloat16 or float16;
    .grad of those that require it is set anew by each step. sampler: deals out the units.
    group: a process group of back end "netfc"; None: the default one; with one process none is
    needed. tensor_group: with parallel layers, the ranks that share them, which compute the same
    units; `group` then has those that have the same blocks. bucket_mb: megabytes of gradients that
    are reduced together. masters: parameters of 16 bits have masters of float32, and the gradients
    of these are the sums, rounded once to float32: see `masters` and copy_masters(). overlap:
    reduce them while the last unit's backward pass runs. ignore: what may differ between ranks, of
    "processor", "PyTorch", "libraries", "threads", "environment", "settings": the same bits are not
    promised then.

    Raises ValueError or TypeError for what cannot be trained so, by name.
    """

    def __init__(
        self,
        model: nn.Module,
        sampler: UnitSampler,
        *,
        group: Any = None,
        tensor_group: Any = None,
        bucket_mb: float = 25.0,
        masters: bool = False,
        overlap: bool = True,
        ignore: Iterable[str] = (),
    ):
        _check(model)
        self._ranks = Ranks(group)
        self._shared = Alone() if tensor_group is None else Ranks(tensor_group)
        sampler.rank, sampler.ranks = self._ranks.rank, self._ranks.size
        self.sampler, self._model = sampler, model
        self._overlap, self._ignore = overlap, tuple(ignore)
        self._problems: list[str] = []
        self._versions: dict[str, int] = {}  # of parameters, before a unit
        self._named = [(name, one) for name, one in model.named_parameters() if one.requires_grad]
        if not self._named:
            raise ValueError("the model has no parameter that requires a gradient")
        self.masters = [_master(one) if masters else one for _, one in self._named]
        self._gradients = Gradients(
            self._ranks, self._named, self.masters, bucket_mb * 1e6, self._problems.append
        )
        self._buffers = Buffers(model)
        wide = any(one.dtype == torch.float64 for _, one in self._named)
        self._loss = Sums(torch.float64 if wide else torch.float32, [()])

    @property
    def step(self) -> int:
        """How many steps are done."""
        return self.sampler.step

    def steps(self, loader: Iterable[Any], until: int | None = None) -> Iterator["Step"]:
        """The steps from here on, of this epoch, or `until` so many are done, in any epoch.

        loader: a DataLoader whose batch_sampler is the sampler, or that itself, for indices. First
        ranks compare what their bits depend on. Raises InvariantError at all ranks if that differs,
        or if something is wrong with a step.
        """
        if (
            loader is not self.sampler
            and getattr(loader, "batch_sampler", None) is not self.sampler
        ):
            raise ValueError(
                "the loader's batches are not the sampler's: give batch_sampler=sampler"
            )
        self._compare()
        end = self.sampler.end_of_epoch() if until is None else until
        while self.step < end:
            batches = iter(loader)
            for number in range(self.step, min(end, self.sampler.end_of_epoch())):
                step = Step(self, number, batches)
                set_random_state(self.sampler.seed, number, BEFORE_UNITS)
                yield step
                step.close()

    def clip_grad_norm_(self, max_norm: float) -> float:
        """In the place of torch.nn.utils.clip_grad_norm_(), after a step's units: the gradients'
        norm, of which gradients are scaled down to max_norm if it is greater."""
        used = [one for one in self.masters if one.grad is not None]
        gradients = [one.grad for one in used]
        # Of parallel layers, each rank has its blocks; of all else, each has the same.
        first = self._shared.rank == 0
        length = norm((one.grad for one in used if first or is_block(one)), self._shared)
        scale = max_norm / (length + 1e-6)
        for gradient in gradients if not scale >= 1 else ():
            gradient.mul_(scale)
        return length

    def copy_masters(self) -> None:
        """Round the masters to the model's parameters: after optimizer.step(), whose parameters are
        the masters."""
        with torch.no_grad():
            for (_, parameter), master in zip(self._named, self.masters):
                if master is not parameter:
                    parameter.copy_(master)

    def state_dict(self) -> dict[str, Any]:
        """For a checkpoint: the step and seed, and what units are; nothing of ranks."""
        return {
            "step": self.step,
            "seed": self.sampler.seed,
            "units": self.sampler.units_as_text(),
            "machine": agreement.of_this_machine(),
            "masters": [one.detach() for one in self._own_masters()],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a checkpoint; the model's and the optimizer's are the caller's to load.

        Raises ValueError if it is of another seed, other units or other masters. Warns if it is of
        another machine: its bits may be others.
        """
        if state["units"] != self.sampler.units_as_text():
            raise ValueError(
                f"the checkpoint is of {state['units']}; this training is of"
                f" {self.sampler.units_as_text()}"
            )
        masters = self._own_masters()
        if [one.shape for one in masters] != [one.shape for one in state["masters"]]:
            raise ValueError(
                f"the checkpoint has {len(state['masters'])} masters, and this training has"
                f" {len(masters)}, or of other shapes: give the same model and masters="
            )
        here = agreement.of_this_machine()
        other = [key for key, value in here.items() if state["machine"].get(key) != value]
        if set(other) - set(self._ignore):
            warnings.warn(
                "the checkpoint is of a machine with other bits, maybe: "
                + "; ".join(f"{key} {state['machine'].get(key)}, here {here[key]}" for key in other)
            )
        with torch.no_grad():
            for own, saved in zip(masters, state["masters"]):
                own.copy_(saved)
        self.sampler.step = state["step"]

    def _own_masters(self) -> list[Any]:
        return [master for (_, one), master in zip(self._named, self.masters) if master is not one]

    def _compare(self) -> None:
        sampler = self.sampler
        facts: dict[str, Any] = {
            key: value
            for key, value in agreement.of_this_machine().items()
            if key not in self._ignore
        }
        facts |= {
            "sampler": repr(sampler),
            "step": str(sampler.step),
            "mode": agreement.of_modes(self._model.named_modules()),
            "parameter": agreement.of_tensors(self._model.named_parameters()),
            "buffer": agreement.of_tensors(self._buffers),
        }
        agreement.compare(self._ranks, facts)
        if self._shared.size > 1:
            whole = [
                (name, one) for name, one in self._model.named_parameters() if not is_block(one)
            ]
            facts |= {"parameter": agreement.of_tensors(whole)}
            agreement.compare(self._shared, facts)

    # ---- what a step does, which has the loop -------------------------------------------------

    def begin_step(self, step: int) -> None:
        """Before its units. What is left of a step that was not done is forgotten."""
        self._problems.clear()
        self._loss.forget()
        known = {id(parameter) for _, parameter in self._named}
        wanted = {name: one for name, one in self._model.named_parameters() if one.requires_grad}
        self._problems += [
            f"{name} is frozen since the training began: make another Training"
            for name, parameter in self._named
            if not parameter.requires_grad
        ]
        self._problems += [
            f"{name} requires a gradient, and did not when the training began: make another"
            " Training"
            for name, parameter in wanted.items()
            if id(parameter) not in known
        ]
        self._gradients.begin_step(self.sampler.units_of(step))
        self._buffers.begin_step()

    def begin_unit(self, step: int, unit: int, is_last: bool) -> None:
        """Before a unit's forward pass. is_last: its gradients may be reduced as they come."""
        set_random_state(self.sampler.seed, step, unit)
        self._versions = _versions(self._model)
        self._gradients.begin_unit(is_last and self._overlap)

    def end_unit(self, unit: int, counts: bool, loss: Any, digests: dict[int, list[str]]) -> None:
        """After its backward pass. digests: of units that are compared."""
        self._problems += [
            f"unit {unit}: {name} is changed by the unit, as by Embedding(max_norm=), or by"
            " optimizer.step() inside of the loop"
            for name, version in _versions(self._model).items()
            if self._versions.get(name, version) != version
        ]
        if loss is _NOT_CALLED:
            self._problems.append(f"unit {unit}: step.backward(loss) has not been called")
            loss = None
        if unit in digests:
            digests[unit] = self._digests(loss)
        if counts and loss is not None:
            self._loss.add(0, loss)
        if counts:
            self._gradients.end_unit()
        else:
            self._gradients.forget()
        self._buffers.end_unit(counts)

    def backward(self, unit: int, loss: Any) -> Any:
        """A unit's backward pass; gives the loss, or None if it is none."""
        what = _not_a_mean(loss)
        if what:
            self._problems.append(f"unit {unit}: the loss is {what}: give a mean over the unit")
            return None
        try:
            self._gradients.backward(loss)
        except RuntimeError as error:
            self._problems.append(f"unit {unit}: backward: {error}")
            return None
        return loss.detach().reshape(()).to(self._loss.dtype)

    def finish(self, step: int, units: list[int]) -> tuple[Any, list[str]]:
        """Reduce it; gives the mean loss, and the names of gradients that are not finite.

        units: this rank's. Raises InvariantError.
        """
        count = self.sampler.units_of(step)
        self._gradients.start()
        loss = self._loss.start(self._ranks, count)
        mine = [len(units), sum(map(_hash, units)), len(self._problems)]
        counts = torch.tensor(
            [*mine, *self._gradients.uses, *self._buffers.counts()], dtype=torch.int64
        )
        self._ranks.add_up(counts).wait()
        loss.wait()
        means = self._gradients.finish()
        mean = self._loss.finish()[0]
        computed, hashes, problems, *others = counts.tolist()
        own, self._problems[:] = list(self._problems), []
        if problems:
            self._ranks.raise_any(f"step {step}", own)
        if (computed, hashes) != (count, _hash_of_all(count)):
            raise InvariantError(
                f"step {step}: ranks have computed {computed} units of {count}, or others than"
                " there are: deal() has to give the same at all ranks"
            )
        uses, changes = others[: len(means)], others[len(means) :]
        if any(changes):
            wrong = self._buffers.end_step(self._ranks, changes, count)
            self._ranks.raise_any(f"step {step}", wrong)
        for use, gradient, master in zip(uses, means, self.masters):
            master.grad = gradient if use else None
        set_random_state(self.sampler.seed, step, AFTER_UNITS)
        self.sampler.step = step + 1
        return mean, [
            name
            for (name, _), master in zip(self._named, self.masters)
            if master.grad is not None and not torch.isfinite(master.grad).all()
        ]

    def compare_units(self, step: int, digests: list[tuple[int, list[str]]]) -> None:
        """Compare what this rank has computed of units that two have; all ranks call it.

        Raises InvariantError, at all ranks, if they differ.
        """
        names = ["loss", *self._gradients.names]
        told = [json.loads(text) for text in self._ranks.gather(json.dumps(digests))]
        seen: dict[int, tuple[int, list[str]]] = {}
        for rank, units in enumerate(told):
            for unit, values in units:
                first, others = seen.setdefault(unit, (rank, values))
                wrong = [name for name, a, b in zip(names, others, values) if a != b]
                if wrong:
                    more = f" and {len(wrong) - 3} more" if len(wrong) > 3 else ""
                    raise InvariantError(
                        f"step {step}: unit {unit} is not the same at"
                        f" {self._ranks.named([first])} and at {self._ranks.named([rank])}:"
                        f" {', '.join(wrong[:3])}{more}"
                    )

    def _digests(self, loss: Any) -> list[str]:
        gradients = [parameter.grad for _, parameter in self._named]
        return ["none" if one is None else digest(one.to_dense()) for one in (loss, *gradients)]


class Step:
    """One step: iterate over it for this rank's units, of which there may be none; then gradients,
    means over all units of all ranks, are in .grad.

    number: of the step, from 0. loss: once it is done, the mean of all units' losses, a tensor of
    no dimension. nonfinite: names of the parameters whose gradients have NaN or infinities then;
    they are the same at all ranks.
    """

    def __init__(self, training: Training, number: int, batches: Iterator[Any]):
        self.number = number
        self.loss: Any = None
        self.nonfinite: list[str] = []
        self._training, self._batches = training, batches
        self._unit: int | None = None
        self._unit_loss: Any = _NOT_CALLED
        self._units: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        if self._units is None:
            self._units = self._all_units()
        return self._units

    def backward(self, loss: Any) -> None:
        """In the place of loss.backward(), once for each unit. loss: the mean over the unit."""
        if self._unit is None or self._unit_loss is not _NOT_CALLED:
            raise RuntimeError(
                f"step {self.number}: backward() is called once for each unit, inside of the loop"
            )
        self._unit_loss = self._training.backward(self._unit, loss)

    def close(self) -> None:
        """The next step begins. Raises RuntimeError if units are left."""
        if self.loss is None:
            raise RuntimeError(
                f"step {self.number}: not all of its units were computed: iterate over the step to"
                " its end"
            )

    def _next_batch(self) -> Any:
        try:
            return next(self._batches)
        except StopIteration:
            raise RuntimeError(
                f"step {self.number}: the loader has fewer batches than the sampler has units"
            ) from None

    def _all_units(self) -> Iterator[Any]:
        training, sampler = self._training, self._training.sampler
        own = sampler.dealt(self.number)[sampler.rank]
        checked = sampler.checked(self.number)
        check = checked[sampler.rank]
        digests: list[tuple[int, list[str]]] = []
        training.begin_step(self.number)
        for place, unit in enumerate(sampler.own(self.number)):
            counts = check is None or place > 0
            compared: dict[int, list[str]] = {unit: []} if unit in checked else {}
            # What is compared is looked at before it is reduced.
            is_last = counts and unit == own[-1] and not compared
            training.begin_unit(self.number, unit, is_last)
            self._unit, self._unit_loss = unit, _NOT_CALLED
            yield self._next_batch()
            training.end_unit(unit, counts, self._unit_loss, compared)
            self._unit = None
            digests += compared.items()
        loss, nonfinite = training.finish(self.number, own)
        if any(unit is not None for unit in checked):
            training.compare_units(self.number, digests)
        self.loss, self.nonfinite = loss, nonfinite


def _check(model: nn.Module) -> None:
    """Raises ValueError or TypeError, by name."""
    for name, module in model.named_modules():
        kind = type(module).__name__
        name = name or "the model"
        if kind in _WRAPPERS:
            raise ValueError(f"{name} is a {kind}: give the model inside of it")
        if kind == "SyncBatchNorm":
            raise ValueError(
                f"{name} is a SyncBatchNorm, whose sums depend on who has which samples: give"
                " BatchNorm, over a unit"
            )
    for name, tensor in (*model.named_parameters(), *model.named_buffers()):
        if tensor.device.type != "cpu" or tensor.layout != torch.strided:
            raise ValueError(
                f"{name} is {tensor.layout} on {tensor.device.type}: sums are of dense tensors on"
                " the CPU"
            )
    for name, parameter in model.named_parameters():
        if parameter.requires_grad and parameter.dtype not in FORMATS:
            raise TypeError(f"{name} is of {parameter.dtype}, of which there are no exact sums")


def _versions(model: nn.Module) -> dict[str, int]:
    """How often each parameter has been changed, by name; PyTorch counts none of inference."""
    return {
        name: one._version  # pylint: disable=protected-access
        for name, one in model.named_parameters()
        if not one.is_inference()
    }


def _master(parameter: Any) -> Any:
    """Of float32, if the parameter is of 16 bits; else itself."""
    if parameter.dtype not in (torch.float16, torch.bfloat16):
        return parameter
    master = nn.Parameter(parameter.detach().float())
    return mark_block(master) if is_block(parameter) else master


def _not_a_mean(loss: Any) -> str:
    """What is given instead of a scalar; empty if it is one."""
    if not isinstance(loss, torch.Tensor):
        return f"a {type(loss).__name__}"
    if loss.numel() != 1:
        return f"a tensor of shape {tuple(loss.shape)}"
    return "" if loss.requires_grad else "a tensor without a gradient"


def _hash(unit: int) -> int:
    return seed_of(0, 0, unit) >> 63 - _HASH_BITS


@functools.cache
def _hash_of_all(count: int) -> int:
    """Of so many units: the same in each step, and of many it takes as long as units do."""
    return sum(map(_hash, range(count)))
