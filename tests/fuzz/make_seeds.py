#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes inputs for the fuzz targets to begin with: make_seeds.py FOLDER.

Frames are those of the integration tests. The same bytes in every run.
"""

import itertools
import pathlib
import random
import struct
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
TESTS, PROJECT = HERE.parent, HERE.parents[1]
# As in tests/pytest.ini, and the test that has dialogues with a switch.
sys.path[:0] = map(str, (TESTS / "support", TESTS / "integration" / "switch",
                         PROJECT / "scripts", PROJECT / "python"))

import frames  # noqa: E402
import test_endpoint  # noqa: E402
from netfc import protocol  # noqa: E402

FRAMES_PER_SEED = 16
MAX_BYTES = 8192  # of a seed; libFuzzer cuts off more (-max_len of scripts/fuzz)
WORKERS = 6  # of fuzz_pipeline.c
CUTS = (0, 1, 3, 10, 21, 31, 41)  # half the bytes of a segment; 0: all in one
GOOD_FILES, FP32_FILE, FP8_FILE, FUNCTION_FILE = 9, 7, 8, 0xFF  # of fuzz_table_file.c
BARE, FIX_LENGTH, FIX_SUM, THROUGH_FILE, MUST_FAIL, SAY_AGAIN, SAVE, NO_FILE = (
    1 << bit for bit in range(8))  # of fuzz_table_file.c


def name_request(form, name):
    """A request for the number of a name, whose slots have two bytes in every format."""
    slots = struct.unpack(">16H", name.ljust(32, b"\0"))
    payload = bytearray(frames.request(192, 1, slots[:8], slots[8:]))
    payload[4] = form
    return bytes(payload)


def conversion(count, form, op):
    """A request with random bytes in its slots, which are as wide as either format's encodings."""
    slots = random.Random(op).randbytes(3 * protocol.operand_bytes(form, count, op))
    return protocol.HEADER.pack(protocol.MAGIC, protocol.VERSION, op, form, 0, count, op) + slots


def refused():
    """Requests of every format that are refused, for each reason."""
    for form in range(11):
        yield frames.lanes(1, form, 1, version=2)
        yield frames.lanes(1, form, 250)
        yield frames.lanes(1, form, 5, count=0)
    for form, op in ((0, 1), (2, 71), (3, 193), (4, 1), (5, 5), (6, 1), (7, 1), (8, 193), (9, 1), (10, 1)):
        yield frames.lanes(1, form, op)  # known, but not of that format
    yield frames.lanes(1, 5, 1, count=2)
    yield frames.lanes(2, 1, 16)  # a query has one lane


def requests():
    """Every operation of every format in few lanes and in many, names, and what is refused."""
    yield from (frames.lanes(count, form, op)
                for count in (31, 64, 100, 243) for form in (1, 2, 3) for op in (1, 2, 3, 4))
    yield from (frames.lanes(count, form, op)
                for count in (1, 8, 33, 243) for form in (1, 2, 3, 4) for op in (5, 6, 7, 8))
    yield from (frames.lanes(count, form, op)
                for count in (1, 8, 33, 243) for form in (1, 3) for op in (70, 71, 99, 193))
    yield from (frames.lanes(count, 5, op) for count in (1, 8, 33, 121) for op in (1, 2, 3, 4, 5))
    yield from (frames.lanes(count, 8, op) for count in (1, 8, 33, 101) for op in (1, 2, 3, 4))
    yield from (frames.lanes(count, form, op)
                for count in (1, 8, 33, 101) for form in (8, 9) for op in (5, 6, 7, 8))
    yield from (frames.lanes(count, 8, 71) for count in (1, 8, 33, 101))
    yield from (conversion(count, form, op) for count in (1, 8, 33, 121)
                for form, op in ((1, 101), (8, 101), (8, 99), (9, 104), (5, 104)))
    yield from (name_request(form, name)
                for form in (1, 2, 3, 4, 8, 9) for name in (b"own", b"known", b"fma", b"to_fp32", b"other"))
    yield from refused()


def grouped(some):
    """Frames, each behind its length, as many together as a seed holds."""
    group, count = b"", 0
    for frame in some:
        item = struct.pack(">H", len(frame)) + frame
        if count == FRAMES_PER_SEED or 1 + len(group) + len(item) > MAX_BYTES:
            yield group
            group, count = b"", 0
        group, count = group + item, count + 1
    yield group


