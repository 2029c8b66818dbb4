# SPDX-License-Identifier: BSD-3-Clause
"""What a switch holds, and how much more of it is a leak."""

import os
import pathlib
import re
import time

MAX_GROWTH_KB = 4096
# An allocation takes a free piece of the EAL's heap whole where less than a cache line or two would
# be left of it: what is in use moves by some lines with the order of swaps. The least leak, one
# element and its header (128 bytes) a swap, is past this after four swaps.
MAX_HEAP_MOVES = 512


def held(process, telemetry):
    """Memory and open files. Memory that is file-backed is left out, and so is the EAL's heap."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    heaps = [telemetry.ask(f"/eal/heap_info,{heap}") for heap in telemetry.ask("/eal/heap_list")]
    return {"resident_kb": int(re.search(r"RssAnon:\s+(\d+)", status)[1]),
            "open_files": open_files(process),
            "heap_bytes": sum(heap["Alloc_size"] for heap in heaps)}


def open_files(process):
    """How many it keeps: a client that has just gone is closed by a thread that needs a moment."""
    counts = []
    for _ in range(10):
        counts.append(len(os.listdir(f"/proc/{process.pid}/fd")))
        time.sleep(0.05)
    return min(counts)


def growth(first, last):
    """Between two times of held(): figures of a report, and what of them must hold."""
    memory, heap = (last[name] - first[name] for name in ("resident_kb", "heap_bytes"))
    return {"memory_growth_kb": memory, "heap_growth_bytes": heap}, {
        f"memory grew by less than {MAX_GROWTH_KB} kB": memory < MAX_GROWTH_KB,
        f"the EAL's heap grew by less than {MAX_HEAP_MOVES} bytes": heap < MAX_HEAP_MOVES,
        "no more open files": last["open_files"] <= first["open_files"]}
