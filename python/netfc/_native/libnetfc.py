# SPDX-License-Identifier: BSD-3-Clause
"""libnetfc by ctypes: its functions and structures.

Structures are those of netfc_lanes.h and netfc_arith.h of the same version.
"""

import ctypes
import functools
import os
from typing import Any

import numpy
from numpy.typing import NDArray

from netfc._native import given, loading
from netfc._native.arrays import Encodings
from netfc._native.version import VERSION

Flags = NDArray[numpy.uint8]

SONAME = "libnetfc.so.1"

_MAX_FIELDS, _BATCH, _MAX_STEPS, _MAX_PARTS = 24, 256, 128, 7
STEP_WRITES = 4
STEP_LOOKUP = 0  # the kind of a step that looks up
MAX_LANES = 2**32 - 1  # in one call


class Result(ctypes.Structure):
    """struct netfc_result."""

    _fields_ = [("z", ctypes.c_uint32), ("flags", ctypes.c_uint8)]


class Prefix(ctypes.Structure):
    """struct netfc_prefix."""

    _fields_ = [("key", ctypes.c_uint32), ("value", ctypes.c_uint32), ("length", ctypes.c_uint8)]


class Slot(ctypes.Structure):
    """struct netfc_slot."""

    _fields_ = [("format", ctypes.c_void_p), ("point", ctypes.c_uint)]


class Lanes(ctypes.Structure):
    """struct netfc_lanes."""

    _fields_ = [("field", ctypes.c_uint32 * _BATCH * _MAX_FIELDS)]


class Part(ctypes.Structure):
    """struct netfc_part."""

    _fields_ = [(name, ctypes.c_uint8) for name in ("field", "low", "width", "at", "test")]


class Step(ctypes.Structure):
    """struct netfc_step."""

    _fields_ = [
        ("kind", ctypes.c_int),
        *((name, ctypes.c_uint8) for name in ("dst", "a", "b", "c", "table", "width", "rules")),
        ("imm", ctypes.c_int32),
        ("part_count", ctypes.c_uint8),
        ("part", Part * _MAX_PARTS),
        ("what", ctypes.c_char_p),
    ]


class Program(ctypes.Structure):
    """struct netfc_program."""

    _fields_ = [
        ("step_count", ctypes.c_uint),
        ("step", Step * _MAX_STEPS),
        ("field_count", ctypes.c_uint),
        ("field_name", ctypes.c_char_p * _MAX_FIELDS),
    ]


WALK_FUNCTION = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(Program),
    ctypes.POINTER(Step),
    ctypes.POINTER(Lanes),
    ctypes.c_void_p,
)

_TEXT, _POINTER, _UNSIGNED = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_uint
_U8, _U32, _INT, _BOOL = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_int, ctypes.c_bool
_ARRAYS = [_POINTER, _INT, *[_POINTER] * 4, _U32]
_PREFIXES = [ctypes.POINTER(ctypes.POINTER(Prefix)), ctypes.POINTER(ctypes.c_size_t)]

