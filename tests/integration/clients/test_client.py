# SPDX-License-Identifier: BSD-3-Clause
"""The Python client, against a switch that loses, doubles, reorders, changes and refuses."""

import errno
import math
import os
import random
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import oracle
import project_scripts
import switch
from fake_switch import FakeSwitch, Function, TableSet, with_status, with_z

import netfc
from netfc import Client, ClientError, NoReplyError, QueryResult, StatusError, protocol

SETS = ('fp16_k1024', 'posit16_k512', 'bf16_k128', 'posit16_es2_k256')
FP8 = ('fp8_e4m3', 'fp8_e5m2')
LANES = 100000
PACKAGE = project_scripts.PROJECT / 'python'


@pytest.fixture(name='tables', scope='module')
def all_tables():
    """A table set for each format, by format number."""
    tables = {netfc.FORMATS[name[:name.index('_k')]].id: TableSet(name) for name in SETS}
    yield tables
    for table_set in tables.values():
        table_set.close()


@pytest.fixture(name='fp8_tables', scope='module')
def narrow_tables():
    """The exact sets of 8 bits, by the numbers of their formats."""
    tables = {protocol.FORMAT_IDS[name]: TableSet(f'{name}_exact') for name in FP8}
    yield tables
    for table_set in tables.values():
        table_set.close()


@pytest.fixture(name='fp32_tables', scope='module')
def binary32_tables():
    """fp32_exact, by the number of its format."""
    tables = TableSet('fp32_exact')
    yield {oracle.FP32: tables}
    tables.close()


def client_of(server, **options):
    return Client(server.address, server.port, **{'timeout': 5, **options})


def random_bits(seed, lanes):
    return np.random.default_rng(seed).integers(0, 0x10000, (2, lanes), dtype=np.uint16)


def bad_network(seed):
    """Loses, doubles and delays replies, each of them one in ten."""
    draw, delayed = random.Random(seed), []

    def mangle(_, reply):
        fate = draw.random()
        if fate < 0.1:
            return []
        if fate < 0.2:
            return [reply, reply]
        if fate < 0.3:
            delayed.append(reply)
            return []
        datagrams = [reply, *delayed]
        delayed.clear()
        return datagrams

    return mangle


# ---- results ---------------------------------------------------------------------------------


def test_many_lanes_through_a_bad_network(tables):
    x, y = random_bits(1, LANES)
    expected, flags = tables[1].compute('add', x, y)
    with FakeSwitch(tables, bad_network(1)) as server, client_of(
            server, timeout=1, retries=400) as client:
        np.testing.assert_array_equal(client.add(x, y), expected)
        assert client.flags == flags
        counters = client.counters
    assert counters.sent == counters.received == math.ceil(LANES / 243)
    assert counters.sent_again > 20 and counters.ignored > 20


@pytest.mark.parametrize('op', netfc.OPS)
@pytest.mark.parametrize('name', netfc.FORMATS)
def test_every_format_and_operation(tables, name, op):
    x, y = random_bits(netfc.OPS[op], 1000)
    expected, flags = tables[netfc.FORMATS[name].id].compute(op, x, y)
    with FakeSwitch(tables) as server, client_of(server, number_format=name) as client:
        np.testing.assert_array_equal(getattr(client, op)(x, y), expected)
        assert client.flags == flags
        assert (client.counters.sent_again, client.counters.ignored) == (0, 0)


@pytest.mark.parametrize('op', netfc.OPS)
def test_binary32(fp32_tables, op):
    """Encodings and numbers of 32 bits, in datagrams of 121 lanes."""
    x, y = np.random.default_rng(netfc.OPS[op]).integers(1 << 32, size=(2, 1000), dtype=np.uint32)
    expected, flags = fp32_tables[oracle.FP32].compute(op, x, y)
    with FakeSwitch(fp32_tables) as server, client_of(server, number_format='fp32') as client:
        z = getattr(client, op)(x, y)
        np.testing.assert_array_equal(z, expected)
        assert z.dtype == np.uint32 and client.flags == flags
        assert client.lanes == 121 and client.counters.sent == math.ceil(1000 / 121)
        z = getattr(client, op)([[1], [2]], [3.0, 0.1])
        assert z.dtype == np.float32 and z.shape == (2, 2)
        x, y = np.float32([[1], [2]]), np.float32([3.0, 0.1])
        np.testing.assert_array_equal(z, {'add': x + y, 'sub': x - y, 'mul': x * y, 'div': x / y}[op])


