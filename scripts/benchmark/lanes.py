# SPDX-License-Identifier: BSD-3-Clause
"""Lanes of 32 bits, or of another table set: million lanes a second by engine and instruction set."""

import os
import pathlib
import tempfile

import numpy

import programs
from benchmark.matrix import PAYLOAD
from command import CommandLine, head, row, write_json
from netfc import Fp32, capture, formats, protocol

PACKETS = 256
OPERANDS = ("normal", "bits", "subnormal")
# Engine, bits of vectors (None: it has no kernels), megabytes, what the row is called.
ENGINES = (
    ("direct", 512, 256, "direct, AVX-512"),
    ("direct", 256, 256, "direct, AVX2"),
    ("direct", 64, 256, "direct, plain C"),
    ("fpu", 512, 256, "fpu, AVX-512"),
    ("lpm", None, 1536, "lpm"),
    ("hash", None, 512, "hash"),
)


def subnormal(op, lanes, draw):
    """x and y whose products, quotients and most sums are subnormal."""
    scales = {"mul": (-60, -77), "div": (-60, 77)}.get(op, (-130, -130))
    numbers = draw.uniform(1, 2, (2, lanes)) * draw.choice((-1, 1), (2, lanes))
    return Fp32().encode(numpy.ldexp(numbers, numpy.array(scales)[:, None]))


def operands(form, kind, op, lanes, draw):
    """x and y: normally distributed numbers, random encodings, or what makes subnormal results."""
    if kind == "bits":
        return draw.integers(1 << form.bits, size=(2, lanes), dtype=form.encodings)
    if kind == "subnormal":
        return subnormal(op, lanes, draw)
    return form.encode(draw.standard_normal((2, lanes)))


def write_requests(path, form, op, kind, lanes):
    """A capture of requests that differ in their operands alone."""
    draw = numpy.random.default_rng(32)
    payloads = (protocol.request(protocol.OPS[op], form.id, *operands(form, kind, op, lanes, draw),
                                 number) for number in range(PACKETS))
    capture.write(path, [capture.udp_frame(payload) for payload in payloads])


def measure(options, requests, engine, bits, megabytes):
    """Million lanes a second: those of the fastest round, as others only add cycles."""
    limit = [] if bits is None else [f"--force-max-simd-bitwidth={bits}"]
    lcore = f"0@{max(os.sched_getaffinity(0))}"
    timed = programs.timed(options.build, requests, options.set, engine, options.rounds,
                           programs.eal("lanes", programs.no_huge(megabytes), lcore, *limit))
    return timed["tsc_hz"] * timed["lanes"] / min(timed["pipeline"]) / 1e6


def rates(folder, engine, kind, options):
    """Million lanes a second of each operation."""
    name, bits, megabytes, _ = engine
    for op in protocol.OPS:
        requests = folder / f"{op}-{kind}"
        if not requests.exists():
            write_requests(requests, options.format, op, kind, options.lanes)
        yield measure(options, requests, name, bits, megabytes)


def check(parser, options):
    """What the table set, by its name, and its packets have."""
    name = max((name for name in formats.NUMBER_FORMATS if options.set.startswith(name)),
               key=len, default=None)
    if name is None:
        parser.error(f"--set {options.set}: no name of a table set")
    options.format = formats.NUMBER_FORMATS[name]
    most = protocol.lanes_in(PAYLOAD, options.format.id)
    if options.lanes is None:
        options.lanes = most
    if options.lanes > most:
        parser.error(f"--lanes {options.lanes}: 1 to {most} fit a packet of 1,500 bytes")


def parsed():
    """The command line."""
    parser = CommandLine("bench lanes", __doc__, check)
    parser.add_argument("--set", default="fp32_exact", help="the table set (%(default)s)")
    parser.add_argument("--lanes", type=int, help="of a packet (as many as 1,500 bytes have)")
    parser.add_argument("--match", choices=sorted({engine[0] for engine in ENGINES}),
                        help="one match engine (default all)")
    parser.add_argument("--rounds", type=int, default=41, help="of each figure (%(default)s)")
    return parser, parser.parse_args()


def print_table(folder, options):
    """A row for each engine and kind of operands; yields them."""
    print(head("", "operands", *protocol.OPS), flush=True)
    for engine in ENGINES:
        if options.match not in (None, engine[0]):
            continue
        for kind in OPERANDS if options.format == Fp32() else OPERANDS[:2]:
            found = list(rates(folder, engine, kind, options))
            print(row(engine[3], kind, *(f"{rate:,.0f}" for rate in found)), flush=True)
            yield engine[3], kind, found


def main():
    """Print the table."""
    parser, options = parsed()
    with tempfile.TemporaryDirectory(prefix="netfc-") as folder, parser.told():
        write_json(options.json, list(print_table(pathlib.Path(folder), options)))


if __name__ == "__main__":
    main()
