# SPDX-License-Identifier: BSD-3-Clause
"""The tables of the aggregating programs, p4/include/aggregate: requests, and what values add."""

import numpy

from netfc.aggregation import FORMAT_IDS, OPS
from netfc.p4 import requests
from netfc.p4.table import Table, Words
from netfc.protocol import VERSION, Code

# As p4/include/aggregate/sizes.p4 numbers programs.
_LAYOUTS = {"sums": 4, "results": 5}
# What stands for no finite number (lib/aggregate/include/aggregate_registers.h).
_INF, _NAN, _MINUS_ZERO = 0x40000000, 0x60000000, -1 << 31


def aggregate_tables(
    kind: str, form: str, lanes: int, udp_port: int, has_parts: bool
) -> list[Table]:
    """All tables of an aggregating program but those of its jobs.

    kind: "results" or "sums", which it sends; has_parts: what values add is looked up, on Tofino
    """
    number = _LAYOUTS[kind] << 12 | FORMAT_IDS[form] << 8 | lanes
    parts = [_part_table(form)] if has_parts and form != "int32" else []
    return [_request_table(kind, form, udp_port), *parts, requests.program_table(number)]


def _request_table(kind: str, form: str, udp_port: int) -> Table:
    actions = "chunk()", "join()", "leave()", "refuse(code)"
    table = Table("request", requests.KEYS, *actions, shared=True)
    version = requests.packets(udp_port)
    requests.refuse(table, version, requests.NO_VERSION, Code.VERSION)
    version |= {"version": requests.byte(VERSION)}
    requests.refuse(table, version, requests.NO_OP, Code.OP)
    for op in ("sum", *(["mean"] if kind == "sums" else []), "join", "leave"):
        matches = version | {"op": requests.byte(OPS[op])}
        if op in ("join", "leave"):
            table.add(op, matches)
            continue
        requests.refuse(table, matches, requests.NO_FORMAT, Code.FORMAT)
        table.add("chunk", matches | {"format": requests.byte(FORMAT_IDS[form])})
    return table


def _part_table(form: str) -> Table:
    if form == "fp16":
        table = Table("part", "x", "set(part)", outer="IngressPipe")
        x = numpy.arange(1 << 16)
        part = _fp16_parts(x)
    else:
        table = Table("even.part odd.part", "x", "set(part)", lanes=2, outer="IngressPipe")
        x = numpy.arange(1 << 8)
        part = _fp8_e4m3_parts(x)
    table.fill([x], [part])
    return table


def _fp16_parts(x: Words) -> Words:
    """What values add to one of their two integers; which one, the program knows."""
    exponent, magnitude = x >> 10 & 0x1F, x & 0x7FFF
    significand = x & 0x3FF | (exponent != 0) << 10
    part: Words = significand << numpy.where(
        exponent >= 16, exponent - 16, exponent - (exponent != 0)
    )
    part = numpy.where(x >> 15, -part, part)
    part[magnitude == 0x7C00] = _INF
    part[magnitude > 0x7C00] = _NAN
    part[0x8000] = _MINUS_ZERO
    return part


def _fp8_e4m3_parts(x: Words) -> Words:
    """The same of fp8_e4m3, which has one."""
    exponent = x >> 3 & 0xF
    part: Words = (x & 7 | (exponent != 0) << 3) << (exponent - (exponent != 0))
    part = numpy.where(x >> 7, -part, part)
    part[x & 0x7F == 0x7F] = _NAN
    part[0x80] = _MINUS_ZERO
    return part
