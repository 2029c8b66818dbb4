# SPDX-License-Identifier: BSD-3-Clause
"""Tensors as the switch's library takes them: contiguous numbers in memory."""

from typing import Any

import numpy
import torch

from netfc import catalogue

# Formats of 8 bits are types of torch's from 2.1 on; numpy has none.
_EIGHTS = {
    getattr(torch, name): row_name
    for name, row_name in (("float8_e4m3fn", "fp8_e4m3"), ("float8_e5m2", "fp8_e5m2"))
    if hasattr(torch, name)
}
FORMATS = {getattr(torch, row.dtype): row.name for row in catalogue.FORMATS if row.dtype} | _EIGHTS

# Integers that the switch has no format for: as int32, and results wrap as torch's do.
_NARROW = (torch.bool, torch.int8, torch.uint8, torch.int16)


def format_of(dtype: Any) -> str | None:
    """The switch's format of a type's values as widened() gives them; None: it has none."""
    return "int32" if dtype in _NARROW else FORMATS.get(dtype)


def widened(values: Any) -> Any:
    """Contiguous values of a type that the switch adds up."""
    return values.to(torch.int32) if values.dtype in _NARROW else values


def laid_out_to_reduce(tensor: Any) -> tuple[Any, Any]:
    """As laid_out(), of what widened() gives."""
    values, target = laid_out(tensor)
    wide = widened(values)
    return (values, target) if wide is values else (wide, tensor.detach())


def laid_out(tensor: Any) -> tuple[Any, Any]:
    """A tensor's values, contiguous, and where results are to be copied: None, if they are the
    tensor's own memory.

    Raises ValueError where results could not be written: before anything is sent.
    """
    own = tensor.detach()
    check_memory(own)
    values = own.resolve_conj().resolve_neg().contiguous()
    if values.data_ptr() == own.data_ptr():
        return values, None
    return values, own


def write(target: Any, values: Any) -> None:
    """Copy values into a tensor, of any thread's inference mode or of none."""
    with torch.inference_mode(target.is_inference()):
        target.copy_(values)


def check_memory(own: Any) -> None:
    """Raises ValueError where results cannot be written."""
    if own._is_zerotensor():  # pylint: disable=protected-access
        raise ValueError("the tensor has no memory of its own, as zeros of autograd: give clone()")
    if shares_memory(own):
        raise ValueError(
            f"elements of the tensor share memory, as expand() makes them (shape"
            f" {tuple(own.shape)}, strides {own.stride()}): results cannot be written there; give"
            " clone(memory_format=torch.contiguous_format)"
        )


def shares_memory(tensor: Any) -> bool:
    """Whether elements overlap, or may: dimensions are not nested in each other."""
    extent = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape)):
        if size > 1 and stride < extent:
            return True
        extent += (size - 1) * stride
    return False


def as_array(values: Any) -> Any:
    """The memory of contiguous values; encodings where numpy has no such type."""
    if values.dtype == torch.bfloat16:
        return values.view(torch.int16).numpy().view(numpy.uint16).reshape(-1)
    if values.dtype in _EIGHTS:
        return values.view(torch.uint8).numpy().reshape(-1)
    return values.numpy().reshape(-1)


def as_bytes(values: Any) -> Any:
    """The memory of contiguous values of any type."""
    return values.reshape(-1).view(torch.uint8).numpy()
