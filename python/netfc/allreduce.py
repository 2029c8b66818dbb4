# SPDX-License-Identifier: BSD-3-Clause
"""Allreduce by the network: sums of all workers' arrays, exact, the same bits for everybody.

    from netfc import allreduce

    # token: drawn by one worker, allreduce.draw_token(), and handed on
    with allreduce.Communicator("10.0.0.2", worker=rank, workers=4, token=token) as comm:
        comm.allreduce(gradients, "mean")  # in place

        handles = [comm.start(bucket) for bucket in buckets]  # they go on by themselves
        for handle in handles:
            handle.wait()

The switch (dpdk-netfc --aggregate) adds up what the workers send and sends one result back: the
exact sum, rounded once, whatever the order. Arrays are worked on where they are, without a copy,
and the interpreter's lock is free meanwhile. All workers call the same allreduces in the same
order. docs/aggregation.md of dpdk-netfc tells how it works.

Needs libnetfc-allreduce (Debian: libnetfc-allreduce0) of this package's version.
"""

import ctypes
import logging
import os
import secrets
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Self

import numpy
from numpy.typing import NDArray

from netfc import aggregation, catalogue
from netfc._allreduce import INFO, NOTICE, OK, PENDING, STATS, AllreduceError, Comm
from netfc.protocol import Flag

__all__ = ["FORMATS", "OPS", "AllreduceError", "Communicator", "Handle", "draw_token"]

# pylint: disable=redefined-builtin

_FORMATS = {row.name: row for row in catalogue.FORMATS if row.in_aggregation}
FORMATS = {name: row.number for name, row in _FORMATS.items()}
OPS = {name: number for name, number in aggregation.OPS.items() if name not in ("join", "leave")}

# Formats that an array's type tells; others are encodings (uint16), which need `format`.
_BY_DTYPE = {row.dtype: name for name, row in _FORMATS.items() if row.dtype}

_SLICE_MS = 100  # how long to wait before Python sees to its signals

_LOG = logging.getLogger("netfc")


def _warn(_context: int | None, text: bytes) -> None:
    """Joining waits: say for what."""
    _LOG.warning("%s", text.decode(errors="replace"))


_NOTICE = NOTICE(_warn)


def draw_token() -> int:
    """A token for a job: one worker draws it and hands it to all others. Never 0."""
    return secrets.randbelow((1 << 64) - 1) + 1


