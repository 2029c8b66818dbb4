# SPDX-License-Identifier: BSD-3-Clause
"""libnetfc on numpy arrays: against the tests' own idea of every format, and netfc-tables."""

import concurrent.futures
import copy
import gc
import os
import pickle
import random
import subprocess

import numpy as np
import pytest

import oracle
import sanitized
import switch
import table_builder

import netfc
from netfc._native import libnetfc

pytestmark = sanitized.without_sanitizers

OPERATIONS = {'add': oracle.ADD, 'sub': oracle.SUB, 'mul': oracle.MUL, 'div': oracle.DIV}
SETS = ('fp16_k1024', 'fp16_k4_floor', 'posit16_k512', 'posit16_es2_k256', 'bf16_exact',
        'fp16_exact_small', 'posit16_exact')
LANES = 500
SPECIAL = (0, 0x8000, 1, 0x8001, 0x7C00, 0xFC00, 0x7E00, 0x7FFF, 0x3C00, 0x4000)


@pytest.fixture(name='library', scope='module')
def build_library():
    return netfc.Library(switch.BUILD)


@pytest.fixture(name='fp16')
def fp16_set(library):
    return netfc.TableSet('fp16_k1024', library)


def encodings(seed):
    """Operands of every kind, as encodings."""
    draw = random.Random(seed)
    pairs = [(x, y) for x in SPECIAL for y in SPECIAL]
    pairs += [(draw.randrange(65536), draw.randrange(65536)) for _ in range(LANES)]
    return np.array(pairs, dtype=np.uint16).T


def expected(name, op, x, y):
    """z and flags by the tests' own arithmetic."""
    tables = oracle.table_set(name)
    lanes = [oracle.calc(tables, OPERATIONS[op], int(a), int(b)) for a, b in zip(x, y)]
    return np.array(lanes, dtype=np.uint16).T


# ---- results ---------------------------------------------------------------------------------


@pytest.mark.parametrize('op', OPERATIONS)
@pytest.mark.parametrize('name', SETS)
def test_results_and_flags(library, name, op):
    x, y = encodings(name + op)
    tables, (z, flags) = netfc.TableSet(name, library), expected(name, op, x, y)
    np.testing.assert_array_equal(tables.compute(op, x, y), z)
    np.testing.assert_array_equal(getattr(tables, op)(x, y), z)
    np.testing.assert_array_equal(tables.flags(op, x, y), flags)


@pytest.mark.parametrize('op', OPERATIONS)
@pytest.mark.parametrize('name', netfc.FORMATS)
def test_correctly_rounded_results(library, name, op):
    x, y = encodings(name + op)
    z, flags = expected(f'{name}_exact', op, x, y)
    number_format = netfc.Format(name)
    np.testing.assert_array_equal(number_format.exact(op, x, y, library), z)
    np.testing.assert_array_equal(number_format.exact_flags(op, x, y, library), flags)


def test_numbers_give_numbers(fp16, library):
    z = fp16.add([1.5, 2.5], 2.25)
    assert z.dtype == np.float64 and z.tolist() == [3.75, 4.75]
    exact = netfc.Format('bf16').exact('mul', np.float32([[1.5], [3]]), [1, 2, 4], library)
    assert exact.tolist() == [[1.5, 3, 6], [3, 6, 12]]
    assert fp16.flags('div', [1.0, 0.0], 0).tolist() == [netfc.Flag.DIVBYZERO, netfc.Flag.INVALID]


def test_scalars_and_empty_arrays(fp16, library):
    assert fp16.mul(1.5, 2) == 3 and fp16.add(1, 2).shape == ()
    z = fp16.add(np.uint16(0x3C00), np.uint16(0x4000))
    assert z.dtype == np.uint16 and z.shape == () and z == 0x4200
    assert fp16.add([], []).shape == (0,)
    assert netfc.Format('fp16').exact('div', 1, 4, library) == 0.25


def test_shapes_are_broadcast_and_strides_followed(fp16):
    x = np.arange(24, dtype=np.float64).reshape(4, 6)[::2, ::3]
    np.testing.assert_array_equal(fp16.add(x, [[1], [2]]), x + [[1], [2]])
    with pytest.raises(ValueError, match=r'differ in shape: \(2,\) and \(3,\)'):
        fp16.add([1, 2], [1, 2, 3])


def test_more_lanes_than_a_call_takes(fp16, library, monkeypatch):
    """Refused, not counted modulo 2^32."""
    monkeypatch.setattr(libnetfc, 'MAX_LANES', 3)
    for many in (netfc.Function('exp', 'fp16', library), lambda x: fp16.add(x, x),
                 netfc.Function('exp', 'fp16', library).flags):
        assert many([1, 2, 3]).shape == (3,)
        with pytest.raises(ValueError, match='4 lanes are more than 3, the most in one call'):
            many([1, 2, 3, 4])


def test_threads_may_share_a_set(fp16):
    x, y = encodings(1)
    once = fp16.add(x, y)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for z in pool.map(lambda _: fp16.add(x, y), range(40)):
            np.testing.assert_array_equal(z, once)


