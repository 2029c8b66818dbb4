# SPDX-License-Identifier: BSD-3-Clause
"""libnetfc by ctypes: found, checked for its version, and its functions declared.

Structures are those of netfc_lanes.h and netfc_arith.h of the same version.
"""

import ctypes
import functools
import os
import pathlib
from typing import Any

import numpy
from numpy.typing import NDArray

from netfc._native.arrays import Encodings
from netfc._native.version import VERSION
from netfc.errors import LibraryError

Flags = NDArray[numpy.uint8]

SONAME = "libnetfc.so.0"
BUILD_VARIABLE = "NETFC_BUILD"

_MAX_FIELDS, _BATCH, _MAX_STEPS, _MAX_PARTS = 24, 256, 72, 7
STEP_WRITES = 4
STEP_LOOKUP = 0  # the kind of a step that looks up
MAX_LANES = 2**32 - 1  # in one call


class Result(ctypes.Structure):
    """struct netfc_result."""

    _fields_ = [("z", ctypes.c_uint16), ("flags", ctypes.c_uint8)]


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
        *((name, ctypes.c_uint8) for name in ("dst", "a", "b", "c", "table")),
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
_U8, _U16, _U32, _INT, _BOOL = (
    ctypes.c_uint8,
    ctypes.c_uint16,
    ctypes.c_uint32,
    ctypes.c_int,
    ctypes.c_bool,
)
_ARRAYS = [_POINTER, _INT, *[_POINTER] * 4, _U32]

# What each function gives, and what it takes.
_PROTOTYPES: dict[str, tuple[Any, list[Any]]] = {
    "netfc_strerror": (_TEXT, [_INT]),
    "netfc_format_by_name": (_POINTER, [_TEXT]),
    "netfc_format_name": (_TEXT, [_POINTER]),
    "netfc_format_title": (_TEXT, [_POINTER]),
    "netfc_decode": (ctypes.c_double, [_POINTER, _U16]),
    "netfc_encode": (_U16, [_POINTER, ctypes.c_double]),
    "netfc_exact_lanes": (_U8, _ARRAYS),
    "netfc_set_known_name": (_BOOL, [_UNSIGNED, _TEXT]),
    "netfc_set_build": (_INT, [_TEXT, ctypes.POINTER(_POINTER)]),
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
    "netfc_compute": (_U8, _ARRAYS),
    "netfc_step_writes": (_UNSIGNED, [ctypes.POINTER(Step), ctypes.POINTER(_U8)]),
    "netfc_walk": (Result, [_POINTER, _INT, _U16, _U16, WALK_FUNCTION, _POINTER]),
}


class Library:
    """The shared library libnetfc.

    build: folder of a build of dpdk-netfc; without it the library that the system finds.
    Raises LibraryError where it is missing, or of another version than this package.
    """

    def __init__(self, build: str | os.PathLike[str] | None = None):
        self.functions: Any = _open(build)
        self.version = _version(self.functions)
        if self.version != VERSION:
            raise LibraryError(
                f"libnetfc is {self.version}, and netfc for Python is {VERSION}: install both from"
                " one release (Debian: libnetfc0 and python3-netfc)"
            )
        for name, (result, arguments) in _PROTOTYPES.items():
            function = getattr(self.functions, name)
            function.restype, function.argtypes = result, arguments


def default() -> Library:
    """The library of the build that the environment variable NETFC_BUILD names, else the system's.

    Raises LibraryError, see Library.
    """
    return _default(os.environ.get(BUILD_VARIABLE) or None)


@functools.lru_cache
def _default(build: str | None) -> Library:
    return Library(build)


def on_arrays(
    function: Any, handle: Any, op_number: int, x: Encodings, y: Encodings
) -> tuple[Encodings, Flags]:
    """Results and exception flags of netfc_compute() or netfc_exact_lanes(), in the shape of x."""
    if x.size > MAX_LANES:
        raise ValueError(f"{x.size} lanes are more than {MAX_LANES}, the most in one call")
    z, flags = numpy.empty(x.shape, numpy.uint16), numpy.empty(x.shape, numpy.uint8)
    x, y = numpy.ascontiguousarray(x), numpy.ascontiguousarray(y)
    function(
        handle, op_number, x.ctypes.data, y.ctypes.data, z.ctypes.data, flags.ctypes.data, x.size
    )
    return z, flags


def _open(build: str | os.PathLike[str] | None) -> ctypes.CDLL:
    if build is None:
        try:
            return ctypes.CDLL(SONAME)
        except OSError as error:
            raise LibraryError(
                f"{error}: install the Debian package libnetfc0, or build dpdk-netfc and let the"
                f" environment variable {BUILD_VARIABLE} name the folder of the build"
            ) from error
    path = pathlib.Path(build).resolve() / "lib" / "netfc" / SONAME
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(
            f"{error}: '{build}' is not the folder of a build; make one with"
            f' "meson setup {build} && ninja -C {build}"'
        ) from error


def _version(functions: ctypes.CDLL) -> str:
    try:
        ask = functions.netfc_version
    except AttributeError:
        return "older than 0.1.0"
    ask.restype, ask.argtypes = ctypes.c_char_p, []
    return str(ask().decode())
