# SPDX-License-Identifier: BSD-3-Clause
"""Operations further to the four through the running switch: functions, min, max, compare, fma."""

import itertools
import random
import zlib
from collections import Counter
from pathlib import Path

import pytest

import frames
import function_tables
import oracle
import switch
import table_builder
from controlled import connection, running_switch  # pylint: disable=unused-import
from refusal import refuse

from netfc import ControlError
from netfc.telemetry import Telemetry

NUMBERS = {'abs': 64, 'rsqrt': 71, 'ln': 75, 'to_bf16': 99, 'to_q8': 120, 'from_q8': 136}
SETS = {'fp16': 'fp16_k8', 'posit16': 'posit16_k8', 'bf16': 'bf16_k8',
        'posit16_es2': 'posit16_es2_k8'}
LANES = 243
OWN = 193  # the first number of users' own functions


def asked(op, form, x):
    """A request for a function: nothing is read of y."""
    return frames.plain_frame(frames.request(op, form, x, [0x1234] * len(x)))


def answer(request, lanes, table=None, code=0):
    """The reply that must come: z and flags from the table, or an error."""
    out = bytearray(request)
    layout = oracle.parse(request)
    start, before = layout.payload, request[layout.payload:layout.end]
    flags = 0
    for lane in range(lanes if table is not None else 0):
        at = start + oracle.HEADER_BYTES + 2 * lane
        z, raised = table[oracle.u16(request, at)]
        out[at + 4 * lanes:at + 4 * lanes + 2] = z.to_bytes(2, 'big')
        flags |= raised
    out[start + 5] = oracle.REPLY_BIT | code << 4 | flags
    oracle.update_checksum(out, layout, before)
    return bytes(out)


def every_argument(op, form, sizes):
    """Requests with all 65,536 arguments, and how many lanes each has."""
    made, x = [], 0
    while x < 0x10000:
        some = list(range(x, min(x + next(sizes), 0x10000)))
        made.append((asked(op, form, some), len(some)))
        x += len(some)
    return made


# ---- what is computed ------------------------------------------------------------------------


@pytest.mark.parametrize('match', ['lpm', 'hash', 'direct', 'fpu'])
def test_every_argument(match):
    """A format for each engine; between them all kinds of functions."""
    name = dict(zip(('lpm', 'hash', 'direct', 'fpu'), SETS))[match]
    if name.startswith('posit') and match == 'fpu':
        name = 'fp16'
    form = oracle.FORMATS_BY_NAME[name].number
    sizes = itertools.cycle((1, 2, 7, 8, 9, 16, 17, 31, 32, 33, 64, 243))
    sent, expected = [], []
    for function, number in NUMBERS.items():
        table = function_tables.table(name, function)
        for request, lanes in every_argument(number, form, sizes):
            sent.append(request)
            expected.append(answer(request, lanes, table))
    options = ['--functions', ','.join(NUMBERS), '--forward', 'pair']
    result = switch.run([sent, []], [SETS[name]], match, options, more_memory=64)
    switch.assert_same(result.outputs[1], expected)
    assert result.stats['netfc_packets'] == len(sent)
    assert result.stats['lanes'] == len(NUMBERS) * 0x10000
    assert sum(result.stats['operations'].values()) == len(sent)
    assert list(result.stats['operations']) == list(NUMBERS)


def test_all_functions_of_all_formats():
    """The library's, of every format whose table set is there."""
    numbers = [*range(64, 84), *range(97, 101), *range(112, 144)]
    draw = random.Random(1)
    sent = [asked(op, form, [draw.randrange(0x10000) for _ in range(LANES)])
            for op, form in itertools.product(numbers, oracle.FORMATS)]
    result = switch.run([sent, []], SETS.values(), 'direct', ['--functions', 'all'],
                        more_memory=256)
    assert result.stats['errors'] == {name: 0 for name in result.stats['errors']}
    assert result.stats['lanes'] == len(sent) * LANES
    assert len(result.stats['operations']) == len(numbers)


