# SPDX-License-Identifier: BSD-3-Clause
"""What callers give as numbers and encodings: rounded once, whatever its type, or refused."""

import array
import collections
import datetime
import decimal
import enum
import fractions
from fractions import Fraction

import numpy as np
import pytest

import decimals
import sanitized
import switch

import netfc
from netfc import allreduce, formats, functions, protocol
from netfc.client import Client

pytestmark = sanitized.without_sanitizers

NAMES = list(formats.NUMBER_FORMATS)
FP8 = protocol.FORMAT_IDS['fp8_e4m3']
FP32 = protocol.FORMAT_IDS['fp32']


# ---- rounded once ----------------------------------------------------------------------------


def known(name, step):
    """(number, encoding) at, above and below boundaries of rounding, nearer than a double tells."""
    return [(Fraction(text), bits) for text, bits in decimals.cases(name, step)]


@pytest.mark.parametrize('name', NAMES)
def test_numbers_of_python_are_rounded_once(name):
    values, expected = zip(*known(name, 97))
    assert formats.NUMBER_FORMATS[name].encode(values).tolist() == list(expected)


def integers(name, least, greatest):
    """Those beside each boundary that is one, with the encodings that they are nearest to."""
    for edge, _ in known(name, 1 if name == 'fp32' else 61):
        for number in (int(edge) - 1, int(edge), int(edge) + 1):
            if least <= number <= greatest and abs(number) >= 2**52:
                yield number


def nearest(name, numbers):
    """The encodings of integers: what fractions are rounded to, which have a test of their own."""
    return formats.NUMBER_FORMATS[name].encode([Fraction(number) for number in numbers]).tolist()


@pytest.mark.parametrize('kind', [np.int64, np.uint64])
@pytest.mark.parametrize('name', ['bf16', 'posit16_es2', 'fp32'])
def test_integers_of_64_bits_are_rounded_once(name, kind):
    limits = np.iinfo(kind)
    numbers = [*integers(name, limits.min, limits.max), limits.min, limits.max, limits.max - 1]
    assert len(numbers) > 3
    form = formats.NUMBER_FORMATS[name]
    for given in (np.array(numbers, kind), np.array(numbers, kind).astype(kind(0).dtype.newbyteorder('>'))):
        assert form.encode(given).tolist() == nearest(name, numbers)
    assert form.encode(numbers).tolist() == nearest(name, numbers)
    assert form.encode([*numbers, 0.5])[:-1].tolist() == nearest(name, numbers)


def test_lists_whose_numbers_no_type_of_numpys_holds():
    bf16, tie = formats.Format('bf16'), 2**63 + 2**55
    for numbers in ([tie + 1, -1], [tie + 1, 0.5], [[tie + 1], [np.float32(1)]], [tie + 1, -(2**200)],
                    collections.deque([tie + 1, -3]), np.array([tie + 1, None])[:1],
                    [np.array([tie + 1], np.uint64), np.array([-1])]):
        assert bf16.encode(numbers).ravel()[0] == 0x5F01
    assert bf16.encode(range(2**60 + 2**52 - 1, 2**60 + 2**52 + 2)).tolist() == [0x5D80, 0x5D80, 0x5D81]
    assert bf16.encode([10**400, -10**400, Fraction(1, 10**400)]).tolist() == [0x7F80, 0xFF80, 0]
    assert formats.Format('posit16').encode(Fraction(-1, 10**400)) == 0xFFFF


@pytest.mark.parametrize('name', NAMES)
def test_long_doubles_are_rounded_once(name):
    """Beside each boundary by less than half a float's last bit."""
    for text, even in decimals.cases(name, 211):
        if text[-3:] in ('001', '999') or text.endswith('e0'):
            continue
        edge, tiny = np.longdouble(float(text)), np.longdouble(2) ** -62
        numbers = np.array([edge * (1 - tiny), edge, edge * (1 + tiny)])
        assert numbers.dtype == np.longdouble and len(set(numbers.tolist())) == 3
        exact = [Fraction(text) * (1 + sign * Fraction(1, 2**62)) for sign in (-1, 0, 1)]
        assert formats.NUMBER_FORMATS[name].encode(numbers).tolist() == nearest_of(name, exact)
        assert formats.NUMBER_FORMATS[name].encode(edge) in (even, formats.NUMBER_FORMATS[name].nan)


def nearest_of(name, exact):
    return formats.NUMBER_FORMATS[name].encode(exact).tolist()


def test_long_doubles_that_no_float_is_near():
    huge, least = np.longdouble(2) ** 5000, np.longdouble(2) ** -5000
    assert formats.Format('posit16').encode([huge, -huge, least, -least]).tolist() == [
        0x7FFF, 0x8001, 0x0001, 0xFFFF]
    assert formats.Format('fp32').encode([huge, -huge, least, -least]).tolist() == [
        0x7F800000, 0xFF800000, 0, 0x80000000]
    special = np.array([np.inf, -np.inf, np.nan], np.longdouble)
    assert formats.Format('fp16').encode(special).tolist() == [0x7C00, 0xFC00, 0x7E00]


