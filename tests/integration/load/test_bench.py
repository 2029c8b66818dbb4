# SPDX-License-Identifier: BSD-3-Clause
"""netfc-bench with the switch in its own process."""

import json
import math
import signal
import statistics
import struct
import subprocess

import pytest

import oracle
import switch
from bench_runs import OP_NAMES, PROGRAM, arguments, assert_all_right, assert_consistent, inline


@pytest.mark.parametrize('lanes', [1, 243])
@pytest.mark.parametrize('match', ['lpm', 'hash', 'direct'])
def test_every_match_engine(tmp_path, match, lanes):
    report = inline(tmp_path, '--packets', 5000, '--op', 'all', '--lanes', lanes, match=match)
    assert_all_right(report, 5000)
    assert set(report['accuracy']) == {*OP_NAMES, 'all'}
    assert report['accuracy']['all']['average'] > 0.999
    assert report['configuration']['inline_match'] == match
    assert report['configuration']['frame_bytes'] == 54 + 6 * lanes
    assert report['ended_by'] == 'packets'


@pytest.mark.parametrize('vdev', ['net_ring0', 'net_null0'])
def test_inline_leaves_other_ports_alone(vdev):
    done = switch.execute(arguments(['--inline', '--match', 'direct', '--packets', 1000],
                                    vdevs=[vdev], lcores=2), PROGRAM)
    assert done.returncode == 0, done.stdout + done.stderr
    assert 'switch 1000 packets in' in ' '.join(done.stdout.split())


@pytest.mark.parametrize('name', ['posit16_k512', 'bf16_k128_floor', 'posit16_es2_k256'])
def test_every_format(tmp_path, name):
    report = inline(tmp_path, '--packets', 2000, '--op', 'all', '--lanes', 20, '--set', name,
                    '--operands', 'values', '--ip6', '--flows', 7, '--seed', 3)
    assert_all_right(report, 2000)
    assert name.startswith(report['configuration']['format'] + '_k')
    assert report['configuration']['ip6']


@pytest.mark.parametrize('match, lanes, operands', [
    ('hash', 121, 'random'), ('direct', 1, 'random'), ('direct', 121, 'values')])
def test_lanes_of_32_bits(tmp_path, match, lanes, operands):
    report = inline(tmp_path, '--packets', 2000, '--op', 'all', '--lanes', lanes, '--set',
                    'fp32_exact', '--operands', operands, match=match)
    assert_all_right(report, 2000)
    assert report['configuration']['format'] == 'fp32'
    assert report['configuration']['frame_bytes'] == 54 + 12 * lanes
    assert report['accuracy']['all']['exact'] == 1


@pytest.mark.parametrize('name, data', [
    ('pairs.txt', b'1 3\n0x7f800000, -2.5 # special\n1e-40 1e39\n'),
    ('pairs.bin', struct.pack('>6I', 0x3F800000, 0x40400000, 1, 2, 0xFFC00000, 3))])
