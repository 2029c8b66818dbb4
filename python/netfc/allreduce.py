# SPDX-License-Identifier: BSD-3-Clause
"""Allreduce by the network: sums of all workers' arrays, exact, the same bits for everybody.

    from netfc import allreduce

    # token: drawn by one worker, allreduce.draw_token(), and handed on
    with allreduce.Communicator("10.0.0.2", worker=rank, workers=4, token=token) as comm:
        comm.allreduce(gradients, "mean")  # in place

        handles = [comm.start(bucket) for bucket in buckets]  # they go on by themselves
        for handle in handles:
            handle.wait()

        comm.reduce_scatter(gradients, own_part)  # reduce(), allgather(), broadcast(), barrier()

The switch (dpdk-netfc --aggregate) adds up what the workers send and sends one result back: the
exact sum, rounded once, whatever the order. Arrays are worked on where they are, without a copy,
and the interpreter's lock is free meanwhile. All workers call the same collectives in the same
order. docs/aggregation.md of dpdk-netfc tells how it works.

Needs libnetfc-allreduce (Debian: libnetfc-allreduce0) of this package's version.
"""

import ctypes
import logging
import os
import secrets
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

import numpy
from numpy.typing import NDArray

from netfc import _allreduce_arguments as arguments
from netfc._allreduce import (
    DIGITS,
    INFO,
    NOTICE,
    PATHS,
    STATS,
    AllreduceError,
    Collective,
    Comm,
    Handle,
)
from netfc._allreduce_arguments import FORMATS, OPS
from netfc._native import given
from netfc._totals import Totals
from netfc.aggregation import Place
from netfc.protocol import Flag

__all__ = [
    "FORMATS",
    "OPS",
    "AllreduceError",
    "Communicator",
    "Handle",
    "Place",
    "Totals",
    "draw_token",
]

# pylint: disable=redefined-builtin

_LOG = logging.getLogger("netfc")


def _warn(_context: int | None, text: bytes) -> None:
    """Joining waits: say for what."""
    _LOG.warning("%s", text.decode(errors="replace"))


_NOTICE = NOTICE(_warn)


def draw_token() -> int:
    """A token for a job: one worker draws it and hands it to all others. Never 0."""
    return secrets.randbelow((1 << 64) - 1) + 1


def _c_text(what: str, text: str | None) -> bytes | None:
    return None if text is None else given.c_text(what, text)


