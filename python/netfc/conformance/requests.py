# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a request's header: codes and precedence, lengths, names, what is left as it was."""

import functools
import itertools
import os
from collections.abc import Callable, Iterable, Iterator

import numpy

from netfc import protocol
from netfc.conformance.check import Check, Failed, NotOffered
from netfc.conformance.kit import TRIES, Kit, code, with_status
from netfc.conformance.link import is_reply
from netfc.formats import NUMBER_FORMATS, Format
from netfc.protocol import Code

UNKNOWN_OPS = (0, 9, 15, 17, 31, 41, 63, 144, 191)
UNKNOWN_FORMATS = (0, 6, 7, 10, 11, 127, 255)
OFFSETS = {"magic": 0, "version": 2, "op": 3, "format": 4, "status": 5, "count": 6}
DEFAULT_LANES = 3


def request(kit: Kit, form: Format, count_: int = 0, **fields: int) -> bytes:
    """A request for sums of numbers of any bits. fields: bytes of the header, by name."""
    count_ = count_ or min(DEFAULT_LANES, kit.most_lanes(1, form))
    size = protocol.slot_bytes(form.id)
    words = numpy.frombuffer(os.urandom(3 * count_ * size), f"u{size}").reshape(3, count_)
    payload = bytearray(
        protocol.request(1, form.id, words[0], words[1], kit.requests.new_id(), words[2])
    )
    for name, value in fields.items():
        width = 2 if name in ("magic", "count") else 1
        at = OFFSETS[name]
        payload[at : at + width] = value.to_bytes(width, "big")
    return bytes(payload)


def refused(kit: Kit, sent: Iterable[bytes], number: int, what: str) -> str:
    """Requests that are answered with a code, and are otherwise as they were."""
    sent = list(sent)
    kit.expect(sent, [with_status(each, number) for each in sent], what)
    return f"{len(sent)} requests"


def versions(kit: Kit) -> str:
    """Other versions."""
    form = kit.any_format()
    sent = [request(kit, form, version=number) for number in (0, 2, 0x81, 255)]
    return refused(kit, sent, Code.VERSION, "another version")


def ops(kit: Kit) -> str:
    """Operations that there are not."""
    form = kit.any_format()
    return refused(kit, [request(kit, form, op=op) for op in UNKNOWN_OPS], Code.OP, "an unknown op")


def functions_that_are_not_loaded(kit: Kit) -> str:
    """Functions that no format has."""
    form = NUMBER_FORMATS["fp16"]
    known = [*protocol.FUNCTIONS.values(), *protocol.USER_FUNCTIONS]
    kit.learn(known)
    missing = [
        number
        for number in known
        if not any(kit.computes(number, each) for each in NUMBER_FORMATS.values())
    ]
    if not missing:
        raise NotOffered("all functions are loaded")
    for number in missing:
        found = kit.code_of(number, form)
        if found != Code.OP:
            raise Failed(
                f"op {number} is loaded for no format, and code {found} is not 2",
                *_one_lane(kit, number, form),
            )
    return f"{len(missing)} functions"


def _one_lane(kit: Kit, op: int, form: Format) -> tuple[bytes, bytes, bytes]:
    """A request of one lane, how it is refused as an unknown op, and how it was answered."""
    one = numpy.zeros(1, f"u{protocol.slot_bytes(form.id, op)}")
    sent = protocol.request(op, form.id, one, one, kit.requests.new_id(), one)
    return sent, with_status(sent, Code.OP), kit.replies([sent])[0]


def formats(kit: Kit) -> str:
    """Formats that there are not, or not in requests."""
    form = kit.any_format()
    sent = [request(kit, form, format=number) for number in UNKNOWN_FORMATS]
    return refused(kit, sent, Code.FORMAT, "an unknown format")


def formats_that_are_not_loaded(kit: Kit) -> str:
    """Formats without a table set: code 3 whatever the length."""
    loaded = kit.formats()
    missing = [form for form in NUMBER_FORMATS.values() if form not in loaded]
    if not missing:
        raise NotOffered("all formats have a table set")
    sent = [request(kit, kit.any_format(), format=form.id) for form in missing]
    return refused(kit, sent, Code.FORMAT, "a format without a table set")