@pytest.mark.parametrize('op', netfc.OPS)
@pytest.mark.parametrize('name', FP8)
def test_8_bits(fp8_tables, name, op):
    """Odd numbers of lanes, too, whose operands are filled up."""
    x, y = np.random.default_rng(netfc.OPS[op]).integers(0x100, size=(2, 1001), dtype=np.uint8)
    expected, flags = fp8_tables[protocol.FORMAT_IDS[name]].compute(op, x, y)
    with FakeSwitch(fp8_tables) as server, client_of(server, number_format=name) as client:
        z = getattr(client, op)(x, y)
        np.testing.assert_array_equal(z, expected)
        assert z.dtype == np.uint8 and client.flags == flags
        assert client.lanes == 486 and client.counters.ignored == 0


def test_what_binary32_has_not(fp32_tables):
    with FakeSwitch(fp32_tables) as server, client_of(server, number_format='fp32') as client:
        for compute in (lambda: client.compute('min', 1, 2), lambda: client.fma(1, 2, 3),
                        lambda: client.function('rsqrt', 2), lambda: client.function('own', 2)):
            with pytest.raises(ValueError, match='not computed in fp32: there are add, sub, mul, div, and conversions'):
                compute()
        with pytest.raises(TypeError, match='uint32'):
            client.add(np.uint32(1), 1.5)
        assert not server.requests
    with FakeSwitch({}) as server, client_of(server, number_format='fp32') as client:
        with pytest.raises(StatusError, match='a table set for fp32'):
            client.add(1, 2)


def test_functions_of_a_name(tables):
    """The number is asked for before the first call, and after each; and after it was refused."""
    function = Function(193, 'fp16', 'exp')
    with FakeSwitch(tables, functions={'mine': function}) as server, client_of(server) as client:
        x = np.arange(0x10000, dtype=np.uint16)
        np.testing.assert_array_equal(client.function('mine', x), function.entries[0])
        assert client.flags == 4 | 8  # overflow, underflow
        asked = len(server.requests)
        assert client.function('mine', 0.0) == 1.0
        assert len(server.requests) == asked + 2
        function.number = 194
        with pytest.raises(StatusError, match="Load the function 'mine' for fp16"):
            client.function('mine', 0.0)
        assert client.function('mine', 0.0) == 1.0


def test_a_number_that_another_function_has_now(tables):
    """As after a restart with functions in another order."""
    exp, sqrt = Function(193, 'fp16', 'exp'), Function(194, 'fp16', 'sqrt')
    with FakeSwitch(tables, functions={'mine': exp, 'other': sqrt}) as server:
        with client_of(server) as client:
            assert client.function('mine', 4.0) == client.function('mine', [4.0])[0] > 50
            exp.number, sqrt.number = 194, 193
            assert client.function('mine', 0.0) == 1.0 and client.flags == 0
            assert client.function('other', 4.0) == 2.0


def test_a_number_that_changes_each_time(tables):
    """As where several switches have the address, and not the same functions."""
    exp, sqrt = Function(193, 'fp16', 'exp'), Function(194, 'fp16', 'sqrt')

    def swap(request, reply):
        if request[3] == protocol.NAME:
            exp.number, sqrt.number = sqrt.number, exp.number
        return [reply]

    with FakeSwitch(tables, swap, functions={'mine': exp, 'other': sqrt}) as server:
        with client_of(server) as client, pytest.raises(ClientError, match='changes all the time'):
            client.function('mine', 0.0)


def test_two_and_three_operands(tables):
    with FakeSwitch(tables) as server, client_of(server, number_format='bf16') as client:
        x, y = [1.5, -2.0, np.nan], [0.5, 4.0, 1.0]
        np.testing.assert_array_equal(client.compute('min', x, y), [0.5, -2.0, np.nan])
        np.testing.assert_array_equal(client.compute('compare', x, y), [1, -1, np.nan])
        np.testing.assert_array_equal(client.fma(x, y, 1), [1.75, -7.0, np.nan])
        for arguments in (('fma', x, y), ('min', x, y, x)):
            with pytest.raises(TypeError):
                client.compute(*arguments)


def test_numbers(tables):
    with FakeSwitch(tables) as server, client_of(server) as client:
        assert client.add(1.5, 2.25) == 3.75
        assert isinstance(client.add(1.5, 2.25), float)
        z = client.mul([[1.0, -2.0], [0.5, math.inf]], [2, 4])
        np.testing.assert_array_equal(z, [[2, -8], [1, math.inf]])
        assert z.dtype == np.float64
        assert math.isnan(client.sub(math.inf, math.inf))
        np.testing.assert_array_equal(client.div(np.arange(3, dtype=np.int8), np.float32(2)),
                                      [0, 0.5, 1])


