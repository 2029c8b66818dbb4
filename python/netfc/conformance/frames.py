# SPDX-License-Identifier: BSD-3-Clause
"""Checks of whole frames: checksums, IP options, VLAN tags, padding, lengths that lie."""

import contextlib
import dataclasses
import functools
import itertools
import socket
from collections.abc import Callable, Iterator
from typing import Any

from netfc import protocol
from netfc.conformance import wire
from netfc.conformance.check import Check, Failed, NotOffered
from netfc.conformance.kit import TRIES, Kit, with_status
from netfc.conformance.raw import Raw
from netfc.conformance.requests import request

WRONG_CHECKSUM = 0x1234
OTHER_WORD = 0x5A5A
FAMILIES = {"IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}
PADDING = b"\xee" * 9
Variant = dict[str, Any]


@contextlib.contextmanager
def raw(kit: Kit, family: str) -> Iterator[Raw]:
    """Frames to the switch."""
    kit.any_format()  # that it computes at all
    link = kit.link(kit.settings.port, FAMILIES[family])
    try:
        made = Raw(link, kit.control())
    except NotOffered:
        link.close()
        raise
    try:
        yield made
    finally:
        made.close()


def computed(payload: bytes, reply: bytes) -> bool:
    """Whether a reply has this request's sums, whatever its status is."""
    at = protocol.STATUS_OFFSET
    _, _, _, form, _, count, _ = protocol.HEADER.unpack_from(payload)
    end = protocol.HEADER.size + 2 * protocol.operand_bytes(form, count)
    same = reply[:at] == payload[:at] and reply[at + 1 : end] == payload[at + 1 : end]
    return same and len(reply) == len(payload) and reply[at] & protocol.REPLY != 0


def answered(kit: Kit, frames: Raw, frame: bytes, payload: bytes) -> bytes | None:
    """The frame of the reply to a request, asked for several times; None: there is none."""
    for _ in range(TRIES):
        got = frames.ask(frame, functools.partial(_has_id, payload[8:12]), _patience(kit))
        if got is not None:
            return got
        kit.check_alive()
    return None


def _has_id(identity: bytes, frame: bytes) -> bool:
    """Whether there is a datagram with a request's id in a frame."""
    found = wire.parse(frame)
    return found is not None and found.payload[8:12] == identity


def _patience(kit: Kit) -> float:
    return max(0.05, 3 * kit.requests.wait)


def check_reply(kit: Kit, frames: Raw, variant: Variant, payload: bytes = b"") -> None:
    """A request in a frame is answered, in a frame of the same kind. Raises Failed."""
    headers = dataclasses.replace(frames.headers, **variant)
    payload = payload or request(kit, kit.any_format())
    frame = wire.build(headers, payload)
    got = answered(kit, frames, frame, payload)
    said = ", ".join(f"{name} {value!r}" for name, value in variant.items()) or "nothing special"
    if got is None:
        raise Failed(f"no reply to a frame with {said}", frame, is_frame=True)
    found = wire.parse(got)
    assert found is not None
    expected = _reply_frame(headers, payload, found)
    problem = _problem(headers, payload, found)
    if problem:
        raise Failed(f"{problem}, in reply to a frame with {said}", frame, expected, got, True)


def _reply_frame(headers: wire.Headers, payload: bytes, found: wire.Datagram) -> bytes:
    """The reply as it should be, with the results that came."""
    turned = dataclasses.replace(
        headers,
        own_mac=headers.mac,
        mac=headers.own_mac,
        addresses=headers.addresses[::-1],
        ports=headers.ports[::-1],
    )
    if headers.checksum == 0 and not headers.is_ipv6:
        turned = dataclasses.replace(turned, checksum=0)
    reply = found.payload if computed(payload, found.payload) else with_status(payload)
    return wire.build(turned, reply)


def _problem(headers: wire.Headers, payload: bytes, found: wire.Datagram) -> str:
    """What is wrong with a reply; nothing if nothing is."""
    if not computed(payload, found.payload):
        return "the payload is not the request, computed"
    if found.addresses != headers.addresses[::-1] or found.ports != headers.ports[::-1]:
        return "addresses or ports are not those of the request, swapped"
    if tuple(tpid for tpid, _ in found.tags) != headers.tags or [
        vlan for _, vlan in found.tags
    ] != list(range(5, 5 + len(headers.tags))):
        return "VLAN tags are not the request's"
    if not found.is_header_right:
        return "the checksum of the IPv4 header is wrong"
    return _problem_of_checksum(headers, found)


def _problem_of_checksum(headers: wire.Headers, found: wire.Datagram) -> str:
    is_right = found.checksum == found.right_checksum
    if headers.checksum == 0 and not headers.is_ipv6:
        is_fine = is_right or found.checksum == 0
        return "" if is_fine else "a datagram without a checksum has got a wrong one"
    if headers.checksum not in (wire.RIGHT, 0):
        return "a wrong checksum has become right" if is_right else ""
    return "" if is_right else "the UDP checksum is wrong"


def accepted(kit: Kit, family: str, variants: Callable[[], Iterator[Variant]]) -> str:
    """Requests in frames of some kind are answered."""
    with raw(kit, family) as frames:
        made = list(variants())
        for variant in made:
            check_reply(kit, frames, variant)
    return f"{len(made)} frames"


def wrong_checksum(kit: Kit, family: str) -> str:
    """Not answered at all, or with a checksum that is wrong still."""
    with raw(kit, family) as frames:
        payload = request(kit, kit.any_format())
        headers = dataclasses.replace(frames.headers, checksum=WRONG_CHECKSUM)
        is_it = functools.partial(_has_id, payload[8:12])
        if _rarely(kit, frames, wire.build(headers, payload), is_it) is None:
            return "not answered"
        check_reply(kit, frames, {"checksum": WRONG_CHECKSUM})
    return "answered, and wrong still"


def _rarely(kit: Kit, frames: Raw, frame: bytes, is_it: Callable[[bytes], bool]) -> bytes | None:
    """What comes back of a frame that need not be answered."""
    for _ in range(2):
        got = frames.ask(frame, is_it, _patience(kit))
        if got is not None:
            return got
        kit.check_alive()
    return None


def zero_sum(kit: Kit, family: str) -> str:
    """A reply whose checksum is the number 0, which means none where it stands in a datagram."""
    with raw(kit, family) as frames:
        payload = request(kit, kit.any_format())
        got = answered(kit, frames, wire.build(frames.headers, payload), payload)
        found = wire.parse(got) if got else None
        if found is None:
            raise Failed("no reply", wire.build(frames.headers, payload), is_frame=True)
        # The checksum falls by what a word of the payload rises by: the low half of the id.
        word = (int.from_bytes(payload[10:12], "big") + found.right_checksum) % 0xFFFF
        payload = payload[:10] + word.to_bytes(2, "big") + payload[12:]
        check_reply(kit, frames, {}, payload)
    return "sent as FFFF"


def not_computed(kit: Kit, family: str, variants: Callable[[], Iterator[Variant]]) -> str:
    """What only looks like a request comes back unchanged, or not at all."""
    came = 0
    with raw(kit, family) as frames:
        made = list(variants())
        for variant in made:
            payload = request(kit, kit.any_format())
            frame = wire.build(dataclasses.replace(frames.headers, **variant), payload)
            got = _rarely(kit, frames, frame, functools.partial(_carries, payload)) or b""
            came += got != b""
            back = _of(payload, got)
            if back != payload[: len(back)]:
                raise Failed(f"computed, though with {variant}", frame, frame, got, True)
    return f"{len(made)} frames, {came} of which came back, unchanged"


def _of(payload: bytes, frame: bytes) -> bytes:
    """What has become of a request's payload in a frame, whatever its headers say; nothing where
    there is none."""
    _, _, _, form, _, count, _ = protocol.HEADER.unpack_from(payload)
    operands = payload[8 : protocol.HEADER.size + 2 * protocol.operand_bytes(form, count)]
    start = frame.find(operands) - 8  # the id, x and y are never changed
    return frame[start : start + len(payload)] if start >= 0 else b""


def _carries(payload: bytes, frame: bytes) -> bool:
    return _of(payload, frame) != b""


def unchanged(kit: Kit) -> str:
    """Where the switch passes on what is no request: every byte of it."""
    with raw(kit, "IPv4") as frames:
        payload = request(kit, kit.any_format(), magic=0x4E47)
        frame = wire.build(frames.headers, payload)
        got = _rarely(kit, frames, frame, functools.partial(_has_id, payload[8:12]))
        if got is None:
            raise NotOffered("the switch keeps what is no request, or sends it elsewhere")
        found = wire.parse(got)
        if found is None or found.payload != payload or found.checksum != found.right_checksum:
            raise Failed("what is no request has been changed", frame, frame, got, True)
    return "it came back"


# ---- kinds of frames -------------------------------------------------------------------------


def plain() -> Iterator[Variant]:
    """Nothing special."""
    yield {}


def no_checksum() -> Iterator[Variant]:
    """Without a UDP checksum."""
    yield {"checksum": 0}


def ip_options() -> Iterator[Variant]:
    """1 to 10 words of options."""
    for words in (1, 2, 5, 10):
        yield {"options": wire.NO_OPERATION * 4 * words}


def one_tag() -> Iterator[Variant]:
    """A VLAN tag of either kind."""
    for tpid in (wire.VLAN, wire.SERVICE_VLAN):
        yield {"tags": (tpid,)}


def two_tags() -> Iterator[Variant]:
    """Two of them."""
    for tags in itertools.product((wire.VLAN, wire.SERVICE_VLAN), repeat=2):
        yield {"tags": tags}


def tags_and_options() -> Iterator[Variant]:
    """Both at the same time."""
    for tags in ((wire.VLAN,), (wire.SERVICE_VLAN, wire.VLAN)):
        yield {"tags": tags, "options": wire.NO_OPERATION * 8}


def padded() -> Iterator[Variant]:
    """Bytes after the IP datagram, and between the UDP datagram's end and IP's."""
    yield {"padding": PADDING}
    yield {"padding": bytes(9), "tags": (wire.VLAN,)}


def three_tags() -> Iterator[Variant]:
    """More than two."""
    yield {"tags": (wire.VLAN,) * 3}


def lies_in_udp() -> Iterator[Variant]:
    """UDP lengths that do not fit."""
    for length in (0, 7, 0x8000, 0xFFFF):
        yield {"udp_length": length}


def lies_in_ip() -> Iterator[Variant]:
    """IP lengths that do not fit."""
    for length in (19, 27, 0x8000, 0xFFFF):
        yield {"ip_length": length}


def fragments() -> Iterator[Variant]:
    """First, middle and last fragments."""
    for flags in (0x2000, 0x2003, 3):
        yield {"flags": flags}


def extension_headers() -> Iterator[Variant]:
    """Hop-by-hop and destination options in front of UDP."""
    for kind in (0, 60):
        yield {"protocol": kind, "next_header": bytes((wire.UDP, 0, 1, 4, 0, 0, 0, 0))}


def other_protocols() -> Iterator[Variant]:
    """UDP-Lite, and a protocol that nobody has."""
    for kind in (136, 253):
        yield {"protocol": kind}


_ANSWERED: tuple[tuple[int, str, str, str, str, Callable[[], Iterator[Variant]]], ...] = (
    (3001, "UDP checksums", "The UDP checksum is updated incrementally (RFC 1624).", "IPv4",
     "what-is-a-request", plain),
    (3002, "no UDP checksum", "An IPv4 datagram without a checksum keeps none", "IPv4",
     "what-is-a-request", no_checksum),
    (3004, "IPv4 options", "The switch parses unfragmented UDP datagrams over IPv4 (with or without"
     " options)", "IPv4", "what-is-a-request", ip_options),
    (3005, "a VLAN tag", "after up to two VLAN tags (802.1Q or 802.1ad)", "IPv4",
     "what-is-a-request", one_tag),
    (3006, "two VLAN tags", "after up to two VLAN tags (802.1Q or 802.1ad)", "IPv4",
     "what-is-a-request", two_tags),
    (3007, "VLAN tags and IPv4 options", "after up to two VLAN tags (802.1Q or 802.1ad)", "IPv4",
     "what-is-a-request", tags_and_options),
    (3008, "padding", "Padding is allowed.", "IPv4", "what-is-a-request", padded),
    (3021, "UDP checksums over IPv6", "The UDP checksum is updated incrementally (RFC 1624).",
     "IPv6", "what-is-a-request", plain),
    (3025, "a VLAN tag over IPv6", "after up to two VLAN tags (802.1Q or 802.1ad)", "IPv6",
     "what-is-a-request", one_tag),
    (3026, "two VLAN tags over IPv6", "after up to two VLAN tags (802.1Q or 802.1ad)", "IPv6",
     "what-is-a-request", two_tags),
    (3028, "padding over IPv6", "Padding is allowed.", "IPv6", "what-is-a-request", padded),
)  # fmt: skip
_IS_NONE: tuple[tuple[int, str, str, str, Callable[[], Iterator[Variant]]], ...] = (
    (3011, "three VLAN tags", "after up to two VLAN tags (802.1Q or 802.1ad)", "IPv4",
     three_tags),
    (3012, "UDP lengths that lie", "the UDP datagram must fit into the IP payload", "IPv4",
     lies_in_udp),
    (3013, "IP lengths that lie", "the IP datagram into the frame", "IPv4", lies_in_ip),
    (3014, "fragments", "The switch parses unfragmented UDP datagrams", "IPv4", fragments),
    (3015, "other protocols", "Everything else is forwarded unchanged.", "IPv4", other_protocols),
    (3032, "UDP lengths that lie over IPv6", "the UDP datagram must fit into the IP payload",
     "IPv6", lies_in_udp),
    (3034, "IPv6 extension headers", "and IPv6 (without extension headers)", "IPv6",
     extension_headers),
)  # fmt: skip


def _checks() -> Iterator[Check]:
    for number, name, clause, family, section, variants in _ANSWERED:
        run = functools.partial(accepted, family=family, variants=variants)
        yield Check(number, name, clause, section, run)
    for number, name, clause, family, variants in _IS_NONE:
        run = functools.partial(not_computed, family=family, variants=variants)
        yield Check(number, name, clause, "what-is-a-request", run)
    for number, family in ((3003, "IPv4"), (3023, "IPv6")):
        wrong = functools.partial(wrong_checksum, family=family)
        clause = "and a wrong checksum stays wrong, so that damage is not hidden"
        yield Check(
            number, f"wrong UDP checksums over {family}", clause, "what-is-a-request", wrong
        )
    for number, family in ((3009, "IPv4"), (3029, "IPv6")):
        zero = functools.partial(zero_sum, family=family)
        clause = "The UDP checksum is updated incrementally (RFC 1624)."
        name = f"a UDP checksum of 0 over {family}"
        yield Check(number, name, clause, "what-is-a-request", zero)
    clause = "Everything else is forwarded unchanged."
    yield Check(3016, "what is no request comes back", clause, "what-is-a-request", unchanged)


CHECKS = tuple(sorted(_checks(), key=lambda check: check.number))
