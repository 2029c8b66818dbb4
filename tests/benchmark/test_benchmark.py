# SPDX-License-Identifier: BSD-3-Clause
"""scripts/bench and scripts/count-instructions: that they measure, and that the guard can fail."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

import project_scripts
import switch

from benchmark import instructions, machine, matrix, run
from benchmark.measure import alone, latency, lcores, startup, tables
from benchmark.measure.traffic import Traffic
from benchmark.peers import bmv2, contenders
from benchmark.peers.polling import Sample
from benchmark.report import page, processors, stages
from evaluation.report import document
from programs import TIMING

DOCS = project_scripts.PROJECT / 'docs'
BENCH = project_scripts.SCRIPTS / 'bench'
PEERS = {'testpmd io', 'testpmd 5tswap', 'testpmd csum'}
TIMEOUT_S = 2400
pytestmark = pytest.mark.xdist_group('benchmark')  # one process measures
DECIMAL = re.compile(r'-?\d+\.\d+')


@pytest.fixture(name='measured', scope='module')
def _measured(tmp_path_factory):
    """What the quick benchmark prints and writes."""
    path = tmp_path_factory.mktemp('bench') / 'results.json'
    done = project_scripts.run('bench', '--quick', '--rounds', 1, '--json', path)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads(path.read_text())


def offered_engines():
    """The match engines, as the switch's help lists them."""
    usage = switch.execute(['--help']).stdout
    return usage.split('--match ')[1].split()[0].split('|')


@pytest.mark.slow
def test_every_engine_and_every_peer_is_measured(measured):
    names = {f'netfc {engine}' for engine in offered_engines()} | PEERS
    cells = measured[1]['done']['switch']
    assert [cell['cell']['lanes'] for cell in cells.values()] == list(matrix.ENDS)
    for cell in cells.values():
        assert set(cell['results']) == names
        for name, result in cell['results'].items():
            packets = result['packets']
            assert 0 < packets['least'] <= packets['median'] <= packets['greatest']
            assert result['lanes'] == packets['median'] * cell['cell']['lanes']
            assert set(result['ratio']) == names - {name}


@pytest.mark.slow
def test_ratios_are_those_of_the_rates(measured):
    for cell in measured[1]['done']['switch'].values():
        ours, theirs = (cell['results'][name] for name in ('netfc direct', 'testpmd io'))
        ratio = ours['packets']['median'] / theirs['packets']['median']
        assert ours['ratio']['testpmd io'] == pytest.approx(ratio)
        assert theirs['ratio']['netfc direct'] == pytest.approx(1 / ratio)


@pytest.mark.slow
def test_engines_alone_are_measured(measured):
    engines = measured[1]['done']['alone']
    assert set(engines) == {f'{engine}, {lanes}' for engine in offered_engines()
                            for lanes in matrix.ENDS}
    for title, result in engines.items():
        assert result['packets']['median'] > 0
        assert (result['bare'] is not None) == title.startswith(('lpm', 'hash'))
        look_ups = [step for step in result['steps'] if step['look_up']]
        assert len(look_ups) == (5 if result['kernel'] is None else 0)


@pytest.mark.slow
def test_traffic_mixes_are_measured_part_by_part(measured):
    done = measured[1]['done']
    assert set(done['mixes_alone']) == set(done['mixes']) and len(done['mixes']) == 3
    for parts in done['mixes_alone'].values():
        assert all(parts[part]['least'] > 0 for part in ('classify', 'pipeline', 'reflect'))
    mixed = done['mixes_alone']['all of these, 1 to 16 lanes']
    assert mixed['classify']['least'] < mixed['pipeline']['least']


@pytest.mark.slow
def test_everything_is_printed_for_people(measured):
    out = measured[0]
    for name in [*PEERS, *(f'netfc {engine}' for engine in offered_engines())]:
        assert out.count(f'\n  {name} ') == len(matrix.ENDS), out
    assert 'Memory: ' in out and 'Load average: ' in out


def test_programs_that_compute_nothing_are_noticed(tmp_path):
    """netfc-timing compares results before it times anything; a capture without packets is refused."""
    program = switch.BUILD / TIMING
    arguments = [*switch.eal_options(memory=64), '--', '--tables', 'bf16_k128']
    done = switch.execute([*arguments, '--time', tmp_path / 'none'], program)
    assert done.returncode == 1 and "none'" in done.stderr
    done = switch.execute(arguments, program)
    assert done.returncode == 1 and 'give what is to be timed' in done.stderr


