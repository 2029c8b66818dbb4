# SPDX-License-Identifier: BSD-3-Clause
"""netfc-bench refuses bad options, configurations and operands, and says why."""

import gzip
import struct
import subprocess

import pytest

import switch
from bench_runs import PROGRAM, refused

from netfc import capture, protocol
from programs import TIMING


REQUEST = capture.udp_frame(protocol.request(1, 1, [0x3E00] * 9, [0x4080] * 9))


def records(frame, count, order='<', kept=None, length=None):
    record = struct.pack(order + 'IIII', 1, 2, kept or len(frame), length or len(frame)) + frame
    return record * count


def header(link=1, order='<', magic=0xA1B2C3D4):
    return struct.pack(order + 'IHHiIII', magic, 2, 4, 0, 0, 262144, link)


@pytest.mark.parametrize('content, message', [
    (header() + records(REQUEST, 50)[:-7], 'truncated'),
    (header() + records(REQUEST, 50) + bytes(9), 'truncated'),
    (header(magic=0xA1B23C4D) + records(REQUEST, 3)[:-1], 'truncated'),
    (header(order='>') + records(REQUEST, 3, '>')[:-1], 'truncated'),
    (header() + records(REQUEST, 2) + records(REQUEST, 1, kept=0x7FFFFFFF) + records(REQUEST, 9), 'bigger than'),
    (header() + records(REQUEST[:70], 2, length=len(REQUEST)), 'is cut'),
    (header(113) + records(REQUEST, 3), "not Ethernet's"), (header(101) + records(REQUEST[14:], 3), "not Ethernet's"),
    (gzip.compress(header() + records(REQUEST, 3)), 'unknown file format'), (b'x' * 500, 'unknown file format'),
    (header()[:13], 'truncated'), (b'', 'truncated'), (header(), 'no frames'),
], ids=lambda value: '' if isinstance(value, bytes) else value)
def test_a_damaged_capture_is_not_taken_for_its_end(tmp_path, content, message):
    path = tmp_path / 'capture.pcap'
    path.write_bytes(content)
    done = subprocess.run([switch.BUILD / TIMING, *switch.eal_options(), '--', '--time', path], text=True, capture_output=True,
                          check=False, env=switch.ENVIRONMENT, timeout=600)
    assert done.returncode == 1 and not done.stdout
    assert f"--time '{path}': " in done.stderr and message in done.stderr


@pytest.mark.parametrize('options, message', [
    (['--set', 'fp16_k3'], "--set 'fp16_k3'"),
    (['--op', 'pow'], 'expected add, sub, mul, div, all, min, max, compare, or a function'),
    (['--lanes', '0'], 'a number from 1 to'),
    (['--lanes', '244'], 'no more than 243 fit'),
    (['--lanes', '241', '--ip6'], 'no more than 240 fit'),
    (['--lanes', '122', '--set', 'fp32_exact'], 'no more than 121 fit'),
    (['--lanes', '121', '--set', 'fp32_exact', '--ip6'], 'no more than 120 fit'),
    (['--op', 'min', '--set', 'fp32_exact'], '--op min: not of binary32'),
    (['--op', 'rsqrt', '--set', 'fp32_exact'], '--op rsqrt: not of binary32'),
    (['--packets', '1x'], 'a number from 1'),
    (['--seconds', '-1'], 'a decimal number'),
    (['--window', '0'], 'a number from 1'),
    (['--rate', '10', '--window', '5'], 'give one of them'),
    (['--timeout', '60001'], 'a number from 1 to 60000'),
    (['--src-mac', 'ff:ff:ff:ff:ff:ff'], 'of one station'),
    (['--dst-ip', '224.0.0.1'], 'the IP address of one host'),
    (['--dst-ip', '127.0.0.1'], 'the IP address of one host'),
    (['--src-ip', '::ffff:198.18.0.1'], 'the IP address of one host'),
    (['--src-ip', '2001:2::1', '--dst-ip', '10.0.0.1'], 'one is IPv4, the other IPv6'),
    (['--dst-udp', '65536'], 'a number from 1 to 65535'),
    (['--flows', '1024', '--src-udp', '65000'], 'not so many ports'),
    (['--match', 'lpm'], 'goes with --inline'),
    (['--inline', '--match', 'tcam'], 'lpm, hash, direct or fpu'),
    (['--inline', '--match', 'fpu'], 'lpm, hash or direct'),
    (['--inline', '--rx-port', '1'], 'brings its own ports'),
    (['--json', '/proc/nonexistent/report'], 'No such file or directory'),
    (['--operands', '/proc/nonexistent'], 'No such file or directory'),
    (['--nonsense'], 'unrecognized option'),
    (['stray'], "unexpected argument 'stray'"),
])
def test_bad_options(options, message):
    assert message in refused(*options)


@pytest.mark.parametrize('options, eal, message', [
    ([], {}, 'no port'),
    (['--tx-port', 1], {'vdevs': ['net_null0']}, '--tx-port 1: no such port'),
    ([], {'vdevs': ['net_virtio_user0,path=/proc/nonexistent']}, 'there is no such port'),
    (['--inline'], {}, 'needs a second lcore'),
    (['--inline'], {'lcores': 2, 'memory': 64}, 'more memory'),
])
def test_bad_configurations(options, eal, message):
    assert message in refused(*options, **eal)


@pytest.mark.parametrize('name, content, message', [
    ('a.txt', b'1 2\n3\n', 'line 2: expected two operands'),
    ('a.txt', b'1 fish\n', 'line 1: expected a decimal number'),
    ('a.txt', b'1 2\n3 4\0\n', 'line 2: expected a line of text'),
    ('a.txt', b'1 2\n3 ' + b'4' * 20000, 'line 2: expected a line of text'),
    ('a.txt', b'# nothing\n\n', 'no operands in it'),
    ('a.bin', b'\x3c\x00\x3c', 'not a multiple of 4 bytes'),
])
def test_bad_operands(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    assert message in refused('--operands', path)


def test_help_and_version_need_no_eal():
    for option, text in (('--help', 'Usage: netfc-bench'), ('--version', 'netfc-bench ')):
        done = switch.execute([option], PROGRAM)
        assert done.returncode == 0
        assert done.stdout.startswith(text)
