# SPDX-License-Identifier: BSD-3-Clause
"""Programs whose standard descriptors are closed when they start: no file of theirs takes their
place and has messages written into it."""

import itertools
import json
import subprocess

import pytest

import frames
import switch

BENCH = switch.PROGRAM.with_name('netfc-bench')
STANDARD = (0, 1, 2)
CLOSED = [which for count in (1, 2, 3) for which in itertools.combinations(STANDARD, count)]
HANGS_S = 300


def names(which):
    return '+'.join(('stdin', 'stdout', 'stderr')[number] for number in which)


def run_closed(which, command):
    """Runs a command without these descriptors, the others at /dev/null. Returns its status."""
    shell = 'exec "$@" </dev/null >/dev/null 2>/dev/null ' + ' '.join(f'{n}>&-' for n in which)
    return subprocess.run(['sh', '-c', shell, 'sh', *map(str, command)], env=switch.ENVIRONMENT,
                          timeout=HANGS_S, check=False).returncode


def status_without(which):
    """Of a program that has done all, and has a report for standard output."""
    return 2 if 1 in which else 0


@pytest.mark.parametrize('which', CLOSED, ids=names)
def test_the_switch(tmp_path, which):
    sent = [frames.plain_frame(frames.lanes(count)) for count in range(1, 9)]
    vdev = switch.capture_port(tmp_path, 0, sent)
    options = ['--match', 'direct', '--idle-exit', switch.IDLE_MS, '--stats-interval', 1,
               '--stats-json', tmp_path / 'stats']
    status = run_closed(which, [switch.PROGRAM, *switch.eal_options([vdev], 128), '--', *options])
    assert status == status_without(which)
    assert switch.read_stats(tmp_path / 'stats')['rx_packets'] == len(sent)
    assert switch.read_capture(tmp_path / 'out0') == switch.run([sent]).outputs[0]


@pytest.mark.parametrize('which', CLOSED, ids=names)
def test_the_load_generator(tmp_path, which):
    result = tmp_path / 'json'
    options = ['--inline', '--match', 'direct', '--packets', 1000, '--json', result]
    status = run_closed(which, [BENCH, *switch.eal_options(memory=256, lcores=2), '--', *options])
    assert status == status_without(which)
    assert json.loads(result.read_text())['exit_status'] == 0


@pytest.mark.parametrize('which', CLOSED, ids=names)
def test_the_table_builder(tmp_path, which):
    made, usual = tmp_path / 'made.netfc', tmp_path / 'usual.netfc'
    build = [switch.TABLE_BUILDER, 'build', 'fp16_k4', '-o']
    assert run_closed((), [*build, usual]) == 0
    status = run_closed(which, [*build, made])
    assert status == status_without(which)
    assert made.read_bytes() == usual.read_bytes()
