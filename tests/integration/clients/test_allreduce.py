# SPDX-License-Identifier: BSD-3-Clause
"""netfc.allreduce over libnetfc-allreduce, against the server of the library's own tests."""

import contextlib
import copy
import gc
import math
import pickle
import threading
import time
from fractions import Fraction

import numpy as np
import pytest

import sanitized
import switch
from allreduce_server import serving
from side_by_side import together

from netfc import allreduce, formats
from netfc._allreduce import library
from netfc.protocol import Flag

pytestmark = sanitized.without_sanitizers

TOKEN = 0x0123456789ABCDEF


def joined(address, worker, workers, **options):
    return allreduce.Communicator(address, worker=worker, workers=workers, token=TOKEN,
                                  **{'join_timeout': 10, 'deadline': 10, 'build': switch.BUILD,
                                     **options})


def test_an_error_is_copied_whole():
    """Between processes, too: a pool of them hands errors on."""
    error = allreduce.AllreduceError('who is silent', 'silent', 3, 1, 2)
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(other) == 'who is silent'
        assert (other.status, other.worker, other.switch, other.leaf) == ('silent', 3, 1, 2)


def gradients(worker, count, dtype):
    """Numbers of many sizes; neighbours nearly cancel each other."""
    random = np.random.default_rng(worker)
    values = random.standard_normal(count) * np.exp2(random.integers(-10, 10, count))
    return values.astype(dtype)


def exact_sums(arrays):
    """The exact sums, rounded once to binary32 by way of integers."""
    return [np.float32(_rounded(sum(map(Fraction, map(float, column))))) for column in zip(*arrays)]


def _rounded(value):
    """A fraction to the nearest binary32, ties to even; no overflow, no subnormals."""
    if value == 0:
        return 0.0
    exponent = math.frexp(float(value))[1] - 24
    return math.ldexp(round(value / Fraction(2) ** exponent), exponent)