def lengths(kit: Kit) -> str:
    """Counts of no lanes, and of more than the datagram has."""
    done = 0
    for form in kit.formats():
        whole = request(kit, form)
        (count,) = protocol.HEADER.unpack_from(whole)[5:6]
        more = 2 if form.bits == 8 else 1
        sent = [request(kit, form, count=0)]
        sent += [request(kit, form)[:-cut] for cut in range(1, protocol.operand_bytes(form.id, 1))]
        if kit.most_lanes(1, form) > count:
            sent.append(request(kit, form, count=count + more))
        refused(kit, sent, Code.LENGTH, f"a wrong length in {form.name}")
        done += len(sent)
    return f"{done} requests"


def short_headers(kit: Kit) -> str:
    """Payloads of 6 to 11 bytes, in which there is no id to tell replies apart by."""
    form = kit.any_format()
    for size in range(6, protocol.HEADER.size):
        sent = request(kit, form)[:size]
        expected = with_status(sent, Code.LENGTH)
        got = _alone(kit, sent, functools.partial(_is_short_reply, size))
        if got != expected:
            raise Failed(f"a payload of {size} bytes", sent, expected, got or b"")
    return "6 to 11 bytes"


def _is_short_reply(size: int, reply: bytes) -> bool:
    return is_reply(reply) and len(reply) == size


def _alone(kit: Kit, sent: bytes, is_it: Callable[[bytes], bool]) -> bytes | None:
    """The reply to what has no id, asked for several times beside requests that are answered."""
    kit.require_requests()
    for _ in range(TRIES):
        got = kit.requests.listen(sent, is_it, 2 * kit.requests.wait)
        if got is not None:
            return got
        kit.check_alive()
    return None


def precedence(kit: Kit) -> str:
    """Two mistakes in one request: the first in the list of codes is told."""
    form = kit.any_format()
    for fields, number in (
        ({"version": 2, "op": 0}, Code.VERSION),
        ({"version": 2, "op": 0, "format": 0, "count": 0}, Code.VERSION),
        ({"op": 0, "format": 0}, Code.OP),
        ({"op": 0, "count": 0}, Code.OP),
        ({"format": 11, "count": 0}, Code.FORMAT),
    ):
        refused(kit, [request(kit, form, **fields)], number, f"a request with {fields}")
    return "5 requests"


def lanes(kit: Kit) -> str:
    """More lanes than the switch computes."""
    done = []
    for form in kit.formats():
        most = kit.most_lanes(1, form)
        space = protocol.lanes_in(kit.most_bytes - protocol.HEADER.size, form.id)
        if most < space:
            sent = [request(kit, form, count) for count in sorted({most + 2, space})]
            refused(kit, sent, Code.LANES, f"more than {most} lanes of {form.name}")
            done.append(f"{form.name}: {most} lanes")
    if not done:
        raise NotOffered("it computes any number of lanes")
    return ", ".join(done)


def longer(kit: Kit) -> str:
    """What follows z stays as it is."""
    form = kit.any_format()
    return computed(kit, [request(kit, form) + os.urandom(more) for more in (1, 2, 3, 7, 12, 64)])


def statuses(kit: Kit) -> str:
    """All but bit 7 may be set in a request."""
    form = kit.any_format()
    return computed(
        kit, [request(kit, form, status=status) for status in (1, 0x0F, 0x10, 0x70, 0x7F)]
    )


def ids(kit: Kit) -> str:
    """A reply whose id is another is known by its operands."""
    form = kit.any_format()
    for number in (0, 0x00FF00FF, 0xFFFFFFFF):
        sent = bytearray(request(kit, form))
        sent[8:12] = number.to_bytes(4, "big")
        body = slice(12, 12 + 2 * protocol.operand_bytes(form.id, _count(sent)))
        got = _alone(kit, bytes(sent), functools.partial(_has, body, bytes(sent[body])))
        if got is None or got[8:12] != sent[8:12]:
            raise Failed("the id of a reply is another", bytes(sent), b"", got or b"")
    return "3 requests"


def _has(body: slice, operands: bytes, reply: bytes) -> bool:
    return reply[body] == operands


def _count(payload: bytes | bytearray) -> int:
    count: int = protocol.HEADER.unpack_from(payload)[5]
    return count