class Handle:
    """An allreduce that was started: see Communicator.start(). It keeps the array alive."""

    def __init__(self, comm: Comm, array: NDArray[Any], pointer: Any):
        self._comm, self._array, self._pointer = comm, array, pointer
        self._lock = threading.Lock()
        self._flags: Flag | None = None
        self._error: Exception | None = None

    def wait(self, timeout: float | None = None) -> Flag:
        """Wait until the array holds the results, and give their exception flags.

        timeout: seconds; None: as long as it takes, see the communicator's deadline.
        Raises TimeoutError if it is not done by then (it goes on), AllreduceError if it failed: the
        array's content is undefined then. Ctrl-C goes on in the background, too.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self._look(_SLICE_MS if end is None else _slice_until(end)):
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"the allreduce is not done after {timeout} s")
        if self._error is not None:
            raise self._error
        assert self._flags is not None
        return self._flags

    def test(self) -> bool:
        """Whether it is done: wait() returns or raises at once then."""
        return self._look(0)

    def _look(self, wait_ms: int) -> bool:
        with self._lock:
            if self._flags is None and self._error is None:
                self._ask(wait_ms)
            return self._flags is not None or self._error is not None

    def _ask(self, wait_ms: int) -> None:
        status, flags = self._comm.wait(self._pointer, wait_ms)
        if status == PENDING:
            return
        if status == OK:
            self._flags = Flag(flags)
        else:
            self._error = self._comm.failure(status)
        self._comm.started.discard(self)


class Communicator:
    """A worker's place in a job.

    switches: "10.0.0.2", "10.0.0.2:20040", "[2001:db8::2]:20040" or host names; or several of them,
      in the same order for all workers, which share the load. The port is that of --aggregate.
    worker, workers: this worker, 0 to workers - 1, and how many there are, up to 64.
    token: the job's secret, 1 to 2**64 - 1: one worker draws it, draw_token(), and hands it to the
      others. A worker that is alone needs none. job: 0 to 65535.
    bind_address, interface: local address and network device to send from.
    slots: chunks in flight for each switch, a power of two up to 32768.
    chunk_bytes: of values in a packet, a multiple of 4; None: what fits 1500 bytes.
    join_timeout, deadline: seconds for joining, and for an allreduce once those before it are done.
    patience: seconds to go on after a switch has said that a worker is silent, for which the switch
      has waited its own time already (--aggregate stall=). A worker that is alive and late is
      waited for until the deadline, whatever the patience.
    keepalive: seconds of silence after which the switch is told that this worker is alive; None:
      never. A quarter of the switch's stall= at the most, or a worker that computes is called
      silent.
    silence: seconds that a switch which owes results may say nothing, though it is asked whether it
      is there; None: until the deadline.
    spin: seconds to look for packets before sleeping, up to 0.01.
    key_file: file of the cluster's key, as with --aggregate key=: every packet has a tag; None:
      what the environment variable NETFC_KEY_FILE names, if anything.
    build: folder of a build of dpdk-netfc; None: what the environment variable NETFC_BUILD names,
      or the system's library.

    Making one joins, and waits for all other workers; after 3 seconds, and each 10 from then on,
    the logger "netfc" warns of what it waits for. It may be used by several threads, and is a
    context manager. Raises AllreduceError, ValueError for what is out of range, LibraryError.
    """

    def __init__(
        self,
        switches: str | Iterable[str],
        *,
        worker: int = 0,
        workers: int = 1,
        token: int | None = None,
        job: int = 0,
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
        key_file: str | os.PathLike[str] | None = None,
        build: str | os.PathLike[str] | None = None,
    ):
        self._comm = Comm(build)
        addresses = [switches] if isinstance(switches, str) else list(switches)
        self._addresses = (ctypes.c_char_p * len(addresses))(*map(str.encode, addresses))
        self._options = self._comm.defaults()
        options = self._options
        options.switches = ctypes.cast(self._addresses, ctypes.POINTER(ctypes.c_char_p))
        options.switch_count = len(addresses)
        options.worker = _ranged("worker", worker, 32)
        options.workers = _ranged("workers", workers, 32)
        options.token = _token(token, workers)
        options.job = _ranged("job", job, 16)
        options.bind_address = None if bind_address is None else bind_address.encode()
        options.interface = None if interface is None else interface.encode()
        options.slots = _ranged("slots", slots, 32)
        options.bytes = _ranged("chunk_bytes", chunk_bytes or 0, 32)
        options.join_ms = _scaled("join_timeout", join_timeout, 1000)
        options.deadline_ms = _scaled("deadline", deadline, 1000)
        options.patience_ms = _scaled("patience", patience, 1000)
        options.keepalive_ms = 0 if keepalive is None else _scaled("keepalive", keepalive, 1000)
        options.silence_ms = 0 if silence is None else _scaled("silence", silence, 1000)
        options.spin_us = _scaled("spin", spin, 1_000_000)
        options.gso = segmentation_offload
        options.key_file = None if key_file is None else os.fsencode(key_file)
        options.notice = _NOTICE
        try:
            self._comm.join(options)
        except BaseException:
            self._comm.free()
            raise

    def allreduce(self, array: NDArray[Any], op: str = "sum", format: str | None = None) -> Flag:
        """Reduce an array with those of all other workers, in place.

        array: float16, float32, float64, int32, int64, bfloat16 (of ml_dtypes) or encodings
          (uint16), contiguous in C's order, writable, in the machine's byte order. op: "sum",
          "mean", "min" or "max".
        format: a key of FORMATS; None: as array.dtype says.
        Gives the exception flags of all results. Raises TypeError or ValueError for what can't be
        reduced, AllreduceError if it failed: the array's content is undefined then. After Ctrl-C
        the communicator is broken.
        """
        handle = self._start(array, op, format, lazily=True)
        try:
            return handle.wait()
        except KeyboardInterrupt:
            self.abort()
            raise

    def start(self, array: NDArray[Any], op: str = "sum", format: str | None = None) -> Handle:
        """Start to reduce an array; those started earlier go first. As allreduce().

        Neither read nor write the array before Handle.wait() has returned.
        """
        return self._start(array, op, format, lazily=False)

    def rejoin(self, token: int | None = None, job: int | None = None) -> None:
        """Join again, after a failure, as all other workers have to.

        The old job stays with the switch until all of its workers have left, as those that fail
        do by themselves, or it times out: to go on without waiting for that, take another job.
        Packets of the old job that come late are none of the new one's, whatever its token.
        Allreduces that were not done end with AllreduceError "aborted".
        """
        if token is not None:
            self._options.token = _token(token, self._options.workers)
        if job is not None:
            self._options.job = _ranged("job", job, 16)
        self._comm.join(self._options)

    def abort(self) -> None:
        """End all that is under way with AllreduceError "aborted". Any thread may call it."""
        self._comm.abort()

    def leave(self) -> None:
        """Leave the job and free everything; again is fine.

        Raises AllreduceError if a switch does not answer: it has the job until it times out.
        """
        self._comm.leave()

    def close(self) -> None:
        """Free everything, and wait for no answer; again is fine.

        The other workers hear that this one has failed, unless it has left. No other call on the
        communicator may be under way.
        """
        self._comm.free()

    @property
    def info(self) -> dict[str, int]:
        """What joining came to: switches, slots of all, sockets, bytes in a chunk, gso (0 or 1)."""
        info = self._comm.info()
        return {name: int(getattr(info, name)) for name in INFO}

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

    def _start(self, array: NDArray[Any], op: str, format_name: str | None, lazily: bool) -> Handle:
        number, op_number = _format_number(array, format_name), _op_number(op)
        _check_layout(array)
        pointer = self._comm.start(array.ctypes.data, array.size, number, op_number, lazily)
        handle = Handle(self._comm, array, pointer)
        self._comm.started.add(handle)
        return handle


def _slice_until(end: float) -> int:
    left = max(0.0, end - time.monotonic())
    return min(_SLICE_MS, int(left * 1000))


def _ranged(name: str, value: int, bits: int) -> int:
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{name} is {value}: give 0 to {(1 << bits) - 1}")
    return value


def _token(token: int | None, workers: int) -> int:
    """0, with which the library draws one, for a worker that is alone."""
    if not token and workers > 1:
        raise ValueError(
            f"token is {'missing' if token is None else token}, which anybody would guess: let one"
            " worker draw one, netfc.allreduce.draw_token(), and hand it to the others"
        )
    return _ranged("token", token or 0, 64)


def _scaled(name: str, seconds: float, per_second: int) -> int:
    value = round(seconds * per_second) if seconds >= 0 else -1
    if not 0 <= value < 1 << 32:
        raise ValueError(f"{name} is {seconds} s: give 0 to {(2**32 - 1) / per_second} s")
    return value


def _format_number(array: NDArray[Any], name: str | None) -> int:
    """The number of the format, which has to fit the array's type."""
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"{type(array).__name__} is no numpy array: results are written in place")
    by_dtype = _BY_DTYPE.get(array.dtype.name)
    if name is None and by_dtype is None:
        raise TypeError(
            f"an array of {array.dtype} cannot be reduced: use float64, float32, float16, int64, int32, or"
            " encodings (uint16) with their format named"
        )
    name = name if name is not None else by_dtype
    if name not in FORMATS:
        raise ValueError(f"there is no format '{name}': give one of {', '.join(FORMATS)}")
    if name != by_dtype and (array.dtype.name != "uint16" or _FORMATS[name].bits != 16):
        raise TypeError(f"an array of {array.dtype} does not hold {name}")
    return FORMATS[name]


def _op_number(op: str) -> int:
    if op not in OPS:
        raise ValueError(f"there is no operation '{op}': give one of {', '.join(OPS)}")
    return OPS[op]


def _check_layout(array: NDArray[Any]) -> None:
    """Results are written in place, in one piece of memory."""
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ValueError("the array is not contiguous in C's order: give numpy.ascontiguousarray()")
    if not array.flags.writeable:
        raise ValueError("the array is read-only, and results are written in place")
    if not array.dtype.isnative:
        raise ValueError(f"an array of {array.dtype.str} is not in this machine's byte order")