def test_binary32_is_what_numpy_rounds_to():
    """Of random floats, of all kinds of subnormal ones and at the ends; and NaN with their bits."""
    draw = np.random.default_rng(33)
    bits = draw.integers(0, 2**64, 200_000, np.uint64)
    near = (bits >> np.uint64(12)) | (draw.integers(0x360, 0x480, bits.size).astype(np.uint64) << np.uint64(52))
    floats = np.concatenate([bits, near, near | np.uint64(1 << 63)]).view(np.float64)
    with np.errstate(all='ignore'):
        expected = floats.astype(np.float32).view(np.uint32)
    np.testing.assert_array_equal(formats.Format('fp32').encode(floats), expected)


def test_all_entry_points_round_once(library):
    """2^60 + 2^52 is in the middle between two numbers of bf16."""
    number, right = np.array([2**60 + 2**52 + 1]), 2.0**60 + 2.0**53
    bf16 = formats.Format('bf16')
    assert netfc.TableSet('bf16_exact', library).mul(number, 1).tolist() == [right]
    assert bf16.exact('mul', number, 1, library).tolist() == [right]
    assert netfc.Function('abs', 'bf16', library)(number).tolist() == [right]
    assert sent_by_client('bf16', number) == 0x5D81


def sent_by_client(name, numbers):
    """The first x of a request for these numbers, to an address that answers nothing."""
    requests = []
    with Client('127.0.0.1', number_format=name) as client:
        client._channel.exchange = lambda given: requests.extend(given) or ()
        client.add(numbers, numbers)
    return int.from_bytes(requests[0][12:14], 'big')


@pytest.mark.parametrize('point', [0, 3, 15])
def test_fixed_point_is_rounded_once(point):
    fixed = functions.FixedPoint(point)
    for half in (-5, -3, -1, 1, 3, 5):
        tie = Fraction(half, 2 ** (point + 1))
        wide = np.longdouble(half) / 2 ** (point + 1)
        for off in (-1, 0, 1):
            expected = round((tie + Fraction(off, 2**90)) * 2**point) & 0xFFFF
            assert fixed.encode(tie + Fraction(off, 2**90)) == expected
            near = wide * (1 + np.sign(half) * off * np.longdouble(2) ** -62)
            assert fixed.encode(near) == expected
    with pytest.raises(ValueError, match='outside'):
        fixed.encode(np.array([2**62 + 1]))


# ---- byte order, layout ----------------------------------------------------------------------


@pytest.mark.parametrize('name', NAMES)
def test_encodings_of_another_byte_order_are_encodings(name, library):
    form = formats.NUMBER_FORMATS[name]
    tables = netfc.TableSet(f'{name}_k64' if 'posit' in name else f'{name}_exact', library)
    bits = form.encode([1, 2.5, -3])
    for kind in (bits.dtype.newbyteorder('>'), bits.dtype.newbyteorder('<')):
        other = bits.astype(kind)
        for one in (tables.add(other, other), tables.add(other, bits), form.exact('add', bits, other, library)):
            assert one.dtype == form.encodings and one.dtype.isnative
            np.testing.assert_allclose(form.decode(one), [2, 5, -6], 0.05)
        assert tables.walk('add', other[0], bits[0]).x == bits[0]
        assert form.decode(other).tolist() == [1, 2.5, -3]


def test_encodings_of_another_byte_order_in_functions_and_requests(library):
    packet = protocol.request(1, 1, [0x4000], [0x4400])
    x, y = np.frombuffer(packet, '>u2', 1, 12), np.frombuffer(packet, '>u2', 1, 14)
    assert netfc.Function('sqrt', 'fp16', library)(y).tolist() == [0x4000]
    assert netfc.Function('sqrt', 'fp16', library).flags(y).tolist() == [0]
    assert netfc.Function('to_fp16', 'fp32', library)(np.array([0x40800000], '>u4')).tolist() == [0x4400]
    assert protocol.request(1, 1, x, y) == packet
    assert sent_by_client('fp16', x) == 0x4000
    assert functions.FixedPoint(8).decode(np.array([0x0180], '>u2')).tolist() == [1.5]


def unaligned(values):
    """A copy at an odd address, as parts of a message have."""
    memory = np.frombuffer(bytearray(b'x' + values.tobytes()), values.dtype, offset=1)
    assert memory.flags.c_contiguous and not memory.flags.aligned
    return memory


