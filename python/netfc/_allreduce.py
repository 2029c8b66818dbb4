# SPDX-License-Identifier: BSD-3-Clause
"""libnetfc-allreduce by ctypes: its functions and structures.

Structures are those of netfc_allreduce.h of the same version.
"""

import ctypes
import functools
import itertools
import os
import threading
import time
from typing import Any

from netfc import aggregation
from netfc._native import loading
from netfc.errors import NetfcError
from netfc.protocol import Flag

SONAME = "libnetfc-allreduce.so.0"
OK, PENDING, INTERRUPTED = "ok", "pending", "interrupted"


class AllreduceError(NetfcError):
    """Why an allreduce, joining or leaving has failed; its text says who, what, and what to do.

    status: a word: "silent", "left", "failed", "timeout", "refused", "off", "waiting", "no-job",
    "mismatch", "full", "no-slots", "taken", "window", "protocol", "system", "aborted" or "broken"
    (as enum netfc_allreduce_status of netfc_allreduce.h).
    worker: who is silent, has left, has failed, was late or called another collective than
    others; the least of them, where there are several, and the text says how many more. None:
    nobody, or it is not known who. leaf: in a tree of switches, of the members of the switch
    above, the one that this is said of with all of its workers, or None. switch: the index of the
    switch, or None.
    """

    # pylint: disable-next=too-many-arguments,too-many-positional-arguments
    def __init__(
        self,
        text: str,
        status: str,
        worker: int | None,
        switch: int | None,
        leaf: int | None = None,
    ):
        super().__init__(text)
        self.status, self.worker, self.switch, self.leaf = status, worker, switch, leaf

    def __reduce__(self) -> Any:
        """For copies, and other processes."""
        return type(self), (str(self), self.status, self.worker, self.switch, self.leaf)


# What joining waits for; a bytes object that is valid during the call only.
NOTICE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class Level(ctypes.Structure):
    """struct netfc_allreduce_level."""

    _fields_ = [("members", ctypes.c_uint), ("index", ctypes.c_uint)]