def test_operands_of_32_bits_from_a_file(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    report = inline(tmp_path, '--packets', 100, '--op', 'all', '--lanes', 2, '--set', 'fp32_exact',
                    '--operands', tmp_path / name)
    assert_all_right(report, 100)
    assert report['configuration']['requests'] == 8


def test_jumbo_frames(tmp_path):
    assert_all_right(inline(tmp_path, '--packets', 200, '--lanes', 1400, '--mtu', 9000), 200)


def test_a_rate_is_kept(tmp_path):
    report = inline(tmp_path, '--rate', 20000, '--seconds', 0.5)
    assert report['ended_by'] == 'seconds'
    assert report['configuration']['window'] is None
    wanted = 10000 - report['held_back']
    assert wanted - 1100 <= report['sent']['packets'] <= wanted + 1


def test_what_comes_too_late_is_lost(tmp_path):
    """More packets in its queue than the switch computes in the time allowed."""
    options = ['--rate', '1e7', '--seconds', 0.6, '--lanes', 243, '--timeout', 1]
    report = inline(tmp_path, *options, match='hash')
    assert report['lost'] > 0 and report['late'] > 0
    assert report['wrong'] == 0
    assert inline(tmp_path, *options, '--strict', match='hash', status=2)['lost'] > 0


def accuracy_by_oracle(pairs, name, op):
    """The report's accuracy fields, worked out a second time."""
    tables, form = oracle.table_set(name), oracle.table_set(name).format
    accuracies, squares, apart = [], [], []
    for x, y in pairs:
        exact = form.encode(oracle.exact_result(op, form.decode(x), form.decode(y)))
        z = oracle.calc(tables, op, x, y)[0]
        right, got = form.decode(exact), form.decode(z)
        if not math.isfinite(right) or right == 0:
            continue
        accuracies.append(math.exp(-abs(right - got) / abs(right)))
        squares.append((right - got) ** 2)
        ranks = [math.copysign(form.magnitude(slot), form.decode(slot)) for slot in (exact, z)]
        apart.append(abs(ranks[0] - ranks[1]))
    return {'lanes': len(apart), 'left_out': len(pairs) - len(apart), 'infinite': 0,
            'average': statistics.fmean(accuracies), 'minimum': min(accuracies),
            'median': statistics.median_low(accuracies), 'mse': statistics.fmean(squares),
            'exact': apart.count(0) / len(apart),
            'within_1_ulp': sum(a <= 1 for a in apart) / len(apart)}


@pytest.mark.parametrize('name', ['fp16_k64', 'posit16_k32_floor'])
def test_accuracy_is_the_papers(tmp_path, name):
    """Operands from files, text and binary; every field against the oracle."""
    form = oracle.table_set(name).format
    reals = [(1.5 * 1.01 ** n, -0.3 * 1.02 ** (n * 7 % 100)) for n in range(299)] + [(2, 0)]
    pairs = [tuple(map(form.encode, pair)) for pair in reals]
    text, binary = tmp_path / 'operands.txt', tmp_path / 'operands.bin'
    text.write_text('# x y\n' + ''.join(f'{x!r} {y!r}\n' for x, y in reals))
    binary.write_bytes(b''.join(struct.pack('>HH', *pair) for pair in pairs))
    for path in (text, binary):
        report = inline(tmp_path, '--set', name, '--operands', path, '--op', 'all', '--lanes', 3,
                        '--packets', 400)
        assert_all_right(report, 400)
        for op, number in OP_NAMES.items():
            assert report['accuracy'][op] == pytest.approx(
                accuracy_by_oracle(pairs, name, number), rel=1e-3, abs=1e-9)


@pytest.mark.parametrize('match', ['direct', 'hash'])
@pytest.mark.parametrize('op, name', [
    ('rsqrt', 'fp16_k8'), ('to_q8', 'posit16_k8'), ('gelu', 'bf16_k8'), ('min', 'posit16_es2_k8'),
    ('compare', 'bf16_k8')])
def test_functions(tmp_path, match, op, name):
    """Every reply is right to the bit; no accuracy, as there is nothing to compare with."""
    report = inline(tmp_path, '--set', name, '--op', op, '--lanes', 33, '--packets', 300,
                    match=match)
    assert_all_right(report, 300)
    assert report['configuration']['op'] == op
    assert report['accuracy'] is None


def test_json_on_standard_output_stands_alone():
    done = switch.execute(arguments(['--inline', '--match', 'direct', '--packets', 100, '--json',
                                     '-'], lcores=2), PROGRAM)
    assert done.returncode == 0
    assert json.loads(done.stdout)['right'] == 100
    assert 'right to the bit' in done.stderr


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
def test_signals_end_it_with_the_report(tmp_path, number):
    path = tmp_path / 'report.json'
    command = [PROGRAM, *arguments(['--inline', '--match', 'direct', '--seconds', 60, '--json',
                                    path, '--progress', 0.1], lcores=2)]
    with subprocess.Popen(command, env=switch.ENVIRONMENT, stdin=subprocess.DEVNULL, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        line = next(line for line in process.stderr if ' answered ' in line)
        process.send_signal(number)
        process.communicate(timeout=switch.TIMEOUT_S)
    assert process.returncode == 0
    assert 'Mlanes/s' in line
    report = json.loads(path.read_text())
    assert_consistent(report)
    assert_all_right(report)
    assert report['ended_by'] == 'signal'