def computed(kit: Kit, sent: list[bytes]) -> str:
    """Requests that are computed: z alone, and the status, are written."""
    # What z is may be right by chance, but not the opposite as well.
    both = [*sent, *(_with_opposite_z(kit, payload) for payload in sent)]
    replies = kit.replies(both)
    for payload, reply in zip(both, replies):
        z = _place_of_z(payload)
        wanted = with_status(payload, 0, reply[protocol.STATUS_OFFSET] & 15)
        wanted = wanted[: z.start] + reply[z] + wanted[z.stop :]
        if reply != wanted:
            raise Failed("not computed, or more is written than z", payload, wanted, reply)
    for payload, reply, other in zip(both, replies, replies[len(sent) :]):
        z = _place_of_z(payload)
        if reply[z] != other[z]:
            raise Failed("not computed: z depends on what it was", payload, b"", reply)
    return f"{len(sent)} requests"


def _place_of_z(payload: bytes) -> slice:
    """Where the results of a request are, without what fills them up."""
    form = NUMBER_FORMATS[protocol.FORMAT_NAMES[payload[4]]]
    start = protocol.HEADER.size + 2 * protocol.operand_bytes(form.id, _count(payload))
    return slice(start, start + _count(payload) * protocol.slot_bytes(form.id))


def _with_opposite_z(kit: Kit, payload: bytes) -> bytes:
    """The same request with another id, and all bits of z inverted."""
    z = _place_of_z(payload)
    other = bytearray(payload)
    other[8:12] = kit.requests.new_id().to_bytes(4, "big")
    other[z] = bytes(each ^ 0xFF for each in payload[z])
    return bytes(other)


def padding(kit: Kit) -> str:
    """Odd numbers of lanes of 8 bits: what fills z up is not written."""
    narrow = [form for form in kit.formats() if form.bits == 8]
    if not narrow:
        raise NotOffered("no format of 8 bits is offered")
    sent = []
    for form, count in itertools.product(narrow, (1, 3, 7)):
        if count <= kit.most_lanes(1, form):
            whole = bytearray(request(kit, form, count))
            whole[-1] = 0xA5
            sent.append(bytes(whole))
    return computed(kit, sent)


def untouched(kit: Kit, make: Callable[[Kit], Iterable[bytes]]) -> str:
    """What is not a request is not computed: it comes back as it was, or not at all."""
    came = 0
    sent = list(make(kit))
    for payload in sent:
        got = _unless_it_is_kept(kit, payload)
        came += got is not None
        if got is not None and got != payload:
            raise Failed("it is no request, and has been changed", payload, payload, got)
    return f"{len(sent)} payloads, {came} of which came back, unchanged"


def _unless_it_is_kept(kit: Kit, payload: bytes) -> bytes | None:
    """What comes back of a payload, if anything; where a request's id is tells it."""
    for _ in range(2):
        got = kit.requests.listen(
            payload, lambda reply: reply[8:12] == payload[8:12], 2 * kit.requests.wait
        )
        if got is not None:
            return got
        kit.check_alive()
    return None


def other_magic(kit: Kit) -> Iterator[bytes]:
    """Other numbers than the magic, and payloads that are too short for a status."""
    form = kit.any_format()
    for magic in (0, 0x464E, 0x4E47, 0x4F46):
        yield request(kit, form, magic=magic)
    yield b"any other datagram that comes to the port"


def replies_of_others(kit: Kit) -> Iterator[bytes]:
    """What another switch has computed already."""
    form = kit.any_format()
    for status in (0x80, 0x81, 0x90, 0xFF):
        yield request(kit, form, status=status)


def names(kit: Kit) -> str:
    """Operations by their names."""
    form = next(
        (each for each in NUMBER_FORMATS.values() if kit.code_of(protocol.NAME, each) in (0, 2)
         and each.has_functions), None)  # fmt: skip
    if form is None or kit.code_of(protocol.NAME, form) == Code.OP and not _knows_names(kit, form):
        raise NotOffered("it knows no operation by its name")
    known = {**protocol.EXTRA_OPS, **protocol.FUNCTIONS}
    asked = [name for name, number in known.items() if kit.computes(number, form)]
    sent = [protocol.name_request(name, form.id, kit.requests.new_id()) for name in asked]
    for name, payload, reply in zip(asked, sent, kit.replies(sent)):
        found = int(protocol.results(reply)[0])
        if code(reply) != 0 or found != known[name]:
            raise Failed(f"{name} is {known[name]}, and not {found}", payload, b"", reply)
    unknown = [protocol.name_request("no such thing", form.id, kit.requests.new_id())]
    refused(kit, unknown, Code.OP, "an unknown name")
    return f"{len(asked)} names"


