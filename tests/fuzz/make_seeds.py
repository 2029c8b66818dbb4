#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes inputs for the fuzz targets to begin with: make_seeds.py FOLDER.

Frames are those of the integration tests. The same bytes in every run.
"""

import itertools
import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS, PROJECT = HERE.parent, HERE.parents[1]
# As in tests/pytest.ini, and the test that has dialogues with a switch.
sys.path[:0] = map(str, (TESTS / "support", TESTS / "integration" / "switch",
                         PROJECT / "scripts", PROJECT / "python"))

import frames  # noqa: E402
import test_endpoint  # noqa: E402

FRAMES_PER_SEED = 16
WORKERS = 6  # of fuzz_pipeline.c
CUTS = (0, 1, 3, 10, 21, 31, 41)  # half the bytes of a segment; 0: all in one
GOOD_FILES, SHORTEST_FILE, FP32_FILE, FUNCTION_FILE = 8, 5, 7, 0xFF  # of fuzz_table_file.c
BARE, FIX_LENGTH, FIX_SUM, THROUGH_FILE, MUST_FAIL, SAY_AGAIN, SAVE, NO_FILE = (
    1 << bit for bit in range(8))  # of fuzz_table_file.c


def halves(name):
    """x and y of a request for the number of a name."""
    slots = struct.unpack(">16H", name.ljust(32, b"\0"))
    return slots[:8], slots[8:]


def bursts():
    """Bursts of frames, each behind its length, in segments of several sizes."""
    zoo = [frame for _, frame in frames.zoo()]
    zoo += [question for _, question, _ in test_endpoint.dialogues(frames.SERVER_MAC)]
    zoo += [frame for _, frame in test_endpoint.unwanted()]
    zoo += [*test_endpoint.damaged(), *test_endpoint.not_for_it()]
    zoo += [frames.plain_frame(frames.lanes(count, form, op))
            for count in (31, 64, 100, 243) for form in (1, 2, 3) for op in (1, 2, 3, 4)]
    zoo += [frames.plain_frame(frames.lanes(count, form, op)) for count in (1, 8, 33, 243)
            for form in (1, 3) for op in (5, 6, 7, 8, 70, 71, 99, 193)]
    zoo += [frames.plain_frame(frames.lanes(count, 5, op))
            for count in (1, 8, 33, 121) for op in (1, 2, 3, 4, 5)]
    zoo += [frames.plain_frame(frames.request(192, 1, *halves(name)))
            for name in (b"own", b"known", b"fma", b"other")]
    for number, at in enumerate(range(0, len(zoo), FRAMES_PER_SEED)):
        some = zoo[at:at + FRAMES_PER_SEED]
        for worker in range(WORKERS):
            yield bytes([WORKERS * CUTS[number % len(CUTS)] + worker]) + b"".join(
                struct.pack(">H", len(frame)) + frame for frame in some)


def table_files():
    """Good files, cut, lengthened, changed here and there, and what is no such file."""
    for good in range(GOOD_FILES):
        yield bytes([SAY_AGAIN, good])
    for fixes in (0, FIX_LENGTH, FIX_LENGTH | FIX_SUM, FIX_SUM):
        for at, change in ((0, b"X"), (8, b"\0\0\0\0"), (8, b"\0\0\0\2"), (12, b"\xFF"),
                           (16, b"fp16_k512\0"), (16, b"A" * 32), (48, b"\7"), (50, b"\1"),
                           (60, b"log2"), (68, b"\x11"), (70, b"\4"), (300, b"\xFF\xFF")):
            for good in (0, SHORTEST_FILE):
                yield bytes([fixes, good]) + struct.pack(">IB", at, len(change)) + change
        for length in (0, 7, 8, 20, 59, 100):
            yield bytes([fixes | THROUGH_FILE, 0]) + struct.pack(">IB", 0xFF000000 | length, 0)
    for at, change in ((23, b"_small"), (48, b"\4"), (51, b"\2"), (64, b"\x0F"), (65, b"\x20"), (67, b"\4"),
                       (176, b"\xFF"), (300, b"\0\0")):
        yield bytes([FIX_SUM, FP32_FILE]) + struct.pack(">IB", at, len(change)) + change
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
            '{"command":"stop"}', '{"command":"fly"}', '{"sets":[1,{"a":null}]}', "[]", "{", ""):
        for bridge in range(2):
            yield bytes([bridge]) + line.encode()
    yield bytes([2]) + b'{"command":"show"}'


def aggregations():
    """Jobs from their joins to their end: steps of fuzz_aggregate.c."""
    join, leave, packet, time_passes, chunk = range(5)
    for how, form, op, workers in itertools.product(range(6), range(6), range(4), (1, 2, 5)):
        granted = workers | 2 << 3 | 1 << 5
        steps = [how]
        for worker in (*range(workers), *range(workers)):
            steps += [join, worker << 2, 0, granted]
        for number in range(9):
            for worker in range(workers):
                steps += [chunk, worker << 2, 0, op | form << 2, number, (number * 16 + op + form) & 255]
            steps += [chunk, 0, 0, op | form << 2, number, (number * 16 + op + form) & 255]
        steps += [time_passes, 11, chunk, 0, 0, op | form << 2, 10, 0, chunk, 0, 0, op, 77, 0]
        for worker in range(workers):
            steps += [leave, worker << 2, 0]
        yield bytes(steps + [time_passes, 15])
    for payload in (b"NF", b"NF\1\x21\5\0\0\2", b"NF\1\x20" + bytes(36)):
        yield bytes([0, packet, 0, 0, len(payload)]) + payload


def main():
    folder = pathlib.Path(sys.argv[1])
    for target, seeds in (("pipeline", bursts()), ("table_file", table_files()),
                          ("options", command_lines()), ("control", commands()),
                          ("aggregate", aggregations())):
        (folder / target).mkdir(parents=True, exist_ok=True)
        for number, seed in enumerate(seeds):
            (folder / target / f"seed-{number:04}").write_bytes(seed)


if __name__ == "__main__":
    main()