def test_workers_below_two_leaves_and_totals():
    """Six arrays: a worker of each leaf has one, and the others have two."""
    arrays = [gradients(worker, 3000, np.float32) for worker in range(6)]
    expected = exact_sums(arrays)

    def body(worker):
        place = allreduce.Place(((2, worker // 2),), 4)
        with joined(leaves[worker // 2], worker % 2, 2, place=place) as comm:
            with pytest.raises(ValueError, match='allreduces and barriers only'):
                comm.broadcast(np.zeros(1))
            if worker % 2:
                array = arrays[worker].copy()
                comm.allreduce(array)
                return array
            totals = allreduce.Totals(3000, build=switch.BUILD)
            totals.add(arrays[worker])
            totals.clear()
            for array in (arrays[worker], arrays[4 + worker // 2]):
                totals.add(array)
            with pytest.raises(TypeError):
                totals.add(arrays[0].astype(np.float64))
            with pytest.raises(ValueError):
                totals.add(arrays[0][1:])
            with pytest.raises(TypeError, match='list is not a numpy array'):
                totals.add(arrays[0].tolist())
            with pytest.raises(TypeError, match='mask'):
                totals.add(np.ma.masked_array(arrays[0]))
            return comm.allreduce_totals(totals)[0]

    with contextlib.ExitStack() as stack:
        parent = stack.enter_context(serving()).rpartition(':')[2]
        leaves = [stack.enter_context(serving(parent=parent)) for _ in range(2)]
        told = together(4, body)
    assert all(np.array_equal(one, expected) for one in told)


class Doubles:
    """As netfc.formats.Format, of fp64."""

    @staticmethod
    def encode(numbers):
        def nearest_double(number):
            try:
                return float(number)
            except OverflowError:
                return math.inf if number > 0 else -math.inf

        return np.array([*map(nearest_double, numbers)]).view(np.uint64)

    @staticmethod
    def decode(bits):
        return bits.view(np.float64)


# Subnormals, numbers beside them, and the greatest.
EXTREMES = {'fp16': (2.0**-14, 2.0**-12, 65504), 'bf16': (2.0**-133, 2.0**-125, 3.3e38),
            'fp32': (2.0**-140, 2.0**-125, 3.4e38), 'fp64': (2.0**-1060, 2.0**-1020, 1.7e308)}


@pytest.mark.parametrize('form', EXTREMES)
def test_means_of_totals_are_rounded_once(form):
    """Seven arrays at one worker, at two, and at two leaves, against fractions: encodings that are
    not those of sums that are rounded and then divided; subnormals, and sums that are too large."""
    kind = formats.NUMBER_FORMATS.get(form, Doubles)
    exponents = np.repeat([1.0, *EXTREMES[form]], 500)
    arrays = [kind.encode(np.random.default_rng(number).uniform(-1, 1, 2000) * exponents) for number in range(7)]
    sums = [sum(column) for column in zip(*([*map(Fraction, kind.decode(array).tolist())] for array in arrays))]
    expected = kind.encode([total / 7 for total in sums]).tolist()
    rounded = [Fraction(value) if math.isfinite(value) else 0 for value in kind.decode(kind.encode(sums)).tolist()]
    twice = kind.encode([value / 7 for value in rounded]).tolist()
    assert sum(a != b for a, b in zip(expected, twice)) > 100

    def totals_of(some):
        totals = allreduce.Totals(2000, form, build=switch.BUILD)
        for array in some:
            totals.add(array.view(totals.dtype))
        totals.divide(7)
        return totals

    def body(worker):
        place = allreduce.Place(((2, worker),), 2) if len(addresses) == 2 else None
        address, number = addresses[worker % len(addresses)], worker if place is None else 0
        with joined(address, number, 1 if place else 2, place=place) as comm:
            return comm.allreduce_totals(totals_of(arrays[worker::2]), 'mean')

    told = [totals_of(arrays).result()]
    with contextlib.ExitStack() as stack:
        parent = stack.enter_context(serving())
        for addresses in [parent], [stack.enter_context(serving(parent=parent.rpartition(':')[2])) for _ in range(2)]:
            told += together(2, body)
    for result, flags in told:
        assert result.view(arrays[0].dtype).tolist() == expected
        assert flags == told[0][1]
    with pytest.raises(ValueError, match='give 0 to 16777216'):
        allreduce.Totals(1, form, build=switch.BUILD).divide(-1)


@pytest.mark.parametrize('place, why', [
    (allreduce.Place((), 0), '0 workers'), (allreduce.Place(((2, 0),) * 5, 9), '5 switches'),
    (allreduce.Place(((2, 2),), 9), 'member 2 of 2'), (allreduce.Place(((2, 0),), 1), 'tree_work')])
def test_places_that_make_no_sense(place, why):
    with pytest.raises(ValueError, match=why):
        joined('127.0.0.1:9', 0, 1, place=place)


def test_totals_without_a_switch():
    """Piece by piece, rounded here, and folded into one lane."""
    arrays = [gradients(number, 3000, np.float32) for number in range(5)]
    totals, one = (allreduce.Totals(count, build=switch.BUILD) for count in (3000, 2))
    for array in arrays:
        totals.add(array[:1000], 0)
        totals.add(array[1000:], 1000)
    result, flags = totals.result()
    assert result.tolist() == exact_sums(arrays) and not flags
    into = np.empty(3000, np.float32)
    assert totals.result(into)[0] is into and np.array_equal(into, result)
    totals.fold(one, 1)
    assert one.result()[0].tolist() == [0, *exact_sums([[each] for each in np.concatenate(arrays)])]
    wide = allreduce.Totals(2, 'bf16:fp32', build=switch.BUILD)
    for _ in range(3):
        wide.add(np.array([0x3f81, 0xbf80], np.uint16))
    assert wide.result()[0].tolist() == [3.0234375, -3] and wide.dtype == np.float32
    for wrong in (lambda: totals.add(arrays[0], 1), lambda: totals.add(arrays[0], -1),
                  lambda: totals.result(into[1:]), lambda: totals.result(into.astype(np.float64)),
                  lambda: totals.fold(one, 2), lambda: totals.fold(totals), lambda: totals.fold(wide)):
        with pytest.raises(ValueError, match='fit|fold'):
            wrong()


def test_totals_that_there_are_not():
    with pytest.raises(ValueError, match="totals of 0 'fp32'"):
        allreduce.Totals(0, build=switch.BUILD)
    with pytest.raises(ValueError, match="'fp31'"):
        allreduce.Totals(1, 'fp31', build=switch.BUILD)


def test_totals_are_freed_with_their_last_copy(monkeypatch):
    functions, freed = library(str(switch.BUILD)), []
    free = functions.netfc_allreduce_totals_free
    monkeypatch.setattr(functions, 'netfc_allreduce_totals_free', freed.append)
    totals = allreduce.Totals(2, build=switch.BUILD)
    other = copy.copy(totals)
    del totals
    gc.collect()
    other.add(np.float32([1, 2]))
    assert not freed and other.result()[0].tolist() == [1, 2]
    del other
    gc.collect()
    assert len(freed) == 1
    free(freed[0])


def test_sums_are_exact_and_in_place():
    arrays = [gradients(worker, 3000, np.float32) for worker in range(3)]
    expected = exact_sums(arrays)

    def body(worker):
        array = arrays[worker].copy()
        where = array.ctypes.data
        with joined(address, worker, 3) as comm:
            flags = comm.allreduce(array)
        assert array.ctypes.data == where
        return array, flags

    with serving(shards=2) as address:
        for array, flags in together(3, body):
            assert np.array_equal(array.view(np.uint32), np.array(expected).view(np.uint32))
            assert flags == Flag(0)


def test_sums_of_doubles_are_exact():
    random = np.random.default_rng(7)
    near = random.standard_normal((3, 1000))
    far = random.standard_normal((3, 1000)) * np.exp2(random.integers(-900, 900, (3, 1000)))
    far[2] = -far[0]  # what cancels leaves what is far smaller
    arrays = np.concatenate((near, far), axis=1)

    def body(worker):
        array = arrays[worker].copy()
        with joined(address, worker, 3) as comm:
            assert comm.allreduce(array) == Flag(0)
        return array

    with serving() as address:
        for array in together(3, body):
            assert array.tolist() == [math.fsum(column) for column in arrays.T]


def numbers_of_any_size(count, dtype):
    """Numbers, some of which cancel, so that no two orders of adding them give the same."""
    random = np.random.default_rng(3)
    values = random.standard_normal(count) * np.exp2(random.integers(-60, 60, count))
    values[count // 2:][:count // 4] = -values[:count // 4]
    return random.permutation(values).astype(dtype)


@pytest.mark.parametrize('dtype', [np.float32, np.float64])
@pytest.mark.parametrize('workers', [1, 2, 3, 8])
def test_sums_and_products_do_not_depend_on_who_has_what(workers, dtype):
    """The first worker has most, the last one nothing, unless it is alone."""
    x, y = numbers_of_any_size(5000, dtype), numbers_of_any_size(5000, dtype)[::-1]
    cuts = [*range(4900, 4898 + workers), 5000] if workers > 1 else []
    parts = list(zip(np.split(x, cuts), np.split(y, cuts)))
    nearest = float if dtype is np.float64 else _rounded

    def body(worker):
        mine_x, mine_y = parts[worker]
        with joined(address, worker, workers) as comm:
            return comm.sum(mine_x), comm.dot(mine_x, mine_y)

    products = sum(Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, y))
    with serving() as address:
        for total, product in together(workers, body):
            assert total.dtype == product.dtype == dtype
            assert total == nearest(sum(map(Fraction, map(float, x))))
            assert product == nearest(products)


def test_sums_of_integers_and_of_nothing(single):
    assert single.sum(np.array([[2**62, 2**62], [-5, -(2**62)]])) == 2**62 - 5
    assert single.sum(np.full(3, 2**31 - 1, np.int32)) == 2**31 - 1
    assert single.sum(np.array([])) == 0
    with pytest.raises(TypeError, match='no sum of an array of int16: use float32'):
        single.sum(np.ones(3, np.int16))
    with pytest.raises(TypeError, match='no dot of an array of int64'):
        single.dot(np.ones(3, int), np.ones(3, int))
    with pytest.raises(ValueError, match='of one type and shape'):
        single.dot(np.ones(3), np.ones(4))
    with pytest.raises(TypeError, match='list is not a numpy array'):
        single.sum([1.0])
    with pytest.raises(TypeError, match='float is not a numpy array'):
        single.dot(np.ones(1), 1.0)
    with pytest.raises(TypeError, match='mask would not count'):
        single.sum(np.ma.masked_array([1.0, 2.0], [0, 1]))


@pytest.mark.parametrize('lost', [0, 0.2])
def test_other_collectives(lost):
    parts = [gradients(worker, 3 * 700, np.float32) for worker in range(3)]
    expected = np.array(exact_sums(parts))

    def body(worker):
        with joined(address, worker, 3) as comm:
            own = np.zeros(700, np.float32)
            comm.reduce_scatter(parts[worker], own)
            assert np.array_equal(own, expected[700 * worker:700 * (worker + 1)])
            comm.allgather(own, whole := np.zeros(2100, np.float32))
            assert np.array_equal(whole, expected)
            values = parts[worker].copy()
            comm.reduce(values, root=1)
            assert np.array_equal(values, expected if worker == 1 else parts[worker])
            text = np.frombuffer(b'any bytes, %d' % (worker + 1), np.uint8).copy()
            comm.broadcast(text, root=2)
            assert text.tobytes() == b'any bytes, 3'
            comm.barrier()
            handles = [comm.start_collective('barrier'),
                       comm.start_collective('broadcast', text, text)]
            assert [handle.wait() for handle in handles] == [Flag(0)] * 2

    with serving(lost=lost) as address:
        together(3, body)


def test_what_other_collectives_refuse():
    with serving() as address, joined(address, 0, 1) as comm:
        floats = np.zeros(4, np.float32)
        with pytest.raises(ValueError, match='1 values is not 1 times 4'):
            comm.reduce_scatter(floats[:1], floats.copy())
        with pytest.raises(ValueError, match='a part for each worker'):
            comm.allgather(floats, np.zeros(5, np.float32))
        with pytest.raises(TypeError, match='fp32 cannot be int32'):
            comm.reduce_scatter(floats, np.zeros(4, np.int32))
        with pytest.raises(ValueError, match='root is worker 1, and there are 1'):
            comm.broadcast(floats, 1)
        with pytest.raises(TypeError, match='not a numpy array'):
            comm.broadcast([1, 2])
        with pytest.raises(ValueError, match="no collective 'scatter'"):
            comm.start_collective('scatter', floats)
        with pytest.raises(ValueError, match='NULL'):
            comm.start_collective('allreduce', floats)
        comm.barrier()


@pytest.mark.parametrize('lost', [0, 0.2])
def test_types_operations_and_flags(lost):
    def body(worker):
        with joined(address, worker, 2) as comm:
            halves = np.full((7, 300), 1 + worker, np.float16)
            comm.allreduce(halves, 'mean')
            assert halves.shape == (7, 300) and (halves == 1.5).all()
            numbers = np.full(5000, 2**31 - 1, np.int32)
            assert comm.allreduce(numbers) == Flag.OVERFLOW
            assert (numbers == 2**31 - 1).all()
            numbers = np.full(1000, -(2**63), np.int64)
            assert comm.allreduce(numbers) == Flag.OVERFLOW
            assert (numbers == -(2**63)).all()
            posits = np.full(10, 0x4000, np.uint16)  # 1 in both posits
            comm.allreduce(posits, format='posit16')
            assert (posits == 0x5000).all()  # 2
            brains = np.full(10, 0x3F80 + worker, np.uint16)
            comm.allreduce(brains, 'max', 'bf16')
            assert (brains == 0x3F81).all()
            scalar = np.array(float(worker), np.float32)
            comm.allreduce(scalar, 'min')
            assert scalar == 0
            for count in (1, 1447, 1449, 5001):  # bytes around a packet's
                eights = np.full(count, 0x38, np.uint8)  # 1
                assert comm.allreduce(eights, format='fp8_e4m3') == Flag(0)
                assert (eights == 0x40).all()  # 2
            eights = np.full(7, 0xFE, np.uint8)  # -448
            assert comm.allreduce(eights, 'mean', 'fp8_e4m3') == Flag(0)
            assert (eights == 0xFE).all()
            assert comm.allreduce(eights, format='fp8_e4m3') == Flag.OVERFLOW
            assert (eights == 0x7F).all()  # NaN
            eights = np.array([0x7B, 0x7C + 0x80 * worker, 0x80], np.uint8)  # 57344, infinities, -0
            assert comm.allreduce(eights, format='fp8_e5m2') == Flag.OVERFLOW | Flag.INVALID
            assert eights.tolist() == [0x7C, 0x7E, 0x80]

    bad = {'lost': lost, 'repeated': lost, 'delayed': lost} if lost else {}
    with serving(**bad) as address:
        together(2, body)


def test_results_of_another_format():
    """Sums that are too large for 8 bits, whole and in parts; bf16 in uint16, which is named."""
    def body(worker):
        with joined(address, worker, 2) as comm:
            for count in (1, 361, 363, 5001):  # around what results leave room for in a packet
                eights = np.full(count, 0x7E, np.uint8)  # 448
                sums = np.zeros(count, np.float32)
                assert comm.allreduce(eights, format='fp8_e4m3', result=sums) == Flag(0)
                assert (sums == 896).all() and (eights == 0x7E).all()
            halves = np.zeros(3, np.float16)
            eights = np.array([0x7B, 0x80, 1], np.uint8)  # 57344, -0, 2^-16
            handle = comm.start(eights, format='fp8_e5m2', result=halves)
            assert handle.wait() == Flag.OVERFLOW
            assert halves.tolist() == [np.inf, -0.0, 2**-15] and np.signbit(halves[1])
            brains = np.zeros(3, np.uint16)
            assert comm.allreduce(eights, 'mean', 'fp8_e5m2:bf16', brains) == Flag(0)
            assert brains.tolist() == [0x4760, 0x8000, 0x3780]
            part = np.zeros(2, np.float32)
            comm.reduce_scatter(np.array([60000, 1, 2, 3], np.float16), part)
            assert part.tolist() == [[120000, 2], [4, 6]][worker]

    with serving() as address:
        together(2, body)


@pytest.mark.parametrize('arguments, result, error, text', [
    (('sum', 'fp8_e4m3'), np.ones(5, np.float64), TypeError, 'results of fp8_e4m3 cannot be fp64'),
    (('sum', 'fp8_e4m3'), np.ones(4, np.float32), ValueError, 'as many results, not 4'),
    (('max', 'fp8_e4m3'), np.ones(5, np.float32), ValueError, 'sums or means'),
    (('sum', 'fp8_e4m3'), np.ones(5, np.uint16), TypeError, 'uint16 cannot be reduced'),
    (('sum', 'fp8_e4m3:fp32'), np.ones(5, np.float16), TypeError, 'float16 does not hold fp32'),
    (('sum', 'fp8_e4m3:fp8'), np.ones(5, np.float16), ValueError, "no format 'fp8'"),
    (('sum', 'fp8_e4m3:fp32'), None, TypeError, 'uint8 does not hold fp32'),
])
def test_wrong_results(single, arguments, result, error, text):
    with pytest.raises(error, match=text):
        single.allreduce(np.ones(5, np.uint8), *arguments, result)


def test_started_ones_go_on_by_themselves():
    def body(worker):
        with joined(address, worker, 2) as comm:
            arrays = [np.full(1 + 1000 * i, i + worker, np.float32) for i in range(20)]
            handles = [comm.start(array) for array in arrays]
            end = time.monotonic() + 200
            while not all(handle.test() for handle in handles):  # test() drives, too
                assert time.monotonic() < end
                time.sleep(0.01)
            for i, handle in reversed(list(enumerate(handles))):
                assert handle.wait() == Flag(0)
                assert (arrays[i] == 2 * i + 1).all()
            last = comm.start(np.ones(100, np.float32))
            time.sleep(0.2)  # nobody waits
            assert comm.stats['allreduces'] == 21
            last.wait(timeout=0)
            assert comm.info['switches'] == 1

    with serving() as address:
        together(2, body)


def test_the_interpreter_goes_on():
    """Other threads of Python run while one waits for a worker that is late."""
    def body(worker):
        with joined(address, worker, 2) as comm:
            if worker == 1:
                time.sleep(0.5)
            array = np.ones(10, np.float32)
            handle = comm.start(array)
            if worker == 0:
                with pytest.raises(TimeoutError, match='not done after 0.1 s'):
                    handle.wait(timeout=0.1)
            handle.wait()
            assert (array == 2).all()

    with serving() as address:
        together(2, body)


def test_silent_worker_is_named_and_rejoining_mends():
    told = threading.Barrier(3)

    def body(worker):
        comm = joined(address, worker, 3, keepalive=None, deadline=100)
        array = np.ones(1000, np.float32)
        comm.allreduce(array)
        if worker != 2:
            with pytest.raises(allreduce.AllreduceError, match='Worker 2 of job 0 is silent') as said:
                comm.allreduce(array)
            assert (said.value.status, said.value.worker, said.value.switch) == ('silent', 2, 0)
            with pytest.raises(allreduce.AllreduceError):
                comm.allreduce(array)
        told.wait(120)
        comm.rejoin(token=5, job=1)
        array = np.ones(1000, np.float32)
        comm.allreduce(array)
        assert (array == 3).all()
        comm.leave()
        comm.leave()

    with serving(stall_ms=4000) as address:  # who waits asks once a second at least
        together(3, body)


@pytest.mark.parametrize('how, status, text', [
    ('leave', 'left', 'Worker 1 has left job 0'), ('close', 'failed', 'Worker 1 of job 0 has failed')])
def test_who_leaves_or_fails_is_named_at_once(how, status, text):
    """Long before the switch would look for who is missing."""
    def body(worker):
        comm = joined(address, worker, 3, deadline=100)
        if worker == 1:
            getattr(comm, how)()
            return
        with pytest.raises(allreduce.AllreduceError, match=text) as said:
            comm.allreduce(np.ones(1000, np.float32))
        assert (said.value.status, said.value.worker) == (status, 1)
        comm.leave()

    with serving(stall_ms=100_000) as address:
        together(3, body)


def test_who_is_late_is_waited_for_until_the_deadline():
    over = threading.Event()

    def body(worker):
        with joined(address, worker, 2, deadline=2, keepalive=0.05) as comm:
            if worker == 1:
                over.wait(60)
                return
            with pytest.raises(allreduce.AllreduceError, match='Worker 1 of job 0 is late') as said:
                comm.allreduce(np.ones(1000, np.float32))
            over.set()
            assert (said.value.status, said.value.worker) == ('timeout', 1)

    with serving(stall_ms=500) as address:
        together(2, body)


def test_the_same_job_again_and_again():
    """By the same number and token: each has a session of its own."""
    token = allreduce.draw_token()

    def body(worker):
        for step in range(20):
            with allreduce.Communicator(address, worker=worker, workers=2, token=token,
                                        build=switch.BUILD) as comm:
                array = np.full(1000, step, np.float32)
                comm.allreduce(array)
                assert (array == 2 * step).all()

    with serving(shards=2) as address:
        together(2, body)


def test_tokens_are_drawn():
    tokens = {allreduce.draw_token() for _ in range(1000)}
    assert len(tokens) == 1000 and 0 < min(tokens) and 1 << 63 < max(tokens) < 1 << 64


def test_nobody_there(caplog):
    """It is waited for, and said what for."""
    with serving() as address:
        pass
    with pytest.raises(allreduce.AllreduceError, match=f'Nothing listens on UDP port {address}') as e:
        joined(address, 0, 1, join_timeout=6)
    assert e.value.status == 'refused'
    said, = (record for record in caplog.records if record.name == 'netfc')
    assert said.levelname == 'WARNING'
    assert said.getMessage().startswith(f'Worker 0 waits for switch {address}, which does not answer')


@pytest.mark.parametrize('arguments, error, text', [
    ((np.ones(0, np.float32),), ValueError, 'has 0 values'),
    ((np.ones(5, np.int16),), TypeError, 'array of int16 cannot be reduced'),
    (([1.0, 2.0],), TypeError, 'list is not a numpy array'),
    ((np.ma.masked_array(np.ones(2, np.float32), [0, 1]),), TypeError, 'mask would not count'),
    ((np.ones(2, np.float32), 'sum', None, [0, 0]), TypeError, 'list is not a numpy array'),
    ((np.ones((4, 4), np.float32).T[1:],), ValueError, 'not contiguous'),
    ((np.ones(5, '>f4'),), ValueError, 'byte order'),
    ((np.ones(5, np.float32), 'product'), ValueError, "no operation 'product'"),
    ((np.ones(5, np.float32), 'sum', 'fp16'), TypeError, 'float32 does not hold fp16'),
    ((np.ones(5, np.uint16),), TypeError, 'uint16 cannot be reduced'),
    ((np.ones(5, np.uint16), 'sum', 'fp32'), TypeError, 'uint16 does not hold fp32'),
    ((np.ones(5, np.uint8),), TypeError, 'uint8 cannot be reduced'),
    ((np.ones(5, np.uint8), 'sum', 'fp16'), TypeError, 'uint8 does not hold fp16'),
    ((np.ones(5, np.uint16), 'sum', 'fp8_e4m3'), TypeError, 'uint16 does not hold fp8_e4m3'),
    ((np.ones(5, np.uint16), 'sum', 'fp8'), ValueError, "no format 'fp8'"),
    ((np.frombuffer(bytes(20), np.float32),), ValueError, 'read-only'),
])
def test_wrong_arrays(single, arguments, error, text):
    with pytest.raises(error, match=text):
        single.allreduce(*arguments)
    single.allreduce(np.ones(5, np.float32))  # nothing is broken


@pytest.fixture(name='single', scope='module')
def single_worker():
    with serving() as address, joined(address, 0, 1) as comm:
        yield comm


@pytest.mark.parametrize('options, error, text', [
    ({'worker': 2, 'workers': 2}, ValueError, 'worker is 2: there are 2 workers'),
    ({'workers': 65}, ValueError, 'workers is 65: give 1 to 64'),
    ({'workers': 2, 'token': None}, ValueError, r'token is missing.* draw one, .*draw_token\(\)'),
    ({'workers': 2, 'token': 0}, ValueError, 'token is 0, which anybody would guess'),
    ({'token': 1 << 64}, ValueError, 'token is 18446744073709551616'),
    ({'token': -1}, ValueError, 'token is -1'),
    ({'job': 65536}, ValueError, 'job is 65536'),
    ({'slots': 100}, ValueError, 'slots is 100: give a power of two'),
    ({'chunk_bytes': 7}, ValueError, 'bytes is 7'),
    ({'deadline': -1}, ValueError, 'deadline is -1'),
    ({'deadline': math.nan}, ValueError, 'deadline is nan'),
    ({'deadline': math.inf}, ValueError, 'deadline is inf'),
    ({'interface': 'nosuchdevice'}, ValueError, 'no network device nosuchdevice'),
    ({'bind_address': '::1'}, ValueError, 'one is IPv4, the other IPv6'),
    ({'switches': []}, ValueError, '0 addresses'),
    ({'switches': 'nowhere:0'}, ValueError, 'port is not a number'),
    ({'switches': '[::1:5'}, ValueError, 'closing bracket'),
])
def test_wrong_options(options, error, text):
    options = {'switches': '127.0.0.1:9', 'token': TOKEN, **options}
    with pytest.raises(error, match=text):
        allreduce.Communicator(build=switch.BUILD, **options)


def test_ipv6():
    with serving() as address:
        address = address.replace('127.0.0.1', '[::1]')
        with joined(address, 0, 1) as comm:
            array = np.ones(100000, np.float32)
            comm.allreduce(array)
            assert (array == 1).all() and comm.info['bytes'] == 1448  # loopback takes more


def test_a_broadcast_into_fewer_bytes_is_refused():
    def body(worker):
        with joined(address, worker, 2) as comm:
            values = np.full(4000, 7, np.uint8)
            if worker == 1:
                with pytest.raises(ValueError, match='4000 bytes do not go into 1000'):
                    comm.start_collective('broadcast', values, values[:1000].copy(), root=0)
            comm.broadcast(values, 0)

    with serving() as address:
        together(2, body)


def test_objects_are_not_copied(single):
    """They are addresses in one process."""
    for array in (np.array([{}, 'text'], object), np.zeros(2, [('a', object), ('b', 'f4')])):
        with pytest.raises(TypeError, match='addresses'):
            single.broadcast(array)
        with pytest.raises(TypeError, match='addresses'):
            single.allgather(np.zeros(array.nbytes, np.uint8), array)


def test_a_worker_without_results_names_their_format():
    def body(worker):
        with joined(address, worker, 2) as comm:
            result = np.zeros(100, np.float32) if worker == 0 else None
            comm.start_collective('reduce', np.full(100, 0x38, np.uint8), result, root=0,
                                  format='fp8_e4m3:fp32').wait()
            return result

    with serving() as address:
        assert (together(2, body)[0] == 2).all()