def bursts():
    """Bursts of frames, in segments of several sizes."""
    zoo = [frame for _, frame in frames.zoo()]
    zoo += [question for _, question, _ in test_endpoint.dialogues(frames.SERVER_MAC)]
    zoo += [frame for _, frame in test_endpoint.unwanted()]
    zoo += [*test_endpoint.damaged(), *test_endpoint.not_for_it()]
    zoo += map(frames.plain_frame, requests())
    for number, group in enumerate(grouped(zoo)):
        for worker in range(WORKERS):
            yield bytes([WORKERS * CUTS[number % len(CUTS)] + worker]) + group


def byte_function(greatest):
    """The file of a function of 8 bits."""
    entries = [*range(0xFF), greatest]
    body = struct.pack(">32sI256H256x", b"own", 8 << 24, *entries)
    head = struct.pack(">8sII", b"NetFCfun", 1, 16 + len(body) + 4)
    return head + body + struct.pack(">I", zlib.crc32(head + body))


def table_files():
    """Good files, cut, lengthened, changed here and there, and what is no such file."""
    for good in range(GOOD_FILES):
        yield bytes([SAY_AGAIN, good])
    for fixes in (0, FIX_LENGTH, FIX_LENGTH | FIX_SUM, FIX_SUM):
        for at, change in ((0, b"X"), (8, b"\0\0\0\0"), (8, b"\0\0\0\2"), (12, b"\xFF"),
                           (16, b"fp16_k512\0"), (16, b"A" * 32), (48, b"\7"), (50, b"\1"),
                           (60, b"log2"), (68, b"\x11"), (70, b"\4"), (300, b"\xFF\xFF")):
            for good in (0, FP8_FILE):
                yield bytes([fixes, good]) + struct.pack(">IB", at, len(change)) + change
        for length in (0, 7, 8, 20, 59, 100):
            yield bytes([fixes | THROUGH_FILE, 0]) + struct.pack(">IB", 0xFF000000 | length, 0)
    for at, change in ((23, b"_small"), (48, b"\4"), (51, b"\2"), (64, b"\x0F"), (65, b"\x20"), (67, b"\4"),
                       (176, b"\xFF"), (300, b"\0\0")):
        yield bytes([FIX_SUM, FP32_FILE]) + struct.pack(">IB", at, len(change)) + change
    for at, change in ((20, b"5m2"), (25, b"exact"), (48, b"\1"), (48, b"\x09"), (64, b"\x08"), (66, b"\2"),
                       (144, b"\xFF"), (300, b"\xFF\xFF")):
        yield bytes([FIX_SUM, FP8_FILE]) + struct.pack(">IB", at, len(change)) + change
    for allocation in range(6):
        yield bytes([MUST_FAIL | THROUGH_FILE, allocation, 0])
        yield bytes([MUST_FAIL, allocation, 1])
    for path in range(4):
        yield bytes([NO_FILE, path, 0])
        yield bytes([NO_FILE | SAVE, path, 0])
    for allocation in range(4):
        yield bytes([MUST_FAIL | SAVE, allocation, 0])
    yield bytes([SAY_AGAIN, FUNCTION_FILE])
    for at, change in ((0, b"X"), (11, b"\0"), (11, b"\2"), (15, b"\xFF"), (16, b"F"), (16, b"sqrt\0"),
                       (16, b"a" * 32), (40, b"x"), (48, b"\7"), (51, b"\1"), (131200, b"\x10")):
        yield bytes([FIX_SUM, FUNCTION_FILE]) + struct.pack(">IB", at, len(change)) + change
    for greatest in (0xFF, 0x100):
        yield bytes([BARE, 0]) + byte_function(greatest)
    for length in (7, 20, 100):
        yield bytes([0, FUNCTION_FILE]) + struct.pack(">IB", 0xFF000000 | length, 0)
    for allocation in range(4):
        yield bytes([MUST_FAIL, allocation, FUNCTION_FILE])
    yield bytes([SAVE, 0])
    yield bytes([BARE, 0]) + b"NetFCset"
    yield bytes([BARE | THROUGH_FILE, 0])


