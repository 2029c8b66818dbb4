# SPDX-License-Identifier: BSD-3-Clause
"""The reductions of a process group: joined to a job of the switch, done in the order of calls."""

import contextlib
import dataclasses
import os
import queue
import threading
import time
from typing import Any

import numpy
import torch

from netfc.allreduce import AllreduceError, Communicator, Handle
from netfc.torch.meeting import Meeting, Place
from netfc.torch.options import Options
from netfc.torch.watch import GLANCE_S, Watch
from netfc.torch.works import Promise

FORMATS = {
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.float32: "fp32",
    torch.int32: "int32",
}

REPORT_S = 2.0  # how long to wait for what other ranks say about a failure
FULL_S = 1.0  # between two attempts to join where the switch is full
STALL_S = 10.0  # of --aggregate stall=, by default
DEADLINE_MOST_S = 4_000_000.0  # what netfc.allreduce takes


@dataclasses.dataclass
class Reduction:
    """One that was started. values: contiguous; target: where to copy them, or None."""

    call: str
    values: Any
    target: Any
    promise: Promise
    handle: Handle


class Reductions:
    """A rank's place in a job, and the thread that keeps the promises."""

    def __init__(self, meeting: Meeting, place: Place, options: Options):
        self._meeting, self._place, self._options = meeting, place, options
        self._silence = min(options.silence, meeting.timeout / 2)
        self._watch = Watch(meeting, self._silence)
        self._comm: Communicator | None = None
        self._error: Exception | None = None
        self._calls = 0
        self._lock = threading.Lock()
        self._started: queue.SimpleQueue[Reduction | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._process = os.getpid()

    def join(self) -> None:
        """Join, if that has not been done. Raises AllreduceError with what other ranks say."""
        with self._lock:
            if self._comm is None and self._error is None:
                self._join()
            if self._error is not None:
                raise self._error

    def start(self, tensor: Any, op: str) -> Promise:
        """Start to reduce a tensor in place. op: as netfc.allreduce has it.

        tensor: on the CPU, not empty, of a type in FORMATS. Raises AllreduceError if this group has
        failed before.
        """
        self.join()
        values = tensor.detach().contiguous()
        target = None if values.data_ptr() == tensor.data_ptr() else tensor.detach()
        with self._lock:
            self._calls += 1
            shape = "x".join(map(str, tensor.shape)) or "1"
            kind = str(tensor.dtype).removeprefix("torch.")
            call = f"all_reduce {self._calls}, {op} of {shape} {kind}"
            assert self._comm is not None
            promise = Promise()
            handle = self._comm.start(_array(values), op, FORMATS[tensor.dtype])
            self._started.put(Reduction(call, values, target, promise, handle))
        return promise

    def close(self) -> None:
        """Leave the job; what is under way fails. In a forked process: nothing."""
        if self._comm is None or os.getpid() != self._process:
            return
        comm, self._comm = self._comm, None
        if self._error is None:
            self._error = AllreduceError("the process group is closed", "aborted", None, None)
        assert self._thread is not None
        self._watch.stop()
        self._started.put(None)
        if self._thread.is_alive():
            comm.abort()
        self._thread.join()
        try:
            comm.leave()
        except AllreduceError:
            pass  # the switch has the job until it times out

    @property
    def stats(self) -> dict[str, int]:
        """What was counted, see netfc.allreduce.Communicator.stats; {} before the first call."""
        return self._comm.stats if self._comm is not None else {}

    def _join(self) -> None:
        try:
            self._comm = self._joined()
        except (AllreduceError, ValueError) as error:
            self._error = self._explain("joining the job", error)
            return
        self._watch.start()
        self._thread = threading.Thread(target=self._keep, name="netfc-torch", daemon=True)
        self._thread.start()

    def _joined(self) -> Communicator:
        """A full switch has place when an earlier job has timed out, maybe."""
        timeout = min(self._meeting.timeout, DEADLINE_MOST_S)
        end = time.monotonic() + min(timeout, self._options.join_timeout)
        while True:
            try:
                return Communicator(
                    self._place.switches,
                    worker=self._meeting.rank,
                    workers=self._meeting.size,
                    token=self._place.token,
                    job=self._place.job,
                    slots=self._place.slots,
                    chunk_bytes=self._place.chunk_bytes,
                    bind_address=self._options.bind_address,
                    interface=self._options.interface,
                    join_timeout=max(0.1, end - time.monotonic()),
                    deadline=timeout,
                    # A rank that is slow is waited for, as gloo does; then it is named.
                    patience=max(timeout / 2, timeout - 1 - STALL_S),
                    silence=self._silence,
                )
            except AllreduceError as error:
                # What comes of an attempt that has no time says nothing.
                if error.status != "full" or time.monotonic() + 2 * FULL_S >= end:
                    raise
            time.sleep(FULL_S)

    def _keep(self) -> None:
        """The thread: what was started first is done first."""
        while (reduction := self._started.get()) is not None:
            try:
                self._await(reduction)
                if reduction.target is not None:
                    reduction.target.copy_(reduction.values)
            except Exception as error:  # pylint: disable=broad-except # the caller has to know
                self._fail(reduction, error)
            else:
                target = reduction.target
                reduction.promise.keep([reduction.values if target is None else target])

    def _await(self, reduction: Reduction) -> None:
        """Raises AllreduceError if it fails, or if somebody it needs is gone."""
        with contextlib.suppress(TimeoutError):
            reduction.handle.wait(GLANCE_S)
            return
        self._watch.wait_begins()
        try:
            while True:
                with contextlib.suppress(TimeoutError):
                    reduction.handle.wait(GLANCE_S)
                    return
                self._check()
        finally:
            self._watch.wait_ends()

    def _check(self) -> None:
        trouble = self._watch.trouble()
        if trouble is None:
            return
        comm = self._comm
        if comm is not None:
            comm.abort()
        status = "aborted" if trouble.rank is None else "silent"
        raise AllreduceError(trouble.text, status, trouble.rank, None)

    def _fail(self, reduction: Reduction, error: Exception) -> None:
        if self._error is None:
            self._error = self._explain(reduction.call, error)
        reduction.promise.fail(self._error)

    def _explain(self, call: str, error: Exception) -> Exception:
        """The error with what all ranks were at, once others had the time to say so."""
        lines = [f"{self._meeting.name(self._meeting.rank)}, {call}: {error}"]
        try:
            if not self._watch.store_answers():
                raise RuntimeError("the store does not answer")
            self._meeting.report(f"{call}: {error}")
            reports = self._meeting.reports(REPORT_S)
            for rank in range(self._meeting.size):
                if rank != self._meeting.rank:
                    said = reports.get(rank, "says nothing: it has ended, or waits, or computes")
                    lines.append(f"{self._meeting.name(rank)}, {said}")
        except RuntimeError as gone:
            lines.append(f"What other ranks say is not known ({str(gone).splitlines()[0]})")
        status = error.status if isinstance(error, AllreduceError) else "argument"
        worker = error.worker if isinstance(error, AllreduceError) else None
        switch = error.switch if isinstance(error, AllreduceError) else None
        return AllreduceError("\n  ".join(lines), status, worker, switch)


def _array(values: Any) -> Any:
    """The tensor's own memory; encodings where numpy has no such type."""
    if values.dtype == torch.bfloat16:
        return values.view(torch.int16).numpy().view(numpy.uint16).reshape(-1)
    return values.numpy().reshape(-1)