# ---- what is in a set ------------------------------------------------------------------------


def test_what_a_set_says_of_itself(fp16, library):
    assert (fp16.name, fp16.family, fp16.scale) == ('fp16_k1024', 'log', 1024)
    assert fp16.format == netfc.Format('fp16') and repr(fp16) == "netfc.TableSet('fp16_k1024')"
    exact = netfc.TableSet('bf16_exact_small', library)
    assert (exact.family, exact.scale, exact.format.name) == ('exact_small', 0, 'bf16')


def test_known_sets_are_those_of_the_builder(library):
    listed = table_builder.run_json('list')['known']
    assert netfc.known_sets(library) == [known['set'] for known in listed]


def test_entries(fp16):
    """Those of the tests' own tables; two's complement where they are signed."""
    own, tables = oracle.table_set('fp16_k1024'), fp16.tables
    assert list(tables) == ['log', 'mi', 'exp', 'decide']
    finite = slice(1, 0x7C00)
    log = tables['log'].entries
    assert log.shape == (1, 32768) and tables['log'].value_signed
    np.testing.assert_array_equal(log[0].astype(np.int16)[finite], own.log[finite])
    exp = np.roll(tables['exp'].entries[0], 32768)
    np.testing.assert_array_equal(exp, own.exp)
    mi = tables['mi']
    assert mi.page_names == ('mi0', 'mi1', 'mi2') and mi.entries.shape == (3, 65536)
    guard = 15 * 1024
    keys = np.arange(-guard, guard + 1)
    np.testing.assert_array_equal(mi.entries[0, keys & 0xFFFF].astype(np.int16),
                                  np.array(own.mi[0])[keys + 32768])


def test_prefixes_give_what_occurs(fp16):
    """The longest one decides; the guard is less than half of all theta."""
    occurs, covered = fp16.occurs('mi'), np.full(65536, -1)
    assert occurs.shape == (3, 65536) and 0 < occurs[1].sum() < 65536 // 2
    for key, value, length in fp16.prefixes('mi', 1).tolist():
        covered[key:key + (1 << (16 - length))] = value
    np.testing.assert_array_equal(covered[occurs[1]], fp16.tables['mi'].entries[1, occurs[1]])


def test_a_set_from_a_file(library, fp16, tmp_path):
    path = tmp_path / 'set'
    table_builder.run('build', '--quiet', '-o', path, 'fp16_k1024')
    loaded = netfc.TableSet.load(path, library)
    assert (loaded.name, loaded.format, loaded.scale) == ('fp16_k1024', fp16.format, 1024)
    for name, table in loaded.tables.items():
        np.testing.assert_array_equal(table.entries, fp16.tables[name].entries)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(netfc.TableSetError, match='set\': table-set file ends too early'):
        netfc.TableSet.load(path, library)
    with pytest.raises(FileNotFoundError):
        netfc.TableSet.load(tmp_path / 'missing', library)


@pytest.mark.parametrize('load', [netfc.TableSet.load, netfc.Function.load])
def test_a_descriptor_is_no_file_name_and_stays_open(library, tmp_path, load):
    with open(tmp_path / 'set', 'w+b') as file:
        with pytest.raises(TypeError, match='not int'):
            load(file.fileno(), library)
        os.fstat(file.fileno())


def test_entries_outlive_the_set_and_cannot_be_changed(library):
    entries = netfc.TableSet('fp16_k1', library).tables['log'].entries
    before = entries.copy()
    gc.collect()
    np.testing.assert_array_equal(entries, before)
    with pytest.raises(ValueError, match='read-only'):
        entries[0, 0] = 1
    with pytest.raises(ValueError, match='cannot set WRITEABLE'):
        entries.flags.writeable = True


def test_a_pickle_makes_a_set_anew(library, tmp_path):
    tables = netfc.TableSet('fp16_k1', library)
    made = pickle.loads(pickle.dumps({'tables': tables, 'again': tables}))
    assert made['tables'] is made['again'] is not tables
    assert (made['tables'].name, made['tables'].mul(2, 4)) == ('fp16_k1', 8)
    assert copy.deepcopy([tables]) == [tables]
    table_builder.run('build', 'fp16_k1', '-o', tmp_path / 'tables.netfc')
    with pytest.raises(TypeError, match='is of a file'):
        pickle.dumps(netfc.TableSet.load(tmp_path / 'tables.netfc', library))


def test_a_set_is_freed_with_its_last_copy(library, monkeypatch):
    """What one that is freed too early computes is what comes to lie in its memory."""
    freed, free = [], library.functions.netfc_set_free
    monkeypatch.setattr(library.functions, 'netfc_set_free', freed.append)
    tables = netfc.TableSet('fp16_k1', library)
    other = copy.copy(tables)
    del tables
    gc.collect()
    assert not freed and other.mul(2, 4) == 8
    del other
    gc.collect()
    assert len(freed) == 1
    free(freed[0])