def command_lines():
    """Arguments, one a line."""
    for own in (
            "", "--tables\nfp16_k1024,bf16_k128", "--tables-dir=/tmp", "--match\nlpm",
            "--match=hash", "--match\ndirect", "--match\ntree", "--forward\npair",
            "--forward\nreflect", "--forward\nbridge\n--stations\n100\n--ageing\n10",
            "--address\n10.0.0.1", "--address\n10.0.0.1/24@0\n--address\nfe80::1/64@1",
            "--address\n10.0.0.0/24", "--address\n224.0.0.1", "--address\n::", "--address\n1/33",
            "--address\n10.0.0.1\n--address\n10.0.0.1", "--mtu\n1500", "--mtu\n1", "--port\n65535",
            "--port\n0", "--port\n-1", "--idle-exit\n100", "--stats-json\nx", "--stats-json\n",
            "--functions\nsqrt.netfc", "--aggregate", "--aggregate=jobs=4,slots=64,key=secret",
            "--aggregate=bytes=9000,key=secret", "--aggregate=key=", "--aggregate=bogus=1",
            "--slowloris\n--slowloris-threshold\n0.5",
            "--help", "--version", "--bogus", "-Z", "stray", "--tables\n"):
        yield f"-l\n0\n--no-huge\n--\n{own}".encode()
    yield from (b"--help", b"-v", b"--port\n9", b"--match=lpm\n--", b"")


def commands():
    """A byte that says whether there is a bridge (bit 0) and whether memory is short (bit 1), and a
    line for the control channel."""
    for line in (
            '{"command":"tables","sets":"fp16_k1024"}', '{"command":"add","sets":"bf16_k128,a"}',
            '{"command":"set","name":"ageing","value":60}', '{"command":"set","name":"x","value":1}',
            '{"command":"set","name":"idle-exit","value":0}', '{"command":"set","name":"ageing"}',
            '{"command":"set","name":"slowloris-threshold","value":0.001}',
            '{"command":"set","name":"slowloris-policy","value":"connection"}',
            '{"command":"set","name":"slowloris-dry-run","value":"off"}',
            '{"command":"set","name":"idle-exit","value":-1}', '{"command":"set","value":1.5}',
            '{"command":"log","pattern":"pmd.*","level":"debug"}', '{"command":"log","level":"x"}',
            '{"command":"log","pattern":"*","level":"x"}', '{"command":"show"}', '{"command":1}',
            '{"command":"capture","action":"start","file":"/x","snaplen":64,"packets":1,"bytes":1}',
            '{"command":"capture","action":"start","file":"/x","snaplen":13}',
            '{"command":"capture","action":"start","file":"","bytes":-1}',
            '{"command":"functions","functions":"rsqrt,all"}', '{"command":"add-functions","functions":""}',
            '{"command":"capture","action":"stop"}', '{"command":"capture","action":"show"}',
            '{"command":"capture","action":"start","file":"/x","packets":1.5}',
            '{"command":"reload"}', '{"command":"drain"}', '{"command":"stop"}', '{"command":"fly"}', '{"sets":[1,{"a":null}]}', "[]", "{", ""):
        for bridge in range(2):
            yield bytes([bridge]) + line.encode()
    yield bytes([2]) + b'{"command":"show"}'


JOIN, LEAVE, PACKET, TIME, CHUNK, _, _, OWNED = range(8)  # steps of fuzz_aggregate.c
KEYED, FORGER, DRAIN = 0xC0, 0xF0, 0xFF  # of fuzz_aggregate.c
FORMATS = 10  # that are aggregated
SLOTS_4, BYTES_32 = 2 << 3, 1 << 5  # what a join asks for, beside the number of workers


def joins(workers):
    """All of a job's workers join, and once more, as all are there."""
    return [step for worker in (*range(workers), *range(workers))
            for step in (JOIN, worker << 2, 0, workers | SLOTS_4 | BYTES_32)]


def chunk(worker, number, kind=0, op=0, form=0, host=0):
    return [CHUNK, worker << 2, host, op | form << 2, number, kind & 255]


def owned(worker, number, what, kind=0):
    """what: the owner, and 8 for a copy; 0xF8: a barrier; 0x78: a copy with others' values, too."""
    return [OWNED, worker << 2, 0, 0, number, kind & 255, what]


def leave(worker, reason=0, host=0):
    return [LEAVE, worker << 2, host, reason]


def leaves(workers):
    return [step for worker in range(workers) for step in leave(worker)]