class Options(ctypes.Structure):
    """struct netfc_allreduce_options."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("switches", ctypes.POINTER(ctypes.c_char_p)),
        ("switch_count", ctypes.c_uint),
        ("token", ctypes.c_uint64),
        ("job", ctypes.c_uint16),
        ("worker", ctypes.c_uint),
        ("workers", ctypes.c_uint),
        ("bind_address", ctypes.c_char_p),
        ("interface", ctypes.c_char_p),
        ("slots", ctypes.c_uint),
        ("bytes", ctypes.c_uint),
        ("rto_min_us", ctypes.c_uint),
        ("rto_max_us", ctypes.c_uint),
        ("join_ms", ctypes.c_uint),
        ("deadline_ms", ctypes.c_uint),
        ("patience_ms", ctypes.c_uint),
        ("keepalive_ms", ctypes.c_uint),
        ("silence_ms", ctypes.c_uint),
        ("spin_us", ctypes.c_uint),
        ("gso", ctypes.c_bool),
        ("allow_token_0", ctypes.c_bool),
        ("key_file", ctypes.c_char_p),
        ("notice", NOTICE),
        ("notice_context", ctypes.c_void_p),
        ("tree_workers", ctypes.c_uint),
        ("levels", ctypes.c_uint),
        ("level", Level * aggregation.MAX_LEVELS),
        ("memory", ctypes.c_char_p),
    ]


INFO = ("switches", "slots", "sockets", "bytes", "gso", "gro", "memory")
PATHS = ("udp", "memif", "xdp", "xdp zero-copy", "local")  # enum netfc_allreduce_path


class Info(ctypes.Structure):
    """struct netfc_allreduce_info."""

    _fields_ = [
        *((name, ctypes.c_uint) for name in INFO[:4]),
        *((name, ctypes.c_bool) for name in INFO[4:]),
        ("path", ctypes.c_uint8),
    ]


KINDS = ("allreduce", "reduce", "reduce_scatter", "allgather", "broadcast", "barrier")
DIGITS = len(KINDS)  # an allreduce whose values are totals


class Collective(ctypes.Structure):
    """struct netfc_collective; kind: an index of KINDS, or DIGITS."""

    _fields_ = [
        *((name, ctypes.c_uint) for name in ("kind", "format", "op", "root")),
        ("values", ctypes.c_void_p),
        ("result", ctypes.c_void_p),
        ("count", ctypes.c_uint64),
    ]


STATS = (
    "allreduces",
    "values",
    "sent",
    "retransmitted",
    "timeouts",
    "received",
    "duplicates",
    "refusals",
    "foreign",
    "keepalives",
    "rtt_ns",
    "rtt_min_ns",
    "rto_ns",
)


class Stats(ctypes.Structure):
    """struct netfc_allreduce_stats."""

    _fields_ = [(name, ctypes.c_uint64) for name in STATS]


_TEXT, _POINTER = ctypes.c_char_p, ctypes.c_void_p
_UNSIGNED, _INT = ctypes.c_uint, ctypes.c_int

# What each function gives, and what it takes.
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "netfc_allreduce_status_name": (_TEXT, [_INT]),
    "netfc_allreduce_options_init": (None, [ctypes.POINTER(Options), ctypes.c_size_t]),
    "netfc_allreduce_new": (_POINTER, []),
    "netfc_allreduce_join": (_INT, [_POINTER, ctypes.POINTER(Options)]),
    "netfc_collective_start_labelled": (
        _INT,
        [
            *(_POINTER, ctypes.POINTER(Collective), ctypes.c_uint32, ctypes.c_bool),
            ctypes.POINTER(_POINTER),
        ],
    ),
    "netfc_allreduce_wait": (
        _INT,
        [ctypes.POINTER(_POINTER), _INT, ctypes.POINTER(_UNSIGNED)],
    ),
    "netfc_allreduce_sum": (
        _INT,
        [*(_POINTER, _POINTER, ctypes.c_uint64, _UNSIGNED, _POINTER), ctypes.POINTER(_UNSIGNED)],
    ),
    "netfc_allreduce_dot": (
        _INT,
        [
            *(_POINTER, _POINTER, _POINTER, ctypes.c_uint64, _UNSIGNED, _POINTER),
            ctypes.POINTER(_UNSIGNED),
        ],
    ),
    "netfc_allreduce_abort": (None, [_POINTER]),
    "netfc_allreduce_leave": (_INT, [_POINTER]),
    "netfc_allreduce_free": (None, [_POINTER]),
    "netfc_allreduce_error": (_TEXT, [_POINTER]),
    "netfc_allreduce_silent_member": (_INT, [_POINTER, ctypes.POINTER(_UNSIGNED)]),
    "netfc_allreduce_totals_new": (_POINTER, [_UNSIGNED, ctypes.c_uint64]),
    "netfc_allreduce_totals_add_some": (
        None,
        [_POINTER, ctypes.c_uint64, ctypes.c_uint64, _POINTER],
    ),
    "netfc_allreduce_totals_fold": (None, [_POINTER, ctypes.c_uint64, _POINTER]),
    "netfc_allreduce_totals_divide": (_INT, [_POINTER, ctypes.c_uint32]),
    "netfc_allreduce_totals_round": (None, [_POINTER, _POINTER, ctypes.POINTER(_UNSIGNED)]),
    "netfc_allreduce_totals_clear": (None, [_POINTER]),
    "netfc_allreduce_totals_free": (None, [_POINTER]),
    "netfc_allreduce_failed_switch": (_INT, [_POINTER]),
    "netfc_allreduce_info": (None, [_POINTER, ctypes.POINTER(Info)]),
    "netfc_allreduce_stats": (None, [_POINTER, ctypes.POINTER(Stats)]),
}


class Comm:
    """struct netfc_allreduce, and what failed of it as exceptions. Statuses are words."""

    def __init__(self, build: str | os.PathLike[str] | None):
        self._functions = library(str(build) if build else loading.named_build())
        self.started: set[Any] = set()  # handles whose arrays are in use
        self._process = os.getpid()
        self._pointer: int | None = self._functions.netfc_allreduce_new()
        if self._pointer is None:
            raise MemoryError("there is not enough memory for a communicator")

    @property
    def pointer(self) -> int:
        """The communicator. Raises AllreduceError if it has been freed, or in a forked process."""
        if self._pointer is None:
            raise AllreduceError("the communicator has left its job", "broken", None, None)
        self.check_process()
        return self._pointer

    def check_process(self) -> None:
        """Raises AllreduceError in a forked process."""
        if os.getpid() != self._process:
            text = (
                f"the communicator is process {self._process}'s, and this one is forked from it:"
                " let each process join as a worker of its own"
            )
            raise AllreduceError(text, "broken", None, None)

    def defaults(self) -> Options:
        """Options as the library has them."""
        options = Options()
        self._functions.netfc_allreduce_options_init(ctypes.byref(options), ctypes.sizeof(Options))
        return options

    def join(self, options: Options) -> None:
        """Join; signals are seen to by Python in between."""
        join_ms = options.join_ms
        end = time.monotonic() + join_ms / 1000
        try:
            status = self._call("join", ctypes.byref(options))
            while status == INTERRUPTED and time.monotonic() < end:
                options.join_ms = max(1, int(1000 * (end - time.monotonic())))
                status = self._call("join", ctypes.byref(options))
        finally:
            options.join_ms = join_ms
        if status == INTERRUPTED:
            text = f"The job is not joined within {join_ms / 1000} s, in which signals came."
            raise AllreduceError(text, "timeout", None, None)
        if status != OK:
            raise self.failure(status)

    def start(
        self, collective: Collective, lazily: bool, arrays: tuple[Any, ...], label: int = 0
    ) -> "Handle":
        """Start one, whose arrays stay while the library may use them, whatever a signal's handler
        raises meanwhile. label: of 32 bits, the same at all workers; 0: none."""
        pointer = self.pointer
        handle = Handle(self, arrays)
        self.started.add(handle)
        try:
            status = self._name(
                self._functions.netfc_collective_start_labelled(
                    pointer, ctypes.byref(collective), label, lazily, ctypes.byref(handle.pointer)
                )
            )
        except BaseException:
            if handle.pointer:
                self.abort()
            else:
                self.started.discard(handle)
            raise
        if status != OK:
            self.started.discard(handle)
            raise self.failure(status)
        return handle

    def wait(self, handle: "Handle", wait_ms: int) -> str:
        """The status, PENDING for instance. It is noted, like the flags, at once: the handle is
        freed then, and a signal's handler may raise something before this returns."""
        if handle.pointer:
            if self._pointer is None:
                return "aborted"
            arguments = ctypes.byref(handle.pointer), wait_ms, ctypes.byref(handle.raised)
            # One step of the interpreter, which sees to signals between steps.
            handle.status[:] = itertools.starmap(self._functions.netfc_allreduce_wait, (arguments,))
        return self._name(handle.status[0])

    def total(self, name: str, addresses: list[int], count: int, number: int, into: int) -> int:
        """netfc_allreduce_sum() or _dot() of `count` values at each address; gives the flags."""
        flags = _UNSIGNED()
        status = self._call(name, *addresses, count, number, into, ctypes.byref(flags))
        if status != OK:
            raise self.failure(status)
        return flags.value

    def abort(self) -> None:
        """End all that is under way."""
        if self._pointer is not None and os.getpid() == self._process:
            self._functions.netfc_allreduce_abort(self._pointer)

    def leave(self) -> None:
        """Leave the job and free everything. In a forked process: nothing, the job is not its."""
        if self._pointer is None or os.getpid() != self._process:
            return
        status = self._call("leave")
        failure = None if status == OK else self.failure(status)
        self.free()
        if failure is not None:
            raise failure

    def free(self) -> None:
        """Free everything; again is fine. In a forked process, whose threads are gone: nothing."""
        pointer, self._pointer = self._pointer, None
        if pointer is not None and os.getpid() == self._process:
            self._functions.netfc_allreduce_abort(pointer)
            self._functions.netfc_allreduce_free(pointer)
        self.started.clear()

    def info(self) -> Info:
        """netfc_allreduce_info()."""
        info = Info()
        self._functions.netfc_allreduce_info(self.pointer, ctypes.byref(info))
        return info

    def stats(self) -> Stats:
        """netfc_allreduce_stats()."""
        stats = Stats()
        self._functions.netfc_allreduce_stats(self.pointer, ctypes.byref(stats))
        return stats

    def failure(self, status: str) -> Exception:
        """The exception for what the latest call has returned."""
        if self._pointer is None:
            return AllreduceError("the communicator has left its job", status, None, None)
        text = self._functions.netfc_allreduce_error(self._pointer).decode(errors="replace")
        text = text or f"the allreduce was not done when its job was joined again ({status})"
        if status == "argument":
            return ValueError(text)
        if status == "memory":
            return MemoryError(text)
        level = _UNSIGNED()
        member = self._functions.netfc_allreduce_silent_member(self._pointer, ctypes.byref(level))
        switch = self._functions.netfc_allreduce_failed_switch(self._pointer)
        worker = member if member >= 0 and level.value == 0 else None
        leaf = member if member >= 0 and level.value == 1 else None
        return AllreduceError(text, status, worker, switch if switch >= 0 else None, leaf)

    def __del__(self) -> None:
        if getattr(self, "_pointer", None) is not None:
            self.free()

    def _call(self, name: str, *arguments: Any) -> str:
        return self._name(
            getattr(self._functions, "netfc_allreduce_" + name)(self.pointer, *arguments)
        )

    def _name(self, status: int) -> str:
        name: bytes = self._functions.netfc_allreduce_status_name(status)
        return name.decode()


