# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks of futures: in which one a thread is, and in which order they reduce.

torch runs a callback in the thread that completes its future or, if that is done, in the one that
attaches it: when depends on the network. Its reductions must not: they have a sequence of their
own, in the order in which they would be called if each callback ran at once where it is attached.
A program has to bear that anyhow, for each future may be done by then. So a reduction waits until
all callbacks that come before have returned, and those that were attached in them.

then(), add_done_callback(), collect_all() and Work.get_future() are replaced for all futures:
callbacks of gloo's, or of a program's own, may reduce as well.
"""

import collections
import dataclasses
import functools
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch._C import _distributed_c10d as c10d

plain_then = torch._C.Future.then  # pylint: disable=protected-access
plain_future_of = c10d.Work.get_future
plain_collect_all = torch._C._collect_all  # pylint: disable=protected-access


@dataclasses.dataclass(eq=False)
class Origin:
    """A collective, for the callbacks of its future.

    owner: whose calls are counted together, None where none are. call: its name. number and where:
    which one it is, once it has started; where: " in a callback of all_reduce 1". label: that of
    one in a callback, 0 of others. inside: how many reductions of its callbacks have started.
    hasten: is called by who waits for it, None where nothing is to be gained.
    """

    owner: Any = None
    call: str = ""
    label: int = 0
    number: int = 0
    where: str = ""
    inside: int = 0
    hasten: Callable[[], None] | None = None

    def __str__(self) -> str:
        return f"{self.call} {self.number}{self.where}" if self.number else "a collective"


class Turn:
    """A callback's place in the order.

    steps: its reductions, functions that start them, and the turns of callbacks that it has
    attached, those that were not done yet. is_passed: it cannot go on before another callback has
    returned, which it has caused to be called: it does not hold that up.
    """

    __slots__ = ("steps", "has_returned", "is_passed", "name")

    def __init__(self, name: Callable[[], str]) -> None:
        self.steps: collections.deque[Any] = collections.deque()
        self.has_returned = self.is_passed = False
        self.name = name


class Order:
    """Turns, and who is next."""

    def __init__(self) -> None:
        self.begin_anew()

    def begin_anew(self) -> None:
        """In a forked process: others' threads, and the lock that one may have, are not its."""
        self._whole = Turn(str)  # of what no callback has attached; it never returns
        self._lock = threading.Lock()

    def attach(self, around: Turn | None, name: Callable[[], str]) -> Turn:
        """The turn of a callback that is attached in another, or outside of all."""
        turn = Turn(name)
        with self._lock:
            (around or self._whole).steps.append(turn)
        return turn

    def start_in_turn(self, turn: Turn, start: Callable[[], None]) -> None:
        """Have a reduction of a callback started: before this returns, or later."""
        with self._lock:
            turn.steps.append(start)
            self._proceed()

    def enter(self, outer: Turn | None) -> None:
        """A callback is called, maybe in another, which waits until it has returned."""
        if outer is None:
            return
        with self._lock:
            outer.is_passed = True
            self._proceed()

    def leave(self, turn: Turn, outer: Turn | None = None) -> None:
        """It has returned."""
        with self._lock:
            turn.has_returned, turn.name = True, str
            if outer is not None:
                outer.is_passed = False
            self._proceed()

    def next_one(self) -> str:
        """The callback that others wait for."""
        with self._lock:
            stop = self._proceed()
        return stop.name() if stop is not None else ""

    def _proceed(self) -> Turn | None:
        """Start what comes next, up to a callback that has not returned: that one."""
        return _advance(self._whole)


def _advance(turn: Turn) -> Turn | None:
    """Start what comes next in a turn; gives whose next step is not known, None if all is done."""
    passed, stop = [], None
    while turn.steps and stop is None:
        step = turn.steps.popleft()
        if not isinstance(step, Turn):
            step()
        elif step.has_returned:
            turn.steps.extendleft(reversed(step.steps))
        else:
            passed.append(step)
            stop = _advance(step)
    turn.steps.extendleft(reversed(passed))
    return stop if stop is not None or turn.has_returned or turn.is_passed else turn


