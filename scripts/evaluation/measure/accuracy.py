# SPDX-License-Identifier: BSD-3-Clause
"""The accuracy of table sets on the data sets, from the running switch."""

import re

import numpy

import programs
from evaluation.measure import measures, switch
from netfc import FORMATS, TableSet


class Mismatch(programs.CommandError):
    """Two computations that must agree do not."""


class Cell:
    """One format, data set and group of operations: what is expected of each operation."""

    def __init__(self, number_format, data_set, group, pairs):
        self.format, self.data_set, self.group, self.pairs = number_format, data_set, group, pairs
        self.expected = {op: measures.expected_bits(number_format, op, pairs)
                         for op in measures.OPERATIONS[group]}

    @property
    def key(self):
        """What the cell is called in results."""
        return f"{self.format.name} {self.group} {self.data_set}"

    def jobs(self):
        """The cell's lanes for the switch, an operation each."""
        return [switch.Job(self.format.id, op, *self.pairs) for op in self.expected]

    def measure(self, jobs):
        """All measures of the results in jobs."""
        expected = numpy.concatenate([self.expected[job.op] for job in jobs])
        result = numpy.concatenate([job.z for job in jobs])
        facts = measures.measure(self.format, expected, result)
        if len(jobs) > 1:
            facts["by_op"] = {
                job.op: measures.measure(self.format, self.expected[job.op], job.z)["average"]
                for job in jobs}
        return facts


def make_cells(formats, data):
    """All cells; data: pairs by format name and data set."""
    return [Cell(number_format, data_set, group, pairs) for number_format in formats
            for data_set, pairs in data[number_format.name].items()
            for group in measures.OPERATIONS]


def check_expected(library, cells):
    """Fail unless numpy's expected results are the library's; returns how many there are."""
    count = 0
    for cell in cells:
        number_format = cell.format
        for op, bits in cell.expected.items():
            if not numpy.array_equal(number_format.exact(op, *cell.pairs, library), bits):
                raise Mismatch(f"{cell.key}, {op}: numpy and netfc_exact() differ")
            count += len(bits)
    return count


def format_of(name):
    """The format that a table set's name begins with."""
    return re.match(r"(.+?)_(k\d|exact)", name)[1]


def check_library(library, name, jobs):
    """Fail unless the library gives what the switch gave; returns how many lanes there are."""
    table_set = TableSet(name, library)
    for job in jobs:
        if not numpy.array_equal(table_set.compute(job.op, job.x, job.y), job.z):
            raise Mismatch(f"{name}, {job.op}: the switch and libnetfc differ")
    return sum(len(job.z) for job in jobs)


def run(build, library, tables, cells):
    """Send cells through the switch with table sets, {format: name}, and check the library.

    Returns measures by the cells' keys, and how many packets and lanes that took.
    """
    jobs = {cell.key: cell.jobs() for cell in cells}
    sent = [job for some in jobs.values() for job in some]
    packets = switch.compute(build, list(tables.values()), sent)
    lanes = 0
    for name in tables.values():
        format_id = FORMATS[format_of(name)].id
        lanes += check_library(library, name, [job for job in sent if job.format_id == format_id])
    facts = {cell.key: cell.measure(jobs[cell.key]) for cell in cells}
    return facts, {"packets": packets, "lanes": lanes}