@functools.lru_cache
def library(build: str | None) -> Any:
    """The shared library's functions, loaded once. Raises LibraryError, see loading.load()."""
    return loading.load(SONAME, "allreduce", _PROTOTYPES, "netfc_allreduce_version", build)


_SLICE_MS = 100  # how long to wait before Python sees to its signals


class Handle:
    """A collective that was started: see Communicator.start(). It keeps its arrays alive."""

    def __init__(self, comm: Comm, arrays: tuple[Any, ...]):
        self._comm, self._arrays = comm, arrays
        self.pointer = _POINTER()  # the library's; None when it is done
        self.status: list[int] = []  # of the latest call
        self.raised = _UNSIGNED()  # flags
        self._lock = threading.Lock()
        self._flags: Flag | None = None
        self._error: Exception | None = None

    @property
    def is_over(self) -> bool:
        """Whether its end was seen here."""
        return self._flags is not None or self._error is not None

    def wait(self, timeout: float | None = None) -> Flag:
        """Wait until results are in place, and give their exception flags.

        timeout: seconds; None: as long as it takes, see the communicator's deadline.
        Raises TimeoutError if it is not done by then (it goes on), AllreduceError if it failed: the
        array's content is undefined then. Ctrl-C goes on in the background, too.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while not self._look(_SLICE_MS if end is None else _slice_until(end)):
            if end is not None and time.monotonic() >= end:
                raise TimeoutError(f"the collective is not done after {timeout} s")
        if self._error is not None:
            raise self._error
        assert self._flags is not None
        return self._flags

    def test(self) -> bool:
        """Whether it is done: wait() returns or raises at once then."""
        return self._look(0)

    def _look(self, wait_ms: int) -> bool:
        if not self.is_over:
            self._comm.check_process()  # who has the lock may not be here
        with self._lock:
            if not self.is_over:
                self._ask(wait_ms)
            return self.is_over

    def _ask(self, wait_ms: int) -> None:
        status = self._comm.wait(self, wait_ms)
        if status == PENDING:
            return
        self._comm.started.discard(self)
        if status == OK:
            self._flags = Flag(self.raised.value)
        else:
            self._error = self._comm.failure(status)


def _slice_until(end: float) -> int:
    left = max(0.0, end - time.monotonic())
    return min(_SLICE_MS, int(left * 1000))