@pytest.mark.parametrize('form', oracle.FORMATS.values(), ids=lambda form: form.name)
def test_two_and_three_operands(form):
    """Of every format, whatever table sets there are; z is an operand of fma."""
    draw = random.Random(form.name)
    edges = [0, 0x8000, 1, 0xFFFF, 0x3C00, 0xBC00, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x7F80, 0x4000]
    triples = list(itertools.product(edges, repeat=3))
    triples += [tuple(draw.randrange(0x10000) for _ in range(3)) for _ in range(5000)]
    draw.shuffle(triples)
    sent, counters = [], Counter()
    sizes = itertools.cycle((1, 4, 9, 40, 243))
    for op in oracle.EXTENDED:
        at = 0
        while at < len(triples):
            x, y, z = zip(*triples[at:at + next(sizes)])
            sent.append(frames.plain_frame(frames.request(op, form.number, x, y, z=z)))
            at += len(x)
    sets = oracle.table_sets('fp16_k8')
    expected = [oracle.switch(frame, sets, counters=counters) for frame in sent]
    result = switch.run([sent, []], ['fp16_k8'])
    switch.assert_same(result.outputs[1], expected)
    switch.assert_counted(result.stats, counters)
    assert sum(result.stats['operations'].values()) == len(sent)


def test_functions_among_other_packets():
    """Headers of all kinds, the four operations, and what is no request, in the same bursts."""
    table = function_tables.table('fp16', 'rsqrt')
    draw = random.Random(2)
    sets = oracle.table_sets('fp16_k8')
    sent, expected = [], []
    for carrier, wrap in frames.carriers().items():
        for lanes in (1, 5, 12, 40):
            x = [draw.randrange(0x10000) for _ in range(lanes)]
            request = wrap(frames.request(71, 1, x, [0] * lanes))
            sent += [request, wrap(frames.lanes(lanes)), wrap(b'something else')]
            expected += [answer(request, lanes, table),
                         *(oracle.switch(frame, sets) for frame in sent[-2:])]
        assert oracle.parse(sent[-1]).udp is not None, carrier
    result = switch.run([sent, []], ['fp16_k8'], options=['--functions', 'rsqrt'])
    switch.assert_same(result.outputs[1], expected)


# ---- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize('op, form, code', [
    (70, 1, 'op'), (193, 1, 'op'), (9, 1, 'op'), (71, 2, 'format'), (71, 0, 'format'),
    (71, 200, 'format'), (5, 11, 'format')])
def test_not_loaded(op, form, code):
    """Refused, z as it was; requests before and after it are computed."""
    table = function_tables.table('fp16', 'rsqrt')
    x = list(range(0x3C00, 0x3C00 + 20))
    good, bad = asked(71, 1, x), asked(op, form, x)
    sent = [good, bad, good]
    expected = [answer(good, 20, table), answer(bad, 20, code=oracle.ERRORS.index(code)),
                answer(good, 20, table)]
    result = switch.run([sent, []], ['fp16_k8'], options=['--functions', 'rsqrt'])
    switch.assert_same(result.outputs[1], expected)
    assert result.stats['errors'][code] == 1


@pytest.mark.parametrize('names, words', [
    ('cosine', ['cosine', 'rsqrt', 'to_bf16', 'netfcfun']),
    ('', ['functions']),
    ('rsqrt,', ["''", 'known functions']),
    ('rsqrt,rsqrt', ['rsqrt', 'twice', 'fp16']),
    ('all,exp', ['exp', 'twice']),
    ('fma', ['fma', 'needs no table']),
    ('add', ["'add'", 'known functions']),
    ('missing.netfcfun', ['missing.netfcfun', 'no such file']),
    ('/dev/null', ['/dev/null', 'no function'])])
def test_bad_names(tmp_path, names, words):
    said = refuse(tmp_path, ['--functions', names])
    assert [word for word in words if word not in said] == [], said


def user_function(folder, name, expression, *options):
    """Builds a user's function; gives the path of its file."""
    path = folder / f'{name}.netfcfun'
    table_builder.run('build', '-q', '--function', name, '--expression', expression, '-o', path,
                      *options)
    return path


@pytest.mark.parametrize('damage, words', [
    (lambda data: data[:1000] + bytes([data[1000] ^ 1]) + data[1001:], ['checksum']),
    (lambda data: data[:-1], ['ends too early']),
    (lambda data: data + b'!', ['after its end']),
    (lambda data: b'', ['no function']),
    (lambda data: b'text\n' * 100, ['no function'])])
def test_damaged_files(tmp_path, damage, words):
    path = user_function(tmp_path, 'mine', 'x')
    path.write_bytes(damage(path.read_bytes()))
    said = refuse(tmp_path, ['--functions', path])
    assert [word for word in words if word not in said] == [], said


