# SPDX-License-Identifier: BSD-3-Clause
"""Exact sums of a worker's own arrays: nanoseconds and bytes for each lane, beside plain additions.

Lanes have the magnitudes of gradients: normal numbers, times another power of two for each of some
layers. The first addition also gets memory of the system; the others find it there.
"""

import mmap
import pathlib
import time

import numpy

from command import CommandLine, head, row, write_json
from netfc import allreduce

LAYERS, UNITS = 16, 12
TYPES = {"fp32": "f4", "bf16": "u2", "fp16": "f2", "fp64": "f8"}


def gradients(lanes, form):
    """Numbers of a format, as its array."""
    draw = numpy.random.default_rng(1)
    values = draw.standard_normal(lanes, "f4")
    for layer in numpy.array_split(values, LAYERS):
        layer *= 2.0 ** draw.integers(-20, -4)
    if form == "bf16":
        return (values.view("u4") >> 16).astype("u2")
    return values.astype(TYPES[form])


def resident():
    """Bytes of memory that this process has."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def seconds(call, times):
    """The least of some."""
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        found.append(time.perf_counter() - begun)
    return min(found)


def measured(form, options):
    """Of a format: nanoseconds a lane, and bytes."""
    values = gradients(options.lanes, form)
    plain = numpy.zeros(options.lanes, "f8" if form == "fp64" else "f4")
    other = values.astype(plain.dtype)
    totals = allreduce.Totals(options.lanes, form, options.build)
    result = numpy.zeros(options.lanes, totals.dtype)
    before = resident()
    figures = {"first": seconds(lambda: totals.add(values), 1),
               "next": seconds(lambda: totals.add(values), options.times)}
    lane_bytes = (resident() - before) / options.lanes
    figures["rounding"] = seconds(lambda: totals.result(result), options.times)
    totals.divide(UNITS)
    figures |= {"mean": seconds(lambda: totals.result(result), options.times),
                "clearing": seconds(totals.clear, 1),
                "plain": seconds(lambda: numpy.add(plain, other, plain), options.times)}
    return {"format": form, "bytes": lane_bytes,
            **{name: 1e9 * one / options.lanes for name, one in figures.items()}}


def main():
    """The command line."""
    parser = CommandLine("bench totals", __doc__)
    parser.add_argument("--lanes", type=int, default=1 << 22, help="(default %(default)s)")
    parser.add_argument("--times", type=int, default=10,
                        help="that each is done; the fastest counts (default %(default)s)")
    options = parser.parse_args()
    print(f"{options.lanes:,} lanes; nanoseconds a lane\n")
    print(head("format", "first addition", "further ones", "rounding", "of a mean", "clearing", "numpy's addition",
               "bytes a lane"))
    rows = [measured(form, options) for form in TYPES]
    for one in rows:
        print(row(one["format"], *(f"{one[name]:.2f}" for name in (
            "first", "next", "rounding", "mean", "clearing", "plain")), f"{one['bytes']:.1f}"))
    write_json(options.json, {"lanes": options.lanes, "formats": rows})


if __name__ == "__main__":
    main()
