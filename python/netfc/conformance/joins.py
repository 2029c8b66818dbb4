# SPDX-License-Identifier: BSD-3-Clause
"""Checks of who is in a job: joins, cookies, incarnations, leaving, trees."""

import dataclasses
import os

from netfc import aggregation
from netfc.conformance.check import Check, Failed, NotOffered
from netfc.conformance.job import REASON, Member, Message, basic, exchange, join_all, team
from netfc.conformance.kit import Kit, with_status


def says(message: Message, name: str, sent: bytes, what: str) -> None:
    """Raises Failed unless the switch refuses for this reason."""
    if message.code != aggregation.CODE or message.reason != REASON[name]:
        expected = with_status(sent, aggregation.CODE)
        expected = expected[:15] + bytes([REASON[name]]) + expected[16:]
        raise Failed(f"{what} is answered with {message.said}, not {name}", sent, expected,
                     message.payload)  # fmt: skip


def _asks_for_cookies(member: Member) -> Message:
    """The first reply to a join. Raises NotOffered where it is not to ask for a cookie."""
    sent = member.join_payload()
    message = member.ask(sent)
    if message.code == 0:
        raise NotOffered("joins need no cookie: jobs are set up beforehand")
    says(message, "cookie", sent, "a first join")
    return message


def cookies(kit: Kit) -> str:
    """Without the cookie, or with another, it is asked for."""
    with team(kit, joined=False) as (first, _):
        message = _asks_for_cookies(first)
        cookie = message.granted[5]
        if cookie == 0:
            raise Failed("the cookie is 0", first.join_payload(), b"", message.payload)
        wrong = first.join_payload(cookie ^ 1)
        says(first.ask(wrong), "cookie", wrong, "a join with a wrong cookie")
        again = first.ask(first.join_payload())
        if again.granted[5] != cookie:
            raise Failed(
                "two first joins get two cookies", first.join_payload(), b"", again.payload
            )
        right = first.join_payload(cookie)
        says(first.ask(right), "waiting", right, "a join with the cookie, while others are missing")
    return "asked for, and kept to"


def cookies_of_others(kit: Kit) -> str:
    """A cookie is of an address, a port, a worker and an incarnation."""
    with team(kit, joined=False) as (first, second):
        cookie = _asks_for_cookies(first).granted[5]
        sent = second.join_payload(cookie)
        says(second.ask(sent), "cookie", sent, "a join with another worker's cookie")
        with first.another_port() as elsewhere:
            sent = first.join_payload(cookie)
            says(
                first.ask(sent, via=elsewhere), "cookie", sent, "a join with another port's cookie"
            )
        place = first.place
        first.place = dataclasses.replace(place, incarnation=place.incarnation ^ 2)
        sent = first.join_payload(cookie)
        says(first.ask(sent), "cookie", sent, "a join with another incarnation's cookie")
    return "worker, port, incarnation"


def waiting(kit: Kit) -> str:
    """Until all are in."""
    with team(kit, joined=False) as (first, second):
        message = first.join()
        if message.code == 0:
            if first.place.session == 0:
                raise NotOffered("jobs are set up beforehand, and wait for nobody")
            raise Failed("a join is granted, though a worker is missing", first.join_payload(), b"",
                         message.payload)  # fmt: skip
        says(message, "waiting", first.join_payload(), "the join of the first worker")
        join_all(kit, [first, second])
    return "2 workers"


def grants(kit: Kit) -> str:
    """What is granted is alike for all, and what was asked for, or less."""
    with team(kit, 3) as members:
        sent = [member.join_payload(member.place.session) for member in members]
        replies = [member.ask(payload) for member, payload in zip(members, sent)]
        for payload, message in zip(sent, replies):
            workers, shards, slots, most, least, _, incarnation = message.granted
            asked = aggregation.JOIN.unpack_from(payload, aggregation.HEADER.size)
            fine = workers == 3 and shards >= 1 and slots & (slots - 1) == 0 < slots <= asked[2]
            fine = fine and least <= most <= asked[3] and incarnation == asked[6]
            if message.code != 0 or not fine or len(message.payload) != len(payload):
                raise Failed(f"granted: {message.granted}, code {message.code}", payload, b"",
                             message.payload)  # fmt: skip
            if message.granted[:6] != replies[0].granted[:6]:
                raise Failed("workers are granted different things", payload,
                             replies[0].payload, message.payload)  # fmt: skip
            if message.payload[6:15] != payload[6:15]:
                raise Failed("a join's id, job or worker is changed", payload, b"", message.payload)
        _, shards, slots, most, *_ = replies[0].granted
    return f"{slots} slots of {most} bytes, {shards} shards"