def test_arrays_that_are_not_aligned(library):
    x = unaligned(np.array([0x3C00, 0x4000], np.uint16))
    assert netfc.TableSet('fp16_exact', library).add(x, x).tolist() == [0x4000, 0x4400]
    assert netfc.Function('sqrt', 'fp16', library)(x)[0] == 0x3C00
    wide = unaligned(np.array([0x40800000], np.uint32))
    assert netfc.Function('to_fp16', 'fp32', library)(wide).tolist() == [0x4400]
    totals = allreduce.Totals(2, build=switch.BUILD)
    totals.add(unaligned(np.array([1, 2], np.float32)))
    with pytest.raises(ValueError, match=r'not aligned.*require\(array, requirements="CAW"\)'):
        allreduce.arguments.check_layout(unaligned(np.array([1.5])), True)


# ---- what is no number -----------------------------------------------------------------------


class Colour(enum.Enum):
    RED = 1


NO_NUMBERS = {
    'complex': 1j, 'complex array': np.array([1 + 2j]), 'None': None, 'list with None': [None, 1.0],
    'text': '1.5', 'texts': ['1.5'], 'array of text': np.array(['1.5']), 'bytes': b'15', 'bytearray': bytearray(b'15'),
    'truth': True, 'truths': [True, False], 'truth among numbers': [True, 2], 'array of truths': np.array([True]),
    'truth among objects': np.array([1, True], object), 'date': datetime.date(2020, 1, 1),
    'array of dates': np.array(['2020-01-01'], 'M8[D]'), 'duration': np.timedelta64(5, 's'),
    'array of durations': np.array([5], 'm8[s]'), 'decimal': decimal.Decimal('1.5'), 'set': {1.5}, 'dict': {1: 2},
    'generator': (one for one in [1.5]), 'enum': Colour.RED, 'record': np.zeros(2, 'f4,f4'), 'void': np.zeros(2, 'V2'),
    'mask': np.ma.masked_array([1, 2], [False, True]), 'mask of none': np.ma.masked_array([1, 2]),
    'masked number': [1.0, np.ma.masked], 'masked part': [[1, 2], np.ma.masked_array([1, 2], [False, True])],
}


def doors(library):
    """All that takes numbers or encodings, by name; each of one argument."""
    fp16, tables = formats.Format('fp16'), netfc.TableSet('fp16_exact', library)
    function, wide = netfc.Function('sqrt', 'fp16', library), netfc.Function('to_fp16', 'fp32', library)
    for name, form in formats.NUMBER_FORMATS.items():
        yield f'{name} encode', form.encode
        yield f'{name} decode', form.decode
    yield 'text', fp16.text
    for op in ('add', 'min'):
        yield f'exact {op}', lambda given, op=op: fp16.exact(op, given, given, library)
        yield f'exact_flags {op}', lambda given, op=op: fp16.exact_flags(op, 1.0, given, library)
    yield 'exact fma', lambda given: fp16.exact('fma', 1.0, 2.0, library, z=given)
    yield 'compute', lambda given: tables.compute('sub', given, 1.0)
    yield 'flags', lambda given: tables.flags('div', 1.0, given)
    yield 'walk', lambda given: tables.walk('mul', given, 1.0)
    yield 'function', function
    yield 'function flags', function.flags
    yield 'function of fp32', wide
    yield 'from fixed point', netfc.Function('from_q8', 'fp16', library)
    yield 'fixed point encode', functions.FixedPoint(8).encode
    yield 'fixed point decode', functions.FixedPoint(8).decode
    yield 'request x', lambda given: protocol.request(1, 1, given)
    yield 'request y', lambda given: protocol.request(1, 1, [1, 2], given)
    yield 'request z', lambda given: protocol.request(11, 1, [1, 2], [1, 2], 0, given)
    yield 'totals', allreduce.Totals(2, build=switch.BUILD).add
    yield 'in place', lambda given: allreduce.arguments.check_layout(given, False)
    yield 'sum', lambda given: allreduce.arguments.total_format('sum', [given])
    client = Client('127.0.0.1')
    yield 'client', lambda given: client.add(given, 1.0)
    yield 'client fma', lambda given: client.fma(1.0, 2.0, given)
    yield 'client function', lambda given: client.function('sqrt', given)
    client.close()


# Bytes to those that only copy.
TAKEN_IN_PLACE = {'complex array', 'array of truths', 'array of dates', 'array of durations', 'array of text',
                  'record', 'void'}


OPTIONAL = ('exact fma', 'request y', 'request z', 'client fma')  # None stands for no operand


@pytest.mark.parametrize('what', NO_NUMBERS)
def test_what_is_no_number_is_refused_at_every_door(what, library):
    for name, door in doors(library):
        if name == 'in place' and what in TAKEN_IN_PLACE:
            continue
        if what == 'None' and name in OPTIONAL:
            continue
        with pytest.raises(TypeError) as caught:
            print(what, name, door(NO_NUMBERS[what]))
        assert 'no' in str(caught.value), name