def _knows_names(kit: Kit, form: Format) -> bool:
    ask = protocol.name_request("min", form.id, kit.requests.new_id())
    return code(kit.replies([ask])[0]) == 0


def queries(kit: Kit) -> str:
    """Connections per byte of a destination that nobody has talked to."""
    ask = protocol.request(protocol.QUERY, 1, [0xF000], [1], kit.requests.new_id(), [0xA5A5])
    ask += bytes(range(protocol.QUERY_COUNTERS.size))
    reply = kit.replies([ask])[0]
    if code(reply) == Code.FORMAT and not kit.computes(1, NUMBER_FORMATS["fp16"]):
        raise NotOffered("queries are of fp16, which it does not compute: code 3")
    if code(reply) != 0:
        refused(kit, [ask], Code.QUERY, "a query")
        raise NotOffered("queries are off, and are answered with code 5")
    expected = with_status(ask[:16] + bytes(2 + protocol.QUERY_COUNTERS.size))
    if reply != expected:
        raise Failed("an unknown destination is not all zeros", ask, expected, reply)
    two = protocol.request(protocol.QUERY, 1, [1, 1], [1, 1], kit.requests.new_id())
    return refused(kit, [two], Code.QUERY, "a query of two lanes")


def _flags_are_those_of_all(kit: Kit) -> str:
    """An exception in any one lane among many."""
    for form in kit.formats():
        most = kit.most_lanes(4, form) if kit.computes(4, form) else 0
        if most < 2:
            continue
        one = int(form.encode([1.0])[0])
        for lane in sorted({0, 1, most // 2, most - 1}):
            x = numpy.full(most, one, form.encodings)
            y = x.copy()
            y[lane] = 0
            ask = protocol.request(4, form.id, x, y, kit.requests.new_id())
            reply = kit.replies([ask])[0]
            if reply[protocol.STATUS_OFFSET] != protocol.REPLY | protocol.Flag.DIVBYZERO:
                raise Failed(f"1 / 0 in lane {lane} of {most} raises no flag", ask, b"", reply)
        return f"{most} lanes of {form.name}"
    raise NotOffered("it divides in no format, or only one lane at a time")


CHECKS = (
    Check(2001, "other versions", "the version is not 1", "status", versions),
    Check(2002, "unknown operations", "no such operation, or a function that is not loaded",
          "status", ops),
    Check(2003, "functions that are not loaded",
          "no such operation, or a function that is not loaded", "status",
          functions_that_are_not_loaded),
    Check(2004, "unknown formats",
          "no such format; or neither a table set nor the function is loaded for it", "status",
          formats),
    Check(2005, "formats without a table set",
          "no such format; or neither a table set nor the function is loaded for it", "status",
          formats_that_are_not_loaded),
    Check(2006, "lengths", "count is 0, or the UDP payload is shorter than 12 + 6n bytes",
          "status", lengths),
    Check(2007, "payloads of 6 to 11 bytes", "and the payload has at least 6 bytes, so that there"
          " is room for the status", "what-is-a-request", short_headers),
    Check(2008, "precedence of codes", "Error codes, by precedence.", "status", precedence),
    Check(2009, "too many lanes", "more lanes than this switch computes", "status", lanes),
    Check(2010, "longer datagrams", "The datagram may be longer.", "the-protocol-version-1",
          longer),
    Check(2011, "statuses of requests", "bit 7 of the status is clear", "what-is-a-request",
          statuses),
    Check(2012, "ids", "chosen by the sender; never changed", "the-protocol-version-1", ids),
    Check(2013, "padding of 8 bits", "Padding is sent as 0; the switch does not read it, and does"
          " not write the padding of z.", "lanes-of-8-bits", padding),
    Check(2014, "flags of all lanes", "exception flags of all lanes, or-ed", "status",
          _flags_are_those_of_all),
    Check(2015, "other datagrams", "A datagram is a request if port and magic are right",
          "what-is-a-request", functools.partial(untouched, make=other_magic)),
    Check(2016, "replies of other switches",
          "(otherwise another switch has already computed it)", "what-is-a-request",
          functools.partial(untouched, make=replies_of_others)),
    Check(2017, "names", "the switch writes the number of the operation of that name",
          "functions", names),
    Check(2018, "queries", "For an unknown destination it writes zeros.", "queries", queries),
)  # fmt: skip
