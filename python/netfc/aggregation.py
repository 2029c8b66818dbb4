# SPDX-License-Identifier: BSD-3-Clause
"""Aggregation on the wire: its numbers, their names, and messages as bytes.

docs/protocol.md describes it; lib/aggregate/aggregate_wire.h says the same in C.
"""

import dataclasses
import struct

from netfc import catalogue, protocol

_FORMATS = {row.number: row for row in catalogue.FORMATS}

OPS = catalogue.numbers(catalogue.AGGREGATION)
FORMAT_IDS = {
    **{row.name: number for number, row in _FORMATS.items()},
    **catalogue.format_pairs(),  # results of another format than the values'
}
REASONS = {
    0: "none",
    1: "off",
    2: "waiting",
    3: "no-job",
    4: "mismatch",
    5: "full",
    6: "window",
    8: "cookie",
    9: "failed",
}
MISSING = 64  # and the number of the worker whose values are missing
OWNER = (
    64  # and the number of the worker who gets a reduction's results, or whose values are copied
)
KINDS = {0: "results", 1: "sums", 2: "acknowledgement"}  # what a result's values are
# Why they are: the first byte of the reply's values; in packets without values, of count.
ABSENCES = {0: "silent", 1: "late", 2: "left", 3: "failed"}

UDP_PORT = 20040  # of the first shard
CODE = 7  # of a status whose reason is in the header
# As protocol.HEADER, then job, worker, reason, token (join) or session.
HEADER = struct.Struct(">HBBBBHIHBBQ")
JOIN = struct.Struct(">BBHHHQ")  # workers, shards, slots, bytes, least, cookie or session

OP_NAMES = {number: name for name, number in OPS.items()}
FORMAT_NAMES = {number: name for name, number in FORMAT_IDS.items()}


@dataclasses.dataclass(frozen=True)
class Worker:
    """A worker's place in a job: what stands in every message of it.

    session: as the reply to a complete join grants it; 0, as P4 switches grant: the token is it.
    """

    job: int
    token: int
    number: int
    session: int = 0


def values_format(format_id: int, of_result: bool = False) -> int:
    """Of a format as it stands on the wire: that of the values, or of the results."""
    return format_id >> 4 if of_result and format_id >> 4 else format_id & 15


def value_bytes(format_id: int, of_result: bool = False) -> int:
    """Bytes of a value, or of a result; 2 of a format that is not known."""
    number = values_format(format_id, of_result)
    return _FORMATS[number].bytes if number in _FORMATS else 2


def reason_name(reason: int, absence: int | None = None) -> str:
    """The name of a reason: "waiting", or "late 3" for worker 3.

    absence: the first byte of the reply's values; None: not known, "missing 3".
    """
    if reason >= MISSING:
        why = "missing" if absence is None else ABSENCES.get(absence, f"unknown {absence}")
        return f"{why} {reason - MISSING}"
    return REASONS.get(reason, f"unknown {reason}")


# pylint: disable-next=too-many-arguments,too-many-positional-arguments
def _header(
    worker: Worker, op: int, format_id: int, count: int, message_id: int, reason: int = 0
) -> bytes:
    secret = worker.token if op == OPS["join"] else worker.session or worker.token
    return HEADER.pack(
        protocol.MAGIC, protocol.VERSION, op, format_id, 0, count, message_id,
        worker.job, worker.number, reason, secret,
    )  # fmt: skip


def join(
    worker: Worker, workers: int, slots: int, chunk_bytes: int, cookie: int = 0, message_id: int = 0
) -> bytes:
    """A request to join: `slots` and `chunk_bytes` (of values in a chunk) as wanted.

    cookie: as the switch has given it; of a member that tells that it is alive, the session.
    """
    asked = JOIN.pack(workers, 0, slots, chunk_bytes, 0, cookie)
    return _header(worker, OPS["join"], 0, 0, message_id) + asked


def leave(worker: Worker, message_id: int = 0, reason: int = 0) -> bytes:
    """A request to leave. reason: why the worker fails, one of REASONS or MISSING + whom it blames;
    0: it does not."""
    return _header(worker, OPS["leave"], 0, 0, message_id, reason)


# pylint: disable-next=too-many-arguments,too-many-positional-arguments
def chunk(
    worker: Worker,
    op: int,
    format_id: int,
    number: int,
    values: bytes,
    owner: int = 0,
    count: int | None = None,
) -> bytes:
    """A chunk of values, which are big-endian already.

    owner: OWNER + worker, or 0. count: of values, where there are none: a copy that is not one's
    own.
    """
    if count is None:
        count = len(values) // value_bytes(format_id)
    return _header(worker, op, format_id, count, number & 0xFFFFFFFF, owner) + values
