# SPDX-License-Identifier: BSD-3-Clause
"""What the evaluation is doing, human-readable: numbered steps on stdout, percentages on a terminal."""

import sys
import time


class Progress:
    """Steps one after the other; use start() for each and finish() at the end."""

    def __init__(self, steps):
        self._steps, self._number, self._began = steps, 0, None
        self._start = time.monotonic()
        self._name, self._label = "", ""
        self._terminal = sys.stdout.isatty()
        self._shown = 0

    @property
    def seconds(self):
        """Time since the beginning."""
        return time.monotonic() - self._start

    def start(self, name):
        """A new step begins."""
        self._end_step()
        self._number += 1
        self._name, self._label, self._began = name, "", time.monotonic()
        self._print(f"[{self._number}/{self._steps}] {name}", "" if self._terminal else "\n")

    def label(self, text):
        """A part of the step begins."""
        self._label = text
        if not self._terminal:
            self._print(f"      {text}, {self.seconds:.0f} s", "\n")
        self.update(0)

    def update(self, share):
        """The step, or its part, has come that far: 0 to 1."""
        if self._terminal:
            text = f"[{self._number}/{self._steps}] {self._name} {self._label} {share:.0%}"
            self._print(f"\r{text:{self._shown}}", "")
            self._shown = len(text)

    def finish(self):
        """All steps are done."""
        self._end_step()
        self._print(f"Done in {self.seconds:.0f} s.", "\n")

    def _end_step(self):
        if self._began is not None and self._terminal:
            text = f"[{self._number}/{self._steps}] {self._name}"
            taken = f"{time.monotonic() - self._began:.1f} s"
            self._print(f"\r{text}: {taken:{self._shown}}", "\n")
            self._shown = 0
        self._began = None

    @staticmethod
    def _print(text, end):
        print(text, end=end, flush=True)
