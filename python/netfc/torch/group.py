# SPDX-License-Identifier: BSD-3-Clause
"""The process group, its registration, and the hook of DistributedDataParallel."""

import dataclasses
import functools
import sys
import warnings
import weakref
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d

from netfc.torch import calls, staged
from netfc.torch.callbacks import then_at_once, watch_callbacks
from netfc.torch.copies import COPIES, copy, exchanged, written_back
from netfc.torch.layout import FORMATS, format_of, laid_out
from netfc.torch.meeting import Meeting
from netfc.torch.monitored import lend_monitored_barrier, whole
from netfc.torch.options import FURTHER_SLOTS, SLOTS, Options
from netfc.torch.sequences import Sequences
from netfc.torch.works import together, watch_waits

BACKEND = "netfc"

_OPS = (
    (dist.ReduceOp.SUM, "sum"),
    (dist.ReduceOp.AVG, "mean"),
    (dist.ReduceOp.MIN, "min"),
    (dist.ReduceOp.MAX, "max"),
)

# Modules that wait for works in Python, or leave that to who calls them.
_AWAITING = ("torch.distributed.distributed_c10d",)

_groups: weakref.WeakSet[Any] = weakref.WeakSet()  # of this process


class NetfcProcessGroup(dist.ProcessGroup):
    """What init_process_group("netfc") makes: the switch reduces and copies, gloo does all else.

    store, rank, size: as torch.distributed gives them. timeout: datetime.timedelta. ranks: the
    group's ranks in the default group, [] for that itself, which joins its job here; others
    do at their first collective.

    Raises ValueError for more than 64 ranks at a switch or where none is named, TimeoutError with
    the ranks that do not come, AllreduceError if the switch can't be joined.
    """

    def __init__(
        self, store: Any, rank: int, size: int, timeout: Any, ranks: list[int], options: Options
    ):
        super().__init__(rank, size)
        self._said: set[str] = set()
        if options.slots is None:
            slots = FURTHER_SLOTS if _groups else SLOTS
            options = dataclasses.replace(options, slots=slots)
        meeting = Meeting(store, rank, size, ranks, timeout.total_seconds())
        self._sequences = Sequences(meeting, options)
        gloo_store = dist.PrefixStore("gloo", store)
        self._gloo = dist.ProcessGroupGloo(gloo_store, rank, size, timeout=timeout)
        if hasattr(self, "_register_backend"):  # torch 2: what else there is goes to gloo, too
            gloo = dist.ProcessGroup.BackendType.GLOO
            self._register_backend(torch.device("cpu"), gloo, self._gloo)
        self._leave = weakref.finalize(self, self._sequences.close)
        _groups.add(self)
        if not ranks:
            self._sequences.join()

    def close(self) -> None:
        """Leave the jobs, though somebody still has this group."""
        _groups.discard(self)
        self._leave()

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        """Reduce one tensor in place; gives a Work.

        Raises AllreduceError if the group has failed before.
        """
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        opts = _options(opts)
        if len(tensors) == 1 and staged.is_meant(tensors[0]):
            return self._reduced_on_gpu(tensors[0], opts)
        op = self._op("all_reduce", tensors, opts.reduceOp)
        if op is None:
            return self._gloo.allreduce(tensors, opts)
        (tensor,) = tensors
        call = calls.of_nothing("all_reduce", tensor, [tensor])
        if tensor.numel() > 0:
            call = calls.all_reduce(tensor, op)
        # These wait in C++, and hear of no failure: the reducer for which parameters were used, and
        # torch's functional collectives.
        caller = _caller()
        in_python = caller.name in _AWAITING
        hears_nothing = (
            tensor.dtype == torch.int32 and not in_python
        ) or caller.name == "torch._ops"
        waits = hears_nothing or (in_python and caller.waits)
        work = self._sequences.start(call, waits).work()
        if hears_nothing:
            work.wait()
        return work

    def allreduce_into(self, output: Any, tensor: Any, op: Any, form: str | None) -> Any:
        """Reduce a tensor into another; gives a Work. See all_reduce_into().

        Raises TypeError or ValueError for what the switch does not do: gloo does not, either.
        """
        name = next((name for known, name in _OPS if op == known), None)
        if why := _why_no_copy("all_reduce_into", [output, tensor], 1):
            raise ValueError(f"the switch reduces no {why}")
        if name is None:
            raise ValueError("all_reduce_into: the operations are SUM, AVG, MIN and MAX")
        if output.numel() != tensor.numel():
            raise ValueError(
                f"all_reduce_into: {tensor.numel()} values need as many results, not"
                f" {output.numel()}"
            )
        call = calls.all_reduce_into(output, tensor, name, _format_of(output, tensor, form))
        if tensor.numel() == 0:
            call = calls.of_nothing("all_reduce_into", tensor, [output])
        return self._sequences.start(call).work()

    def allreduce_totals(self, totals: Any, output: Any, op: str = "sum") -> Any:
        """Sum all ranks' exact sums, rounded once; gives a Work.

        totals: netfc.allreduce.Totals, which stay as they are. output: a contiguous tensor of their
        count and type. op: or "mean", as netfc.allreduce has it. Raises ValueError or TypeError if
        it does not fit.
        """
        return self._sequences.start(calls.all_reduce_totals(totals, output, op)).work()

    def allreduce_coalesced(self, tensors: list[Any], opts: Any = None) -> Any:
        """Reduce tensors in place, each as allreduce() does; gives a Work of all."""
        return together([self.allreduce([tensor], opts) for tensor in tensors], tensors)

    def reduce(self, tensors: Any, opts: Any, op: Any = dist.ReduceOp.SUM) -> Any:
        """Reduce one tensor, in place, at one rank; those of others stay. Gives a Work.

        opts: ReduceOptions, or the rank.
        """
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        if not isinstance(opts, dist.ReduceOptions):
            root, opts = opts, dist.ReduceOptions()
            opts.rootRank, opts.reduceOp = root, op
        name = self._op("reduce", tensors, opts.reduceOp)
        if name is None:
            return self._gloo.reduce(tensors, opts)
        (tensor,) = tensors
        if tensor.numel() == 0:
            return self._started(calls.of_nothing("reduce", tensor, [tensor]))
        root = opts.rootRank
        output = tensor if root == self.rank() else None
        call = calls.reduce(tensor, name, root, output, self._sequences.number(root))
        return self._started(self._for_this_place(call))

    def reduce_scatter(self, outputs: list[Any], inputs: list[list[Any]], opts: Any = None) -> Any:
        """Reduce a list of a tensor for each rank; each gets its own. Gives a Work.

        Tensors of different sizes are as many reductions.
        """
        name = self._op("reduce_scatter", outputs, _operation(opts))
        if name is None or len(inputs) != 1:
            return self._gloo.reduce_scatter(outputs, inputs, *_given(opts))
        (output,), (parts,) = outputs, inputs
        self._check_count("reduce_scatter", len(parts), 1)
        calls.check_parts("reduce_scatter", parts, self.rank(), output)
        if calls.are_alike(parts):
            return self._scattered(output, calls.flat(parts), name)
        outs = [output if rank == self.rank() else None for rank in range(len(parts))]
        return self._all_started(
            [
                self._for_this_place(
                    calls.reduce(
                        part, name, rank, out, self._sequences.number(rank), "reduce_scatter"
                    )
                )
                for rank, (part, out) in enumerate(zip(parts, outs))
                if part.numel() > 0
            ],
            [output],
        )

    def _reduce_scatter_base(self, output: Any, tensor: Any, opts: Any = None) -> Any:
        """The same of one tensor with all parts: reduce_scatter_tensor()."""
        name = self._op("reduce_scatter", [output], _operation(opts))
        if name is None or output.dtype != tensor.dtype:
            return self._gloo._reduce_scatter_base(  # pylint: disable=protected-access
                output, tensor, *_given(opts)
            )
        self._check_count("reduce_scatter_tensor", tensor.numel(), output.numel())
        return self._scattered(output, calls.flat([tensor]), name)

    def reduce_scatter_tensor_coalesced(
        self, outputs: list[Any], inputs: list[Any], opts: Any = None
    ) -> Any:
        """Several at once; gives a Work of all."""
        works = [self._reduce_scatter_base(*pair, opts) for pair in zip(outputs, inputs)]
        return together(works, outputs)

    def allgather(self, outputs: list[list[Any]], inputs: list[Any], opts: Any = None) -> Any:
        """Give all ranks' tensors to all, into a list of a tensor for each. Gives a Work.

        Tensors of different sizes are as many broadcasts.
        """
        parts, tensor = outputs[0], inputs[0]
        why = _why_no_copy("all_gather", [*inputs, *parts], len(inputs))
        if len(inputs) == 1:
            self._check_count("all_gather", len(parts), 1)
            calls.check_parts("all_gather", parts, self.rank(), tensor)
        if not why and not calls.are_alike(parts):
            return self._gathered_unevenly(parts, tensor)
        if why := why or self._why_not_here("all_gather"):
            self._say_once(f"{why} goes through gloo, not through the switch")
            return self._copied_by_gloo("allgather", outputs, inputs, *_given(opts))
        if tensor.numel() == 0:
            return self._started(calls.of_nothing("all_gather", tensor, [parts]))
        return self._started(calls.all_gather(parts, tensor))

    def allgather_coalesced(self, outputs: Any, inputs: list[Any], opts: Any = None) -> Any:
        """Several at once: a list of lists, of each rank the tensors. Gives a Work."""
        works = [
            self.allgather([[one[index] for one in outputs]], [tensor], opts)
            for index, tensor in enumerate(inputs)
        ]
        return together(works, outputs)

    def _allgather_base(self, output: Any, tensor: Any, opts: Any = None) -> Any:
        """The same into one tensor with all parts: all_gather_into_tensor()."""
        if output.dtype != tensor.dtype:
            raise ValueError(f"all_gather_into_tensor: {tensor.dtype} into {output.dtype}")
        self._check_count("all_gather_into_tensor", output.numel(), tensor.numel())
        why = _why_no_copy("all_gather", [output, tensor], 1)
        if why := why or self._why_not_here("all_gather"):  # gloo of torch 1.13 takes lists alone
            result, target = output.detach(), None
            if output.device.type == "cpu":  # a copy on another would have to wait for its streams
                result, target = laid_out(output)
            parts = result.view(self.size(), *tensor.shape).unbind()
            work = self.allgather([list(parts)], [tensor], opts)
            return work if target is None else written_back(work, [target], [result])
        if tensor.numel() == 0:
            return self._started(calls.of_nothing("all_gather", tensor, [output]))
        return self._started(calls.all_gather_into(output, tensor))

    def allgather_into_tensor_coalesced(
        self, outputs: list[Any], inputs: list[Any], opts: Any = None
    ) -> Any:
        """Several at once; gives a Work of all."""
        works = [self._allgather_base(*pair, opts) for pair in zip(outputs, inputs)]
        return together(works, outputs)

    def broadcast(self, tensors: Any, opts: Any) -> Any:
        """Give one rank's tensor, of any type, to all others, in place; gives a Work.

        opts: BroadcastOptions, or the rank.
        """
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        if not isinstance(opts, dist.BroadcastOptions):
            root, opts = opts, dist.BroadcastOptions()
            opts.rootRank = root
        why = _why_no_copy("broadcast", tensors, len(tensors))
        if why := why or self._why_not_here("broadcast"):
            self._say_once(f"{why} goes through gloo, not through the switch")
            return self._copied_by_gloo("broadcast", tensors, opts)
        (tensor,) = tensors
        if tensor.numel() == 0:
            return self._started(calls.of_nothing("broadcast", tensor, [tensor]))
        root = opts.rootRank
        call = calls.broadcast(tensor, root, root == self.rank(), self._sequences.number(root))
        return self._started(call)

    def alltoall(self, outputs: list[Any], inputs: list[Any], opts: Any = None) -> Any:
        """Give each rank a tensor, by gloo; sizes may differ. Gives a Work."""
        self._check_count("all_to_all", len(inputs), 1)
        self._check_count("all_to_all", len(outputs), 1)
        opts = dist.AllToAllOptions() if opts is None else opts
        return exchanged(self.alltoall_base, outputs, inputs, opts)

    def barrier(self, opts: Any = None) -> Any:  # pylint: disable=unused-argument
        """Done when all ranks have called it; gives a Work."""
        return self._started(calls.barrier())

    @property
    def stats(self) -> dict[str, Any]:
        """What was counted, see netfc.torch.stats()."""
        return self._sequences.stats

    def getBackendName(self) -> str:  # pylint: disable=invalid-name
        """Of torch.distributed."""
        return BACKEND

    def _op(self, call: str, tensors: list[Any], op: Any) -> str | None:
        """The switch's name of an operation; None: it is gloo's to do that, which is said."""
        name = next((name for known, name in _OPS if op == known), None)
        why = _why_not(call, tensors, name)
        if not why:
            return name
        self._say_once(f"{why} goes through gloo, not through the switch")
        return None

    def _why_not_here(self, call: str) -> str:
        """What a tree of switches cannot copy; empty if it can."""
        return f"{call} of ranks below several switches" if self._sequences.is_in_tree else ""

    def _for_this_place(self, call: calls.Call, first: int = 0) -> calls.Call:
        """A reduction of which each rank has a part, beginning at `first`: a tree of switches gives
        all to all."""
        return calls.for_all(call, first) if self._sequences.is_in_tree else call

    def _started(self, call: calls.Call) -> Any:
        """Whether who calls waits in Python or not: torch's C++ (the reducer, which broadcasts a
        model's parameters) hears of no failure: what it calls is done when that returns."""
        caller = _caller()
        in_python = caller.name in _AWAITING
        work = self._sequences.start(call, caller.waits or not in_python).work()
        if not in_python:
            work.wait()
        return work

    def _reduced_on_gpu(self, tensor: Any, opts: Any) -> Any:
        op = next((name for known, name in _OPS if opts.reduceOp == known), None)
        if why := _why_no_sum("all_reduce", tensor.dtype, op):
            self._say_once(f"{why} goes through gloo, not through the switch")
            return self._gloo.allreduce([tensor], opts)
        assert op is not None
        if tensor.numel() == 0:
            return self._started(calls.of_nothing("all_reduce", tensor, [tensor]))
        pieces = staged.all_reduce(tensor, op)
        return together([self._sequences.start(call).work() for call in pieces], [tensor])

    def _all_started(self, made: list[calls.Call], given: list[Any]) -> Any:
        """As _started(), of several; a Work of all."""
        work = together([self._sequences.start(call).work() for call in made], given)
        if _caller().name not in _AWAITING:
            work.wait()
        return work

    def _gathered_unevenly(self, parts: list[Any], tensor: Any) -> Any:
        parts[self.rank()].detach().copy_(tensor.detach().reshape(parts[self.rank()].shape))
        if self._sequences.is_in_tree:
            works = [self.broadcast(part, rank) for rank, part in enumerate(parts) if part.numel()]
            return together(works, [parts])
        return self._all_started(
            [
                calls.broadcast(
                    part, rank, rank == self.rank(), self._sequences.number(rank), "all_gather"
                )
                for rank, part in enumerate(parts)
                if part.numel() > 0
            ],
            [parts],
        )

    def _copied_by_gloo(self, name: str, *arguments: Any) -> Any:
        """What the switch does not copy; torch's C++ hears of no failure, as with _started()."""
        work = copy(getattr(self._gloo, name), name, arguments)
        if _caller().name not in _AWAITING:
            work.wait()
        return work

    def _scattered(self, output: Any, values: Any, op: str) -> Any:
        if output.numel() == 0:
            return self._started(calls.of_nothing("reduce_scatter", output, [output]))
        call = calls.reduce_scatter(output, values, op)
        return self._started(self._for_this_place(call, self.rank() * output.numel()))

    def _check_count(self, call: str, count: int, part: int) -> None:
        """Raises ValueError: that is no part for each rank."""
        if count != part * self.size():
            raise ValueError(
                f"{call}: {count} is not {self.size()} times {part}, for each rank one"
            )

    def _say_once(self, what: str) -> None:
        if what not in self._said:
            self._said.add(what)
            warnings.warn(f"netfc.torch: {what}", stacklevel=4)


