# SPDX-License-Identifier: BSD-3-Clause
"""Aggregation on the wire: its numbers, their names, and messages as bytes.

docs/protocol.md describes it; lib/aggregate/include/aggregate_wire.h says the same in C.
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
    10: "loop",
    11: "place",
    12: "no-parent",
    13: "parent",
    14: "taken",
    15: "digits",
    16: "no-slots",
}
# What the sender of a join is or knows, a set in byte 15; of a granted join: what members may use.
FEATURES = {1: "labels", 2: "leaf", 4: "zeros", 8: "divisors"}
LABELS, LEAF, ZEROS, DIVISORS = FEATURES
MISSING = 64  # and the number of the worker whose values are missing
OWNER = (
    64  # and the number of the worker who gets a reduction's results, or whose values are copied
)
DIGITS = 0x80  # set in a chunk's owner: its values are a part of exact sums, as digits
LABELLED = 0x01  # in a request's status: a copy of nothing, with a call's label after the header
OF_ZEROS = 0x02  # in a request's status: its values are all +0, and it is a header alone
LABEL = struct.Struct(">I")
MAX_PARTS = 64  # of a member's sums of a chunk
MAX_LEVELS = 4  # of switches above the one that a worker joins
MAX_TREE_WORKERS = 1 << 24
HAS_MARKS = 0x80  # set in a part's width: after the digits, each lane has a set of MARKS
HAS_DIVISOR = 0x80  # set in its number of parts: a divisor of 1 to MAX_DIVISOR is after all that
MAX_DIVISOR = 1 << 24
MARKS = {1: "NaN", 2: "+inf", 4: "-inf", 8: "-0"}
# What a result's values are.
KINDS = {0: "results", 1: "sums", 2: "acknowledgement", 3: "zeros"}
# Why they are: the first byte of the reply's values; in packets without values, of count.
ABSENCES = {0: "silent", 1: "late", 2: "left", 3: "failed"}
ABSENCE_LEVEL = 16  # the byte has this times the level that the worker is a member at, 0 mostly

UDP_PORT = 20040  # of the first shard
CODE = 7  # of a status whose reason is in the header
# As protocol.HEADER, then job, worker, reason, token (join) or session.
HEADER = struct.Struct(">HBBBBHIHBBQ")
JOIN = struct.Struct(
    ">BBHHHQQ"
)  # workers, shards, slots, bytes, least, cookie or session, incarnation
# After it, in a tree of switches: levels above, decided, 0, workers of the tree, below; and
PLACE = struct.Struct(">BBHII")
LEVEL = struct.Struct(">BB")  # for each level, from below: members of that switch, which one it is
PART = struct.Struct(">HHBBBB")  # first lane, lanes, part, parts, lowest digit, digits of a lane
DIVISOR = struct.Struct(">I")  # after the digits and their marks
DIGIT_BYTES = 4

OP_NAMES = {number: name for name, number in OPS.items()}
FORMAT_NAMES = {number: name for name, number in FORMAT_IDS.items()}


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the sender of a join is in a tree of switches.

    path: of each switch above the one that is joined, from below, how many members it has, and
    which of them the switch below it is. workers: of the whole tree. decided, of replies: how many
    levels above that was decided, and 1. below: workers behind the sender; a worker's: 1.
    """

    path: tuple[tuple[int, int], ...]
    workers: int
    decided: int = 0
    below: int = 1

    def __bytes__(self) -> bytes:
        levels = b"".join(LEVEL.pack(*level) for level in self.path)
        head = PLACE.pack(len(self.path), self.decided, 0, self.workers, self.below)
        return head + levels


def read_place(after: bytes) -> Place | None:
    """The place that a join has after its cookie; None: none that can be. A tag may stand there
    as well, which nobody can tell who has no key."""
    if len(after) < PLACE.size:
        return None
    levels, decided, _, workers, below = PLACE.unpack_from(after)
    end = PLACE.size + levels * LEVEL.size
    if levels > MAX_LEVELS or not 0 < workers <= MAX_TREE_WORKERS or len(after) < end:
        return None
    path = tuple((members, index) for members, index in LEVEL.iter_unpack(after[PLACE.size : end]))
    if not all(index < members for members, index in path):
        return None
    return Place(path, workers, decided, below)


@dataclasses.dataclass(frozen=True)
class Part:
    """A part of a member's exact sums of a chunk.

    lanes: integers, those of the lanes from `first` on, in units of 2^(32 lowest) times the
    format's; marks: sets of MARKS, as many as lanes, or none. width: digits of a lane. divisor: of
    a mean, 0: the number of workers.
    """

    first: int
    lanes: tuple[int, ...]
    number: int
    parts: int
    lowest: int
    width: int
    marks: tuple[int, ...] = ()
    divisor: int = 0

    def __bytes__(self) -> bytes:
        width = self.width | (HAS_MARKS if self.marks else 0)
        parts = self.parts | (HAS_DIVISOR if self.divisor else 0)
        head = PART.pack(self.first, len(self.lanes), self.number, parts, self.lowest, width)
        size = DIGIT_BYTES * self.width
        return (
            head
            + b"".join(lane.to_bytes(size, "big", signed=True) for lane in self.lanes)
            + bytes(self.marks)
            + (DIVISOR.pack(self.divisor) if self.divisor else b"")
        )