@pytest.mark.parametrize('op', OPERATIONS)
@pytest.mark.parametrize('name', SETS)
def test_walks_are_those_of_netfc_tables(library, name, op):
    walk = netfc.TableSet(name, library).walk(op, 1.5, -2.25)
    shown = table_builder.run_json('show', '--walk', name, op, '1.5', '-2.25')
    assert [step.what for step in walk.steps] == [step['what'] for step in shown['steps']]
    assert [list(step.fields.items()) for step in walk.steps] == [
        [(field['name'], int(field['bits'], 16)) for field in step['fields']]
        for step in shown['steps']]
    assert (walk.op, walk.x, walk.y, walk.z) == (
        op, *(int(shown[slot]['bits'], 16) for slot in 'xyz'))
    assert any(step.table == 'decide' or step.table is not None for step in walk.steps)


def test_a_walk_looks_up_what_is_in_the_tables(fp16):
    walk = fp16.walk('add', np.uint16(0x3E00), np.uint16(0x4080))
    words = {name: word for step in walk.steps for name, word in step.fields.items()}
    looked_up = {step.table for step in walk.steps} - {None}
    assert looked_up == set(fp16.tables)
    assert fp16.tables['log'].entries[0, words['|x|']] == words['i']
    assert fp16.tables['exp'].entries[0, words['n']] == words['|z|'] == walk.z
    assert walk.flags == netfc.Flag(0)


# ---- wrong arguments -------------------------------------------------------------------------


@pytest.mark.parametrize('name, why', [
    ('fp17_k4', 'fp17_k4'), ('fp16_k3', 'powers of two'), ('', 'malformed'), ('fp16', 'malformed')])
def test_no_such_set(library, name, why):
    with pytest.raises(netfc.TableSetError, match=why):
        netfc.TableSet(name, library)


def test_wrong_operands(fp16):
    with pytest.raises(TypeError, match='give numbers for both, or encodings'):
        fp16.add(np.uint16(1), 1.5)
    with pytest.raises(TypeError, match='x is complex, not an array of real numbers'):
        fp16.add(1j, 1)
    for wrong in (fp16.compute, fp16.flags, fp16.walk):
        for op in ('pow', 'min', 'compare', 'fma'):
            with pytest.raises(ValueError, match=f"no operation '{op}': .* add, sub, mul, div$"):
                wrong(op, 1, 1)
    with pytest.raises(ValueError, match='table mi has no page 3: there are 0 to 2'):
        fp16.prefixes('mi', 3)
    with pytest.raises(ValueError, match='of one lane, and there are 2'):
        fp16.walk('add', [1, 2], 1)
    with pytest.raises(ValueError, match="no number format 'fp8'"):
        netfc.Format('fp8')


def made_library(folder, code):
    """A build folder with another libnetfc."""
    path = folder / 'lib' / 'netfc'
    path.mkdir(parents=True)
    subprocess.run(['cc', '-shared', '-fPIC', '-x', 'c', '-', '-o', path / 'libnetfc.so.1'],
                   input=code, text=True, check=True)
    return folder


def test_a_library_of_another_version(tmp_path, monkeypatch):
    """Said, wherever it is found."""
    code = 'const char *netfc_version(void) { return "9.8.7"; }'
    other = made_library(tmp_path / 'other', code)
    with pytest.raises(netfc.LibraryError, match=f'libnetfc is 9.8.7.* is {netfc.__version__}'):
        netfc.Library(other)
    monkeypatch.setenv('NETFC_BUILD', str(other))
    with pytest.raises(netfc.LibraryError, match='9.8.7.*libnetfc1 and python3-netfc'):
        netfc.TableSet('fp16_k1024')
    old = made_library(tmp_path / 'old', 'int netfc_old;')
    with pytest.raises(netfc.LibraryError, match='older than 0.1.0'):
        netfc.Library(old)
    stale = made_library(tmp_path / 'stale', code.replace('9.8.7', netfc.__version__))
    with pytest.raises(netfc.LibraryError, match=r'has no netfc_\w+\(\).*build it again'):
        netfc.Library(stale)


def test_no_library(tmp_path, monkeypatch):
    with pytest.raises(netfc.LibraryError, match='is not the folder of a build'):
        netfc.Library(tmp_path)
    monkeypatch.delenv('NETFC_BUILD', raising=False)
    monkeypatch.setattr(libnetfc, 'SONAME', 'libnetfc-that-is-nowhere.so.0')
    libnetfc._default.cache_clear()  # pylint: disable=protected-access
    for needs_it in (lambda: netfc.TableSet('fp16_k1'), netfc.known_sets,
                     lambda: netfc.Format('fp16').exact('add', 1, 1)):
        with pytest.raises(netfc.LibraryError, match='Debian package libnetfc.*NETFC_BUILD'):
            needs_it()
    assert netfc.Format('fp16').encode(1.5) == 0x3E00


def test_the_environment_names_the_build(monkeypatch):
    monkeypatch.setenv('NETFC_BUILD', str(switch.BUILD))
    assert netfc.TableSet('fp16_k1024').add(1, 2) == 3