class _Caller(NamedTuple):
    """name: the module that calls the group's method. waits: it has been asked to wait, so that it
    does so at once: torch.distributed's functions have an argument for that."""

    name: str
    waits: bool


def _caller() -> _Caller:
    frame = sys._getframe(1)  # pylint: disable=protected-access
    while frame.f_globals.get("__name__") == __name__ and frame.f_back is not None:
        frame = frame.f_back
    return _Caller(str(frame.f_globals.get("__name__")), frame.f_locals.get("async_op") is False)


def _by_gloo(name: str) -> Any:
    def method(self: NetfcProcessGroup, *arguments: Any, **options: Any) -> Any:
        return getattr(self._gloo, name)(*arguments, **options)  # pylint: disable=protected-access

    method.__name__ = name
    return method


def _copied(name: str) -> Any:
    def method(self: NetfcProcessGroup, *arguments: Any) -> Any:
        # pylint: disable=protected-access
        self._say_once(f"{name} goes through gloo, not through the switch")
        return copy(getattr(self._gloo, name), name, arguments)

    method.__name__ = name
    return method


for _name in ("monitored_barrier", *COPIES):
    if hasattr(dist.ProcessGroupGloo, _name):
        setattr(NetfcProcessGroup, _name, (_copied if _name in COPIES else _by_gloo)(_name))