def test_encodings(tables):
    with FakeSwitch(tables) as server, client_of(server) as client:
        z = client.add(np.uint16(0x3E00), np.array([0x4080], dtype=np.uint16))
        assert z.dtype == np.uint16 and z.tolist() == [0x4380]


def test_nothing_to_compute(tables):
    with FakeSwitch(tables) as server, client_of(server) as client:
        assert client.add([], 1).shape == (0,)
        assert client.add(np.zeros((0, 3)), np.ones(3)).shape == (0, 3)
        assert server.requests == []


def test_exception_flags(tables):
    cases = [('mul', 6e4, 2, 'overflow'), ('mul', 1e-7, 1e-7, 'underflow'),
             ('div', 1, 0, 'division by zero'), ('div', 0, 0, 'invalid'), ('add', 1, 1, None)]
    with FakeSwitch(tables) as server, client_of(server, lanes=1) as client:
        for op, x, y, word in cases:
            client.compute(op, x, y)
            assert client.flags.words == ([word] if word else [])
        client.div([1, 0, 2], [0, 0, 1])
        assert client.flags == protocol.Flag.DIVBYZERO | protocol.Flag.INVALID


def test_query():
    def mangle(request, _):
        assert request[12:16] == bytes((10, 0, 0, 7))
        ratio, counters = b'\x1b\x0a', protocol.QUERY_COUNTERS.pack(1729, 505000)
        return [with_status(request)[:16] + ratio + counters]

    with FakeSwitch({}, mangle) as server, client_of(server) as client:
        assert client.query('10.0.0.7') == QueryResult(0.003437042236328125, 1729, 505000)


# ---- datagrams -------------------------------------------------------------------------------


@pytest.mark.parametrize('address, options, lanes', [
    ('127.0.0.1', {}, 243),
    ('::1', {}, 240),
    ('127.0.0.1', {'mtu': 9000}, 1493),
    ('127.0.0.1', {'mtu': 65535}, 10915),
    ('127.0.0.1', {'mtu': 46}, 1),
    ('::1', {'mtu': 66}, 1),
    ('127.0.0.1', {'lanes': 7}, 7),
])
def test_lanes_in_a_datagram(tables, address, options, lanes):
    x, y = random_bits(2, min(2 * lanes + 1, 12000))
    with FakeSwitch(tables, address=address) as server, client_of(server, **options) as client:
        np.testing.assert_array_equal(client.sub(x, y), tables[1].compute('sub', x, y)[0])
        counts = [protocol.HEADER.unpack_from(request)[5] for request in server.requests]
    assert max(counts) == lanes and sum(counts) == len(x)
    assert [len(request) for request in server.requests] == [12 + 6 * n for n in counts]


def test_ids_are_never_the_same(tables):
    with FakeSwitch(tables) as server, client_of(server, lanes=1) as client:
        for _ in range(3):
            client.add(np.ones(50), 1)
        ids = {protocol.HEADER.unpack_from(request)[6] for request in server.requests}
    assert len(ids) == 150