def sessions(kit: Kit) -> str:
    """A job's session is its own, and a join with it keeps the place."""
    drawn = []
    for _ in range(2):
        with team(kit) as members:
            member = members[0]
            payload = member.join_payload(member.place.session)
            message = member.ask(payload)
            if message.code != 0 or message.granted[5] != member.place.session:
                raise Failed("a join with the session does not give it", payload, b"",
                             message.payload)  # fmt: skip
            drawn.append(member.place.session)
    if drawn == [0, 0]:
        return "none is drawn: the token is the session"
    if 0 in drawn or drawn[0] == drawn[1]:
        raise Failed(f"two jobs have the sessions {drawn[0]:#x} and {drawn[1]:#x}")
    return "drawn anew for each job"


def short_joins(kit: Kit) -> str:
    """Joins without all fields."""
    with team(kit, joined=False) as (first, _):
        for size in (24, 39, 40, 47):
            sent = first.join_payload()[:size]
            message = first.ask(sent)
            if message.code != 4:
                raise Failed(f"a join of {size} bytes: {message.said}, not code 4", sent,
                             with_status(sent, 4), message.payload)  # fmt: skip
    return "24 to 47 bytes"


def other_numbers(kit: Kit) -> str:
    """Workers that do not agree on how many they are."""
    with team(kit, joined=False) as (first, second):
        message = first.join()
        if message.code == 0:
            raise NotOffered("jobs are set up beforehand")
        second.join(workers=3)
        sent = second.join_payload(workers=3)
        says(second.ask(sent), "mismatch", sent, "a join of a worker that counts three")
    return "2 and 3 workers"


def common_bytes(kit: Kit) -> str:
    """The greatest number of bytes that all accept; none is a mismatch."""
    with team(kit, joined=False) as (first, second):
        if first.join(bytes_=1024).code == 0:
            raise NotOffered("jobs are set up beforehand")
        second.join(bytes_=512)
        first.join(bytes_=1024)
        granted = [second.join(bytes_=512), first.join(bytes_=1024)]
        for message in granted:
            if message.code == 0 and message.granted[3] != 512:
                raise Failed("1,024 and 512 bytes: another number is granted", first.join_payload(),
                             b"", message.payload)  # fmt: skip
        if any(message.code != 0 for message in granted):
            raise Failed(f"1,024 and 512 bytes: {granted[0].said}", first.join_payload(), b"",
                         granted[0].payload)  # fmt: skip
    return "1,024 and 512: 512"


def tokens(kit: Kit) -> str:
    """A number that another job has."""
    with team(kit) as members:
        stranger = Member(kit, 0, 2, members[0].place.job, members[0].place.token ^ 1)
        try:
            message = stranger.join()
            says(message, "taken", stranger.join_payload(), "a join with another token")
        finally:
            stranger.socket.close()
    return "taken"


def incarnations(kit: Kit) -> str:
    """A process that was started anew: refused, and all are told of it."""
    form, value = basic(kit)
    with team(kit) as (first, second):
        is_preset = second.place.session == 0
        place = second.place
        second.place = dataclasses.replace(place, incarnation=place.incarnation ^ 2, session=0)
        sent = second.join_payload(0)
        message = second.ask(sent)
        if is_preset and message.code == 0:
            raise NotOffered("jobs are set up beforehand, and know no incarnations")
        if not is_preset:
            sent = second.join_payload(message.granted[5])
            message = second.ask(sent)
        says(message, "taken", sent, "a join of another process at a worker's port")
        chunk = first.chunk(0, value(1), form=form)
        told = first.ask(chunk, first.shard(0), lambda message: message.code != 0)
        if told.said != "failed 1" or told.values[:2] != bytes((3, REASON["no-job"])):
            raise Failed(f"the others are told {told.said}, not that worker 1 has failed for reason"
                         " 3", chunk, b"", told.payload)  # fmt: skip
    return "taken, and told to all"