def stats(group: Any = None) -> dict[str, Any]:
    """What a process group of back end "netfc" has counted at this rank since it was made.

    reductions and values done; chunks sent, and repeats of them; rtt_s, least_rtt_s: seconds from a
    chunk to its result, smoothed, and the least; waited_s: seconds that started reductions were
    waited for; slots: chunks in flight; late: for each of the next 16 ranks how often others, this
    one among them, have waited for its call for two seconds or more. group: None: the default
    group.

    Raises TypeError for a group of another back end.
    """
    group = whole() if group is None else group
    if not isinstance(group, NetfcProcessGroup):
        raise TypeError(f'the group is of back end "{dist.get_backend(group)}", not "{BACKEND}"')
    return group.stats


def all_reduce_into(
    output: Any,
    tensor: Any,
    op: Any = dist.ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    *,
    format: str | None = None,  # pylint: disable=redefined-builtin
) -> Any:
    """Reduce `tensor` of all ranks into `output`, whose type may be wider.

    A sum of 8 or 16 bits is exact and rounded once, to the type of `output`: float32, bfloat16 or
    float16 of 8 bits, float32 of 16 bits. Each rank sends the narrow values.

    op: as in torch.distributed.all_reduce(); MIN and MAX have results of the tensor's own type.
    group: of back end "netfc"; None: the default group. async_op: gives a Work.
    format: "fp8_e4m3" or "fp8_e5m2": what a tensor of uint8 holds, and an output of uint8 then.

    Raises TypeError for types that do not go together, ValueError for sizes that do not, for
    another operation, and for tensors that are not on the CPU.
    """
    group = whole() if group is None else group
    if not isinstance(group, NetfcProcessGroup):
        raise TypeError(f'the group is of back end "{dist.get_backend(group)}", not "{BACKEND}"')
    work = group.allreduce_into(output, tensor, op, format)
    if async_op:
        return work
    work.wait()
    return None


