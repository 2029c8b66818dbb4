# SPDX-License-Identifier: BSD-3-Clause
"""The data sets: pairs of operands, the same bytes on every machine.

The paper says "randomly generated" and no more, so that I and II come in two readings each: drawn
evenly from the encodings (so that all orders of magnitude are as frequent), or from the values.
"""

import hashlib
import pathlib

import numpy

from programs import CommandError

PAIRS = 10000
SEEDS = {"I": 11, "I-values": 12, "II": 21, "II-values": 22}
NAMES = ("I", "I-values", "II", "II-values", "III")
TITLES = {name: name.replace("-", ", ") for name in NAMES}
MEANINGS = {
    "I": "finite numbers, uniform over encodings",
    "I-values": "the same range, uniform over values",
    "II": "decimals in (-1, 1), uniform over encodings",
    "II-values": "decimals in (-1, 1), uniform over values",
    "III": "gradients of two workers in (-0.01, 0.01)",
}
DIGESTS = pathlib.Path(__file__).resolve().parents[3] / "data" / "sha256sums"


def finite_encodings(number_format):
    """All encodings of finite numbers."""
    bits = numpy.arange(1 << number_format.bits)
    return bits[numpy.isfinite(number_format.decode(bits))]


def from_encodings(number_format, name, limit):
    """Pairs of encodings of numbers below a limit."""
    bits = finite_encodings(number_format)
    bits = bits[numpy.abs(number_format.decode(bits)) < limit]
    return numpy.random.default_rng(SEEDS[name]).choice(bits, (2, PAIRS))


def from_values(number_format, name, limit):
    """Pairs of numbers from -limit to limit, rounded to the format."""
    values = numpy.random.default_rng(SEEDS[name]).uniform(-limit, limit, (2, PAIRS))
    return number_format.encode(values)


def make(number_format, gradients):
    """All data sets in a format: arrays of shape (2, pairs) by name."""
    largest = numpy.abs(number_format.decode(finite_encodings(number_format))).max()
    pairs = {
        "I": from_encodings(number_format, "I", numpy.inf),
        "I-values": from_values(number_format, "I-values", largest),
        "II": from_encodings(number_format, "II", 1),
        "II-values": from_values(number_format, "II-values", 1),
        "III": number_format.encode(gradients),
    }
    return {name: pairs[name].astype(numpy.uint16) for name in NAMES}


def write(folder, number_format, data):
    """Write each data set as netfc-bench reads operands: x, y, x, y, ... as on the wire."""
    for name, pairs in data.items():
        path = folder / f"{name}-{number_format.name}.bin"
        path.write_bytes(pairs.T.astype(f">u{number_format.bits // 8}").tobytes())
        yield path


def check(paths):
    """Fail if a file is not the recorded one, to the byte."""
    recorded = dict(line.split()[::-1] for line in DIGESTS.read_text(encoding="ascii").splitlines())
    for path in paths:
        digest, known = hashlib.sha256(path.read_bytes()).hexdigest(), recorded.get(path.name)
        if known != digest:
            raise CommandError(f"{path.name} has SHA-256 {digest}, but {DIGESTS} says {known}")
