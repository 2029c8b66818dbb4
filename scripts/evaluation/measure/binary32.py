# SPDX-License-Identifier: BSD-3-Clause
"""binary32: fp32_exact on the same kinds of data, float-to-integer in 32 bits, memory, stages.

Operands are encodings, uint32. Results come from the set's tables, in libnetfc, and are compared
with the processor's own.
"""

import pathlib
import re

import numpy

from evaluation.measure import baseline, datasets, measures, memory
from netfc import Fp32, TableSet

SET = "fp32_exact"
FORMAT = Fp32()
LARGEST = float(numpy.finfo(numpy.float32).max)
# Float-to-integer: factors tried for the best one, two to each power of two.
FACTORS = 2.0 ** numpy.arange(-100, 101, 1 / 2)
WRAP_BITS = 32
# How often one pass looks up which tables; all of those that are not named, for all operations.
SUM_TABLES = {"exps": 1, "lead": 1, "norm": 1, "round": 1}
QUOTIENT_TABLES = ("recip", "cross")
P4_PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "p4.md"


# ---- data ------------------------------------------------------------------------------------


def from_encodings(name, limit):
    """Pairs of encodings of numbers below a limit: magnitudes and signs."""
    draw = numpy.random.default_rng(datasets.SEEDS[name])
    end = int(numpy.float32(limit).view(numpy.uint32))
    magnitudes = draw.integers(0, end, (2, datasets.PAIRS), dtype=numpy.uint32)
    signs = draw.integers(0, 2, magnitudes.shape, dtype=numpy.uint32)
    return magnitudes | signs << numpy.uint32(31)


def from_values(name, limit):
    """Pairs of numbers from -limit to limit, rounded to binary32."""
    draw = numpy.random.default_rng(datasets.SEEDS[name])
    return FORMAT.encode(limit * draw.uniform(-1, 1, (2, datasets.PAIRS)))


def make(gradients):
    """All data sets: arrays of shape (2, pairs) by name."""
    return {
        "I": from_encodings("I", numpy.inf),
        "I-values": from_values("I-values", LARGEST),
        "II": from_encodings("II", 1),
        "II-values": from_values("II-values", 1),
        "III": FORMAT.encode(gradients),
    }


# ---- accuracy --------------------------------------------------------------------------------


def measure_group(table_set, ops, pairs):
    """All measures of a group of operations on a data set; expected is the processor's.

    Without accuracy if no lane counts.
    """
    x, y = FORMAT.decode(pairs)
    with numpy.errstate(all="ignore"):
        expected = numpy.concatenate([measures.REAL[op](x, y) for op in ops])
    result = numpy.concatenate([table_set.compute(op, *pairs) for op in ops])
    values = FORMAT.decode(result)
    lanes = numpy.isfinite(expected) & (expected != 0)
    same = (expected.view(numpy.uint32) == result) | (numpy.isnan(expected) & numpy.isnan(values))
    facts = {"lanes": int(lanes.sum()), "all": len(lanes), "differing": int((~same).sum())}
    if not lanes.any():
        return facts
    expected, values = (array[lanes].astype(numpy.float64) for array in (expected, values))
    facts.update(measures.summary(measures.accuracy(expected, values)))
    ulps = measures.ordinals(FORMAT, FORMAT.encode(expected)) - measures.ordinals(FORMAT, result[lanes])
    facts["exact"] = float(100 * numpy.mean(ulps == 0))
    return facts


# ---- float-to-integer ------------------------------------------------------------------------


def measure_baseline(pairs):
    """The best of FACTORS, by average accuracy, for additions and subtractions."""
    operands = baseline.both_ways(*FORMAT.decode(pairs).astype(numpy.float64))
    total = numpy.abs(operands[2])
    operands = operands[:, (total != 0) & (total <= LARGEST)]
    tried = (baseline.measure_factor(operands, factor, WRAP_BITS) for factor in FACTORS)
    best = max(tried, key=lambda facts: facts["average"])
    return {**best, "log2_factor": float(numpy.log2(best["factor"]))}


# ---- memory and stages -----------------------------------------------------------------------


def slot_bytes(sizes):
    """Bytes of all slots that one pass needs, by operations."""
    tables = {table["table"]: table for table in sizes["tables"]}
    sums = sum(tables[name]["slot_bytes"] * copies for name, copies in SUM_TABLES.items())
    everything = sizes["total"]["slot_bytes"]
    quotients = sum(tables[name]["slot_bytes"] * tables[name]["copies"] for name in QUOTIENT_TABLES)
    return {"sums": sums, "products": everything - quotients, "all": everything}


def stages():
    """Stages of the P4 programs, as p4/report printed them: by chip and operations."""
    rows = re.findall(
        r"^\| (Tofino \d) \| fp32 \| exact, (\w+) \| 1 \| (\d+) \|", P4_PAGE.read_text("utf-8"), re.M
    )
    return {f"{chip} {ops}": int(count) for chip, ops, count in rows}


def run(build, library, folder, gradients):
    """Everything, as what JSON can hold."""
    data = make(gradients)
    datasets.check(list(datasets.write(folder, FORMAT, data)))
    table_set = TableSet(SET, library)
    sizes = memory.sizes(build, SET)
    return {
        "accuracy": {f"{group} {name}": measure_group(table_set, ops, pairs)
                     for group, ops in measures.OPERATIONS.items() for name, pairs in data.items()},
        "baseline": {name: measure_baseline(pairs) for name, pairs in data.items()},
        "bytes": slot_bytes(sizes),
        "single_bytes": sizes["single_bytes"],
        "stages": stages(),
    }