@pytest.mark.slow
def test_more_functions_than_numbers(tmp_path):
    paths = [user_function(tmp_path, f'mine{n}', f'x + {n}') for n in range(64)]
    said = refuse(tmp_path, ['--functions', ','.join(map(str, paths))])
    assert 'mine63' in said and '193 to 255' in said


# ---- users' own ------------------------------------------------------------------------------


def test_user_functions(tmp_path):
    """Numbers are given in the order of the names; two formats of a name share one."""
    triple = user_function(tmp_path, 'triple', '3 * x')
    half = user_function(tmp_path, 'half', 'x / 2')
    (tmp_path / 'bf16').mkdir()
    other = user_function(tmp_path / 'bf16', 'triple', '3 * x', '--format', 'bf16')
    x = [0x3C00, 0x0001, 0x7BFF, 0x7C00, 0x7E00, 0x8000]
    sent, expected = [], []
    for op, form, path in ((OWN, 1, triple), (OWN + 1, 1, half), (OWN, 3, other)):
        sent.append(asked(op, form, x))
        expected.append(answer(sent[-1], len(x), function_tables.table(path)))
    names = ','.join(map(str, (triple, half, other)))
    result = switch.run([sent, []], ['fp16_k8'], options=['--functions', names])
    switch.assert_same(result.outputs[1], expected)
    assert result.stats['operations'] == {'triple': 2, 'half': 1}


def test_slots_of_8_and_of_32_bits(tmp_path):
    """A user's function of 8 bits; conversions from and to binary32, too large both ways; what binary32 lacks."""
    half = user_function(tmp_path, 'half', 'x / 2', '--format', 'fp8_e4m3')
    cases = [  # op, format, x, z, flags or code
        (OWN, 8, [0x38, 0x7E, 0x01, 0x7F, 0xB8], [0x30, 0x76, 0x00, 0x7F, 0xB0], 8),
        (101, 8, [0x38, 0xFE, 0x01, 0x7F], [0x3F800000, 0xC3E00000, 0x3B000000, 0x7FC00000], 0),
        (101, 1, [0x3C00, 0xFC00, 0x0001], [0x3F800000, 0xFF800000, 0x33800000], 0),
        (104, 5, [0x3F800000, 0x43E80000, 0x43E80001, 0x00000001], [0x38, 0x7E, 0x7F, 0x00], 12),
        (108, 5, [0x3F800000, 0xC3E80001, 0x7F800000], [0x38, 0xFE, 0x7E], 4),
        (97, 5, [0x3F801000, 0x3F803000, 0x477FF000], [0x3C00, 0x3C02, 0x7C00], 4),
        (70, 5, [0x3F800000], None, 3),
    ]
    sent, expected = [], []
    for op, form, x, z, said in cases:
        size = 4 if 5 in (form, op - 96) else 1
        lanes, width = len(x), len(x) * size + len(x) * size % 2
        header = frames.request(op, form, [0], [0])[:6] + lanes.to_bytes(2, 'big') + bytes(4)
        x = b''.join(slot.to_bytes(size, 'big') for slot in x).ljust(width, b'\0')
        sent.append(frames.plain_frame(header + x + bytes(2 * width)))
        out, layout = bytearray(sent[-1]), oracle.parse(sent[-1])
        at = layout.payload + oracle.HEADER_BYTES + 2 * width
        if z is not None:
            z = b''.join(slot.to_bytes(size, 'big') for slot in z)
            out[at:at + len(z)] = z
        out[layout.payload + 5] = oracle.REPLY_BIT | (said if z is not None else said << 4)
        oracle.update_checksum(out, layout, sent[-1][layout.payload:layout.end])
        expected.append(bytes(out))
    names = f'{half},sqrt,to_fp32,to_fp16,to_fp8_e4m3,to_fp8_e4m3_sat'
    result = switch.run([sent, []], ['fp16_k8', 'fp8_e4m3_exact', 'fp32_exact'], options=['--functions', names])
    switch.assert_same(result.outputs[1], expected)


