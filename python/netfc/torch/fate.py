# SPDX-License-Identifier: BSD-3-Clause
"""Once one of a process group's collectives has failed, all others fail with the same error."""

import copy
import threading
from collections.abc import Callable


class Fate:
    """Of one process group. What it gives and raises are copies of its error: a traceback would
    keep the group, and its callers' tensors."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self._lock = threading.Lock()
        self._ends: list[Callable[[], None]] = []

    def shares(self, end: Callable[[], None]) -> None:
        """To be called when it has failed: it ends what is under way."""
        with self._lock:
            self._ends.append(end)

    def check(self) -> None:
        """Raises the error if it has failed."""
        if self.error is not None:
            raise copy.copy(self.error)

    def fail(self, error: Exception) -> Exception:
        """It has failed; gives the error of it all, the first."""
        with self._lock:
            if self.error is None:
                self.error = error
            error, ends, self._ends = self.error, self._ends, []
        for end in ends:
            end()
        return copy.copy(error)
