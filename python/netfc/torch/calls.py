# SPDX-License-Identifier: BSD-3-Clause
"""Collectives as the switch's library takes them: arrays in memory, and the copies left to do."""

import dataclasses
from typing import Any

import numpy
import torch

from netfc.torch.callbacks import Origin
from netfc.torch.layout import (
    as_array,
    as_bytes,
    check_memory,
    format_of,
    laid_out,
    laid_out_to_reduce,
    widened,
    write,
)

COPIES = ("allgather", "broadcast", "barrier")  # kinds that reduce nothing


@dataclasses.dataclass
class Call:
    """A collective. name: torch's; kind: netfc.allreduce's; what: its tensor and operation.

    values, result: arrays, or None. given: what its work gives. copies: tensors and where to copy
    them when it is done.
    """

    name: str
    kind: str
    what: str
    values: Any = None
    result: Any = None
    given: list[Any] = dataclasses.field(default_factory=list)
    copies: list[tuple[Any, Any]] = dataclasses.field(default_factory=list)
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    where: str = ""

    def finish(self) -> None:
        """Results are there: copy those that were not written in place."""
        for source, target in self.copies:
            write(target, source)

    def text(self, origin: Origin) -> str:
        """Its identification among ranks: which one it is, and this."""
        return f"{origin}{self.where}{', ' if self.what else ''}{self.what}"


def all_reduce(tensor: Any, op: str) -> Call:
    """op: as netfc.allreduce has it. Raises ValueError for a tensor that cannot be written to."""
    values, target = laid_out_to_reduce(tensor)
    call = _reduction("all_reduce", "allreduce", tensor, op)
    call.values = call.result = as_array(values)
    call.copies = _copies(values, target)
    call.given = [tensor.detach() if target is not None else values]
    return call


def all_reduce_into(output: Any, tensor: Any, op: str, form: str) -> Call:
    """form: the format of the values or, where the output's is another, of both, with a colon
    between them, as netfc.allreduce has it. Raises ValueError as all_reduce()."""
    result, target = laid_out(output)
    call = Call("all_reduce_into", "allreduce", f"{op} {_shown(tensor)} into {_shown(output)[3:]}")
    call.options = {"op": op, "format": form}
    call.values, call.result = as_array(_contiguous(tensor)), as_array(result)
    call.copies = _copies(result, target)
    call.given = [output.detach()]
    return call


def all_reduce_totals(totals: Any, output: Any, op: str) -> Call:
    """Of a rank's exact sums. totals: netfc.allreduce.Totals; output: contiguous, of their type;
    op: "sum", or "mean" of what totals.divide() has said."""
    call = Call("all_reduce_totals", "allreduce", f"{op} of {totals.count} {totals.format}")
    call.options["op"] = op
    call.values, call.result, call.given = totals, as_array(output), [output]
    return call


def reduce(tensor: Any, op: str, root: int, output: Any, number: int, name: str = "reduce") -> Call:
    """output: where results go, of the same type; None at other ranks than the root. number: the
    root's in the default group, for messages. As all_reduce()."""
    call = _reduction(name, "reduce", tensor, op)
    call.values, call.given = as_array(widened(_contiguous(tensor))), [tensor.detach()]
    if output is not None:
        result, target = laid_out_to_reduce(output)
        call.result, call.copies = as_array(result), _copies(result, target)
    call.options["root"], call.where = root, f" to rank {number}"
    return call


def reduce_scatter(output: Any, values: Any, op: str) -> Call:
    """values: of all parts, one after the other, contiguous. As all_reduce()."""
    result, target = laid_out_to_reduce(output)
    call = _reduction("reduce_scatter", "reduce_scatter", output, op)
    call.values, call.result = as_array(widened(values)), as_array(result)
    call.given, call.copies = [output.detach()], _copies(result, target)
    return call


def for_all(call: Call, first: int = 0) -> Call:
    """A reduction whose results only all ranks can have. first: where this one's begin in them."""
    whole = numpy.empty_like(call.values)
    if call.result is not None:
        part = whole[first : first + call.result.size]
        call.copies.insert(0, (_bytes_of(part), _bytes_of(call.result)))
    call.kind, call.result = "allreduce", whole
    call.options.pop("root", None)
    return call


def all_gather(outputs: list[Any], tensor: Any) -> Call:
    """Of a tensor for each rank, of one size. Raises ValueError as all_reduce()."""
    own = as_bytes(_contiguous(tensor))
    for output in outputs:
        check_memory(output.detach())
    whole = torch.empty(len(outputs) * tensor.numel(), dtype=tensor.dtype)
    call = Call("all_gather", "allgather", _shown(tensor), own, as_bytes(whole), [outputs])
    call.copies = [
        (part.reshape(output.shape), output.detach())
        for part, output in zip(whole.chunk(len(outputs)), outputs)
    ]
    return call


def all_gather_into(output: Any, tensor: Any) -> Call:
    """Into one tensor, of all ranks' one after the other."""
    result, target = laid_out(output)
    call = Call("all_gather", "allgather", _shown(tensor), as_bytes(_contiguous(tensor)))
    call.result, call.given, call.copies = (
        as_bytes(result),
        [output.detach()],
        _copies(result, target),
    )
    return call


def broadcast(tensor: Any, root: int, is_root: bool, number: int, name: str = "broadcast") -> Call:
    """number: the root's in the default group, for messages."""
    values, target = (_contiguous(tensor), None) if is_root else laid_out(tensor)
    call = Call(name, "broadcast", _shown(tensor), as_bytes(values))
    call.result, call.given, call.copies = call.values, [tensor.detach()], _copies(values, target)
    call.options["root"], call.where = root, f" from rank {number}"
    return call


def of_nothing(name: str, tensor: Any, given: list[Any]) -> Call:
    """Of tensors without values: a barrier, since other ranks' tensors may have some."""
    return Call(name, "barrier", _shown(tensor), given=given)


def barrier() -> Call:
    """Done when all have called it."""
    return Call("barrier", "barrier", "")


def flat(tensors: list[Any]) -> Any:
    """The values of tensors, one after the other."""
    return torch.cat([_contiguous(tensor).reshape(-1) for tensor in tensors])


def _reduction(name: str, kind: str, tensor: Any, op: str) -> Call:
    call = Call(name, kind, f"{op} {_shown(tensor)}")
    op = "max" if op == "sum" and tensor.dtype == torch.bool else op  # whether any is true
    call.options = {"op": op, "format": format_of(tensor.dtype)}
    return call


def _contiguous(tensor: Any) -> Any:
    return tensor.detach().resolve_conj().resolve_neg().contiguous()


def _bytes_of(array: Any) -> Any:
    return torch.from_numpy(array.view(numpy.uint8))


def _copies(values: Any, target: Any) -> list[tuple[Any, Any]]:
    return [] if target is None else [(values, target)]


def _shown(tensor: Any) -> str:
    shape = "x".join(map(str, tensor.shape)) or "1"
    return f"of {shape} {str(tensor.dtype).removeprefix('torch.')}"


def check_parts(name: str, parts: list[Any], rank: int, own: Any) -> None:
    """Raises ValueError where parts differ in type, or the rank's own in size."""
    for part in (parts[rank], *parts):
        if part.dtype != own.dtype or part is parts[rank] and part.numel() != own.numel():
            raise ValueError(f"{name}: a tensor {_shown(part)} cannot hold one {_shown(own)}")


def are_alike(parts: list[Any]) -> bool:
    """Whether all have one size."""
    return len({part.numel() for part in parts}) <= 1