class _Here(threading.local):
    """What a thread runs: a callback's turn, and the collective that it belongs to."""

    turn: Turn | None = None
    origin: Origin | None = None


class _Callback:
    """A callback with its turn."""

    def __init__(self, callback: Callable[[Any], Any], origin: Origin | None):
        self._callback, self._origin = callback, origin
        self._turn = _order.attach(_here.turn, functools.partial(_name, callback, origin))

    def __call__(self, future: Any) -> Any:
        outer, origin_outside = _here.turn, _here.origin
        _here.turn, _here.origin = self._turn, self._origin
        _order.enter(outer)
        try:
            return self._callback(belonging(future, self._origin))
        finally:
            _here.turn, _here.origin = outer, origin_outside
            _order.leave(self._turn, outer)

    def give_up(self) -> None:
        """It will not be called."""
        _order.leave(self._turn)

    def __del__(self) -> None:
        # A future that was never done. Others may hold the lock, this thread among them.
        self._turn.has_returned = True


_order = Order()
_here = _Here()
_origins: weakref.WeakKeyDictionary[Any, Origin] = weakref.WeakKeyDictionary()


def is_inside() -> bool:
    """Whether this thread runs a callback."""
    return _here.turn is not None


def origin_here() -> Origin | None:
    """The collective that the callback of this thread belongs to; None: not known, or none."""
    return _here.origin


def start_in_turn(start: Callable[[], None]) -> None:
    """Have a reduction of this thread's callback started, without waiting for it."""
    assert _here.turn is not None
    _order.start_in_turn(_here.turn, start)


def next_one() -> str:
    """The callback that has its turn, for messages."""
    return _order.next_one()


def belonging(thing: Any, origin: Origin | None) -> Any:
    """A work or future, whose callbacks belong to a collective."""
    if origin is not None:
        _origins[thing] = origin
    return thing


def then_at_once(future: Any, callback: Callable[[Any], Any]) -> Any:
    """future.then() of a callback that does not reduce, and need not be waited for."""
    return belonging(plain_then(future, callback), origin_of(future))


def origin_of(thing: Any) -> Origin | None:
    """What a work or future belongs to; None: not known, or nothing."""
    return _origins.get(thing)


def watch_callbacks() -> None:
    """Know of all callbacks that are attached from now on. Once for a process."""
    futures = torch._C.Future  # pylint: disable=protected-access
    c10d.Work.get_future = _replaced(plain_future_of, _future_of)
    futures.then = _replaced(plain_then, functools.partial(_attach, plain_then))
    plain_add = futures.add_done_callback
    futures.add_done_callback = _replaced(plain_add, functools.partial(_attach, plain_add))
    # pylint: disable-next=protected-access
    torch._C._collect_all = _replaced(plain_collect_all, _collect_all)
    os.register_at_fork(after_in_child=_order.begin_anew)


def _replaced(plain: Any, ours: Callable[..., Any]) -> Any:
    """A function of the same name and documentation."""

    def method(*arguments: Any) -> Any:
        return ours(*arguments)

    method.__name__, method.__doc__ = plain.__name__, plain.__doc__
    return method


def _future_of(work: Any) -> Any:
    return belonging(plain_future_of(work), origin_of(work))


def _attach(plain: Any, future: Any, callback: Any) -> Any:
    known = origin_of(future)
    turning = _Callback(callback, known)
    try:
        made = plain(future, turning)
    except BaseException:
        turning.give_up()
        raise
    return belonging(made, known) if made is not None else None


def _collect_all(futures: list[Any]) -> Any:
    known = [one for one in map(origin_of, futures) if one is not None]
    return belonging(plain_collect_all(futures), known[-1] if known else None)


def _name(callback: Any, origin: Origin | None) -> str:
    name = getattr(callback, "__qualname__", type(callback).__name__)
    return f"{name}()" if origin is None else f"{name}() of {origin}"
