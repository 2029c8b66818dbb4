# SPDX-License-Identifier: BSD-3-Clause
"""What ranks tell each other: errors that all of them raise, and what units' bits depend on."""

import hashlib
import json
import os
import pathlib
import platform
import re
import sys
from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist

from netfc.errors import NetfcError
from netfc.torch.group import BACKEND, NetfcProcessGroup
from netfc.torch.monitored import whole

# Settings that other bits may come from, by the beginning of their names.
_SETTINGS = ("ATEN_CPU_CAPABILITY", "DNNL_", "MKL_", "OMP_NUM_THREADS", "ONEDNN_", "OPENBLAS_")
_LIBRARIES = re.compile(r"\S*/(\S*(?:blas|mkl|lapack|gomp|iomp|dnnl)\S*)$", re.MULTILINE)


class InvariantError(NetfcError):
    """Why training would not give the same bits, or not go on; the same text at all ranks."""


class Alone:
    """One process, without a group."""

    group: Any = None
    rank, size = 0, 1
    numbers: tuple[int, ...] = (0,)  # of its ranks in the default group, for messages

    def named(self, ranks: list[int]) -> str:
        """Ranks of the group, as text."""
        numbers = ", ".join(str(self.numbers[rank]) for rank in ranks)
        return f"rank {numbers}" if len(ranks) == 1 else f"ranks {numbers}"

    def gather(self, text: str) -> list[str]:
        """The texts of all ranks."""
        if self.group is None:
            return [text]
        own = torch.tensor(list(text.encode()), dtype=torch.uint8)
        sizes = [torch.zeros(1, dtype=torch.int64) for _ in range(self.size)]
        dist.all_gather(sizes, torch.tensor([own.numel()]), group=self.group)
        room = int(max(sizes))
        if room == 0:
            return [""] * self.size
        padded = torch.zeros(room, dtype=torch.uint8)
        padded[: own.numel()] = own
        texts = [torch.empty_like(padded) for _ in range(self.size)]
        dist.all_gather(texts, padded, group=self.group)
        return [bytes(one[: int(size)].tolist()).decode() for one, size in zip(texts, sizes)]

    def add_up(self, integers: torch.Tensor) -> Any:
        """Start to sum int32 or int64 of all ranks, in place; gives what has a wait()."""
        if self.group is None:
            return Done()
        return dist.all_reduce(integers, group=self.group, async_op=True)

    def greatest(self, values: torch.Tensor) -> torch.Tensor:
        """Of all ranks, element by element, in place."""
        if self.group is not None:
            dist.all_reduce(values, dist.ReduceOp.MAX, group=self.group)
        return values

    def raise_any(self, where: str, problems: Iterable[str]) -> None:
        """Raise what any rank has to say, at all of them; all have to call it."""
        own = "; ".join(dict.fromkeys(problems))
        said: dict[str, list[int]] = {}
        for rank, text in enumerate(self.gather(own)):
            if text:
                said.setdefault(text, []).append(rank)
        if said:
            raise InvariantError(
                f"{where}: "
                + "; ".join(f"{self.named(ranks)}: {text}" for text, ranks in said.items())
            )


class Ranks(Alone):
    """Those that train together. group: a process group; None: the default one, if there is any.

    Raises ValueError for several ranks of another back end than netfc's.
    """

    def __init__(self, group: Any = None):
        if not (dist.is_available() and dist.is_initialized()):
            return
        group = whole() if group is None else group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        if self.size == 1:
            return
        if not isinstance(group, NetfcProcessGroup):
            raise ValueError(
                f'the group of {self.size} ranks is of back end "{dist.get_backend(group)}", which'
                f' does not add exactly: give torch.distributed.new_group(backend="{BACKEND}")'
            )
        self.group = group
        self.numbers = tuple(dist.get_global_rank(group, rank) for rank in range(self.size))


class Done:
    """A work that is done."""

    def wait(self) -> None:
        """At once."""


def digest(tensor: Any) -> str:
    """Of its bits."""
    values = tensor.detach().contiguous().reshape(-1).view(torch.uint8).numpy()
    return hashlib.blake2b(values, digest_size=8).hexdigest()


def of_this_machine() -> dict[str, str]:
    """What the bits of a unit depend on, besides the program: by what people call it."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    known = [re.search(rf"^{key}\s*: (.*)$", text, re.MULTILINE) for key in ("model name", "flags")]
    name, flags = (one[1] if one else "" for one in known)
    maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
    settings = {key: value for key, value in os.environ.items() if key.startswith(_SETTINGS)}
    return {
        "processor": f"{name or platform.machine()}, features {_short(flags)}",
        "PyTorch": f"{torch.__version__}, build {_short(torch.__config__.show())}",
        "libraries": ", ".join(sorted(set(_LIBRARIES.findall(maps)))),
        "threads": str(torch.get_num_threads()),
        "environment": json.dumps(settings, sort_keys=True),
        "settings": f"default type {torch.get_default_dtype()}, deterministic"
        f" {torch.are_deterministic_algorithms_enabled()}, oneDNN {torch.backends.mkldnn.enabled},"
        f" float32 products {torch.get_float32_matmul_precision()}, flush denormals"
        f" {_flushes_denormals()}",
    }


def _flushes_denormals() -> bool:
    """Whether torch.set_flush_denormal(), or a library that was built with -ffast-math, has set the
    processor so."""
    return sys.float_info.min / 2 == 0


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def of_tensors(tensors: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Type, shape and bits of each, by name."""
    return {
        name: f"{str(one.dtype).removeprefix('torch.')} {list(one.shape)}"
        f"{'' if one.requires_grad else ', frozen'}, bits {digest(one)}"
        for name, one in tensors
    }


def of_modes(modules: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """What train() or eval() has made of each, by name."""
    return {name or "of the model": "train" if one.training else "eval" for name, one in modules}


def compare(ranks: Alone, facts: dict[str, Any]) -> None:
    """Raises InvariantError at all ranks if they are not the same at all; facts: texts, or texts by
    name, which are looked at one by one."""
    everybody = [json.loads(text) for text in ranks.gather(json.dumps(facts))]
    differing = [
        said
        for key in facts
        for said in _differing(ranks, key, [one.get(key) for one in everybody])
    ]
    if differing:
        more = f"; and {len(differing) - 5} more" if len(differing) > 5 else ""
        raise InvariantError(
            "ranks would not give the same bits: " + "; ".join(differing[:5]) + more
        )


def _differing(ranks: Alone, key: str, values: list[Any]) -> list[str]:
    if all(value == values[0] for value in values):
        return []
    if isinstance(values[0], dict):
        names = dict.fromkeys(name for value in values for name in value)
        return [
            said
            for name in names
            for said in _differing(ranks, f"{key} {name}", [value.get(name) for value in values])
        ]
    having: dict[str, list[int]] = {}
    for rank, value in enumerate(values):
        having.setdefault("none" if value is None else str(value), []).append(rank)
    return [f"{key}: " + ", ".join(f"{ranks.named(who)} {value}" for value, who in having.items())]