def read_part(bytes_: bytes) -> Part | None:
    """The part that a chunk of digits has after its header; None: it is cut."""
    if len(bytes_) < PART.size:
        return None
    first, count, number, parts, lowest, width = PART.unpack_from(bytes_)
    has_marks, width = width & HAS_MARKS, width & ~HAS_MARKS
    has_divisor, parts = parts & HAS_DIVISOR, parts & ~HAS_DIVISOR
    size = DIGIT_BYTES * width
    marks = PART.size + count * size
    end = marks + (count if has_marks else 0)
    if len(bytes_) < end + (DIVISOR.size if has_divisor else 0):
        return None
    lanes = (bytes_[at : at + size] for at in range(PART.size, marks, size or 1))
    return Part(
        first,
        tuple(int.from_bytes(lane, "big", signed=True) for lane in lanes),
        number,
        parts,
        lowest,
        width,
        tuple(bytes_[marks:end]),
        DIVISOR.unpack_from(bytes_, end)[0] if has_divisor else 0,
    )


@dataclasses.dataclass(frozen=True)
class Worker:
    """A worker's place in a job: what stands in every message of it.

    session: as the reply to a complete join grants it; 0, as P4 switches grant: the token is it.
    incarnation: of the process, in its joins: 64 random bits, drawn for each join of a job.
    """

    job: int
    token: int
    number: int
    session: int = 0
    incarnation: int = 1


def values_format(format_id: int, of_result: bool = False) -> int:
    """Of a format as it stands on the wire: that of the values, or of the results."""
    return format_id >> 4 if of_result and format_id >> 4 else format_id & 15


def value_bytes(format_id: int, of_result: bool = False) -> int:
    """Bytes of a value, or of a result; 2 of a format that is not known."""
    number = values_format(format_id, of_result)
    return _FORMATS[number].bytes if number in _FORMATS else 2


def reason_name(reason: int, absence: int | None = None) -> str:
    """The name of a reason: "waiting", "late 3" for worker 3, "late 3 at level 1" for member 3 of
    the switch above.

    absence: the first byte of the reply's values; None: not known, "missing 3".
    """
    if reason >= MISSING:
        level, why = divmod(absence or 0, ABSENCE_LEVEL)
        name = "missing" if absence is None else ABSENCES.get(why, f"unknown {why}")
        return f"{name} {reason - MISSING}" + (f" at level {level}" if level else "")
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


# pylint: disable-next=too-many-arguments,too-many-positional-arguments
def join(
    worker: Worker,
    workers: int,
    slots: int,
    chunk_bytes: int,
    cookie: int = 0,
    message_id: int = 0,
    place: Place | None = None,
    features: int = 0,
    least: int = 0,
) -> bytes:
    """A request to join: `slots` and `chunk_bytes` (of values in a chunk) as wanted.

    cookie: as the switch has given it; of a member that tells that it is alive, the session.
    place: of the switch in a tree; None: it is alone. features: a set of FEATURES. least: accepted
    in place of chunk_bytes; 0: nothing else is.
    """
    asked = JOIN.pack(workers, 0, slots, chunk_bytes, least, cookie, worker.incarnation)
    after = b"" if place is None else bytes(place)
    return _header(worker, OPS["join"], 0, 0, message_id, features) + asked + after


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


# pylint: disable-next=too-many-arguments,too-many-positional-arguments
def zeros(
    worker: Worker, op: int, format_id: int, number: int, count: int, owner: int = 0
) -> bytes:
    """A chunk whose values are all +0: they are not sent."""
    payload = bytearray(chunk(worker, op, format_id, number, b"", owner, count))
    payload[5] = OF_ZEROS
    return bytes(payload)


def label(worker: Worker, format_id: int, number: int, of_call: int) -> bytes:
    """The chunk that begins a call with a label, 1 .. 2^32 - 1: a copy of nothing."""
    payload = bytearray(_header(worker, OPS["copy"], format_id, 0, number & 0xFFFFFFFF))
    payload[5] = LABELLED
    return bytes(payload) + LABEL.pack(of_call)


# pylint: disable-next=too-many-arguments,too-many-positional-arguments
def digits(
    worker: Worker, op: int, format_id: int, number: int, part: Part, count: int, owner: int = 0
) -> bytes:
    """A part of the exact sums of a chunk, which has `count` values in all."""
    header = _header(worker, op, format_id, count, number & 0xFFFFFFFF, DIGITS | owner)
    return header + bytes(part)