def test_two_sets_of_a_format_cannot_be_timed(traffic):
    program = switch.BUILD / TIMING
    done = switch.execute([*switch.eal_options(memory=128), '--', '--tables', 'bf16_k128,bf16_k64',
                           '--time', traffic.make('bf16', 'add', 'random', 1)], program)
    assert done.returncode == 2 and 'one set per format' in done.stderr


@pytest.mark.parametrize('words, complaint', [
    (['--time', 'nowhere', '--seconds', '1'], '--seconds: not with --time nowhere'),
    (['--time', 'sums', '--tables', 'bf16_k128'], '--tables: not with --time sums'),
    (['--time', 'nowhere', '--rounds', '0'], 'a number from 1 to 100000'),
    (['--time', 'sum'], "'sum': expected sums, tags or a capture file; sum: No such file"),
])
def test_what_cannot_be_timed_is_refused(words, complaint):
    program = switch.BUILD / TIMING
    done = switch.execute([*switch.eal_options(memory=64), '--', *words], program)
    assert done.returncode == 1 and complaint in done.stderr


def test_sums_are_timed_in_memory():
    keys = 'slots=2,workers=3,bytes=64,format=fp16+int32,op=sum+max,data=gradients+any'
    done = switch.execute(['--', '--time', 'sums', f'--aggregate={keys}', '--seconds', '0.001'],
                          switch.BUILD / TIMING)
    assert done.returncode == 0, done.stderr
    lines = [line.replace('plain C', 'plain-C').split() for line in done.stdout.splitlines()[1:]]
    assert lines[0] == ['format', 'op', 'isa', 'any', 'gradients']
    assert {tuple(line[:2]) for line in lines[1:]} == {
        (form, op) for form in ('fp16', 'int32') for op in ('sum', 'max')}
    assert all(float(rate) > 0 for line in lines[1:] for rate in line[3:])


def test_tags_are_timed_in_memory():
    done = switch.execute(['--', '--time', 'tags', '--aggregate=workers=2', '--seconds', '0.001'],
                          switch.BUILD / TIMING)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith('results for 2 workers')
    assert len(done.stdout.splitlines()) > 3


@pytest.mark.parametrize('words, complaint', [
    (['--rounds', '0'], '--rounds'),
    (['--numbers', 'x'], '--document'),
    (['--quick', '--document'], '--quick'),
    (['--mixes', '--document', '/proc/nonexistent'], '/proc/nonexistent/performance/results.json'),
    (['--build', '/proc/nonexistent'], 'is not the folder of a build'),
])
def test_wrong_usage_is_explained(words, complaint):
    environment = {**os.environ, 'NETFC_BUILD': str(switch.BUILD)}
    done = subprocess.run([BENCH, *words], env=environment, text=True, capture_output=True, check=False)
    assert done.returncode != 0 and complaint in done.stderr and 'Traceback' not in done.stderr


def test_a_document_wants_hugepages(monkeypatch):
    """Without them testpmd's packet buffers are laid out otherwise than the switch's."""
    monkeypatch.setattr(run.machine, 'free_hugepages', lambda: {2: 0})
    monkeypatch.setattr('sys.argv', ['bench', '--build', str(switch.BUILD), '--document'])
    with pytest.raises(SystemExit, match='sysctl -w vm.nr_hugepages=[0-9]+; or give --no-huge'):
        run.main()


@pytest.mark.slow
def test_numbers_of_a_part_make_no_document(measured, tmp_path, monkeypatch):
    """measured: without what only a longer run has."""
    numbers = tmp_path / 'numbers.json'
    numbers.write_text(json.dumps(measured[1]))
    monkeypatch.setattr('sys.argv', ['bench', '--numbers', str(numbers), '--document', str(tmp_path)])
    with pytest.raises(SystemExit, match='numbers.json: not of a whole run'):
        run.main()


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
    more = {engine: {case: count * 21 // 20 for case, count in cases.items()}
            for engine, cases in recorded.items()}
    capsys.readouterr()
    assert instructions.check(more) == 1
    assert capsys.readouterr().out.count('More instructions') == sum(map(len, more.values()))


def test_the_report_is_what_was_measured(tmp_path):
    """Made again of its numbers, page and figures are those in docs/."""
    others = pathlib.Path('performance') / processors.FOLDER
    shutil.copytree(DOCS / others, tmp_path / others)
    page.write(tmp_path, json.loads(page.numbers(DOCS).read_text()))
    made = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob('*.*'))
    kept = sorted(path.relative_to(DOCS) for path in (DOCS / 'performance').rglob('*.*'))
    assert made == sorted([*kept, pathlib.Path('performance.md')])
    for path in made:
        if path.suffix == '.svg':
            assert_same_figure((tmp_path / path).read_text(), (DOCS / path).read_text())
        else:
            assert (tmp_path / path).read_bytes() == (DOCS / path).read_bytes(), path