# What each function gives, and what it takes.
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "netfc_strerror": (_TEXT, [_INT]),
    "netfc_format_by_name": (_POINTER, [_TEXT]),
    "netfc_format_name": (_TEXT, [_POINTER]),
    "netfc_format_is_posit": (_BOOL, [_POINTER]),
    "netfc_format_guard": (_INT, [_POINTER]),
    "netfc_inf_magnitude": (_U32, [_POINTER]),
    "netfc_decode": (ctypes.c_double, [_POINTER, _U32]),
    "netfc_encode": (_U32, [_POINTER, ctypes.c_double]),
    "netfc_exact_lanes": (_U8, _ARRAYS),
    "netfc_extra_lanes": (_U8, _ARRAYS),
    "netfc_function_known": (_POINTER, [_UNSIGNED]),
    "netfc_function_by_name": (_POINTER, [_TEXT]),
    "netfc_function_name": (_TEXT, [_POINTER]),
    "netfc_function_meaning": (_TEXT, [_POINTER]),
    "netfc_function_argument": (Slot, [_POINTER, _POINTER]),
    "netfc_function_result": (Slot, [_POINTER, _POINTER]),
    "netfc_function_lanes": (_INT, [_POINTER] * 5 + [_U32]),
    "netfc_user_function_load": (_INT, [_TEXT, ctypes.POINTER(_POINTER)]),
    "netfc_user_function_free": (None, [_POINTER]),
    "netfc_user_function_name": (_TEXT, [_POINTER]),
    "netfc_user_function_format": (_POINTER, [_POINTER]),
    "netfc_user_function_z": (_POINTER, [_POINTER]),
    "netfc_user_function_flags": (_POINTER, [_POINTER]),
    "netfc_set_known_name": (_BOOL, [_UNSIGNED, _TEXT]),
    "netfc_set_build": (_INT, [_TEXT, ctypes.POINTER(_POINTER)]),
    "netfc_set_load": (_INT, [_TEXT, ctypes.POINTER(_POINTER)]),
    "netfc_set_name": (_TEXT, [_POINTER]),
    "netfc_set_free": (None, [_POINTER]),
    "netfc_set_format": (_POINTER, [_POINTER]),
    "netfc_set_family": (_INT, [_POINTER]),
    "netfc_family_name": (_TEXT, [_INT]),
    "netfc_set_scale": (_UNSIGNED, [_POINTER]),
    "netfc_set_table_count": (_UNSIGNED, [_POINTER]),
    "netfc_set_table": (_POINTER, [_POINTER, _UNSIGNED]),
    "netfc_table_name": (_TEXT, [_POINTER]),
    "netfc_table_key_bits": (_UNSIGNED, [_POINTER]),
    "netfc_table_value_bits": (_UNSIGNED, [_POINTER]),
    "netfc_table_key_signed": (_BOOL, [_POINTER]),
    "netfc_table_value_signed": (_BOOL, [_POINTER]),
    "netfc_table_pages": (_UNSIGNED, [_POINTER]),
    "netfc_table_page_name": (_TEXT, [_POINTER, _UNSIGNED]),
    "netfc_table_copies": (_UNSIGNED, [_POINTER]),
    "netfc_table_is_match": (_BOOL, [_POINTER]),
    "netfc_table_size": (_U32, [_POINTER]),
    "netfc_table_entries": (_POINTER, [_POINTER]),
    "netfc_table_reachable": (_BOOL, [_POINTER, _U32]),
    "netfc_table_cover": (_INT, [_POINTER, _INT, _INT, *_PREFIXES]),
    "netfc_log2_prefixes": (_INT, [_UNSIGNED, _UNSIGNED, *_PREFIXES]),
    "netfc_compute": (_U8, _ARRAYS),
    "netfc_step_writes": (_UNSIGNED, [ctypes.POINTER(Step), ctypes.POINTER(_U8)]),
    "netfc_walk": (Result, [_POINTER, _INT, _U32, _U32, WALK_FUNCTION, _POINTER]),
    "netfc_fp32_format": (_POINTER, []),
}


class Library:
    """The shared library libnetfc.

    build: folder of a build of dpdk-netfc; without it the library that the system finds.
    Raises LibraryError where it is missing, or of another version than this package.
    """

    def __init__(self, build: str | os.PathLike[str] | None = None):
        self.functions: Any = loading.load(SONAME, "netfc", _PROTOTYPES, "netfc_version", build)
        self.version = VERSION


def default() -> Library:
    """The library of the build that the environment variable NETFC_BUILD names, else the system's.

    Raises LibraryError, see Library.
    """
    return _default(loading.named_build())


@functools.lru_cache
def _default(build: str | None) -> Library:
    return Library(build)


def format_handle(functions: Any, name: str) -> Any:
    """libnetfc's format of that name."""
    if name == "fp32":
        return functions.netfc_fp32_format()
    return functions.netfc_format_by_name(name.encode())


def prefixes(function: Any, *arguments: Any) -> NDArray[numpy.uint32]:
    """Prefixes that one of libnetfc's functions finds, a row each: key, value, length.

    function: netfc_table_cover() or netfc_log2_prefixes()
    arguments: its first ones. Raises MemoryError where they do not fit into memory.
    """
    found, count = ctypes.POINTER(Prefix)(), ctypes.c_size_t()
    if function(*arguments, ctypes.byref(found), ctypes.byref(count)) != 0:
        raise MemoryError
    rows = numpy.array(
        [(prefix.key, prefix.value, prefix.length) for prefix in found[: count.value]],
        numpy.uint32,
    )
    free = ctypes.CDLL(None).free
    free.argtypes = [_POINTER]
    free(found)
    return rows


def lanes_of(x: NDArray[Any]) -> int:
    """How many lanes an array has. Raises ValueError for more than one call takes."""
    if x.size > MAX_LANES:
        raise ValueError(f"{x.size} lanes are more than {MAX_LANES}, the most in one call")
    return x.size


def on_arrays(
    function: Any,
    handle: Any,
    op_number: int,
    x: NDArray[Any],
    y: NDArray[Any],
    third: Encodings | None = None,
) -> tuple[NDArray[Any], Flags]:
    """Results, of the type of x and y, and exception flags, in the shape of x.

    function: netfc_compute(), netfc_exact_lanes() or netfc_extra_lanes()
    third: what z is before
    """
    count = lanes_of(x)
    z = numpy.zeros(x.shape, x.dtype)
    if third is not None:
        z[...] = third
    flags = numpy.empty(x.shape, numpy.uint8)
    x, y = given.in_memory(x), given.in_memory(y)
    function(
        handle, op_number, x.ctypes.data, y.ctypes.data, z.ctypes.data, flags.ctypes.data, count
    )
    return z, flags
