# SPDX-License-Identifier: BSD-3-Clause
"""Objects that never change and have what is libnetfc's: copied and pickled."""

from typing import Any, Self


class Unchanging:
    """Copies are the object itself; a pickle makes it anew, by the library of the process that
    reads it.

    _made: arguments of the class; None: those of a file, which another process may not have
    """

    _made: tuple[Any, ...] | None = None

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _: Any) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._made is None:
            raise TypeError(f"{self!r} is of a file, which is no part of a pickle: load it there")
        return type(self), self._made