@pytest.mark.slow
def test_mixes_of_another_processor_are_added(tmp_path):
    results = json.loads(page.numbers(DOCS).read_text())
    page.write(tmp_path, results)
    alone = (tmp_path / 'performance.md').read_text()
    page.add_processor(tmp_path, results)
    assert (tmp_path / 'performance.md').read_text() == alone, 'its own are there already'
    other = {**results['machine'], 'cpu': 'Other', 'cpu_family_model_stepping': '1/2/3'}
    page.add_processor(tmp_path, {**results, 'machine': other})
    added = (tmp_path / 'performance.md').read_text().replace(alone.split('## Comparison')[0], '')
    section = added.split('On another processor: Other')[1].split('\n## ')[0]
    assert 'family/model/stepping 1/2/3' in section
    for mix in results['done']['mixes']:
        assert f'\n| {mix} |' in section
    numbers = (tmp_path / 'performance' / processors.FOLDER / '1-2-3.json').read_text()
    assert set(json.loads(numbers)['done']) == set(processors.SECTIONS)


def assert_same_figure(made, kept):
    """Fails unless two SVG figures show the same, whatever version of matplotlib drew them."""
    (made_text, made_numbers), (kept_text, kept_numbers) = map(text_and_numbers, (made, kept))
    assert made_text == kept_text
    assert made_numbers == pytest.approx(kept_numbers, abs=2e-6)


def text_and_numbers(figure):
    """An SVG figure without what versions of matplotlib differ in, and the numbers out of it."""
    figure = re.sub(r'transform="translate\(([\d.]+) 0\)"', r'x="\1"', figure)
    figure = re.sub(r'\b[mp][0-9a-f]{10}\b', 'name', figure)
    return DECIMAL.sub('number', figure), [float(text) for text in DECIMAL.findall(figure)]


def test_stages_add_up_to_the_whole():
    numbers = json.loads(page.numbers(DOCS).read_text())
    cells, engines = page.sweep_cells(numbers), numbers['done']['alone']
    for lanes in matrix.ENDS:
        results = next(c['results'] for c in cells if c['cell']['lanes'] == lanes)
        for engine, found in stages.of_engines(cells, engines, lanes).items():
            assert set(found) <= set(stages.NAMES) and min(found.values()) >= 0
            # More only where a stage alone takes longer than within the switch.
            assert sum(found.values()) >= 0.999 * results[f'netfc {engine}']['cycles']