def ports(kit: Kit) -> str:
    """A member's join from another port is another process's."""
    with team(kit) as (first, _):
        with first.another_port() as elsewhere:
            sent = first.join_payload(first.place.session)
            message = first.ask(sent, via=elsewhere)
            if message.code == aggregation.CODE and message.reason == REASON["cookie"]:
                sent = first.join_payload(message.granted[5])
                message = first.ask(sent, via=elsewhere)
            says(message, "taken", sent, "a join from another port")
            gone = aggregation.leave(first.place, kit.requests.new_id())
            message = first.ask(gone, via=elsewhere)
            if message.code == 0 and first.place.session == 0:
                return "joins; leaves end nothing, as jobs are set up beforehand"
            says(message, "taken", gone, "a leave from another port")
    return "joins and leaves"


def leaving(kit: Kit) -> str:
    """Who has left waits for the others, who are told."""
    with team(kit) as (first, second):
        message = first.leave()
        if message.code != 0:
            raise Failed(f"a leave is answered with {message.said}", b"", b"", message.payload)
        anew = first.join()
        if anew.code == 0:
            raise NotOffered("jobs are set up beforehand, and do not end")
        says(anew, "waiting", first.join_payload(), "the join of who has left")
        chunk = second.chunk(0, bytes(4), "sum", "fp32")
        told = second.ask(chunk, second.shard(0))
        if told.said != "left 0":
            raise Failed(f"the other is told {told.said}, not that worker 0 has left", chunk, b"",
                         told.payload)  # fmt: skip
        second.leave()
        second.cookie = 0
        join_all(kit, (first, second))
    return "waits until the other has left, who is told"


def failing(kit: Kit) -> str:
    """A leave with a reason: the others are told at once, and why."""
    for reason in (4, 6, 9, aggregation.MISSING):
        said, detail = ("silent 0", 1) if reason == aggregation.MISSING else ("failed 1", reason)
        with team(kit, 3) as members:
            if members[1].place.session == 0:
                raise NotOffered("jobs are set up beforehand, and do not end")
            members[1].leave(reason)
            chunk = members[2].chunk(0, bytes(4))
            told = members[2].ask(chunk, members[2].shard(0))
            if told.said != said or told.values[1:2] != bytes([detail]):
                raise Failed(f"a leave for reason {reason}: {told.said} is told, not {said}",
                             chunk, b"", told.payload)  # fmt: skip
    return "4 reasons"


def ending(kit: Kit) -> str:
    """A job that all have left ends: its number is free, and chunks of it are of no job."""
    with team(kit) as members:
        job = members[0].place
        if job.session == 0:
            raise NotOffered("jobs are set up beforehand, and do not end")
        late = members[0].chunk(0, bytes(4))
        for member in members:
            member.leave()
        message = members[0].ask(late, members[0].shard(0))
        says(message, "no-job", late, "a chunk of a job that has ended")
        for member in members:
            member.cookie = 0
        join_all(kit, members)
        message = members[0].ask(late, members[0].shard(0), lambda message: message.code != 0)
        says(message, "no-job", late, "a chunk with the session of an earlier job")
    return "a second job of the same number"


def _in_tree(member: Member, place: aggregation.Place) -> Message:
    """A join with a place, and its cookie."""

    def payload(cookie: int) -> bytes:
        return aggregation.join(member.place, member.workers, 16, member.kit.chunk_bytes, cookie,
                                member.kit.requests.new_id(), place)  # fmt: skip

    message = member.ask(payload(0))
    if message.code == aggregation.CODE and message.reason == REASON["cookie"]:
        member.cookie = message.granted[5]
        message = member.ask(payload(member.cookie))
    if message.code == 0:
        member.place = dataclasses.replace(member.place, session=message.granted[5])
        _, member.shards, member.slots, member.most, member.least, *_ = message.granted
    return message


def trees(kit: Kit) -> str:
    """A switch without a parent is the last of a tree, and counts who is below its members."""
    with team(kit, joined=False) as members:
        above = aggregation.Place(((2, 0),), 4)
        message = _in_tree(members[0], above)
        if message.code == 0 or _knows_no_tree(message):
            raise NotOffered("it does not support trees")
        if message.reason not in (REASON["no-parent"], REASON["waiting"], REASON["parent"]):
            raise Failed(f"a place below another switch: {message.said}", members[0].join_payload(),
                         b"", message.payload)  # fmt: skip
        said = message.said
    with team(kit, joined=False) as members:
        _too_few(members)
    return f"a place below another switch: {said}"