def test_the_scapy_layers_take_no_other_numbers():
    layers = pytest.importorskip('netfc.scapy')
    for what in (None, [True], '1.5', [1j], np.ma.masked_array([1.0])):
        with pytest.raises(TypeError):
            layers.request('add', 'fp16', what, [1.0])
    aggregation = pytest.importorskip('netfc.scapy_aggregation')
    with pytest.raises(TypeError):
        bytes(aggregation.Aggregation(format='bf16', values=[1.5]))
    single = aggregation.Aggregation(format='fp32', values=[np.float32(1.5)])
    assert bytes(single).endswith(bytes.fromhex('3fc00000'))


def test_what_is_a_number():
    fp16 = formats.Format('fp16')
    for one in (1, 1.0, np.int8(1), np.float16(1), np.longdouble(1), fractions.Fraction(1), np.array(1, '>i8'),
                np.array(1, object), array.array('b', [1]), memoryview(array.array('d', [1])), (1,), [[1]],
                collections.deque([1]), enum.IntEnum('One', 'ONE').ONE):
        assert np.ravel(fp16.encode(one)).tolist() == [0x3C00], one
    assert fp16.encode([]).tolist() == [] and fp16.decode([]).tolist() == []


# ---- requests, names -------------------------------------------------------------------------


@pytest.mark.parametrize('arguments, why', [
    ((1, 1, [1.5]), 'x has no encodings: encodings are integers from 0 to 65535'),
    ((1, 1, [0x13C00]), '65535'), ((1, 1, [0], [-1]), 'y has no encodings'), ((1, FP8, [256]), '255'),
    ((1, FP32, [1 << 32]), '4294967295'), ((1, 1, np.array([2], 'f2')), '65535'),
    ((1, 1, [2**64]), '65535'), ((1, 1, [float('nan')]), '65535'),
    ((1, 1, [1, 2], [1]), r'y has shape \(1,\), and x \(2,\)'), ((1, 1, [1], [1, 2]), 'y has shape'),
    ((1, 1, [1, 2], 1), r'y has shape \(\)'), ((11, 1, [1, 2], [1, 2], 0, [1]), 'z has shape'),
    ((1, 1, [[1, 2]], [[3, 4]]), 'one dimension'), ((1, 1, 1), 'one dimension'),
    ((1, 1, np.zeros(65536, 'u2')), '65536 lanes are more than 65535'), ((256, 1, [1]), 'op 256'),
    ((1, -1, [1]), 'format_id -1'), ((1, 1, [1], None, 1 << 32), 'request_id 4294967296'),
])
def test_requests_that_would_say_something_else(arguments, why):
    with pytest.raises(ValueError, match=why):
        protocol.request(*arguments)


def test_requests_of_what_is_missing_are_zeros():
    assert protocol.request(1, 1, [0x3C00])[12:] == bytes.fromhex('3c0000000000')
    assert protocol.request(11, FP8, [1, 2, 3], None, 0, [4, 5, 6])[12:] == bytes.fromhex(
        '01020300 00000000 04050600')


def test_names_with_a_nul_end_nowhere(library, tmp_path):
    with pytest.raises(ValueError, match=r"table set 'fp16_k1024\\x00x' has a NUL"):
        netfc.TableSet('fp16_k1024\0x', library)
    with pytest.raises(ValueError, match='NUL'):
        netfc.Function('sqrt\0x', 'fp16', library)
    with pytest.raises(ValueError, match='NUL'):
        protocol.name_request('mine\0x', 1)
    with pytest.raises(ValueError, match='NUL'):
        Client('127.0.0.1\0x')
    with pytest.raises(ValueError, match='null'):
        netfc.Function.load(f'{tmp_path}/mine\0x', library)
    for options in ({'switches': '127.0.0.1\0x'}, {'bind_address': '127.0.0.1\0x'}, {'interface': 'lo\0x'},
                    {'key_file': '/tmp/key\0x'}):
        with pytest.raises(ValueError, match='NUL'):
            allreduce.Communicator(**{'switches': '127.0.0.1:9', 'build': switch.BUILD, **options})


@pytest.mark.parametrize('options', [
    {'switches': b'127.0.0.1'}, {'switches': [1]}, {'bind_address': 1}, {'interface': b'lo'}, {'memory': b'/tmp/file'}])
def test_names_that_are_no_text(options):
    (_, value), = options.items()
    said = r'expected str, not (bytes|int|list)'
    with pytest.raises(TypeError, match=said):
        allreduce.Communicator(**{'switches': '127.0.0.1:9', 'build': switch.BUILD, **options})
    with pytest.raises(TypeError, match=said):
        netfc.TableSet(value, netfc.Library(switch.BUILD))


@pytest.fixture(name='library', scope='module')
def load_library():
    return netfc.Library(switch.BUILD)