def mean_hook(group: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """A communication hook of DistributedDataParallel: gradients become exact means.

    group: of back end "netfc", with the same ranks as the model's: new_group(backend="netfc");
    None: the default group. bucket: torch.distributed.GradBucket. Gives a future of its tensor.

    Raises ValueError for a group of another back end, and for gradients that are neither on the CPU
    nor on a GPU of CUDA's.
    """
    gradients = bucket.buffer()
    group = group_of_hook("mean_hook", group, gradients, ("cpu", "cuda"))
    opts = dist.AllreduceOptions()
    opts.reduceOp = dist.ReduceOp.AVG
    future = group.allreduce([gradients], opts).get_future()
    return then_at_once(future, lambda done: done.value()[0])


def group_of_hook(
    name: str, group: Any, gradients: Any, devices: tuple[str, ...] = ("cpu",)
) -> Any:
    """The group that a communication hook reduces with. Raises ValueError as mean_hook()."""
    back_end = dist.get_backend(group)
    if back_end != BACKEND:
        raise ValueError(
            f'{name} has got a group of back end "{back_end}": give'
            f' torch.distributed.new_group(backend="{BACKEND}")'
        )
    if gradients.device.type not in devices:
        raise ValueError(
            f"gradients are on {gradients.device.type}, and {name} takes those on"
            f" {' or '.join(devices)}: docs/pytorch.md has hooks for others"
        )
    return whole() if group is None else group


def register() -> None:
    """Make "netfc" a back end of torch.distributed."""
    if hasattr(dist.Backend, BACKEND.upper()):
        return
    more = {"devices": ["cpu"]} if hasattr(dist.Backend, "backend_capability") else {}
    dist.Backend.register_backend(BACKEND, _create, extended_api=True, **more)
    watch_waits()
    watch_callbacks()
    lend_monitored_barrier(BACKEND)
    _watch_destruction()


def _watch_destruction() -> None:
    """Have destroyed groups leave their jobs at once: a model that was trained keeps its own. Once
    for a process."""
    plain = dist.destroy_process_group

    @functools.wraps(plain)
    def destroy_process_group(group: Any = None) -> None:
        is_all = group is None or group is dist.GroupMember.WORLD
        plain(group)
        for each in list(_groups) if is_all else [group]:
            if isinstance(each, NetfcProcessGroup):
                each.close()

    dist.destroy_process_group = distributed_c10d.destroy_process_group = destroy_process_group


def _create(place: Any, options: Any) -> NetfcProcessGroup:
    if options is not None and not isinstance(options, Options):
        raise TypeError(f"pg_options is a {type(options).__name__}: give netfc.torch.Options")
    return NetfcProcessGroup(
        place.store,
        place.group_rank,
        place.group_size,
        place.timeout,
        list(place.global_ranks_in_group),
        options or Options.from_environment(),
    )


def _given(opts: Any) -> list[Any]:
    """gloo's methods of torch 1.13 take no None."""
    return [] if opts is None else [opts]


def _options(opts: Any) -> Any:
    """The C++ side gives options, Python may give others, an operation, or nothing."""
    if isinstance(opts, dist.AllreduceOptions):
        return opts
    made = dist.AllreduceOptions()
    if opts is not None:
        made.reduceOp = getattr(opts, "reduceOp", opts)
    return made


def _format_of(output: Any, tensor: Any, form: str | None) -> str:
    """The format of the values, and after a colon that of results if it is another."""
    names = []
    for one in (tensor, output):
        name = form if one.dtype == torch.uint8 and form else FORMATS.get(one.dtype)
        if name is None or (form and one is tensor and name != form):
            raise TypeError(
                f"all_reduce_into: a tensor of {one.dtype} does not hold {form or 'numbers that'}"
                f"{'' if form else ' the switch adds up: you may have to name its format'}"
            )
        names.append(name)
    return names[0] if names[0] == names[1] else ":".join(names)


def _operation(opts: Any) -> Any:
    """Of ReduceScatterOptions, an operation, or nothing."""
    return dist.ReduceOp.SUM if opts is None else getattr(opts, "reduceOp", opts)


def _why_no_copy(call: str, tensors: list[Any], count: int) -> str:
    """What the switch cannot copy; empty if it can. count: of what each rank gives."""
    if count != 1:
        return f"{call} of several tensors at once"
    for tensor in tensors:
        if tensor.device.type != "cpu":
            return f"a tensor on {tensor.device.type}"
        if tensor.layout != torch.strided:
            return "a sparse tensor"
    return ""


def _why_not(call: str, tensors: list[Any], op: str | None) -> str:
    """What the switch cannot reduce; empty if it can."""
    why = _why_no_copy(call, tensors, len(tensors))
    if why:
        return why
    return _why_no_sum(call, tensors[0].dtype, op)


def _why_no_sum(call: str, dtype: Any, op: str | None) -> str:
    """Which type or operation the switch does not have; empty if it has both."""
    if format_of(dtype) is None or (dtype == torch.bool and op == "mean"):
        return f"{call} of {dtype}"
    return "" if op is not None else f"{call} with another operation than SUM, AVG, MIN and MAX"