def _knows_no_tree(message: Message) -> bool:
    place = aggregation.read_place(message.values[aggregation.JOIN.size :])
    return place is not None and place.decided == 0


def _too_few(members: list[Member]) -> None:
    """Two workers say that they are three."""
    place = aggregation.Place((), 3)
    _in_tree(members[0], place)
    last = _in_tree(members[1], place)
    if last.reason == REASON["digits"]:
        raise NotOffered("it sums no digits, which trees need")
    if last.code == 0 or last.reason != REASON["place"]:
        raise Failed(f"members with 2 workers of 3 are answered with {last.said}, not place", b"",
                     b"", last.payload)  # fmt: skip


def mean_of_tree(kit: Kit) -> str:
    """A mean is divided by the workers of the tree."""
    with team(kit, joined=False) as members:
        places = [aggregation.Place((), 4, below=2) for _ in members]
        for place, member in zip(places, members):
            _in_tree(member, place)
        granted = [_in_tree(member, place) for place, member in zip(places, members)]
        if any(message.code for message in granted):
            raise NotOffered(f"a tree of two members is refused: {granted[0].said}")
        one = bytes.fromhex("3f800000")
        sent = [member.chunk(0, one, "mean") for member in members]
        for payload, message in zip(sent, exchange(members, sent, 0)):
            if message.values[:4] != bytes.fromhex("3f000000"):
                raise Failed("1 and 1, the sums of two workers each, have another mean than 1/2",
                             payload, b"", message.payload)  # fmt: skip
    return "4 workers behind 2 members"


def off(kit: Kit) -> str:
    """Who does not aggregate says so."""
    kit.require_aggregation()
    member = Member(kit, 0, 1, kit.settings.job or 0xFFFE, int.from_bytes(os.urandom(8), "big"))
    try:
        message = member.join()
        is_known = message.code == 0 or message.reason in aggregation.REASONS
        if message.code not in (0, aggregation.CODE) or not is_known:
            raise Failed(f"a join: {message.said}", member.join_payload(), b"", message.payload)
        return "it does not aggregate" if message.said == "off" else "it aggregates"
    finally:
        member.close()


CHECKS = (
    Check(4001, "whether it aggregates", "this switch does not aggregate", "aggregation", off),
    Check(4002, "cookies", "The switch answers the first join with a cookie", "aggregation",
          cookies),
    Check(4003, "cookies of others", "a keyed hash of address, UDP port, job, token, worker,"
          " incarnation, the place's previous holder,", "aggregation", cookies_of_others),
    Check(4004, "waiting for others", "not all workers have joined: join again", "aggregation",
          waiting),
    Check(4005, "what is granted", "The reply has what the switch grants.", "aggregation", grants),
    Check(4006, "sessions", "the reply has the session again", "aggregation", sessions),
    Check(4007, "joins that are too short", "A shorter join is refused with code 4.",
          "aggregation", short_joins),
    Check(4008, "different numbers of workers",
          "differs from the other workers: N, slots or bytes of a join", "aggregation",
          other_numbers),
    Check(4009, "a common number of bytes",
          "For bytes, that is the greatest number that all workers accept", "aggregation",
          common_bytes),
    Check(4010, "other tokens", "another process has the place, or another job, with another token,"
          " the number", "aggregation", tokens),
    Check(4011, "incarnations", "all members are told that it has failed, for reason 3",
          "aggregation", incarnations),
    Check(4012, "ports of joins and leaves",
          "a worker's joins and its leave must come from the UDP port from which it joined",
          "aggregation", ports),
    Check(4013, "who has left",
          "A worker that has left and joins again waits (reason 2) until the others have left,"
          " too.", "aggregation", leaving),
    Check(4014, "who fails", "The switch tells all others at once.", "aggregation", failing),
    Check(4015, "ended jobs", "so that a packet which the network delayed from an earlier job of"
          " the same number and token does not match", "aggregation", ending),
    Check(4016, "places in a tree", "If that is not the number of workers that all name, it refuses"
          " all of them (reason 11), and the job does not open", "trees", trees),
    Check(4017, "means in a tree", "A mean is divided by the number of workers in the tree.",
          "trees", mean_of_tree),
)  # fmt: skip
