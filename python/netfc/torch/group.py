# SPDX-License-Identifier: BSD-3-Clause
"""The process group, its registration, and the hook of DistributedDataParallel."""

import dataclasses
import warnings
import weakref
from typing import Any

import torch
import torch.distributed as dist

from netfc.torch.copies import COPIES, copy
from netfc.torch.layout import FORMATS
from netfc.torch.meeting import Meeting
from netfc.torch.monitored import lend_monitored_barrier, whole
from netfc.torch.options import FURTHER_SLOTS, SLOTS, Options
from netfc.torch.reductions import Reductions
from netfc.torch.works import kept, together, watch_waits

BACKEND = "netfc"
MAX_RANKS = 64

_OPS = (
    (dist.ReduceOp.SUM, "sum"),
    (dist.ReduceOp.AVG, "mean"),
    (dist.ReduceOp.MIN, "min"),
    (dist.ReduceOp.MAX, "max"),
)

# What gloo does besides copies. torch's reducer, in C++, calls some of these, too.
_GLOO = (
    *("barrier", "monitored_barrier", "reduce_scatter"),
    *("_reduce_scatter_base", "reduce_scatter_tensor_coalesced"),
)

_groups: weakref.WeakSet[Any] = weakref.WeakSet()  # of this process


class NetfcProcessGroup(dist.ProcessGroup):
    """What init_process_group("netfc") makes: the switch reduces, gloo does all else.

    store, rank, size: as torch.distributed gives them. timeout: datetime.timedelta. ranks: the
    group's ranks in the default group, [] for that itself, which joins its job here; others
    do when they first reduce something.

    Raises ValueError for more than 64 ranks or where no switch is named, TimeoutError with the
    ranks that do not come, AllreduceError if the switch can't be joined.
    """

    def __init__(
        self, store: Any, rank: int, size: int, timeout: Any, ranks: list[int], options: Options
    ):
        super().__init__(rank, size)
        if size > MAX_RANKS:
            raise ValueError(
                f"The process group has {size} ranks, and a switch adds up {MAX_RANKS} at the most:"
                ' use backend="gloo" for it, and groups of "netfc" inside'
            )
        self._said: set[str] = set()
        if options.slots is None:
            slots = FURTHER_SLOTS if _groups else SLOTS
            options = dataclasses.replace(options, slots=slots)
        meeting = Meeting(store, rank, size, ranks, timeout.total_seconds())
        self._reductions = Reductions(meeting, meeting.agree(options), options)
        gloo_store = dist.PrefixStore("gloo", store)
        self._gloo = dist.ProcessGroupGloo(gloo_store, rank, size, timeout=timeout)
        if hasattr(self, "_register_backend"):  # torch 2: what else there is goes to gloo, too
            gloo = dist.ProcessGroup.BackendType.GLOO
            self._register_backend(torch.device("cpu"), gloo, self._gloo)
        weakref.finalize(self, self._reductions.close)
        _groups.add(self)
        if not ranks:
            self._reductions.join()

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        """Reduce one tensor in place; gives a Work.

        Raises AllreduceError if the group has failed before.
        """
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        opts = _options(opts)
        op = self._op("all_reduce", tensors, opts.reduceOp)
        if op is None:
            return self._gloo.allreduce(tensors, opts)
        (tensor,) = tensors
        if tensor.numel() == 0:
            return kept([tensor])
        work = self._reductions.start(tensor, op).work()
        if tensor.dtype == torch.int32:
            # The reducer waits, in C++, for which parameters were used, and hears of no failure.
            work.wait()
        return work

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
            return kept([tensor])
        return self._reductions.start(tensor, name, only=opts.rootRank).work()

    @property
    def stats(self) -> dict[str, Any]:
        """What was counted, see netfc.torch.stats()."""
        counted, known = self._reductions.stats, self._reductions
        return {
            "reductions": counted.get("allreduces", 0),
            "values": counted.get("values", 0),
            "chunks": counted.get("sent", 0),
            "repeats": counted.get("retransmitted", 0),
            "rtt_s": counted.get("rtt_ns", 0) / 1e9,
            "least_rtt_s": counted.get("rtt_min_ns", 0) / 1e9,
            "waited_s": known.waited_s,
            "slots": known.slots,
            "late": known.late,
        }

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

    def _say_once(self, what: str) -> None:
        if what not in self._said:
            self._said.add(what)
            warnings.warn(f"netfc.torch: {what}", stacklevel=4)