def test_threads_share_a_client():
    """They wait for each other, and take none of the others' replies."""
    wrong = []

    def work(client, addend):
        z = client.fma(np.ones(20), 1, addend)
        wrong.extend(z[z != 1 + addend])

    with FakeSwitch({}) as server, client_of(server, lanes=4) as client:
        threads = [threading.Thread(target=work, args=(client, addend)) for addend in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong and client.counters.received == 8 * 5 and client.counters.ignored == 0
        assert len({request[8:12] for request in server.requests}) == 8 * 5


FORKING = """
import os, sys, netfc

client, children = netfc.Client(sys.argv[1], int(sys.argv[2]), timeout=5), []
for addend in range(1, 4):
    children.append(os.fork())
    if children[-1] == 0:
        os._exit(sum(client.fma(1, 1, addend) != 1 + addend for _ in range(20)))
assert all(client.fma(1, 1, 9) == 10 for _ in range(20))
assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
"""


def test_forked_processes_share_no_replies():
    """They ask the same but for what is added, which is not in a reply."""
    with FakeSwitch({}) as server:
        subprocess.run([sys.executable, '-c', FORKING, server.address, str(server.port)], check=True,
                       timeout=switch.TIMEOUT_S, env=os.environ | {'PYTHONPATH': str(PACKAGE)})
        assert len({request[8:12] for request in server.requests}) == 4 * 20


def test_window():
    """As many datagrams as the window has are under way, and never more."""
    window, held, most = 5, [], []

    def mangle(_, reply):
        held.append(reply)
        most.append(len(held))
        if len(held) < window:
            return []
        released = held[::-1]
        held.clear()
        return released

    with FakeSwitch({}, mangle) as server, client_of(server, window=window, lanes=1) as client:
        with pytest.raises(StatusError):  # the first reply ends it
            client.add(np.ones(4 * window), 1)
    assert most == [1, 2, 3, 4, 5]


def test_window_moves_on(tables):
    window, held = 5, []
    x, y = random_bits(3, 24)
    expected, _ = tables[1].compute('mul', x, y)

    def mangle(_, reply):
        held.append(reply)
        return [held.pop(0)] if len(held) == window else []

    with FakeSwitch(tables, mangle) as server:
        with client_of(server, window=window, lanes=1, timeout=0.5) as client:
            np.testing.assert_array_equal(client.mul(x, y), expected)
            assert client.counters.sent == 24
            assert client.counters.sent_again >= window - 1  # those held to the end


# ---- replies that are none -------------------------------------------------------------------


def flipped(data, at, mask=1):
    return data[:at] + bytes([data[at] ^ mask]) + data[at + 1:]


NO_REPLIES = {
    'wrong id': lambda request, reply: flipped(reply, 11),
    'no magic': lambda request, reply: flipped(reply, 0),
    'another version': lambda request, reply: flipped(reply, 2),
    'another operation': lambda request, reply: flipped(reply, 3),
    'another format': lambda request, reply: flipped(reply, 4),
    'no reply bit': lambda request, reply: flipped(reply, 5, 0x80),
    'the request': lambda request, reply: request,
    'another count': lambda request, reply: flipped(reply, 7),
    'another x': lambda request, reply: flipped(reply, 12),
    'another y': lambda request, reply: flipped(reply, 14),
    'one byte short': lambda request, reply: reply[:-1],
    'one byte long': lambda request, reply: reply + b'\0',
    'a header': lambda request, reply: reply[:12],
    'a part of a header': lambda request, reply: reply[:7],
    'nothing': lambda request, reply: b'',
    'something else': lambda request, reply: b'GET / HTTP/1.1\r\n\r\n',
    'the longest datagram': lambda request, reply: bytes(65507),
}


@pytest.mark.parametrize('name', NO_REPLIES)
def test_ignored(tables, name):
    def mangle(request, reply):
        return [NO_REPLIES[name](request, with_z(reply, [0x1234])), reply]

    with FakeSwitch(tables, mangle) as server, client_of(server) as client:
        assert client.add(1, 2) == 3
        assert (client.counters.ignored, client.counters.received) == (1, 1)


@pytest.mark.parametrize('at', (12, 19, 20, 27))
def test_other_operands_of_32_bits_are_ignored(fp32_tables, at):
    def mangle(_, reply):
        return [flipped(with_z(reply, [9, 9]), at), reply]

    with FakeSwitch(fp32_tables, mangle) as server, client_of(
            server, number_format='fp32') as client:
        np.testing.assert_array_equal(client.add([1, 2], [3, 4]), [4, 6])
        assert (client.counters.ignored, client.counters.received) == (1, 1)


def test_another_sender_is_ignored(tables):
    """Even where everything in the reply is right but where it comes from."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        def mangle(_, reply):
            stranger.sendto(with_z(reply, [0x1234]), client_address())
            return [reply]

        def client_address():
            return client._channel._socket.getsockname()

        with FakeSwitch(tables, mangle) as server, client_of(server) as client:
            assert client.add(1, 2) == 3
            assert client.counters.ignored == 0


def test_late_replies_to_an_earlier_call_are_ignored(tables):
    with FakeSwitch(tables, lambda request, reply: [reply] * 2) as server:
        with client_of(server) as client:
            assert [client.add(value, 1) for value in range(10)] == list(range(1, 11))
            assert client.counters.ignored >= 8


# ---- errors ----------------------------------------------------------------------------------

ADVICE = {
    'version': 'same release', 'op': 'release', 'format': '--tables', 'length': 'smaller MTU',
    'query': 'Slowloris', 'lanes': 'fewer lanes than 3', 'unknown': 'release',
}


@pytest.mark.parametrize('code', range(1, 8))
def test_error_status(tables, code):
    def mangle(request, _):
        return [with_status(request, code)]

    name = protocol.CODE_NAMES.get(code, 'unknown')
    with FakeSwitch(tables, mangle) as server, client_of(server) as client:
        with pytest.raises(StatusError, match=f"error '{name}'.*{ADVICE[name]}") as caught:
            client.add([1, 2, 3], 1)
    assert (caught.value.code, caught.value.name) == (code, name)


def test_a_format_that_is_not_loaded(tables):
    with FakeSwitch({1: tables[1]}) as server, client_of(server, number_format='bf16') as client:
        with pytest.raises(StatusError, match='a table set for bf16'):
            client.add(1, 1)


def test_queries_are_answered_in_fp16():
    def mangle(request, _):
        return [with_status(request, protocol.Code.FORMAT)]

    with FakeSwitch({}, mangle) as server, client_of(server, number_format='bf16') as client:
        with pytest.raises(StatusError, match='a table set for fp16'):
            client.query('10.0.0.7')


def test_no_reply():
    with FakeSwitch({}, lambda request, reply: [b'other']) as server:
        with client_of(server, timeout=0.02, retries=3) as client:
            with pytest.raises(NoReplyError) as caught:
                client.add(np.ones(250), 1)
    assert server.requests.count(server.requests[0]) == 4
    message = str(caught.value)
    assert isinstance(caught.value, TimeoutError)
    assert f'no reply from 127.0.0.1 UDP port {server.port} to datagram 1 of 2' in message
    assert 'sent 4 times, 0.02 s apart' in message and 'other datagrams were ignored' in message


def test_nobody_listens():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind(('127.0.0.1', 0))
        port = unused.getsockname()[1]
    with Client('127.0.0.1', port, timeout=0.02, retries=1) as client:
        with pytest.raises(NoReplyError, match='the network says: Connection refused'):
            client.add(1, 1)


def test_it_recovers(tables):
    """A call that failed leaves nothing behind."""
    silent = threading.Event()
    silent.set()
    with FakeSwitch(tables, lambda request, reply: [] if silent.is_set() else [reply]) as server:
        with client_of(server, timeout=0.1, retries=4) as client:
            with pytest.raises(NoReplyError):
                client.add(1, 2)
            silent.clear()
            assert client.add(1, 2) == 3


@pytest.mark.parametrize('number, message', [
    (errno.EMSGSIZE, 'too long for the way to .* set the MTU to 65535'),
    (errno.ENETUNREACH, 'cannot send to .*: Network is unreachable'),
    (errno.EPERM, 'cannot send to .*: Operation not permitted'),
])
def test_the_network_refuses(monkeypatch, number, message):
    def refuse(*_):
        raise OSError(number, os.strerror(number))

    with Client('127.0.0.1') as client:
        monkeypatch.setattr(socket.socket, 'send', refuse)
        with pytest.raises(ClientError, match=message):
            client.add(np.ones(243), 1)


@pytest.mark.parametrize('options, message', [
    ({'port': 0}, 'port 0 is not between 1 and 65535'),
    ({'port': 65536}, 'port 65536'),
    ({'number_format': 'fp64'}, "no number format 'fp64': there are fp16, posit16"),
    ({'mtu': 45}, 'too small for a lane: 46 is the least'),
    ({'address': '::1', 'mtu': 65}, '66 is the least'),
    ({'lanes': 0}, '1 to 243 fit'),
    ({'lanes': 244}, '1 to 243 fit'),
    ({'timeout': 0}, 'timeout of 0 s'),
    ({'timeout': math.nan}, 'timeout of nan s'),
    ({'retries': -1}, '-1 retries'),
    ({'window': 0}, 'window of 0 datagrams'),
    ({'address': ''}, 'address of the switch is empty'),
])
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        Client(**{'address': '127.0.0.1', **options})


@pytest.mark.parametrize('address', ['switch.invalid', '10.0.0.256', 'a' * 70 + '.example', '::g'])
def test_bad_addresses(address):
    with pytest.raises(ClientError, match='cannot be resolved'):
        Client(address)


def test_a_link_local_address_without_its_interface():
    with pytest.raises(ClientError, match='fe80::5%eth0'):
        Client('fe80::5')


@pytest.mark.parametrize('x, y, error, message', [
    (np.ones(2), np.ones(3), ValueError, r'differ in shape: \(2,\) and \(3,\)'),
    (np.ones(2, np.uint16), 1.0, TypeError, 'uint16 and y is float64'),
    ('1.5', 1.0, TypeError, 'x is str, not an array of real numbers'),
    (1.0, [1j], TypeError, 'y is complex,'),
    ([None], 1.0, TypeError, 'x is NoneType'),
    (True, 1.0, TypeError, 'x is bool'),
])
def test_bad_operands(x, y, error, message):
    with Client('127.0.0.1') as client, pytest.raises(error, match=message):
        client.add(x, y)


def test_bad_calls():
    with Client('127.0.0.1') as client:
        with pytest.raises(ValueError, match="no operation 'pow': there are add, sub, mul, div"):
            client.compute('pow', 1, 1)
        with pytest.raises(ValueError, match='2001:db8::1'):
            client.query('2001:db8::1')