def test_more_functions_than_an_answer_of_telemetry_has_room_for(tmp_path):
    """It has all of them, with numbers alone, and everything of one that is asked for."""
    folder = tmp_path / ('x' * 100)
    paths = []
    for form in ('fp16', 'bf16', 'posit16'):
        (folder / form).mkdir(parents=True)
        first = user_function(folder / form, 'mine00', 'x', '--format', form)
        data = first.read_bytes()[:-4]
        for n in range(60):
            named = data.replace(b'mine00' + bytes(26), f'mine{n:02}'.encode().ljust(32, b'\0'))
            paths.append(folder / form / f'mine{n:02}.netfcfun')
            paths[-1].write_bytes(named + zlib.crc32(named).to_bytes(4, 'big'))
    live = switch.Running(tmp_path, [asked(OWN, 1, [0x3C00])], [
        '--tables', 'fp16_k8', '--functions', ','.join(map(str, paths))], telemetry=True)
    live.wait_until_busy()
    with Telemetry(live.telemetry_path) as telemetry:
        assert telemetry.ask('/netfc/functions') == {f'mine{n:02}': {'number': OWN + n} for n in range(60)}
        one = telemetry.ask(f'/netfc/functions,{OWN + 59}')
    assert (one['name'], set(one['formats'])) == ('mine59', {'fp16', 'bf16', 'posit16'})
    assert live.stop()[0] == 0


# ---- while the switch runs -------------------------------------------------------------------


def loaded(control):
    """Numbers of the loaded functions by name."""
    functions = control.do('show')['functions']
    return {name: function['number'] for name, function in functions.items()}


def test_exchange(control, tmp_path):
    mine, other = (str(user_function(tmp_path, name, 'x / 2')) for name in ('mine', 'other'))
    control.do('functions', functions='rsqrt')
    assert loaded(control) == {'rsqrt': 71}
    control.do('add-functions', functions=f'{mine},exp')
    assert loaded(control) == {'mine': 193, 'exp': 73, 'rsqrt': 71}
    # A new function gets a new number, as long as there are any; one that stays keeps its own.
    control.do('functions', functions=f'{other}')
    assert loaded(control) == {'other': 194}
    control.do('add-functions', functions=f'{mine},{other}')
    assert loaded(control) == {'mine': 193, 'other': 194}
    control.do('functions', functions='')
    assert loaded(control) == {}


def test_a_function_too_many_is_the_one_that_is_refused(control, tmp_path):
    first = str(user_function(tmp_path, 'mine0', 'x'))
    paths = [first.replace('mine0', f'mine{n}') for n in range(64)]
    for n, path in enumerate(paths):
        data = Path(first).read_bytes()[:-4].replace(b'mine0' + bytes(27), f'mine{n}'.encode().ljust(32, b'\0'))
        Path(path).write_bytes(data + zlib.crc32(data).to_bytes(4, 'big'))
    control.do('functions', functions='')
    for n in range(0, 62, 10):  # as many as a command's line takes
        control.do('add-functions', functions=','.join(paths[n:min(n + 10, 62)]))
    before = loaded(control)
    with pytest.raises(ControlError, match=r"mine63\.netfcfun': there are 63 numbers"):
        control.do('add-functions', functions=','.join(paths[62:]))
    assert loaded(control) == before
    control.do('add-functions', functions=','.join(paths[61:63]))
    with pytest.raises(ControlError, match=r"mine63\.netfcfun': there are 63 numbers"):
        control.do('add-functions', functions=paths[63])
    assert loaded(control) == {**before, 'mine62': 255}
    # In place of all others: the new one gets a number that nobody keeps.
    control.do('functions', functions=f'{paths[63]},{paths[1]},{paths[0]}')
    assert loaded(control) == {'mine0': 193, 'mine1': 194, 'mine63': 195}
    control.do('functions', functions='')


def test_functions_follow_the_table_sets(control):
    control.do('functions', functions='rsqrt')
    control.do('add', sets='bf16_k8')
    formats = control.do('show')['functions']['rsqrt']['formats']
    assert formats == {'fp16': 'built', 'bf16': 'built'}
    control.do('tables', sets='posit16_k8')
    assert control.do('show')['functions']['rsqrt']['formats'] == {'posit16': 'built'}
    control.do('tables', sets='fp16_k1024')
    control.do('functions', functions='')


@pytest.mark.parametrize('command', ['functions', 'add-functions'])
@pytest.mark.parametrize('names, said', [
    ('cosine', 'no function of that name'), ('exp,/proc/nonexistent', 'No such file'),
    ('exp,exp', 'twice')])
def test_what_cannot_be_loaded_changes_nothing(control, command, names, said):
    control.do('functions', functions='rsqrt')
    before = control.do('show')
    with pytest.raises(ControlError) as refused:
        control.do(command, functions=names)
    assert said in str(refused.value)
    assert control.do('show') == before
    control.do('functions', functions='')
