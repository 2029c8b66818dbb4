# SPDX-License-Identifier: BSD-3-Clause
"""Collectives that copy, done by gloo: as bytes for types that gloo does not support."""

import threading
from collections.abc import Callable
from typing import Any

import torch

from netfc.torch import callbacks
from netfc.torch.calls import flat
from netfc.torch.layout import write
from netfc.torch.task_threads import SHORT_LIVED
from netfc.torch.works import Promise

_GLOO = (
    *(torch.float16, torch.float32, torch.float64),
    *(torch.int8, torch.uint8, torch.int32, torch.int64),
)

# What gloo calls them, and which argument results are written to.
COPIES: dict[str, int | None] = {
    "alltoall_base": 0,
    "gather": 0,
    "recv": 0,
    "recv_anysource": 0,
    "scatter": 0,
    "send": None,
}
_RESULTS = COPIES | {"allgather": 0, "broadcast": 0}  # and those that the switch does, mostly


def copy(method: Callable[..., Any], name: str, arguments: tuple[Any, ...]) -> Any:
    """Call gloo's method; gives a work.

    Tensors that are not contiguous are copied: gloo refuses them, or takes them as they lie.
    """
    given = list(_tensors(arguments))
    are_known = all(one.dtype in _GLOO for one in given)
    if any(one.device.type != "cpu" or one.layout != torch.strided for one in given) or (
        are_known and all(one.is_contiguous() for one in given)
    ):
        return method(*arguments)
    which = _RESULTS[name]
    results = [] if which is None else list(_tensors(arguments[which]))
    gloos = _contiguous(arguments, torch.Tensor.contiguous if are_known else _as_bytes)
    copies = [] if which is None else list(_tensors(gloos[which]))
    work = method(*gloos)
    if all(one.data_ptr() == other.data_ptr() for one, other in zip(results, copies)):
        return work
    if name.startswith("recv"):
        return _received(work, results, copies)
    return written_back(work, results, copies)


def exchanged(
    exchange: Callable[..., Any], outputs: list[Any], inputs: list[Any], opts: Any
) -> Any:
    """An all_to_all of lists, by one of two tensors, which gloo has; gives a work.

    Raises ValueError for tensors of several types.
    """
    types = {one.dtype for one in (*outputs, *inputs)}
    if len(types) > 1:
        raise ValueError(f"all_to_all: tensors of {', '.join(sorted(map(str, types)))}")
    lengths = [[one.numel() for one in some] for some in (outputs, inputs)]
    received = torch.empty(sum(lengths[0]), dtype=inputs[0].dtype)
    work = exchange(received, flat(inputs), *lengths, opts)
    return written_back(work, outputs, list(received.split(lengths[0])))


def _tensors(nested: Any) -> Any:
    """All tensors of arguments, lists of them and lists of these."""
    if isinstance(nested, torch.Tensor):
        yield nested
    elif isinstance(nested, (list, tuple)):
        for one in nested:
            yield from _tensors(one)


def _contiguous(nested: Any, make: Callable[[Any], Any]) -> Any:
    """The same with each tensor converted."""
    if isinstance(nested, torch.Tensor):
        return make(nested.detach().resolve_conj().resolve_neg())
    if isinstance(nested, (list, tuple)):
        return [_contiguous(one, make) for one in nested]
    return nested


def _as_bytes(tensor: Any) -> Any:
    """Its first dimension stays what it was."""
    return tensor.contiguous().unsqueeze(-1).view(torch.uint8)


def _write_back(results: list[Any], copies: list[Any]) -> None:
    for result, copied in zip(results, copies):
        if result.data_ptr() != copied.data_ptr():
            write(result.detach(), copied.view(result.dtype).reshape(result.shape))


def _received(work: Any, results: list[Any], copies: list[Any]) -> Any:
    """A work that has no future, and does not wait twice: a thread waits, for who calls may first
    have to send what the other rank waits for."""
    promise = Promise()
    arguments = (promise, work.wait, results, copies)
    threading.Thread(target=_finish, args=arguments, name=SHORT_LIVED, daemon=True).start()
    return promise.work()


def written_back(work: Any, results: list[Any], copies: list[Any]) -> Any:
    """A work that is done when `copies`, which it gives values, are copied to `results`."""
    promise = Promise()
    callbacks.plain_then(
        callbacks.plain_future_of(work),
        lambda future: _finish(promise, future.value, results, copies),
    )
    return promise.work()


def _finish(
    promise: Promise, wait: Callable[[], Any], results: list[Any], copies: list[Any]
) -> None:
    """Write back what gloo has copied, once wait() returns."""
    try:
        wait()
        _write_back(results, copies)
    except Exception as error:  # pylint: disable=broad-except # the caller has to know
        promise.fail(error)
    else:
        promise.keep(results)