class Communicator:
    """A worker's place in a job.

    switches: "10.0.0.2", "10.0.0.2:20040", "[2001:db8::2]:20040" or host names; or several of them,
      in the same order for all workers, which share the load. The port is that of --aggregate. Of
      a tree of switches, a worker names its own leaf alone.
    worker, workers: this worker, 0 to workers - 1, and how many there are at this switch, up to 64.
    place: where the switch is in a tree, with the workers of all of it; None: it is alone. In a
      tree there are allreduces and barriers only.
    token: the job's secret, 1 to 2**64 - 1: one worker draws it, draw_token(), and hands it to the
      others. A worker that is alone needs none. job: 0 to 65535.
    bind_address, interface: local address and network device to send from. An interface
      "memif:PATH" or "memif:PATH,id=N" is memory shared with a switch on this machine; bind_address
      is an address of this worker's own then. "xdp:DEVICE" or "xdp:DEVICE,queue=N": past the
      kernel's protocols, by AF_XDP, which takes root or CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF.
    slots: chunks in flight for each switch, a power of two up to 32768.
    chunk_bytes: of values in a packet, a multiple of 4; None: as many as the switch grants and all
      workers' paths take.
    join_timeout, deadline: seconds for joining, and for an allreduce once those before it are done.
    patience: seconds to go on after a switch has said that a worker is silent, for which the switch
      has waited its own time already (--aggregate stall=). A worker that is alive and late is
      waited for until the deadline, whatever the patience.
    keepalive: seconds of silence after which the switch is told that this worker is alive; None:
      never. A quarter of the switch's stall= at most, or a worker that computes is called
      silent.
    silence: seconds that a switch which owes results may say nothing, though it is asked whether it
      is there; None: until the deadline.
    spin: seconds to look for packets before sleeping, up to 0.01.
    memory: path of a file that workers share, all of them processes of one machine, in the place of
      switches, which are () then: empty when worker 0 joins, and kept open by it, as
      f"/proc/{pid}/fd/{os.memfd_create('job')}". Workers wait for worker 0 alone, and results have
      the same bits as a switch's. Either all workers give totals of an array, or none.
    key_file: file of the cluster's key, as with --aggregate key=: every packet has a tag; None:
      what the environment variable NETFC_KEY_FILE names, if anything.
    build: folder of a build of dpdk-netfc; None: what the environment variable NETFC_BUILD names,
      or the system's library.

    Making one joins, and waits for all other workers where there are switches; after 3 seconds, and
    each 10 from then on, the logger "netfc" warns of what it waits for. It may be used by several
    threads, and is a context manager. Raises AllreduceError, ValueError for what is out of range,
    LibraryError.
    """

    def __init__(
        self,
        switches: str | Iterable[str],
        *,
        worker: int = 0,
        workers: int = 1,
        token: int | None = None,
        job: int = 0,
        place: Place | None = None,
        bind_address: str | None = None,
        interface: str | None = None,
        slots: int = 128,
        chunk_bytes: int | None = None,
        join_timeout: float = 60.0,
        deadline: float = 30.0,
        patience: float = 0.0,
        keepalive: float | None = 1.0,
        silence: float | None = 10.0,
        spin: float = 50e-6,
        segmentation_offload: bool = True,
        memory: str | None = None,
        key_file: str | os.PathLike[str] | None = None,
        build: str | os.PathLike[str] | None = None,
    ):
        names = [switches] if isinstance(switches, str) else list(switches)
        addresses = [given.c_text("switch", name) for name in names]
        self._comm = Comm(build)
        self._addresses = (ctypes.c_char_p * len(addresses))(*addresses)
        self._options = self._comm.defaults()
        options = self._options
        options.switches = ctypes.cast(self._addresses, ctypes.POINTER(ctypes.c_char_p))
        options.switch_count = len(addresses)
        options.worker = arguments.ranged("worker", worker, 32)
        options.workers = arguments.ranged("workers", workers, 32)
        options.token = arguments.job_token(token, workers if place is None else place.workers)
        arguments.put_place(options, place)
        options.job = arguments.ranged("job", job, 16)
        options.bind_address = _c_text("bind_address", bind_address)
        options.interface = _c_text("interface", interface)
        options.slots = arguments.ranged("slots", slots, 32)
        options.bytes = arguments.ranged("chunk_bytes", chunk_bytes or 0, 32)
        options.join_ms = arguments.scaled("join_timeout", join_timeout, 1000)
        options.deadline_ms = arguments.scaled("deadline", deadline, 1000)
        options.patience_ms = arguments.scaled("patience", patience, 1000)
        options.keepalive_ms = (
            0 if keepalive is None else arguments.scaled("keepalive", keepalive, 1000)
        )
        options.silence_ms = 0 if silence is None else arguments.scaled("silence", silence, 1000)
        options.spin_us = arguments.scaled("spin", spin, 1_000_000)
        options.gso = segmentation_offload
        options.key_file = None if key_file is None else given.c_path("key_file", key_file)
        options.memory = _c_text("memory", memory)
        options.notice = _NOTICE
        try:
            self._comm.join(options)
        except BaseException:
            self._comm.free()
            raise

    def allreduce(
        self,
        array: NDArray[Any],
        op: str = "sum",
        format: str | None = None,
        result: NDArray[Any] | None = None,
    ) -> Flag:
        """Reduce an array with those of all other workers, in place or into another array.

        array: float16, float32, float64, int32, int64, bfloat16 (of ml_dtypes) or encodings
          (uint16; uint8 of formats of 8 bits), contiguous in C's order, writable, in the machine's
          byte order. op: "sum", "mean", "min" or "max".
        format: a key of FORMATS; None: as array.dtype says.
        result: where results go, as many; None: into `array`. Its type may be another: sums and
          means of encodings of 8 bits can be float32, float16 or bfloat16 (where it is uint16,
          `format` names both: "fp8_e4m3:bf16"), and those of float16 and bfloat16 float32.
        Gives the exception flags of all results. Raises TypeError or ValueError for what can't be
        reduced, AllreduceError if it failed: the array's content is undefined then. After Ctrl-C,
        or whatever else a signal's handler raises, the communicator is broken.
        """
        into = array if result is None else result
        return self._finish(self._start("allreduce", array, into, op=op, format=format))

    def start(
        self,
        array: NDArray[Any],
        op: str = "sum",
        format: str | None = None,
        result: NDArray[Any] | None = None,
    ) -> Handle:
        """Start to reduce an array; those started earlier go first. As allreduce().

        Neither read nor write the arrays before Handle.wait() has returned.
        """
        into = array if result is None else result
        return self._start("allreduce", array, into, op=op, format=format, lazily=False)

    def allreduce_totals(self, totals: Totals, op: str = "sum") -> tuple[NDArray[Any], Flag]:
        """Reduce an array of which this worker gives exact sums of several; as allreduce() of all.

        Other workers call this, or allreduce() of as many values and the same format. op: "sum" or
        "mean", which is divided by the number of workers, or by that of totals.divide(). Gives the
        results, and their flags. The switch has to take digits (--aggregate digits=).
        """
        result = numpy.zeros(totals.count, totals.dtype)
        return result, self._finish(self._start("allreduce", totals, result, op=op))

    def reduce(
        self, array: NDArray[Any], root: int = 0, op: str = "sum", format: str | None = None
    ) -> Flag:
        """Reduce an array with those of all other workers, in place, at worker `root` alone.

        The others' arrays stay as they are. Else as allreduce().
        """
        result = array if root == self._options.worker else None
        return self._finish(self._start("reduce", array, result, op=op, format=format, root=root))

    def reduce_scatter(
        self,
        array: NDArray[Any],
        result: NDArray[Any],
        op: str = "sum",
        format: str | None = None,
    ) -> Flag:
        """Reduce arrays of a part for each worker; `result` gets those of this worker's own part.

        array: has `workers` times as many values as result, for worker 0 first. result: not in
        `array`, but for its own part. Else as allreduce().
        """
        return self._finish(self._start("reduce_scatter", array, result, op=op, format=format))

    def allgather(self, array: NDArray[Any], result: NDArray[Any]) -> None:
        """Give all workers' arrays to all, in the order of the workers; of any type, as bytes.

        result: has `workers` times the array's bytes; the array may be its own place in it.
        Raises ValueError where sizes differ, AllreduceError if it failed.
        """
        self._finish(self._start("allgather", array, result))

    def broadcast(self, array: NDArray[Any], root: int = 0) -> None:
        """Give worker `root`'s array, of any type, to all others, in place. As allgather()."""
        self._finish(self._start("broadcast", array, array, root=root))

    def barrier(self) -> None:
        """Wait until all workers have called it. Raises AllreduceError if it failed."""
        self._finish(self._start("barrier", None, None))

    def start_collective(
        self,
        kind: str,
        values: NDArray[Any] | Totals | None = None,
        result: NDArray[Any] | None = None,
        *,
        op: str = "sum",
        format: str | None = None,
        root: int = 0,
        label: int = 0,
        lazily: bool = False,
    ) -> Handle:
        """Start any of these, by name: "reduce_scatter", ...; those started earlier go first.

        values: what this worker gives, of an allreduce also its totals; result: where results go,
        None where there are none. Neither write the one nor read the other before Handle.wait() has
        returned.
        label: of 32 bits, has to be the same at all workers, or the collective fails at all of them
        with "mismatch"; 0: none. For programs that might start collectives in different orders.
        lazily: leave the work to Handle.wait(), which is going to be called at once.
        """
        return self._start(
            kind, values, result, op=op, format=format, root=root, label=label, lazily=lazily
        )

    def sum(self, array: NDArray[Any]) -> Any:
        """The sum of all numbers of all workers' arrays: exact, rounded once, a numpy scalar.

        Its bits do not depend on how many workers there are, nor on who has which numbers and in
        which order. All workers have to call it; an array may be empty.

        array: float32, float64, int32 or int64; sums of integers saturate.
        Raises TypeError for others, AllreduceError if it failed. Ctrl-C is seen to when it returns,
        at the deadline if others do not call it.
        """
        return self._total("sum", [array])

    def dot(self, x: NDArray[Any], y: NDArray[Any]) -> Any:
        """The sum of the exact products of all pairs of numbers of all workers, as sum() has it.

        x, y: float32 or float64, both of one type and shape.
        Raises TypeError or ValueError for others, AllreduceError if it failed.
        """
        return self._total("dot", [x, y])

    def rejoin(self, token: int | None = None, job: int | None = None) -> None:
        """Join again, after a failure, as all other workers have to.

        The old job stays with the switch until all of its workers have left, as those that fail
        do by themselves, or it times out: to go on without waiting for that, take another job.
        Packets of the old job that come late are none of the new one's, whatever its token.
        Allreduces that were not done end with AllreduceError "aborted". No other call on the
        communicator may be under way, but abort().
        """
        if token is not None:
            workers = self._options.tree_workers or self._options.workers
            self._options.token = arguments.job_token(token, workers)
        if job is not None:
            self._options.job = arguments.ranged("job", job, 16)
        self._comm.join(self._options)

    def abort(self) -> None:
        """End all that is under way with AllreduceError "aborted". Any thread may call it."""
        self._comm.abort()

    def leave(self) -> None:
        """Leave the job and free everything; again is fine.

        Raises AllreduceError if a switch does not answer: it has the job until it times out. No
        other call on the communicator may be under way, but abort().
        """
        self._comm.leave()

    def close(self) -> None:
        """Free everything, and wait for no answer; again is fine.

        The other workers hear that this one has failed, unless it has left. No other call on the
        communicator may be under way.
        """
        self._comm.free()

    @property
    def info(self) -> dict[str, Any]:
        """What joining came to: switches, slots of all, sockets, bytes in a chunk, gso (0 or 1).

        gro: whether results have come joined so far, 0 or 1. path: "udp", "memif", "xdp" or
        "xdp zero-copy".
        """
        info = self._comm.info()
        return {**{name: int(getattr(info, name)) for name in INFO}, "path": PATHS[info.path]}

    @property
    def stats(self) -> dict[str, int]:
        """What was counted, by the names of struct netfc_allreduce_stats; times in ns."""
        stats = self._comm.stats()
        return {name: int(getattr(stats, name)) for name in STATS}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.leave()
            return
        try:
            self.leave()
        except AllreduceError:
            pass  # the error that brought us here says more

    def _total(self, name: str, arrays: list[NDArray[Any]]) -> Any:
        number = arguments.total_format(name, arrays)
        whole = [given.in_memory(array) for array in arrays]
        result = numpy.zeros(1, whole[0].dtype)
        self._comm.total(
            name, [one.ctypes.data for one in whole], whole[0].size, number, result.ctypes.data
        )
        return result[0]

    # pylint: disable-next=too-many-arguments
    def _start(
        self,
        kind: str,
        values: NDArray[Any] | Totals | None,
        result: NDArray[Any] | None,
        *,
        op: str = "sum",
        format: str | None = None,
        root: int = 0,
        label: int = 0,
        lazily: bool = True,
    ) -> Handle:
        number = arguments.ranged("label", label, 32)
        if isinstance(values, Totals):
            digits = _of_totals(kind, values, result, op)
            return self._comm.start(digits, lazily, (values, result), number)
        collective = Collective(
            kind=arguments.kind_number(kind), root=arguments.ranged("root", root, 32)
        )
        if kind in ("allgather", "broadcast"):
            collective.count = arguments.bytes_of(values)
        elif kind != "barrier":
            collective.format = arguments.format_number(values, format, result)
            collective.op = arguments.op_number(op)
            collective.count = arguments.size_of(values if kind != "reduce_scatter" else result)
        for name, array in (("values", values), ("result", result)):
            if array is not None:
                arguments.check_layout(array, writes=name == "result")
                setattr(collective, name, array.ctypes.data)
        arguments.check_parts(kind, values, result, self._options.workers)
        return self._comm.start(collective, lazily, (values, result), number)

    def _finish(self, handle: Handle) -> Flag:
        try:
            return handle.wait()
        except BaseException:
            # A signal's handler has raised it: who called may change values that are not sent yet.
            if not handle.is_over:
                self.abort()
            raise


def _of_totals(kind: str, totals: Totals, result: NDArray[Any] | None, op: str) -> Collective:
    """An allreduce of exact sums. Raises ValueError, TypeError for what there is not."""
    if kind != "allreduce":
        raise ValueError(f"there is no {kind} of totals: allreduce takes them")
    array = arguments.numpy_array(result, "results are written there")
    arguments.check_layout(array, writes=True)
    if array.dtype != totals.dtype or array.size != totals.count:
        raise ValueError(
            f"{totals.count} sums of {totals.dtype} do not fit an array of {array.size}"
            f" {array.dtype}"
        )
    return Collective(
        kind=DIGITS,
        format=totals.number,
        op=arguments.op_number(op),
        values=totals.pointer,
        result=array.ctypes.data,
        count=totals.count,
    )
