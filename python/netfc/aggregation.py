# SPDX-License-Identifier: BSD-3-Clause
"""Aggregation on the wire: its numbers, their names, and messages as bytes.

docs/protocol.md describes it; lib/aggregate/aggregate_wire.h says the same in C.
"""

import dataclasses
import struct

from netfc import protocol

OPS = {"join": 32, "sum": 33, "mean": 34, "min": 35, "max": 36, "leave": 40}
FORMAT_IDS = {**protocol.FORMAT_IDS, "fp32": 5, "int32": 6}
# As numpy has them on the wire; None: numpy has no such type.
DTYPES = {1: ">f2", 2: ">u2", 3: ">u2", 4: ">u2", 5: ">f4", 6: ">i4"}
REASONS = {
    0: "none",
    1: "off",
    2: "waiting",
    3: "no-job",
    4: "mismatch",
    5: "full",
    6: "window",
    8: "cookie",
}
SILENT = 64  # and the number of the worker

UDP_PORT = 20040  # of the first shard
CODE = 7  # of a status whose reason is in the header
HEADER = struct.Struct(">HBBBBHIHBBQ")  # as protocol.HEADER, then job, worker, reason, token
JOIN = struct.Struct(">BBHHHQ")  # workers, shards, slots, bytes, least, cookie

OP_NAMES = {number: name for name, number in OPS.items()}
FORMAT_NAMES = {number: name for name, number in FORMAT_IDS.items()}


@dataclasses.dataclass(frozen=True)
class Worker:
    """A worker's place in a job: what stands in every message of it."""

    job: int
    token: int
    number: int


def value_bytes(format_id: int) -> int:
    """Bytes of a value: 2 or 4."""
    return 4 if format_id >= FORMAT_IDS["fp32"] else 2


def reason_name(reason: int) -> str:
    """The name of a reason: "waiting", or "silent 3" for worker 3."""
    if reason >= SILENT:
        return f"silent {reason - SILENT}"
    return REASONS.get(reason, f"unknown {reason}")


def _header(worker: Worker, op: int, format_id: int, count: int, message_id: int) -> bytes:
    return HEADER.pack(
        protocol.MAGIC, protocol.VERSION, op, format_id, 0, count, message_id,
        worker.job, worker.number, 0, worker.token,
    )  # fmt: skip


def join(
    worker: Worker, workers: int, slots: int, chunk_bytes: int, cookie: int = 0, message_id: int = 0
) -> bytes:
    """A request to join: `slots` and `chunk_bytes` (of values in a chunk) as wanted."""
    asked = JOIN.pack(workers, 0, slots, chunk_bytes, 0, cookie)
    return _header(worker, OPS["join"], 0, 0, message_id) + asked


def leave(worker: Worker, message_id: int = 0) -> bytes:
    """A request to leave."""
    return _header(worker, OPS["leave"], 0, 0, message_id)


def chunk(worker: Worker, op: int, format_id: int, number: int, values: bytes) -> bytes:
    """A chunk of values, which are big-endian already."""
    count = len(values) // value_bytes(format_id)
    return _header(worker, op, format_id, count, number & 0xFFFFFFFF) + values