@pytest.fixture(name='bench')
def _bench():
    """What starts programs for a measurement, in a folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix='netfc-') as folder:
        yield contenders.Bench(switch.BUILD, machine.Memory(False, ''), pathlib.Path(folder))


@pytest.fixture(name='traffic')
def _traffic(tmp_path):
    return Traffic(tmp_path, tmp_path)


def test_instruction_sets_are_compared(bench, traffic):
    found = alone.instruction_set(bench, traffic.make('fp16', 'add', 'random', 7), 128,
                                  matrix.SMALL_TABLE, rounds=1)
    assert found['kernel'].startswith('plain C') and found['packets']['least'] > 0
    head, rows = tables.of(tables.ISAS, {'128, fp16_k8': found})
    assert len(rows[0]) == len(head)
    results = json.loads(page.numbers(DOCS).read_text())
    results['done']['isas'] = {'128, fp16_k8': found}
    assert document.table(head, rows, left=2) in page.markdown(results, [])


class Rounds:
    """A program on so many lcores, which had these shares of their CPUs, round by round."""

    def __init__(self, count, shares):
        self._count, self._shares = count, iter(shares)

    def sample(self, seconds):
        """1 Mpps of each lcore that has its CPU."""
        share = next(self._shares)
        packets = round(self._count * seconds * share * 1e6)
        return Sample(packets, self._count * seconds * share, seconds, 0)


def test_quiet_rounds_count_by_the_clock(monkeypatch):
    shares = [0.5, 0.99, 0.6] + 2 * lcores.TRIES * [0.3]
    monkeypatch.setattr(lcores, 'counts', lambda: [1, 2])
    settings = run.Settings(rounds=2, seconds=1, passes=1, latency_s=1)
    busy = [share if share > 0.9 else share / 2 for share in shares]
    rounds, quiet = lcores.sample_all([Rounds(1, shares), Rounds(2, busy)], [1, 2], settings)
    assert len(rounds) == 2 * lcores.TRIES and len(quiet) == 1
    two = lcores.summarise(1, rounds, quiet)
    assert two['ratio'] == pytest.approx(2) and two['wall_ratio'] == pytest.approx(2)
    assert two['wall']['rounds'] == 1 and two['packets']['rounds'] == len(rounds)


def test_lcores_are_compared(bench, traffic):
    found = lcores.run(bench, traffic.make('fp16', 'add', 'random', 7), 'fp16', 'direct',
                       run.Settings(rounds=1, seconds=0.05, passes=1, latency_s=0.2))
    assert [one['lcores'] for one in found['lcores']] == lcores.counts()
    assert found['lcores'][0]['ratio'] == found['lcores'][0]['wall_ratio'] == 1
    for one in found['lcores']:
        assert 0 < one['share'] and one['wall']['median'] > 0
    assert 0 <= found['quiet'] <= found['rounds']
    assert tables.of(tables.LCORES, tables.by_lcores({'direct, 7': found}))[1]


def test_latency_is_measured_in_full_bursts_and_of_lone_packets(bench, traffic):
    found = latency.run(bench, traffic.make('fp16', 'add', 'random', 7), 7, 'fp16', 'direct', 0.5)
    assert found['packets_per_burst'] == 1
    for kind in ('full', 'alone'):
        assert 0 < found[kind]['p50'] <= found[kind]['p99_9'] <= found[kind]['greatest']
    # A burst of 64 is not faster than one packet.
    assert found['full']['least'] > found['alone']['least']
    assert tables.of(tables.LATENCY, {'direct, 7': found})[1]


def test_starts_are_timed(bench):
    found = startup.run(bench, 'direct', 1)
    assert 0 < found['seconds']['median'] < TIMEOUT_S
    assert found['processor']['median'] == found['user']['median'] + found['system']['median']
    assert tables.of(tables.STARTUP, {'direct': found})[1]


FORWARDER = """#!/usr/bin/python3
import pathlib, sys, time
ports = dict(word.split('@') for word in sys.argv if '@' in word)
sent = pathlib.Path(ports['0'] + '_in.pcap').read_bytes()
assert pathlib.Path(ports['1'] + '_in.pcap').exists() and pathlib.Path(sys.argv[-1]).exists()
with open(ports['1'] + '_out.pcap', 'wb') as out:
    for start in range(0, len(sent), len(sent) // 10):
        out.write(sent[start:start + len(sent) // 10])
        out.flush()
        time.sleep(0.1)
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass
time.sleep(60)
"""


def test_bmv2_is_timed_where_it_is(bench, traffic, monkeypatch):
    """A stand-in for simple_switch, which takes 20 ms for a tenth of the packets."""
    program = bench.folder / 'bin' / 'simple_switch'
    program.parent.mkdir()
    program.write_text(FORWARDER)
    program.chmod(0o755)
    monkeypatch.setenv('PATH', f"{program.parent}:{os.environ['PATH']}")
    packets = bmv2.run(bench, traffic.frames('fp16', 'add', 'random', 1, 64), 1)
    assert 0.5 < packets['median'] / (bmv2.PACKETS / 0.2) < 1.1
    assert 'forwards' in bmv2.sentence(packets, 1e6)


def test_bmv2_is_not_missed(bench, monkeypatch):
    monkeypatch.setenv('PATH', '/proc/nonexistent')
    assert bmv2.run(bench, [], 1) is None
    assert 'not installed' in bmv2.sentence(None, 1e6)


def test_tables_are_aligned():
    lines = tables.aligned(['name', 'n'], [['a', '1'], ['bcdef', '234']])
    assert lines == ['name     n', 'a        1', 'bcdef  234']
