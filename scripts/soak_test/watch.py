# SPDX-License-Identifier: BSD-3-Clause
"""What a switch holds, and how much more of it is a leak."""

import os
import pathlib
import time

MAX_GROWTH_KB = 4096
# An allocation takes a free piece of the EAL's heap whole where less than a cache line or two would
# be left of it: what is in use moves by some lines with the order of swaps. The least leak, one
# element and its header (128 bytes) a swap, is past this after four swaps.
MAX_HEAP_MOVES = 512


def resident_kb(process):
    """Memory of a process that is not file-backed, in kB; the EAL's heap is not in it."""
    for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1])
    raise RuntimeError("no RssAnon")


def open_files(process):
    """How many it keeps: a client that has just gone is closed by a thread that needs a moment."""
    counts = []
    for _ in range(10):
        counts.append(len(os.listdir(f"/proc/{process.pid}/fd")))
        time.sleep(0.05)
    return min(counts)
