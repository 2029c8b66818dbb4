# SPDX-License-Identifier: BSD-3-Clause
"""Sizes and times as texts."""


def size_text(size):
    """For people."""
    for unit, name in ((1_000_000, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} bytes"


def time_text(seconds):
    """For people."""
    if seconds < 1e-5:
        return f"{1e6 * seconds:.1f} us"
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.2f} ms"
