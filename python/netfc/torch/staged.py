# SPDX-License-Identifier: BSD-3-Clause
"""Tensors of a GPU: through pinned memory of the CPU, in pieces, so that one is copied while others
are in the network."""

from collections.abc import Iterator
from typing import Any

import torch

from netfc.torch import calls
from netfc.torch.layout import check_memory

PIECE = 1 << 20  # values


def is_meant(tensor: Any) -> bool:
    """Whether a tensor goes this way."""
    return bool(tensor.device.type == "cuda" and tensor.layout == torch.strided)


def all_reduce(tensor: Any, op: str) -> Iterator[calls.Call]:
    """A call for each piece, as calls.all_reduce(), once it is in the CPU's memory; those after it
    are on their way there by then. A piece's results are copied back when its call is done.

    Raises ValueError for a tensor that cannot be written to.
    """
    own = tensor.detach()
    check_memory(own)
    values = own.contiguous().reshape(-1)
    parts = values.split(PIECE)
    staged = list(zip(_copied(parts), parts))
    for index, ((host, is_there), part) in enumerate(staged):
        is_there()
        call = calls.all_reduce(host, op)
        call.copies.append((host, part))
        if index == len(staged) - 1 and values.data_ptr() != own.data_ptr():
            call.copies.append((values.reshape(own.shape), own))
        call.given = [own]
        yield call


def _copied(parts: Any) -> list[tuple[Any, Any]]:
    """For each part its copy in the CPU's memory, and what returns when that is there."""
    device = parts[0].device
    if device.type != "cuda":
        return [(part.clone(), lambda: None) for part in parts]
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    copies = []
    with torch.cuda.stream(stream):
        for part in parts:
            host = torch.empty(part.shape, dtype=part.dtype, pin_memory=True)
            host.copy_(part, non_blocking=True)
            part.record_stream(stream)
            copies.append((host, stream.record_event().synchronize))
    return copies
