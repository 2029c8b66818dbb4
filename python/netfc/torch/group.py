# SPDX-License-Identifier: BSD-3-Clause
"""The process group, its registration, and the hook of DistributedDataParallel."""

import warnings
import weakref
from typing import Any

import torch
import torch.distributed as dist

from netfc.torch.meeting import Meeting
from netfc.torch.options import Options
from netfc.torch.reductions import FORMATS, Reductions
from netfc.torch.works import Promise, watch_waits

BACKEND = "netfc"
MAX_RANKS = 64

_OPS = (
    (dist.ReduceOp.SUM, "sum"),
    (dist.ReduceOp.AVG, "mean"),
    (dist.ReduceOp.MIN, "min"),
    (dist.ReduceOp.MAX, "max"),
)

# What gloo does. torch's reducer, in C++, calls some of these, too.
_GLOO = (
    *("allgather", "allgather_coalesced", "_allgather_base", "allgather_into_tensor_coalesced"),
    *("allreduce_coalesced", "alltoall", "alltoall_base", "barrier", "broadcast", "gather"),
    *("monitored_barrier", "recv", "recv_anysource", "reduce", "reduce_scatter"),
    *("_reduce_scatter_base", "reduce_scatter_tensor_coalesced", "scatter", "send"),
)


class NetfcProcessGroup(dist.ProcessGroup):
    """all_reduce by the switch, all else by gloo: what init_process_group("netfc") makes.

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
        meeting = Meeting(store, rank, size, ranks, timeout.total_seconds())
        self._reductions = Reductions(meeting, meeting.agree(options), options)
        gloo_store = dist.PrefixStore("gloo", store)
        self._gloo = dist.ProcessGroupGloo(gloo_store, rank, size, timeout=timeout)
        if hasattr(self, "_register_backend"):  # torch 2: what else there is goes to gloo, too
            gloo = dist.ProcessGroup.BackendType.GLOO
            self._register_backend(torch.device("cpu"), gloo, self._gloo)
        weakref.finalize(self, self._reductions.close)
        if not ranks:
            self._reductions.join()

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        """Reduce one tensor in place; gives a Work.

        Raises AllreduceError if the group has failed before.
        """
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
        opts = _options(opts)
        op = next((name for known, name in _OPS if opts.reduceOp == known), None)
        why = _why_not(tensors, op)
        if why:
            self._say_once(f"{why} goes through gloo, not through the switch")
            return self._gloo.allreduce(tensors, opts)
        (tensor,) = tensors
        if tensor.numel() == 0:
            promise = Promise()
            promise.keep([tensor])
            return promise.work()
        assert op is not None
        work = self._reductions.start(tensor, op).work()
        if tensor.dtype == torch.int32:
            # The reducer waits, in C++, for which parameters were used, and hears of no failure.
            work.wait()
        return work

    @property
    def stats(self) -> dict[str, int]:
        """What was counted, see netfc.allreduce.Communicator.stats."""
        return self._reductions.stats

    def getBackendName(self) -> str:  # pylint: disable=invalid-name
        """Of torch.distributed."""
        return BACKEND

    def _say_once(self, what: str) -> None:
        if what not in self._said:
            self._said.add(what)
            warnings.warn(f"netfc.torch: {what}", stacklevel=3)


def _by_gloo(name: str) -> Any:
    def method(self: NetfcProcessGroup, *arguments: Any, **options: Any) -> Any:
        return getattr(self._gloo, name)(*arguments, **options)  # pylint: disable=protected-access

    method.__name__ = name
    return method


for _name in _GLOO:
    if hasattr(dist.ProcessGroupGloo, _name):
        setattr(NetfcProcessGroup, _name, _by_gloo(_name))


def mean_hook(group: Any, bucket: dist.GradBucket) -> torch.futures.Future[torch.Tensor]:
    """A communication hook of DistributedDataParallel: gradients become exact means.

    group: of back end "netfc", with the same ranks as the model's: new_group(backend="netfc").
    bucket: torch.distributed.GradBucket. Gives a future of its tensor.
    """
    opts = dist.AllreduceOptions()
    opts.reduceOp = dist.ReduceOp.AVG
    future = group.allreduce([bucket.buffer()], opts).get_future()
    return future.then(lambda done: done.value()[0])


def register() -> None:
    """Make "netfc" a back end of torch.distributed."""
    if hasattr(dist.Backend, BACKEND.upper()):
        return
    more = {"devices": ["cpu"]} if hasattr(dist.Backend, "backend_capability") else {}
    dist.Backend.register_backend(BACKEND, _create, extended_api=True, **more)
    watch_waits()


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
    """The C++ side gives options, Python may give an operation or nothing."""
    if isinstance(opts, dist.AllreduceOptions):
        return opts
    made = dist.AllreduceOptions()
    if opts is not None:
        made.reduceOp = opts
    return made


def _why_not(tensors: list[Any], op: str | None) -> str:
    """What the switch cannot reduce; empty if it can."""
    if len(tensors) != 1:
        return "all_reduce of several tensors at once"
    (tensor,) = tensors
    if tensor.device.type != "cpu":
        return f"a tensor on {tensor.device.type}"
    if tensor.layout != torch.strided:
        return "a sparse tensor"
    if tensor.dtype not in FORMATS:
        return f"all_reduce of {tensor.dtype}"
    return "" if op is not None else "all_reduce with another operation than SUM, AVG, MIN and MAX"