def _by_gloo(name: str) -> Any:
    def method(self: NetfcProcessGroup, *arguments: Any, **options: Any) -> Any:
        return getattr(self._gloo, name)(*arguments, **options)  # pylint: disable=protected-access

    method.__name__ = name
    return method


def _copied(name: str) -> Any:
    def method(self: NetfcProcessGroup, *arguments: Any) -> Any:
        gloo = self._gloo  # pylint: disable=protected-access
        return copy(getattr(gloo, name), name, gloo.rank(), arguments)

    method.__name__ = name
    return method


for _name in (*_GLOO, *COPIES):
    if hasattr(dist.ProcessGroupGloo, _name):
        setattr(NetfcProcessGroup, _name, (_copied if _name in COPIES else _by_gloo)(_name))


def stats(group: Any = None) -> dict[str, Any]:
    """What a process group of back end "netfc" has counted at this rank since it was made.

    reductions and values done; chunks sent, and repeats of them; rtt_s, least_rtt_s: seconds from a
    chunk to its result, smoothed, and the least; waited_s: seconds that started reductions were
    waited for; slots: chunks in flight; late: for each rank how often others, this one among them,
    have waited for its call for two seconds or more. group: None: the default group.

    Raises TypeError for a group of another back end.
    """
    group = whole() if group is None else group
    if not isinstance(group, NetfcProcessGroup):
        raise TypeError(f'the group is of back end "{dist.get_backend(group)}", not "{BACKEND}"')
    return group.stats


def mean_hook(group: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """A communication hook of DistributedDataParallel: gradients become exact means.

    group: of back end "netfc", with the same ranks as the model's: new_group(backend="netfc");
    None: the default group. bucket: torch.distributed.GradBucket. Gives a future of its tensor.

    Raises ValueError for a group of another back end, and for gradients that are not on the CPU.
    """
    back_end, gradients = dist.get_backend(group), bucket.buffer()
    if back_end != BACKEND:
        raise ValueError(
            f'mean_hook has got a group of back end "{back_end}": give'
            f' torch.distributed.new_group(backend="{BACKEND}")'
        )
    if gradients.device.type != "cpu":
        raise ValueError(
            f"gradients are on {gradients.device.type}, and the switch adds up what is on the CPU:"
            " docs/pytorch.md has a hook that copies them"
        )
    group = whole() if group is None else group
    opts = dist.AllreduceOptions()
    opts.reduceOp = dist.ReduceOp.AVG
    future = group.allreduce([gradients], opts).get_future()
    return future.then(lambda done: done.value()[0])


def register() -> None:
    """Make "netfc" a back end of torch.distributed."""
    if hasattr(dist.Backend, BACKEND.upper()):
        return
    more = {"devices": ["cpu"]} if hasattr(dist.Backend, "backend_capability") else {}
    dist.Backend.register_backend(BACKEND, _create, extended_api=True, **more)
    watch_waits()
    lend_monitored_barrier(BACKEND)


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


def _options(opts: Any) -> Any:
    """The C++ side gives options, Python may give others, an operation, or nothing."""
    if isinstance(opts, dist.AllreduceOptions):
        return opts
    made = dist.AllreduceOptions()
    if opts is not None:
        made.reduceOp = getattr(opts, "reduceOp", opts)
    return made


def _why_not(call: str, tensors: list[Any], op: str | None) -> str:
    """What the switch cannot reduce; empty if it can."""
    if len(tensors) != 1:
        return f"{call} of several tensors at once"
    (tensor,) = tensors
    if tensor.device.type != "cpu":
        return f"a tensor on {tensor.device.type}"
    if tensor.layout != torch.strided:
        return "a sparse tensor"
    if tensor.dtype not in FORMATS:
        return f"{call} of {tensor.dtype}"
    return "" if op is not None else f"{call} with another operation than SUM, AVG, MIN and MAX"
