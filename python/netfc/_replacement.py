# SPDX-License-Identifier: BSD-3-Clause
"""Files that appear complete or not at all, as programs in C write them (lib/netfc/replace.h)."""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from typing import IO, Any

_LONGEST_NAME = 255
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], encoding: str | None = None) -> Iterator[IO[Any]]:
    """A file to write, of bytes if there is no encoding, that is in its place after the block.

    What is there already keeps its owner and its mode, and links go on to lead to it; and all of it
    stays if the block fails. Where a rename cannot do that, as for devices, pipes, files with
    several names and those of others, it is written in place, and cut then. Raises OSError.
    """
    target = os.path.realpath(path)
    temporary = _beside(target) if _can_replace(path) else None
    if temporary is None:
        with _stream(os.open(path, _WRITE, 0o666), encoding) as stream:
            yield stream
            _cut(stream)
        return
    descriptor, name = temporary
    try:
        with _stream(descriptor, encoding) as stream:
            yield stream
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _stream(descriptor: int, encoding: str | None) -> IO[Any]:
    return open(descriptor, "w" if encoding else "wb", encoding=encoding)


def _can_replace(path: str | os.PathLike[str]) -> bool:
    """Whether nobody notices but who reads it. Where a link leads nowhere, a file is made there."""
    try:
        there = os.stat(path)
    except FileNotFoundError:
        return not os.path.islink(path)
    return stat.S_ISREG(there.st_mode) and there.st_nlink == 1


def _beside(target: str) -> tuple[int, str] | None:
    """A new file in its folder, with the owner and the mode of the target, if that is there."""
    folder, own = os.path.split(target)
    suffix = f".{secrets.token_hex(4)}"
    name = os.path.join(
        folder, os.fsdecode(os.fsencode(own)[: _LONGEST_NAME - len(suffix)]) + suffix
    )
    try:
        there = os.stat(target)
    except FileNotFoundError:
        there = None
    try:
        descriptor = os.open(name, _WRITE | os.O_EXCL, 0o600 if there else 0o666)
    except OSError:  # the file itself may be one that can be written, or says what is wrong
        return None
    try:
        if there is not None:
            _make_alike(descriptor, there)
    except OSError:
        os.close(descriptor)
        os.unlink(name)
        return None
    return descriptor, name


def _make_alike(descriptor: int, there: os.stat_result) -> None:
    own = os.fstat(descriptor)
    if (own.st_uid, own.st_gid) != (there.st_uid, there.st_gid):
        os.fchown(descriptor, there.st_uid, there.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(there.st_mode))


def _cut(stream: IO[Any]) -> None:
    """What was longer in place."""
    stream.flush()
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        os.ftruncate(stream.fileno(), os.lseek(stream.fileno(), 0, os.SEEK_CUR))