def aggregations():
    """Jobs from their joins to their end."""
    for how, form, op, workers in itertools.product(range(6), range(FORMATS), range(4), (1, 2, 5)):
        steps = [how, *joins(workers)]
        for number in range(9):
            kind = number * 16 + op + form
            for worker in (*range(workers), 0):
                steps += chunk(worker, number, kind, op, form)
        steps += [TIME, 11, *chunk(0, 10, 0, op, form), *chunk(0, 77, 0, op)]
        yield bytes(steps + leaves(workers) + [TIME, 15])
    for how, workers in itertools.product(range(6), (1, 2, 5)):  # all of them in one job
        steps = [how, *joins(workers)]
        for number, (form, op) in enumerate(itertools.product(range(FORMATS), range(4))):
            for worker in range(workers):
                steps += chunk(worker, number, number * 9, op, form)
        yield bytes(steps + leaves(workers))


def owned_aggregations():
    """Results for one, copies from one, barriers; repeats of them, and owners that differ."""
    for how, workers in itertools.product(range(6), (1, 2, 5)):
        steps = [how, *joins(workers)]
        for number, what in enumerate((0, 8, 0xF8, workers - 1, 7 + workers, 0xF8)):
            for worker in (*range(workers), 0, workers - 1):
                steps += owned(worker, number, what, number * 9)
        yield bytes(steps + leaves(workers))
    for how, bad in itertools.product((0, 3, KEYED), (
            owned(0, 0, 8) + owned(1, 0, 9), owned(0, 0, 0) + owned(1, 0, 1),
            owned(0, 0, 7) + owned(0, 1, 15), owned(0, 0, 8) + owned(1, 0, 0x78),
            owned(0, 0, 9) + [TIME, 10] + owned(0, 0, 9))):
        yield bytes([how, *joins(2), *bad, *leaves(2), TIME, 15])


def drained_aggregations():
    """The last job goes on, and none begins."""
    for how in (0, KEYED):
        yield bytes([how, *joins(2), TIME, DRAIN, JOIN, 1, 0, 1 | SLOTS_4 | BYTES_32,
                     *chunk(0, 0), *chunk(1, 0), *leaves(2), *joins(2)])


def bad_aggregations():
    """Packets that a job of two workers refuses or drops, each in a job of its own."""
    what = 2 | SLOTS_4 | BYTES_32
    same_host, other_host = 0xE8, 0xE1  # but another port of it; seen from worker 0
    round_of_all = [step for number in (0, 4, 8) for worker in (0, 1)
                    for step in chunk(worker, number)]
    for how, bad in itertools.product((0, 3, KEYED, KEYED + 3), (
            chunk(0, 0) * 2,  # duplicate
            chunk(0, 0) + chunk(1, 0, op=1) + chunk(1, 0, form=2),  # mismatch
            round_of_all + chunk(0, 0),  # stale
            chunk(0, 0) + [TIME, 10] + chunk(0, 0),  # stalled
            chunk(0, 40) + chunk(0, 0, 0xF0, form=4),  # outside the window; too large
            [CHUNK, 0, 0, 0xF8, 1, 0, CHUNK, 0, 0, 0xF9, 0, 0],  # to the other shard
            [CHUNK, 1, 0, 0, 0, 0, LEAVE, 1, 0, 0],  # no such job
            [CHUNK, 0xF8, 0, 0, 0, 0, LEAVE, 0xF8, 0, 0],  # another session
            [JOIN, 0xF8, 0, what],  # another token
            chunk(5, 0) + leave(5),  # no such worker
            chunk(0, 0, host=other_host) + leave(0, host=other_host)
            + [JOIN, 0, other_host, what],
            chunk(0, 0, host=FORGER) + [JOIN, 0, FORGER, what],
            leave(0, host=same_host) + [JOIN, 0, same_host, what],
            leave(1) + [JOIN, 1 << 2, 0, what],  # waits for the others to leave, too
            [JOIN, 0, 0, what + 1, JOIN, 1, 0, what - 2, JOIN, 5 << 2, 0, what],  # asks for other
            [JOIN, 1, 0, 7, JOIN, 5 << 2 | 1, 0, what],  # too many workers, no such worker
            # Too many jobs of one address; two of one number; none is heard any more.
            [step for job in (1, 2, 3) for step in (JOIN, job, 0, what)],
            [JOIN, 1, 0, what, JOIN, 0xF9, 6, 7, TIME, 12, JOIN, 1, 0, what, TIME, 13])):
        yield bytes([how, *joins(2), *bad, *leaves(2), TIME, 15])
    for how, reason in itertools.product((0, 3), (0, 4, 9, 64, 65, 70)):  # left, or failed
        yield bytes([how, *joins(2), *chunk(0, 0), *leave(1, reason), *chunk(0, 0), *chunk(0, 1),
                     *leave(0)])
    others = [step for worker in (0, 4, 0) for job in (1, 2)
              for step in (JOIN, worker + job, 0, what)]
    yield bytes([0, *joins(2), *others])  # complete, but no slots are left
    join = b"NF\1\x20" + bytes(36) + b"incarnat"
    yield bytes([3, PACKET, 0, 1, len(join)]) + join  # to a shard that has no joins
    for how in (0, 3):
        silent = [step for _ in range(3) for step in (*chunk(0, 0), TIME, 8)]
        alive = [JOIN, 1 << 2, 0, what]
        yield bytes([how, *joins(2), *silent, *silent, *chunk(0, 0), *alive, *chunk(0, 0)])
    for payload in (b"NF", b"NF\1\x21\5\0\0\2", b"NF\1\x20" + bytes(36),
                    b"NF\1\x21\1\0\0\0" + bytes(20), b"NF\2\x21\1\0\0\1" + bytes(20),
                    b"NF\1\x63\1\0\0\1" + bytes(20), b"NF\1\x21\7\0\0\1" + bytes(20),
                    b"NF\1\x21\1\0\0\1" + bytes(4), *replies()):
        yield bytes([0, PACKET, 0, 0, len(payload)]) + payload


