# SPDX-License-Identifier: BSD-3-Clause
"""The four operations of what can compute."""

import abc
from typing import Any

from numpy.typing import ArrayLike, NDArray


class Arithmetic(abc.ABC):
    """add(), sub(), mul() and div() by compute()."""

    @abc.abstractmethod
    def compute(self, op: str, x: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        """x (op) y, lane by lane."""

    def add(self, x: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        """x + y, see compute()."""
        return self.compute("add", x, y)

    def sub(self, x: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        """x - y, see compute()."""
        return self.compute("sub", x, y)

    def mul(self, x: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        """x * y, see compute()."""
        return self.compute("mul", x, y)

    def div(self, x: ArrayLike, y: ArrayLike) -> NDArray[Any]:
        """x / y, see compute()."""
        return self.compute("div", x, y)
