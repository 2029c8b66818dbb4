# SPDX-License-Identifier: BSD-3-Clause
"""Shared libraries by ctypes: found, checked for their version, and their functions declared."""

import ctypes
import os
import pathlib
import weakref
from collections.abc import Mapping
from typing import Any

from netfc._native.place import FOLDER
from netfc._native.version import VERSION
from netfc.errors import LibraryError

BUILD_VARIABLE = "NETFC_BUILD"

# Of each function, what it gives, and what it takes.
Prototypes = Mapping[str, tuple[Any, list[Any]]]


def named_build() -> str | None:
    """The folder of a build that the environment variable NETFC_BUILD names, or None."""
    return os.environ.get(BUILD_VARIABLE) or None


def load(
    soname: str,
    folder: str,
    prototypes: Prototypes,
    version: str,
    build: str | os.PathLike[str] | None,
) -> Any:
    """The functions of a shared library, declared.

    soname: libNAME.so.NUMBER; folder: where a build has it, below lib; version: the function that
    tells it. build: folder of a build of dpdk-netfc; None: the library that was installed with this
    package, or that the system finds.
    Raises LibraryError where it is missing, or not of this package's version and sources.
    """
    functions = _open(soname, folder, build)
    found = _version(functions, version)
    if found != VERSION:
        raise LibraryError(
            f"{_name(soname)} is {found}, and netfc for Python is {VERSION}: install both from one"
            f" release (Debian: {_package(soname)} and python3-netfc)"
        )
    for name, (result, arguments) in prototypes.items():
        function = getattr(functions, name, None)
        if function is None:
            raise LibraryError(
                f"{_name(soname)} {found} has no {name}(): it is of earlier sources than this"
                " package; build it again"
            )
        function.restype, function.argtypes = result, arguments
    return functions


class Owned(ctypes.c_void_p):
    """The address of what a library has made: see owned()."""


def owned(address: int | None, free: Any) -> Owned:
    """An address for whom it belongs to. Copies of that object share it, and with the last one
    `free`, a function of the library, frees what is there."""
    owner = Owned(address)
    # At the end of the process, what else runs then may use it still.
    weakref.finalize(owner, free, address).atexit = False
    return owner


def _name(soname: str) -> str:
    return soname.partition(".so")[0]


def _package(soname: str) -> str:
    return soname.replace(".so.", "")


def _open(soname: str, folder: str, build: str | os.PathLike[str] | None) -> ctypes.CDLL:
    if build is None:
        try:
            return ctypes.CDLL(os.path.join(FOLDER, soname))
        except OSError as error:
            raise LibraryError(
                f"{error}: install the Debian package {_package(soname)}, or build dpdk-netfc and"
                f" let the environment variable {BUILD_VARIABLE} name the folder of the build"
            ) from error
    path = pathlib.Path(build).resolve() / "lib" / folder / soname
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise LibraryError(
            f"{error}: '{build}' is not the folder of a build; make one with"
            f' "meson setup {build} && ninja -C {build}"'
        ) from error


def _version(functions: ctypes.CDLL, name: str) -> str:
    try:
        ask = getattr(functions, name)
    except AttributeError:
        return "older than 0.1.0"
    ask.restype, ask.argtypes = ctypes.c_char_p, []
    return str(ask().decode())