def replies():
    """What comes to a worker: results and sums, of which some end early, and reasons."""
    for status, form, reason, values in itertools.product(
            (0x80, 0xF0), (1, 5, 6), (0, 1, 2), (3, 4, 8, 15, 16)):
        yield (b"NF\1\x21" + bytes([form, status, 0, 2]) + bytes(7) + bytes([reason]) + bytes(8)
               + bytes(values))
    yield b"NF\1\x21\x0b\x80\0\2" + bytes(40)  # no such format
    yield b"NF\1\x20\0\x80\0\0" + bytes(40)  # an answer to a join


RIGHT, _, NOTHING, CHANGED, REFUSAL, BYTES, LENGTH, AGAIN = range(8)  # of fuzz_allreduce.c
LONG = 0xF0  # an allreduce: fp16, sum, MAX_VALUES
JOIN_FIELDS = (24, 25, 26, 27, 28, 29, 30, 31, 32)  # where a join's reply says what is granted


def lies():
    """Options and allreduces of a worker, and what each of its datagrams is answered with."""
    for how, who, task in itertools.product((0, 7, 0x2F, 0x6C, 0xDB), (0, 5, 63), (4, 46, LONG)):
        yield bytes([how, who, task, 24 + task % 24, 77])  # no lie
    begun = bytes([0x0E, 1, 28, LONG, 3])  # segments, 4 slots
    for field, change in itertools.product(JOIN_FIELDS, (0xFF, 0x80, 0x01)):
        yield begun + bytes([RIGHT, RIGHT, CHANGED, field, change])
    for joined in (b"", bytes([RIGHT] * 2), bytes([RIGHT] * 6)):
        yield from (begun + joined + bytes([REFUSAL, reason])
                    for reason in (0, 1, 2, 3, 4, 5, 6, 7, 8, 64, 65, 127, 255))
        yield from (begun + joined + bytes([REFUSAL | code << 3, 0]) for code in range(1, 8))
        yield from (begun + joined + bytes([CHANGED, at, 1]) for at in range(16))
        yield from (begun + joined + bytes([LENGTH]) + length
                    for length in (b"\0\0", b"\0\x17", b"\0\x18", b"\7\0", b"\xFF\xFF"))
        yield from (begun + joined + bytes([AGAIN | (1 | error << 1) << 3]) for error in range(8))
        yield begun + joined + bytes([BYTES, 40]) + bytes(40)
        yield begun + joined + bytes([NOTHING] * 40)
        yield begun + joined + bytes([RIGHT | 1 << 3, AGAIN, AGAIN, RIGHT, AGAIN])


def main():
    folder = pathlib.Path(sys.argv[1])
    for target, seeds in (("pipeline", bursts()), ("table_file", table_files()),
                          ("options", command_lines()), ("control", commands()),
                          ("allreduce", lies()),
                          ("aggregate",
                           [*aggregations(), *owned_aggregations(), *drained_aggregations(),
                            *bad_aggregations()])):
        (folder / target).mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds):
            (folder / target / f"seed-{number:04}").write_bytes(seed)


if __name__ == "__main__":
    main()
