# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench and scripts/count-instructions: that they measure, and that the guard can fail."""

import json
import os
import pathlib
import subprocess

import pytest

import project_scripts
import switch

from benchmark import instructions, matrix, report, stages, tables

DOCS = project_scripts.PROJECT / 'docs'
BENCH = project_scripts.SCRIPTS / 'bench'
PEERS = {'testpmd io', 'testpmd 5tswap', 'testpmd csum'}
TIMEOUT_S = 240


@pytest.fixture(name='measured', scope='module')
def _measured(tmp_path_factory):
    """What the quick benchmark prints and writes."""
    path = tmp_path_factory.mktemp('bench') / 'results.json'
    done = subprocess.run([BENCH, '--quick', '--rounds', '1', '--json', path], text=True,
                          env={**os.environ, 'NETFC_BUILD': str(switch.BUILD)},
                          capture_output=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads(path.read_text())


def offered_rooms():
    """The match rooms, as the switch's help lists them."""
    usage = switch.execute(['--help']).stdout
    return usage.split('--match ')[1].split()[0].split('|')


def test_every_room_and_every_peer_is_measured(measured):
    names = {f'netfc {room}' for room in offered_rooms()} | PEERS
    cells = measured[1]['done']['switch']
    assert [cell['cell']['lanes'] for cell in cells.values()] == list(matrix.ENDS)
    for cell in cells.values():
        assert set(cell['results']) == names
        for name, result in cell['results'].items():
            packets = result['packets']
            assert 0 < packets['least'] <= packets['median'] <= packets['greatest']
            assert result['lanes'] == packets['median'] * cell['cell']['lanes']
            assert set(result['ratio']) == names - {name}


def test_ratios_are_those_of_the_rates(measured):
    for cell in measured[1]['done']['switch'].values():
        ours, theirs = (cell['results'][name] for name in ('netfc direct', 'testpmd io'))
        ratio = ours['packets']['median'] / theirs['packets']['median']
        assert ours['ratio']['testpmd io'] == pytest.approx(ratio)
        assert theirs['ratio']['netfc direct'] == pytest.approx(1 / ratio)


def test_rooms_alone_are_measured(measured):
    alone = measured[1]['done']['alone']
    assert set(alone) == {f'{room}, {lanes}' for room in offered_rooms() for lanes in matrix.ENDS}
    for title, result in alone.items():
        assert result['packets']['median'] > 0
        assert (result['bare'] is not None) == title.startswith(('lpm', 'hash'))
        look_ups = [step for step in result['steps'] if step['look_up']]
        assert len(look_ups) == (5 if result['kernel'] is None else 0)


def test_everything_is_printed_for_people(measured):
    out = measured[0]
    for name in [*PEERS, *(f'netfc {room}' for room in offered_rooms())]:
        assert out.count(f'\n  {name} ') == len(matrix.ENDS), out
    assert 'Memory: ' in out and 'Load average: ' in out


def test_programs_that_compute_nothing_are_noticed(tmp_path):
    """netfc-rooms compares results before it times anything; a wrong table set is refused."""
    program = switch.BUILD / 'app' / 'netfc-rooms'
    arguments = [*switch.eal_options(memory=64), '--', '--set', 'bf16_k128']
    done = switch.execute([*arguments, '--capture', tmp_path / 'none'], program)
    assert done.returncode == 1 and "none'" in done.stderr
    done = switch.execute(arguments, program)
    assert done.returncode == 1 and '--capture' in done.stderr


def test_the_matrix_is_without_repetition():
    for cells in (matrix.quick(), matrix.usual(), matrix.full()):
        assert len({cell.title for cell in cells}) == len(cells)
    assert {cell.title for cell in matrix.usual()} < {cell.title for cell in matrix.full()}


def test_the_guard_names_what_has_become_slower():
    old = {'direct': {'add, random, 1 lane': 10000, 'mul, random, 1 lane': 10000}}
    new = {'direct': {'add, random, 1 lane': 10301, 'mul, random, 1 lane': 10299}}
    slower, faster, unknown = instructions.compare(old, new)
    assert slower == ['direct, add, random, 1 lane: 10000 -> 10301 instructions a burst (+3.0%)']
    assert faster == [] and unknown == []


def test_the_guard_names_what_has_become_faster_or_is_new():
    old = {'direct': {'add, random, 1 lane': 10000}}
    new = {'direct': {'add, random, 1 lane': 9000}, 'new': {'add, random, 1 lane': 1}}
    slower, faster, unknown = instructions.compare(old, new)
    assert slower == []
    assert 'direct' in faster[0] and '-10.0%' in faster[0]
    assert unknown == ['new, add, random, 1 lane: 1 instructions a burst, nothing recorded']


def test_the_guard_fails_where_more_is_executed(capsys):
    """The recorded figures against themselves, then against a twentieth more."""
    recorded = json.loads(instructions.FIGURES.read_text())['instructions']
    assert instructions.check(recorded) == 0
    more = {room: {case: count * 21 // 20 for case, count in cases.items()}
            for room, cases in recorded.items()}
    capsys.readouterr()
    assert instructions.check(more) == 1
    assert capsys.readouterr().out.count('More instructions') == sum(map(len, more.values()))


def test_the_report_is_what_was_measured(tmp_path):
    """Made again of its numbers, page and figures are those in docs/, to the byte."""
    numbers = json.loads((DOCS / 'performance' / report.NUMBERS).read_text())
    report.write(tmp_path, numbers)
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob('*.*'))
    kept = sorted(path.relative_to(DOCS) for path in (DOCS / 'performance').iterdir())
    assert made == sorted([*kept, pathlib.Path('performance.md')])
    for path in made:
        assert (tmp_path / path).read_bytes() == (DOCS / path).read_bytes(), path


def test_stages_add_up_to_the_whole():
    numbers = json.loads((DOCS / 'performance' / report.NUMBERS).read_text())
    cells, alone = report.sweep_cells(numbers), numbers['done']['alone']
    for lanes in matrix.ENDS:
        results = next(c['results'] for c in cells if c['cell']['lanes'] == lanes)
        for room, found in stages.of_rooms(cells, alone, lanes).items():
            assert set(found) <= set(stages.NAMES) and min(found.values()) >= 0
            # More only where a stage alone takes longer than within the switch.
            assert sum(found.values()) >= 0.999 * results[f'netfc {room}']['cycles']


def test_tables_are_aligned():
    lines = tables.aligned(['name', 'n'], [['a', '1'], ['bcdef', '234']])
    assert lines == ['name     n', 'a        1', 'bcdef  234']
